"""Which solvers are here, what each can do, and one way to call them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from surefoot.exceptions import BackendError, BackendMissingError, BackendUnlicensedError
from surefoot.search.paper.program import Options, Outcome, Program

# name: (what it solves, the package it needs, how to get it); best first for each kind
BACKENDS = {
    "gurobi": (("milp", "qcqp"), "gurobipy", "pip install 'surefoot[gurobi]'"),
    "highs": (("milp",), "highspy", "pip install 'surefoot[highs]'"),
    "scip": (("milp", "qcqp"), "pyscipopt", "pip install 'surefoot[scip]'"),
}
# Open source first: a size-limited licence must not decide what the default does.
PREFERENCE = {"milp": ("highs", "gurobi", "scip"), "qcqp": ("scip", "gurobi")}


@dataclass(frozen=True)
class Availability:
    """What is known about one solver on this machine."""

    name: str
    kinds: tuple[str, ...]
    installed: bool
    licensed: bool
    message: str

    @property
    def usable(self) -> bool:
        """Whether it can be called."""
        return self.installed and self.licensed


def available_backends() -> tuple[Availability, ...]:
    """Every known solver: what it can do, whether it is here, and how to get it."""
    return tuple(_availability(name) for name in BACKENDS)


def choose_backend(kind: str, name: str | None = None) -> str:
    """The named solver if it can do ``kind`` and is usable, or the best that is."""
    if name is None:
        for candidate in PREFERENCE[kind]:
            if _availability(candidate).usable:
                return candidate
        pip = " or ".join(BACKENDS[candidate][2] for candidate in PREFERENCE[kind])
        raise BackendMissingError(f"no solver for a {kind} is installed; get one with {pip}")
    if name not in BACKENDS:
        raise BackendError(f"unknown backend {name!r}; there are {', '.join(sorted(BACKENDS))}")
    kinds, _, pip = BACKENDS[name]
    if kind not in kinds:
        able = ", ".join(other for other, (can, _, _) in BACKENDS.items() if kind in can)
        raise BackendError(f"{name} cannot solve a {kind}; {able} can")
    found = _availability(name)
    if not found.installed:
        raise BackendMissingError(f"{name} is not installed; get it with {pip}")
    if not found.licensed:
        raise BackendUnlicensedError(f"{name} is installed but has no valid licence: {found.message}")
    return name


def solve(program: Program, options: Options, name: str | None = None) -> Outcome:
    """Solve with the named (or the best available) solver; the answer is checked against the program."""
    backend = choose_backend(program.kind, name)
    start = time.perf_counter()
    try:
        if options.time_limit <= 0:
            raise TimeoutError("no time was left")
        outcome: Outcome = _module(backend).solve(program, options)
    except TimeoutError as error:
        return Outcome.out_of_time(time.perf_counter() - start, str(error))
    return outcome.checked(program)


def _availability(name: str) -> Availability:
    kinds, package, pip = BACKENDS[name]
    if find_spec(package) is None:
        return Availability(name, kinds, False, False, f"not installed: {pip}")
    licensed, message = _module(name).licence()
    return Availability(name, kinds, True, licensed, message)


def _module(name: str) -> ModuleType:
    return import_module(f"surefoot.search.paper.backends.{name}")
