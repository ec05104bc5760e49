"""Faulty tables made after the rules of `read_table` were written; see `faulty_tables`."""

import io
import json

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, load_digits

from benchmarks.quality.tables import member

LIFELINES, PENGUINS = "lifelines==0.30.3", "palmerpenguins==0.1.6"
STATSMODELS, VEGA = "statsmodels==0.15.0", "vega_datasets==0.9.0"
REMARKS = (
    "called twice, no answer",
    'said: "later"',
    "first line\nsecond line",
    "moved; address unknown",
    "",
)


def survival(name, **options):
    return pd.read_csv(io.StringIO(member(LIFELINES, f"lifelines/datasets/{name}")), **options)


def models(path, **options):
    return pd.read_csv(io.StringIO(member(STATSMODELS, f"statsmodels/{path}")), **options)


def words(column, no, yes):
    return column.map({0: no, 1: yes})


def remarks(rng, n):
    """Free text with commas, quotes and ends of lines."""
    return [f"{rng.choice(REMARKS)} {k}" if k % 3 else rng.choice(REMARKS) for k in range(n)]


def days(rng, n, first="2016-03-04", most=900):
    return pd.Series(pd.Timestamp(first) + pd.to_timedelta(rng.integers(0, most, n), unit="D"))


def comma(value, unit=""):
    return "" if pd.isna(value) else f"{value:.10g}".replace(".", ",") + unit


def german(value, unit=""):
    """1234.5 as 1.234,50."""
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,")) + unit


def spaced(value):
    """1234.5 as 1 234,5 with a narrow space, as in France."""
    return f"{value:,.10g}".translate(str.maketrans(",.", "\N{NARROW NO-BREAK SPACE},"))


def trial_utf16(rng, path):
    """Pipes, UTF-16, row names in front, ja and nein, two-digit years, identifiers with a prefix."""
    X = survival("ACTG175.csv", index_col=0).reset_index(drop=True)
    y = words(X["cens"], "censored", "event").to_numpy()
    patients = X["pidnum"].map("P-{:06}".format)
    X = X.drop(columns=["cens", "pidnum", "days", "r", "cd496", "zprior"]).astype(float)
    day = days(rng, len(X))
    two = [name for name in X.columns if X[name].nunique() == 2]
    bad = X.assign(
        **{name: words(X[name], "nein", "ja") for name in two}, wtkg=X["wtkg"].map("{:.1f} kg".format)
    )
    bad = bad.assign(entered=day.dt.strftime("%m/%d/%y"), patient=patients, outcome=y)
    path.write_bytes(bad.to_csv(sep="|").encode("utf-16"))
    return (X.assign(entered=day, wtkg=X["wtkg"].round(1)), y, ("strat", "arms")), "outcome", ()


def tumours_comments(rng, path):
    """Semicolons, decimal commas, empty columns at the end, Y and N, days as Excel counts them."""
    X = survival("gbsg2.csv")
    y = words(X["cens"], "free", "relapse").to_numpy()
    X = X.drop(columns=["cens", "time"])
    day = days(rng, len(X), "1986-01-02")
    clean = X.assign(tsize=X["tsize"] / 10, seen=day)
    bad = clean.assign(
        horTh=X["horTh"].map({"no": "N", "yes": "Y"}), tsize=clean["tsize"].map(lambda v: comma(v, " cm")),
        seen=(day - pd.Timestamp("1899-12-30")).dt.days, case=[f"GBSG/{k}" for k in rng.permutation(len(X))],
        event=y,
    )  # fmt: skip
    lines = bad.to_csv(index=False, sep=";").splitlines()
    path.write_text("\n".join(line + ";;" for line in lines), encoding="utf-8")
    return (clean, y, ()), "event", ("--date", "seen")


def lungs_marks(rng, path):
    """Tabs, Latin-1, 999 and -1 as holes, decimal commas, TRUE and FALSE."""
    X = survival("lung.csv")
    y = words(X["status"], "FALSE", "TRUE").to_numpy()
    X = X.drop(columns=["status", "time"])
    clean = X.assign(loss=X["wt.loss"] / 2.2).drop(columns="wt.loss").rename(columns={"inst": "Klinikgröße"})
    bad = clean.assign(
        **{"meal.cal": X["meal.cal"].fillna(9999).astype(int)},
        **{"pat.karno": X["pat.karno"].fillna(-1).astype(int)},
        loss=clean["loss"].map(comma), verstorben=y, Bemerkung=remarks(rng, len(X)),
    )  # fmt: skip
    path.write_bytes(bad.to_csv(index=False, sep="\t").encode("latin-1"))
    flags = ("--missing", "meal.cal", "9999", "--missing", "pat.karno", "-1")
    return (clean, y, ("Klinikgröße",)), "verstorben", flags


def release_zones(rng, path):
    """Time stamps with zones, yes and no in four spellings, a copy, a constant."""
    X = survival("rossi.csv")
    y = words(X["arrest"], "no arrest", "arrest").to_numpy()
    X = X.drop(columns=["arrest", "week"])
    day = days(rng, len(X), "1975-05-05", 500)
    clock = day + pd.to_timedelta(rng.integers(0, 86_400, len(X)), unit="s")
    spelled = {
        name: X[name].map(lambda v: rng.choice(["yes", "Y"] if v else ["no", "N"]))
        for name in ("fin", "mar", "wexp")
    }
    bad = X.assign(
        **spelled, race=words(X["race"], "other", "black"),
        released=clock.dt.strftime("%Y-%m-%dT%H:%M:%S+02:00"),
        state="MD", age2=X["age"], zip=[f"0{v}" for v in rng.integers(1001, 1099, len(X))], result=y,
    )  # fmt: skip
    bad.to_csv(path, index=False)
    return (X.assign(released=day), y, ()), "result", ()


def votes_french(rng, path):
    """Semicolons, a byte order mark, groups of digits by narrow spaces, n/a and dashes for holes."""
    X = models("datasets/anes96/anes96.csv", sep="\t", quotechar="'")
    y = words(X["vote"], "Clinton", "Dole").to_numpy()
    X = X.drop(columns="vote").astype(float)
    clean = X.assign(population=1000.5 * X["popul"]).drop(columns="popul")
    clean["TVnews"] = X["TVnews"].where(rng.random(len(X)) > 0.05)
    bad = clean.assign(
        population=clean["population"].map(spaced),
        TVnews=[rng.choice(["n/a", "-", "NA", "?"]) if pd.isna(v) else f"{v:.0f}" for v in clean["TVnews"]],
        person=rng.permutation(len(X)) + 40_000, vote=y,
    )  # fmt: skip
    path.write_bytes(bad.to_csv(index=False, sep=";", float_format="%.10g").encode("utf-8-sig"))
    return (clean, y, ("PID", "selfLR", "ClinLR", "DoleLR", "educ")), "vote", ()


def marriages_swiss(rng, path):
    """Excel: amounts as text with CHF in front and apostrophes, dates as text, percent."""
    X = models("datasets/fair/fair.csv").sample(2000, random_state=0).reset_index(drop=True)
    y = np.where(X["affairs"] > 0, "ja", "nein")
    X = X.drop(columns="affairs")
    income = rng.lognormal(8.5, 0.4, len(X)).round(2)
    share, day = rng.uniform(0, 60, len(X)).round(1), days(rng, len(X), "1974-01-01", 300)
    clean = X.assign(income=income, share=share, asked=day)
    bad = clean.assign(
        income=[f"CHF {v:,.2f}".replace(",", "'") for v in income], share=[f"{v} %" for v in share],
        asked=day.dt.strftime("%d.%m.%Y"), affair=y,
    )  # fmt: skip
    bad.to_excel(path, index=False)
    return (clean, y, ("occupation", "occupation_husb", "religious", "rate_marriage")), "affair", ()


def penguins_excel(_, path):
    """Excel as it was collected: remarks, dates as text, decimals as text, names of rows that repeat."""
    X = pd.read_csv(io.StringIO(member(PENGUINS, "palmerpenguins/data/penguins-raw.csv")))
    y = X["Species"].str.split().str[0].to_numpy()
    decimals = ["Culmen Length (mm)", "Culmen Depth (mm)", "Delta 15 N (o/oo)", "Delta 13 C (o/oo)"]
    bad = X.drop(columns="Species").astype(object)
    for name in decimals:
        bad[name] = [None if pd.isna(v) else comma(v) for v in X[name]]
    day = pd.to_datetime(X["Date Egg"])
    bad["Date Egg"] = day.dt.strftime("%d.%m.%Y")
    kept = [
        "Island",
        "Clutch Completion",
        "Date Egg",
        *decimals,
        "Flipper Length (mm)",
        "Body Mass (g)",
        "Sex",
        "studyName",
    ]
    bad.assign(Species=y).to_excel(path, index=False)
    return (X[kept].assign(**{"Date Egg": day}), y, ()), "Species", ()


def cars_german(rng, path):
    """Points that group digits, decimal commas, empty headers beside empty columns, old dates."""
    X = pd.DataFrame(json.loads(member(VEGA, "vega_datasets/_data/cars.json")))
    y = X["Origin"].to_numpy()
    day = pd.to_datetime(X["Year"])
    price = rng.lognormal(8, 0.3, len(X)).round(2)
    clean = X.drop(columns=["Origin", "Name", "Year"]).assign(Year=day)
    bad = clean.assign(
        Name=X["Name"], Weight_in_lbs=[f"{v:,} lbs".replace(",", ".") for v in X["Weight_in_lbs"]],
        **{name: X[name].map(comma) for name in ("Miles_per_Gallon", "Acceleration", "Displacement")},
        Horsepower=X["Horsepower"].astype("Int64"), Year=day.dt.strftime("%d.%m.%y"),
        price=[german(v, " €") for v in price], origin=y,
    )  # fmt: skip
    lines = bad.to_csv(index=False, sep=";").splitlines()
    path.write_text("\n".join(f"{line};" for line in lines))
    return (clean.assign(price=price), y, ()), "origin", ()


def weather_minus(_, path):
    """Units and real minus signs, dates with a month in letters, a mark of a hole that is a word."""
    X = pd.read_csv(io.StringIO(member(VEGA, "vega_datasets/_data/seattle-weather.csv")))
    y, day = X["weather"].to_numpy(), pd.to_datetime(X["date"])
    clean = X.drop(columns=["weather", "date"]).assign(date=day)
    minus = {
        name: X[name].map(lambda v: f"{v:.1f} °C".replace("-", "\N{MINUS SIGN}"))
        for name in ("temp_max", "temp_min")
    }
    wind = X["wind"].where(np.arange(len(X)) % 40 > 0)
    bad = clean.assign(
        **minus,
        date=day.dt.strftime("%d-%b-%Y"),
        wind=["unknown" if pd.isna(v) else f"{v} m/s" for v in wind],
        sky=y,
    )
    bad.to_csv(path, index=False)
    return (clean.assign(wind=wind), y, ()), "sky", ()


def births_quotes(rng, path):
    """A quote around every field, lines within fields, blanks around values, a duplicate column."""
    X = models("genmod/tests/results/stata_lbw_glm.csv")
    y = words(X["low"], "normal", "low").to_numpy()
    X = X.drop(columns=["low", "bwt", "id"])
    bad = X.assign(
        race=X["race"].map(" {} ".format), smoke=words(X["smoke"], "F", "T"), note=remarks(rng, len(X)),
        mother=[f"M{k:04}" for k in rng.permutation(len(X))], weight=X["lwt"], weight_class=y,
    )  # fmt: skip
    bad.to_csv(path, index=False, quoting=1)
    return (X, y, ()), "weight_class", ()


def diabetes_percent(rng, path):
    """Percent and mg/dl, groups of digits, a date with a month in German, whole numbers as 1.0."""
    data = load_diabetes(as_frame=True, scaled=False)
    X, y = data.data, np.where(data.target > data.target.median(), "worse", "better")
    day = days(rng, len(X), "2003-01-01", 700)
    clean = X.assign(income=rng.integers(800, 90_000, len(X)).astype(float), day=day)
    months = [
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ]
    bad = clean.assign(
        s1=X["s1"].map("{:.0f}mg/dl".format), bmi=X["bmi"].map("{:.1f}%".format),
        age=X["age"].map("{:.1f}".format),
        income=clean["income"].map("{:,.0f}".format), sex=X["sex"].map({1.0: "female", 2.0: "male"}),
        day=[f"{d.day}. {months[d.month - 1]} {d.year}" for d in day], progress=y,
    )  # fmt: skip
    bad.to_csv(path, index=False, sep=";")
    return (clean, y, ()), "progress", ()


def digits_three(_, path):
    """64 pixels, some of them constant: threes, eights and nines."""
    data = load_digits(as_frame=True)
    rows = data.target.isin([3, 8, 9])
    X, y = data.data[rows].reset_index(drop=True), data.target[rows].map("digit {}".format).to_numpy()
    constant = [name for name in X.columns if X[name].nunique() < 2]
    X.astype(int).assign(digit=y).to_csv(path, index=False, sep="\t")
    return (X.drop(columns=constant), y, ()), "digit", ()


def insured_large(rng, path):
    """20,190 rows: codes of places, a policy number, prices in dollars and euros before and after."""
    X = models("datasets/randhie/randhie.csv")
    y = np.where(X["mdvis"] > 2, "many visits", "few visits")
    X = X.drop(columns="mdvis")
    paid, day = rng.lognormal(6, 1, len(X)).round(2), days(rng, len(X), "1976-01-01", 1500)
    clean = X.assign(paid=paid, day=day)
    bad = clean.assign(
        paid=[f"-${v:,.2f}" if k % 50 == 0 else f"${v:,.2f}" for k, v in enumerate(paid)],
        day=day.dt.strftime("%Y%m%d"), policy=[f"PL{k:08}" for k in rng.permutation(len(X))],
        zip=[f"{v:05}" for v in rng.zipf(1.6, len(X)) % 99_999], visits=y,
    )  # fmt: skip
    bad.to_csv(path, index=False)
    paid = np.where(np.arange(len(X)) % 50 == 0, -paid, paid)
    return (clean.assign(paid=paid), y, ()), "visits", ()


TABLES = {
    "ACTG 175, UTF-16, pipes, ja and nein": (trial_utf16, "csv"),
    "GBSG 2, empty columns, Excel days": (tumours_comments, "csv"),
    "lung, Latin-1, tabs, 9999 and -1": (lungs_marks, "csv"),
    "Rossi, time zones, Y and yes": (release_zones, "csv"),
    "ANES 96, French groups, four marks": (votes_french, "csv"),
    "Fair, Excel, CHF, percent": (marriages_swiss, "xlsx"),
    "penguins, Excel as collected": (penguins_excel, "xlsx"),
    "cars, German, nameless column": (cars_german, "csv"),
    "Seattle weather, minus signs, °C": (weather_minus, "csv"),
    "low birth weight, quotes, lines": (births_quotes, "csv"),
    "diabetes, percent, months in German": (diabetes_percent, "csv"),
    "digits 3, 8, 9": (digits_three, "csv"),
    "RAND health insurance, 20,190 rows": (insured_large, "csv"),
}
