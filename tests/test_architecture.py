"""Data flows one way: a module imports only from its own layer or from earlier ones."""

import ast
import subprocess
import sys
from pathlib import Path

import surefoot

ROOT = Path(surefoot.__file__).parent

LAYERS = [
    {"exceptions", "status", "formats", "threads"},
    {"dag", "quadratic", "geometry"},
    {"network", "moments", "model_file"},
    {"datasets"},
    {"structure"},
    {"model_content"},
    {"classifier"},
    {"scalers"},
    {"adoption"},
    {"problem"},
    {"search"},
    {"certify", "proofs"},
    {"methods"},
    {"diagnosis"},
    {"questions"},
    {"explanation", "rows"},
    {"explanations", "assembly"},
    {"verification"},
    {"explainer"},
    {"plots"},
    {"report"},
    {"experiments"},
    {"cli"},
    {"__main__"},
]
# Methods that open a door to a later layer, inside a function body and nowhere else.
DOORS = {
    ("classifier", "report"),
    ("classifier", "plots"),
    ("explanation", "report"),
    ("explanations", "report"),
}


def layer_of(name):
    return next(i for i, layer in enumerate(LAYERS) if name in layer)


def room(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def surefoot_imports(tree):
    """Yield (imported room, whether inside a function) for every import of surefoot in a file."""
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            inside |= {id(child) for child in ast.walk(node)}
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "surefoot":
                    yield [*alias.name.split("."), "__version__"][1], id(node) in inside
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "surefoot":
            parts = node.module.split(".")
            for name in [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]:
                yield name, id(node) in inside


def violations():
    for path in sorted(ROOT.rglob("*.py")):
        if path.parent == ROOT and path.name == "__init__.py":
            continue
        here = room(path)
        type_only = {"model_content"}  # names the classifier in annotations only
        for imported, lazy in surefoot_imports(ast.parse(path.read_text(encoding="utf-8"))):
            if imported == "__version__":
                continue
            if layer_of(imported) <= layer_of(here):
                continue
            if lazy and ((here, imported) in DOORS or (here in type_only and imported == "classifier")):
                continue
            yield f"{path.relative_to(ROOT)} imports {imported}"


def test_every_module_belongs_to_a_layer():
    rooms = {room(path) for path in ROOT.rglob("*.py")} - {"__init__"}
    assert rooms == set().union(*LAYERS)


def test_imports_follow_the_layers():
    assert list(violations()) == []


def test_a_wrong_import_would_be_found():
    code = (
        "from surefoot.classifier import X\nimport surefoot.dag\ndef f():\n from surefoot.report import y\n"
    )
    found = set(surefoot_imports(ast.parse(code)))
    assert found == {("classifier", False), ("dag", False), ("report", True)}


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
    code = f"import sys; from surefoot import {names}; print([m for m in {heavy} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_no_statistics_right_of_the_waist_and_no_solver_left_of_it():
    """Searches and certificates see quadratics only."""
    statistics = {"network", "moments", "datasets", "structure", "classifier", "model_content"}
    for path in [*(ROOT / "search").rglob("*.py"), ROOT / "certify.py", ROOT / "problem.py"]:
        imported = {name for name, _ in surefoot_imports(ast.parse(path.read_text(encoding="utf-8")))}
        assert not imported & statistics, path
    shared = {
        name for name, _ in surefoot_imports(ast.parse((ROOT / "certify.py").read_text(encoding="utf-8")))
    }
    assert "search" not in shared
