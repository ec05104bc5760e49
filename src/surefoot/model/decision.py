"""What a classifier hands to a problem: log-odds and log densities as quadratics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.model.calibration import Calibration
from surefoot.model.mixed import MixedNetwork, Network
from surefoot.model.network import LinearGaussianNetwork
from surefoot.problem.mixed import Factor, MixedQuadratic, State
from surefoot.problem.quadratic import Quadratic

Array = NDArray[np.float64]


def numbers_network(network: Network, state: State) -> LinearGaussianNetwork:
    """The network of the numbers for one state; without categories, the network itself."""
    return network.given(state) if isinstance(network, MixedNetwork) else network


@dataclass(frozen=True, eq=False)
class NumbersLogDensity:
    """The log density of the numbers in one class for a state; unlike a closure it can be sent elsewhere."""

    network: Network

    def __call__(self, state: State) -> Quadratic:
        """Without the probabilities of the categories."""
        return numbers_network(self.network, state).log_density_quadratic()


@dataclass(frozen=True, eq=False)
class NumbersLogOdds:
    """(log density in one class - in another + offset) / temperature + shift, for a state.

    Parameters
    ----------
    target, rival : networks
    offset : float
        Difference of the log priors.
    temperature, shift : float
        Calibration.
    """

    target: Network
    rival: Network
    offset: float
    temperature: float = 1.0
    shift: float = 0.0

    def __call__(self, state: State) -> Quadratic:
        """Without the probabilities of the categories."""
        target, rival = (NumbersLogDensity(network)(state) for network in (self.target, self.rival))
        H = target - rival + self.offset
        if self.temperature != 1.0:
            T = self.temperature
            H = Quadratic(H.matrix / T, H.vector / T, H.constant / T, H.center)
        return H + self.shift if self.shift else H


def log_density_quadratic(network: Network) -> MixedQuadratic:
    """The log density of one class."""
    if isinstance(network, MixedNetwork):
        return MixedQuadratic(NumbersLogDensity(network), network.shaping, network.factors)
    return MixedQuadratic(NumbersLogDensity(network))


def log_odds(
    networks: tuple[Network, ...], prior: Array, classes: tuple[int, int], calibration: Calibration | None
) -> MixedQuadratic:
    """Log-odds of one class against another.

    Parameters
    ----------
    networks : tuple
    prior : array of shape (n_classes,)
    classes : (int, int)
        Positions of the two.
    calibration : Calibration, optional
    """
    t, r = classes
    log_prior = np.log(prior)
    T = 1.0 if calibration is None else calibration.temperature
    shift = 0.0 if calibration is None else calibration.shifts[t] - calibration.shifts[r]
    given = NumbersLogOdds(networks[t], networks[r], float(log_prior[t] - log_prior[r]), T, shift)
    target, rival = networks[t], networks[r]
    if not (isinstance(target, MixedNetwork) and isinstance(rival, MixedNetwork)):
        return MixedQuadratic(given)
    pairs = zip(target.factors, rival.factors, strict=True)
    factors = tuple(Factor(a.categories, (a.table - b.table) / T) for a, b in pairs)
    return MixedQuadratic(given, target.shaping, factors)
