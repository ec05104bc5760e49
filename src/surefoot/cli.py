"""The command line: parse, call one function, print."""

from __future__ import annotations

import argparse
import io
import sys
import traceback
import warnings
from collections.abc import Sequence

from surefoot import __version__
from surefoot.classifier import ConditionalGaussianNetworkClassifier
from surefoot.datasets import table
from surefoot.exceptions import DataError, SurefootError
from surefoot.explanation import Explanation
from surefoot.report.demo import demo_text
from surefoot.search.backends import available_backends
from surefoot.verify import verify

DONE, NOT_FOUND, BAD_INPUT = 0, 1, 2

EXAMPLES = """examples:
  surefoot demo
  surefoot backends
  surefoot verify model.json explanation.json
  surefoot fit patients.csv --label diagnosis --structure tan --output model.json
  surefoot fit loans.csv --label repaid --structure ban --max-parents 2 --drop id --output model.json
  surefoot fit loans.csv --label repaid --require age income --forbid income age --output model.json
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status (0 done, 1 a claim fails, 2 bad usage or input)."""
    options = parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):  # names may hold what the terminal cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: _say(f"surefoot: warning: {message}")
        try:
            return int(options.run(options) or DONE)
        except (SurefootError, OSError) as error:
            if options.debug:
                traceback.print_exc()
            _say(f"surefoot: error: {error}")
            return BAD_INPUT


def parser() -> argparse.ArgumentParser:
    """Build the parser with every command and flag."""
    top = argparse.ArgumentParser(
        prog="surefoot",
        description="Robust counterfactual explanations with conditional Gaussian network classifiers.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"surefoot {__version__}")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--debug", action="store_true", help="show the traceback of an error")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", parents=[shared], help="fit real bank notes and show what was learned")
    demo.set_defaults(run=_demo)

    backends = commands.add_parser(
        "backends", parents=[shared], help="which solvers are here, what each can do"
    )
    backends.set_defaults(run=_backends)

    verification = commands.add_parser(
        "verify",
        parents=[shared],
        help="re-check an explanation from its numbers alone",
        description="Re-check every claim of an explanation; exit status 1 if one fails.",
    )
    verification.set_defaults(run=_verify)
    verification.add_argument("model", metavar="MODEL.json", help="what `surefoot fit` wrote")
    verification.add_argument("explanation", metavar="EXPLANATION.json", help="what `to_json` wrote")

    fit = commands.add_parser(
        "fit",
        parents=[shared],
        help="fit a classifier to a CSV file",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    fit.set_defaults(run=_fit)
    fit.add_argument("data", metavar="DATA.csv", help="table with a header line")
    fit.add_argument("--label", required=True, metavar="COLUMN", help="name of the label column")
    fit.add_argument("--output", required=True, metavar="MODEL.json", help="where to write the model")
    fit.add_argument("--structure", choices=("naive", "tan", "ban"), default="tan", help="default: tan")
    fit.add_argument("--max-parents", type=int, metavar="K", help="with ban: at most K parents of a feature")
    fit.add_argument("--root", metavar="FEATURE", help="with tan: the feature without a parent")
    edge = {"nargs": 2, "action": "append", "metavar": ("PARENT", "CHILD")}
    fit.add_argument("--require", **edge, help="an edge that must be in the graph; may be repeated")  # type: ignore[arg-type]
    fit.add_argument("--forbid", **edge, help="an edge that must not be; may be repeated")  # type: ignore[arg-type]
    fit.add_argument(
        "--drop", action="append", default=[], metavar="COLUMN", help="a column to leave out; may be repeated"
    )
    fit.add_argument("--separator", default=",", help="what separates the fields (default: a comma)")
    return top


def _demo(_: argparse.Namespace) -> None:
    sys.stdout.write(demo_text() + "\n")


def _backends(_: argparse.Namespace) -> None:
    for backend in available_backends():
        state = "ready" if backend.usable else ("no licence" if backend.installed else "missing")
        sys.stdout.write(f"{backend.name:<8} {state:<11} {'+'.join(backend.kinds):<10} {backend.message}\n")


def _verify(options: argparse.Namespace) -> int:
    clf = ConditionalGaussianNetworkClassifier.load(options.model)
    with open(options.explanation, encoding="utf-8") as file:
        text = file.read()
    try:
        result = verify(Explanation.from_json(text), clf)
    except DataError as error:
        raise DataError(f"{options.explanation}: {error}") from None
    sys.stdout.write(f"{result}\n")
    return DONE if result.ok else NOT_FOUND


def _fit(options: argparse.Namespace) -> None:
    data = table(options.data, options.label, drop=options.drop, separator=options.separator)
    clf = ConditionalGaussianNetworkClassifier(
        structure=options.structure,
        max_parents=options.max_parents,
        root=options.root,
        required_edges=options.require,
        forbidden_edges=options.forbid,
    )
    try:
        clf.fit(data.X, data.y)
    except DataError as error:
        raise DataError(f"{options.data}: {error}") from None
    clf.save(options.output)
    sys.stdout.write(clf.summary() + "\n")
    _say(f"surefoot: wrote {options.output}")


def _say(message: str) -> None:
    sys.stderr.write(message + "\n")
