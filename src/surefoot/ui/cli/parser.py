"""Every command and flag."""

from __future__ import annotations

import argparse
import re
from difflib import get_close_matches
from typing import Any, NoReturn

from surefoot import __version__
from surefoot.formats import one_line
from surefoot.ui.cli.audit_flags import AUDIT_EXAMPLES, audit_flags
from surefoot.ui.cli.explain_flags import EXPLAIN_EXAMPLES, explain_flags
from surefoot.ui.cli.fit_flags import (
    DIAGNOSE_EXAMPLES,
    FIT_EXAMPLES,
    PREDICT_EXAMPLES,
    diagnose_flags,
    fit_flags,
    predict_flags,
)
from surefoot.ui.cli.flags import (
    Folder,
    Input,
    Output,
    file_flag,
    model_flag,
    names_flag,
    size_flag,
    template_flags,
)
from surefoot.ui.cli.letter_flags import LABELS_EXAMPLES, LETTER_EXAMPLES, letter_flags
from surefoot.ui.cli.region_flags import NOBODY_EXAMPLES, nobody_flags

EXAMPLES = """examples:
  surefoot demo
  surefoot fit loans.csv --label repaid --drop id --output model.json
  surefoot explain model.json loans.csv --row 3 --target yes --budget 0.05 --html report.html
  surefoot explain model.json loans.csv --all --target yes --budget 0.05 --output changes.csv --jobs 2
  surefoot audit model.json loans.csv --target yes --by sex --by age:25,40,60 --html audit.html
  surefoot verify model.json explanation.json
  surefoot backends
"""
VERIFY_EXAMPLES = """examples:
  surefoot verify model.json explanation.json
  surefoot verify model.json explanation.json --all-claims
  surefoot verify model.json explanation.json --time-limit 60
  surefoot verify model.json explanation.json --models refits/*.json

exit status: 0 every claim holds (an invalid request claims nothing); 1 one fails or is not proved; 2 a file
cannot be read
"""
ACTIONS_EXAMPLES = """examples:
  surefoot actions model.json --output actions.toml
  surefoot explain model.json loans.csv --row 3 --actions actions.toml
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


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, like all others; the flags are a --help away."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and stop."""
        self.exit(2, one_line(f"surefoot: error: {message}; see {self.prog} --help") + "\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse what is unknown here, where the command and its flags are known."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(self._unknown([str(text) for text in unknown]))
        return found, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Suggest the command that an unknown one resembles."""
        if not isinstance(action, argparse._SubParsersAction) or value in action.choices:
            super()._check_value(action, value)
            return
        near = get_close_matches(str(value), action.choices, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Commands: {', '.join(action.choices)}."
        self.exit(2, one_line(f"surefoot: error: Unknown command {str(value)!r}. {hint}") + "\n")

    def _unknown(self, texts: list[str]) -> str:
        flag = next((t for t in texts if t.startswith("-") and not NEGATIVE.match(t)), None)
        if flag is None:
            return f"unexpected argument {texts[0]!r}"
        name = flag.partition("=")[0]
        near = get_close_matches(name, self._option_string_actions, n=1)
        return f"unknown flag {name}{f' (did you mean {near[0]}?)' if near else ''}"


def parser() -> argparse.ArgumentParser:
    """Build the parser."""
    top = Parser(
        prog="surefoot",
        description="Robust counterfactual explanations with conditional Gaussian network classifiers.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"surefoot {__version__}")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND", dest="command")
    _demo(_command(commands, "demo", "fit real loans, explain one that was refused and write a report"))
    fit_flags(_command(commands, "fit", "fit a classifier to a table", FIT_EXAMPLES))
    diagnose_flags(
        _command(commands, "diagnose", "compare a model with others on held-out rows", DIAGNOSE_EXAMPLES)
    )
    predict_flags(_command(commands, "predict", "classify the rows of a table", PREDICT_EXAMPLES))
    template_flags(_command(commands, "actions", "begin a file that says what may change", ACTIONS_EXAMPLES))
    explain_flags(_command(commands, "explain", "say what would have to change", EXPLAIN_EXAMPLES))
    audit_flags(_command(commands, "audit", "say by groups who has no way, and at what cost", AUDIT_EXAMPLES))
    letter_flags(
        _command(commands, "letter", "write letters to the persons whom decisions are about", LETTER_EXAMPLES)
    )
    template_flags(
        _command(commands, "labels", "begin a file that says what letters call things", LABELS_EXAMPLES)
    )
    nobody_flags(
        _command(commands, "nobody", "prove that nobody in a region has a way, or find one", NOBODY_EXAMPLES)
    )
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
    file_flag(
        command,
        "--html",
        "REPORT.html",
        "where to write the report (default: report.html)",
        Output,
        default="report.html",
    )


def _verify(command: argparse.ArgumentParser) -> None:
    model_flag(command)
    file_flag(
        command,
        "explanations",
        "EXPLANATION.json",
        "what `surefoot explain --json` or `surefoot nobody --json` wrote; several, or a folder of them",
        nargs="+",
    )
    command.add_argument(
        "--all-claims", action="store_true", help="list the claims that hold too, instead of counting them"
    )
    command.add_argument("--exact", action="store_true", help="accepted, without effect: always exact")
    command.add_argument(
        "--time-limit", type=float, metavar="SECONDS", help="for each explanation; the rest is not proved"
    )
    names_flag(command, "--models", "MODEL.json", "the refits that the explanation names", Input)
    size_flag(command)


def _reproduce(command: argparse.ArgumentParser) -> None:
    file_flag(
        command,
        "--output",
        "FOLDER",
        "where results are written, and where a stopped run goes on",
        Folder,
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
