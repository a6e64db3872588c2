"""The options of a method or task as people read them: type, default, what is allowed, meaning.

The meaning is the comment behind the field in its class; what is allowed is what the class answers to a value that it
cannot take, so that neither can differ from the code.
"""

from __future__ import annotations

import inspect
import io
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, get_type_hints

from paramid.contracts import registry
from paramid.words import naming

IMPOSSIBLE: Mapping[type, object] = {str: "?", float: float("-inf"), int: -(10**12)}


@dataclass(frozen=True)
class Option:
    """One option, in words."""

    name: str
    kind: str
    default: str
    allowed: str  # "ones or free", "a positive number"; empty where the type says it all
    meaning: str


@cache
def options(group: str, base: str) -> tuple[Option, ...]:
    """Every option of "methods" or "tasks", in the order of the fields."""
    cls = registry.load(registry.target(group, base))
    hints, meanings = get_type_hints(cls), comments(cls)
    return tuple(
        Option(f.name, _kind(hints[f.name]), default, _allowed(cls, f.name, hints[f.name]), meanings.get(f.name, ""))
        for f, default in _defaults(cls)
    )


def comments(cls: type[object]) -> dict[str, str]:
    """The comment behind each field, the class' own before those of its bases."""
    found: dict[str, str] = {}
    for owner in reversed(cls.__mro__[:-1]):
        try:
            source = inspect.getsource(owner)
        except (OSError, TypeError):  # a class without a file
            continue
        found |= dict(_commented(source))
    return found


def _commented(source: str) -> Iterator[tuple[str, str]]:
    """The first name of every logical line that ends in a comment, and the comment."""
    first = ""
    for token in tokenize.generate_tokens(io.StringIO(inspect.cleandoc(source)).readline):
        if token.type == tokenize.NAME and not first:
            first = token.string
        elif token.type == tokenize.COMMENT and first:
            yield first, token.string.lstrip("# ").strip()
        elif token.type == tokenize.NEWLINE:
            first = ""


def _defaults(cls: type[Any]) -> Iterator[tuple[Any, str]]:
    for f in fields(cls):
        if f.init:
            yield f, naming.write(getattr(cls, f.name)) if hasattr(cls, f.name) else "(must be given)"


def _kind(hint: Any) -> str:
    """A type in a user's words."""
    names = {str: "text", float: "number", int: "whole number", bool: "true or false", type(None): "none"}
    if hint in names:
        return names[hint]
    inside: tuple[Any, ...] = getattr(hint, "__args__", ())
    if getattr(hint, "__origin__", None) is tuple:
        return f"{_kind(inside[0])}s joined by dashes"
    return " or ".join(map(_kind, inside)) if inside else str(hint)


def _allowed(cls: type[Any], name: str, hint: Any) -> str:
    """What the class says was wanted, where it refuses an impossible value."""
    kinds: list[Any] = [hint, *getattr(hint, "__args__", ())]
    for kind, value in IMPOSSIBLE.items():
        if kind in kinds:
            try:
                cls(**{name: value})
            except (TypeError, ValueError) as error:
                said = str(error)
                wanted = said.rpartition("; ")[2].removesuffix(" was wanted").removesuffix(" were wanted")
                return wanted.removeprefix("there are ") if said.startswith((f"{name} is", "unknown")) else ""
    return ""
