"""What stands in the way by itself, in brief: each claim is held against `explain` without it."""

import pytest

from surefoot import Action, Actions
from surefoot.explain.diagnose import feasibility_oracle
from surefoot.search.certified import certified_states
from tests.asking import CounterfactualExplainer
from tests.thinning import only
from tests.ui.mixed import refused_rows, toy_model

FEATURES = ("housing", "income", "cards", "member", "years")


@pytest.fixture(scope="module")
def clf():
    return toy_model()


@pytest.mark.parametrize(("threshold", "count"), only([(0.8, 2)], [(0.8, 2), (0.8, 6), (0.95, 6)]))
def test_each_named_constraint_is_in_the_way_and_no_other(clf, threshold, count):
    actions = Actions({**dict.fromkeys(FEATURES, "stay"), "income": Action("rise", most=100.0)})
    explainer = CounterfactualExplainer(clf, actions=actions, budget=0, threshold=threshold)
    rows = refused_rows(clf, count)
    table = explainer.explain_table(rows, "yes")
    assert (table["status"] == "infeasible").any()
    for label, line in table[table["status"] == "infeasible"].iterrows():
        for name in ("housing", "cards", "member", "years"):
            freed = Actions({k: v for k, v in actions.features.items() if k != name})
            without = explainer.copy(actions=freed).explain(rows.loc[label], "yes", on_failure="return")
            blamed = f"'{name}' must not change" in line["conflict"]
            assert blamed == (without.counterfactual is not None)
        assert line["reason"] == ("constraints" if line["conflict"] else "no_allowed_change")
        assert ("There is one if" in line["advice"]) == bool(line["conflict"])


def test_protected_features_are_blamed_but_not_proposed(clf):
    stay = {name: Action("stay", protected=True) for name in FEATURES}
    explainer = CounterfactualExplainer(clf, actions=Actions(stay), budget=0)
    line = explainer.explain_table(refused_rows(clf), "yes").iloc[0]
    assert line["status"] == "infeasible"
    assert "There is one if" not in line["advice"]


def test_it_depends_on_the_row_alone(clf):
    explainer = CounterfactualExplainer(clf, actions=Actions(dict.fromkeys(FEATURES, "stay")), budget=0)
    rows = refused_rows(clf, 4)
    forward, backward = (explainer.explain_table(some, "yes")["advice"] for some in (rows, rows.iloc[::-1]))
    assert forward.to_dict() == backward.to_dict()


def test_most_of_what_is_not_in_the_way_takes_no_search(clf, monkeypatch):
    """One bound for each state refutes it; searches are for what leads somewhere."""
    searches = []

    def counted(*asked):
        searches.append(certified_states(*asked))
        return searches[-1]

    monkeypatch.setattr(feasibility_oracle, "certified_states", counted)
    explainer = CounterfactualExplainer(clf, actions=Actions(dict.fromkeys(FEATURES, "stay")), budget=0)
    explainer.explain_table(refused_rows(clf, 4), "yes")
    assert sum(found.point is None for found in searches) < 0.2 * len(searches)
