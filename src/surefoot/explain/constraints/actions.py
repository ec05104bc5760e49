"""Actions: what may happen to each feature, and constraints over several of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.constraints.at_most import AtMost
from surefoot.explain.constraints.constraint import Broken, Constraint, column_of
from surefoot.explain.constraints.feature import Action
from surefoot.explain.constraints.kinds import KINDS
from surefoot.explain.constraints.linear import Rule
from surefoot.model.adoption import adopt

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd

__all__ = ["Action", "Actions"]


@dataclass(frozen=True)
class Actions:
    """What may happen to each feature, and rules over several of them.

    Parameters
    ----------
    features : dict
        Feature -> `Action`, or one of the words ``"stay"``, ``"rise"``, ``"fall"``, ``"change"``. Features
        that are not named may change.
    rules : list of str or Rule
        Linear rules that an answer must satisfy, as text or as `Rule`: ``"rent + loan <= 0.4 * income"``.
        Names that are no plain words stand in backticks; ``income.now`` is today's value.
    when : list of (condition, consequence), optional
        If-then rules: where the condition holds, so does the consequence. Each is a text:
        ``"schooling rises"``, ``falls``, ``changes`` or ``stays``; ``"housing is own"``; or a rule,
        ``"age >= age.now + 2"``. On a number that takes any value, what lies beyond an end begins a
        millionth of its training range away from it, so that no rounding blurs on which side a value is.
    at_most : int, optional
        How many features change at most, categories included.
    at_most_of : list of (count, features), optional
        The same for some of the features.
    links : list of (feature, leader, factor), optional
        The feature changes by the factor times the change of the leader.
    constraints : list of Constraint, optional
        Constraints of any kind: `Rule`, and those of ``surefoot.explain.constraints.kinds``.
    reasons : dict, optional
        Feature -> why it has its action, in words. A comment: neither files nor comparisons know it.

    Examples
    --------
    >>> actions = Actions(
    ...     {"age": "stay", "cards": Action("fall", low=0, whole=True)}, rules=["rent <= 0.4 * income"]
    ... )
    >>> actions.features["age"]
    Action(may='stay')
    >>> actions.rules[0].coefficients
    {'rent': 1.0, 'income': -0.4}
    """

    features: Mapping[Any, Action | str] = field(default_factory=dict)
    rules: Sequence[Rule | str] = ()
    when: Sequence[tuple[str, str]] = ()
    at_most: int | None = None
    at_most_of: Sequence[tuple[int, Sequence[Any]]] = ()
    links: Sequence[tuple[Any, Any, float]] = ()
    constraints: Sequence[Constraint] = ()
    reasons: Mapping[Any, str] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.features, Mapping):
            raise ProblemError(f"actions must be a dict of feature -> action, not {self.features!r}")
        read = {name: _action(name, value) for name, value in self.features.items()}
        object.__setattr__(self, "features", read)
        for kind in KINDS:
            if kind.key in self.__dict__:
                given = _listed(kind.key, getattr(self, kind.key))
                object.__setattr__(self, kind.key, tuple(kind.read(entry) for entry in given))
        self._sort_in(_listed("constraints", self.constraints))
        if self.at_most is not None:
            AtMost.of_all(self.at_most)

    def _sort_in(self, constraints: Sequence[Any]) -> None:
        """Put constraints into the arguments of their kinds, where there are such."""
        wrong = [one for one in constraints if type(one) not in KINDS]
        if wrong:
            raise ProblemError(f"constraints must hold constraints of surefoot, not {wrong[0]!r:.80}")
        left = []
        for one in (one.validated() for one in constraints):
            if isinstance(one, AtMost) and one.features is None:
                if self.at_most is not None:
                    raise ProblemError("at_most is given twice")
                object.__setattr__(self, "at_most", one.most)
            elif one.key in self.__dict__:
                object.__setattr__(self, one.key, (*getattr(self, one.key), one))
            else:
                left.append(one)
        object.__setattr__(self, "constraints", tuple(left))

    @cached_property
    def over_several(self) -> tuple[Constraint, ...]:
        """All constraints over several features, in the order of their kinds."""
        every = () if self.at_most is None else (AtMost(self.at_most),)
        named = (one for kind in KINDS if kind.key in self.__dict__ for one in getattr(self, kind.key))
        found = (*every, *named, *self.constraints)
        return tuple(one for kind in KINDS for one in found if type(one) is kind)

    @property
    def added_up(self) -> tuple[Any, ...]:
        """The features that rules, links and if-then rules add up: a model must measure them on plain scales.

        Examples
        --------
        >>> Actions(rules=["debt <= 0.4 * income", "age <= 90"]).added_up
        ('debt', 'income')
        """
        return tuple(dict.fromkeys(name for one in self.over_several for name in one.added_up()))

    @classmethod
    def proposed(cls, classifier: Any) -> Actions:
        """Features that stay: dates, and what names say is age, sex, origin, the past, and the like.

        Names are read in English, German, French and Spanish. They are guesses: look at `reasons`.

        Parameters
        ----------
        classifier : fitted classifier

        Examples
        --------
        >>> from surefoot import ConditionalGaussianNetworkClassifier, datasets
        >>> pima = datasets.load_pima()
        >>> Actions.proposed(ConditionalGaussianNetworkClassifier().fit(pima.X, pima.y)).reasons["age"]
        'its name says how old someone or something is, which only time changes'
        """
        from surefoot.explain.constraints.proposals import proposals

        found = proposals(adopt(classifier).schema_)
        reasons = {name: reason for name, (_, reason) in found.items()}
        return cls({name: action for name, (action, _) in found.items()}, reasons=reasons)

    def without(self, features: Iterable[Any]) -> Actions:
        """The same without the actions of some features."""
        names = {str(name) for name in features}
        left = {name: action for name, action in self.features.items() if str(name) not in names}
        return replace(self, features=left, reasons={n: r for n, r in self.reasons.items() if n in left})

    def named_to_change(self) -> Iterator[Any]:
        """The features that these say something about: by an action, a link, or an if-then rule."""
        yield from self.features
        for one in self.over_several:
            yield from one.named() if one.frees else ()

    @classmethod
    def from_toml(cls, source: str | PathLike[str]) -> Actions:
        r"""Read actions from a TOML file, or from a text that `to_toml` gave.

        Parameters
        ----------
        source : path or str
            Text with a line break is TOML itself.

        Examples
        --------
        >>> Actions.from_toml('[features]\nincome = { may = "rise", most = 2000 }').features
        {'income': Action(may='rise', most=2000)}
        """
        from surefoot.explain.constraints.file import read_toml  # which makes actions

        return read_toml(source)

    def to_toml(self) -> str:
        """The actions as the text of a TOML file."""
        from surefoot.explain.constraints.file import toml_text

        return toml_text(self)

    @staticmethod
    def template(classifier: Any) -> str:
        """A commented TOML file with every feature of a fitted classifier, its kind and range or values."""
        from surefoot.explain.constraints.file import template_text

        return template_text(classifier)

    def check(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Which rows of a table break which end, set of values, rule or if-then rule as they are today.

        Returns
        -------
        DataFrame
            One line for each: ``row``, ``feature`` (None for a rule), ``wish`` in words and the ``value``
            that breaks it (of a rule: the sum that it compares with its ends; of an if-then rule: None).
        """
        import pandas as pd  # processes that only search start without it

        if not isinstance(frame, pd.DataFrame):
            raise DataError(f"a DataFrame is needed, not {type(frame).__name__}")
        found: list[Broken] = []
        for name, action in self.features.items():
            found += cast(Action, action).broken(name, column_of(frame, name, "actions"))
        found += [broken for one in self.over_several for broken in one.broken(frame)]
        found.sort(key=lambda one: one.row)
        table = pd.DataFrame(found, columns=list(Broken._fields), dtype=object)
        table["row"] = [frame.index[one.row] for one in found]
        return table


def _listed(name: str, given: Any) -> Sequence[Any]:
    if not isinstance(given, list | tuple) or isinstance(given, Constraint):
        raise ProblemError(f"{name} must be a list, not {given!r:.80}")
    return given


def _action(name: Any, value: Any) -> Action:
    if isinstance(value, Action):
        return value
    if not isinstance(value, str):
        raise ProblemError(f"the action of {name!r} must be an Action or a word, not {value!r}")
    try:
        return Action(value)  # type: ignore[arg-type]
    except ProblemError as error:
        raise ProblemError(f"{name!r}: {error}") from None
