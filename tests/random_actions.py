"""Random actions for the rows of a table, and a judge of answers that shares no code with surefoot's own.

The judge reads an `Actions` as a person would: value by value, rule by rule, straight from the fields.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd

from surefoot import Action, Actions

FIRST = ("stay", "rise", "fall", "ends", "most", "step", "values", "change", "whole")
KINDS = (*FIRST, "least")


def random_actions(rng, frame, categories, kinds=KINDS):
    """Actions of every kind for some features of a table, with rules over several of them.

    Parameters
    ----------
    rng : numpy Generator
    frame : DataFrame
    categories : dict
        Name -> values.
    kinds : sequence of str
        Of actions about numbers.
    """
    numbers = [name for name in frame if name not in categories]
    features = {name: _of_number(rng, frame[name], kinds) for name in numbers if rng.random() < 0.6}
    features |= {name: _of_category(rng, values) for name, values in categories.items() if rng.random() < 0.5}
    features = {name: action for name, action in features.items() if action is not None}
    settings = {}
    if rng.random() < 0.3:
        settings["rules"] = [_rule(rng, frame, numbers) for _ in range(rng.integers(1, 3))]
    if rng.random() < 0.3:
        settings["when"] = [_when(rng, frame, numbers, categories) for _ in range(rng.integers(1, 3))]
    if rng.random() < 0.3:
        settings["at_most"] = int(rng.integers(1, 5))
    if rng.random() < 0.15:
        some = [str(name) for name in rng.permutation(list(frame))[:3]]
        settings["at_most_of"] = [(1, some)]
    if rng.random() < 0.2:
        settings["links"] = [_link(rng, frame, numbers)]
    return Actions(features, **settings)


def priced(rng, actions, numbers):
    """The same actions with prices, up and down, for some of the numbers."""
    features = dict(actions.features)
    for name in numbers:
        if rng.random() < 0.4:
            up, down = rng.choice([0.5, 1.0, 2.0, 3.0], 2)
            features[name] = replace(features.get(name, Action()), cost=(float(up), float(down)))
    return replace(actions, features=features)


def _of_number(rng, column, kinds):
    low, high, spread = float(column.min()), float(column.max()), float(column.std())
    kind = rng.choice(kinds)
    if kind in ("stay", "rise", "fall", "change"):
        return Action(str(kind))
    if kind == "ends":
        a, b = np.sort(rng.uniform(low, high, 2))
        return Action(low=float(np.floor(a)), high=float(np.ceil(b)))
    if kind == "most":
        return Action(
            str(rng.choice(["rise", "fall", "change"])), most=float(np.ceil(spread * rng.uniform(0.5, 2)))
        )
    if kind == "least":
        size = max(round(spread * float(rng.uniform(0.2, 1.5)), 2), 0.01)
        return Action(str(rng.choice(["rise", "fall", "change"])), least=size)
    if kind == "step":
        step = max(round(float(spread) / 4, 2), 0.01)
        return Action(step=step, most=20 * step)
    if kind == "values":
        return Action(values=sorted({float(v) for v in rng.choice(column.to_numpy(), 4)}))
    return Action(whole=bool(rng.random() < 0.5))


def _of_category(rng, values):
    kind = rng.choice(["stay", "values", "moves", "cost"])
    if kind == "stay":
        return Action("stay")
    some = [v for v in values if rng.random() < 0.6] or [values[0]]
    if kind == "values":
        return Action(values=some)
    if kind == "moves":
        return Action(moves={v: some for v in values if rng.random() < 0.7})
    return Action(cost={v: float(rng.choice([0.3, 0.7, 2.0])) for v in some})


def _rule(rng, frame, numbers):
    a, b = (str(name) for name in rng.permutation(numbers)[:2])
    factor = float(np.round(frame[a].std() / frame[b].std(), 3)) or 1.0
    end = float(np.round((frame[a] + factor * frame[b]).quantile(rng.uniform(0.3, 0.9)), 2))
    return f"`{a}` + {factor!r} * `{b}` {rng.choice(['<=', '>='])} {end!r}".replace("+ -", "- ")


def _link(rng, frame, numbers):
    """One number follows another; by whole multiples, so that whole numbers can follow."""
    feature, leader = (str(name) for name in rng.permutation(numbers)[:2])
    factor = max(1.0, float(np.round(frame[feature].std() / frame[leader].std())))
    return feature, leader, float(rng.choice([1.0, -1.0])) * factor


def _when(rng, frame, numbers, categories):
    first, second = (str(name) for name in rng.permutation(numbers)[:2])
    condition = f"`{first}` {rng.choice(['rises', 'falls', 'changes'])}"
    if categories and rng.random() < 0.5:
        name = str(rng.choice(list(categories)))
        condition = f"`{name}` is `{rng.choice([str(v) for v in categories[name]])}`"
    size = float(np.round(frame[second].std(), 2))
    consequence = str(
        rng.choice([f"`{second}` stays", f"`{second}` <= `{second}`.now + {size!r}", f"`{second}` falls"])
    )
    return condition, consequence


def broken(actions, now, then, whole, bounds=None, digits=9):
    """What of the actions a change from ``now`` to ``then`` breaks, in words.

    Parameters
    ----------
    actions : Actions
    now, then : Series
        By feature.
    whole : set of features
        Numbers that were whole in training.
    bounds : dict, optional
        Feature -> (low, high): the range seen in training.
    digits : int
        To which links hold: an equation between numbers as they are shown holds to the digits shown.
    """
    found = []
    for name in now.index:
        action = actions.features.get(name, Action())
        if then[name] != now[name]:
            found += _broken_feature(
                name, action, now[name], then[name], name in whole, (bounds or {}).get(name)
            )
    for rule in actions.rules:
        if not _holds(rule, now, then):
            found.append(f"rule {rule.name}")
    for feature, leader, factor in actions.links or ():
        if not _follows(now, then, feature, leader, factor, digits):
            found.append(f"{feature} does not follow {leader}")
    for condition, consequence in actions.when or ():
        if _is(condition, now, then) and not _is(consequence, now, then):
            found.append(f"if {condition} then {consequence}")
    changed = [name for name in now.index if then[name] != now[name]]
    if actions.at_most is not None and len(changed) > actions.at_most:
        found.append(f"{len(changed)} changes")
    for count, group in actions.at_most_of or ():
        if sum(name in group for name in changed) > count:
            found.append(f"more than {count} of {group}")
    return found


def _broken_feature(name, action, x, y, is_whole, ends):
    found, listed = [], vars(action)["values"]
    if action.may == "stay":
        found.append(f"{name} must stay")
    if isinstance(y, str):
        if listed is not None and y not in [str(v) for v in listed]:
            found.append(f"{name} takes another value")
        if action.moves is not None and y not in action.moves.get(x, ()):
            found.append(f"{name} moves elsewhere")
        return found
    x, y = float(x), float(y)
    if (action.may == "rise" and y < x) or (action.may == "fall" and y > x):
        found.append(f"{name} may only {action.may}")
    low, high = (
        (-math.inf if action.low is None else action.low),
        (math.inf if action.high is None else action.high),
    )
    if (y < low and y < x) or (y > high and y > x) or (low <= x <= high and not low <= y <= high):
        found.append(f"{name} leaves its ends")
    if action.most is not None and abs(Fraction(y) - Fraction(x)) > Fraction(float(action.most)) * Fraction(
        1 + 1e-12
    ):
        found.append(f"{name} changes by more than {action.most}")
    if action.least is not None and abs(_written(y) - _written(x)) < _written(action.least):
        found.append(f"{name} changes by less than {action.least}")
    if action.step is not None:
        steps = (y - x) / action.step
        if abs(steps - round(steps)) > 1e-6:
            found.append(f"{name} is not on a step")
    if listed is not None and y not in [float(v) for v in listed]:
        found.append(f"{name} takes another value")
    by_itself = is_whole and action.step is None and listed is None
    if (by_itself if action.whole is None else action.whole) and y != round(y):
        found.append(f"{name} is not whole")
    bottom, top = (-math.inf, math.inf) if ends is None else ends  # ends of one's own take their place
    bottom, top = bottom if action.low is None else low, top if action.high is None else high
    if not min(bottom, x) <= y <= max(top, x):
        found.append(f"{name} leaves the range of the data")
    return found


def _written(value):
    """A number as it is written: 0.3 is three tenths."""
    return Fraction(repr(float(value)))


def _holds(rule, now, then):
    total = sum(Fraction(float(a)) * Fraction(float(then[name])) for name, a in rule.coefficients.items())
    total += sum(Fraction(float(a)) * Fraction(float(now[name])) for name, a in rule.now.items())
    size = sum(abs(Fraction(float(a)) * Fraction(float(then[name]))) for name, a in rule.coefficients.items())
    room = size / 10**9 if rule.low == rule.high else 0
    return (rule.low is None or total >= Fraction(float(rule.low)) - room) and (
        rule.high is None or total <= Fraction(float(rule.high)) + room
    )


def _follows(now, then, feature, leader, factor, digits):
    moved, led = (Fraction(float(then[n])) - Fraction(float(now[n])) for n in (feature, leader))
    size = sum(abs(Fraction(float(row[n]))) for row in (now, then) for n in (feature, leader))
    return abs(moved - Fraction(factor) * led) <= size * (1 + abs(Fraction(factor))) / 10**digits


def _is(text, now, then):
    """Whether a condition of `_when` holds, read with nothing but string methods."""
    name, _, rest = text.removeprefix("`").partition("` ")
    x, y = now[name], then[name]
    if rest.startswith("is "):
        return str(y) == rest.removeprefix("is ").strip("`")
    if rest.startswith("<= "):
        return float(y) <= float(x) + float(rest.rpartition("+ ")[2])
    return {"rises": y > x, "falls": y < x, "changes": y != x, "stays": y == x}[rest]


def series(values, names):
    return pd.Series(list(values), index=list(names), dtype=object)
