"""Audit: who provably has no recourse, what stands in the way, and what it costs whom, by groups."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from surefoot import __version__
from surefoot.exceptions import ProblemError
from surefoot.explain.ask.asked import Asked
from surefoot.explain.ask.row import split_rows
from surefoot.explain.ask.target import chosen_target
from surefoot.explain.constraints.arithmetic import is_number
from surefoot.explain.population.cases import (
    COLUMNS,
    COUNTS,
    FOUND,
    NO_SINGLE,
    NONE,
    UNASKED,
    UNREAD,
    Cases,
    cases_of,
)
from surefoot.explain.population.columns import as_frame, result_columns
from surefoot.explain.population.going_on import explained_into
from surefoot.explain.population.groups import EVERYBODY, Groups, grouped
from surefoot.explain.population.journal import Journal
from surefoot.explain.population.one_action import OneAction, one_action
from surefoot.explain.population.pool import finished
from surefoot.explain.population.regions import regions
from surefoot.explain.population.row_job import SEVERAL, Job, Row
from surefoot.explain.population.run import digest, fingerprints
from surefoot.explain.rows.batch_explainer import check_n_jobs
from surefoot.files import write_whole
from surefoot.formats import in_a_row, listed, one_line
from surefoot.problem.question import Question
from surefoot.table.stream import streamed
from surefoot.table.writing import csv_text
from surefoot.views import view

if TYPE_CHECKING:
    from surefoot.explain.explainer import CounterfactualExplainer

# What groups are compared by; the others are counts, ends of intervals and words.
COMPARED = ("none_share", "cost_median", "cost_90", "burden")
METHODS = ("between_groups", "to_overall")
# Rows asked below which a group is too small to judge. Ten times larger, and most groups would be called so.
FEW = 30
ALL = "(all)"
TABLES = ("groups", "blame", "changes", "reasons", "cautions", "table")


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """What recourse a population has; `CounterfactualExplainer.audit` makes it.

    Parameters
    ----------
    explainer : CounterfactualExplainer
    frame : DataFrame
        The rows that were asked about.
    target : label
    ci : float
        Level of the intervals.
    groups : Groups
    cases : Cases
        What became of each row.
    explained : DataFrame
        The table of explanations, as `CounterfactualExplainer.explain_table` makes it.
    """

    explainer: CounterfactualExplainer
    frame: pd.DataFrame
    target: Any
    ci: float
    groups: Groups
    cases: Cases
    explained: pd.DataFrame

    @cached_property
    def overall(self) -> pd.Series:
        """The figures of all rows together, by the columns of `by_group`."""
        every = np.arange(len(self.frame))
        return pd.Series(self.cases.figures(every, self.ci, self.cases.cap), dtype=object, name="overall")

    @cached_property
    def by_group(self) -> pd.DataFrame:
        """The figures of each group that occurs; groups are the index.

        ``rows``; ``asked``, those that are not decided as the target: ``found`` of them have a way, for
        ``none`` it is proven that there is none, ``undecided`` are the rest. ``none_share`` is ``none`` of
        ``asked`` with the ends of its interval, whose upper end counts those that are undecided.
        ``cost_median`` and ``cost_90``: half, and nine tenths, of those asked need no more; no way is an
        infinite cost. ``burden``: mean cost of those asked, each counted up to the cost that nine in ten of
        all who have a way stay below. ``blamed``: restrictions that stand in the way by themselves, with the
        number of rows.
        """
        cap, places = self.cases.cap, self._places
        lines = [self.cases.figures(rows, self.ci, cap) for rows in places.values()]
        table = pd.DataFrame(lines, columns=list(COLUMNS), index=self.groups.index(list(places)))
        return table.astype(dict.fromkeys(COUNTS, "int64"))

    @property
    def is_grouped(self) -> bool:
        """Whether groups were asked for; else everybody is in one."""
        return self.groups.orders != ((EVERYBODY,),)

    def regrouped(self, by: Any) -> Audit:
        """The same audit by other groups; nothing is searched again.

        Parameters
        ----------
        by : name, dict, Series, array, or a list of these, optional
            As in `CounterfactualExplainer.audit`.
        """
        return replace(self, groups=grouped(self.frame, by))

    @cached_property
    def alone(self) -> tuple[Audit, ...]:
        """The same audit by each thing alone that rows are grouped by, where these are several."""
        return tuple(replace(self, groups=groups) for groups in self.groups.alone)

    def difference(self, method: str = "between_groups") -> pd.Series:
        """How far groups are apart in shares and costs; groups in which nobody was asked are left out.

        Parameters
        ----------
        method : {"between_groups", "to_overall"}
            The largest difference of two groups, or of a group to all rows. Two infinite costs do not differ.
        """
        if method not in METHODS:
            raise ProblemError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
        return pd.Series({name: self._difference(name, method) for name in COMPARED}, dtype=float)

    def _difference(self, name: str, method: str) -> float:
        values = self.by_group[name].dropna().to_numpy(float)
        if not len(values):
            return float("nan")
        if method == "between_groups":
            return _apart(values.max(), values.min())
        return max(_apart(value, float(self.overall[name])) for value in values)

    @cached_property
    def table(self) -> pd.DataFrame:
        """The table of explanations, with the group of each row in columns ``group: NAME``."""
        labels = self.groups.labels.set_axis(self.explained.index, axis=0)
        labels = labels.set_axis([f"group: {name}" for name in self.groups.names], axis=1)
        return pd.concat([self.explained.iloc[:, :1], labels, self.explained.iloc[:, 1:]], axis=1)

    @cached_property
    def blame(self) -> pd.DataFrame:
        """By group: restrictions in the way, in how many rows without a way, and in which share of them."""
        return self._counted("blamed", "restriction", self.cases.kind == NONE)

    @cached_property
    def changes(self) -> pd.DataFrame:
        """By group: features that change, in how many of the ways found, and in which share of them."""
        return self._counted("changed", "feature", self.cases.kind == FOUND)

    @cached_property
    def reasons(self) -> pd.DataFrame:
        """By group: features among the principal reasons, for how many of those asked, and which share."""
        return self._counted("principal", "feature", self.cases.asked)

    @cached_property
    def cautions(self) -> pd.DataFrame:
        """By group: codes of cautions, for how many of those asked, and which share."""
        return self._counted("cautions", "caution", self.cases.asked)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What there is to say about the rows and groups before anybody reads the figures."""
        found, asked = [*self._crossed(), *self.groups.notes, *self._unread()], self.by_group["asked"]
        few = int(np.sum(asked < FEW))
        if few and self.is_grouped:
            which = f"in {few} of {len(asked)} groups fewer than {FEW} rows are asked"
            found.append(f"{which}, too few to judge them by; figures of these are marked (few)")
        return tuple(found)

    def _crossed(self) -> list[str]:
        """What groups are where rows are grouped by several things."""
        names = [one_line(repr(name)) for name in self.groups.names]
        if len(names) < 2:
            return []
        said = f"groups are combinations of {in_a_row(names)}"
        return [f"{said}; those by one of them alone come first, and each row counts in several lines"]

    def _unread(self) -> list[str]:
        """How many rows are not asked, and how many of them would be if their holes were filled."""
        rows = self.frame.loc[self.cases.kind == UNREAD, list(self.explainer.classifier.feature_labels_)]
        if not len(rows):
            return []
        said = f"{len(rows)} of {len(self.frame)} rows cannot be read by the model, and are not asked"
        holes = int(rows.isna().any(axis=1).sum())
        if not holes or self.explainer.impute is not None:
            return [said]
        which = "they have holes" if holes == len(rows) else f"{holes} of them have holes"
        return [f"{said}: {which}, which impute='expected' fills"]

    @cached_property
    def about(self) -> dict[str, str]:
        """What a later audit must have in common with this one: fingerprints and versions."""
        features = list(self.explainer.classifier.feature_labels_)
        labels = self.groups.labels.set_axis(self.frame.index, axis=0)
        content = pd.concat([self.frame[features], labels], axis=1).to_csv(index=False)
        known = fingerprints(self.explainer)
        return {
            "model": " ".join(known["model"]),
            "question": known["question"],
            "actions": known["actions"],
            "rows and groups": sha256(content.encode("utf-8", "backslashreplace")).hexdigest()[:16],
            "surefoot": __version__,
            "python": platform.python_version(),
            "numpy, scipy, pandas": f"{np.__version__}, {scipy.__version__}, {pd.__version__}",
        }

    @cached_property
    def question(self) -> Question | None:
        """What was asked about the first row that is not decided as the target; None where none could be."""
        places = np.flatnonzero(self.cases.asked)
        row = self.frame.iloc[places[0] if len(places) else 0]
        asked = _question(self.explainer, row, self.target)
        return None if asked is None else asked.question

    def regions(self, depth: int = 2, *, most: int = 20, time_limit: float = 60.0) -> pd.DataFrame:
        """The largest boxes over one or two features in which it is proven that nobody has a way.

        Parameters
        ----------
        depth : {1, 2}
            How many features a box is over.
        most : int, default=20
            How many boxes at most.
        time_limit : float, default=60
            Seconds; what is found by then is returned.

        Returns
        -------
        DataFrame
            One line for each box that holds rows of the table, most rows first, none contained in another:
            ``region`` (as `CounterfactualExplainer.nobody` takes it), ``words``, ``rows`` of the table in
            it, ``asked`` (those that are not decided as the target: all of them), ``proof`` (a `Nobody`).
        """
        return regions(self.explainer, self._features, self.target, depth, most=most, time_limit=time_limit)

    def one_action(self, group: Any = None, most: int = 2, **settings: Any) -> OneAction:
        """The one change that serves the largest share of those asked in a group.

        Parameters
        ----------
        group : label or tuple, optional
            As in the index of `by_group`. Default: everybody who was asked.
        most : int, default=2
            How many features change at most.
        **settings
            ``price`` and ``share``, as in `CounterfactualExplainer.one_action`. What the audit found for each
            row bounds what any change could do; ``explanations=None`` searches that anew, with at most
            ``most`` changes, which gives better bounds.
        """
        rows = self._asked_in(group)
        known = {"explanations": self.explained.iloc[rows], **settings}
        return one_action(self.explainer, self._features.iloc[rows], self.target, most, **known)

    def _asked_in(self, group: Any) -> NDArray[np.intp]:
        """The places of those who were asked in a group."""
        key = group if isinstance(group, tuple) else (group,)
        if group is not None and key not in self._places:
            known = listed([name[0] if len(name) == 1 else name for name in self._places])
            raise ProblemError(f"there is no group {group!r}; the groups are {known}")
        rows = np.arange(len(self.frame)) if group is None else self._places[key]
        rows = rows[self.cases.asked[rows]]
        if not len(rows):
            raise ProblemError(f"nobody is asked in {'the table' if group is None else f'group {group!r}'}")
        return rows

    @property
    def _features(self) -> pd.DataFrame:
        return self.frame[list(self.explainer.classifier.feature_labels_)]

    def plot(self, axes: Any = None, max_groups: int = 24) -> Any:
        """Draw shares without a way and costs by group, with intervals; returns the two Axes."""
        return view("audit plot", self, axes=axes, max_groups=max_groups)

    def to_csv(self, path: str | os.PathLike[str] | None = None, which: str = "groups") -> str | None:
        """Write a table as CSV that spreadsheets open without running what is in it.

        Parameters
        ----------
        path : path, optional
            Left out: the text is returned.
        which : {"groups", "blame", "changes", "reasons", "cautions", "table"}
            The figures of all rows and of each group; one of the counts; or the table of explanations.
        """
        if which not in TABLES:
            raise ProblemError(f"which must be one of {', '.join(TABLES)}, not {which!r}")
        text = csv_text(self._as_written(which))
        if path is None:
            return text
        write_whole(path, text)
        return None

    def _as_written(self, which: str) -> pd.DataFrame:
        if which == "table":
            return self.table
        if which != "groups":
            return _flat(getattr(self, which))
        first = pd.DataFrame([[ALL] * len(self.groups.names)], columns=self.groups.names, dtype=object)
        whole = pd.concat([first, self.overall.to_frame().T.reset_index(drop=True)], axis=1)
        return pd.concat([whole, _flat(self.by_group)], ignore_index=True) if self.is_grouped else whole

    def _counted(self, what: str, name: str, among: NDArray[np.bool_]) -> pd.DataFrame:
        keys, lines = [], []
        for key, rows in self._places.items():
            there = rows[among[rows]]
            for one, count in self.cases.counted(what, there):
                keys.append(key)
                lines.append((one, count, count / len(there)))
        return pd.DataFrame(lines, columns=[name, "rows", "share"], index=self.groups.index(keys))

    @cached_property
    def _places(self) -> dict[tuple[Any, ...], NDArray[np.intp]]:
        return self.groups.places()

    def __repr__(self) -> str:
        return f"<Audit of {len(self.frame)} rows in {len(self.by_group)} groups for {self.target}>"

    def __str__(self) -> str:
        return str(view("audit text", self))

    def _repr_html_(self) -> str:
        return str(view("audit page", self))


def audit(
    explainer: CounterfactualExplainer,
    frame: Any,
    target: Any = None,
    by: Any = None,
    *,
    n_jobs: int | None = 1,
    ci: float = 0.95,
    progress: bool = True,
) -> Audit:
    """Who provably has no recourse, what stands in the way, and what it costs whom, by groups.

    Parameters
    ----------
    frame : DataFrame
        Its columns hold the features; others may say who belongs together.
    target : label, optional
        The class that all should have. Left out: the one that the classifier says is wanted.
    by : name, dict, Series, array, or a list of these, optional
        Columns of the frame, features or not; ``{"age": [25, 40, 60]}`` are bands of a number (below 25,
        25 to below 40, ...); a Series or an array has a value for each row. Several make intersections.
        Rows without a value are a group of their own.
    n_jobs : int, default=1
        Processes; -1 takes all cores.
    ci : float, default=0.95
        Level of the intervals: Clopper and Pearson's for shares, bootstrap for quantiles of costs. They
        take the rows for a random sample of the population.
    progress : bool, default=True
        Show a progress bar on stderr.

    Returns
    -------
    Audit
        ``overall``, ``by_group``, ``difference()``, ``table`` and so on.

    Examples
    --------
    >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
    >>> bank = datasets.load_banknote()
    >>> clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
    >>> explainer = CounterfactualExplainer(clf, immutable=["variance"], increasing=["skewness"])
    >>> audit = explainer.audit(bank.X.iloc[::40], 1, by={"entropy": [-1]}, progress=False)
    >>> audit.by_group[["rows", "asked", "found", "none"]]
                  rows  asked  found  none
    entropy
    below -1        10      4      2     2
    -1 and above    25     15     13     2
    """
    return audited(explainer, frame, target, by, n_jobs=n_jobs, ci=ci, progress=progress)


def audited(
    explainer: CounterfactualExplainer,
    frame: Any,
    target: Any,
    by: Any,
    *,
    n_jobs: int | None,
    ci: float,
    progress: bool,
    journal: Journal | None = None,
    resume: bool = True,
) -> Audit:
    """The same; with a journal it goes on from the rows that are finished there, whatever the groups are."""
    from joblib import effective_n_jobs
    from tqdm.auto import tqdm

    clf = explainer.classifier
    _check(frame, ci, n_jobs)
    wanted = _one_target(explainer, target)
    split = split_rows(frame, clf.feature_labels_)
    groups = grouped(frame, by)
    job = Job(explainer, wanted, result_columns(clf, SEVERAL))
    rows = (Row(k, label, list(cells)) for k, (label, cells) in enumerate(zip(*split, strict=True)))
    if journal is not None:
        journal.begin(_about(job, frame), resume)
    with tqdm(total=len(frame), desc="explaining", unit="row", disable=not progress) as bar:
        lines = _lines(job, rows, effective_n_jobs(n_jobs), bar, journal)
    table = as_frame(job.columns, lines, frame.index)
    accepted = _accepted(explainer, frame, wanted, table)
    otherwise = NO_SINGLE if explainer.diagnose else UNASKED
    cases = cases_of(table, accepted, clf.feature_labels_, otherwise)
    return Audit(explainer, frame, wanted, float(ci), groups, cases, table.drop(columns=list(SEVERAL)))


def _about(job: Job, frame: pd.DataFrame) -> dict[str, Any]:
    """What must be the same when an audit goes on, by the keys of the manifest; groups may be others."""
    features = frame[list(job.explainer.classifier.feature_labels_)]
    return {
        **fingerprints(job.explainer),
        "target": repr(job.target),
        "time_limit": job.explainer.options.time_limit,
        "table": streamed(features).fingerprint,
        "columns": digest(list(job.columns)),
        "version": __version__,
    }


def _lines(job: Job, rows: Iterable[Row], n_jobs: int, bar: Any, journal: Journal | None) -> list[list[Any]]:
    """The lines of all rows, in order."""
    found: dict[int, list[Any]] = {}
    if journal is not None:
        explained_into(journal, job, rows, n_jobs, bar)
        for segment in journal.segments():
            found |= {number: one.line for number, one in journal.records(segment).items()}
    else:
        for done in finished(job, rows, n_jobs):
            found[done.number] = done.line
            bar.update()
    return [found[number] for number in sorted(found)]


def _check(frame: Any, ci: Any, n_jobs: Any) -> None:
    if not isinstance(frame, pd.DataFrame):
        raise ProblemError(f"an audit takes a DataFrame, not {type(frame).__name__}")
    if not len(frame):
        raise ProblemError("an audit needs rows: the table has none")
    if not is_number(ci) or not 0 < float(ci) < 1:
        raise ProblemError(f"ci must be a number between 0 and 1, not {ci!r}")
    check_n_jobs(n_jobs)


def _one_target(explainer: CounterfactualExplainer, target: Any) -> Any:
    """The class that everybody should have."""
    labels, wanted = explainer.classifier.classes_.tolist(), explainer.asker.wanted(target)
    if wanted is None:
        raise ProblemError(f"an audit needs a target; the classes are {', '.join(map(repr, labels))}")
    if np.ndim(wanted):
        raise ProblemError(f"an audit is about one target, not {wanted!r}")
    return labels[labels.index(chosen_target(wanted, labels, 0))]


def _accepted(
    explainer: CounterfactualExplainer, frame: pd.DataFrame, target: Any, table: pd.DataFrame
) -> NDArray[np.bool_]:
    """Which rows are decided as the target, threshold included; also where a search made that safer."""
    found = (table["status"] == "already_target").to_numpy(bool, copy=True)
    for k in np.flatnonzero(~found & (table["status"] != "invalid").to_numpy(bool)):
        asked = _question(explainer, frame.iloc[k], target)
        found[k] = asked is not None and asked.problem.here.margin(asked.problem.factual) >= 0
    return found


def _question(explainer: CounterfactualExplainer, row: pd.Series, target: Any) -> Asked | None:
    """What is asked about a row first; None where it cannot be read."""
    try:
        return explainer.asker.asked(explainer.asker.first, row, target, row.name)
    except ProblemError:
        return None


def _apart(one: float, other: float) -> float:
    return 0.0 if one == other else abs(one - other)


def _flat(table: pd.DataFrame) -> pd.DataFrame:
    """The groups as columns; a column may be called like one of the figures."""
    levels = [table.index.get_level_values(k) for k in range(table.index.nlevels)]
    groups = pd.DataFrame(dict(enumerate(levels))).set_axis(list(table.index.names), axis=1)
    return pd.concat([groups.astype(object), table.reset_index(drop=True)], axis=1)
