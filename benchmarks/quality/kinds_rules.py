"""Two rules of how tables are read, held against others on synthetic tables that nobody tuned on.

"rows of a value": a category of 60 to 600 codes has an effect on the class with this standard deviation (in
log odds); codes with fewer rows are put together; "chosen" is what `read_table` does where it knows the
labels. "standard errors": three columns of whole numbers (3 to 8 values) are names, amounts, amounts with a
curved effect, or tell nothing; one becomes a category where the held-out log loss falls by more than so many
standard errors. Figures are points (0.01) of log loss on 8,000 fresh rows above 20 rows or 0 standard errors,
in the mean over tables of 500 to 10,000 and of 150 to 3,000 rows.

usage: python benchmarks/run.py kinds_rules      (SEEDS=6 in the environment)
"""

import os
import warnings
from itertools import product
from unittest import mock

import numpy as np
import pandas as pd

from surefoot import ConditionalGaussianNetworkClassifier
from surefoot.model import undecided
from surefoot.table import rare

KEY = ["rule", "table"]
LEAST, MARGINS = (2, 5, 10, 20, 40, 80), (0.0, 0.5, 1.0, 2.0)
CHOSEN = "chosen"  # of 5, 20 and 80 rows, by held-out labels
RULES = [*(f"{v} rows" for v in (*LEAST, CHOSEN)), *(f"{v:g} s.e." for v in MARGINS)]
COLUMNS = ["rule", "table", "tables", *RULES]
SEEDS = int(os.environ.get("SEEDS", 6))
FRESH = 8_000
SHIFT = 0.6  # of the log odds by one standard deviation of an amount, or by a name


def rows(done=frozenset()):
    warnings.simplefilter("ignore")
    for structure, effect in product(("naive", "tan"), (0.0, 0.4, 1.0, 2.5)):
        name = f"{structure}, effect {effect}"
        if ("rows of a value", name) not in done:
            yield row("rows of a value", name, [*codes(effect, structure)], rare.LEAST_ROWS, "{} rows")
    for kind in ("names", "amounts", "curved", "nothing"):
        if ("standard errors", kind) not in done:
            yield row("standard errors", kind, [*whole_numbers(kind)], 0.0, "{:g} s.e.")


def row(rule, table, found, used, named):
    mean = pd.DataFrame(found).sub(pd.DataFrame(found)[used], axis=0).mean()
    figures = {named.format(value): f"{100 * mean[value]:+.2f}" for value in mean.index}
    return {**dict.fromkeys(COLUMNS, ""), "rule": rule, "table": table, "tables": len(found), **figures}


def codes(effect, structure):
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        for n in (500, 1000, 3000, 10_000):
            for even in (False, True):
                size = int(rng.integers(60, 600))
                shares = np.ones(size) if even else 1 / np.arange(1, size + 1)
                own = rng.choice(size, n + FRESH, p=shares / shares.sum())
                X, odds = numbers(rng, n + FRESH)
                y = drawn(rng, odds + rng.normal(0, effect, size)[own])
                names = pd.Series(own).map("c{}".format)
                fixed = {least: with_codes(X, y, n, names, least, structure) for least in LEAST}
                yield fixed | {CHOSEN: with_codes(X, y, n, names, rare.LEAST_ROWS, structure, True)}


def with_codes(X, y, n, names, least, structure, chosen=False):
    labels = pd.Series(y[:n]) if chosen else None
    tried = rare.TRIED_ROWS if chosen else (least,)
    with mock.patch.multiple(rare, LEAST_ROWS=least, TRIED_ROWS=tried):
        known, _ = rare.together(names[:n], 50, labels)
    later = names[n:].where(names[n:].isin(set(known)), rare.RARE)
    return loss(X.assign(code=pd.concat([known, later])), y, n, ["code"], structure)


def whole_numbers(kind):
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        for n in (150, 300, 1000, 3000):
            X, odds = numbers(rng, n + FRESH)
            size = int(rng.integers(3, 9))
            for k in range(3):
                values = rng.integers(1, size + 1, len(X))
                z = (values - values.mean()) / values.std()
                slope = SHIFT * rng.choice([-1, 1])
                odds = (
                    odds
                    + {
                        "names": rng.normal(0, SHIFT, size + 1)[values],
                        "amounts": slope * z,
                        "curved": slope * z + SHIFT / 2 * (z**2 - 1),
                        "nothing": 0 * z,
                    }[kind]
                )
                X[f"w{k}"] = values.astype(float)
            y = drawn(rng, odds)
            yield {margin: decided(X, y, n, margin) for margin in MARGINS}


def decided(X, y, n, margin):
    """The loss where a column must win by so many standard errors to become a category."""
    names, part, labels, open_ones = [], X[:n], y[:n], ["w0", "w1", "w2"]
    splitter = undecided.StratifiedKFold(undecided.FOLDS, shuffle=True, random_state=0)
    terms = undecided._Terms(part, labels, list(splitter.split(labels[:, None], labels)))
    score = terms.prior() + sum(terms.number(name) for name in part.columns)
    gains = {name: terms.category(name) - terms.number(name) for name in open_ones}
    before = undecided._losses(score, labels)
    while gains:
        after = {name: undecided._losses(score + gain, labels) for name, gain in gains.items()}
        best = min(after, key=lambda name: float(after[name].mean()))
        fall = before - after[best]
        if not fall.mean() > margin * fall.std() / np.sqrt(n):
            break
        score, before = score + gains.pop(best), after[best]
        names.append(best)
    return loss(X, y, n, names)


def numbers(rng, n):
    x = rng.normal(size=(n, 3)) @ [[1, 0.5, 0], [0, 1, 0.5], [0, 0, 1]]
    return pd.DataFrame(x, columns=["a", "b", "c"]), x @ [0.8, -0.5, 0.3]


def drawn(rng, odds):
    return (rng.random(len(odds)) < 1 / (1 + np.exp(-odds))).astype(int)


def loss(X, y, n, categories, structure="naive"):
    clf = ConditionalGaussianNetworkClassifier(
        structure, calibration="temperature", categorical=categories, edge_penalty=0.5
    )
    shares = clf.fit(X[:n], y[:n]).predict_proba(X[n:])
    return -np.log(shares[np.arange(FRESH), y[n:]].clip(1e-15)).mean()
