"""The certified search: a global optimum with a proof, by Lagrangian bounds in whitened coordinates.

Where to find what (docs/certified.md derives it):

- From a problem to an answer: ``answer``; ``active`` (many requirements), ``among_all`` and
  ``shares`` (a probability among all classes), ``currency`` (units), ``clock``.
- The problem in coordinates: ``space``, ``fork`` (eithers), ``prices``, ``noise`` (the ball).
- The tree: ``search``; ``branching`` cuts; ``emptiness`` and ``contradiction`` need no bounds.
- The bound of one region: ``bounds``; ``region``, ``rows`` and ``lagrangian`` state it, ``stationary`` and
  ``interior`` find its multipliers, ``wedges`` adds products, ``levels`` lowers it.
- Points: ``points``; ``local`` steps, ``sphere`` starts, ``ways`` decides eithers, ``polish`` tidies up.
- Robustness: ``robustness``, ``adversary``; ``boxes`` (the largest box around a point).
- Allowed values: ``lattice``; ``frame``, ``majorant`` and ``peak`` bound it, ``rounding`` finds points,
  ``entries`` makes its leaves.
- At most so many changes: ``subsets``; ``changes`` and ``narrowing`` are its choices, ``promise`` ranks them,
  ``climb`` finds few, ``bunches``, ``side_by_side``, ``slices``, ``stacks``, ``typical`` and ``together``
  refute them, ``settling`` cuts.
- Categories: ``states``, ``cover``; ``uphill`` leads to a first state with a point.
- The innermost loops of ``stacks``, ``interior``, ``frame`` and ``majorant`` in C: ``kernel``, kernel.c.
- The certificate: ``leaf``, ``proof``, ``grafting``, ``decided``, ``units``.
"""

from surefoot.search.certified.answer import certificate, certified_search, is_robust, proven_robustness
from surefoot.search.certified.climb import few_enough
from surefoot.search.certified.robustness import Robustness
from surefoot.search.certified.states import certified_states, refuted_at_once

__all__ = [
    "Robustness",
    "certificate",
    "certified_search",
    "certified_states",
    "few_enough",
    "is_robust",
    "proven_robustness",
    "refuted_at_once",
]
