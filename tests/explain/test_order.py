"""The way through `explain` does not turn back: a room imports from those before it alone."""

import ast

from tests.test_architecture import ROOT, module_of, surefoot_imports

ORDER = (
    "constraints",
    "ask",
    "answer",
    "diagnose",
    "result",
    "rows",
    "population",
    "verification",
    "explainer",
)
EXPLAIN = ROOT / "explain"

# Functions of rows and population that the class binds as its methods name the class of their first argument,
# to type checkers alone. Nothing else may look ahead.
ITS_OWN_CLASS = "from surefoot.explain.explainer import CounterfactualExplainer"


def explain_imports(code):
    """The modules of `explain` that a file imports, wherever in it."""
    tree = ast.parse(code)
    for block in ast.walk(tree):
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            block.body = [node for node in block.body if ast.unparse(node) != ITS_OWN_CLASS]
    return [name for name in surefoot_imports(tree) if name.startswith("explain.")]


def turned_back(room, code):
    """What a file of a room imports from later rooms."""
    return [name for name in explain_imports(code) if ORDER.index(name.split(".")[1]) > ORDER.index(room)]


def test_every_room_has_its_place():
    found = {path.stem for path in EXPLAIN.iterdir() if path.stem not in ("__init__", "__pycache__")}
    assert found == set(ORDER)


def test_the_way_does_not_turn_back():
    for path in sorted(EXPLAIN.rglob("*.py")):
        room = module_of(path).split(".")[1:2]
        if room:
            assert turned_back(room[0], path.read_text(encoding="utf-8")) == [], path


def test_a_wrong_import_would_be_found():
    later = "from surefoot.explain.answer.executor import answer_to"
    assert turned_back("ask", later) == ["explain.answer.executor.answer_to"]
    assert turned_back("ask", f"def f():\n    {later}\n")
    assert turned_back("ask", f"if TYPE_CHECKING:\n    {later}\n")
    assert turned_back("ask", "from surefoot.explain import rows")
    assert turned_back("rows", ITS_OWN_CLASS)
    assert not turned_back("rows", f"if TYPE_CHECKING:\n    {ITS_OWN_CLASS}\n")
    assert not turned_back("diagnose", later)
