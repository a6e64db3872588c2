"""Names as people write them: `name:option=value,option=value`, parsed against a dataclass' fields."""

import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from functools import lru_cache
from operator import index
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
NEAR = 0.66  # likeness of names: two letters of six may differ


class UsageError(ValueError):
    """Something a user wrote that cannot be meant; shown as one line."""


@dataclass(frozen=True)
class Name:
    """A name and its options, still as text."""

    base: str
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    @lru_cache(4096)
    def parse(cls, text: str) -> "Name":
        """Split `base:option=value,…`."""
        if not isinstance(text, str):
            raise UsageError(f"{text!r} is a {type(text).__name__}; text such as name:option=value was wanted")
        base, _, rest = text.strip().partition(":")
        pairs = []
        for part in rest.split(",") if rest else []:
            option, equals, value = (piece.strip() for piece in part.partition("="))
            if not (option and equals and value):
                raise UsageError(f"{text!r}: {part!r} is not option=value")
            pairs.append((option, value))
        if len(dict(pairs)) < len(pairs):
            raise UsageError(f"{text!r} gives an option twice")
        return cls(base.strip(), tuple(pairs))

    def __str__(self) -> str:
        options = ",".join(f"{option}={value}" for option, value in self.options)
        return f"{self.base}:{options}" if options else self.base


def configure(cls: type[T], name: Name) -> T:
    """An instance of the dataclass `cls` with the options of `name`."""
    if not is_dataclass(cls):
        raise UsageError(f"{name.base} is {cls!r}; a frozen dataclass was wanted")
    try:
        hints = get_type_hints(cls)
    except Exception as error:  # somebody's annotations
        raise UsageError(f"{name.base}: its fields' types cannot be read: {type(error).__name__}: {error}") from error
    known = {f.name: hints[f.name] for f in fields(cls) if f.init}
    values = {}
    for option, text in name.options:
        if option not in known:
            told = ", ".join(f"{o}={write(getattr(cls, o))}" if hasattr(cls, o) else o for o in known) or "none"
            raise UsageError(f"{name.base} has no option {option!r}; {suggestion(option, known, f'it has {told}')}")
        values[option] = read(text, known[option], f"{name.base}:{option}")
    try:
        return cls(**values)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name}: {error}") from error
    except Exception as error:  # somebody's constructor
        raise UsageError(f"{name}: {type(error).__name__}: {error}") from error


def describe(instance: object, name: Name) -> str:
    """The canonical text of a configured instance: the options of `name`, in the order of the fields.

    An instance may name options that are `always_told`, such as the hash of a file.
    """
    given = {*dict(name.options), *getattr(instance, "always_told", ())}
    options = ((option, text) for option, text in settings(instance).items() if option in given)
    return str(Name(name.base, tuple(options)))


def settings(instance: object) -> Mapping[str, str]:
    """Every option of an instance as text."""
    return {f.name: write(getattr(instance, f.name)) for f in fields(instance) if f.init}  # type: ignore[arg-type]


def write(value: object) -> str:
    """An option's value as text that `read` takes back."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "-".join(map(write, value))
    return repr(value) if isinstance(value, float) else str(value)


def read(text: str, kind: Any, label: str) -> Any:
    """The value of `text` for a field of type `kind`."""
    choices = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    for choice in sorted(choices, key=lambda c: c is str):
        try:
            return _read_one(text, choice)
        except ValueError:
            continue
    wanted = " or ".join("none" if c is type(None) else getattr(c, "__name__", str(c)) for c in choices)
    raise UsageError(f"{label} is {text!r}; {wanted} was wanted")


def _read_one(text: str, kind: Any) -> Any:
    if kind is type(None):
        if text.lower() == "none":
            return None
        raise ValueError(text)
    if kind is bool:
        return {"true": True, "false": False}[text.lower()] if text.lower() in ("true", "false") else _reject(text)
    if kind is int:
        return int(text) if text.lstrip("+-").isdigit() else _whole(float(text))
    if get_origin(kind) is tuple:
        return tuple(_read_one(part, get_args(kind)[0]) for part in text.split("-"))
    return kind(text) if kind in (float, str) else _reject(text)


def _whole(value: float) -> int:
    return int(value) if value.is_integer() else _reject(str(value))


def _reject(text: str) -> Any:
    raise ValueError(text)


def whole(name: str, value: object, least: int = 0) -> int:
    """A whole number of Python's or numpy's kind; a UsageError names what came instead."""
    try:
        number = index(value)  # type: ignore[arg-type]  # what has no index raises
    except TypeError:
        raise UsageError(f"{name} is {value!r}; a whole number from {least} was wanted") from None
    if number < least:
        raise UsageError(f"{name} is {number}; a whole number from {least} was wanted")
    return number


def near(name: str, known: Iterable[str]) -> list[str]:
    """The names that one could have meant, the nearest first; a part of a name is near too."""
    lower = {k.lower(): k for k in sorted(known)}
    close = get_close_matches(name.lower(), lower, n=3, cutoff=NEAR)
    parts = [k for k in lower if len(name) > 2 and name.lower() in k]
    return [lower[k] for k in dict.fromkeys([*close, *parts])][:3]


def suggestion(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """The near names; where there are none, what to do `otherwise`, or all of them."""
    known = sorted(known)
    if found := near(name, known):
        return f"did you mean {' or '.join(found)}?"
    return otherwise or f"there are {', '.join(known) or 'none'}"
