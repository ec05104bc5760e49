"""Odd and faulty columns, each with the line that is printed about it, what it holds, and what is noted."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

from surefoot.datasets import read_table
from surefoot.exceptions import DataError
from surefoot.table.kinds_text import kinds_text

N = 60
RNG = np.random.default_rng(8)
AMOUNTS = RNG.lognormal(8, 1, N).round(2)
AGES = RNG.integers(18, 80, N)
TENTH = np.arange(N) % 10 == 0


def repeated(*values):
    return [values[k % len(values)] for k in range(N)]


def grouped(sign, decimal="."):
    return [f"{v:,.2f}".replace(".", "#").replace(",", sign).replace("#", decimal) for v in AMOUNTS]


# What a column holds; how it is read, why, and what to say to have it otherwise; its first value; notes.
COLUMNS = {
    "narrow blanks": (
        grouped("\u202f", ","),
        "number: numbers with decimals",
        "--categorical 'narrow blanks'",
        524.13,
        [],
    ),
    "typeset quotes": (
        grouped("\u2019"),
        "number: numbers with decimals",
        "--categorical 'typeset quotes'",
        524.13,
        [],
    ),
    "francs before": (
        [f"CHF {v}" for v in grouped("'")],
        "number: numbers with decimals, in CHF",
        "--categorical 'francs before'",
        524.13,
        [],
    ),
    "euros behind": (
        [f"{v} EUR" for v in grouped("")],
        "number: numbers with decimals, in EUR",
        "--categorical 'euros behind'",
        524.13,
        [],
    ),
    "a minus before": (
        [f"-€ {v}" for v in grouped(",")],
        "number: numbers with decimals, in €",
        "--categorical 'a minus before'",
        -524.13,
        [],
    ),
    "per cent": (
        [f"{k / 8:.1f} %".replace(".", ",") for k in range(N)],
        "number: numbers with decimals, in %",
        "--categorical 'per cent'",
        0.0,
        [],
    ),
    "some per cent": (
        [f"{k % 37}%" if k % 3 else str(k % 37) for k in range(N)],
        "whole: whole numbers, in %",
        "--categorical 'some per cent'",
        0.0,
        [],
    ),
    "rupees": (
        repeated("₹ 1,23,456", "₹ 12,34,567", "₹ 45,678", "₹ 5,000"),
        "whole: whole numbers, 4 values: may also be a category, in ₹",
        "--categorical rupees",
        123456.0,
        [],
    ),
    "sums": (
        [f"{87 * k + 1:,}" for k in range(N)],
        "whole: whole numbers",
        "--categorical sums",
        1.0,
        [
            "'sums': 1,045 is read as 1045, since numbers below 1000 have none "
            "(--decimal-comma sums says otherwise)"
        ],
    ),
    "exponents": (
        [f"{v:.3e}" for v in AMOUNTS],
        "number: numbers with decimals",
        "--categorical exponents",
        524.1,
        [],
    ),
    "wahr": (
        repeated("WAHR", "FALSCH", "wahr"),
        "category: text, 2 values",
        "--text wahr",
        "yes",
        ["'wahr': FALSCH, WAHR, wahr are read as yes and no"],
    ),
    "ja": (
        repeated("ja", "Nein", "Ja", "nein", "-"),
        "category: text, 2 values",
        "--text ja",
        "yes",
        ["'ja': Ja, Nein, ja, nein are read as yes and no", "'ja': '-' is taken as missing"],
    ),
    "capitals": (
        repeated("Own", "own", "rent"),
        "category: text, 3 values",
        "--text capitals",
        "Own",
        ["'capitals': 'Own' and 'own' differ in capitals only, and are kept apart"],
    ),
    "truth and holes": (
        repeated(True, False, None),
        "category: truth values",
        "--text 'truth and holes'",
        True,
        ["20 missing values in 'truth and holes'"],
    ),
    "nullable truth": (
        pd.array(repeated(True, False, pd.NA), dtype="boolean"),
        "category: truth values",
        "--text 'nullable truth'",
        True,
        ["20 missing values in 'nullable truth'"],
    ),
    "nullable whole": (
        pd.array(repeated(1, 2, 3, pd.NA, 5, 9, 12, 13, 14, 15, 16, 17), dtype="Int64"),
        "whole: whole numbers",
        "--categorical 'nullable whole'",
        1.0,
        ["5 missing values in 'nullable whole'"],
    ),
    "nullable text": (
        pd.array(repeated("a", "b", pd.NA), dtype="string"),
        "category: text, 2 values",
        "--text 'nullable text'",
        "a",
        ["20 missing values in 'nullable text'"],
    ),
    "a category": (
        pd.Categorical(repeated("a", "b", "c")),
        "category: a category of 3 values in the table",
        "--text 'a category'",
        "a",
        [],
    ),
    "codes 3, 6, 7": (
        pd.Categorical(repeated(3, 6, 7)),
        "category: a category of 3 values in the table",
        "--text 'codes 3, 6, 7'",
        3,
        [],
    ),
    "intervals": (
        pd.cut(pd.Series(AMOUNTS), [0, 2000, 5000, 1e6]),
        "ordered: ordered in the table",
        "--categorical intervals",
        "(0.0, 2000.0]",
        [],
    ),
    "bytes": (
        repeated(b"own", b"rent"),
        "category: text, 2 values",
        "--text bytes",
        "own",
        [],
    ),
    "decimals": (
        [Decimal(k) / 4 for k in range(N)],
        "number: numbers with decimals",
        "--categorical decimals",
        0.0,
        [],
    ),
    "fractions": (
        [Fraction(k, 7) for k in range(N)],
        "number: numbers with decimals",
        "--categorical fractions",
        0.0,
        [],
    ),
    "periods": (
        pd.period_range("2020-01", periods=N, freq="M"),
        "date: dates",
        "--categorical periods",
        "2020-01-01",
        [],
    ),
    "clock": (
        [dt.time(k % 3, 5) for k in range(N)],
        "category: text, 3 values",
        "--text clock",
        "00:05:00",
        [],
    ),
    "days and hours": (
        pd.date_range("2020-01-01", periods=N, freq="17h"),
        "date: dates",
        "--categorical 'days and hours'",
        "2020-01-01",
        ["'days and hours': the time of day is left out"],
    ),
    "a time zone": (
        pd.date_range("2020-01-01", periods=N, tz="Europe/Berlin"),
        "date: dates",
        "--categorical 'a time zone'",
        "2020-01-01",
        [],
    ),
    "dates and text": (
        [dt.date(2020, 1, 1 + k % 28) if k % 2 else "15.03.2021" for k in range(N)],
        "date: day first: '15.03.2021'",
        "--categorical 'dates and text'",
        "2021-03-15",
        [],
    ),
    "two orders of dates": (
        [f"2020-01-{1 + k % 28:02}" if k % 2 else f"{1 + k % 28:02}.03.2021" for k in range(N)],
        "date: day first: '13.03.2021'",
        "--categorical 'two orders of dates'",
        "2021-03-01",
        [],
    ),
    "afternoons": (
        [f"03/{1 + k % 28:02}/2021 2:{k:02} PM" for k in range(N)],
        "date: month first: '03/13/2021 2:12 PM'",
        "--categorical afternoons",
        "2021-03-01",
        ["'afternoons': the time of day is left out"],
    ),
    "some with a clock": (
        [f"{1 + k % 28:02}.03.2021" + " 14:05" * (k % 3 == 0) for k in range(N)],
        "date: day first: '13.03.2021 14:05'",
        "--categorical 'some with a clock'",
        "2021-03-01",
        ["'some with a clock': the time of day is left out"],
    ),
    "month by number": (
        [f"2021-{1 + k % 12:02}" for k in range(N)],
        "date: months: '2021-01'",
        "--categorical 'month by number'",
        "2021-01-01",
        ["'month by number': months are read as their first day"],
    ),
    "month by name": (
        repeated("Dec-2015", "Jan-2016", "Feb-2016"),
        "date: months: 'Dec-2015'",
        "--categorical 'month by name'",
        "2015-12-01",
        ["'month by name': months are read as their first day"],
    ),
    "1er mars": (
        repeated("1er mars 2021", "2 mars 2021", "3 avril 2021"),
        "date: the month is a word",
        "--categorical '1er mars'",
        "2021-03-01",
        [],
    ),
    "de marzo": (
        repeated("5 de marzo de 2021", "7 de abril de 2021", "9 de mayo de 2022"),
        "date: the month is a word",
        "--categorical 'de marzo'",
        "2021-03-05",
        [],
    ),
    "gennaio": (
        [f"{1 + k % 28} gennaio 2021" for k in range(N)],
        "date: the month is a word",
        "--categorical gennaio",
        "2021-01-01",
        [],
    ),
    "999 and 998": (
        np.where(TENTH, 999, np.where(np.arange(N) % 11 == 5, 998, AGES)),
        "whole: whole numbers",
        "--categorical '999 and 998'",
        999.0,
        [
            "'999 and 998': 999 in 6 rows looks like a hole; say --missing '999 and 998' 999 if it is one",
            "'999 and 998': 998 in 5 rows looks like a hole; say --missing '999 and 998' 998 if it is one",
        ],
    ),
    "glucose": (
        np.where(TENTH, -1, AGES),
        "whole: whole numbers",
        "--categorical glucose",
        -1.0,
        ["'glucose': -1 in 6 rows looks like a hole; say --missing glucose -1 if it is one"],
    ),
    "losses": (
        np.where(TENTH, -999, RNG.normal(0, 3, N).round(1)),
        "number: numbers with decimals",
        "--categorical losses",
        -999.0,
        ["'losses': -999 in 6 rows looks like a hole; say --missing losses -999 if it is one"],
    ),
    "rates": (
        np.where(TENTH, 9999, RNG.random(N).round(3)),
        "number: numbers with decimals",
        "--categorical rates",
        9999.0,
        ["'rates': 9999 in 6 rows looks like a hole; say --missing rates 9999 if it is one"],
    ),
    "twenty digits": (
        [10**20 + k for k in range(N)],
        "identifier: differs in nearly every row (60 values): left out",
        "--categorical 'twenty digits'",
        None,
        [],
    ),
    "uuid": (
        [str(UUID(int=k * 10**30)) for k in range(N)],
        "identifier: differs in nearly every row (60 values): left out",
        "--categorical uuid",
        None,
        [],
    ),
    "patient_no": (
        RNG.permutation(range(70_000, 70_000 + 13 * N, 13)),
        "identifier: whole numbers that name or count the rows (60 values): left out",
        "--numeric patient_no",
        None,
        [],
    ),
    "plz": (
        RNG.choice([10115, 20095, 50667, 80331], N),
        "code: its name says so; 4 values",
        "--numeric plz",
        50667,
        [],
    ),
    "versions": (
        repeated("1.0.2", "1.1.0", "2.0.0"),
        "category: text, 3 values",
        "--text versions",
        "1.0.2",
        [],
    ),
    "minus zero": (
        repeated(-0.0, 0.0),
        "constant: 0 in every row: left out",
        "",
        None,
        [],
    ),
    "blanks": (
        ["  "] * N,
        "constant: missing in every row: left out",
        "",
        None,
        ["blanks removed around values of 'blanks'", "60 missing values in 'blanks'"],
    ),
    "one of many": (
        [1] * (N - 1) + [2],
        "category: two values, 1 and 2",
        "--numeric 'one of many'",
        1,
        [],
    ),
    "without cents": (
        [f"CHF {v}.-" for v in range(1200, 1200 + 7 * N, 7)],
        "whole: whole numbers, in CHF",
        "--categorical 'without cents'",
        1200.0,
        [],
    ),
    "without cents, in groups": (
        [f"€ {v:,.0f},-".replace(",", ".", 1) for v in range(1200, 1200 + 7 * N, 7)],
        "whole: whole numbers, in €",
        "--categorical 'without cents, in groups'",
        1200.0,
        [],
    ),
    "months with points": (
        repeated("03.2012", "11.2013", "06.2012", "10.2014"),
        "date: months: '03.2012'",
        "--categorical 'months with points'",
        "2012-03-01",
        ["'months with points': months are read as their first day"],
    ),
    "short months": (
        repeated("Aug-99", "Jan-04", "Dec-12"),
        "date: months: 'Aug-99'",
        "--categorical 'short months'",
        "1999-08-01",
        [
            "'short months': months are read as their first day",
            "'short months': years of two digits are read as 1969 to 2068",
        ],
    ),
    "days without a year": (
        repeated("Aug-29", "Jan-04", "Dec-12"),
        "category: text, 3 values",
        "--text 'days without a year'",
        "Aug-29",
        [],
    ),
    "weekdays in front": (
        [f"Thu, {1 + k % 28} Jul 2022" for k in range(N)],
        "date: the month is a word",
        "--categorical 'weekdays in front'",
        "2022-07-01",
        [],
    ),
    "long weekdays in front": (
        [f"Thursday, July {1 + k % 28}, 2022" for k in range(N)],
        "date: the month is a word",
        "--categorical 'long weekdays in front'",
        "2022-07-01",
        [],
    ),
    "zones of hours": (
        [f"2022-07-{1 + k % 28:02} 14:05:00+02" for k in range(N)],
        "date: year first",
        "--categorical 'zones of hours'",
        "2022-07-01",
        ["'zones of hours': the time of day is left out"],
    ),
    "French months": (
        repeated("3 janv. 2021", "14 févr. 2021", "1 déc. 2020", "9 juil. 2020"),
        "date: the month is a word",
        "--categorical 'French months'",
        "2021-01-03",
        [],
    ),
    "three or more": (
        repeated("0", "1", "2", "3+"),
        "ordered: 4 values: 0 < ... < 3+",
        "--categorical 'three or more'",
        "0",
        [],
    ),
    "three or more, in Excel": (
        repeated(0, 1, 2, "3+"),
        "ordered: 4 values: 0 < ... < 3+",
        "--categorical 'three or more, in Excel'",
        "0",
        [],
    ),
    "years of service": (
        repeated("< 1 year", "1 year", "2 years", "10+ years"),
        "ordered: 4 values: < 1 year < ... < 10+ years",
        "--categorical 'years of service'",
        "< 1 year",
        [],
    ),
    "departments": (
        repeated("01", "75", "2A", "33", "59"),
        "code: begins with a zero; 5 values",
        "--text departments",
        "01",
        [],
    ),
    "agreement": (
        repeated("agree", "Strongly agree", "disagree"),
        "ordered: 3 values: disagree < ... < Strongly agree",
        "--categorical agreement",
        "agree",
        [],
    ),
    "times of day": (
        [f"{8 + k // 6}:{k * 7 % 60:02}" for k in range(N)],
        "number: times of day or durations, in minutes: '8:00' is 480",
        "--categorical 'times of day'",
        480.0,
        [],
    ),
    "hours": (
        [f"{8 + k % 9:02}:00" for k in range(N)],
        "category: text, 9 values",
        "--text hours",
        "08:00",
        [],
    ),
    "Dutch postcodes": (
        [f"{1000 + k % 30} {'AB' if k % 2 else 'XY'}" for k in range(N)],
        "category: text, 30 values",
        "--text 'Dutch postcodes'",
        "1000 XY",
        [],
    ),
    "thousands": (
        [f"{200 + 3 * k}k" for k in range(N)],
        "whole: whole numbers, in k",
        "--categorical thousands",
        200.0,
        [],
    ),
    "units with a power": (
        [f"{18 + k / 8:.1f} kg/m2" for k in range(N)],
        "number: numbers with decimals, in kg/m2",
        "--categorical 'units with a power'",
        18.0,
        [],
    ),
    "detection limits": (
        ["<0.1" if k % 20 == 0 else f"{k / 8:.2f}" for k in range(N)],
        "number: numbers with decimals; 3 values such as '<0.1' are read as 0.1",
        "--categorical 'detection limits'",
        0.1,
        ["'detection limits': 3 values such as '<0.1' are read as 0.1"],
    ),
    "both limits, with a unit": (
        ["< 0,1 mg/l", "> 200 mg/l", *(f"{k / 8:.2f} mg/l".replace(".", ",") for k in range(2, N))],
        "number: numbers with decimals, in mg/l; 2 values such as '< 0,1 mg/l' and '> 200 mg/l' are read as "
        "0.1 and 200",
        "--categorical 'both limits, with a unit'",
        0.1,
        [
            "'both limits, with a unit': 2 values such as '< 0,1 mg/l' and '> 200 mg/l' are read as 0.1 and "
            "200",
        ],
    ),
    "limits in Excel": (
        ["≤5" if k % 20 == 0 else 6 + k for k in range(N)],
        "whole: whole numbers; 3 values such as '≤5' are read as 5",
        "--categorical 'limits in Excel'",
        5.0,
        ["'limits in Excel': 3 values such as '≤5' are read as 5"],
    ),
    "ages with an end": (
        ["90+" if k % 20 == 0 else str(29 + k) for k in range(N)],
        "whole: whole numbers; 3 values such as '90+' are read as 90",
        "--categorical 'ages with an end'",
        90.0,
        ["'ages with an end': 3 values such as '90+' are read as 90"],
    ),
    "x or nothing": (
        repeated("x", "X", "", None, "x"),
        "category: 'x' in 36 of 60 rows, nothing in the others: (blank)",
        "--text 'x or nothing'",
        "x",
        [],
    ),
    "yes or nothing": (
        repeated("", "yes", "Y"),
        "category: 'yes' in 40 of 60 rows, nothing in the others: (blank)",
        "--text 'yes or nothing'",
        "(blank)",
        [],
    ),
    "x or a dash": (
        repeated("x", "-"),
        "category: 'x' in 30 of 60 rows, nothing in the others: (blank)",
        "--text 'x or a dash'",
        "x",
        ["'x or a dash': '-' is taken as missing"],
    ),
    "1 or nothing": (
        repeated(1, None, None),
        "category: '1' in 20 of 60 rows, nothing in the others: (blank)",
        "--text '1 or nothing'",
        "1",
        [],
    ),
    "one word or nothing": (
        repeated("EUR", None),
        "constant: EUR in every row that has it: left out",
        "--categorical 'one word or nothing'",
        None,
        ["30 missing values in 'one word or nothing'"],
    ),
    "shares and per cent": (
        [f"{40 + k % 50}%" if k % 3 else f"{k / 100:.2f}" for k in range(N)],
        "number: numbers with decimals, in %",
        "--categorical 'shares and per cent'",
        0.0,
        [
            "'shares and per cent': 41% in row 1, but 0.03 in row 3 and 18 more rows: shares or per cent? "
            "They are read as 0.03 % and the like; write all in one way",
        ],
    ),
    "thousands in some": (
        repeated(*(f"{200 + 3 * k}k" if k % 2 else f"{1500 + 70 * k}" for k in range(30))),
        "code: letters and digits; 30 values",
        "--text 'thousands in some'",
        "1500",
        [
            "'thousands in some': numbers in several units (none, k); write them in one to have them as "
            "numbers",
        ],
    ),
    "births in two digits": (
        [f"{1 + k % 28:02}.05.{(35 + k) % 100:02}" for k in range(N)],
        "date: day first: '13.05.47'",
        "--categorical 'births in two digits'",
        "1935-05-01",
        ["'births in two digits': years of two digits are read as 1895 to 1994"],
    ),
    "dates and marks": (
        ["x" if k % 20 == 7 else "unknown" if k == 8 else f"{1 + k % 28:02}.03.2021" for k in range(N)],
        "date: day first: '13.03.2021'",
        "--categorical 'dates and marks'",
        "2021-03-01",
        ["'dates and marks': 'x', 'unknown' is taken as missing"],
    ),
    "birth date": (
        [f"{1 + k % 28:02}.05.{2 + k % 53:02}" for k in range(N)],
        "date: day first: '13.05.14'",
        "--categorical 'birth date'",
        "1902-05-01",
        ["'birth date': years of two digits are read as 1855 to 1954"],
    ),
    "births of children": (
        [f"{1 + k % 28:02}.05.{2 + k % 23:02}" for k in range(N)],
        "date: day first: '13.05.14'",
        "--categorical 'births of children'",
        "2002-05-01",
        ["'births of children': years of two digits are read as 1969 to 2068"],
    ),
    "quarters": (
        [f"{2019 + k % 4}Q{1 + k % 3}" for k in range(N)],
        "date: quarters: '2019Q1'",
        "--categorical quarters",
        "2019-01-01",
        ["'quarters': quarters are read as their first day"],
    ),
    "quarters in front": (
        [f"Q{2 + k % 3} {2019 + k % 4}" for k in range(N)],
        "date: quarters: 'Q2 2019'",
        "--categorical 'quarters in front'",
        "2019-04-01",
        ["'quarters in front': quarters are read as their first day"],
    ),
    "weeks": (
        [f"{2019 + k % 4}-W{1 + k % 52:02}" for k in range(N)],
        "date: weeks: '2019-W01'",
        "--categorical weeks",
        "2018-12-31",
        ["'weeks': weeks are read as their first day"],
    ),
    "months in digits": (
        [(2019 + k % 4) * 100 + 1 + k % 12 for k in range(N)],
        "date: year and month in digits",
        "--numeric 'months in digits'",
        "2019-01-01",
        [],
    ),
    "amounts of six digits": (
        [(2019 + k % 4) * 100 + 1 + k % 19 for k in range(N)],
        "whole: whole numbers",
        "--categorical 'amounts of six digits'",
        201901.0,
        [],
    ),
    "French times": (
        [f"{8 + k // 6}h{k * 7 % 60:02}" for k in range(N)],
        "number: times of day or durations, in minutes: '8h00' is 480",
        "--categorical 'French times'",
        480.0,
        [],
    ),
    "years and months": (
        [f"{k % 9} years {k % 12} months" for k in range(N)],
        "number: durations, in months: '0 years 0 months' is 0",
        "--categorical 'years and months'",
        0.0,
        [],
    ),
    "short years and months": (
        [f"{k % 9}yrs {k % 12}mon" for k in range(1, N + 1)],
        "number: durations, in months: '1yrs 1mon' is 13",
        "--categorical 'short years and months'",
        13.0,
        [],
    ),
    "durations of ISO": (
        [f"P{k % 9}Y{k % 12}M" for k in range(N)],
        "number: durations, in months: 'P0Y0M' is 0",
        "--categorical 'durations of ISO'",
        0.0,
        [],
    ),
    "years, singular and plural": (
        ["1 year" if k % 12 == 0 else f"{1 + k % 12} years" for k in range(N)],
        "whole: whole numbers, in year",
        "--categorical 'years, singular and plural'",
        1.0,
        [],
    ),
    "high and low": (
        [f"{k / 8:.1f}" + " H" * (k > 50) + " L" * (k < 5) for k in range(N)],
        "number: numbers with decimals; 14 values such as '0.0 L' and '7.4 H' are read as 0 and 7.4",
        "--categorical 'high and low'",
        0.0,
        ["'high and low': 14 values such as '0.0 L' and '7.4 H' are read as 0 and 7.4"],
    ),
    "stars": (
        [f"{k / 8:.1f}" + "*" * (k == 7) for k in range(N)],
        "number: numbers with decimals; '0.9*' is read as 0.9",
        "--categorical stars",
        0.0,
        ["'stars': '0.9*' is read as 0.9"],
    ),
    "about": (
        [f"~{k}" if k % 30 == 0 else str(k * k) for k in range(1, N + 1)],
        "whole: whole numbers; 2 values such as '~30' and '~60' are read as 30 and 60",
        "--categorical about",
        1.0,
        ["'about': 2 values such as '~30' and '~60' are read as 30 and 60"],
    ),
    "numbered answers": (
        repeated("1 - never", "5 - always", "3 - sometimes", "2 - rarely", "4 - often"),
        "ordered: 5 values: 1 - never < ... < 5 - always",
        "--categorical 'numbered answers'",
        "1 - never",
        [],
    ),
    "ends with words": (
        repeated("1 (not at all)", "2", "3", "4 (very much)"),
        "ordered: 4 values: 1 (not at all) < ... < 4 (very much)",
        "--categorical 'ends with words'",
        "1 (not at all)",
        [],
    ),
    "a numbered list": (
        repeated("1. single", "2. married", "3. divorced"),
        "category: text, 3 values",
        "--text 'a numbered list'",
        "1. single",
        [],
    ),
    "Med": (
        repeated("Low", "High", "Med"),
        "ordered: 3 values: Low < ... < High",
        "--categorical Med",
        "Low",
        [],
    ),
    "stages": (
        repeated("Stage II", "Stage I", "Stage IV"),
        "ordered: 3 values: Stage I < ... < Stage IV",
        "--categorical stages",
        "Stage II",
        [],
    ),
    "urine": (
        repeated("negative", "trace", "2+", "1+"),
        "ordered: 4 values: negative < ... < 2+",
        "--categorical urine",
        "negative",
        [],
    ),
    "bands of money": (
        repeated("$25,000 - $49,999", "Less than $25,000", "$50,000 or more"),
        "ordered: 3 values: Less than $25,000 < ... < $50,000 or more",
        "--categorical 'bands of money'",
        "$25,000 - $49,999",
        [],
    ),
    "bands of thousands": (
        repeated("25k-50k", "<25k", ">50k"),
        "ordered: 3 values: <25k < ... < >50k",
        "--categorical 'bands of thousands'",
        "25k-50k",
        [],
    ),
    "words and digits of truth": (
        repeated("Y", "1", "N", "0"),
        "category: text, 2 values",
        "--text 'words and digits of truth'",
        "yes",
        ["'words and digits of truth': 0, 1, N, Y are read as yes and no"],
    ),
    "blanks inside": (
        repeated("own  home", "own home", "rent"),
        "category: text, 3 values",
        "--text 'blanks inside'",
        "own  home",
        ["'blanks inside': 'own  home' and 'own home' differ in blanks only, and are kept apart"],
    ),
    "text for a spreadsheet": (
        [f'="{k * k}"' if k % 2 else f"'{k * k}" for k in range(4, N + 4)],
        "whole: whole numbers",
        "--categorical 'text for a spreadsheet'",
        16.0,
        [],
    ),
    "marks of databases": (
        ["\\N" if k % 9 == 4 else "not done" if k % 9 == 5 else f"{k / 8}" for k in range(N)],
        "number: numbers with decimals",
        "--categorical 'marks of databases'",
        0.0,
        [
            "14 missing values in 'marks of databases'",
            "'marks of databases': 'not done' is taken as missing",
        ],
    ),
    "first date": (
        [44_000 + 13 * k for k in range(N)],
        "whole: whole numbers",
        "--categorical 'first date'",
        44000.0,
        [
            "'first date': 44000 may be a day as Excel counts them, 2020-06-18; "
            "say --date 'first date' if it is"
        ],
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_each_column_is_read_and_said(name):
    values, said, change, first, notes = COLUMNS[name]
    found = read_table(pd.DataFrame({"other": np.linspace(0.1, 3, N) ** 2, name: values}))
    row = found.kinds.loc[name]
    assert f"{row['kind']}: {row['why']}" == said
    assert row["change"] == change
    assert list(found.notes) == notes
    if first is None:
        assert name in found.left_out
    else:
        value = found.frame[name].iloc[0]
        assert (str(value.date()) if isinstance(value, pd.Timestamp) else value) == first


def test_every_line_is_printed_in_80_columns():
    for name, (values, said, _, _, _) in COLUMNS.items():
        text = kinds_text(
            read_table(pd.DataFrame({"other": np.linspace(0.1, 3, N) ** 2, name: values})).kinds
        )
        assert max(map(len, text.splitlines())) <= 80
        kind, why = said.split(": ", 1)
        assert kind in text
        assert "".join(why.split())[:12] in "".join(text.split())


def test_there_are_thirty_and_more():
    assert len(COLUMNS) >= 30


def test_letters_that_are_no_pair_of_yes_and_no_stay_what_they_are():
    frame = pd.DataFrame(
        {"other": AMOUNTS, "tumour": repeated("T", "N", "F"), "risk": repeated("t", "f", "n")}
    )
    found = read_table(frame, "risk")
    assert found.kinds.loc["tumour", "why"] == "text, 3 values"
    assert sorted(found.y.unique()) == ["f", "n", "t"]
    mixed = read_table(frame.assign(risk=repeated("t", "f", "Y", "n", "No")), "risk")
    assert sorted(mixed.y.unique()) == ["no", "yes"]


@pytest.mark.parametrize(
    ("cell", "what"), [([1, 2], "a list"), ({"a": 1}, "a dict"), ((1,), "a tuple"), ({3}, "a set")]
)
def test_cells_that_hold_several_values_are_refused_in_one_line(cell, what):
    frame = pd.DataFrame({"other": AMOUNTS, "odd": [cell] * N})
    with pytest.raises(DataError, match=rf"^column 'odd' holds {what} in a cell, .* leave it out") as error:
        read_table(frame)
    assert "\n" not in str(error.value)
    assert read_table(frame, drop=["odd"]).frame.columns.tolist() == ["other"]
