"""A cell: method x task x seed x device x budget, in plain values, and its key. Nothing here loads torch by itself."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from paramid.contracts import registry
from paramid.contracts.plugins import Joined, joined, name_of
from paramid.records import keys
from paramid.words import memory_limits, naming
from paramid.words.naming import Name, UsageError

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Method x task x seed x device x budget, in plain values that cross process borders."""

    method: str
    task: str
    seed: int
    device: str = "cpu"
    time_limit: float | None = None
    query_limit: int | None = None
    memory_limit: float | None = None  # MB
    judge_inputs: int = 10_000
    plugins: tuple[Joined, ...] = ()  # of the task
    method_plugins: tuple[Joined, ...] = ()  # of the method: whoever holds the teacher never joins them
    needs: tuple[str, ...] = ()  # of what a jail takes away, what the method says it cannot do without
    secret: str | None = None  # hash of the secret from which the teachers are drawn

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", naming.whole("seed", self.seed))  # numpy's integers become Python's

    @property
    def budget(self) -> dict[str, float | None]:
        """What the method may spend; 60 seconds are 60.0 seconds."""
        limits = {"seconds": self.time_limit, "queries": self.query_limit, "memory_mb": self.memory_limit}
        return {name: None if limit is None else float(limit) for name, limit in limits.items()}

    @property
    def torch_device(self) -> torch.device:
        """Where the tensors are."""
        import torch

        return torch.device("cuda" if self.device == "cuda" else "cpu")

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Cell:
        """The cell whose fields were written as JSON."""
        joined = {
            name: tuple(p if isinstance(p, str) else tuple(p) for p in plain[name])
            for name in ("plugins", "method_plugins")
        }
        return cls(**{**plain, **joined, "needs": tuple(plain["needs"])})

    def sources(self) -> tuple[str, ...]:
        """The hashes of its method's and its task's source, as it is now."""
        named = (("methods", self.method), ("tasks", self.task))
        places = (registry.target(group, Name.parse(text).base) for group, text in named)
        return tuple(keys.source_hash(place.partition(":")[0]) for place in places)

    def key(self, identity: Callable[[str, str], Mapping[str, object]] | None = None) -> str:
        """The content key (see `keys`); who plans many cells remembers what `identity` says of a name."""
        identity = identity or identity_of
        secret = {} if self.secret is None else {"secret": self.secret}
        return keys.digest(
            {
                **secret,
                "method": identity("methods", self.method),
                "task": identity("tasks", self.task),
                "seed": self.seed,
                "device": self.device,
                "budget": self.budget,
                "judge_inputs": self.judge_inputs,
            }
        )


def identity_of(group: str, text: str) -> Mapping[str, object]:
    """What a key holds of a method or a task: name, options, version and source."""
    options = dict(registry.described(group, text).settings)
    return {"name": Name.parse(text).base, "options": options, **keys.identity(group, text)}


LONGEST, LARGEST = 1e6, 1e9  # seconds, eleven days; MB
MOST_WORDS = 10_000  # characters of a name with its options
OTHERS = ("device", "secret", "threads")  # what else may be said of a run


class Limits(TypedDict, total=False):
    """What may be granted to a cell."""

    time_limit: float | None
    query_limit: int | None
    memory_limit: float | None
    judge_inputs: int


def plan_cell(
    method: object,
    task: object,
    *,
    seed: int = 0,
    device: str = "cpu",
    secret: str | None = None,
    **limits: Unpack[Limits],
) -> Cell:
    """A cell of a method and a task, by name or as classes; a UsageError says what is wrong with them."""
    for name in limits:
        if name not in Limits.__annotations__:
            raise UsageError(f"unknown option {name!r}; {naming.suggestion(name, (*Limits.__annotations__, *OTHERS))}")
    known = [registry.described(g, name_of(g, given)) for g, given in (("methods", method), ("tasks", task))]
    method, task = (k.canonical for k in known)
    made = Cell(
        method=method,
        task=task,
        seed=seed,
        device=device,
        plugins=joined(("tasks", task)),
        method_plugins=joined(("methods", method)),
        needs=known[0].needs,
        secret=secret,
        **limits,
    )
    for name in Limits.__annotations__:
        value = getattr(made, name)
        if value is not None and not (isinstance(value, int | float) and 0 < value < math.inf):
            raise UsageError(f"{name} is {value!r}; a positive number was wanted")
    if made.memory_limit is not None and made.memory_limit < memory_limits.LEAST_MB:
        raise UsageError(
            f"memory_limit is {made.memory_limit:g} MB; torch alone takes {memory_limits.LEAST_MB} and more"
        )
    if (longest := max(len(made.method), len(made.task))) > MOST_WORDS:
        raise UsageError(f"a method or task of {longest} characters; at most {MOST_WORDS} were wanted")
    for name, most in (("time_limit", LONGEST), ("memory_limit", LARGEST), ("query_limit", 2**53)):
        if (value := getattr(made, name)) is not None and value > most:
            raise UsageError(f"{name} is {value:g}; at most {most:g} was wanted, or none at all")
    allowed = min(memory_limits.room(), 2**20 * (made.memory_limit or math.inf))
    assert known[1].layers is not None
    if reason := memory_limits.refusal(memory_limits.least(known[1].layers), allowed):
        raise UsageError(f"{made.task} cannot fit in memory: {reason}")
    return made


def resolve_device(device: str) -> str:
    """`auto` is CUDA where there is one."""
    if device not in ("cpu", "cuda", "auto"):
        raise UsageError(f"unknown device {device!r}; there are cpu, cuda, auto")
    if device == "cpu":
        return device
    present = os.environ.get("CUDA_VISIBLE_DEVICES") != "-1" and _cuda()
    if device == "cuda" and not present:
        raise UsageError("no CUDA device is here; cpu or auto was wanted")
    return "cuda" if present else "cpu"


def _cuda() -> bool:
    import torch

    return torch.cuda.is_available()
