"""Which methods are tried on somebody's function, and in which order: the cheapest that does not decline first.

`kinks` is exact on ReLU networks and declines all others, `sphere-lm` takes the fewest rows of smooth shallow networks
that are not too wide, `far-lines` any width, `peel` several layers. Where activations are not told, those come first
that find them by themselves; the others are given one activation after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from paramid.contracts import registry
from paramid.identifying.black_box import BadFunction
from paramid.words.spec import UNKNOWN, Spec
from paramid.words.status import Status

if TYPE_CHECKING:
    from paramid.contracts.method import Method
    from paramid.identifying.attempts import Attempt, Attempts

AUTO = "auto"
ORDER = ("kinks", "sphere-lm", "far-lines", "peel")
ENDED = (Status.TIMED_OUT, Status.BUDGET_SPENT)


def methods() -> dict[str, Method]:
    """The methods of `ORDER` by name."""
    return {name: cast("Method", registry.method(name)) for name in ORDER}


def first_success(attempts: Attempts, candidates: Mapping[str, Method], spec: Spec, activation: str | None) -> Attempt:
    """The first attempt that finds f exactly, or the best of all, with what each of them says."""
    made: dict[str, Attempt] = {}
    for name in in_turn(candidates, activation):
        attempts.method = candidates[name]
        try:
            made[name] = one(attempts, spec, activation)
        except BadFunction as error:
            if all(a.status is Status.DECLINED for a in made.values()):
                raise
            made[name] = attempts.nothing(spec, f"f cannot be asked where it has to be: {error}")
        if made[name].exact or made[name].status in ENDED:
            return made[name]
    worked = {name: attempt for name, attempt in made.items() if attempt.status is not Status.DECLINED}
    best = min(worked or made, key=lambda name: made[name].rank)
    attempts.method = candidates[best]
    if len(worked) == 1 or len(made) == 1 or made[best].status is Status.FINISHED:
        return made[best]
    said = "; ".join(f"{name}: {a.reason or f'residual {a.residual:.0e}'}" for name, a in (worked or made).items())
    return replace(made[best], reason=said)


def in_turn(candidates: Mapping[str, Method], activation: str | None) -> Iterator[str]:
    """Their names in order; without an activation those first that find it."""
    finding = [name for name, method in candidates.items() if getattr(method, "finds_activation", False)]
    first = finding if activation is None else []
    yield from (*first, *(name for name in candidates if name not in first))


def one(attempts: Attempts, spec: Spec, activation: str | None) -> Attempt:
    """An attempt of the method at hand, with an open activation where it finds that itself."""
    if activation is not None:
        return attempts.make(spec)
    if not getattr(attempts.method, "finds_activation", False):
        return attempts.in_turn(spec)
    return attempts.make(replace(spec, activations=(UNKNOWN,) * len(spec.widths) + spec.activations[-1:]))
