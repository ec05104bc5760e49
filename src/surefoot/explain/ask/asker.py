"""Asker: from a row and a target to a question, for one classifier and one specification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from surefoot.exceptions import ProblemError, SurefootError
from surefoot.explain.ask.asked import Asked
from surefoot.explain.ask.differing import NOTHING, Differing
from surefoot.explain.ask.imputation import Filled, filled
from surefoot.explain.ask.methods import Settings
from surefoot.explain.ask.question_builder import QuestionBuilder
from surefoot.explain.ask.refits import RefittedModels
from surefoot.explain.ask.refusal import Refusal
from surefoot.explain.ask.row import encoded, raw_values, split_rows, written_values
from surefoot.explain.ask.rung import Rung
from surefoot.explain.ask.specification import Specification
from surefoot.explain.ask.target import each_target, several_targets
from surefoot.explain.constraints.actions import Action, Actions
from surefoot.explain.constraints.category import Category
from surefoot.explain.constraints.constraint_set import ConstraintSet
from surefoot.explain.constraints.document import Preset
from surefoot.formats import sentence
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.problem.geometry import HUGE
from surefoot.unforeseen import unforeseen


class Row(NamedTuple):
    """A row of a batch, the targets of which the nearest is wanted, and what the row is called."""

    values: Any
    targets: tuple[Any, ...]
    label: Any


class Refused(NamedTuple):
    """A row about which nothing can be asked, and why."""

    row: Refusal
    why: str


@dataclass(frozen=True, eq=False)
class Asker:
    """Asks what an explainer asks: reads rows and targets, and keeps what questions have in common."""

    classifier: ConditionalGaussianNetworkClassifier
    spec: Specification
    refits: RefittedModels | None
    _builders: dict[Rung, QuestionBuilder] = field(default_factory=dict, init=False)

    @property
    def first(self) -> Rung:
        """The settings that a row is asked with first."""
        return Rung(self.spec.at_most)

    @property
    def final_builder(self) -> QuestionBuilder:
        """What asks when everything of the preset has given way, and without errors."""
        spec = self.spec
        at_most = None if "at_most" in spec.may_give_way else spec.at_most
        return self.builder(Rung(at_most, "plausible" not in spec.may_give_way, budget=False))

    def wanted(self, target: Any) -> Any:
        """The target, or the class that the classifier says is wanted."""
        return self.classifier.wanted_ if target is None else target

    def targets(self, target: Any) -> tuple[Any, ...]:
        """The targets of which the nearest is wanted."""
        return several_targets(self.wanted(target), self.classifier.classes_.tolist())

    def rows(self, rows: Any, target: Any) -> list[Row]:
        """Each row of a batch with its targets."""
        known = self.classifier.classes_.tolist()
        labels, single = split_rows(rows, self.classifier.feature_labels_)
        each = each_target(self.wanted(target), rows, len(single), known)
        every = zip(single, each, labels, strict=True)
        return [Row(values, several_targets(one, known), label) for values, one, label in every]

    def read(self, row: Any) -> Filled:
        """A row as numbers and categories; its holes filled if that was asked for."""
        clf = self.classifier
        found = Filled(*encoded(row, clf.schema_)) if self.spec.impute is None else filled(row, clf)
        if (np.abs(found.numbers) > HUGE).any():  # its square would be infinite
            k = int(np.abs(found.numbers).argmax())
            name = clf.feature_labels_[clf.schema_.numbers[k]]
            raise ProblemError(f"the row's value of {name!r} is too large: {found.numbers[k]:g}")
        return found._replace(written=written_values(row, clf.schema_, found.state))

    def asked(self, rung: Rung, row: Any, target: Any, label: Any, differing: Differing = NOTHING) -> Asked:
        """The question about a row. Unexpected errors, of numpy for instance, become a `ProblemError`."""
        try:
            return self.builder(rung).asked(self.read(row), target, label, differing)
        except SurefootError:
            raise
        except Exception as error:
            raise ProblemError(f"the question could not be asked: {unforeseen(error)}") from error

    def asked_or_refused(self, rung: Rung, row: Row, target: Any) -> Asked | Refused:
        """The question about a row of a batch, or why none can be asked."""
        names = self.classifier.feature_labels_
        try:
            return self.asked(rung, row.values, target, row.label)
        except ProblemError as error:
            why = sentence(str(error))
        try:
            values = raw_values(row.values, names)
        except Exception:  # not even the right number of values, or nothing that can be read
            values = [np.nan] * len(names)
        return Refused(self.builder(rung).refusal(values, target), why)

    def is_there(self, row: Row) -> bool:
        """Whether a row already has one of its targets; False for a row that cannot be read."""
        every = (self.asked_or_refused(self.first, row, target) for target in row.targets)
        return any(isinstance(asked, Asked) and asked.task.is_there for asked in every)

    def builder(self, rung: Rung) -> QuestionBuilder:
        """The builder for these settings; a new one after the classifier was fitted again."""
        known = self._builders.get(rung)
        if known is None or known.networks is not self.classifier.networks_:
            known = self._builders[rung] = self._new_builder(rung)
        return known

    def _new_builder(self, rung: Rung) -> QuestionBuilder:
        spec, clf = self.spec, self.classifier
        terms = spec.terms if rung.budget else spec.terms._replace(budget=0.0)
        low, high = clf.feature_percentiles_[:, list(clf.schema_.numbers)]
        return QuestionBuilder(
            clf,
            self._constraints(rung.at_most),
            terms if rung.plausible else terms._replace(plausible=None),
            method=spec.method,
            settings=Settings(spec.options, spec.paper, (low, high)),
            refits=self.refits,
            printable=spec.printable,
            preset=Preset(spec.preset, spec.beside_preset, tuple(str(name) for name in self.kept.features)),
        )

    def _constraints(self, at_most: int | None) -> ConstraintSet:
        spec, clf, schema = self.spec, self.classifier, self.classifier.schema_
        return ConstraintSet.by_name(
            clf.feature_labels_,
            categories=[
                Category(j, schema.names[j], schema.values[j] or (), schema.ordered[j])
                for j in schema.categories
            ],
            whole=[j for j in schema.numbers if schema.dates[j] or (schema.whole[j] and spec.whole is None)],
            dates=[j for j in schema.numbers if schema.dates[j]],
            actions=self._actions(at_most),
            bounds=spec.bounds,
            observed_range=clf.feature_range_,
            immutable=spec.immutable,
            increasing=spec.increasing,
            decreasing=spec.decreasing,
        )

    def _actions(self, at_most: int | None) -> Actions | None:
        """The user's actions, with features kept that a person cannot change, and the limit on changes."""
        found = self.spec.actions
        if self.kept.features:
            found = found or Actions()
            found = replace(found, features={**found.features, **self.kept.features})
        if at_most is not None:
            found = replace(found or Actions(), at_most=at_most)
        return found

    @cached_property
    def kept(self) -> Actions:
        """Dates, and features that a person cannot change, which stay unless the user names them."""
        spec = self.spec
        named = {*spec.immutable, *spec.increasing, *spec.decreasing}
        if isinstance(spec.bounds, Mapping):
            named |= {name for name, ends in spec.bounds.items() if not isinstance(ends, str)}
        proposed = Actions.proposed(self.classifier).without(named)
        if not spec.keep_personal:
            dates = self.classifier.schema_.date_names
            proposed = proposed.without(name for name in proposed.features if name not in dates)
        return proposed if spec.actions is None else proposed.without(spec.actions.named_to_change())

    @cached_property
    def unchangeable(self) -> tuple[Any, ...]:
        """The features that must stay as they are."""
        given = {} if self.spec.actions is None else self.spec.actions.features
        stays = [name for name, one in given.items() if isinstance(one, Action) and one.may == "stay"]
        return (*self.spec.immutable, *stays, *self.kept.features)
