"""What an explainer is asked for: its arguments checked, with the preset's values where none is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from os import PathLike
from typing import Any, Literal

from surefoot.exceptions import ProblemError
from surefoot.explain.ask.methods import GAPS, SMALLEST_GAP, Milp, as_method, chosen_method
from surefoot.explain.ask.plausible import checked_plausible
from surefoot.explain.ask.presets import PRESET, PRESETS, settled
from surefoot.explain.ask.terms import Terms
from surefoot.explain.constraints.actions import Actions
from surefoot.explain.constraints.constraint_set import DATA
from surefoot.plain import refuse_huge
from surefoot.search.paper.program import Options

NUMBERS = ("budget", "threshold", "decision", "gap", "time_limit", "bounds", "plausible", "models")


@dataclass(frozen=True, eq=False)
class Specification:
    """The arguments of a `CounterfactualExplainer`, checked and complete.

    Parameters
    ----------
    given : mapping
        The arguments as the user gave them; ``PRESET`` where the preset decides.
    preset : str
    from_preset : frozenset of str
        The arguments that come from the preset.
    method : str
        In one word.
    paper : Milp
        Options of the paper's methods.
    options : Options
    terms : Terms
    plausible, bounds, actions, at_most, whole, impute, printable, diagnose, immutable, increasing, decreasing
        As in `CounterfactualExplainer`.
    keep_personal : bool
        Whether features stay that a person cannot change.
    """

    given: Mapping[str, Any]
    preset: str
    from_preset: frozenset[str]
    method: str
    paper: Milp
    options: Options
    terms: Terms
    plausible: Any
    bounds: Any
    actions: Actions | None
    at_most: int | None
    whole: Literal[False] | None
    impute: Literal["expected"] | None
    printable: bool
    diagnose: bool
    immutable: tuple[Any, ...]
    increasing: tuple[Any, ...]
    decreasing: tuple[Any, ...]
    keep_personal: bool

    @classmethod
    def read(cls, given: Mapping[str, Any], paper: Mapping[str, Any]) -> Specification:
        """Check the arguments of an explainer; ``paper`` are options of the paper's methods by old names."""
        for name in NUMBERS:
            refuse_huge(name, given[name], ProblemError)
        method, options = chosen_method(given["method"], paper)
        asked = settled(given["preset"], given)
        _check_gap(method, asked["gap"])
        actions = _checked_actions(asked["bounds"], asked["actions"])
        from_preset = frozenset(name for name, value in given.items() if value is PRESET)
        if actions is not None and actions.at_most is not None:
            _check_said_once(asked["at_most"], actions.at_most, "at_most" in from_preset)
            asked["at_most"], from_preset = actions.at_most, from_preset - {"at_most"}
        if asked["impute"] not in (None, "expected"):
            raise ProblemError(f"impute must be None or 'expected', not {asked['impute']!r}")
        return cls(
            given={**given, "method": as_method(method, options)},
            from_preset=from_preset,
            method=method,
            paper=options,
            options=Options(
                time_limit=asked["time_limit"],
                gap=GAPS[method] if asked["gap"] is None else asked["gap"],
                threads=options.threads,
                verbose=options.verbose,
            ),
            terms=_terms(asked),
            actions=actions,
            at_most=Actions(at_most=asked["at_most"]).at_most,
            whole=_checked_whole(asked["whole"]),
            keep_personal=bool(asked["keep_personal"]),
            **{name: asked[name] for name in ("preset", "plausible", "bounds", "impute")},
            printable=_checked_truth("printable", asked["printable"]),
            diagnose=_checked_truth("diagnose", asked["diagnose"]),
            immutable=_listed("immutable", asked["immutable"]),
            increasing=_listed("increasing", asked["increasing"]),
            decreasing=_listed("decreasing", asked["decreasing"]),
        )

    @cached_property
    def may_give_way(self) -> frozenset[str]:
        """What comes from the preset and asks for something: it gives way before there is no answer."""
        budget = self.terms.budget
        asks = {"at_most": self.at_most is not None, "plausible": self.plausible is not None}
        asks["budget"] = not isinstance(budget, Mapping) and budget > 0
        return frozenset(name for name, something in asks.items() if something and name in self.from_preset)

    @property
    def beside_preset(self) -> tuple[str, ...]:
        """The arguments to which the user gave another value than the preset has."""
        return tuple(name for name, own in PRESETS[self.preset].items() if self._says_other(name, own))

    def _says_other(self, name: str, own: Any) -> bool:
        if name in self.from_preset or name not in self.given:
            return False
        value = self.given[name]
        return not isinstance(value, str | Real | None) or value != own


def _terms(asked: Mapping[str, Any]) -> Terms:
    names = ("norm", "whitening", "threshold", "budget", "noise_on", "decision", "distance", "against")
    plausible = checked_plausible(asked["plausible"])
    return Terms(**{name: asked[name] for name in names}, plausible=plausible).checked()


def _check_gap(method: str, gap: Any) -> None:
    if method == "certified" and gap is not None and isinstance(gap, Real) and 0 <= float(gap) < SMALLEST_GAP:
        raise ProblemError(f"the certified method proves gaps down to {SMALLEST_GAP:g}, not {gap!r}")


def _check_said_once(at_most: Any, in_actions: int, from_preset: bool) -> None:
    if not from_preset and at_most != in_actions:
        raise ProblemError(f"at_most is given twice: {at_most!r}, and {in_actions!r} in the actions")


def _checked_whole(whole: Any) -> Literal[False] | None:
    if whole is not None and whole is not False:
        raise ProblemError(f"whole must be None or False, not {whole!r}; see Action(whole=True)")
    return whole


def _checked_truth(name: str, given: Any) -> bool:
    if not isinstance(given, bool):
        raise ProblemError(f"{name} must be True or False, not {given!r}")
    return given


def _checked_actions(bounds: Any, actions: Any) -> Actions | None:
    if not (isinstance(bounds, Mapping) or bounds is None or (isinstance(bounds, str) and bounds == DATA)):
        raise ProblemError(f"bounds must be 'data', None or a dict, not {bounds!r}")
    if isinstance(actions, str | PathLike):
        return Actions.from_toml(actions)
    if actions is None or isinstance(actions, Actions):
        return actions
    raise ProblemError(f"actions must be a surefoot.Actions or the path of a file, not {actions!r}")


def _listed(what: str, features: Any) -> tuple[Any, ...]:
    if isinstance(features, str):
        raise ProblemError(f"{what} must be a list of features, not {features!r}")
    try:
        return tuple(features)
    except TypeError:
        raise ProblemError(f"{what} must be a list of features, not {features!r}") from None
