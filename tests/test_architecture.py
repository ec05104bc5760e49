"""Data flows one way: a module imports only from its own layer or from earlier ones."""

import ast
import importlib
import subprocess
import sys
from functools import cache
from pathlib import Path

import surefoot
from surefoot.views import VIEWS

ROOT = Path(surefoot.__file__).parent

# The rooms: each may import from those before it. What all may use comes first, then what states a problem,
# which models hand out and searches take.
LAYERS = [
    {"exceptions", "status", "defaults", "formats", "days", "threads"}
    | {"memory", "files", "plain", "views", "bars", "progress", "unforeseen"},
    {"problem"},
    {"table"},
    {"model", "datasets"},
    {"search"},
    {"proof"},
    {"explain"},
    {"ui", "experiments", "plots", "__main__"},
]
ROOMS = {room: number for number, layer in enumerate(LAYERS) for room in layer}


def room_of(module):
    """The room that a dotted name lies in; None where there is none."""
    return module.split(".")[0] if module.split(".")[0] in ROOMS else None


def module_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def surefoot_imports(tree):
    """Every module of surefoot that a file imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name.removeprefix("surefoot.") for name in found if name.startswith("surefoot."))


@cache
def imports_of(path):
    return list(surefoot_imports(ast.parse(path.read_text(encoding="utf-8"))))


def violations():
    for path in sorted(ROOT.rglob("*.py")):
        here = room_of(module_of(path))
        for imported in imports_of(path):
            there = room_of(imported)
            if here and imported != "__version__" and (there is None or ROOMS[there] > ROOMS[here]):
                yield f"{path.relative_to(ROOT)} imports {imported}"


def test_every_module_belongs_to_a_layer():
    for path in ROOT.rglob("*.py"):
        empty = path.name == "__init__.py" and "import" not in path.read_text(encoding="utf-8")
        assert path == ROOT / "__init__.py" or empty or room_of(module_of(path)), path
    for room in ROOMS:
        place = ROOT / room.replace(".", "/")
        assert place.is_dir() or place.with_suffix(".py").is_file(), room


def test_imports_follow_the_layers():
    assert list(violations()) == []


def test_a_wrong_import_would_be_found():
    code = "from surefoot.model.classifier import X\nimport surefoot.model.dag\n"
    code += "def f():\n from surefoot.ui.report import y\n"
    found = set(surefoot_imports(ast.parse(code)))
    assert found == {"model.classifier.X", "model.dag", "ui.report.y"}
    assert ROOMS[room_of("ui.report.y")] > ROOMS[room_of("model.classifier.X")]


def test_every_view_is_there():
    """Rooms that compute ask for views by name; nothing else would notice a name that is wrong."""
    for place in VIEWS.values():
        module, _, function = place.partition(":")
        assert callable(getattr(importlib.import_module(f"surefoot.{module}"), function))


def test_importing_surefoot_loads_no_plots_no_graphs_and_no_solver():
    heavy = (
        "matplotlib",
        "networkx",
        "highspy",
        "pyscipopt",
        "gurobipy",
        "clarabel",
        "http.server",
        "tornado",
    )
    names = "CounterfactualExplainer, ConditionalGaussianNetworkClassifier, Explanation, verify, datasets"
    code = f"import sys, surefoot.ui.plots; from surefoot import {names}\n"
    code += f"print([m for m in {heavy} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_no_statistics_right_of_the_problem():
    """Searches and proofs see quadratics only."""
    for path in [*(ROOT / "search").rglob("*.py"), *(ROOT / "proof").rglob("*.py")]:
        for imported in imports_of(path):
            assert imported.split(".")[0] not in ("model", "datasets"), path


def test_a_proof_knows_neither_search_nor_solver():
    for path in (ROOT / "proof").rglob("*.py"):
        for imported in imports_of(path):
            assert imported.split(".")[0] in ("proof", "problem", "status", "exceptions"), path


def test_what_benchmarks_import_is_there():
    """They are run by hand, so nothing else would notice a name that is gone."""
    for path in sorted((Path(__file__).parents[1] / "benchmarks").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("surefoot"):
                module = importlib.import_module(node.module)
                for name in (alias.name for alias in node.names):
                    assert hasattr(module, name) or importlib.import_module(f"{node.module}.{name}"), path
