"""One thin file per solver: CAPABILITIES, is_available(), solve()."""

from surefoot.search.paper.backends.registry import Availability, available_backends, choose_backend, solve

__all__ = ["Availability", "available_backends", "choose_backend", "solve"]
