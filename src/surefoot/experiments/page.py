"""A page with the tables and figures and what they mean, made from the result files alone."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from surefoot.experiments.tables import NAMES, NOTES, TITLES, markdown

SHORT = [
    "data", "structure", "edges (paper)", "method", "solver", "runs", "runtime (s)", "paper: runtime (s)",
    "iterations", "paper: iterations", "early stops (coverage)", "paper: early stops", "timeouts",
    "paper: timeouts", "not solved",
]  # fmt: skip
FIGURES = {
    "contraction": "Contraction factor and number of segments against iterations and runtime: the MILP on "
    "Banknote, BAN, budget 0.05.",
    "runtime": "Runtime against distance on Pima, BAN with two parents, budget 0.05. Dotted lines link the "
    "MILP's and the QCQP's run of one factual.",
    "balls": "Mahalanobis balls around the mean of the genuine bank notes, before and after whitening.",
    "refinement": "The cutting set, round by round: each worst perturbation that is found narrows the region "
    "from which the next candidate is taken.",
    "surface": "The log-odds over two features: a saddle, neither convex nor concave.",
}
HEAD = """# The paper's experiments

Made by `surefoot reproduce`; the result files hold every run. In all of them p = inf, the whole space may be
searched, the threshold is 0.5, and class 1 is wanted of rows that are classified as class 0."""


def experiments_page(folder: str | Path, images: str = "") -> str:
    """The page as Markdown.

    Parameters
    ----------
    folder : path
        What `reproduce` wrote into.
    images : str
        What to put before the names of the figures' files.
    """
    source = Path(folder)
    parts = [HEAD, *_tables(source), *_value(source), *_figures(source, images)]
    return "\n\n".join(parts) + "\n"


def _tables(source: Path) -> list[str]:
    parts = []
    for budget, name in NAMES.items():
        path = source / f"{name}.csv"
        if path.exists():
            frame = pd.read_csv(path, dtype=str, keep_default_na=False)
            parts += [f"## {TITLES[budget]}", markdown(frame[SHORT])]
    return [*parts, NOTES] if parts else []


def _value(source: Path) -> list[str]:
    path = source / "structure_value.csv"
    if not path.exists():
        return []
    return [VALUE, markdown(pd.read_csv(path, dtype=str, keep_default_na=False))]


VALUE = """## What structure buys

Held-out accuracy and log loss by 5-fold cross-validation, the graph learned anew in every fold. The
counterfactuals (certified, budget 0.05) are judged by their own model and by one that belongs to no
structure: a full covariance for each class."""


def _figures(source: Path, images: str) -> list[str]:
    parts = [
        f"![{caption}]({images}{name}.png)\n\n*{caption}*"
        for name, caption in FIGURES.items()
        if (source / f"{name}.png").exists()
    ]
    return ["## Figures", *parts] if parts else []
