"""Explanation files: exact both ways; whatever is wrong in one is a single line, and never a traceback."""

import copy
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    Explanation,
    Explanations,
    Question,
    Rule,
    Status,
)
from surefoot.exceptions import DataError
from surefoot.explain.result.document import KEYS, json_text
from surefoot.ui.report.page import report_page
from tests.asking import CounterfactualExplainer
from tests.thinning import only

HOSTILE = [
    None, True, False, math.nan, math.inf, -1, 0, 10**400, "inf", "-inf", "nan", "1", "", "\ud800", "\x1b[2J",
    [], [[]], [None], {}, {"names": [], "values": []}, {"a": None}, [1e308, -1e308], 1e308, 5e-324, object,
]  # fmt: skip
NO_EXPLANATIONS = [
    "", "[" * 100_000, "{", "null", "3", '"x"', "[]", "{}", "NaN", '{"status": 3}', '{"a": 1, "a": 2}',
    "1" * 5000, "[1]",
]  # fmt: skip


@pytest.fixture(scope="module")
def bank(bundled):
    return bundled["banknote"]


@pytest.fixture(scope="module")
def clf(bank):
    return ConditionalGaussianNetworkClassifier("tan").fit(bank.X, bank.y)


@pytest.fixture(scope="module")
def found(clf, bank):
    """An answer with everything a question can have."""
    actions = Actions(
        {"entropy": "stay", "skewness": Action("fall", low=-10, whole=True)},
        rules=[Rule({"variance": 1, "curtosis": -1}, high=12)],
    )
    return CounterfactualExplainer(clf, budget=0.05, actions=actions).explain(bank.X.iloc[0], target=1)


@pytest.fixture(scope="module")
def others(clf, bank):
    """Answers of other kinds: none found, invalid, nothing to do, a budget by feature, the paper's."""
    rows = bank.X.head(2).copy()
    rows.iloc[1, 0] = np.nan
    row = bank.X.iloc[0]
    return [
        CounterfactualExplainer(clf, immutable=list(bank.X.columns)).explain(row, 1, on_failure="return"),
        CounterfactualExplainer(clf, budget={"entropy": 0.1}).explain_batch(rows, 1, progress=False)[1],
        CounterfactualExplainer(clf, budget=0.05).explain(row, 0),
        CounterfactualExplainer(clf, budget={"entropy": 0.1, "variance": (0, 0.2)}).explain(row, 1),
        CounterfactualExplainer(clf, budget=0.05, method="qcqp", norm=1).explain(row, 1),
        CounterfactualExplainer(clf, time_limit=0).explain(row, 1, on_failure="return"),
    ]


def shown(e):
    """Every way in which an explanation is printed, but for pictures; a file does not know who made it."""
    e = replace(e, made_by=None)
    return str(e), repr(e), e.to_json(), Explanations([e]).to_frame(), e._repr_html_(), e.cautions


def test_there_and_back(found, others):
    for e in (found, *others):
        text = e.to_json()
        again = Explanation.from_json(text)
        assert again.to_json() == text
        assert list(json.loads(text)) == list(KEYS)
        assert [str(part) for part in shown(again)] == [str(part) for part in shown(e)]
        assert len(text.splitlines()) == len(KEYS) + 2


def test_the_question_stands_by_itself(found, clf):
    content = json.loads(json.dumps(found.question.to_dict()))
    again = Question.from_dict(content)
    assert again.to_dict() == content
    ours, theirs = found.question.problem(clf), again.problem(clf)
    np.testing.assert_array_equal(ours.ball.basis, theirs.ball.basis)
    assert theirs.domain.contains(found.counterfactual)


def test_the_certificate_has_all_its_keys(found, others):
    keys = ["format", "version", "metric", "ball", "bound", "states", "robustness", "worst"]
    for e in (found, *others):
        bounded = ["best"] if e.best_probability_bound < e.threshold else []
        assert list(e.to_dict()["certificate"]) == [*keys, *bounded]
        assert (e.to_dict()["certificate"]["metric"] is None) == (e.status is Status.INVALID)
    paper = others[4].to_dict()["certificate"]
    assert paper["metric"]
    assert paper["bound"] is None
    assert paper["robustness"]["radius"] == others[4].certified_radius > 0


def test_message_is_the_sentence_of_the_status(found, others):
    for e in (found, *others):
        content = e.to_dict()
        assert content["message"] == e.status.sentence
        content["message"] = "All is well."
        with pytest.raises(DataError, match="message is not that of the status"):
            Explanation.from_dict(content)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.pop("format"), "not an explanation of surefoot"),
        (lambda c: (c.pop("format"), c.update(low=1, high=1)), "version 1, written by surefoot 0.1; ask the"),
        (lambda c: c.update(version=2), "has format version 2; this surefoot reads 4 and 5"),
        (lambda c: c.update(version=True), "has format version true"),
        (lambda c: c.pop("gap"), "it lacks 'gap'"),
        (lambda c: c.update(colour=1), "unknown key 'colour'"),
        (lambda c: c.update(status="great"), "unknown status 'great'"),
        (lambda c: c.update(status="infeasible"), "message is not that"),
        (lambda c: c.update(counterfactual=None), "do not belong together"),
        (lambda c: c.update(norm=1), "'norm' is not that of the question"),
        (lambda c: c.update(budget=0.5), "'budget' is not that of the question"),
        (lambda c: c.update(target=True), "'target' is not that of the question"),
        (lambda c: c.update(threshold=0.4), "'threshold' is not that of the question"),
        (lambda c: c.update(model="x"), "'model' is not that of the question"),
        (lambda c: c["factual"]["values"].__setitem__(0, 1.0), "'factual' is not that of the question"),
        (lambda c: c["unit"]["names"].reverse(), "unit names other features"),
        (lambda c: c["question"].update(version=1), "question has format version 1; this surefoot reads 3"),
        (lambda c: c["question"].pop("choices"), "the question lacks 'choices'"),
        (lambda c: c["question"].pop("warps"), "the question lacks 'warps'"),
        (lambda c: c["question"].pop("ball"), "the question lacks 'ball'"),
        (lambda c: c["question"]["ball"].update(exact=[7]), "exact must be an integer from 0 to 3"),
        (lambda c: c["question"]["domain"]["low"].__setitem__(0, 9.0), "the ends of feature 0 are empty"),
        (lambda c: c["question"]["requirements"].clear(), "must ask for the odds of the target"),
        (lambda c: c["question"]["requirements"][0].update(threshold=1), "strictly between 0 and 1"),
        (
            lambda c: c["question"]["domain"]["sets"].clear(),
            "domain is not what the declared constraints say",
        ),
        (
            lambda c: declared(c)["actions"].update(variance={"may": "stay"}),
            "domain is not what the declared constraints say",
        ),
        (lambda c: declared(c)["actions"].update(age={}), "name 'age', which is not a feature"),
        (lambda c: declared(c)["actions"].update(variance={"may": "fly"}), "'fly' is none of these"),
        (lambda c: c["certificate"].pop("worst"), "the certificate lacks 'worst'"),
        (lambda c: c["certificate"].update(version=1), "the certificate has version 1"),
        (lambda c: c["iterations"][0].pop("distance"), "a round lacks 'distance'"),
        (lambda c: c.update(row={"a": 1}), "row must be text"),
        (lambda c: c.update(distance=10**400), "distance must be a number, not a huge integer"),
        (lambda c: c.update(early_stop=0), "early_stop must be true or false, not 0"),
    ],
)
def test_what_is_wrong_is_named(found, change, message):
    content = copy.deepcopy(found.to_dict())
    change(content)
    with pytest.raises(DataError, match=message) as error:
        Explanation.from_dict(content)
    assert "\n" not in str(error.value)


def declared(content):
    return content["question"]["domain"]["declared"]


def places(value, path=()):
    """Where a document can be changed; of long lists and of proofs, the beginning."""
    if path:
        yield path
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], (*path, name))
    if isinstance(value, list):
        for k in range(min(len(value), 2)):
            yield from places(value[k], (*path, k))


def replaced(content, path, value):
    """The document with another value in one place; the rest of it is shared."""
    changed = copy.copy(content)
    changed[path[0]] = replaced(content[path[0]], path[1:], value) if path[1:] else value
    return changed


def survives(content):
    """Whether it is read and printed; otherwise it was refused."""
    try:
        e = Explanation.from_dict(content)
    except DataError:
        return False
    shown(e)
    return True


@pytest.mark.parametrize(("step", "count"), only([(5, 2)], [(5, 2), (1, 4)]))
def test_hostile_values_anywhere(found, others, step, count):
    rng = np.random.default_rng(0)
    accepted = 0
    for e in (found, others[1], others[3]):
        content = e.to_dict()
        for path in [path for k, path in enumerate(places(content)) if len(path) == 1 or k % step == 0]:
            for k in rng.choice(len(HOSTILE), count, replace=False):
                accepted += survives(replaced(content, path, HOSTILE[k]))
    assert accepted > 25 * count / step


REPORTED = [(name,) for name in KEYS] + [("counterfactual", "values", 0), ("z_score", "values", 1)]


@pytest.mark.parametrize("step", only([4], [4, 1]))
def test_what_is_accepted_makes_a_report(found, step):
    content, reports = found.to_dict(), 0
    for path in REPORTED:
        for value in (None, 1e308, "inf"):
            try:
                e = Explanation.from_dict(replaced(content, path, value))
            except DataError:
                continue
            reports += 1
            assert reports % step or "<h1>" in report_page(e)
    assert reports > 2 * step


@pytest.mark.parametrize("text", NO_EXPLANATIONS)
def test_texts_that_are_none(text):
    with pytest.raises(DataError) as error:
        Explanation.from_json(text)
    assert "\n" not in str(error.value)


def test_standard_json_only(found):
    text = found.to_json()
    with pytest.raises(DataError, match="NaN is not a number of JSON"):
        Explanation.from_json(text.replace('"distance": ', '"distance": NaN, "x": ', 1))
    with pytest.raises(DataError, match="'gap' is given twice"):
        Explanation.from_json(text.replace('"gap": ', '"gap": 0, "gap": ', 1))
    json.loads(text, parse_constant=pytest.fail)


def test_a_repeated_key_among_very_many():
    """Found in a moment: to count each of them anew would take hours."""
    many = ",".join(f'"{k}":0' for k in range(300_000))
    with pytest.raises(DataError, match="the key '299999' is given twice"):
        Explanation.from_json(f'{{{many},"299999":1}}')


def test_deep_certificates(found):
    content = found.to_dict()
    for depth, fine in ((200, True), (500, False), (50_000, False)):
        nested = []
        for _ in range(depth):
            nested = [nested]
        content["certificate"]["bound"] = nested
        if fine:
            shown(Explanation.from_dict(content))
        else:
            with pytest.raises(DataError, match="nested too deeply"):
                Explanation.from_dict(content)


def test_control_characters_are_not_printed(clf, bank):
    names = bank.y.map({0: "plain", 1: "\x1b[2J\x07evil"})
    other = ConditionalGaussianNetworkClassifier("tan").fit(bank.X, names)
    e = CounterfactualExplainer(other, budget=0.05).explain(bank.X.iloc[0], target="\x1b[2J\x07evil")
    assert "\x1b" not in str(e)
    assert Explanation.from_json(e.to_json()).target == "\x1b[2J\x07evil"


def test_numbers_are_written_as_python_writes_them(found):
    assert f'"distance": {found.distance!r},' in json_text(found.to_dict())
