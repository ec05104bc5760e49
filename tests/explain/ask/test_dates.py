"""Dates are numbers of days for search and proof, and dates wherever a person reads them."""

import datetime as dt
import json

import numpy as np
import pandas as pd
import pytest

from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    CounterfactualExplainer,
    Explanation,
    verify,
)
from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.verification import Verification
from surefoot.model.content import classifier_content
from surefoot.proof import exact


@pytest.fixture(scope="module", params=["numbers", "categories"])
def table(request):
    rng = np.random.default_rng(0)
    n = 200
    y = rng.random(n) < 0.5
    frame = pd.DataFrame(
        {
            "applied": pd.Timestamp("2022-01-01")
            + pd.to_timedelta(rng.integers(0, 300, n) + 150 * y, unit="D"),
            "income": rng.normal(3, 1, n) + y,
        }
    )
    if request.param == "categories":
        frame["housing"] = np.where(rng.random(n) < 0.4 + 0.3 * y, "own", "rent")
    return frame, np.where(y, "good", "bad")


@pytest.fixture(scope="module")
def clf(table):
    return ConditionalGaussianNetworkClassifier().fit(*table)


@pytest.fixture(scope="module")
def row(table, clf):
    return table[0][clf.predict(table[0]) == "bad"].iloc[0]


@pytest.fixture(scope="module")
def later(clf, row):
    """An answer in which the date changes."""
    actions = Actions({"applied": Action("rise"), "income": "stay"})
    return CounterfactualExplainer(clf, budget=0.02, actions=actions).explain(row, "good")


def test_a_column_of_dates_is_a_date(table, clf, tmp_path):
    assert clf.feature_kinds_["applied"] == "date"
    clf.save(tmp_path / "m.json")
    again = ConditionalGaussianNetworkClassifier.load(tmp_path / "m.json")
    assert again.schema_ == clf.schema_
    assert again.fingerprint_ == clf.fingerprint_
    assert (again.predict_proba(table[0]) == clf.predict_proba(table[0])).all()
    drawn = clf.sample(5, 0)[0]
    assert pd.api.types.is_datetime64_any_dtype(drawn["applied"])


def test_dates_are_read_in_every_form(table, clf):
    frame = table[0].head(5)
    expected = clf.predict_proba(frame)
    for form in (
        frame["applied"].dt.strftime("%Y-%m-%d"),
        frame["applied"].dt.date,
        frame["applied"].dt.tz_localize("UTC"),
        (frame["applied"] - pd.Timestamp("1970-01-01")).dt.days,
    ):
        assert (clf.predict_proba(frame.assign(applied=form)) == expected).all()
    with pytest.raises(DataError, match="'applied' must hold dates such as 2024-03-01, not 'soon'"):
        clf.predict(frame.assign(applied="soon"))
    with pytest.raises(ProblemError, match="applied must be a date such as 2024-03-01, not 'soon'"):
        CounterfactualExplainer(clf).explain({**frame.iloc[0], "applied": "soon"}, "good")


def test_dates_stay_unless_an_action_names_them(clf, row, later):
    kept = CounterfactualExplainer(clf).explain(row, "good")
    assert kept.counterfactual["applied"] == row["applied"].date() == kept.factual["applied"]
    assert "applied must not change" in str(kept)
    assert later.counterfactual["applied"] > row["applied"].date()
    free = CounterfactualExplainer(clf, increasing=["applied"], whole=False).explain(row, "good")
    assert isinstance(free.counterfactual["applied"], dt.date)


@pytest.mark.parametrize("preset", ["practical", "paper"])
def test_every_preset_keeps_dates_and_says_so(clf, row, preset):
    explainer = CounterfactualExplainer(clf, preset=preset)
    assert explainer.kept.reasons == {"applied": "it is a date"}
    found = explainer.explain(row, "good")
    assert found.counterfactual["applied"] == found.factual["applied"]
    assert found.kept.startswith("Kept: applied, since it is a date. To free a feature,")
    assert verify(found, clf).ok
    for own in (
        {"actions": Actions({"applied": "change"})},
        {"actions": Actions(when=[("applied >= 19000", "income >= 1")])},
        {"bounds": {"applied": ("2022-01-01", None)}},
    ):
        assert CounterfactualExplainer(clf, preset=preset, **own).kept.features == {}


def test_a_date_and_a_name_are_kept_for_their_own_reasons(table):
    frame, y = table
    clf = ConditionalGaussianNetworkClassifier().fit(frame.assign(age=frame["income"] + 30), y)
    found = CounterfactualExplainer(clf).explain(
        frame.assign(age=frame["income"] + 30).iloc[0], on_failure="return"
    )
    assert "Kept: age, since by its name a person cannot change it; applied, since it is a date." in str(
        found
    )


def test_ends_may_be_dates(clf, row, later, tmp_path):
    last = dt.date(2023, 12, 31)
    path = tmp_path / "actions.toml"
    path.write_text(
        '[features]\nincome = "stay"\napplied = { may = "rise", high = 2023-12-31 }\n', encoding="utf-8"
    )
    for given in (
        {"actions": Actions({"applied": Action("rise", high=last), "income": "stay"})},
        {"actions": path},
    ):
        found = CounterfactualExplainer(clf, budget=0.02, **given).explain(row, "good")
        assert found.counterfactual["applied"] == later.counterfactual["applied"]
        assert "applied at most 2023-12-31" in str(found)
        assert verify(found, clf).ok
    first = row["applied"].date()
    found = CounterfactualExplainer(clf, bounds={"applied": (first, "2022-12-31")}, immutable=["income"])
    assert f"applied from {first.isoformat()} to 2022-12-31" in str(
        found.explain(row, "good", on_failure="return")
    )
    with pytest.raises(ProblemError, match="must be numbers or None, not 'soon'"):
        Action(low="soon")


def test_what_stands_in_the_way_is_told_in_dates(clf, row):
    day = row["applied"].date()
    early = {"income": "stay"} | ({"housing": "stay"} if "housing" in row else {})
    for given in (
        {"actions": Actions({"applied": Action("rise", high=day + dt.timedelta(1)), **early})},
        {"actions": Actions(early), "bounds": {"applied": (day, day + dt.timedelta(1))}},
    ):
        found = CounterfactualExplainer(clf, budget=0, **given).explain(row, "good", on_failure="return")
        assert found.counterfactual is None
        assert any(f"'applied' is at most {day + dt.timedelta(1)}" in words for words in found.conflict)
        assert f"'applied' may be more than {day + dt.timedelta(1)}" in found.advice
        assert "whole" not in found.advice


def test_answers_that_differ_name_dates(clf, row):
    explainer = CounterfactualExplainer(clf, actions=Actions({"applied": "rise"}))
    first, second = explainer.alternatives(row, "good", n=2, differ="distance")
    assert f"standard deviations from applied {first.counterfactual['applied'].isoformat()}" in str(second)


def test_what_was_searched_is_told_in_dates(clf, later):
    assert "applied takes whole days only, or stays as it is" in str(verify(later, clf))


def test_every_face_shows_dates(clf, later):
    day = later.counterfactual["applied"].isoformat()
    changes = later.changes().set_index("feature")
    assert str(changes.loc["applied", "to"]) == day
    days = (later.counterfactual["applied"] - later.factual["applied"]).days
    assert changes.loc["applied", "difference"] == days
    assert day in str(later)
    assert day in later._repr_html_()
    values = later.to_dict()["counterfactual"]
    assert values["values"][values["names"].index("applied")] == day
    assert str(int((later.counterfactual["applied"] - dt.date(1970, 1, 1)).days)) not in str(later)


def test_both_checkers_hold(clf, later):
    again = Explanation.from_json(later.to_json())
    assert again.to_json() == later.to_json()
    assert again.counterfactual.tolist() == later.counterfactual.tolist()
    for found in (verify(later, clf), verify(again, clf)):
        assert isinstance(found, Verification)
        assert found.ok
    claims = exact.check([classifier_content(clf)], json.loads(later.to_json()))
    assert all(claim.verdict == "holds" for claim in claims)
    assert (
        f"applied {later.factual['applied'].isoformat()}"
        in exact.words([classifier_content(clf)], json.loads(later.to_json()))[0]
    )


def test_reasons_tell_dates(clf, row, later):
    """The checkers read them as days; another day is another row."""
    explainer = CounterfactualExplainer(clf, actions=Actions({"applied": "rise", "income": "stay"}))
    found = explainer.explain(row, "good", reasons=True)
    line = found.reasons.table.set_index("feature").loc["applied"]
    assert line["value"] == row["applied"].date().isoformat()
    assert dt.date.fromisoformat(line["usual"]) > row["applied"].date()
    assert line["value"] in str(found.reasons)
    again = Explanation.from_json(found.to_json())
    assert again.to_json() == found.to_json()
    assert verify(again, clf).ok

    def moved(values):
        at = values["factual"]["names"].index("applied")
        values["reasons"]["features"][at]["value"] = line["usual"]

    claims = exact.check([classifier_content(clf)], forged(found, moved))
    assert [claim.name for claim in claims if claim.verdict == exact.FAILS] == ["reasons"]
    assert not verify(Explanation.from_dict(forged(found, moved)), clf).ok


def test_what_is_enough_is_told_in_dates(clf, later):
    region = later.enough()
    again = Explanation.from_json(later.to_json())
    assert verify(again, clf).ok
    first = region.table.set_index("feature").loc["applied", "low"]
    assert first <= later.counterfactual["applied"]
    for one in (region, again.region):
        assert f"applied of at least {first.isoformat()}" in one.words
        assert str(one.example.value).removesuffix(".0") not in one.not_enough
        for form in (first, first.isoformat(), pd.Timestamp(first)):
            assert one.contains({**later.counterfactual, "applied": form})
        assert not one.contains({**later.counterfactual, "applied": later.factual["applied"]})
        assert not one.contains({"applied": "soon"})


def test_a_date_that_stays_is_compared_as_a_date(clf, row):
    found = CounterfactualExplainer(clf).explain(row, "good")
    region, day = found.enough(), row["applied"]
    for form in (day, day.date(), day.date().isoformat()):
        assert region.contains({**found.counterfactual, "applied": form})
    assert not region.contains({"applied": day + pd.Timedelta(1, "D")})


def forged(later, change):
    values = json.loads(later.to_json())
    change(values)
    return values


def _put(key, value):
    def change(values):
        values[key]["values"][values[key]["names"].index("applied")] = value

    return change


@pytest.mark.parametrize(
    "value", ["2022-13-01", "20220301", "2022-W10-1", "soon", "", None, True, "2022-3-1"]
)
def test_a_date_that_is_none_is_unreadable(clf, later, value):
    for key in ("factual", "counterfactual"):
        values = forged(later, _put(key, value))
        with pytest.raises(exact.UnreadableError):
            exact.check([classifier_content(clf)], values)
        with pytest.raises(DataError):
            Explanation.from_dict(values)


def test_another_date_is_another_point(clf, later):
    values = forged(later, _put("counterfactual", later.factual["applied"].isoformat()))
    assert any(claim.verdict == exact.FAILS for claim in exact.check([classifier_content(clf)], values))
    assert not verify(Explanation.from_dict(values), clf).ok
    moved = forged(later, _put("factual", later.counterfactual["applied"].isoformat()))
    assert any(claim.verdict == exact.FAILS for claim in exact.check([classifier_content(clf)], moved))
    with pytest.raises(DataError, match="'factual' is not that of the question"):
        Explanation.from_dict(moved)


def test_a_number_may_not_be_written_as_a_date(clf, later):
    """Only what the model knows as a date is one."""
    content = json.loads(json.dumps(classifier_content(clf)))
    for entry in content["kinds"]:
        entry["kind"] = "whole" if entry["kind"] == "date" else entry["kind"]
    with pytest.raises(exact.UnreadableError):
        exact.check([content], json.loads(later.to_json()))

    def as_income(values):
        values["question"]["domain"]["declared"]["dates"] = ["income"]

    changed = forged(later, as_income)
    with pytest.raises(DataError):
        Explanation.from_dict(changed)


def test_a_question_may_not_name_other_dates_than_the_model(clf, later):
    def hidden(values):
        del values["question"]["domain"]["declared"]["dates"]
        for key in ("factual", "counterfactual"):
            at = values[key]["names"].index("applied")
            day = dt.date.fromisoformat(values[key]["values"][at])
            values[key]["values"][at] = float((day - dt.date(1970, 1, 1)).days)

    plain = Explanation.from_dict(forged(later, hidden))
    found = verify(plain, clf)
    assert not found.ok
    assert "dates" in str(found)


def test_a_row_that_cannot_be_asked_about_keeps_its_date(clf, row):
    found = CounterfactualExplainer(clf).explain_batch(
        pd.DataFrame([row]).assign(income=np.nan), "good", progress=False
    )
    assert str(found[0].status) == "invalid"
    assert str(found[0].factual["applied"])[:10] == row["applied"].date().isoformat()
    assert Explanation.from_json(found[0].to_json()).to_json() == found[0].to_json()


def test_a_hole_in_a_date_is_filled_with_a_date(clf, row):
    found = CounterfactualExplainer(clf, impute="expected").explain({**row, "applied": pd.NaT}, "good")
    assert isinstance(found.factual["applied"], dt.date)
    assert f"applied = {found.factual['applied'].isoformat()}" in str(found)
    assert verify(found, clf).ok


def test_the_template_names_dates(clf):
    text = Actions.template(clf)
    assert "# applied: date from 2022-01-0" in text
    assert "# It stays, since it is a date." in text
    assert Actions.from_toml(text).features["applied"] == Action("stay")
    begun = next(line for line in text.splitlines() if line.startswith("# applied = "))
    freed = Actions.from_toml(f"[features]\n{begun[2:]}\n").features["applied"]
    seen = clf.feature_range_[:, 0]
    assert (freed.may, freed.low, freed.high) == ("change", *seen)
