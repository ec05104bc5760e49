"""The kinds of constraints over several features. To add one: a file with a `Constraint`, and a line here."""

from __future__ import annotations

from surefoot.explain.constraints.at_most import AtMost
from surefoot.explain.constraints.constraint import Constraint
from surefoot.explain.constraints.if_then import When
from surefoot.explain.constraints.linear import Rule
from surefoot.explain.constraints.link import Link

# In the order in which answers name them.
KINDS: tuple[type[Constraint], ...] = (
    Rule,
    Link,
    When,
    AtMost,
)
