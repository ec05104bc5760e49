"""What a check may take: work that goes with the size of the file, and a time limit."""

import contextlib
import copy
import math
import random
import time
from dataclasses import replace
from fractions import Fraction

import pytest

from surefoot import verify
from surefoot.exceptions import ProblemError
from surefoot.proof import exact
from surefoot.proof.exact import HOLDS, NOT_PROVED, Effort, EffortError
from surefoot.ui.cli import main as surefoot
from tests.asking import CounterfactualExplainer
from tests.proof import test_conditions as conditions
from tests.proof import two_categories as states
from tests.proof.handmade import banknote, banknote_row
from tests.proof.test_all_states import stair
from tests.proof.test_exact import files

forging = pytest.importorskip("benchmarks.audit.forging.inflated")

INF = math.inf


def last(contents, document, time_limit=INF):
    return exact.check(contents, document, time_limit)[-1]


# ----- work and time ----------------------------------------------------------------------------------------


def test_effort_is_spent():
    effort = Effort(10)
    effort.spend(4)
    effort.spend(6)
    with pytest.raises(EffortError, match="more work than its size justifies"):
        effort.spend(1)


def test_time_runs_out(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(exact.time, "monotonic", lambda: now[0])
    effort = Effort(time_limit=2.5)
    now[0] = 102.5
    effort.spend(0)
    now[0] = 102.6
    with pytest.raises(EffortError, match=r"^the time limit of 2\.5 s ran out$"):
        effort.spend(0)


@pytest.mark.parametrize("seconds", [0, 0.0, -1.0, math.nan, -INF])
def test_a_time_limit_is_positive(seconds):
    with pytest.raises(ValueError, match="positive number of seconds"):
        Effort(time_limit=seconds)
    with pytest.raises(ValueError, match="positive number of seconds"):
        exact.check(*([part] if k == 0 else part for k, part in enumerate(files())), seconds)


def test_effort_is_limited_within_only():
    """And what is limited inside of it does not touch what is limited outside."""
    exact.spend(10**30)
    with exact.limited(Effort(10)):
        with exact.limited(Effort(5)), pytest.raises(EffortError):
            exact.spend(6)
        exact.spend(10)
        with pytest.raises(EffortError):
            exact.spend(1)
    exact.spend(10**30)


@pytest.mark.parametrize(
    ("document", "count"),
    [(1, 1), ([], 1), ([1, 2], 3), ({"a": 1}, 2), ({"a": [1, {"b": None}], "c": "dd"}, 6)],
)
def test_values_are_counted(document, count):
    assert exact.n_values(document) == count


def test_work_goes_with_the_size(monkeypatch):
    """As much as is needed holds, a little less does not; what was decided before stands."""
    model, e = files()
    taken = []

    class Counted(Effort):
        def __init__(self, work, time_limit):
            assert work == exact.LEAST_WORK + exact.MORE_WORK * exact.n_values(e) ** 1.5
            super().__init__(work, time_limit)
            taken.append((self, work))

    with monkeypatch.context() as patch:
        patch.setattr(exact, "Effort", Counted)
        assert {claim.verdict for claim in exact.check([model], e)} == {HOLDS}
    used = math.ceil(taken[0][1] - taken[0][0].work)
    monkeypatch.setattr(exact, "MORE_WORK", 0)
    monkeypatch.setattr(exact, "LEAST_WORK", used)
    assert last([model], e).verdict == HOLDS
    monkeypatch.setattr(exact, "LEAST_WORK", used - 1)
    found = exact.check([model], e)
    assert found[-1] == ("verification", NOT_PROVED, "the file asks for more work than its size justifies")
    assert [claim.name for claim in found[:2]] == ["model", "question"]
    assert {claim.verdict for claim in found[:-1]} == {HOLDS}


# ----- both faces -------------------------------------------------------------------------------------------


def answered():
    return CounterfactualExplainer(banknote(), budget=0.05).explain(banknote_row(), target=1)


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    banknote().save(folder / "model.json")
    (folder / "e.json").write_text(answered().to_json(), encoding="utf-8")
    return str(folder / "model.json"), str(folder / "e.json")


def test_the_time_limit_of_verify():
    e = answered()
    assert verify(e, banknote(), time_limit=60).ok
    result = verify(e, banknote(), time_limit=1e-9)
    assert [claim.name for claim in result.failures] == ["verification"]
    assert str(result).endswith("not proved verification: the time limit of 1e-09 s ran out")
    assert verify(e, banknote(), exact=True).claims == verify(e, banknote(), exact=False).claims
    for wrong in (0, -1.0, math.nan):
        with pytest.raises(ProblemError, match="time_limit must be a positive number of seconds"):
            verify(e, banknote(), time_limit=wrong)


@pytest.mark.parametrize("face", [exact.main, lambda files: surefoot(["verify", *files])])
def test_the_time_limit_of_the_commands(face, on_disk, capsys):
    assert face([*on_disk, "--time-limit", "60"]) == 0
    assert face(["--time-limit", "60", *on_disk]) == 0
    capsys.readouterr()
    assert face([*on_disk, "--time-limit", "1e-9"]) == 1
    printed = capsys.readouterr().out
    assert printed.endswith("not proved verification: the time limit of 1e-09 s ran out\n")


@pytest.mark.parametrize("wrong", ["0", "-1", "nan", "soon", None])
def test_a_time_limit_that_is_none(wrong, on_disk, capsys):
    """One line, and exit status 2."""
    assert exact.main([*on_disk, "--time-limit", *([] if wrong is None else [wrong])]) == 2
    printed = capsys.readouterr()
    assert printed.err == "--time-limit: must be a positive number of seconds\n"
    if wrong in ("0", "nan"):
        assert surefoot(["verify", *on_disk, "--time-limit", wrong]) == 2
        assert capsys.readouterr().err.count("\n") == 1


# ----- tables: of many entries only the largest needs its logarithm -----------------------------------------


def test_the_largest_of_ratios():
    """Ratios that are equal when rounded, beyond all doubles, or nearly zero."""
    up = math.nextafter(1.0, 2)
    for above, below, largest in (
        ([1.0, 2.0, 3.0], [3.0, 2.0, 1.0], 2),
        ([1.0, up * up], [up, up * up * up], 1),
        ([1e308, 1e308, 9e307], [1e-308, 5e-324, 5e-324], 1),
        ([5e-324, 1e-323, 5e-324], [1e308, 1e308, 1e307], 2),
        ([0.25, 0.5], [0.5, 1.0], 0),
    ):
        found = exact.Ratios(above, below).largest(list(range(len(above))))
        exactly = [Fraction(a) / Fraction(b) for a, b in zip(above, below, strict=True)]
        assert found == max(exactly) == exactly[largest]
    assert exact.Ratios([0.25, 0.5, 0.125], None).largest([0, 2]) == 0.25


def test_gains_are_those_of_every_entry():
    """Random tables and prices: what is found is the largest of all, entry by entry."""
    rng = random.Random(0)
    for _ in range(150):
        sizes = [rng.randint(1, 4) for _ in range(rng.randint(1, 3))]
        count = math.prod(sizes)
        allowed = [sorted(rng.sample(range(n), rng.randint(1, n))) for n in sizes]
        prices = [rng.choice([0.0, 0.25, 9 * rng.random()]) for _ in range(sizes[-1])]
        above, below = ([rng.choice([0.5, 0.25, rng.random()]) for _ in range(count)] for _ in range(2))
        gain = exact.Gain(list(range(len(sizes))), sizes, allowed, prices, exact.Ratios(above, below))
        known = {i: rng.choice(values) for i, values in enumerate(allowed) if rng.random() < 0.4}
        rate = Fraction(rng.choice([0, 1, 3, 1 / 3, 1e-3]))
        found = gain.most(tuple(known.items()), rate)
        assert found == gain.most(tuple(known.items()), rate)
        every = []
        for place in range(count):
            rest, values = place, []
            for size in reversed(sizes):
                rest, v = divmod(rest, size)
                values.insert(0, v)
            if all(v in allowed[i] and known.get(i, v) == v for i, v in enumerate(values)):
                ratio = Fraction(above[place]) / Fraction(below[place])
                less = math.floor(2 * rate * Fraction(prices[values[-1]]) * (1 << exact.PLACES))
                every.append(exact.enclosed_log(ratio.numerator, ratio.denominator, 2).high - less)
        assert found == max(every)


def test_dear_entries_count_where_they_are_larger():
    """Without a rate the largest counts, with a small one too; with a large one it is better to stay."""
    ratios = exact.Ratios([0.5, 0.625, 0.75, 0.875], [1.0] * 4)
    gain = exact.Gain([0], [4], [[0, 1, 2, 3]], [0.0, 5.0, 6.0, 7.0], ratios)
    assert gain.most((), Fraction(0)) == exact.enclosed_log(7, 8, 2).high
    small = Fraction(1, 2**10)
    assert gain.most((), small) == exact.enclosed_log(7, 8, 2).high - 14 * (1 << exact.PLACES - 10)
    assert gain.most((), Fraction(1)) == exact.enclosed_log(1, 2, 2).high


def test_few_logarithms_of_a_large_table(monkeypatch):
    """1,600 entries for each class: the proof looks at some."""
    contents, e = forging.categories()
    known, logs = [exact.read_model(model) for model in contents], []
    enclosed = exact.enclosed_log
    monkeypatch.setattr(exact, "enclosed_log", lambda *given: logs.append(given) or enclosed(*given))
    assert {claim.verdict for claim in exact.check(known, e)} == {HOLDS}
    assert len(known[0].tables[0][1].flat) == 1600
    assert len(logs) < 200


# ----- proofs that repeat others ----------------------------------------------------------------------------


def test_repeated_proofs_are_checked_once(monkeypatch):
    e = states.answer(proofs=[states.refuted(0.0, 0.74), states.refuted(0.5, 0.49)] * 50)
    looked, level = [], exact.proven_level
    monkeypatch.setattr(exact, "proven_level", lambda proof: looked.append(proof) or level(proof))
    assert states.claims(e)["lower bound"].reason.endswith("by 2 proofs")
    assert len(looked) == 2
    true = copy.deepcopy(e["certificate"]["states"]["proofs"][0]) | {"constants": [False]}
    e["certificate"]["states"]["proofs"].append(true)  # equal to 0.0, but no number
    with pytest.raises(exact.UnreadableError):
        exact.check([states.content()], e)


def test_deep_proofs_are_left_as_they_are():
    deep = value = []
    for _ in range(10**5):
        value.append([])
        value = value[0]
    assert exact.distinct([deep, 1, 1, True, 1.0, deep]) == [deep, 1, True, 1.0, deep]


def refuted(radius, *gains, shape=(), ways=(), left=()):
    return exact.Refuted(shape, list(gains), Fraction(radius), list(ways), list(left))


def test_dominated_proofs_are_dropped():
    best = refuted(2, 5, 5)
    for other, kept in (
        (refuted(2, 5, 5), 1), (refuted(1, 5, 5), 1), (refuted(2, 4, 5), 1), (refuted(1, 4, 4), 1),
        (refuted(2, 6, 5), 1), (refuted(1, 6, 4), 2), (refuted(3, 4, 5), 2), (refuted(1, 5, 6), 2),
        (refuted(1, 4, 4, shape=(0,)), 2), (refuted(1, 4, 4, shape=None), 2),
        (refuted(1, 4, 4, ways=[{0}]), 2), (refuted(1, 4, 4, left=[1]), 2),
    ):  # fmt: skip
        assert len(exact.undominated([best, other])) == len(exact.undominated([other, best])) == kept
    unbounded = best._replace(radius=INF)
    assert exact.undominated([best, unbounded]) == [unbounded]
    ways = [best._replace(ways=[None]), best._replace(ways=[{0, 1}]), best._replace(ways=[{1, 0}])]
    assert len(exact.undominated(ways)) == 2


def test_proofs_count_with_the_looks():
    """Ten proofs that nothing dominates, and three looks until a state is found that they leave open.

    The last look sees them as well: it is at all categories.
    """
    proofs = [refuted(Fraction(k, 20), 10 - k) for k in range(10)]
    cover = exact.Cover(states.case_of(), proofs, [0.0], 0.74)
    assert cover.steps == 0
    assert cover.uncovered() is not None
    assert cover.steps == 4 + 3 * 10  # one of four looks is at what is too dear


def test_trades_are_few():
    assert states.bound(trades=[float(k) for k in range(100)]).verdict == HOLDS
    claim = states.bound(trades=[float(k) for k in range(101)])
    assert claim.verdict == NOT_PROVED
    assert claim.reason.endswith("; there are more than 100 trades")


# ----- inflated files ---------------------------------------------------------------------------------------

SOME = [(base, change) for base in ("numbers", "categories") for change in forging.BASES[base][1]]


@pytest.mark.parametrize(("base", "change"), SOME, ids=lambda v: getattr(v, "__name__", v))
def test_inflated_files_are_done_or_refused_in_time(base, change):
    """Within the limit, up to the longest step between two looks at the clock."""
    contents, document = forging.inflated(base, change, 500)
    start = time.process_time()
    with contextlib.suppress(exact.UnreadableError):
        exact.check(contents, document, 1.0)
    assert time.process_time() - start < 6.0


# ----- every loop that can be long is counted ---------------------------------------------------------------


def setting_of(n):
    every = list(range(n))
    metric = [[float(i <= j) for j in every] for i in every]
    return exact.Setting(2.0, metric, None, exact.dyadic([0.0] * n), every, [])


def proof_of(n):
    return exact.read_proof(setting_of(n), {"directions": [], "scenarios": [], "tree": None})


def form(*entries, space="u"):
    return exact.Form(space, [(i, 1) for i in entries], 0)


def network(n):
    return exact.Network([[float(j < i) for j in range(n)] for i in range(n)], [0.0] * n, [1.0] * n)


def chain(n):
    """Each the next one's parent, by a tenth: a number of 55 binary places, and twice as many one later."""
    weights = [[0.1 * (j == i - 1) for j in range(n)] for i in range(n)]
    return exact.Network(weights, [0.0] * n, [1.0] * n)


def cover_of(count=3):
    proofs = [refuted(Fraction(k, 20), 10 - k) for k in range(count)]
    return exact.Cover(states.case_of(), proofs, [0.0, 1.0], 0.74)


def deciding(n):
    """A tree of cuts, deep on one side."""
    tree = None
    for k in range(n):
        tree = {"cut": [["u", 0], float(k)], "below": None, "above": tree}
    return exact.Proof(setting_of(1), [], [], tree)


WIDE = exact.Row([1.0] * 4, 0.0, 1.0, "r")
COUNTED = {
    "gram": (lambda: exact.gram([[(0, 1), (1, 1)], [(1, 1)]], [1, 1], 2), 2**2 + 1),
    "elimination": (lambda: exact._pivots_positive([[9], [0, 9], [0, 0, 9]]), 9 // 2 + 4 // 2),
    "congruent": (
        lambda: exact.congruent({1: {0: 1}}, [[(0, 1), (1, 1)], [(1, 1)]], 2), (2 + 1) + 2 * (2 + 1),
    ),
    "places": (lambda: exact._places([[0, 1], [0, 1, 2]], [2, 3]), 6),
    "forms of u": (
        lambda: exact.in_features(proof_of(2).frame((0, 1)), form(0, 1)), 2 * 3,
    ),
    "products": (lambda: exact.gathered([exact.Term(1.0, form(0, 1), form(0, 1, 2))]), 6),
    "functions": (lambda: exact.beyond(form(0, 1, 2), 1.0, 3, 1), 3),
    "rows": (lambda: exact.row_form(setting_of(4), WIDE), 4),
    "pieces": (lambda: exact.Piece(proof_of(4), 1.0, ()), 4),
    "deviations": (lambda: network(3).deviations(exact.dyadic([0.0] * 3)), 1 + 2 + 3),
    "spreads": (lambda: network(3).squared_spreads([0, 1, 2]), 3 * 3),
    "spreads of many bits": (lambda: chain(12).squared_spreads(list(range(12))), 12 * (11 + 1)),
    "pieces on a way": (lambda: exact.Piece(proof_of(4), 1.0, (exact.Step("d", 0, True),)), 4 + 1),
    "logarithm": (lambda: exact.enclosed_log(2, 3), 100),
    "scale": (lambda: exact.Scale(0.5, 0.0, 1.0)(2.0), 300),
    "dominated": (lambda: exact.undominated([refuted(k, 9 - k) for k in range(4)]), 0 + 1 + 2 + 3),
    "parents": (lambda: exact._split([0], [None, None]), 2 * 2),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTED)
def test_work_is_counted(name):
    run, work = COUNTED[name]
    with exact.limited(Effort(work)):
        run()
        assert exact.EFFORT.get().work == 0
    with exact.limited(Effort(work - 1)), pytest.raises(EffortError):
        run()


def test_looks_are_counted():
    """One requirement and two categories at every look; stairs: two rates, ten for each of three steps."""
    for run, work in (
        (lambda cover: cover.most(0, 0, ()), 0),
        (lambda cover: cover._stair(Fraction(7, 10), (), cover.holding((), ())), 2 * 2 + 10 * 2 * 3),
    ):
        with exact.limited(Effort(10**6)):
            cover = cover_of()
            for trade in range(len(cover.trades)):
                cover.most(0, trade, ())
            before = exact.EFFORT.get().work
            run(cover)
            assert before - exact.EFFORT.get().work == work
    with exact.limited(Effort(10**6)):
        cover = exact.Cover(states.case_of(), [], [0.0], 0.0)  # the first look is at what is too dear
        before = exact.EFFORT.get().work
        assert cover.uncovered() is None
        assert before - exact.EFFORT.get().work == 1 * 2


def test_nodes_are_counted():
    """Each as deep as it is, before anything else is done; the first leaf is open."""
    with exact.limited(Effort(10**6)):
        with pytest.raises(exact.FaultError, match="left open"):
            exact.proven_level(deciding(3))
        functions = 2  # of the cut, one for each side
        assert 10**6 - exact.EFFORT.get().work == 1 + functions + 2


def test_requirements_are_counted():
    """Each adds a row to the matrix, which has one more than there are features."""
    read, taken = conditions.proof(conditions.setting()), []
    for count in (1, 1, 3):
        with exact.limited(Effort(10**6)):
            exact.negated(read, [], [(1.0, 0, -1)] * count, [0, 1])
            taken.append(10**6 - exact.EFFORT.get().work)
    assert taken[2] - taken[1] == 2 * 3


def test_scenarios_and_sets_are_counted():
    asked = exact.read_question(files()[1]["question"])
    n = asked.n
    with exact.limited(Effort(10**6)):
        exact.Ball(asked, [[float(i == j) for j in range(n)] for i in range(n)]).contains([0.0] * n)
        assert 10**6 - exact.EFFORT.get().work == n * n
    with exact.limited(Effort(10**6)):
        where = replace(asked, sets={0: [1.0, 2.0, 3.0]})
        where.nothing_between(0, asked.factual[0] + 1, asked.factual[0] + 2)
        assert 10**6 - exact.EFFORT.get().work == 3


def test_networks_of_states_are_counted():
    """Their matrices are put together: as many entries as numbers squared."""
    model = exact.read_model(states.shaped_content())
    with exact.limited(Effort(1)):
        model.network(1, (0, 0))
        assert exact.EFFORT.get().work == 0


def test_an_empty_vector_is_within_any_radius():
    for norm in (1.0, 2.0, INF):
        assert exact.within(exact.Dyadic([], 0), norm, Fraction(0))


# ----- stairs -----------------------------------------------------------------------------------------------


def test_the_rate_zero_is_always_there(monkeypatch):
    """No state adds more than its price, nor more than 3/4: one look is enough with both rates."""
    proofs = [states.refuted(0.09 * (k + 1) + 0.005, 0.9 - 0.09 * k) for k in range(9)]
    e = states.answer(proofs=proofs, trades=[1.0], prices=((0.0, 0.5), (0.0, 0.5)))
    monkeypatch.setattr(exact, "MOST_STEPS", 1)
    assert exact.covered_claim(states.case_of(e), 0.9).verdict == HOLDS


def test_the_best_proof_that_has_begun_counts():
    assert stair(0.3, [(0.5, 0.74), (0.75, 0.5)], [])


def test_a_question_that_asks_for_too_much_is_not_read():
    """Twenty thousand copies of a requirement took half a minute before they were refused."""
    e = states.answer()
    e["question"]["requirements"] *= exact.MOST_REQUIREMENTS + 1
    with pytest.raises(exact.UnreadableError, match="asks for more than 5000 things"):
        exact.check([states.content()], e)
