"""The flags of ``surefoot fit``, ``predict`` and ``diagnose``."""

from __future__ import annotations

import argparse
from typing import Any

from surefoot.defaults import CHOOSE_ON, KEPT, MOST_VALUES
from surefoot.ui.cli.flags import Output, file_flag, listing_flag, model_flag, names_flag, reading_flags

FIT_EXAMPLES = """examples:
  surefoot fit loans.csv --label repaid --output model.json
  surefoot fit loans.csv --label repaid --drop id name --categorical branch --output model.json
  surefoot fit loans.csv --label repaid --ordered schooling basic "high school" university --output model.json
  surefoot fit patients.csv --label diagnosis --structure ban --max-parents 2 --output model.json
  surefoot fit loans.csv --label repaid --structure tan --require age debt --forbid debt age --output m.json
  surefoot fit loans.csv --label repaid --actions actions.toml --output model.json

The table is read as it is: comma, semicolon or tab, decimal comma, UTF-8 or Latin-1, gzip, Parquet, Excel.
How each column is read is shown first, with the flag that would change it. Dates are read as days; free text,
identifiers, constants and copies are left out; rare values of long codes are put together.
Without a flag about the model it is chosen by log loss on held-out rows;
with --marginals alone, the rest of it is.
"""
PREDICT_EXAMPLES = """examples:
  surefoot predict model.json loans.csv
  surefoot predict model.json loans.csv --proba --id customer --output predictions.csv
"""
DIAGNOSE_EXAMPLES = """examples:
  surefoot diagnose model.json loans.csv --label repaid
  surefoot diagnose model.json loans.csv --label repaid --html page.html
"""
TABLE = "table with names in its first row; CSV, Parquet or Excel; '-': standard input"


def fit_flags(command: argparse.ArgumentParser) -> None:
    """Of ``surefoot fit``."""
    file_flag(command, "data", "DATA", TABLE)
    command.add_argument("--label", required=True, metavar="COLUMN", help="name of the label column")
    file_flag(command, "--output", "MODEL.json", "where to write the model", Output, required=True)
    command.add_argument(
        "--wanted",
        metavar="CLASS",
        help="the class that counts as wanted: the target of explanations by default",
    )
    _column_flags(command)
    _comparison_flags(command)
    reading_flags(command)
    _model_flags(command.add_argument_group("the model (chosen by default)"))


def _column_flags(command: argparse.ArgumentParser) -> None:
    names_flag(command, "--drop", "COLUMN", "columns to leave out")
    names_flag(command, "--categorical", "COLUMN", "columns that are categories, whatever they hold")
    names_flag(
        command, "--numeric", "COLUMN", "columns that are numbers: no categories, codes or identifiers"
    )
    names_flag(command, "--date", "COLUMN", "columns that hold dates")
    names_flag(command, "--day-first", "COLUMN", "dates such as 01.02.2024 that begin with the day")
    names_flag(command, "--month-first", "COLUMN", "dates such as 02/01/2024 that begin with the month")
    names_flag(command, "--text", "COLUMN", "columns of free text, which are left out")
    command.add_argument(
        "--missing",
        nargs="+",
        action="append",
        default=[],
        metavar=("COLUMN", "VALUE"),
        help="values of a column that mean that there is none, such as 999; may be repeated",
    )
    command.add_argument(
        "--most-values",
        type=int,
        default=MOST_VALUES,
        metavar="N",
        help=f"put rare values of larger categories together (default: {MOST_VALUES})",
    )
    listing_flag(
        command,
        "--ordered",
        "a category that can rise and fall, with its values, lowest first; may be repeated",
    )


def _comparison_flags(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--folds",
        type=int,
        default=5,
        metavar="K",
        help="choose and compare by K-fold cross-validation (default: 5); 0 with --structure: do not",
    )
    command.add_argument(
        "--choose-on",
        type=int,
        default=CHOOSE_ON,
        metavar="ROWS",
        help=f"compare models on at most so many rows (default: {CHOOSE_ON}); the best is fitted to all rows",
    )
    command.add_argument(
        "--fast", action="store_true", help="do not compare models: take the one that is usually good"
    )
    command.add_argument(
        "--refits",
        type=int,
        default=KEPT,
        metavar="N",
        help="keep N refits with the model, or as many as fit into half of the fitting time: answers say "
        f"under how many of them they hold (default: {KEPT}; 0: none)",
    )


def _model_flags(group: Any) -> None:
    group.add_argument("--structure", choices=("naive", "tan", "ban"), help="the graph over the features")
    group.add_argument(
        "--max-parents", type=int, metavar="K", help="with ban: at most K parents of a feature"
    )
    group.add_argument("--root", metavar="FEATURE", help="with tan: the feature without a parent")
    edge: dict[str, Any] = {"nargs": 2, "action": "append", "metavar": ("PARENT", "CHILD")}
    group.add_argument("--require", help="an edge that must be in the graph; may be repeated", **edge)
    group.add_argument("--forbid", help="an edge that must not be; may be repeated", **edge)
    group.add_argument(
        "--marginals",
        choices=("gaussian", "power", "auto"),
        help="bend numbers so that they are closer to Gaussian: none, each, or where it helps; rules can add "
        "up numbers that are not bent",
    )
    names_flag(group, "--plain", "FEATURE", "numbers that are not bent, whatever --marginals says")
    file_flag(group, "--actions", "FILE.toml", "do not bend the numbers that the rules in this file add up")
    group.add_argument(
        "--shrinkage", metavar="S", help="share of the average covariance in each class's: 0 to 1, or auto"
    )
    group.add_argument(
        "--calibration", choices=("none", "temperature"), help="fit probabilities to held-out rows, or not"
    )
    group.add_argument(
        "--cell-smoothing",
        type=float,
        metavar="R",
        help="rows of the average added to each cell (default: 10)",
    )


def predict_flags(command: argparse.ArgumentParser) -> None:
    """Of ``surefoot predict``."""
    model_flag(command)
    file_flag(command, "data", "DATA", TABLE)
    command.add_argument("--proba", action="store_true", help="the probability of each class as well")
    command.add_argument("--id", metavar="COLUMN", help="column that names the rows (default: their numbers)")
    file_flag(command, "--output", "FILE", "where to write the CSV table (default: to stdout)", Output)
    reading_flags(command)


def diagnose_flags(command: argparse.ArgumentParser) -> None:
    """Of ``surefoot diagnose``."""
    model_flag(command)
    file_flag(command, "data", "DATA", TABLE)
    command.add_argument("--label", required=True, metavar="COLUMN", help="name of the label column")
    file_flag(command, "--html", "FILE", "write a page to read", Output)
    command.add_argument(
        "--folds", type=int, default=5, metavar="K", help="K-fold cross-validation (default: 5)"
    )
    reading_flags(command)
