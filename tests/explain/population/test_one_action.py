"""One change for many rows: the best of its grid by trying all, and nobody served who must not be."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import surefoot
from surefoot import Action, Actions
from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.population import serving, shared_change
from surefoot.explain.population.one_action import change_words
from surefoot.explain.population.shared_change import MOVE, STEP
from surefoot.proof.worst_case import worst_perturbation
from tests.asking import CounterfactualExplainer
from tests.mixed_tables import lender, lending
from tests.thinning import only

ACTIONS = Actions(
    {
        "income": Action("rise", most=1500),
        "months": Action("fall", low=6),
        "debt": Action("fall", low=0),
        "housing": Action(moves={"rent": ["own"], "free": ["rent", "own"]}, cost={"own": 2.0}),
        "savings": Action(moves={"little": ["much"]}),
        "phone": "stay",
    },
    rules=["debt <= 2 * income"],
)


@pytest.fixture(scope="module")
def refused():
    X, _ = lending()
    return X[lender().predict(X) == "bad"].head(25)


def explainer(**settings):
    asked = {"actions": ACTIONS, "budget": 0.0, "norm": 1, "whitening": "dag", "distance": "cost"}
    return CounterfactualExplainer(lender(), **{**asked, **settings})


@pytest.fixture(scope="module")
def coarse():
    """A grid that can be tried by hand."""
    patch = pytest.MonkeyPatch()
    patch.setattr(shared_change, "FINENESS", (2,))
    yield
    patch.undo()


def after(row, change):
    """A row after a change, by pandas alone."""
    row = row.copy()
    for feature, kind, by, to in change:
        today = row[feature]
        row[feature] = to if kind == MOVE else round(today + by, 9) if kind == STEP else today * (1 + by)
        if kind == "relative" and feature == "months":
            near = round(float(row[feature]), 9)
            row[feature] = math.floor(near) if by < 0 else math.ceil(near)
    return row


def obeys(old, new):
    moves = {("rent", "own"), ("free", "rent"), ("free", "own")}
    return (
        0 <= new["income"] - old["income"] <= 1500
        and 6 <= new["months"] <= old["months"]
        and new["months"] == round(new["months"])
        and 0 <= new["debt"] <= old["debt"]
        and (new["housing"] == old["housing"] or (old["housing"], new["housing"]) in moves)
        and (new["savings"] == old["savings"] or (old["savings"], new["savings"]) == ("little", "much"))
        and new["phone"] == old["phone"]
        and new["debt"] <= 2 * new["income"]
    )


def cost_by_hand(asking, rows, change, observed):
    """What a change costs each row; infinite where it is not served."""
    found = []
    for _, row in rows.iterrows():
        new = after(row, change)
        inside = all(new[n] <= observed[n][1] or new[n] <= row[n] for n in ("income",))
        if not (obeys(row, new) and inside):
            found.append(math.inf)
            continue
        asked = asking.asker.asked(asking.asker.first, row, "good", None)
        numbers, state = asking.classifier.schema_.encode_row(list(new))
        problem = asked.problem.problem(state)
        holds = worst_perturbation(problem, numbers).violation <= 0
        found.append(asked.problem.distance(state, numbers) if holds else math.inf)
    return np.array(found)


def changes_by_hand(grid, most):
    lines = list(grid.itertuples(index=False, name=None))
    for size in range(1, most + 1):
        for some in itertools.combinations(lines, size):
            kinds = [kind == MOVE for _, kind, _, _ in some]
            if len({line[0] for line in some}) == size and max(sum(kinds), size - sum(kinds)) <= 2:
                yield some


@pytest.mark.parametrize("budget", only([0.1], [0.0, 0.1]))
def test_no_change_of_the_grid_is_better(refused, coarse, budget):
    asking, rows = explainer(budget=budget), refused.head(9)
    found = asking.one_action(rows, "good")
    X, _ = lending()
    observed = {name: (X[name].min(), X[name].max()) for name in ("income",)}
    every = np.array([cost_by_hand(asking, rows, c, observed) for c in changes_by_hand(found.grid, 2)])
    assert len(every) > 40
    assert found.exact
    best = np.isfinite(every).sum(axis=1).max()
    assert found.served.sum() == best > 0
    ranked = np.sort(every, axis=1)
    assert found.cost == pytest.approx(ranked[:, best - 1].min())
    for line in found.frontier.itertuples():
        assert (ranked <= line.cost * (1 + 1e-9)).sum(axis=1).max() == line.rows
        assert ranked[:, line.rows - 1].min() == pytest.approx(line.cost)
    for price in (0.5, 1.0, 2.0):
        at = asking.one_action(rows, "good", price=price)
        assert at.served.sum() == (ranked <= price).sum(axis=1).max()
        assert at.served.sum() <= round(at.bound * len(rows))
        assert not at.cost > price
    half = asking.one_action(rows, "good", share=0.25)
    assert half.served.sum() >= 3
    assert half.cost == pytest.approx(ranked[:, 2].min())


def test_no_change_beyond_the_grid_beats_the_bounds(refused):
    """Moves and steps of any size, which no grid holds."""
    asking, rows, rng = explainer(), refused.head(9), np.random.default_rng(0)
    found, top = asking.one_action(rows, "good"), lending()[0]["income"].max()
    sizes = {"income": (0, 1500), "months": (-50, 0), "debt": (-3000, 0)}
    steps = [
        (n, STEP, float(round(rng.uniform(*ends))), None) for n, ends in sizes.items() for _ in range(20)
    ]
    moves = [("housing", MOVE, math.nan, "own"), ("savings", MOVE, math.nan, "much")]
    every = [pair for pair in itertools.combinations([*steps, *moves], 2) if pair[0][0] != pair[1][0]]
    chosen = [every[k] for k in rng.choice(len(every), 150, replace=False)]
    ranked = np.sort([cost_by_hand(asking, rows, one, {"income": (0, top)}) for one in chosen], axis=1)
    assert np.isfinite(ranked).sum(axis=1).max() > 1
    assert (ranked >= np.sort(found.table["least"]) * (1 - 1e-9)).all()
    for price in (0.5, 1.0, 2.0, math.inf):
        at = asking.one_action(rows, "good", price=price) if math.isfinite(price) else found
        assert ((ranked <= price) & np.isfinite(ranked)).sum(axis=1).max() <= round(at.bound * len(rows))


def test_of_changes_that_cost_the_same_the_one_that_serves_most_is_taken(refused):
    """Every move of a category costs one: a share that the first of them serves says nothing of the rest."""
    moves = Actions({"housing": Action(), "savings": Action()}, at_most=1)
    asking = explainer(actions=moves, immutable=["income", "months", "debt", "phone"])
    found = asking.one_action(refused, "good", most=1)
    assert found.cost == 1.0
    assert asking.one_action(refused, "good", most=1, share=1 / len(refused)).share == found.share


def test_what_is_served_is_decided_and_allowed(refused):
    found = explainer(budget=0.05).one_action(refused, "good", most=3)
    change = list(found.change.itertuples(index=False, name=None))
    assert 0 < len(change) <= 3
    served = refused[found.served.to_numpy()]
    new = pd.DataFrame([after(row, change) for _, row in served.iterrows()])
    assert (lender().predict(new.astype(lending()[0].dtypes.to_dict())) == "good").all()
    assert all(obeys(served.loc[k], new.loc[k]) for k in served.index)
    assert not set(found.grid["feature"]) & {"phone"}


def test_no_individual_answer_is_cheaper_than_its_bound(refused):
    asking = explainer()
    found = asking.one_action(refused, "good")
    own = asking.explain_table(refused, "good")["distance"].to_numpy()
    assert (found.table["least"].to_numpy()[found.served] <= found.table["cost"][found.served] + 1e-9).all()
    assert found.least_cost <= found.cost
    assert np.sort(own)[found.served.sum() - 1] <= found.cost + 1e-9
    assert found.share <= found.bound <= 1
    assert (found.frontier["share"] <= found.frontier["bound"]).all()
    assert (found.frontier["least_cost"] <= found.frontier["cost"]).all()


def test_what_is_known_already_need_not_be_searched(refused, monkeypatch):
    asking = explainer()
    expected = asking.one_action(refused, "good")
    batch, table = (
        asking.explain_batch(refused, "good", progress=False),
        asking.explain_table(refused, "good"),
    )
    monkeypatch.setattr(surefoot.explain.population.one_action, "_searched", None)
    for known in (batch, table, type(batch).from_json(batch.to_json())):
        found = asking.one_action(refused, "good", explanations=known)
        assert found.served.sum() >= 0.8 * expected.served.sum()
        within_gap = expected.table["least"] * (1 + 2e-3)
        assert (found.table["least"] <= within_gap).all()  # of more changes: no higher
    with pytest.raises(DataError, match=r"row 3 .*another row or question"):
        asking.one_action(refused.loc[[3]], "good", explanations=batch[:1])


def test_forged_explanations_are_refused(refused):
    asking, rows = explainer(), refused.head(6)
    table = asking.explain_table(rows, "good")
    with pytest.raises(DataError, match="said to need a change of at least 1000"):
        asking.one_action(rows, "good", explanations=table.assign(lower_bound=1000.0))
    with pytest.raises(DataError, match="another row or target"):
        asking.one_action(rows, "good", explanations=table.iloc[::-1])
    with pytest.raises(DataError, match="no line of explain_table"):
        asking.one_action(rows, "good", explanations=table.drop(columns="status"))
    unknown = asking.one_action(rows, "good", explanations=table.assign(lower_bound=math.nan))
    assert unknown.bound == 1.0
    with pytest.raises(ProblemError, match="5 explanations for 6 rows"):
        asking.one_action(rows, "good", explanations=table.head(5))
    with pytest.raises(ProblemError, match="explanations must be"):
        asking.one_action(rows, "good", explanations="table.csv")
    others = {
        "more is allowed": explainer(actions=Actions({"phone": "stay", "income": "stay"})),
        "another distance": explainer(norm=np.inf),
        "a larger ball": explainer(budget=0.2),
    }
    for other in others.values():
        batch = other.explain_batch(rows, "good", progress=False)
        with pytest.raises(DataError, match="another row or question"):
            asking.one_action(rows, "good", explanations=batch)
    batch = asking.explain_batch(rows, "good", n_jobs=1, progress=False)
    less = explainer(budget=0.2).one_action(rows, "good", explanations=batch)
    assert less.share <= less.bound


def test_a_change_that_breaks_a_rule_serves_nobody(refused):
    rows = refused.head(8)
    kept = Actions(dict.fromkeys(rows.columns, "stay"))
    found = explainer(actions=kept).one_action(rows, "good")
    assert found.share == found.bound == 0.0
    assert found.change.empty
    assert "It is proven that no change of at most 2 features serves more than 0 of them" in found.words
    linked = Actions({"phone": "stay"}, links=[("debt", "income", -1.0)], rules=["months >= months.now"])
    asking = explainer(actions=linked)
    found = asking.one_action(rows, "good")
    steps = {line.feature: line.by for line in found.change.itertuples() if line.kind == STEP}
    assert steps.get("debt", 0) == -steps.get("income", 0)
    assert steps.get("months", 0) >= 0


def test_curved_scales_several_classes_and_rows_with_holes(refused):
    X, y = lending()
    three = y.where(~((y == "good") & (X["months"] < 20)), "best")
    clf = surefoot.ConditionalGaussianNetworkClassifier("naive", marginals="power").fit(X, three)
    asking = CounterfactualExplainer(clf, against="all", budget=0.05, norm=1, threshold=0.5)
    rows = X[clf.predict(X) == "bad"].head(6).astype(object)
    rows.iloc[2, 0] = math.nan
    found = asking.one_action(rows, "best")
    assert not found.served.iloc[2]
    assert found.table["least"].iloc[2] == math.inf
    change = list(found.change.itertuples(index=False, name=None))
    served = rows[found.served.to_numpy()]
    assert len(served)
    new = pd.DataFrame([after(row, change) for _, row in served.iterrows()]).astype(X.dtypes.to_dict())
    at = clf.classes_.tolist().index("best")
    assert (clf.predict_proba(new)[:, at] >= 0.5).all()


def test_accepted_rows_are_left_out(refused):
    X, _ = lending()
    rows = X.head(30)
    found = explainer().one_action(rows, "good")
    assert found.table.index.equals(rows.index[lender().predict(rows) == "bad"])
    with pytest.raises(ProblemError, match="already; there is nothing to change"):
        explainer().one_action(X[lender().predict(X) == "good"].head(3), "good")
    with pytest.raises(ProblemError, match="name a target"):
        explainer().one_action(rows)
    assert explainer().one_action(refused.head(3)).target == "good"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"most": 0}, "most must be"),
        ({"most": 5}, "most must be"),
        ({"most": True}, "most must be"),
        ({"price": -1}, "price must be"),
        ({"price": math.nan}, "price must be"),
        ({"price": "1"}, "price must be"),
        ({"share": 1.5}, "share must be"),
        ({"share": 0.5, "price": 1.0}, "not both"),
        ({"target": "perhaps"}, "unknown target"),
        ({"target": ["good", "bad"]}, "unknown target"),
        ({"frame": pd.DataFrame()}, "at least one row"),
        ({"frame": [1, 2]}, "a frame"),
    ],
)
def test_bad_requests(refused, change, message):
    asked = {"frame": refused.head(2), "target": "good", **change}
    with pytest.raises(ProblemError, match=message):
        explainer().one_action(asked.pop("frame"), **asked)


def test_a_proof_that_is_not_finished_serves_nobody(refused, monkeypatch):
    monkeypatch.setattr(serving, "PATIENCE", -1.0)

    def late(*_):
        raise serving.OutOfTimeError

    monkeypatch.setattr(serving, "prove", late)
    found = explainer(budget=0.05).one_action(refused.head(4), "good")
    assert found.share == 0
    assert not found.exact


def test_hostile_names_are_harmless():
    line = ("a\x1b[2J\nb", "move", math.nan, "<script>\n")
    change = pd.DataFrame([line], columns=["feature", "kind", "by", "to"])
    words = change_words(change)
    assert "\n" not in words
    assert "\x1b" not in words
    found = explainer().one_action(lending()[0][lender().predict(lending()[0]) == "bad"].head(3), "good")
    hostile = type(found)(change, found.table, 1.0, found.frontier, found.grid, 2, "<b>")
    assert "<b>" not in hostile._repr_html_()


@pytest.mark.parametrize("count", [1, 2, 5, 11, 12])
def test_the_steps_of_a_few_rows_are_all_there(count):
    """The smallest one too: it is what the row that is nearest needs."""
    changes = np.array([*range(1, count + 1), -3, 0], dtype=float)
    assert shared_change._quantiles(changes, 12, short=False) == [-3.0, *map(float, range(1, count + 1))]
    assert shared_change._quantiles(np.arange(1.0, 101.0), 4, short=False) == [25.0, 50.0, 75.0, 100.0]
