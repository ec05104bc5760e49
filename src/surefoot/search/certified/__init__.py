"""The certified search: a global optimum with a proof, by Lagrangian bounds in whitened coordinates."""

from surefoot.search.certified.answer import CertifiedAnswer, certified_search

__all__ = ["CertifiedAnswer", "certified_search"]
