"""What options may be, for `__post_init__`: a ValueError names the first that came otherwise, and what was wanted.

None passes everywhere: whether an option may be left open is said by its type.
"""

from collections.abc import Collection
from dataclasses import fields
from typing import Any


def among(configured: object, **choices: Collection[object]) -> None:
    """Every named option is one of its choices."""
    for name, known in choices.items():
        value = getattr(configured, name)
        if value is not None and value not in known:
            raise ValueError(f"{name} is {value!r}; {' or '.join(map(str, known))} was wanted")


def at_least(configured: object, **least: float) -> None:
    """Every named option is a number from its least on."""
    for name, bound in least.items():
        value = getattr(configured, name)
        if value is not None and not value >= bound:
            raise ValueError(f"{name} is {value}; at least {bound} was wanted")


def positive(configured: Any, *names: str) -> None:
    """Every named option is a number above 0; without names every number among the options is."""
    for name in names or (f.name for f in fields(configured)):
        value = getattr(configured, name)
        if type(value) in (int, float) and not value > 0:
            raise ValueError(f"{name} is {value}; a positive number was wanted")
