"""Who made a method: this project, or a paper; and which of two rows of a paper's method is its default."""

from __future__ import annotations

import re
from collections.abc import Collection

from paramid.contracts import descriptions
from paramid.words.naming import Name

OURS = frozenset(
    {"sphere-lm", "far-lines", "peel", "entangled-gauge", "kinks", "boundary-bends", "hermite-fused", "densenet-lm",
     "densenet-als", "threshold-boundary"}
)  # fmt: skip
SURNAME = r"[A-ZŞÖÜ][\w'’-]+"


def ours(method: str) -> bool:
    """Whether a method is this project's, whatever it builds upon."""
    return Name.parse(method.partition(" on ")[0]).base in OURS


def paper(reference: str) -> str:
    """The first paper of a reference in a word: `Carlini et al. 2020`."""
    reference = reference.partition(";")[0]
    names = re.search(rf"{SURNAME}(?:, {SURNAME})* & {SURNAME}", reference) or re.search(SURNAME, reference)
    if not names:
        return ""
    surnames = re.split(", | & ", names[0])
    years = re.search(r"arXiv:(\d\d)\d\d\.|\b((?:19|20)\d\d)\b", reference[names.end() :])
    year = f" {years[2] or f'20{years[1]}'}" if years else ""
    return (" & ".join(surnames) if len(surnames) < 3 else f"{surnames[0]} et al.") + year


def origin(method: str) -> str:
    """`ours`, the name of the paper, or nothing where nobody here knows."""
    source = descriptions.of("methods", method.partition(" on ")[0])
    return "ours" if ours(method) else paper(source.reference) if source else ""


def tuning(method: str, beside: Collection[str]) -> str:
    """`default` or `tuned`: of a published method of which both stand in one table."""
    plain, _, device = method.partition(" on ")
    base, ending = Name.parse(plain).base, f" on {device}" if device else ""
    others = [m for m in beside if m != method and Name.parse(m.partition(" on ")[0]).base == base]
    if ours(method) or not others:
        return ""
    return "default" if plain == base else "tuned" if f"{base}{ending}" in others else ""
