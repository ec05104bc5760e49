"""Every command and flag."""

from __future__ import annotations

import argparse
import re
from typing import Any

from surefoot import __version__

EXAMPLES = """examples:
  surefoot demo
  surefoot fit loans.csv --label repaid --structure ban --max-parents 2 --drop id --output model.json
  surefoot explain model.json loans.csv --row 3 --target yes --budget 0.05 --html report.html
  surefoot explain model.json loans.csv --all --target yes --budget 0.05 --output changes.csv --jobs 2
  surefoot verify --exact model.json explanation.json
  surefoot backends
"""
FIT_EXAMPLES = """examples:
  surefoot fit patients.csv --label diagnosis --structure tan --output model.json
  surefoot fit loans.csv --label repaid --structure ban --max-parents 2 --drop id --output model.json
  surefoot fit loans.csv --label repaid --require age income --forbid income age --output model.json
"""
EXPLAIN_EXAMPLES = """examples:
  surefoot explain model.json loans.csv --row 3 --target yes
  surefoot explain model.json loans.csv --row 3 --budget 0.05 --json explanation.json --html report.html
  surefoot explain model.json loans.csv --row 3 --immutable age --increasing income --bound debt 0 5000
  surefoot explain model.json loans.csv --row 3 --whole cards --values schooling 9 12 16 --budget-of debt 50
  surefoot explain model.json loans.csv --all --target yes --budget 0.05 --id customer --output out.csv

outputs:
  --json    everything about one row (an object) or all of them (an array), as `surefoot verify` reads it
  --output  one line for each row: row, status, factual_class, target, factual_probability, probability,
            worst_probability, distance, lower_bound, gap, coverage, certified_radius, density_percentile,
            seconds, message, advice, and 'factual: FEATURE' and 'counterfactual: FEATURE' for each feature
  --html    a page to read and to print; opens offline

exit status: 0 done; 1 no counterfactual, or some rows without one; 2 bad usage or input
"""
VERIFY_EXAMPLES = """examples:
  surefoot verify model.json explanation.json
  surefoot verify --exact model.json explanation.json

exit status: 0 every claim holds; 1 one fails or is not proved; 2 a file cannot be read
"""
DATA_SETS = ("Banknote", "Pima", "Ionosphere")
REPRODUCE_EXAMPLES = """examples:
  surefoot reproduce --quick --output results/
  surefoot reproduce --output results/                      (hours; stop it and start it again at will)
  surefoot reproduce --table 1 --data Banknote --method qcqp --time-limit 60 --output results/
  surefoot reproduce --figures --output results/

Every run is written to runs.jsonl in the folder as it ends; what is there is not run again.
"""
NEGATIVE = re.compile(r"^-(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$|^-inf$")
SHELLS = ("bash", "zsh")
FILES: dict[str, Any] = {"bash": "_shtab_compgen_files", "zsh": "_files"}


def parser() -> argparse.ArgumentParser:
    """Build the parser."""
    top = argparse.ArgumentParser(
        prog="surefoot",
        description="Robust counterfactual explanations with conditional Gaussian network classifiers.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"surefoot {__version__}")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND", dest="command")
    _demo(_command(commands, "demo", "fit real bank notes, explain one of them and write a report"))
    _fit(_command(commands, "fit", "fit a classifier to a CSV file", FIT_EXAMPLES))
    _explain(_command(commands, "explain", "say what would have to change", EXPLAIN_EXAMPLES))
    _verify(_command(commands, "verify", "re-check explanations from their numbers alone", VERIFY_EXAMPLES))
    _command(commands, "backends", "which solvers are installed, what each can do, how to get the others")
    _reproduce(_command(commands, "reproduce", "run the paper's experiments", REPRODUCE_EXAMPLES))
    _completion(
        _command(commands, "completion", "print a script that completes commands and flags in a shell")
    )
    return top


def _command(commands: Any, name: str, summary: str, examples: str = "") -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("--debug", action="store_true", help="show the traceback of an error")
    command._negative_number_matcher = NEGATIVE  # argparse takes -1e3 and -inf for flags
    return command


def _demo(command: argparse.ArgumentParser) -> None:
    _file(command, "--html", "REPORT.html", "where to write the report (default: report.html)", "report.html")


def _fit(command: argparse.ArgumentParser) -> None:
    _file(command, "data", "DATA.csv", "table with a header line")
    command.add_argument("--label", required=True, metavar="COLUMN", help="name of the label column")
    _file(command, "--output", "MODEL.json", "where to write the model", required=True)
    command.add_argument("--structure", choices=("naive", "tan", "ban"), default="tan", help="default: tan")
    command.add_argument(
        "--max-parents", type=int, metavar="K", help="with ban: at most K parents of a feature"
    )
    command.add_argument("--root", metavar="FEATURE", help="with tan: the feature without a parent")
    edge: dict[str, Any] = {"nargs": 2, "action": "append", "metavar": ("PARENT", "CHILD")}
    command.add_argument("--require", help="an edge that must be in the graph; may be repeated", **edge)
    command.add_argument("--forbid", help="an edge that must not be; may be repeated", **edge)
    _repeated(command, "--drop", "COLUMN", "a column to leave out; may be repeated")
    command.add_argument(
        "--folds",
        type=int,
        default=0,
        metavar="K",
        help="say how well it predicts, by K-fold cross-validation",
    )
    _separator(command)


def _explain(command: argparse.ArgumentParser) -> None:
    _file(command, "model", "MODEL.json", "what `surefoot fit` wrote")
    _file(command, "data", "DATA.csv", "table with the model's features; other columns are left alone")
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument("--row", type=int, metavar="N", help="explain row N, counted from 0 below the header")
    which.add_argument("--all", action="store_true", help="explain every row, with a progress bar")
    command.add_argument("--id", metavar="COLUMN", help="column that names the rows (default: their numbers)")
    _separator(command)
    question = command.add_argument_group("the question")
    question.add_argument("--target", metavar="LABEL", help="the class wanted (default: the other of two)")
    question.add_argument(
        "--budget",
        type=float,
        default=0.0,
        metavar="G",
        help="how far the change may miss, in standard deviations (default: 0, carried out exactly)",
    )
    question.add_argument(
        "--budget-of",
        nargs=2,
        action="append",
        default=[],
        metavar=("FEATURE", "SIZE"),
        help="how far one feature may miss, in its own units, in the place of --budget; may be repeated",
    )
    question.add_argument(
        "--noise-on",
        choices=("changeable", "all"),
        default="changeable",
        help="which features may miss: those that may change (default), or all",
    )
    question.add_argument("--norm", choices=("inf", "2", "1"), default="inf", help="default: inf")
    question.add_argument(
        "--threshold", type=float, default=0.5, metavar="P", help="probability to be reached (default: 0.5)"
    )
    question.add_argument(
        "--whitening",
        choices=("cholesky", "dag", "zca"),
        default="cholesky",
        help="coordinates in which distances are measured (default: cholesky)",
    )
    _actions(command.add_argument_group("what may change"))
    _solving(command.add_argument_group("how it is solved"))
    _outputs(command.add_argument_group("outputs"))


def _actions(group: Any) -> None:
    group.add_argument(
        "--bounds",
        choices=("data", "none"),
        default="data",
        help="stay within the range seen in training (default), or anywhere",
    )
    group.add_argument(
        "--bound",
        nargs=3,
        action="append",
        metavar=("FEATURE", "LOW", "HIGH"),
        help="bounds of one feature; '-' leaves an end open; may be repeated",
    )
    _repeated(group, "--immutable", "FEATURE", "a feature that must not change; may be repeated")
    _repeated(group, "--increasing", "FEATURE", "a feature that may only rise; may be repeated")
    _repeated(group, "--decreasing", "FEATURE", "a feature that may only fall; may be repeated")
    _repeated(group, "--whole", "FEATURE", "a feature that takes whole numbers only; may be repeated")
    group.add_argument(
        "--values",
        nargs="+",
        action="append",
        default=[],
        metavar=("FEATURE", "VALUE"),
        help="a feature and the only values that it may take; may be repeated",
    )


def _solving(group: Any) -> None:
    group.add_argument(
        "--method",
        choices=("certified", "qcqp", "milp"),
        default="certified",
        help="default: certified; the others are the paper's, and need a solver",
    )
    group.add_argument("--backend", choices=("scip", "gurobi", "highs"), help="with qcqp and milp")
    group.add_argument(
        "--time-limit", type=float, default=30.0, metavar="S", help="seconds for one row (default: 30)"
    )
    group.add_argument(
        "--gap",
        type=float,
        metavar="R",
        help="relative gap to the proven bound (default: 0.001; qcqp, milp: 0.01)",
    )
    group.add_argument(
        "--tol",
        type=float,
        default=1e-3,
        metavar="E",
        help="with qcqp and milp: largest violation left (default: 0.001)",
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
    group.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="processes for --all (default: 1); -1: all cores"
    )


def _outputs(group: Any) -> None:
    _file(group, "--json", "FILE", "write everything as JSON; '-': to stdout")
    _file(group, "--html", "FILE", "write a page to read")
    _file(group, "--output", "FILE", "with --all: write a CSV table ('-' or left out: to stdout)")
    group.add_argument("--quiet", action="store_true", help="no progress bar")


def _verify(command: argparse.ArgumentParser) -> None:
    _file(command, "model", "MODEL.json", "what `surefoot fit` wrote")
    _file(command, "explanation", "EXPLANATION.json", "what `surefoot explain --json` wrote")
    command.add_argument(
        "--exact", action="store_true", help="compute with integers, by code that needs Python alone; slower"
    )


def _reproduce(command: argparse.ArgumentParser) -> None:
    _file(
        command,
        "--output",
        "FOLDER",
        "where results are written, and where a stopped run goes on",
        required=True,
    )
    command.add_argument(
        "--quick", action="store_true", help="a few factuals and a short limit: some minutes"
    )
    part = command.add_argument_group("parts (default: all)")
    part.add_argument("--table", choices=("1", "2"), action="append", default=[], help="may be repeated")
    part.add_argument("--figures", action="store_true", help="the figures")
    part.add_argument("--value", action="store_true", help="what structure buys")
    size = command.add_argument_group("size")
    size.add_argument(
        "--factuals", type=int, default=25, metavar="N", help="for each configuration (default: 25)"
    )
    size.add_argument("--time-limit", type=float, default=3600.0, metavar="S", help="seconds for one run")
    size.add_argument("--data", choices=DATA_SETS, action="append", default=[], help="may be repeated")
    size.add_argument("--method", choices=("certified", "qcqp", "milp"), action="append", default=[])
    size.add_argument("--backend", choices=("scip", "gurobi", "highs"), action="append", default=[])
    command.add_argument("--quiet", action="store_true", help="no progress bar")


def _completion(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "shell",
        choices=SHELLS,
        help='bash: eval "$(surefoot completion bash)"; zsh: put it into a file _surefoot on your fpath',
    )


def _file(group: Any, name: str, metavar: str, text: str, default: Any = None, **options: Any) -> None:
    group.add_argument(name, metavar=metavar, help=text, default=default, **options).complete = FILES


def _repeated(group: Any, name: str, metavar: str, text: str) -> None:
    group.add_argument(name, action="append", default=[], metavar=metavar, help=text)


def _separator(command: Any) -> None:
    command.add_argument("--separator", default=",", help="what separates the fields (default: a comma)")
