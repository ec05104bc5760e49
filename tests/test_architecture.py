"""Data flows one way: a module imports only from its own layer or from earlier ones."""

import ast
import subprocess
import sys
from pathlib import Path

import surefoot

ROOT = Path(surefoot.__file__).parent

# A room is a folder, or a file that needs a place of its own; the longest name that fits counts.
LAYERS = [
    {"exceptions", "status", "formats", "threads", "memory", "files"},
    {"plain"},
    {"waist.quadratic", "waist.geometry"},
    {"waist.mixed", "waist.warp"},
    {"model.dag"},
    {"model.network", "model.moments", "model.file", "model.warp", "model.calibration"},
    {"datasets"},
    {"model.columns"},
    {"model.schema"},
    {"model.mixed", "model.rows", "model.completion", "model.elimination", "model.scores"},
    {"model.statistics", "model.holes", "model.decision", "model.parts", "model.fingerprint"},
    {"model.cells", "model.incomplete"},
    {"model.structure"},
    {"model.fitting"},
    {"model.stream"},
    {"model.streaming"},
    {"model.content"},
    {"model.classifier"},
    {"model.scalers", "model.adopted", "model.rivals"},
    {"model.selection", "model.diagnosis"},
    {"model.adoption"},
    {"waist"},
    {"search"},
    {"proof"},
    {"explain.rules"},
    {"explain.grammar"},
    {"explain.actions"},
    {"explain.categories", "explain.naming", "explain.feature_ends"},
    {"explain.conditions", "explain.implied"},
    {"explain.wishes", "explain.action_files", "explain.action_checks"},
    {"explain.giving_up"},
    {"explain.judging"},
    {"explain.methods", "explain.reachable"},
    {"explain.diagnosis"},
    {"explain.answering"},
    {"explain.plausibility", "explain.keeping", "explain.refits", "explain.cautions"},
    {
        "explain.words",
        "explain.readable",
        "explain.declared",
        "explain.rows",
        "explain.targets",
        "explain.progress",
    },
    {"explain.explanation"},
    {"explain.levers", "explain.differing", "explain.trade_off", "explain.doubt"},
    {"explain.document"},
    {"explain.explanations", "explain.assembly", "explain.imputing"},
    {"explain.asking", "explain.by_model"},
    {"explain.verification"},
    {"explain.explainer"},
    {"faces.plots", "plots"},
    {"faces.report"},
    {"experiments"},
    {"faces.cli"},
    {"__main__"},
]
ROOMS = {room: number for number, layer in enumerate(LAYERS) for room in layer}
# Methods that open a door to a later layer, inside a function body and nowhere else.
DOORS = {
    ("model.classifier", "faces.report"),
    ("model.classifier", "faces.plots"),
    ("model.content", "model.classifier"),
    ("model.content", "model.adopted"),
    ("model.fingerprint", "model.classifier"),
    ("model.diagnosis", "faces.plots"),
    ("explain.actions", "explain.action_files"),
    ("explain.actions", "explain.action_checks"),
    ("explain.explanation", "explain.document"),
    ("explain.explanation", "explain.levers"),
    ("explain.trade_off", "explain.explainer"),
    ("explain.trade_off", "faces.plots"),
    ("explain.explanation", "faces.report"),
    ("explain.explanations", "faces.report"),
}


def room_of(module):
    """The longest room that a dotted name lies in; None where there is none."""
    parts = module.split(".")
    names = [".".join(parts[:k]) for k in range(len(parts), 0, -1)]
    return next((name for name in names if name in ROOMS), None)


def module_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def surefoot_imports(tree):
    """Yield (imported module, whether inside a function) for every import of surefoot in a file."""
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
                    yield alias.name.removeprefix("surefoot").removeprefix("."), id(node) in inside
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "surefoot":
            module = node.module.removeprefix("surefoot").removeprefix(".")
            for alias in node.names:
                yield f"{module}.{alias.name}".removeprefix("."), id(node) in inside


def imports_of(path):
    return surefoot_imports(ast.parse(path.read_text(encoding="utf-8")))


def violations():
    for path in sorted(ROOT.rglob("*.py")):
        here = room_of(module_of(path))
        if here is None:  # the package itself, and folders that only carry a docstring
            continue
        for imported, lazy in imports_of(path):
            there = room_of(imported)
            if imported in ("__version__", "") or (there and ROOMS[there] <= ROOMS[here]):
                continue
            if not (lazy and (here, there) in DOORS):
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
    code += "def f():\n from surefoot.faces.report import y\n"
    found = set(surefoot_imports(ast.parse(code)))
    assert found == {("model.classifier.X", False), ("model.dag", False), ("faces.report.y", True)}
    assert room_of("model.classifier.X") == "model.classifier"


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


def test_no_statistics_right_of_the_waist():
    """Searches and proofs see quadratics only."""
    for path in [*(ROOT / "search").rglob("*.py"), *(ROOT / "proof").rglob("*.py")]:
        for imported, _ in imports_of(path):
            assert imported.split(".")[0] not in ("model", "datasets"), path


def test_a_proof_knows_neither_search_nor_solver():
    for path in (ROOT / "proof").rglob("*.py"):
        for imported, _ in imports_of(path):
            assert imported.split(".")[0] in ("proof", "waist", "status", "exceptions"), path
