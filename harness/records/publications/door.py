"""The one door for what somebody else wrote: every field of a record is typed and bounded, and nothing else comes in.

Numbers that nobody could have counted, words with characters that a page or a terminal would act upon, fields that
nobody knows, and endings that contradict their costs are each an `Untrusted` with the field's name. A schema library
would say the types in as many lines as the table below and leave the rest of the questions where they are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from paramid.judging.metrics import METRICS
from paramid.records.record import COSTS, MOST, SCHEMA, Record, Stage
from paramid.words.status import Status

Check = Callable[[object, str], None]
SHOWN = 40  # characters of what is wrong
# By a terminal or a page
ACTED_UPON = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ud800-\udfff\U000e0000-\U000e007f"
)
WORDS = {"reason": 2000, "traceback": 100_000, "printed": 100_000}  # of a record: what others say; and characters


class Untrusted(ValueError):
    """What cannot be trusted, and why."""


def wrong(value: object, label: str, wanted: str) -> Untrusted:
    """The error that names a field."""
    text = ascii(value)
    return Untrusted(f"{label} is {text if len(text) <= SHOWN else text[:SHOWN] + '…'}; {wanted} was wanted")


def text(most: int, pattern: str = f"[^{ACTED_UPON}]*", words: str = "plain text") -> Check:
    """Text of at most so many characters; without a pattern of its own, such as no terminal acts upon."""
    shape = re.compile(pattern)

    def check(value: object, label: str) -> None:
        if not isinstance(value, str) or len(value) > most or not shape.fullmatch(value):
            raise wrong(value, label, f"{words} of at most {most} characters")

    return check


def shown(words: str, most: int) -> str:
    """The words as `text` takes them."""
    return re.sub(f"[{ACTED_UPON}]", "\ufffd", words)[:most]


def number(least: float = 0.0, most: float = MOST, *, whole: bool = False) -> Check:
    """A number within bounds."""

    def check(value: object, label: str) -> None:
        kinds = (int,) if whole else (int, float)
        if type(value) not in kinds or not least <= value <= most:  # type: ignore[operator]
            words = f"a {'whole ' if whole else ''}number from {least:g}"
            raise wrong(value, label, words if most == MOST else f"{words} to {most:g}")

    return check


def optional(inner: Check) -> Check:
    """That, or nothing."""
    return lambda value, label: None if value is None else inner(value, label)


def either(*values: object) -> Check:
    """One of some values."""

    def check(value: object, label: str) -> None:
        if not any(type(value) is type(known) and value == known for known in values):
            raise wrong(value, label, " or ".join(map(str, values)))

    return check


def several(inner: Check, most: int) -> Check:
    """A list of at most so many."""

    def check(value: object, label: str) -> None:
        if not isinstance(value, list) or len(value) > most:
            raise wrong(value, label, f"a list of at most {most}")
        for place, item in enumerate(value):
            inner(item, f"{label}[{place}]")

    return check


def mapping(name: Check, inner: Check, most: int) -> Check:
    """An object of at most so many names."""

    def check(value: object, label: str) -> None:
        if not isinstance(value, dict) or len(value) > most:
            raise wrong(value, label, f"an object of at most {most} names")
        for key, item in value.items():
            name(key, f"a name in {label}")
            inner(item, f"{label}.{key}")

    return check


def shaped(known: Mapping[str, Check], needed: frozenset[str]) -> Check:
    """An object with these fields and no others."""

    def check(value: object, label: str) -> None:
        if not isinstance(value, dict):
            raise wrong(value, label, "an object")
        if missing := needed - value.keys():
            raise Untrusted(f"no {', '.join(sorted(missing))}")
        for key, item in value.items():
            if key not in known:
                raise wrong(key, f"a field of {label}", "one that this version knows")
            known[key](item, key)

    return check


def measured(value: object, label: str) -> None:
    """A number, or the word for one that is not finite."""
    if type(value) in (int, float) and abs(value) < math.inf:  # type: ignore[arg-type]
        if abs(value) > 1e300:  # type: ignore[arg-type]
            raise wrong(value, label, "a number that a float holds")
    elif value not in ("NaN", "Infinity", "-Infinity"):
        raise wrong(value, label, "a number, NaN, Infinity or -Infinity")


def fact(value: object, label: str) -> None:
    """What provenance may hold of something: plain text, a number, a flag, nothing, or texts by names."""
    if isinstance(value, dict):
        mapping(WORD, optional(text(60)), 40)(value, label)
    elif isinstance(value, str):
        text(300)(value, label)
    elif value is not None and not isinstance(value, bool):
        number()(value, label)


HEX = r"[0-9a-f]"
OPTION = r"[A-Za-z0-9_]+=[A-Za-z0-9_.+-]+"
NAME = text(300, rf"[a-z][a-z0-9_-]*(:{OPTION}(,{OPTION})*)?", "a name such as spm:step=1.5")
WORD = text(60, r"[A-Za-z][A-Za-z0-9_.-]*", "a word of letters, digits and dots")
HASH = text(64, HEX + "{64}", "a SHA-256 in hexadecimal digits,")
METRIC = mapping(WORD, measured, 300)
SPENT = {name: number(whole=True) for name in COSTS}
STAGE = shaped(
    {"kind": WORD, "seconds": number(), **SPENT, "metrics": METRIC},
    frozenset({f.name for f in fields(Stage)}),
)
FIELDS: Mapping[str, Check] = {
    "schema": either(SCHEMA),
    "key": text(24, HEX + "{24}", "a key of hexadecimal digits"),
    "method": NAME,
    "task": NAME,
    "seed": number(most=2**63 - 1, whole=True),
    "device": either("cpu", "cuda"),
    "threads": number(1, 4096, whole=True),
    "budget": shaped(dict.fromkeys(("seconds", "queries", "memory_mb"), optional(number())), frozenset()),
    "status": either(*(status.key for status in Status)),
    **{name: text(most) for name, most in WORDS.items()},
    "seconds": number(),
    **SPENT,
    "peak_mb": number(most=1e9),
    "metrics": METRIC,
    "claims": several(STAGE, 10_000),
    "obstacles": several(text(300), 100),
    "stats": METRIC,
    "provenance": mapping(WORD, fact, 60),
    "judge_inputs": number(1, 1e9, whole=True),
    "cpu_seconds": number(),
    "secret": optional(HASH),
}
NEEDED = frozenset({"schema", "key", "method", "task", "seed", "device", "threads", "budget", "status"})
RECORD = shaped(FIELDS, NEEDED)


def record(plain: Any) -> Record:
    """The record of a plain value; an Untrusted names the first thing that is wrong with any other."""
    RECORD(plain, "the record")
    try:
        return believable(Record.from_json(plain))
    except Untrusted:
        raise
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Untrusted(str(error).splitlines()[0]) from error


def believable(told: Record) -> Record:
    """A record whose parts do not contradict each other; an Untrusted names the first that do."""
    spending: tuple[Record | Stage, ...] = (told, *told.claims)
    for costs in spending:
        for name, value in costs.metrics.items():
            if math.isnan(value) or (value < 0 and name in METRICS and name != "bits"):
                raise Untrusted(f"{name} is {value}; a number from 0 was wanted")
    for name in ("seconds", *COSTS):
        spent = [getattr(stage, name) for stage in told.claims]
        if spent != sorted(spent):
            raise Untrusted(f"its claims are not in the order of their {name}")
        if spent and spent[-1] > getattr(told, name):
            raise Untrusted(f"its last claim had cost {spent[-1]:g} {name}, the whole run {getattr(told, name):g}")
    if told.claims and told.status is Status.DECLINED:
        raise Untrusted("declined, and claims")
    last = told.claims[-1].metrics if told.claims else {}
    for name in last.keys() & told.metrics.keys():
        if last[name] != told.metrics[name]:
            raise Untrusted(f"{name} of its last claim is {last[name]:g}, of the record {told.metrics[name]:g}")
    if not told.claims and told.metrics.get("identified"):
        raise Untrusted("identified without a claim")
    return told
