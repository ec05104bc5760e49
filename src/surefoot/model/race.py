"""Settings that race each other over held-out folds; those that cannot win any more drop out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from surefoot.bars import bar
from surefoot.defaults import EDGE_PENALTY
from surefoot.exceptions import StructureError
from surefoot.model.calibration import fit_calibration
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.fitting import FEW_ROUNDS, Learned, fitted_warps, joint_log, learned, warped
from surefoot.model.rows import TrainingRows

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
Folds = list[tuple[Codes, Codes]]

# Standard errors by which a setting must be behind the best one to be dropped. A tenth of it would drop some
# that win in the end; ten times as many would drop none, and large tables would take four times as long.
BEHIND = 3.0
# Held-out rows before anything is dropped. With ten times as many, no table would be chosen faster; with ten
# times fewer, tables of some hundred rows would be, which take a second anyway.
ENOUGH = 2_000
# Rows that scales are fitted to during the race. With ten times as many, scales would take most of the time;
# with ten times fewer, powers would be off by a tenth.
ROWS_FOR_SCALES = 5_000


class Setting(NamedTuple):
    """What networks are computed with; calibrations come afterwards."""

    structure: str
    marginals: str
    shrinkage: float
    cell_smoothing: float

    @property
    def basis(self) -> tuple[str, str]:
        """What its statistics depend on."""
        return self.structure, self.marginals


@dataclass(eq=False)
class Race:
    """Joint log probabilities of held-out rows under every setting that is still in it.

    After each fold the better one of a setting's losses, as it is and calibrated, is compared row by row
    with that of the setting that leads. One that is behind by more than three standard errors of the mean
    difference drops out (racing, after Maron and Moore, 1994); none before 2,000 rows have judged it.

    Parameters
    ----------
    rows : TrainingRows
    folds : list of (training rows, held-out rows)
    settings : list of Setting
    plain : list of features or None
    """

    rows: TrainingRows
    folds: Folds
    settings: list[Setting]
    plain: Any = None
    joints: dict[Setting, Array] = field(default_factory=dict)
    dropped: dict[Setting, Codes] = field(default_factory=dict)  # the rows that each was judged by

    @property
    def alive(self) -> list[Setting]:
        """Those that have not dropped out."""
        return [setting for setting in self.settings if setting not in self.dropped]

    def run(self) -> None:
        """Fold after fold."""
        shape = (len(self.rows.labels), len(self.rows.classes))
        self.joints = {setting: np.full(shape, np.nan) for setting in self.settings}
        with bar("choosing the model", "fit", len(self.folds) * len(self._bases())) as shown:
            for number, (train, test) in enumerate(self.folds, start=1):
                for _ in self._fold(train, test):
                    shown.update()
                seen = np.concatenate([held for _, held in self.folds[:number]])
                if number < len(self.folds) and len(seen) >= ENOUGH:
                    self._drop(seen)
                shown.total = shown.n + (len(self.folds) - number) * len(self._bases())

    def losses(self, setting: Setting, calibrated: bool) -> tuple[Codes, Array, float]:
        """The rows that judged a setting, its loss on each, and its accuracy.

        Calibrations are fitted to the predictions for other folds where there are any.
        """
        seen = self.dropped.get(setting, np.arange(len(self.rows.labels)))
        scores = self.joints[setting]
        if calibrated:
            scores = self._cross_calibrated(scores, seen)
        own, labels = scores[seen], self.rows.labels[seen]
        return seen, _losses(own, labels), float((own.argmax(axis=1) == labels).mean())

    def _bases(self) -> list[tuple[str, str]]:
        return list(dict.fromkeys(setting.basis for setting in self.alive))

    def _fold(self, train: Codes, test: Codes) -> Iterator[None]:
        """Fill in the rows of one fold; the statistics of a basis serve all that share it."""
        part, held = self.rows.part(train), self.rows.part(test)
        for structure, marginals, basis in self._learned(part):
            Z = warped(held.numbers, basis.warps)
            for setting in self.alive:
                if setting.basis == (structure, marginals):
                    clf = ConditionalGaussianNetworkClassifier(cell_smoothing=setting.cell_smoothing)
                    networks = basis.gathered.networks(clf, setting.shrinkage)
                    self.joints[setting][test] = joint_log(networks, basis.prior, Z, held.codes)
            yield

    def _learned(self, rows: TrainingRows) -> Iterator[tuple[str, str, Learned]]:
        """Graph and statistics of each basis; scales are fitted once for all graphs."""
        scales: dict[str, Any] = {}
        for structure, marginals in self._bases():
            given = {"marginals": marginals, "plain": self.plain, "edge_penalty": EDGE_PENALTY}
            clf = ConditionalGaussianNetworkClassifier(structure, **given)
            if marginals not in scales:
                some = slice(None, None, -(-len(rows.labels) // ROWS_FOR_SCALES))
                scales[marginals] = fitted_warps(clf, rows.part(some))
            try:
                found = learned(clf, rows, 0.0, scales[marginals], FEW_ROUNDS)
            except StructureError:  # it would have too many parameters
                self._leave_out((structure, marginals))
                continue
            yield structure, marginals, found

    def _leave_out(self, basis: tuple[str, str]) -> None:
        """Take all settings of a basis out of the race, as if they had never been in it."""
        self.settings = [setting for setting in self.settings if setting.basis != basis]
        if not self.alive:
            raise StructureError("no model of this table would have few enough parameters; leave columns out")

    def _drop(self, seen: Codes) -> None:
        """Settings that are behind by too much on the rows seen so far."""
        losses = {setting: self._better_losses(setting, seen) for setting in self.alive}
        best = min(losses.values(), key=lambda loss: float(loss.mean()))
        for setting, loss in losses.items():
            behind = loss - best
            if behind.mean() > BEHIND * behind.std() / np.sqrt(len(seen)) and behind.mean() > 0:
                self.dropped[setting] = seen

    def _better_losses(self, setting: Setting, seen: Codes) -> Array:
        """Of each row, as it is or calibrated, whichever is better in the mean."""
        joint, labels = self.joints[setting][seen], self.rows.labels[seen]
        both = _losses(joint, labels), _losses(fit_calibration(joint, labels)(joint), labels)
        return min(both, key=lambda loss: float(loss.mean()))

    def _cross_calibrated(self, joint: Array, seen: Codes) -> Array:
        """Scores of each fold, calibrated by the held-out predictions of the others."""
        found, labels = np.full_like(joint, np.nan), self.rows.labels
        folds = [test for _, test in self.folds if not np.isnan(joint[test[:1]]).any()]
        for test in folds:
            others = seen if len(folds) == 1 else np.setdiff1d(seen, test, assume_unique=True)
            found[test] = fit_calibration(joint[others], labels[others])(joint[test])
        return found


def settings_of(
    structures: Sequence[str], marginals: Sequence[str], shares: Sequence[float], smoothings: Sequence[float]
) -> list[Setting]:
    """All combinations, in the order in which they are tried."""
    return [Setting(s, m, a, r) for m in marginals for s in structures for r in smoothings for a in shares]


def _losses(scores: Array, labels: Codes) -> Array:
    """Log loss of each row."""
    return -np.asarray(log_softmax(scores, axis=1)[np.arange(len(scores)), labels])
