"""What a batch says in a few sentences: the page of many rows opens with it."""

from __future__ import annotations

import statistics
from collections import Counter

from surefoot.explain.population.table import reason
from surefoot.explain.result.batch import Explanations, principal_features
from surefoot.formats import in_list
from surefoot.status import Status

MOST_COUNTED = 8  # lines of a count; ten times as many would hide the first ones
WHY = {
    "constraints": "Restrictions stand in the way",
    "no_allowed_change": "No allowed change is enough",
    "plausible": "No answer is as typical as asked for",
    "invalid_row": "The row cannot be read",
    "time_limit": "The time limit was reached first",
    "undecided": "Nothing was found, and nothing proven",
}


def batch_answer(batch: Explanations) -> list[str]:
    """The answer in a few sentences, in which every row is counted."""
    accepted = [e for e in batch if e.status is Status.ALREADY_TARGET]
    asked = len(batch) - len(accepted)
    if not asked:
        return [f"All {len(batch):,} rows are decided as wanted already."]
    changed = [e for e in batch.found if e.status is not Status.ALREADY_TARGET]
    there = f"{len(accepted):,} of {len(batch):,} rows are decided as wanted already. " if accepted else ""
    others = "other" if accepted else "row"
    lines = [f"{there}For {len(changed):,} of the {asked:,} {others}{'s' * (asked != 1)} a change is enough."]
    numbers = [len(e.changed) for e in changed if e.changed]
    if numbers:
        often = Counter(feature for e in changed for feature in e.changed).most_common(3)
        named = ", ".join(f"{in_list(str(name))} ({count:,})" for name, count in often)
        middle = statistics.median_low(numbers)
        few = "a single feature" if middle == 1 else f"{middle} features or fewer"
        who = "All of them" if middle == max(numbers) else "Half of them or more"
        lines.append(f"{who} change {few}; most often: {named}.")
    proven = sum(e.status is Status.INFEASIBLE for e in batch)
    unread = sum(e.status is Status.INVALID for e in batch)
    open_ = asked - len(changed) - proven - unread
    if proven:
        lines.append(f"For {proven:,} it is proven that no allowed change is enough.")
    if unread or open_:
        said = [f"{unread:,} cannot be read"] * bool(unread)
        said += [f"{open_:,} {'is' if open_ == 1 else 'are'} undecided"] * bool(open_)
        lines.append(f"Of the rest, {' and '.join(said)}.")
    return lines


def why_none(batch: Explanations) -> list[tuple[str, int]]:
    """Why rows have no counterfactual, counted; and which constraints stand in the way, several in some."""
    reasons = Counter(reason(e) for e in batch if e.answer.point is None)
    found = [(WHY.get(word, word.replace("_", " ")), count) for word, count in reasons.most_common()]
    blamed = Counter(words for e in batch if e.answer.point is None for words in e.conflict)
    return [*found, *((f"in the way: {words}", count) for words, count in blamed.most_common(MOST_COUNTED))]


def counted_reasons(batch: Explanations) -> list[tuple[str, int]]:
    """Features among the principal reasons against the target, counted over the rows that have any."""
    features = Counter(feature for e in batch for feature in principal_features(e))
    return [(str(feature), count) for feature, count in features.most_common(MOST_COUNTED)]


def counted_cautions(batch: Explanations) -> list[tuple[str, int]]:
    """In how many rows each code of a caution occurs; of equal counts the first to occur comes first."""
    codes = Counter(code for e in batch for code in dict.fromkeys(caution.code for caution in e.cautions))
    return [(code.replace("_", " "), count) for code, count in codes.most_common(MOST_COUNTED)]
