"""Small faults put into the checker and the worst case, one at a time: do the tests notice each of them?

usage: make mutants
       python benchmarks/audit/mutants.py [--file NAME ...] [--function NAME ...] [--match TEXT]
                                          [--seconds S] [--tests FILE ...] [--quick S] [--patience S]
                                          [--log FILE]

Every mutant has one comparison, boolean operator, constant, sign, shift, minimum or maximum changed, one
``return`` of a verdict replaced, or one guard dropped. pytest collects tests/proof and runs it once, to fill
its caches and to note which test reaches which line. Then every mutant gets a child of this process, which
puts the code of the changed function in place and runs the tests that reach the changed line, those that
noticed most so far first, until one fails or the patience ends. No file is written, nothing imported again.

A mutant that no test notices is printed with its place; `mutants_explained.toml` names those that change
nothing, with the reason. The log keeps what is done; a second run goes on after it. On a busy machine, a
first run with ``--quick 1 --patience 6`` leaves little to a second one that runs the slow tests too.
"""

import __future__

import argparse
import ast
import copy
import functools
import gc
import hashlib
import importlib
import json
import os
import resource
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
PROOF = HOME / "src/surefoot/proof"
FILES = ("exact.py", "worst_case.py", "lowest.py")
SLOW = "command_itself or equal_to_scip or any_package or terminal_cannot"  # another process, or a solver
PYTEST = ("-q", "-x", "-s", "--tb=no", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:faulthandler",
          "-p", "no:xdist", "-k", f"not ({SLOW})")  # fmt: skip
MEMORY = 4 << 30  # bytes that a child may take beyond what this process has

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
        if type(value) is float:
            yield ast.Constant(2 * value if value else 1.0)
        else:
            yield ast.Constant(not value if type(value) is bool else value + 1)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NAMED:
        yield ast.Call(ast.Name(NAMED[node.func.id], ast.Load()), node.args, node.keywords)
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

    def visit_ClassDef(self, node):
        for statement in node.body:
            self.visit(statement)

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
    """Every mutant of a file: its key, the node, its function, and what takes the place of the node."""
    tree, places = ast.parse((PROOF / name).read_text(encoding="utf-8")), Places()
    places.visit(tree)
    holders, seen = _holders(tree.body), Counter()
    for node, function, returns in places.found:
        for new in variants(node, returns):
            said = f"{name} {function}: {_short(node)} -> {_short(new)}"
            seen[said] += 1
            key = said if seen[said] == 1 else f"{said} (number {seen[said]})"
            yield Mutant(key, name, function, *holders[node], node, new)


def _short(node):
    text = " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).split())
    return text if len(text) <= 90 else text[:87] + "..."


class Mutant:
    """One fault: where it is, and how it is put in place."""

    def __init__(self, key, name, function, statement, way, node, new):
        self.key, self.name, self.function, self.node, self.new = key, name, function, node, new
        self.statement, self.way = statement, way

    @property
    def code(self):
        """Of the whole function: an earlier outcome counts as long as it is the same."""
        return _dumped(self.statement)

    @property
    def lines(self):
        first = getattr(self.node, "lineno", 0)
        return range(first, getattr(self.node, "end_lineno", first) + 1)

    def put(self):
        """Change the module as it is loaded: the code of one function, or one of its constants."""
        statement, memo = self.statement, {}
        twin = copy.deepcopy(statement, memo)
        changed = ast.fix_missing_locations(Put(memo[id(self.node)], self.new).visit(twin))
        flags = __future__.annotations.compiler_flag
        code = compile(ast.Module([changed], []), str(PROOF / self.name), "exec", flags, dont_inherit=True)
        module = importlib.import_module(f"surefoot.proof.{self.name.removesuffix('.py')}")
        if isinstance(statement, ast.FunctionDef):
            found = _function(functools.reduce(_member, [*self.way, statement.name], module))
            found.__code__ = next(c for c in code.co_consts if getattr(c, "co_name", "") == statement.name)
        else:
            _run_again(module, code)


def _holders(statements, way=()):
    """Of every node the outermost function, or the statement at the top, that holds it; and its class."""
    found = {}
    for statement in statements:
        if isinstance(statement, ast.ClassDef):
            found |= _holders(statement.body, (*way, statement.name))
        else:
            found |= dict.fromkeys(ast.walk(statement), (statement, way))
    return found


@functools.cache
def _dumped(statement):
    return hashlib.sha256(ast.dump(statement).encode()).hexdigest()[:16]


def _member(holder, name):
    return vars(holder)[name]


def _function(found):
    """The function behind a property, a class method or a cache."""
    for name in ("fget", "func", "__func__", "__wrapped__"):
        found = getattr(found, name, found)
    return found


def _run_again(module, code):
    """Run a statement of a module once more, and give what it defines to those who imported it."""
    before = dict(vars(module))
    exec(code, vars(module))
    for name, value in vars(module).items():
        if before.get(name) is not value:
            for other in [m for key, m in sys.modules.items() if key.startswith("surefoot.proof.")]:
                if other is not module and name in before and vars(other).get(name) is before[name]:
                    setattr(other, name, value)


# ----- tests ------------------------------------------------------------------------------------------------


class Tests:
    """A plugin of pytest: after the tests were collected, it runs mutants instead of them."""

    def __init__(self, options):
        self.options, self.failed, self.code = options, False, 0
        self.reached, self.seconds, self.lines = defaultdict(set), {}, {}
        self.noticed, self.noticed_in = Counter(), defaultdict(Counter)

    def pytest_runtest_logreport(self, report):
        self.failed |= report.failed

    def pytest_runtestloop(self, session):
        self.items = {item.nodeid: item for item in session.items}
        self.recall()
        quick = self.options.quick
        items = [item for item in session.items if 0.1 < self.seconds.get(item.nodeid, quick) <= quick]
        for number, item in enumerate(items):  # fills the caches of the tests as well
            self.measure(item, items[number + 1 : number + 2], item.nodeid not in self.seconds)
            if self.failed:
                print(f"without any fault, {item.nodeid} fails", flush=True)
                self.code = 2
                return True
        self.remember()
        gc.collect()
        gc.freeze()  # children share these pages
        self.code = report(self.options, self)
        return True

    def recall(self):
        """What earlier runs noted about tests in files that did not change since."""
        path = self.options.log.with_suffix(".reached.json")
        noted = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if noted.get("checkers") == checkers():
            for nodeid, (stamp, seconds, reached) in noted["tests"].items():
                if nodeid in self.items and stamp == digest([self.items[nodeid].path]):
                    self.seconds[nodeid] = seconds
                    self.lines[nodeid] = reached

    def remember(self):
        for nodeid, reached in self.lines.items():
            for name, lines in reached.items():
                for line in lines:
                    self.reached[name, line].add(nodeid)
        noted = {
            nodeid: (digest([item.path]), self.seconds[nodeid], self.lines[nodeid])
            for nodeid, item in self.items.items()
        }
        path = self.options.log.with_suffix(".reached.json")
        path.write_text(json.dumps({"checkers": checkers(), "tests": noted}), encoding="utf-8")

    def measure(self, item, following, traced):
        """Run a test; note how long it takes and, if asked, what it reaches."""
        start, reached = time.process_time(), {path: set() for path in PATHS}

        def line(frame, event, _):
            if event == "line":
                reached[frame.f_code.co_filename].add(frame.f_lineno)
            return line

        def call(frame, *_):
            return line if frame.f_code.co_filename in reached else None

        if traced:
            sys.settrace(call)
        try:
            self.protocol(item, following)
        finally:
            sys.settrace(None)
        self.seconds[item.nodeid] = time.process_time() - start
        if traced:
            self.lines[item.nodeid] = {Path(path).name: sorted(lines) for path, lines in reached.items()}

    def protocol(self, item, following):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following[0] if following else None)

    def chosen(self, mutant):
        """The tests that reach a mutant, the most promising first."""
        found = set().union(*(self.reached[mutant.name, line] for line in mutant.lines))
        if not mutant.function:
            found = set(self.items)
        found = {nodeid for nodeid in found if self.seconds[nodeid] <= self.options.quick}
        there = self.noticed_in[mutant.name, mutant.function]

        def promise(nodeid):
            return -(0.1 + 10 * there[nodeid] + self.noticed[nodeid]) / (0.03 + self.seconds[nodeid])

        return sorted(found, key=promise)

    def outcome(self, mutant):
        """Run the tests on a mutant in a child process: killed, survived or timeout, and the test."""
        order = self.chosen(mutant)
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(out)
            self.child(mutant, order, into)
        os.close(into)
        with os.fdopen(out) as pipe:
            said = pipe.read().splitlines()
        _, status = os.waitpid(child, 0)
        for nodeid, seconds in zip(order, said, strict=False):
            self.seconds[nodeid] = float(seconds or self.seconds[nodeid])
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 4:
            raise AssertionError(f"cannot be put in place: {mutant.key}")
        last = order[min(len(said), len(order) - 1)] if order else ""
        if os.WIFSIGNALED(status) or os.WEXITSTATUS(status):
            self.noticed[last] += 1
            self.noticed_in[mutant.name, mutant.function][last] += 1
            late = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF
            return ("timeout" if late else "killed"), last
        return "survived", f"{len(said)} of {len(order)} tests that reach it"

    def child(self, mutant, order, into):
        code = 3
        try:
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            code = 4
            mutant.put()
            code = 3
            for number, nodeid in enumerate(order):
                if time.process_time() > self.options.patience:
                    break
                start = time.process_time()  # of this process: others may keep the machine busy
                signal.setitimer(signal.ITIMER_PROF, 5 + 10 * self.seconds[nodeid])
                self.protocol(self.items[nodeid], [self.items[other] for other in order[number + 1 :][:1]])
                if self.failed:
                    break
                os.write(into, f"{time.process_time() - start:.4f}\n".encode())
            code = int(self.failed)
        finally:
            os._exit(code)


PATHS = {str(PROOF / name) for name in FILES}


# ----- the log ----------------------------------------------------------------------------------------------


def explained():
    path = Path(__file__).with_name("mutants_explained.toml")
    listed = tomllib.loads(path.read_text(encoding="utf-8"))["same"]
    return {entry["mutant"]: entry["reason"] for entry in listed}


def digest(paths):
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(paths))).hexdigest()[:16]


def checkers():
    return digest(PROOF.glob("*.py"))


def tests():
    return digest((HOME / "tests/proof").glob("*.py"))


def finished(log):
    """The last outcome of every mutant in earlier runs."""
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return {entry["mutant"]: entry for entry in map(json.loads, lines)}


def stands(entry, mutant, now):
    """Whether an earlier outcome still counts: for who survived only if nothing changed since.

    Checkers and tests have to be the same then, and no more effort be asked for.
    """
    if entry["code"] != mutant.code or entry["outcome"] != "survived":
        return entry["code"] == mutant.code
    effort = zip(entry["effort"], now["effort"], strict=True)
    same = (entry["checkers"], entry["tests"]) == (now["checkers"], now["tests"])
    return same and all(earlier >= asked for earlier, asked in effort)


def chosen(options):
    """The mutants to run."""
    every = [mutant for name in options.file for mutant in mutants(name)]
    every.sort(key=lambda mutant: not mutant.function)  # what any test may reach comes last
    return [
        mutant for mutant in every
        if (not options.function or mutant.function in options.function) and options.match in mutant.key
    ]  # fmt: skip


def report(options, found_by):
    """Run the mutants, print those that nothing noticed, and the counts."""
    reasons, known = explained(), finished(options.log)
    effort = [options.quick, options.patience, len(found_by.items)]
    now = {"checkers": checkers(), "tests": tests(), "effort": effort}
    until, counts, files = time.monotonic() + options.seconds, Counter(), {}
    late = {key for key, entry in known.items() if entry["outcome"] == "survived"}
    for mutant in sorted(chosen(options), key=lambda mutant: mutant.key in late):
        entry, outcome = known.get(mutant.key), None
        if mutant.key in reasons:
            outcome = "explained"
        elif entry is not None and stands(entry, mutant, now):
            outcome = entry["outcome"]
        elif time.monotonic() > until:
            outcome = "left"
        if outcome is None:
            outcome, by = found_by.outcome(mutant)
            entry = {"mutant": mutant.key, "outcome": outcome, "by": by, "code": mutant.code}
            with options.log.open("a", encoding="utf-8") as log:
                log.write(json.dumps(entry | now) + "\n")
        counts[outcome] += 1
        files.setdefault(mutant.name, Counter())[outcome] += 1
        if outcome == "survived":
            place = f"src/surefoot/proof/{mutant.name}:{mutant.lines[0]}"
            print(f"survived: {place}: {mutant.key}", flush=True)
    for name, count in [*files.items(), ("all", counts)]:
        print(f"{name}: {sum(count.values())}", *(f"{key} {n}" for key, n in sorted(count.items())), sep=", ")
    return int(counts["survived"] > 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--file", nargs="*", default=FILES, help="only these files")
    parser.add_argument("--function", nargs="*", default=[], help="only these functions")
    parser.add_argument("--match", default="", help="only mutants whose description holds this text")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--tests", nargs="*", default=["tests/proof"], help="only these files of tests")
    parser.add_argument("--quick", type=float, default=1e9, help="leave out tests that take longer")
    parser.add_argument("--patience", type=float, default=60, help="seconds of tests for a mutant")
    parser.add_argument("--log", type=Path, default=Path(tempfile.gettempdir()) / "surefoot-mutants.jsonl")
    options = parser.parse_args()
    os.chdir(HOME)
    sys.path[:0] = [str(HOME / "src"), str(HOME)]
    plugin = Tests(options)
    code = pytest.main([*PYTEST, *options.tests], plugins=[plugin])
    sys.exit(plugin.code or int(code) % 5)  # 5: no test was run in the usual way


if __name__ == "__main__":
    main()
