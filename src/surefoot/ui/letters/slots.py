"""Slots: what only the sender of a letter can say. A template names those that its letters show.

Templates say nothing about what a law asks for: who sends a letter fills in what applies.
"""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.exceptions import ProblemError
from surefoot.formats import suggestion
from surefoot.ui.letters.language import mark

SLOTS = {
    "sender": "name and address of the sender",
    "contact": "whom to ask: name, telephone, e-mail",
    "valid_until": "the day until which the sender stands by the letter, once it is signed",
    "correction": "how to have wrong data corrected",
    "sources": "where the data come from",
    "rights": "what the person may ask for, and by when",
    "review": "how to have the decision looked at by a person",
    "agency": "template us: agency that supplied data on the person, with address and telephone",
    "oversight": "template us: authority that oversees the sender, with address",
    "notice": "template us: the wording of a notice that has to be given",
    "officer": "template eu: who answers questions on data protection, with address",
    "authority": "template eu: authority to which the person can complain, with address",
}
# Lines of the part on rights: a slot, and what is said in front of it.
LINES = {
    "rights": mark("Your rights"),
    "review": mark("To have the decision looked at by a person"),
    "agency": mark("Information about you came from this agency, which did not take the decision"),
    "oversight": mark("Authority that oversees us"),
    "notice": mark("Notice"),
    "officer": mark("Questions on data protection"),
    "authority": mark("Where you can complain"),
}


@dataclass(frozen=True)
class Template:
    """Which slots the part on rights shows, in order."""

    name: str
    slots: tuple[str, ...]


TEMPLATES = {
    "neutral": Template("neutral", ("rights", "review")),
    "us": Template("us", ("notice", "agency", "oversight", "rights")),
    "eu": Template("eu", ("review", "rights", "officer", "authority")),
}


def template(name: str) -> Template:
    """The template with this name."""
    if name not in TEMPLATES:
        known = ", ".join(TEMPLATES)
        raise ProblemError(
            f"there is no template {name!r:.60}; there are {known}{suggestion(str(name), TEMPLATES)}"
        )
    return TEMPLATES[name]
