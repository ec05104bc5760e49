"""Every public name is documented, in the code and on the API page."""

import importlib
import inspect
import re
import runpy
from pathlib import Path

import pytest

import surefoot
from surefoot.explain.result import document
from surefoot.explain.result.batch import Explanations
from surefoot.explain.result.cautions import CODES
from surefoot.search import certified

DOCS = Path(__file__).parent.parent / "docs"
PUBLIC = [
    (module, name)
    for module in ("surefoot", "surefoot.plots", "surefoot.datasets", "surefoot.model.structure")
    for name in importlib.import_module(module).__all__
]
INTERNAL = {"TrainingData", "choose_structure"}  # rooms of one house talk through these
MODULES = {"datasets", "plots"}
DATA = {"PRESETS"}  # the page says in a sentence what it holds


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_public_names_have_docstrings_and_stand_on_the_api_page(module, name):
    thing = getattr(importlib.import_module(module), name)
    if name in DATA:
        assert f"`{name}`" in (DOCS / "api" / "index.md").read_text(encoding="utf-8")
        return
    assert inspect.getdoc(thing)
    if name not in INTERNAL | MODULES:
        assert f"   {name}\n" in (DOCS / "api" / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [n for n in surefoot.__all__ if inspect.isclass(getattr(surefoot, n))])
def test_public_methods_have_docstrings(name):
    for method, thing in inspect.getmembers(getattr(surefoot, name)):
        own = str(getattr(thing, "__module__", "")).startswith("surefoot")
        if own and callable(thing) and not method.startswith("_"):
            assert inspect.getdoc(thing), method


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_parameters_are_documented(module, name):
    """Numpydoc sections name every parameter of the public functions and classes."""
    thing = getattr(importlib.import_module(module), name)
    plain = inspect.isclass(thing) and issubclass(thing, (Exception, str, list))
    if name in INTERNAL | MODULES | DATA or plain:
        return
    for parameter in inspect.signature(thing).parameters:
        assert parameter in inspect.getdoc(thing)


def test_the_page_of_experiments_is_made_from_the_result_files():
    make = runpy.run_path(str(DOCS / "make.py"))
    assert (DOCS / "experiments.md").read_text(encoding="utf-8") == make["experiments"]()


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = surefoot.nonsense
    assert set(surefoot.__all__) <= set(dir(surefoot))


def test_every_page_is_in_the_contents():
    listed = "".join(path.read_text(encoding="utf-8") for path in DOCS.rglob("index.md"))
    for path in (*DOCS.glob("*.md"), *(DOCS / "howto").glob("*.md")):
        assert path.stem == "index" or f"\n{path.stem}\n" in listed, path


def page(name):
    return (DOCS / name).read_text(encoding="utf-8")


def test_the_page_of_outputs_names_all_that_is_written():
    json_part, csv_part = page("howto/outputs.md").split("## CSV")
    assert f'`"{document.FORMAT}"`, {document.VERSION} |' in json_part
    assert [key for key in document.KEYS if f"`{key}`" not in json_part] == []
    assert [status.value for status in surefoot.Status if f"`{status.value}`" not in csv_part] == []
    columns = [name for name in Explanations().to_frame() if ": " not in str(name)]
    assert [name for name in columns if f"`{name}`" not in csv_part] == []
    assert len(columns) > 10


def test_every_caution_is_explained():
    assert [code for code in CODES if f"| `{code}` |" not in page("howto/worth.md")] == []


def test_files_that_the_page_of_the_search_names_exist():
    named = set(re.findall(r"`(\w+\.py)`", page("certified.md")))
    assert len(named) > 20
    assert [name for name in named if not (Path(certified.__file__).parent / name).exists()] == []


def test_the_map_of_the_search_has_all_its_files():
    files = {path.stem for path in Path(certified.__file__).parent.glob("*.py")} - {"__init__"}
    assert set(re.findall(r"``(\w+)``", certified.__doc__)) == files
