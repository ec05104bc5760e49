"""The compiled loops do what Python's do, and nothing but speed depends on them."""

import ctypes
import importlib.util
import shutil
import subprocess
import sys
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from surefoot.problem.domain import Domain, Limit, ValueSet
from surefoot.search.certified import bounds, certified_search, frame, interior, kernel, majorant, stacks
from surefoot.search.certified.clock import Clock
from surefoot.search.certified.lagrangian import Lagrangian
from surefoot.search.certified.points import Points
from surefoot.search.certified.space import whitened
from surefoot.status import Status
from tests.problems import mixed_problem, random_problem
from tests.thinning import every, only

ROOT = Path(__file__).parents[3]
LIBRARY = kernel.LIBRARY
compiled = pytest.mark.skipif(LIBRARY is None, reason="there is no C compiler here")


@pytest.fixture
def interpreted(monkeypatch):
    """Do something without the compiled loops."""

    def run(function, *arguments, **named):
        with monkeypatch.context() as patch:
            patch.setattr(kernel, "LIBRARY", None)
            return function(*arguments, **named)

    return run


def small_problems(seed, count, m, d):
    """Random functions of d numbers: slabs, and two margins that differ by an affine function."""
    rng = np.random.default_rng(seed)
    D = d + 1
    terms = np.zeros((count, m, D, D))
    for i in range(count):
        for j in range(m - 2):
            slope = rng.normal(size=d)
            terms[i, j, :d, :d] = -np.outer(slope, slope)
            terms[i, j, d, d] = 1.0
        terms[i, 0, :d, :d] -= np.eye(d)
        bend, slope = rng.normal(size=(d, d)), rng.normal(size=d)
        for j in (m - 2, m - 1):
            terms[i, j, :d, :d] = 0.2 * (bend + bend.T)
            terms[i, j, :d, d] = terms[i, j, d, :d] = 0.5 * (slope + 0.3 * rng.normal(size=d))
            terms[i, j, d, d] = rng.normal() - 1.0
    return terms


@compiled
@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("exactly", [False, True])
def test_stacks(d, exactly, interpreted):
    terms = small_problems(d, 40, d + 5, d)
    ours = stacks.from_scratch(terms, 2, exactly=exactly)
    theirs = interpreted(stacks.from_scratch, terms, 2, exactly=exactly)
    assert (ours.refuted == theirs.refuted).all()
    assert 0 < ours.refuted.sum() < len(terms)
    # On the way to the end of the barrier rounding may decide which of two ways is taken, once in a while.
    same = np.isclose(ours.value, theirs.value, rtol=1e-6)
    assert same[ours.refuted].all()
    assert same.mean() >= 0.95
    assert np.allclose(ours.weights[same], theirs.weights[same], rtol=1e-5, atol=1e-5)
    same &= ~ours.refuted
    assert (ours.relaxed == theirs.relaxed)[same].all()
    assert np.allclose(ours.moments[same], theirs.moments[same], rtol=1e-4, atol=1e-6)


@compiled
def test_stacks_without_concave_weights_or_with_nonsense(interpreted):
    terms = small_problems(7, 4, 7, 3)
    terms[0, :, :3, :3] = np.eye(3)  # nothing makes this concave
    terms[1, 2] = np.nan
    terms[2, :, -1, -1] = 1e300
    ours, theirs = stacks.from_scratch(terms, 2), interpreted(stacks.from_scratch, terms, 2)
    assert not ours.refuted[:3].any()
    assert not theirs.refuted[:3].any()
    assert ours.refuted[3] == theirs.refuted[3]


@compiled
def test_stacks_of_extreme_scales_claim_what_their_weights_prove():
    """Weights that move on after a refutation must not keep its claim."""
    rng = np.random.default_rng(0)
    for seed in range(40):
        terms = small_problems(seed, 50, 8, 3) * 10.0 ** rng.uniform(-8, 8, (50, 8, 1, 1))
        found = stacks.from_scratch(terms, 2, exactly=True)
        again = stacks.judged(terms[found.refuted], 2, found.weights[found.refuted])
        assert again.refuted.all()


@compiled
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_peaks_of_nonsense_are_left_to_numpy(bad):
    base = random_problem(4, 3)
    today = base.factual
    sets = (ValueSet(0, tuple(today[0] + np.arange(-4, 5)), today[0]),)
    space = whitened(replace(base, domain=Domain(today - 4.0, today + 4.0, sets=sets)))
    made = frame.Frame(Points(space, 1e-2, Clock(1.0)), [0])
    ends = made.within(made.low, made.high, 1.0)
    major = majorant.cheapest(made.bends(np.zeros(4)), np.ones(len(made.slopes)), made.bulge)
    top = made.in_scenario(0)
    assert made._compiled(LIBRARY, major, top, ends, 1.0) is not None
    assert made._compiled(LIBRARY, major, top._replace(slope=top.slope * bad), ends, 1.0) is None
    assert made._compiled(LIBRARY, major, top._replace(constant=bad), ends, 1.0) is None


def asked(seed):
    """A random question: norms, budgets, whole numbers, a limit."""
    base = random_problem(5, seed, norm=(np.inf, 1, 2)[seed % 3], budget=(0.0, 0.1)[seed % 2])
    today = base.factual
    sets = tuple(ValueSet(j, tuple(today[j] + 0.3 * np.arange(-9, 10)), today[j]) for j in range(seed % 4))
    limits = (Limit(2, tuple(range(5)), tuple(today)),) if seed % 5 == 0 else ()
    return replace(base, domain=Domain(today - 4.0, today + 4.0, sets=sets, limits=limits))


@compiled
@pytest.mark.parametrize("seed", every(3, range(24)))
def test_searches_find_as_near_a_point(seed, interpreted):
    ours = certified_search(asked(seed), 1e-3, 20.0)
    theirs = interpreted(certified_search, asked(seed), 1e-3, 20.0)
    assert ours.status == theirs.status
    if ours.point is not None:
        near, other = (asked(seed).distance(found.point) for found in (ours, theirs))
        assert near == pytest.approx(other, rel=2e-3)


@compiled
@pytest.mark.parametrize(("first", "count"), only([(0, 3)], [(0, 3), (3, 7), (10, 10)]))
def test_searches_of_everything_at_once(first, count, interpreted):
    """Near-singular covariances, far factuals, rows, several requirements."""
    for seed in range(first, first + count):
        problem = mixed_problem(seed)
        ours = certified_search(problem, 1e-2, 1.0)
        theirs = interpreted(certified_search, problem, 1e-2, 1.0)
        decided = {ours.status, theirs.status} <= {Status.OPTIMAL, Status.INFEASIBLE}
        assert not decided or ours.status == theirs.status
        if decided and ours.point is not None:
            near, other = (problem.distance(found.point) for found in (ours, theirs))
            assert near == pytest.approx(other, rel=2e-2, abs=1e-6)


@compiled
@pytest.mark.parametrize("norm", [1, 2, np.inf])
def test_peaks_and_weights_are_the_same(norm, monkeypatch):
    """In the course of real searches: every peak and every majorant is computed twice."""
    peaks, weights = [], []
    compiled_peak, compiled_weights = frame.Frame._compiled, majorant._compiled

    def both_peaks(self, library, *given):
        before = self._signs.copy()
        ours, after = compiled_peak(self, library, *given), self._signs
        self._signs = before
        theirs, self._signs = self._interpreted(*given), after
        peaks.append((self.slopes, ours, theirs))
        return ours

    def both_weights(library, *given):
        ours = compiled_weights(library, *given)
        with monkeypatch.context() as patch:
            patch.setattr(kernel, "LIBRARY", None)
            weights.append((ours, majorant._along_path(*given)))
        return ours

    monkeypatch.setattr(frame.Frame, "_compiled", both_peaks)
    monkeypatch.setattr(majorant, "_compiled", both_weights)
    for seed in range(7):
        base = random_problem(6, seed, norm=norm)
        today = base.factual
        sets = tuple(ValueSet(j, tuple(today[j] + 0.4 * np.arange(-9, 10)), today[j]) for j in range(4))
        certified_search(replace(base, domain=Domain(today - 4.0, today + 4.0, sets=sets)), 1e-2, 10.0)
    known = [found for found in peaks if found[1] is not None]
    assert len(known) > 0.9 * len(peaks) > 50
    for slopes, ours, theirs in known:
        size = abs(theirs.value) + theirs.size
        if theirs.missing or ours.missing:  # ends that exclude each other, so that nothing is a peak
            assert (theirs.missing and ours.missing) or size > 1e6
            continue
        if size < 1e6:  # else rounding decides where a peak is
            assert ours.value == pytest.approx(theirs.value, abs=1e-7 * size)
            assert np.allclose(ours.u, theirs.u, rtol=1e-4, atol=1e-5)
            assert np.allclose(ours.places, slopes @ ours.u, rtol=1e-12, atol=1e-12)
            assert (ours.push is None) == (theirs.push is None)
    assert len(weights) > 5
    for ours, theirs in weights:
        assert np.allclose(ours, theirs, rtol=1e-5, atol=1e-9 * theirs.max())


@compiled
@pytest.mark.parametrize("norm", [1, 2, np.inf])
def test_multipliers_are_the_same(norm, monkeypatch):
    found = []
    inner = interior._compiled

    def both(library, form, x, share, floor):
        ours = inner(library, form, x, share, floor)
        with monkeypatch.context() as patch:
            patch.setattr(kernel, "LIBRARY", None)
            found.append((ours, interior.minimise(form, x, share, floor, Clock(10.0))))
        return ours

    monkeypatch.setattr(interior, "_compiled", both)
    monkeypatch.setattr(bounds, "at_once", lambda *_: None)  # or most of these questions need no search
    for seed in range(6):
        certified_search(random_problem(5, seed, norm=norm, budget=0.1), 1e-4, 10.0)
    assert len(found) > 5
    for ours, theirs in found:
        assert ours.refuted == theirs.refuted
        assert ours.value == pytest.approx(theirs.value, rel=1e-4)
        assert np.allclose(ours.x, theirs.x, rtol=1e-2, atol=1e-4 * np.abs(theirs.x).max())
        assert np.allclose(ours.z, theirs.z, rtol=1e-2, atol=1e-3)


@compiled
def test_multipliers_that_are_not_concave_are_left_to_numpy():
    left = np.array([[0.0, 1.0], [0.0, 1.0]])
    right = np.array([[0.0, 4.0], [1.0, -5.0]])
    form = Lagrangian(left, right, np.array([[[-1.0]], [[0.3]]]), np.array([0, 1]), 1, 1)
    assert interior._compiled(LIBRARY, form, np.array([0.1, 1.0]), 0.1, 0.0) is None
    with pytest.raises(ValueError, match="concave"):
        interior.minimise(form, np.array([0.1, 1.0]), 0.1, 0.0, Clock(1.0))


def test_a_library_that_is_none_is_not_loaded(tmp_path):
    assert kernel.load(tmp_path / "missing.so") is None
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"\x7fELF" + bytes(100))
    assert kernel.load(broken) is None


@compiled
def test_a_library_of_another_version_is_not_loaded(tmp_path, monkeypatch):
    path = Path(LIBRARY._name)
    assert isinstance(kernel.load(path), ctypes.CDLL)
    monkeypatch.setattr(kernel, "VERSION", kernel.VERSION + 1)
    assert kernel.load(path) is None


@compiled
def test_it_can_be_switched_off(monkeypatch):
    monkeypatch.setenv(kernel.SWITCH, "off")
    assert kernel.load(Path(LIBRARY._name)) is None
    assert "compiled" in kernel.state()
    monkeypatch.setattr(kernel, "LIBRARY", None)
    assert kernel.SWITCH in kernel.state()
    monkeypatch.delenv(kernel.SWITCH)
    assert "C compiler" in kernel.state()


def build_hook(monkeypatch):
    """The module that compiles the library, without the package that calls it."""
    interface = types.ModuleType("hatchling.builders.hooks.plugin.interface")
    interface.BuildHookInterface = object
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path):
    shutil.copy(Path(kernel.__file__).with_name("kernel.c"), tmp_path)
    return tmp_path


@compiled
def test_the_library_is_compiled(folder, monkeypatch):
    module = build_hook(monkeypatch)
    monkeypatch.setattr(module, "FLAGS", ["-O0", *module.FLAGS[1:]])  # in a second instead of five
    monkeypatch.setenv("CC", "there-is-no-such-compiler -O3")
    assert module.compile_kernel(folder / "kernel.c", folder / module.LIBRARY) == ""
    assert kernel.load(folder / module.LIBRARY) is not None


def test_without_a_compiler_there_is_no_library(folder, monkeypatch):
    module = build_hook(monkeypatch)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(module.shutil, "which", lambda _: None)
    assert "no C compiler" in module.compile_kernel(folder / "kernel.c", folder / module.LIBRARY)
    assert not (folder / module.LIBRARY).exists()


def test_a_compiler_that_fails_is_named(folder, monkeypatch):
    module = build_hook(monkeypatch)
    monkeypatch.setenv("CC", "false -with -flags")
    assert "false failed" in module.compile_kernel(folder / "kernel.c", folder / module.LIBRARY)
    assert not (folder / module.LIBRARY).exists()


def test_an_older_library_is_replaced_whole(folder, monkeypatch):
    module = build_hook(monkeypatch)
    new, old = folder / "new", folder / module.LIBRARY
    new.write_text("new")
    old.write_text("old")
    assert module.put(new, old) == ""
    assert old.read_text() == "new"
    assert module.put(folder / "missing", old)
    assert old.read_text() == "new"
    assert sorted(path.name for path in folder.iterdir()) == ["kernel.c", module.LIBRARY, "new"]


@compiled
def test_the_source_compiles_without_a_warning(folder):
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))))
    command = [compiler, "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    done = subprocess.run(
        [*command, "-o", str(folder / "strict"), str(folder / "kernel.c"), "-lm"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
