"""The flags of ``surefoot explain``."""

from __future__ import annotations

import argparse
from typing import Any

from surefoot.explain.ask.presets import PRESET
from surefoot.ui.cli.flags import (
    Folder,
    Output,
    file_flag,
    listing_flag,
    model_flag,
    names_flag,
    reading_flags,
)

EXPLAIN_EXAMPLES = """examples:
  surefoot explain model.json loans.csv --row 3 --target yes
  surefoot explain model.json loans.csv --row 3 --budget 0.05 --json explanation.json --html report.html
  surefoot explain model.json loans.csv --row 3 --immutable age sex --increasing income --bound debt 0 5000
  surefoot explain model.json loans.csv --row 3 --whole cards --values schooling 9 12 16 --budget-of debt 50
  surefoot explain model.json loans.csv --row 3 --actions actions.toml --distance cost --norm 1
  surefoot explain model.json loans.csv --row 3 --at-most 2
  surefoot explain model.json loans.csv --row 3 --reasons --enough
  surefoot explain model.json loans.csv --row 3 --plausible 0.1 --models 50 --data train.csv --alternatives 3
  surefoot explain model.json loans.csv --row C-1017 --id customer
  surefoot explain model.json loans.csv --all --target yes --budget 0.05 --id customer --output out.csv

outputs:
  --json    everything about one row (an object) or all of them (an array), as `surefoot verify` reads it
  --output  one line for each row: row, status, reason (why there is none, as a word), factual_class, target,
            factual_probability, probability, worst_probability, distance, lower_bound, gap, coverage,
            certified_radius, density_percentile, seconds, message, advice, conflict, cautions (codes),
            reasons (the principal ones, with today's values), with --enough also enough and not_enough, and
            for each feature 'factual: FEATURE' and 'counterfactual: FEATURE'
  --html    a page to read and to print; opens offline

exit status: 0 done; 1 no counterfactual, or some rows without one; 2 bad usage or input
"""


def explain_flags(command: argparse.ArgumentParser) -> None:
    """Of ``surefoot explain``."""
    rows_flags(command, "explain")
    command.add_argument(
        "--skip-accepted",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="with --all: leave out and count rows that have the target already (default), or list them; a "
        "table in a file (--output) has every row",
    )
    question_flags(command)
    _outputs(command.add_argument_group("outputs"))


def rows_flags(command: argparse.ArgumentParser, verb: str) -> None:
    """Which model, and which rows of which table."""
    data_flags(command)
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--row",
        metavar="N",
        help=f"{verb} row N, counted from 0 below the header; with --id the row of that name",
    )
    which.add_argument("--all", action="store_true", help=f"{verb} every row, with a progress bar")


def data_flags(command: argparse.ArgumentParser) -> None:
    """Which model, which table, and how it is read."""
    model_flag(command)
    file_flag(
        command,
        "data",
        "DATA",
        "table with the model's features (CSV, Parquet, Excel; '-': standard input); others are ignored",
    )
    command.add_argument("--id", metavar="COLUMN", help="column that names the rows (default: their numbers)")
    reading_flags(command)


def question_flags(command: argparse.ArgumentParser) -> None:
    """What is asked, what may change, and how it is solved."""
    question = command.add_argument_group("the question")
    _asked(question)
    _measured(question)
    _actions(command.add_argument_group("what may change"))
    _worth(command.add_argument_group("answers worth acting on"))
    _solving(command.add_argument_group("how it is solved"))
    _paper(command.add_argument_group("the paper's methods (with --method qcqp or milp)"))


def _asked(question: Any) -> None:
    question.add_argument(
        "--preset",
        choices=("practical", "paper"),
        default="practical",
        help="what holds where no flag says otherwise. practical (default): at most 3 features change, what "
        "a person cannot change stays, short decimals, budget 0.05, norm 1, dag coordinates, gap 0.01; "
        "paper: the paper's question (norm inf, cholesky, any value anywhere, every feature may change)",
    )
    question.add_argument(
        "--target",
        action="append",
        metavar="LABEL",
        help="the class wanted (default: the other of two); repeated, the nearest of several",
    )
    question.add_argument(
        "--budget",
        type=float,
        default=PRESET,
        metavar="G",
        help="how far the change may miss, in standard deviations (0: it is carried out exactly)",
    )
    question.add_argument(
        "--budget-of",
        nargs=2,
        action="append",
        default=[],
        metavar=("FEATURE", "SIZE"),
        help="how far one feature may miss, in its own units, in the place of --budget; may be repeated; "
        "not for features on a curved scale (surefoot fit --marginals gaussian has none)",
    )
    question.add_argument(
        "--noise-on",
        choices=("changeable", "all"),
        default=PRESET,
        help="which features may miss: those that may change, or all",
    )
    question.add_argument(
        "--impute", action="store_true", help="fill what is missing in a row with what the model expects"
    )


def _measured(question: Any) -> None:
    question.add_argument("--norm", choices=("inf", "2", "1"), default=PRESET, help="of distances and errors")
    question.add_argument(
        "--threshold",
        type=float,
        default=0.5,
        metavar="P",
        help="probability to be reached (default: 0.5); with several classes, see --against",
    )
    question.add_argument(
        "--against",
        choices=("each", "all"),
        default="each",
        help="with several classes: the threshold is one against each other class by itself (default; the "
        "target is then the most likely class, perhaps without a majority), or among all classes",
    )
    question.add_argument(
        "--decision",
        type=float,
        default=0.0,
        metavar="VALUE",
        help="of models without probabilities: how far the target's decision value must be above that of "
        "each other class (default: 0)",
    )
    question.add_argument(
        "--whitening",
        choices=("cholesky", "dag", "zca"),
        default=PRESET,
        help="coordinates in which distances are measured",
    )
    question.add_argument(
        "--distance",
        choices=("mahalanobis", "cost"),
        default=PRESET,
        help="how far a change is: in whitened coordinates, or by the prices in --actions",
    )


def at_most(text: str) -> int | None:
    """A number of features, or none at all."""
    return None if text == "none" else int(text)


def _actions(group: Any) -> None:
    file_flag(group, "--actions", "FILE.toml", "what may change, as a file; `surefoot actions` begins one")
    group.add_argument(
        "--bounds",
        choices=("data", "none"),
        default=PRESET,
        help="stay within the range seen in training, or anywhere",
    )
    group.add_argument(
        "--bound",
        nargs=3,
        action="append",
        metavar=("FEATURE", "LOW", "HIGH"),
        help="bounds of one feature; '-' leaves an end open; may be repeated",
    )
    names_flag(group, "--immutable", "FEATURE", "features that must not change")
    names_flag(group, "--increasing", "FEATURE", "features that may only rise")
    names_flag(group, "--decreasing", "FEATURE", "features that may only fall")
    names_flag(
        group,
        "--whole",
        "FEATURE",
        "features that take whole numbers only (those that were whole in training do)",
    )
    names_flag(group, "--fractional", "FEATURE", "features that need not stay whole")
    names_flag(group, "--free", "FEATURE", "features that may change although their names say otherwise")
    group.add_argument(
        "--at-most",
        type=at_most,
        default=PRESET,
        metavar="K",
        help="features that change, at most; 'none' for no limit",
    )
    group.add_argument(
        "--printable",
        action=argparse.BooleanOptionalAction,
        default=PRESET,
        help="short decimals, with everything proven for them; or values as the search found them",
    )
    listing_flag(group, "--values", "a feature and the only values that it may take; may be repeated")


def _worth(group: Any) -> None:
    group.add_argument(
        "--plausible",
        nargs="+",
        default=PRESET,
        metavar=("SHARE", "K"),
        help="at least as typical of the target as this share of its training rows; or 'conditional K': no "
        "changed number farther than K standard deviations from what its parents predict",
    )
    group.add_argument(
        "--models",
        type=int,
        metavar="N",
        help="hold under N refits of the model, too: those that it keeps, or with --data as many fresh ones",
    )
    file_flag(group, "--data", "TABLE", "the training table, for --models", dest="training")
    group.add_argument(
        "--label", metavar="COLUMN", help="its label column (default: the one that holds the model's classes)"
    )
    group.add_argument("--seed", type=int, default=0, metavar="N", help="of the refits (default: 0)")
    there = "write the refits there: `surefoot verify` asks for them"
    file_flag(group, "--save-models", "FOLDER", there, Folder)
    group.add_argument(
        "--alternatives", type=int, metavar="N", help="with --row: up to N answers that differ, nearest first"
    )
    group.add_argument(
        "--differ",
        choices=("features", "distance"),
        default="features",
        help="how: by what they leave alone (default), or by how far apart they are",
    )
    group.add_argument(
        "--apart", type=float, default=0.5, metavar="R", help="with --differ distance (default: 0.5)"
    )


def _solving(group: Any) -> None:
    group.add_argument(
        "--method",
        choices=("certified", "qcqp", "milp"),
        default="certified",
        help="default: certified; the others are the paper's, and need a solver",
    )
    group.add_argument(
        "--time-limit", type=float, default=30.0, metavar="S", help="seconds for one row (default: 30)"
    )
    group.add_argument(
        "--gap",
        type=float,
        default=PRESET,
        metavar="R",
        help="relative gap to the proven bound (paper: 0.001 for certified, 0.01 for qcqp and milp)",
    )
    group.add_argument(
        "--no-diagnosis",
        dest="diagnose",
        action="store_false",
        help="where there is no answer, do not look for the reasons: it saves time",
    )
    group.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="processes for --all (default: 1); -1: all cores"
    )


def _paper(group: Any) -> None:
    group.add_argument("--backend", choices=("scip", "gurobi", "highs"), help="the solver")
    group.add_argument(
        "--tol",
        type=float,
        default=1e-3,
        metavar="E",
        help="largest violation left (default: 0.001)",
    )
    group.add_argument(
        "--segments", type=int, default=20, metavar="M", help="with milp: number of segments (default: 20)"
    )
    group.add_argument(
        "--contraction",
        type=float,
        default=0.5,
        metavar="NU",
        help="with milp: contraction factor (default: 0.5)",
    )


def _outputs(group: Any) -> None:
    file_flag(group, "--json", "FILE", "write everything as JSON; '-': to stdout", Output)
    file_flag(group, "--html", "FILE", "write a page to read", Output)
    file_flag(
        group,
        "--trade-off",
        "FILE",
        "with --row: write a page of what more safety costs (budget, how typical, --models)",
        Output,
    )
    file_flag(
        group,
        "--output",
        "FILE",
        "with --all: write a table, .parquet or else CSV ('-' or left out: to stdout). Each finished row is "
        "kept in FILE.parts until all are there: stopped at any moment, the same command goes on",
        Output,
    )
    group.add_argument(
        "--restart", action="store_true", help="with --output: begin again instead of going on"
    )
    group.add_argument(
        "--retry",
        action="append",
        choices=("time_limit", "iteration_limit", "failed"),
        default=[],
        help="with --output: ask finished rows that ended so once more; may be repeated",
    )
    file_flag(
        group,
        "--certificates",
        "FILE",
        "with --output: write whole explanations with their certificates, as JSON lines (.jsonl, .jsonl.gz), "
        "as `surefoot verify` reads them",
        Output,
    )
    group.add_argument(
        "--reasons",
        action="store_true",
        help="say why the row was decided as it was: what each feature adds to the log-odds; also in --json",
    )
    group.add_argument(
        "--enough",
        action="store_true",
        help="keep what else is enough, the values around the answer at which every combination keeps the "
        "decision, in --json, where `surefoot verify` checks it, and with --all in the table; --row prints "
        "it anyhow",
    )
    group.add_argument("--quiet", action="store_true", help="no progress bar")
