"""What a cell becomes: status, costs, metrics and provenance, as one strict-JSON object."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from paramid.words.naming import Name
from paramid.words.status import Status

SCHEMA = 1

COSTS = ("queries", "samples", "derivatives", "moments")


@dataclass(frozen=True)
class Stage:
    """One claim: its kind, what it had cost so far, and its metrics."""

    kind: str
    seconds: float
    queries: int
    samples: int
    derivatives: int
    moments: int
    metrics: Mapping[str, float]


@dataclass(frozen=True, kw_only=True, repr=False)
class Record:
    """A scheduled cell and what became of it."""

    schema: int = SCHEMA
    key: str
    method: str
    task: str
    seed: int
    device: str
    threads: int
    budget: Mapping[str, float | None]
    status: Status
    reason: str = ""
    seconds: float = 0.0
    queries: int = 0
    samples: int = 0
    derivatives: int = 0
    moments: int = 0
    peak_mb: float = 0.0
    metrics: Mapping[str, float] = field(default_factory=dict)
    claims: tuple[Stage, ...] = ()
    obstacles: tuple[str, ...] = ()  # why its teacher cannot be told from others, as `judging.obstacles` names it
    stats: Mapping[str, float] = field(default_factory=dict)
    provenance: Mapping[str, object] = field(default_factory=dict)
    traceback: str = ""
    printed: str = ""
    judge_inputs: int = 10_000  # rows over which outputs were compared
    cpu_seconds: float = 0.0  # of the method's process and all that came of it, its start included
    secret: str | None = None  # hash of the secret from which its teacher was drawn

    def __repr__(self) -> str:
        """What it is of and how it ended, on a line."""
        return f"Record({self.method} before {self.task}, seed {self.seed}: {self.ended}; key {self.key})"

    @property
    def ended(self) -> str:
        """How it ended, in a few words."""
        words = [self.status.key]
        if "identified" in self.metrics:
            words.append("identified" if self.metrics["identified"] else "not identified")
        if "error" in self.metrics:
            words.append(f"error {self.metrics['error']:.1e}")
        words.append(f"{self.seconds:.2f} s")
        if self.reason:
            words.append(f"-- {self.reason}")
        return ", ".join(words)

    @property
    def answered(self) -> bool:
        """Whether a judged claim exists."""
        return bool(self.claims)

    def to_json(self) -> dict[str, Any]:
        """Plain values; non-finite numbers become the strings NaN, Infinity, -Infinity."""
        plain: dict[str, Any] = strict({**asdict(self), "status": self.status.key})
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Record:
        """The record that `to_json` gave; a ValueError says what is wrong with anything else."""
        if not isinstance(plain, Mapping) or "schema" not in plain:
            raise ValueError("not a record: no schema")
        if plain["schema"] != SCHEMA:
            raise ValueError(f"schema {plain['schema']}; this version reads {SCHEMA}")
        if missing := {"key", "method", "task", "seed", "status"} - set(plain):
            raise ValueError(f"not a record: no {', '.join(sorted(missing))}")
        values = {name: value for name, value in plain.items() if name in NAMES}
        for name in (values["method"], values["task"]):
            Name.parse(name)
        seed, device = values["seed"], values.get("device", "cpu")
        if type(seed) is not int or device not in ("cpu", "cuda"):
            raise ValueError(f"seed {seed!r} on {device!r}; a whole number on cpu or cuda was wanted")
        typed(values)
        if wrong := [word for word in values.get("obstacles", ()) if not isinstance(word, str)]:
            raise ValueError(f"{wrong[0]!r} among its obstacles; texts were wanted")
        for limit in values.get("budget", {}).values():
            typed({"seconds": 0 if limit is None else limit})
        stages = tuple(Stage(**{**typed(s), "metrics": numbers(s["metrics"])}) for s in values.get("claims", ()))
        return cls(
            **{
                **values,
                "status": Status.named(values["status"]),
                "metrics": numbers(values.get("metrics", {})),
                "stats": numbers(values.get("stats", {})),
                "claims": stages,
                "obstacles": tuple(values.get("obstacles", ())),
            }
        )


@dataclass(frozen=True)
class Outcome:
    """A record and, where there is one, the last claim as the bytes of an npz file."""

    record: Record
    claim: bytes = b""


SPENT = ("seconds", "cpu_seconds", "peak_mb", "threads", "judge_inputs", *COSTS)
TYPES: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("key", "method", "task", "status", "reason", "traceback", "printed", "kind"), str),
    **dict.fromkeys(("budget", "metrics", "stats", "provenance"), Mapping),
    **dict.fromkeys(("claims", "obstacles"), (list, tuple)),
    "secret": (str, type(None)),
}
NAMES = {f.name for f in fields(Record)}
MOST = 1e18  # of anything that is counted


def typed(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Fields of a record or a stage whose kinds are right; a ValueError names one that is not."""
    for name, value in values.items():
        if name in TYPES and not isinstance(value, TYPES[name]):
            raise ValueError(f"{name} is a {type(value).__name__}")
        if name in SPENT and (type(value) not in (int, float) or not 0 <= value < MOST):
            raise ValueError(f"{name} is {repr(value)[:40]}; a number from 0 was wanted")
    return values


def numbers(metrics: Mapping[str, float | str]) -> dict[str, float]:
    """Metrics as floats again."""
    try:
        return {name: float(value) for name, value in metrics.items()}
    except OverflowError as error:
        raise ValueError(f"a metric is beyond any number: {error}") from error


def dump(plain: object, indent: int | None = None) -> str:
    """Strict JSON text."""
    return json.dumps(strict(plain), allow_nan=False, indent=indent, ensure_ascii=False)


def strict(value: Any) -> Any:
    """The same without numbers and characters that JSON has no word for."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()  # half a surrogate pair is no text
    if isinstance(value, Mapping):
        return {strict(str(k)): strict(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [strict(v) for v in value]
    return value
