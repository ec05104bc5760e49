"""Run the benchmarks and write each as a table (CSV and Markdown) into benchmarks/results.

usage: python benchmarks/run.py [--resume] [NAME ...]      (default: all; --resume: after an interrupt)

A name is that of a file in speed, quality or audit that has `rows`; README.md says what each one answers.
"""

import importlib
import sys
from pathlib import Path

import pandas as pd

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
RESULTS = HERE / "results"
FOLDERS = ("speed", "quality", "audit")
NAMES = (
    "fitting", "structure", "paper_methods", "encoding", "coordinates", "certified", "norms", "growth",
    "bound", "batch", "requests", "imports", "forgeries", "whole_numbers", "honest",
    "tables", "calibration", "holes", "mixed", "worth", "levers", "largest_share", "at_most", "combined",
    "best_probability", "hangs", "models", "alternatives", "kernel", "cli_fuzz", "limits", "verification",
    "presets", "fewest", "typed_back", "reasons", "enough", "faulty_tables", "kinds_rules", "population",
    "audit_coverage",
)  # fmt: skip


def main(names, resume=False):
    RESULTS.mkdir(exist_ok=True)
    for name in names:
        module = found_module(name)
        print(f"\n{module.__doc__.strip()}\n", flush=True)
        kept = RESULTS / f"{name}.csv"
        resumed = resume and hasattr(module, "KEY") and kept.exists()
        found = pd.read_csv(kept, dtype=str, keep_default_na=False).to_dict("records") if resumed else []
        done = {tuple(row[key] for key in module.KEY) for row in found} if resumed else set()
        for row in module.rows(done) if resumed else module.rows():
            found.append(row)
            if hasattr(module, "order"):  # what was measured later stands where it belongs
                found.sort(key=module.order)
            print("  ".join(f"{key}: {value}" for key, value in row.items()), flush=True)
            # After every row, so that an interrupted run loses nothing.
            write(name, pd.DataFrame(found, columns=module.COLUMNS), module.__doc__.strip())
        if hasattr(module, "plot"):
            module.plot(pd.DataFrame(found, columns=module.COLUMNS), RESULTS / f"{name}.png")


def found_module(name):
    """The benchmark of that name, whichever folder it is in."""
    folders = [folder for folder in FOLDERS if (HERE / folder / f"{name}.py").exists()]
    module = importlib.import_module(f"benchmarks.{folders[0]}.{name}") if folders else None
    if not hasattr(module, "rows"):
        raise SystemExit(f"{name} is not a benchmark that writes a table; these are: {', '.join(NAMES)}")
    return module


def write(name, frame, title):
    frame.to_csv(RESULTS / f"{name}.csv", index=False)
    lines = [
        "| " + " | ".join(str(v) for v in row) + " |"
        for row in [frame.columns, *frame.itertuples(index=False)]
    ]
    lines.insert(1, "|" + "---|" * len(frame.columns))
    (RESULTS / f"{name}.md").write_text(f"{title}\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--resume"]
    main(arguments or NAMES, resume="--resume" in sys.argv)
