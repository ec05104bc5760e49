"""The certified search: a global optimum with a proof, by Lagrangian bounds in whitened coordinates."""

from surefoot.search.certified.answer import certificate, certified_search, is_robust, proven_robustness
from surefoot.search.certified.robustness import Robustness
from surefoot.search.certified.states import certified_states

__all__ = [
    "Robustness",
    "certificate",
    "certified_search",
    "certified_states",
    "is_robust",
    "proven_robustness",
]
