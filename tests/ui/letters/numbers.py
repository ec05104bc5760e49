"""The numbers and days that a letter prints, and those that its file has."""

import datetime as dt
import math
import re

from babel.dates import get_month_names

from surefoot.days import as_date


def numbers_of(text, code):
    """Every number of a text, as the language writes it."""
    group, point = {"en": (",", "."), "de": (".", ",")}[code]
    found = re.findall(rf"(?<![\w.,])-?\d+(?:\{group}\d{{3}})*(?:\{point}\d+)?(?![\w])", text)
    return [float(one.replace(group, "").replace(point, ".")) for one in found]


def known_numbers(document):
    """Every number of a file that a letter may print, reasons as a letter rounds them."""
    known = {float(v) for v in document["factual"]["values"] if isinstance(v, int | float)}
    known |= {
        float(v)
        for v in (document["counterfactual"] or {"values": ()})["values"]
        if isinstance(v, int | float)
    }
    for one in (document.get("enough") or {}).get("numbers", ()):
        known |= {float(v) for v in (one["low"], one["high"]) if isinstance(v, float)}
    known |= set(numbers_of(" ".join(document["conflict"]), "en"))  # of rules in the way
    example = (document.get("enough") or {}).get("not_enough")
    known |= {float(example["value"])} if example and isinstance(example["value"], int | float) else set()
    for reason in (document.get("reasons") or {}).get("features", ()):
        values = [float(v) for v in (reason["value"], reason["usual"]) if isinstance(v, int | float)]
        known |= {*values, *(float(f"{v:.0f}" if abs(v) >= 100 else f"{v:.3g}") for v in values)}
        known |= {math.floor(100 * reason["share"] + 0.5)} if reason["share"] is not None else set()
    return known


def split_days(text, code):
    """A text without its days, and these."""
    month, found = "|".join(get_month_names(locale=code).values()), []
    names = [*get_month_names(locale=code).values()]
    form = rf"({month}) (\d+), (\d{{4}})" if code == "en" else rf"(\d+)\. ({month}) (\d{{4}})"

    def taken(match):
        one, other, year = match.groups()
        name, day = (one, other) if code == "en" else (other, one)
        found.append(dt.date(int(year), names.index(name) + 1, int(day)))
        return " "

    return re.sub(form, taken, text), found


def known_days(document):
    """Every day of a file that a letter may print: as text, or a number where limits are."""
    enough = document.get("enough") or {"numbers": (), "not_enough": None}
    values = [*document["factual"]["values"], *(document["counterfactual"] or {"values": ()})["values"]]
    values += [
        r[key] for r in (document.get("reasons") or {}).get("features", ()) for key in ("value", "usual")
    ]
    numbers = [one[key] for one in enough["numbers"] for key in ("low", "high")]
    numbers += [enough["not_enough"]["value"]] if enough["not_enough"] else []
    days = {as_date(x) for x in numbers if isinstance(x, float) and 0 < x < 50_000}
    return days | {dt.date.fromisoformat(v) for v in values if re.fullmatch(r"\d{4}-\d\d-\d\d", str(v))}
