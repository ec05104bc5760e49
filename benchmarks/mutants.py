"""Small faults put into the checkers, one at a time: do the tests notice each of them?

usage: make mutants      or      python benchmarks/mutants.py [--function NAME ...] [--seconds S] [--log FILE]

Every mutant is a copy of the package with one comparison, boolean operator, constant, sign, shift, minimum
or maximum changed, one ``return`` of a verdict replaced, or one guard dropped. The tests of tests/proof run
on the copy until one fails. A mutant that none notices is printed with its place; `mutants_explained.toml`
names those that change nothing, with the reason. The log keeps what is done; a second run goes on after it.
"""

import argparse
import ast
import copy
import hashlib
import importlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter
from pathlib import Path

HOME = Path(__file__).parents[1]
FILES = ("exact.py", "fast.py", "pieces.py", "products.py", "rounding.py")
FIRST = (
    "leaf_fault", "norm_terms", "_around", "cross_terms", "product_term", "affine", "sloped", "_by_ends",
    "_by_dual_norm", "between_term", "requirement_term", "end_form", "_weight", "nothing_between", "step",
    "function", "beyond", "definite", "_definite_at", "_lowered", "_pivots_positive", "_shifted",
    "restricted", "__init__", "ends", "empty", "fixed", "proven_level", "proven_robustness",
    "robustness_claim",
    "lower_bound_claim", "_exceeds_domain", "gap_claim", "validity_claim", "contains", "within", "proven",
    "add_norm", "_set_cross", "above_by_ends", "above_by_dual_norm", "positive_definite", "error", "share",
    "checked_weight", "double", "is_whitening", "_whitening_fault", "_shape_fault", "_full_fault",
    "_empty_fault", "_domain_fault", "_missing_odds",
)  # fmt: skip
TESTS = ("test_conditions.py", "test_fast.py", "test_exact.py", "test_forgeries.py")
SLOW = "nesting or null_in_every or any_change or command_itself or keys_twice or spoilt_files"
PYTEST = ("-x", "-q", "--assert=plain", "-p", "no:cacheprovider", "-k", f"not ({SLOW})")
HEAVY = (
    "numpy", "scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.stats", "pandas", "sklearn.base",
    "sklearn.linear_model", "sklearn.pipeline", "sklearn.preprocessing", "joblib", "clarabel", "pytest",
)  # fmt: skip

COMPARED = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
}  # fmt: skip
COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.LShift: ast.RShift, ast.RShift: ast.LShift}
NAMED = {"min": "max", "max": "min", "any": "all", "all": "any", "maximum": "minimum", "abs": "float"}


# ----- faults -----------------------------------------------------------------------------------------------


def variants(node, returns):
    """Every small fault of one node: what to put in its place."""
    if isinstance(node, ast.Compare):
        for k, operator in enumerate(node.ops):
            for other in COMPARED[type(operator)]:
                changed = copy.deepcopy(node)
                changed.ops[k] = other()
                yield changed
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        yield ast.BinOp(node.left, COMPUTED[type(node.op)](), node.right)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
        value = node.value
        yield ast.Constant(
            not value if type(value) is bool else value + 1 if type(value) is int else 2 * value
        )
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NAMED:
        yield ast.Call(ast.Name(NAMED[node.func.id]), node.args, node.keywords)
    else:
        yield from _statements(node, returns)


def _statements(node, returns):
    """Faults of a whole statement: a guard dropped, a verdict replaced."""
    if (
        isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], ast.Return | ast.Raise)
    ) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        yield ast.Pass()
    elif isinstance(node, ast.Return) and returns == "bool" and not isinstance(node.value, ast.Constant):
        yield from (ast.Return(ast.Constant(value)) for value in (True, False))
    elif isinstance(node, ast.Return) and returns == "str" and not isinstance(node.value, ast.Constant):
        yield ast.Return(ast.Constant(""))


class Places(ast.NodeVisitor):
    """All nodes that may be changed, with the function they are in."""

    def __init__(self):
        self.found, self.function, self.returns = [], "", ""

    def visit_FunctionDef(self, node):
        outer = self.function, self.returns
        self.function, self.returns = node.name, ast.unparse(node.returns) if node.returns else ""
        for statement in node.body:
            self.visit(statement)
        self.function, self.returns = outer

    def visit_keyword(self, node):
        if node.arg != "strict":  # lists that are always of one length
            self.visit(node.value)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)

    def generic_visit(self, node):
        if self.function or isinstance(node, ast.Constant):
            self.found.append((node, self.function, self.returns))
        super().generic_visit(node)


class Put(ast.NodeTransformer):
    """One node replaced by another."""

    def __init__(self, old, new):
        self.old, self.new = old, new

    def visit(self, node):
        return self.new if node is self.old else self.generic_visit(node)


def mutants(name):
    """Every mutant of a file: its key, its line, its function, and its source."""
    source = (HOME / "src/surefoot/proof" / name).read_text(encoding="utf-8")
    tree, places = ast.parse(source), Places()
    places.visit(tree)
    seen = Counter()
    for node, function, returns in places.found:
        for new in variants(node, returns):
            said = f"{name} {function}: {_short(node)} -> {_short(new)}"
            seen[said] += 1
            key = said if seen[said] == 1 else f"{said} (number {seen[said]})"
            yield key, getattr(node, "lineno", 0), function, (tree, node, new)


def _short(node):
    text = " ".join(ast.unparse(ast.fix_missing_locations(node)).split())
    return text if len(text) <= 90 else text[:87] + "..."


def written(parts):
    """The source of a mutant."""
    tree, old, new = parts
    memo = {}
    twin = copy.deepcopy(tree, memo)
    return ast.unparse(ast.fix_missing_locations(Put(memo[id(old)], new).visit(twin)))


# ----- running ----------------------------------------------------------------------------------------------


def copied(folder):
    """A copy of what the tests need."""
    for name in ("src", "tests", "benchmarks"):
        shutil.copytree(
            HOME / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "results", "peers")
        )
    shutil.copy(HOME / "pyproject.toml", folder)
    return folder


def outcome(folder, limit, tests):
    """Run the tests on a copy in a child process: killed, survived or timeout."""
    child = os.fork()
    if child == 0:
        _child(folder, limit, tests)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "timeout" if os.WTERMSIG(status) == signal.SIGALRM else "killed"
    return "survived" if os.WEXITSTATUS(status) == 0 else "killed"


def _child(folder, limit, tests):
    code = 3
    try:
        signal.alarm(limit)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        os.chdir(folder)
        sys.path[:0] = [str(folder / "src"), str(folder)]
        sys.dont_write_bytecode = True
        import pytest

        for name in tests:  # one after the other: what is quick decides first
            code = int(pytest.main([*PYTEST, f"tests/proof/{name}"]))
            if code:
                break
    finally:
        os._exit(code)


def chosen(options):
    """Mutants in the order in which they run: what decides about soundness first."""
    every = [(key, line, function, parts) for name in FILES for key, line, function, parts in mutants(name)]
    if options.function:
        every = [entry for entry in every if entry[2] in options.function]
    order = {function: place for place, function in enumerate(FIRST)}
    return sorted(every, key=lambda entry: order.get(entry[2], len(order)))


def explained():
    path = Path(__file__).with_name("mutants_explained.toml")
    listed = tomllib.loads(path.read_text(encoding="utf-8"))["same"]
    return {entry["mutant"]: entry["reason"] for entry in listed}


def finished(log):
    """Outcomes of earlier runs with the same sources."""
    found = {}
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else []:
        entry = json.loads(line)
        found[entry["mutant"], entry["digest"]] = entry["outcome"]
    return found


def digest():
    """Of checkers and tests."""
    paths = [*(HOME / "src/surefoot/proof").glob("*.py"), *(HOME / "tests/proof").glob("*.py")]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(paths))).hexdigest()[:16]


def run(options, folder):
    """Yield every mutant with its outcome."""
    before, known, stamp = explained(), finished(options.log), digest()
    until = time.monotonic() + options.seconds
    mutants_of = chosen(options)[options.skip :: options.every]
    with options.log.open("a", encoding="utf-8") as log:
        for key, line, _, parts in mutants_of:
            if time.monotonic() > until:
                break
            name = key.split()[0]
            found = "explained" if key in before else known.get((key, stamp))
            if found is None:
                path = folder / "src/surefoot/proof" / name
                original = path.read_text(encoding="utf-8")
                path.write_text(written(parts), encoding="utf-8")
                found = outcome(folder, options.limit, options.tests)
                path.write_text(original, encoding="utf-8")
                log.write(json.dumps({"mutant": key, "digest": stamp, "outcome": found}) + "\n")
                log.flush()
            yield key, line, found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--function", nargs="*", default=[], help="only these functions")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--limit", type=int, default=300, help="seconds for the tests of one mutant")
    parser.add_argument("--tests", nargs="*", default=TESTS, help="files of tests/proof to run")
    parser.add_argument("--every", type=int, default=1, help="only every n-th mutant")
    parser.add_argument("--skip", type=int, default=0, help="start at this one")
    parser.add_argument("--log", type=Path, default=Path(tempfile.gettempdir()) / "surefoot-mutants.jsonl")
    options = parser.parse_args()
    for name in HEAVY:  # once, not in every child
        importlib.import_module(name)
    counts = Counter()
    with tempfile.TemporaryDirectory() as temporary:
        folder = copied(Path(temporary))
        if outcome(folder, 10 * options.limit, options.tests) != "survived":
            sys.exit("the tests fail without any fault")
        for key, line, found in run(options, folder):
            counts[found] += 1
            if found == "survived":
                print(f"survived: src/surefoot/proof/{key.split()[0]}:{line}: {key}", flush=True)
    print(", ".join(f"{name}: {count}" for name, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
