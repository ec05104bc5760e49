"""Small random regions, and whether anybody in them has a way, by trying every person and every change.

Numbers are whole and few, so that everything can be tried. The judge reads the actions as they were written,
and asks the classifier for nothing but probabilities.
"""

import itertools

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, CounterfactualExplainer

TIE = 1e-9  # probabilities nearer to the threshold are on either side of it
MAY = ("stay", "rise", "fall", "change")


def random_case(seed):
    """An explainer, a region and a target, small enough to try everything."""
    rng = np.random.default_rng(seed)
    frame, labels = _table(rng)
    clf = _classifier(rng, frame, labels)
    numbers = [name for name in frame if name.startswith("n")]
    categories = {name: sorted(set(frame[name])) for name in frame if name not in numbers}
    actions = _actions(rng, frame, numbers, categories)
    settings = {"threshold": float(rng.choice([0.5, 0.7, 0.85, 0.93, 0.97])), "time_limit": 20.0}
    if rng.random() < 0.3:
        wide = {name: (int(frame[name].min()) - 1, int(frame[name].max())) for name in numbers[:1]}
        settings["bounds"] = {**dict.fromkeys(numbers, "data"), **wide}
    data = (frame, labels) if not isinstance(clf, ConditionalGaussianNetworkClassifier) else None
    explainer = CounterfactualExplainer(clf, actions=actions, data=data, **settings)
    return explainer, _region(rng, frame, numbers, categories), "yes", frame


def _table(rng):
    n, y = 90, rng.integers(0, 2, 90)
    columns = {}
    for i in range(int(rng.integers(1, 4))):
        values = rng.normal(2.5, 1.3, n) + y * rng.choice([-1.5, 0.5, 1.5])
        columns[f"n{i}"] = np.clip(values.round(), 0, 6).astype(int)
    for i in range(int(rng.integers(0, 3))):
        k = int(rng.integers(2, 4))
        columns[f"c{i}"] = np.array(list("uvw"))[(rng.integers(0, k, n) + y * (rng.random(n) < 0.5)) % k]
    return pd.DataFrame(columns), np.array(["no", "yes"])[y]


def _classifier(rng, frame, labels):
    if rng.random() < 0.3:
        named = [name for name in frame if name.startswith("c")]
        if not named:
            return LogisticRegression().fit(frame, labels)
        from sklearn.compose import make_column_transformer

        encoded = make_column_transformer((OneHotEncoder(), named), remainder="passthrough")
        return make_pipeline(encoded, LogisticRegression()).fit(frame, labels)
    return ConditionalGaussianNetworkClassifier(str(rng.choice(["naive", "tan"]))).fit(frame, labels)


def _actions(rng, frame, numbers, categories):
    features = {name: _of_number(rng, frame[name]) for name in numbers if rng.random() < 0.85}
    for name, values in categories.items():
        if rng.random() < 0.7:
            moves = {v: [w for w in values if w != v and rng.random() < 0.5] for v in values}
            features[name] = [Action("stay"), Action(values=values[:1]), Action(moves=moves)][rng.integers(3)]
    several = {}
    if rng.random() < 0.3:
        several["at_most"] = int(rng.integers(1, 3))
    if len(numbers) > 1 and rng.random() < 0.35:
        a, b = numbers[:2]
        texts = (f"{a} + {b} <= 6", f"{a} - {a}.now <= {b}", f"{a} + {b} >= {a}.now + {b}.now - 1",
                 f"{b} <= {a}.now + 1")  # fmt: skip
        several["rules"] = [str(rng.choice(texts))]
    if len(numbers) > 1 and rng.random() < 0.15:
        several["links"] = [(numbers[0], numbers[1], float(rng.choice([1.0, -1.0])))]
    return Actions(features, **several)


def _of_number(rng, column):
    may, size = str(rng.choice(MAY)), int(rng.integers(1, 4))
    values = sorted({int(v) for v in rng.choice(column, 3)})
    return [
        Action(may),
        Action(may, most=size),
        Action(may, low=1, high=4),
        Action(may, step=2, most=4),
        Action(may, least=2),
        Action(may, values=values),
    ][rng.integers(6)]


def _region(rng, frame, numbers, categories):
    region = {}
    for name in numbers:
        low, high = int(frame[name].min()), int(frame[name].max())
        a, b = sorted(int(v) for v in rng.integers(low, high + 1, 2))
        options = [None, (a, b), (a, None), (None, b), [a, b], a, (high, high + 1)]
        chosen = options[rng.integers(len(options))]
        if chosen is not None:
            region[name] = chosen
    for name, values in categories.items():
        if rng.random() < 0.6:
            region[name] = str(rng.choice(values)) if rng.random() < 0.5 else values[:2]
    return region


def ways(explainer, region, target, frame):
    """Every pair of a person in the region and what that person may become that has the target.

    Two frames: those that have it for certain, and those on the threshold.
    """
    people = _people(region, frame)
    later = _grid({name: _all_values(frame[name]) for name in frame})
    chance = pd.Series(_probabilities(explainer, later, target))
    allowed = _allowed(explainer, people, later, frame)
    sure = chance.to_numpy() >= explainer.threshold + TIE
    close = np.abs(chance.to_numpy() - explainer.threshold) < TIE
    return bool((allowed & sure).any()), bool((allowed & close).any())


def is_way(explainer, frame, person, becomes, target):
    """Whether a person may become something that has the target, by the judge."""
    one, other = (pd.DataFrame([row]).reset_index(drop=True) for row in (person, becomes))
    chance = _probabilities(explainer, other, target)[0]
    return bool(_allowed(explainer, one, other, frame)[0, 0]) and chance >= explainer.threshold - TIE


def is_in(region, frame, person):
    """Whether a person is in the region."""
    same = [(_people(region, frame)[name] == person[name]).to_numpy() for name in frame]
    return bool(np.all(same, axis=0).any())


def _probabilities(explainer, rows, target):
    place = list(explainer.classifier.classes_).index(target)
    return explainer.classifier.predict_proba(rows)[:, place]


def _all_values(column):
    if not pd.api.types.is_numeric_dtype(column):
        return sorted(set(column))
    return list(range(int(column.min()) - 3, int(column.max()) + 4))


def _grid(values):
    return pd.DataFrame(list(itertools.product(*values.values())), columns=list(values))


def _people(region, frame):
    found = {}
    for name in frame:
        column, said = frame[name], region.get(name)
        if not pd.api.types.is_numeric_dtype(column):
            found[name] = sorted(set(column)) if said is None else [said] if isinstance(said, str) else said
        elif isinstance(said, list):
            found[name] = sorted(set(said))
        elif isinstance(said, int):
            found[name] = [said]
        else:
            low, high = said or (None, None)
            low, high = column.min() if low is None else low, column.max() if high is None else high
            found[name] = list(range(int(low), int(high) + 1))
    return _grid(found)


def _allowed(explainer, people, later, frame):
    """A table of persons times what they become: whether everything that was said allows it."""
    actions, bounds = explainer.actions, explainer.bounds
    good = np.ones((len(people), len(later)), dtype=bool)
    changed = np.zeros(good.shape, dtype=int)
    for name in frame:
        x, y = people[name].to_numpy()[:, None], later[name].to_numpy()[None, :]
        action = actions.features.get(name, Action())
        action = action if isinstance(action, Action) else Action(action)
        if pd.api.types.is_numeric_dtype(frame[name]):
            good &= _number_allowed(action, x, y, frame[name], bounds, name)
        else:
            good &= _category_allowed(action, x, y)
        changed += x != y
    if actions.at_most is not None:
        good &= changed <= actions.at_most
    x, y = ({name: part[name].to_numpy() for name in frame} for part in (people, later))
    for rule in actions.rules:
        total = sum(a * y[name][None, :] for name, a in rule.coefficients.items())
        total = total + sum(a * x[name][:, None] for name, a in rule.now.items())
        good &= (total >= (-np.inf if rule.low is None else rule.low)) & (
            total <= (np.inf if rule.high is None else rule.high)
        )
    for feature, leader, factor in actions.links:
        moves = [y[name][None, :] - x[name][:, None] for name in (feature, leader)]
        good &= moves[0] == factor * moves[1]
    return good


def _number_allowed(action, x, y, column, bounds, name):
    low, high = column.min(), column.max()
    hard = isinstance(bounds, dict) and not isinstance(bounds[name], str)
    least = np.minimum(low if action.low is None else action.low, x)
    most = np.maximum(high if action.high is None else action.high, x)
    if hard:
        low, high = bounds[name]
        least = np.maximum(low, -np.inf if action.low is None else np.minimum(action.low, x))
        most = np.minimum(high, np.inf if action.high is None else np.maximum(action.high, x))
    good = (y >= least) & (y <= most) & (x == x)
    if action.low is not None:  # listed whole numbers: nothing between the ends and today's value
        good &= (y == x) | ((y >= action.low) & (y <= action.high))
    good &= {"stay": y == x, "rise": y >= x, "fall": y <= x, "change": y == y}[action.may]
    if action.most is not None:
        good &= np.abs(y - x) <= action.most
    if action.least is not None:
        good &= (y == x) | (np.abs(y - x) >= action.least)
    if action.step is not None:
        good &= (y - x) % action.step == 0
    if action.values is not None:  # noqa: PD011
        good &= (y == x) | np.isin(y, action.values)
    return good


def _category_allowed(action, x, y):
    good = y == x
    if action.may == "stay":
        return good
    if action.values is not None:  # noqa: PD011
        return good | np.isin(y, action.values)
    if action.moves is None:
        return np.ones(np.broadcast(x, y).shape, dtype=bool)
    for start, ends in action.moves.items():
        good = good | ((x == start) & np.isin(y, ends))
    return good


def judged(seed):
    """The explainer of one case, what it found, the verdict, and what is wrong with it ("" if nothing)."""
    explainer, region, target, frame = random_case(seed)
    found = explainer.nobody(region, target)
    somebody, perhaps = ways(explainer, region, target, frame)
    if found.holds is None:
        return explainer, found, "undecided", ""
    if found.holds:
        return explainer, found, "nobody", "somebody has a way" if somebody else ""
    e = found.explanation
    person, becomes = e.factual.to_dict(), e.counterfactual.to_dict()
    if not somebody and not perhaps:
        return explainer, found, "somebody", "nobody has a way"
    if not is_in(region, frame, person):
        return explainer, found, "somebody", "the person is not in the region"
    wrong = not is_way(explainer, frame, person, becomes, target)
    return explainer, found, "somebody", "it is no way" if wrong else ""
