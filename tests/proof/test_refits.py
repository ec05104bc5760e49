"""The claim about refits: both checkers count them again, and forged counts are refused."""

import functools
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from surefoot import CounterfactualExplainer, Explanation, verify
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.content import classifier_content
from surefoot.model.refits import keep_refits
from surefoot.proof import exact
from tests.model.test_refits import LIES
from tests.proof.handmade import model_document
from tests.ui.mixed import toy_table

SETTINGS = {
    "mixed": ({"structure": "tan"}, ["housing", "income", "years"]),
    "numbers": ({"structure": "tan", "calibration": "temperature"}, ["income", "cards", "years"]),
    "curved": ({"structure": "naive", "marginals": "power"}, ["housing", "income", "years"]),
}


@functools.cache
def keeping(kind, count=12):
    settings, columns = SETTINGS[kind]
    X, y = toy_table()
    clf = ConditionalGaussianNetworkClassifier(**settings).fit(X[columns], y)
    keep_refits(clf, X[columns], y, count)
    return clf


@functools.cache
def answered(kind, models=None, threshold=0.5):
    clf = keeping(kind)
    rows = toy_table()[0][list(clf.feature_labels_)]
    row = rows[clf.predict(rows) == "no"].iloc[2]
    return CounterfactualExplainer(clf, models=models, threshold=threshold).explain(row, "yes")


def claim(document, clf):
    found = [c for c in exact.check([classifier_content(clf)], document) if c.name == "refits"]
    return found[0] if found else None


@pytest.mark.parametrize("kind", SETTINGS)
@pytest.mark.parametrize("threshold", [0.5, 0.7])
def test_every_answer_says_under_how_many_refits_it_holds(kind, threshold):
    clf, e = keeping(kind), answered(kind, threshold=threshold)
    point = e.counterfactual.to_frame().T.infer_objects()
    chances = [refit.predict_proba(point)[0, 1] for refit in clf.refits_]
    assert e.model_share.agreeing == sum(p >= threshold for p in chances)
    assert (e.model_share.refits, e.model_share.kept) == (12, True)
    result = verify(e, clf)
    assert result.ok
    assert "refits" in [c.name for c in result.claims]
    again = Explanation.from_json(e.to_json())
    assert again.model_share == e.model_share
    assert [str(c) for c in again.cautions] == [str(c) for c in e.cautions]


@pytest.mark.parametrize("kind", SETTINGS)
def test_the_checker_that_stands_alone_reads_the_refits(kind, tmp_path):
    keeping(kind).save(tmp_path / "model.json")
    (tmp_path / "e.json").write_text(answered(kind, models=5).to_json())
    command = [sys.executable, "-I", exact.__file__, tmp_path / "model.json", tmp_path / "e.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "holds      refits: it holds under" in done.stdout


def test_the_search_can_use_the_kept_refits_and_needs_no_data():
    clf, e = keeping("mixed"), answered("mixed", models=5)
    assert e.question.models == (clf.fingerprint_, *(refit.fingerprint_ for refit in clf.refits_[:5]))
    assert e.model_share.agreeing >= 5
    assert e.model_share.bound < 0.95  # by seven refits only
    every = answered("mixed", models=12)
    assert every.model_share == (1.0, 0.0, 12, True)
    for one in (e, every):
        assert verify(Explanation.from_json(one.to_json()), clf).ok


def forged(**changes):
    document = json.loads(answered("mixed").to_json())
    document["model_share"].update(changes)
    return document


def test_forged_counts_are_refused():
    clf, honest = keeping("mixed"), answered("mixed").model_share
    assert claim(forged(), clf).verdict == exact.HOLDS
    other = (honest.agreeing + 1) / 12 if honest.agreeing < 12 else 11 / 12
    for lie in (
        {"share": other},
        {"share": honest.share + 1e-6},
        {"bound": honest.bound + 0.01},
        {"bound": honest.bound - 0.01},
        {"bound": 0.0},
        {"bound": 1.0},
        {"bound": -0.5},
        {"refits": 11},
    ):
        assert claim(forged(**lie), clf).verdict == exact.FAILS, lie


def test_silence_about_refits_is_a_lie():
    document = json.loads(answered("mixed").to_json()) | {"model_share": None}
    assert claim(document, keeping("mixed")).verdict == exact.FAILS


@pytest.mark.parametrize("lie", [{}, {"share": 1.0, "bound": 0.97, "refits": 100}])
def test_kept_refits_cannot_be_passed_over_for_others(lie):
    """Fresh refits, which no file holds, judge a search that used refits, and no other."""
    found = claim(forged(kept=False, **lie), keeping("mixed"))
    assert found.verdict == exact.FAILS
    assert not verify(Explanation.from_dict(forged(kept=False, **lie)), keeping("mixed")).ok


def test_the_explained_model_itself_is_no_other_model():
    clf, X = keeping("mixed"), toy_table()[0]
    e = CounterfactualExplainer(clf, models=[clf], budget=0.1).explain(X.iloc[4], on_failure="return")
    document = json.loads(e.to_json())
    assert document["question"]["models"] == [clf.fingerprint_] * 2
    document["model_share"] |= {"kept": False, "share": 1.0, "bound": 0.97, "refits": 100}
    (found,) = [c for c in exact.check([classifier_content(clf)] * 2, document) if c.name == "refits"]
    assert found.verdict == exact.FAILS


def test_refits_that_no_file_holds_are_not_counted():
    clf = keeping("mixed")
    bare = ConditionalGaussianNetworkClassifier.__new__(ConditionalGaussianNetworkClassifier)
    bare.__dict__.update(vars(clf))
    bare.refits_ = ()
    assert claim(forged(), bare).verdict == exact.NOT_PROVED
    assert claim(forged(kept=False), bare) is None
    assert claim(json.loads(answered("mixed").to_json()) | {"model_share": None}, bare) is None


def test_refits_of_other_rows_are_counted_as_they_are():
    """A model file with other refits has the same fingerprint; the count is about the file that is given."""
    clf, X = keeping("mixed"), toy_table()[0]
    other = ConditionalGaussianNetworkClassifier("tan").fit(X[list(clf.feature_labels_)], toy_table()[1])
    other.refits_ = tuple(refit for refit in clf.refits_ if refit is clf.refits_[0]) * 12
    found = claim(forged(), other)
    assert other.fingerprint_ == clf.fingerprint_
    assert found.verdict == exact.FAILS


@pytest.mark.parametrize("lie", [name for name in LIES if name != "calibrated"])
@pytest.mark.parametrize("kind", ["mixed", "numbers"])
def test_hostile_refits_are_unreadable(kind, lie):
    document = json.loads(json.dumps(model_document(keeping(kind))))
    LIES[lie](document["model"])
    answer = json.loads(answered(kind).to_json())
    with pytest.raises(exact.UnreadableError):
        exact.check([document["model"]], answer)


def test_a_margin_that_rounding_hides_counts_either_way():
    clf = keeping("numbers")
    model = exact.read_model(classifier_content(clf))
    case = exact.read_case([model], json.loads(answered("numbers").to_json()))
    assert None not in [exact._agrees(case, refit) for refit in model.refits]
    even = exact.replace(
        model.refits[0], networks=model.networks[:1] * 2, priors=[0.5, 0.5], shifts=[0.0] * 2
    )
    assert exact._agrees(case, even) is None
    assert exact._agrees(case, exact.replace(even, priors=[0.4, 0.6])) is True
    assert exact._agrees(case, exact.replace(even, priors=[0.6, 0.4])) is False


@pytest.mark.parametrize("hidden", [0, 2])
def test_a_count_holds_from_what_is_sure_to_what_may_be(monkeypatch, hidden):
    """Seven refits agree for sure, and rounding hides two more: seven to nine of twelve are true."""
    from surefoot.explain.result.model_share import lower_bound

    verdicts = [True] * 7 + [None] * hidden + [False] * (5 - hidden)
    for share, least in [*((count, 7) for count in range(4, 13)), *((7, count) for count in range(4, 13))]:
        given = iter(verdicts)
        monkeypatch.setattr(exact, "_agrees", lambda *_, given=given: next(given))
        document = forged(share=share / 12, bound=lower_bound(least, 12))
        held = claim(document, keeping("mixed")).verdict == exact.HOLDS
        assert held == (7 <= max(share, least) <= 7 + hidden and min(share, least) == 7), (share, least)


def test_hits_have_the_bound_of_clopper_and_pearson():
    from surefoot.explain.result.model_share import lower_bound

    for hits, trials in ((0, 20), (1, 20), (13, 20), (20, 20), (3, 3), (0, 0)):
        assert exact._is_least_share(lower_bound(hits, trials), hits, trials)
        assert not exact._is_least_share(lower_bound(hits, trials) + 1e-4, hits, trials)


def test_batches_say_it_in_their_table(tmp_path):
    clf = keeping("mixed")
    rows = toy_table()[0][list(clf.feature_labels_)].head(5)
    table = CounterfactualExplainer(clf).explain_batch(rows, "yes", progress=False).to_frame()
    assert table["refits"].dropna().eq(12).all()
    assert table["model_share"].dropna().between(0, 1).all()
    assert np.isfinite(table.loc[table["status"] == "optimal", "model_share"]).all()
    table.to_csv(tmp_path / "table.csv")
    assert "model_share,refits" in Path(tmp_path / "table.csv").read_text().splitlines()[0]
