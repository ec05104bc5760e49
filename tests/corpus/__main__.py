"""Write what surefoot answers to the requests of the corpus, or compare two such folders.

`make corpus BEFORE=CHECKOUT` asks both versions and compares texts, JSON, CSV and pages byte for byte, times
left out. What is meant to differ stands in `intended.toml`: words before, words now.

usage: python -m tests.corpus write FOLDER [--count 300]
       python -m tests.corpus compare BEFORE NOW
"""

import argparse
import difflib
import json
import re
import sys
import time
import tomllib
import warnings
from dataclasses import replace
from pathlib import Path

from benchmarks.asking import CounterfactualExplainer

from surefoot import Explanations, verify, write_report
from surefoot.exceptions import SurefootError
from tests.corpus.requests import COUNT, drawn, models, tables

SLOWLY = 0.1  # seconds of a limit to one of CPU; ten times larger, and diagnoses may run out of time
ENDINGS = (".txt", ".json", ".csv", ".html")


def timeless(e):
    """An explanation without the seconds that it took."""
    rounds = tuple(replace(r, master_seconds=0.0, adversary_seconds=0.0) for r in e.answer.rounds)
    return replace(e, answer=replace(e.answer, seconds=0.0, search_seconds=0.0, rounds=rounds))


def asked(kind, explainer, rows, target):
    """What a request gives."""
    row = rows.iloc[0]
    if kind == "alternatives":
        return explainer.alternatives(row, target, n=2)
    if kind == "batch":
        return explainer.explain_batch(rows, target, progress=False)
    if kind == "trade_off":
        return explainer.trade_off(row, target, budget=(0.0, 0.05), plausible=(None, 0.1))
    return Explanations([explainer.explain(row, target, on_failure="return")])


def written(folder, seed, known, made):
    """Write the answers to one request in every format; whether a clock stopped it."""
    kind, name, settings, rows, target = drawn(seed, known, made)
    path = folder / f"{seed:03}"
    try:
        explainer = CounterfactualExplainer(made[name][1], **settings)
        found = asked(kind, explainer, rows, target)
    except SurefootError as error:
        path.with_suffix(".txt").write_text(f"{type(error).__name__}: {error}\n")
        return False
    if kind == "trade_off":
        found = replace(found, explanations=tuple(map(timeless, found.explanations)))
        path.with_suffix(".csv").write_text(found.table.to_csv())
        write_report(found, path.with_suffix(".html"), explainer.classifier)
        return any("limit" in status for status in found.table["status"])
    found = Explanations(map(timeless, found))
    checked = [str(verify(e, explainer.classifier)) for e in found]
    path.with_suffix(".txt").write_text("\n\n".join([*map(str, found), *checked]))
    path.with_suffix(".json").write_text(found.to_json())
    path.with_suffix(".csv").write_text(found.to_frame().to_csv())
    write_report(found[0] if len(found) == 1 else found, path.with_suffix(".html"), explainer.classifier)
    return any("limit" in str(e.status) for e in found)


def write(folder, count):
    """All requests; the numbers of those that a clock stopped, which two runs need not agree about.

    Clocks run by CPU time and slowly, so that what else the machine does changes no answer.
    """
    cpu = time.process_time
    time.perf_counter = lambda: SLOWLY * cpu()
    warnings.simplefilter("ignore")
    folder.mkdir(parents=True, exist_ok=True)
    known = tables()
    made = models(known)
    stopped = [seed for seed in range(count) if written(folder, seed, known, made)]
    (folder / "stopped.json").write_text(json.dumps(stopped))
    sys.stdout.write(f"{count} requests, {len(stopped)} stopped by a clock: {folder}\n")


def compare(before, now):
    """Print where the folders differ; whether they do."""
    changes = tomllib.loads(Path(__file__).with_name("intended.toml").read_text(encoding="utf-8"))["change"]
    skipped = {f"{n:03}" for side in (before, now) for n in json.loads((side / "stopped.json").read_text())}
    names = {p.name for side in (before, now) for p in side.iterdir() if p.suffix in ENDINGS}
    names = sorted(n for n in names if n.rpartition(".")[0] not in skipped and n != "stopped.json")
    differ = 0
    for name in names:
        old, new = (side / name for side in (before, now))
        texts = [p.read_text(encoding="utf-8") if p.exists() else "" for p in (old, new)]
        texts[0] = expected(texts[0], changes)
        if texts[0] != texts[1]:
            differ += 1
            lines = difflib.unified_diff(
                *(t.splitlines() for t in texts), str(old), str(new), lineterm="", n=0
            )
            sys.stdout.write("\n".join(line[:300] for _, line in zip(range(8), lines, strict=False)) + "\n")
    sys.stdout.write(f"{len(names)} files, {differ} differ, {len(skipped)} requests left out\n")
    return differ > 0


def expected(text, changes):
    """What the version before wrote, with the words that were changed on purpose."""
    for change in changes:
        text = re.sub(change["before"], change["now"], text)
    return text


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.corpus")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("write")
    one.add_argument("folder", type=Path)
    one.add_argument("--count", type=int, default=COUNT)
    two = commands.add_parser("compare")
    two.add_argument("before", type=Path)
    two.add_argument("now", type=Path)
    options = parser.parse_args()
    if options.command == "write":
        write(options.folder, options.count)
        return 0
    return int(compare(options.before, options.now))


if __name__ == "__main__":
    sys.exit(main())
