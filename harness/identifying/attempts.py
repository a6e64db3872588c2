"""Attempts of one method at somebody's function: under the assumptions told, and under others where those fail."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from paramid.contracts.error_statuses import ending
from paramid.contracts.method import Method, Run, refused
from paramid.identifying import far_field
from paramid.identifying.black_box import BadFunction, BlackBox, TimeIsUp
from paramid.identifying.examined import Examined
from paramid.identifying.misfits import examine
from paramid.identifying.order import ENDED
from paramid.judging.claim_scores import accept
from paramid.judging.metrics import Unjudgeable
from paramid.judging.output_errors import score_outputs
from paramid.oracle.counting import CountingOracle
from paramid.oracle.protocol import BudgetSpent
from paramid.words.claims import Claim
from paramid.words.network import Network
from paramid.words.spec import Access, Spec
from paramid.words.status import Status

SMALL = 1e-3  # residuals below are those of a network found
EXACT = {"float64": 1e-7, "float32": 1e-4}  # residuals below show that an assumption was the right one
AGAIN, FREE_ROWS, FREE_SECONDS = 4, 20_000, 5.0  # what another attempt may cost: times the first, and on top
FREED = {"outer": ("ones", "free"), "norms": ("unit", "free"), "output_bias": ("zero", "free")}


@dataclass(frozen=True)
class Attempt:
    """What a method came to under the assumptions of `spec`."""

    spec: Spec
    claims: tuple[Claim, ...]
    status: Status
    reason: str
    samples: int
    queries: int
    seconds: float
    residual: float

    @property
    def network(self) -> Network | None:
        """The last network claimed."""
        return next((c for c in reversed(self.claims) if isinstance(c, Network)), None)

    @property
    def rank(self) -> tuple[bool, float]:
        """What finished before what did not, and the smaller residual first."""
        return self.status is not Status.FINISHED, self.residual if math.isfinite(self.residual) else math.inf

    @property
    def exact(self) -> bool:
        """Whether the method vouches for a network that gives the function's values."""
        close = SMALL if self.spec.noise else EXACT[self.spec.precision]  # residuals are of noisy values
        return self.status is Status.FINISHED and self.residual <= close


@dataclass
class Attempts:
    """A method before a function, and what all attempts have spent together."""

    method: Method
    box: BlackBox
    seed: int
    query_limit: int | None = None
    queries: int = 0
    samples: int = 0

    def make(self, spec: Spec, most: int | None = None) -> Attempt:
        """One attempt, of at most so many queries where `most` is given."""
        if reason := refused(self.method, spec):
            return Attempt(spec, (), Status.DECLINED, reason, 0, 0, 0.0, float("nan"))
        limits = [limit for limit in (self.left, most) if limit is not None]
        oracle = CountingOracle(
            self.box,
            spec,
            access=self.method.access,
            seed=self.seed,
            device=torch.device("cpu"),
            query_limit=min(limits) if limits else None,
        )
        before, begin = self.box.rows, time.perf_counter()
        claims, status, reason = collect_claims(self.method, oracle, self.seed, self.box.deadline)
        seconds, seen = time.perf_counter() - begin, self.box.rows - before
        samples = min(oracle.usage.samples, seen)  # a call may have been cut short
        self.samples, self.queries = self.samples + samples, self.queries + seen - samples
        made = Attempt(spec, tuple(claims), status, reason, samples, seen - samples, seconds, float("nan"))
        if made.network is None:
            return made
        deadline, self.box.deadline = self.box.deadline, math.inf  # a check is no work of the method's
        residual = residual_of(made.network, self.box, self.seed)
        self.box.deadline = deadline
        return replace(made, residual=residual)

    def nothing(self, spec: Spec, reason: str) -> Attempt:
        """An attempt that came to nothing."""
        return Attempt(spec, (), Status.GAVE_UP, reason, 0, 0, 0.0, float("nan"))

    @property
    def left(self) -> int | None:
        """Queries that are left."""
        return None if self.query_limit is None else max(0, self.query_limit - self.queries)

    def query(self, x: Tensor) -> Tensor:
        """Values for an examination, counted as queries."""
        if self.left is not None and len(x) > self.left:
            raise BudgetSpent(f"{len(x)} rows asked, {self.left} left")
        before = self.box.rows
        try:
            return self.box(x)
        finally:
            self.queries += self.box.rows - before

    def examined(self, spec: Spec, activation: str | None) -> Examined:
        """The function for tests of what was told."""
        return Examined(self.query, spec, self.seed, activation)

    def in_turn(self, spec: Spec) -> Attempt:
        """The smooth activations that grow as the function does, in the order of the registry, until one fits."""
        try:
            names = far_field.growing(self.examined(spec, None).growth)
        except (BadFunction, BudgetSpent, TimeIsUp):
            names = []
        made: list[Attempt] = []
        for name in names or far_field.identifiable():
            made.append(self.make(activated(spec, name)))
            if made[-1].exact or made[-1].status in ENDED:
                return made[-1]
        if all(a.status is Status.DECLINED for a in made):
            return made[0]
        best = min(made, key=lambda a: a.rank[1])
        tried = ", ".join(a.spec.activation for a in made)
        return replace(best, reason=f"of {tried} none fits; {best.spec.activation}: {best.reason}")

    def diagnosis(self, made: Attempt, activation: str | None) -> str | None:
        """Which assumption failed, by tests of values; where none shows it, by what other assumptions lead to."""
        try:
            if reason := examine(self.examined(made.spec, activation)):
                return reason
            if made.status is Status.GAVE_UP and Access.QUERIES in self.method.access:
                return self.by_attempts(made, activation is not None)
        except TimeIsUp:
            pass
        return None

    def by_attempts(self, made: Attempt, told: bool) -> str | None:
        """What the same method finds to full precision under another activation, without pins, or both."""
        most, deadline = AGAIN * made.queries + FREE_ROWS, self.box.deadline
        for spec in others(made.spec, told):
            self.box.deadline = min(deadline, time.perf_counter() + AGAIN * made.seconds + FREE_SECONDS)
            again = self.make(spec, most)
            self.box.deadline = deadline
            if again.exact and again.network:
                return changed(made.spec, again.network, again.residual)
        return None


def others(spec: Spec, told: bool) -> Iterator[Spec]:
    """The same with other activations of the same growth, then with all pins free, then both."""
    how = far_field.growth_named(spec.activation)
    names = [n for n in far_field.growing(how) if n != spec.activation] if told and spec.shallow else []
    free = replace(spec, outer="free", norms="free", output_bias="free")
    yield from (activated(spec, name) for name in names)
    if free != spec:
        yield free
        yield from (activated(free, name) for name in names)


def activated(spec: Spec, name: str) -> Spec:
    """The same with another activation of its hidden layers."""
    return replace(spec, activations=(name,) * len(spec.widths) + ("identity",))


def changed(told: Spec, found: Network, residual: float) -> str:
    """What a network that fits contradicts of what was told."""
    wrong, tries = [], []
    if found.activations[0] != told.activation:
        wrong.append("wrong activation")
        tries.append(f'activation="{found.activations[0]}"')
    first, last = found.weights[0].norm(dim=0), found.weights[-1]
    off = {
        "outer": ("the outer weights are not 1", (last.abs() - 1).abs()),
        "norms": ("the weight vectors have not length 1", (first - 1).abs()),
        "output_bias": ("the output bias is not 0", found.biases[-1].abs()),
    }
    for name, (said, error) in off.items():
        if getattr(told, name) != "free" and float(error.max()) > SMALL:
            wrong.append(said)
            tries.append(f'{name}="free"')
    if not wrong:  # the pins hold of what was found without them
        wrong, tries = ["the method fails with what is pinned"], ['outer="free"']
    return f"{' and '.join(wrong)}: {', '.join(tries)} finds f to a residual of {residual:.0e}; try that"


def residual_of(network: Network, box: BlackBox, seed: int) -> float:
    """The relative output error of a network on fresh inputs."""
    theirs = network.to("cpu", torch.float64)
    return score_outputs(box, theirs, [box.fresh_inputs(seed)])["output_error_relative"]


def collect_claims(
    method: Method, oracle: CountingOracle, seed: int, deadline: float = math.inf
) -> tuple[list[Claim], Status, str]:
    """The claims until the method ends or time is up, and how it ended; what it raises of its own leaves."""
    claims: list[Claim] = []
    try:
        for claim in method.identify(oracle, Run.seeded(seed)):
            claims.append(accept(claim, oracle.spec)[0])
            if time.perf_counter() > deadline:
                raise TimeIsUp(f"the time limit passed after {len(claims)} claims")
    except Unjudgeable as error:
        return claims, Status.MALFORMED_CLAIM, str(error)
    except TimeIsUp as error:
        return claims, Status.TIMED_OUT, str(error)
    except Exception as error:
        status, reason = ending(error)
        if status is Status.RAISED:
            raise
        return claims, status, reason
    return claims, Status.FINISHED if claims else Status.NO_ANSWER, ""
