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

# Functions of these rooms are methods of the class, which binds them: they name it as that of their first
# argument, to type checkers alone. Nothing else may look ahead.
BOUND = ("rows", "population")
THEIR_CLASS = "from surefoot.explain.explainer import CounterfactualExplainer"


def turned_back(room, code):
    """What a file of a room imports from later rooms, wherever in it."""
    tree = ast.parse(code)
    for block in ast.walk(tree) if room in BOUND else ():
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            block.body = [node for node in block.body if ast.unparse(node) != THEIR_CLASS]
    found = [name for name in surefoot_imports(tree) if name.startswith("explain.")]
    return [name for name in found if ORDER.index(name.split(".")[1]) > ORDER.index(room)]


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
    assert turned_back("rows", THEIR_CLASS)
    assert turned_back("result", f"if TYPE_CHECKING:\n    {THEIR_CLASS}\n")
    assert not turned_back("rows", f"if TYPE_CHECKING:\n    {THEIR_CLASS}\n")
    assert not turned_back("diagnose", later)
