"""Turn results/runs.jsonl into results/peers.csv (every data set and classifier) and results/peers.md.

usage: python table.py
"""

from pathlib import Path

import pandas as pd
from adapters import PEERS
from setting import CLASSIFIERS, FACTUALS

RESULTS = Path(__file__).parent / "results"
SHARES = ["found", "valid", "robust", "in_range"]  # of all runs: what was not found is not valid either
MEDIANS = ["distance", "gap", "excess", "percentile", "neighbours", "l2", "l1", "changed"]  # of valid ones
COLUMNS = {
    "runs": ("runs", "{:.0f}"),
    "timeouts": ("time-outs", "{:.0f}"),
    "found": ("found", "{:.0%}"),
    "valid": ("valid", "{:.0%}"),
    "robust": ("valid in the whole ball", "{:.0%}"),
    "kept": ("kept, random", "{:.1%}"),
    "in_range": ("in range", "{:.0%}"),
    "distance": ("distance", "{:.2f}"),
    "gap": ("gap", "{:.1%}"),
    "excess": ("excess", "{:.1%}"),
    "percentile": ("density percentile", "{:.0f}"),
    "neighbours": ("to 5 neighbours", "{:.2f}"),
    "l2": ("l2", "{:.2f}"),
    "l1": ("l1", "{:.2f}"),
    "changed": ("changed", "{:.0f}"),
    "seconds": ("seconds", "{:.3f}"),
    "longest": ("(longest)", "{:.2f}"),
    "setup": ("set-up", "{:.3f}"),
}
ABOUT = """Counterfactuals by surefoot and by its peers: same classifiers, same rows, one thread.

Class 0 to class 1; {rows}. Shares are of all runs; distances and plausibility are medians over the
counterfactuals that are valid. What the columns mean and how each peer was set up: [README](../README.md).
"""
LEGEND = {
    "found": "a point was returned",
    "valid": "the classifier predicts the target there",
    "valid in the whole ball": "and at every point of the ball of radius 0.05 (Mahalanobis-linf) around it; "
    "surefoot's rows with norm 2 and 1 are certified for the smaller ball of their own norm",
    "kept, random": "mean share of 1,000 random points of that ball which keep the target (of points found)",
    "in range": "it is valid and lies in the range of the training data",
    "distance": "Mahalanobis-linf distance to the factual",
    "gap": "distance over the certified lower bound of the same problem, minus 1 (peers: budget 0)",
    "excess": "the same against budget 0 and linf for everybody: what robustness or another norm costs",
    "density percentile": "share of the training rows of the target class that are less typical",
    "to 5 neighbours": "mean distance to the 5 nearest training rows of the target class, standardised",
    "l2, l1": "distance to the factual in standardised units, the metrics CEML minimises",
    "changed": "number of features that change by more than 0.005 standard deviations",
    "seconds": "median for one explanation; set-up: once for a classifier",
}


def read():
    frame = pd.read_json(RESULTS / "runs.jsonl", lines=True).drop(columns="point")
    frame["found"] = frame["status"] == "found"
    frame["valid"] = frame["valid"] == 1
    for column in ("robust", "in_range"):
        frame[column] = frame["valid"] & (frame[column] == 1)
    frame["timeout"] = frame["status"] == "timeout"
    return frame


def summary(frame, by):
    """One line for each peer (and whatever else is in ``by``)."""
    groups = frame.groupby(by, sort=False)
    valid = frame[frame["valid"]].groupby(by, sort=False)
    parts = [
        groups.size().rename("runs"),
        groups["timeout"].sum().rename("timeouts"),
        groups[SHARES].mean(),
        groups["kept"].mean(),
        valid[MEDIANS].median(),
        groups["seconds"].agg(["median", "max"]).set_axis(["seconds", "longest"], axis=1),
        groups["setup_seconds"].median().rename("setup"),
    ]
    return pd.concat(parts, axis=1)[list(COLUMNS)]


def ordered(table):
    """The peers in the order in which they are run."""
    return table.loc[[name for name in PEERS if name in table.index]]


def markdown(table):
    lines = ["| peer | " + " | ".join(title for title, _ in COLUMNS.values()) + " |"]
    lines.append("|---|" + "--:|" * len(COLUMNS))
    for name, row in ordered(table).iterrows():
        cells = ["" if pd.isna(row[key]) else form.format(row[key]) for key, (_, form) in COLUMNS.items()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def sections(frame):
    """Titles and rows: first over all data sets, then one by one."""
    sklearn = frame["classifier"] != "TAN"
    yield "GaussianNB and QDA, all data sets (every peer takes part)", frame[sklearn]
    yield "TAN, all data sets (CEML does not take this classifier)", frame[~sklearn]
    for data in FACTUALS:
        for classifier in CLASSIFIERS:
            chosen = (frame["data"] == data) & (frame["classifier"] == classifier)
            yield f"{data}, {classifier}", frame[chosen]


def main():
    frame = read()
    details = summary(frame, ["data", "classifier", "peer"])
    details.round(6).to_csv(RESULTS / "peers.csv")
    counts = ", ".join(f"{count} rows of {data}" for data, count in FACTUALS.items())
    parts = [ABOUT.format(rows=f"{counts} for each classifier")]
    parts.append("\n".join(f"* **{name}**: {text}" for name, text in LEGEND.items()) + "\n")
    parts += [f"## {title}\n\n{markdown(summary(rows, 'peer'))}" for title, rows in sections(frame)]
    (RESULTS / "peers.md").write_text("\n".join(parts), encoding="utf-8")
    failures = frame.loc[~frame["status"].isin(["found", "none", "timeout"]), ["peer", "data", "status"]]
    print(failures.value_counts().to_string() if len(failures) else "no peer failed with an error")


if __name__ == "__main__":
    main()
