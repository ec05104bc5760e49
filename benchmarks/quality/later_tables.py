"""Faulty tables of other packages, made to look for faults of `read_table`; see `faulty_tables`."""

import io

import numpy as np
import pandas as pd

from benchmarks.quality.fresh_tables import comma, days, german, remarks, spaced, survival
from benchmarks.quality.tables import member

ISLP = "islp==0.6.0"


def learning(name):
    return pd.read_csv(io.StringIO(member(ISLP, f"ISLP/data/{name}.csv")))


def split(frame, label, *others):
    return frame.drop(columns=[label, *others]), frame[label].to_numpy().astype(str)


def cards_both_signs(rng, path):
    """Balance as $1,234.56, income as 12.345,60 €, dates in three orders, an empty column."""
    X, y = split(learning("Default"), "default")
    opened, asked, paid = (days(rng, len(X), first) for first in ("2015-01-01", "2019-01-01", "2020-01-01"))
    clean = X.round(2).assign(opened=opened, asked=asked, paid=paid)
    bad = clean.assign(
        balance=clean["balance"].map("${:,.2f}".format), income=[german(v, " €") for v in clean["income"]],
        opened=opened.dt.strftime("%d.%m.%Y"), asked=asked.dt.strftime("%m/%d/%Y"),
        student=X["student"].map({"Yes": "TRUE", "No": "FALSE"}), empty=None, default=y,
        account=rng.permutation(len(X)) + 10_000_000,
    )  # fmt: skip
    bad.to_csv(path, index=False, sep=";")
    return (clean, y, ()), "default", ()


def juice_french(rng, path):
    """Decimal commas, groups by spaces, yes and no in four spellings, a copy, 500 shops."""
    X, y = split(learning("OJ"), "Purchase")
    sales = rng.lognormal(9, 1, len(X)).round(1)
    clean = X.assign(sales=sales)
    prices = [name for name in X.columns if (X[name].dtype.kind == "f")]
    bad = clean.assign(
        **{name: X[name].map(comma) for name in prices}, sales=[spaced(v) for v in sales],
        Store7=X["Store7"].map(lambda v: rng.choice(["oui", "Oui"] if v == "Yes" else ["non", "NON"])),
        shop=[f"S{v:03}" for v in rng.integers(0, 500, len(X))], again=X["LoyalCH"].map(comma), bought=y,
    )  # fmt: skip
    bad.to_csv(path, index=False, sep=";")
    return (clean, y, ("StoreID", "STORE")), "bought", ()


def seats_excel(rng, path):
    """Excel: decimal commas as text in some cells alone, real dates beside dates as text, a constant."""
    frame = learning("Carseats")
    X, y = split(frame.assign(high=np.where(frame["Sales"] > 8, "high", "low")), "high", "Sales")
    day, share = days(rng, len(X)), rng.uniform(0, 50, len(X)).round(1)
    clean = X.assign(day=day, share=share)
    bad = clean.astype(object)
    bad["share"] = [comma(v) if k % 3 else v for k, v in enumerate(share)]
    bad["day"] = [d.strftime("%d.%m.%Y") if k % 4 else d.to_pydatetime() for k, d in enumerate(day)]
    bad["Income"] = X["Income"].map("{} 000 USD".format)
    bad.assign(year=2024, sales=y).to_excel(path, index=False)
    return (clean, y, ()), "sales", ()


def wages_blanks(rng, path):
    """Blanks around values, holes in eight spellings, months as 2005-03, remarks, a copy by other names."""
    frame = learning("Wage")
    X, y = split(frame.assign(high=np.where(frame["wage"] > 104, "yes", "no")), "high", "wage", "logwage")
    age = X["age"].astype(float).where(rng.random(len(X)) > 0.05)
    month = days(rng, len(X), "2005-03-01", 1500).dt.to_period("M").dt.to_timestamp()
    clean = X.assign(age=age, month=month)
    marks = ["", " ", "?", "NA", "n/a", "-", "null", "unknown"]
    bad = clean.assign(
        age=[rng.choice(marks) if pd.isna(v) else f" {v:.0f} " for v in age],
        month=month.dt.strftime("%Y-%m"), note=remarks(rng, len(X)), jobs=X["jobclass"].str[3:],
        health_ins=X["health_ins"].map({"1. Yes": "Y", "2. No": "N"}), high=y,
    )  # fmt: skip
    bad.to_csv(path, index=False)
    return (clean, y, ()), "high", ()


def hitters_tabs(rng, path):
    """Tabs, UTF-16, fees as 1.075,50 kr, -99 for holes, names of rows."""
    frame = learning("Hitters").dropna(subset="Salary").reset_index(drop=True)
    X, y = split(frame.assign(rich=np.where(frame["Salary"] > 425, "above", "below")), "rich", "Salary")
    errors = X["Errors"].astype(float).where(rng.random(len(X)) > 0.06)
    clean = X.assign(Errors=errors, fee=rng.lognormal(6, 1, len(X)).round(2))
    bad = clean.assign(
        Errors=errors.fillna(-99).astype(int), fee=[german(v, " kr") for v in clean["fee"]], pay=y
    )
    path.write_bytes(bad.to_csv(sep="\t").encode("utf-16"))
    return (clean, y, ()), "pay", ("--missing", "Errors", "-99")


def colleges_totals(_, path):
    """Grouped digits and dollars, percent, names of colleges."""
    X, y = split(learning("College"), "Private")
    grouped = ["Apps", "Accept", "Enroll", "F.Undergrad", "P.Undergrad"]
    dollars = ["Outstate", "Room.Board", "Books", "Personal", "Expend"]
    percent = ["Top10perc", "Top25perc", "PhD", "Terminal", "perc.alumni", "Grad.Rate"]
    bad = X.assign(
        **{name: X[name].map("{:,}".format) for name in grouped},
        **{name: X[name].map("${:,}".format) for name in dollars},
        **{name: X[name].map("{}%".format) for name in percent},
        college=[f"College no. {k} of the state" for k in range(len(X))], private=y,
    )  # fmt: skip
    bad.to_csv(path, index=False)
    return (X, y, ()), "private", ()


def bikes_hours(rng, path):
    """8,645 hours: hours as 07:00, decimal commas, a constant, tickets."""
    frame = learning("Bikeshare")
    busy = np.where(frame["bikers"] > 110, "busy", "quiet")
    X, y = split(frame.assign(busy=busy), "busy", "casual", "registered", "bikers")
    clean = X.assign(hr=[f"{v:02}:00" for v in X["hr"]])
    bad = X.assign(
        **{name: X[name].map(comma) for name in ("temp", "atemp", "hum", "windspeed")},
        hr=clean["hr"], place="Washington", ticket=rng.permutation(len(X)), busy=y,
    )  # fmt: skip
    bad.to_csv(path, index=False, sep="|")
    return (clean, y, ("season", "weekday")), "busy", ()


def regimes_names(rng, path):
    """1,808 governments: 200 countries and codes of them, names, a date in digits."""
    X, y = split(survival("dd.csv"), "democracy", "regime", "leaderspellreg", "ehead", "politycode")
    day = days(rng, len(X), "1950-01-01", 20_000)
    clean = X.drop(columns="cowcode2").assign(day=day)
    bad = clean.assign(
        day=day.dt.strftime("%Y%m%d"), cow_code=X["cowcode2"], leader=survival("dd.csv")["ehead"], kind=y
    )
    bad.to_csv(path, index=False)
    return (clean, y, ()), "kind", ()


def origins_points(rng, path):
    """Weights as 3.504, decimal commas, days with points."""
    X, y = split(learning("Auto"), "origin", "name")
    day = days(rng, len(X))
    clean = X.assign(day=day)
    bad = clean.assign(
        weight=X["weight"].map(lambda v: f"{v:,}".replace(",", ".")),
        mpg=X["mpg"].map(comma), displacement=X["displacement"].map(comma),
        acceleration=X["acceleration"].map(comma), day=day.dt.strftime("%d.%m.%Y"),
        origin=pd.Series(y).map({"1": "US", "2": "EU", "3": "JP"}),
    )  # fmt: skip
    bad.to_csv(path, index=False, sep=";")
    return (clean, bad["origin"].to_numpy(), ()), "origin", ()


def cancers_small(_, path):
    """88 rows: ml, n/a, days as 2021/3/5, TRUE and FALSE."""
    X, y = split(learning("BrainCancer"), "status", "time")
    day = pd.Series(pd.Timestamp("2021-03-05") + pd.to_timedelta(7 * np.arange(len(X)), unit="D"))
    clean = X.assign(day=day)
    bad = clean.assign(
        gtv=X["gtv"].map("{} ml".format), day=[f"{d.year}/{d.month}/{d.day}" for d in day],
        diagnosis=X["diagnosis"].fillna("n/a"), dead=pd.Series(y).map({"0": "FALSE", "1": "TRUE"}),
    )  # fmt: skip
    bad.to_csv(path, index=False)
    return (clean, bad["dead"].to_numpy(), ()), "dead", ()


TABLES = {
    "Default, both signs, three orders": (cards_both_signs, "csv"),
    "OJ, French, 500 shops": (juice_french, "csv"),
    "Carseats, Excel, cells of both kinds": (seats_excel, "xlsx"),
    "Wage, blanks, eight marks, months": (wages_blanks, "csv"),
    "Hitters, UTF-16, kr, -99": (hitters_tabs, "csv"),
    "College, groups, dollars, percent": (colleges_totals, "csv"),
    "Bikeshare, bars, hours as text": (bikes_hours, "csv"),
    "regimes, countries, dates in digits": (regimes_names, "csv"),
    "Auto, points that group digits": (origins_points, "csv"),
    "BrainCancer, 88 rows, ml": (cancers_small, "csv"),
}
