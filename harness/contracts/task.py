"""What an author of a task writes: a `Task`, a family of teachers and the judge for it."""

from __future__ import annotations

from typing import ClassVar, Protocol

from paramid.judging import claim_scores
from paramid.judging.aligned_networks import in_words_of
from paramid.judging.metrics import Metrics, Unjudgeable
from paramid.words.claims import Claim, Function
from paramid.words.network import Network, Teacher
from paramid.words.neuron_distances import CAP
from paramid.words.spec import UNKNOWN, Access, Spec

ELSEWHERE = 1_000_003  # seeds away


class Task(Protocol):
    """A family of teachers with its parameters: a frozen dataclass that derives from this class.

    A family defines `access`, `spec`, `kinds`, `draw` and `truth`; the rest has defaults. `metrics` names what it
    measures beyond the common ones (name -> meaning), `corners` the options of its small and awkward members, the most
    ordinary first, before which `paramid check` puts every method.
    """

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]]
    metrics: ClassVar[dict[str, str]] = {}
    corners: ClassVar[tuple[str, ...]] = ("",)

    @property
    def spec(self) -> Spec:
        """What is public about these teachers."""
        ...

    @property
    def kinds(self) -> tuple[type[Claim], ...]:
        """The claims it can judge besides functions, fullest first."""
        ...

    @property
    def headline(self) -> str:
        """The metric that is this family's `error`."""
        return "weight_error"

    @property
    def layered(self) -> bool:
        """Whether its teachers are layered networks whose parameters the spec tells of: limits are theirs alone."""
        return type(self.spec) is Spec and Network in self.kinds

    def draw(self, seed: int) -> Teacher:
        """The teacher of that seed, on the CPU in float64."""
        ...

    def guess(self, seed: int) -> Teacher:
        """What the control `random` claims: a teacher that nobody runs."""
        return self.draw(seed + ELSEWHERE)

    def truth(self, teacher: Teacher, kind: type[Claim]) -> Claim:
        """What a perfect method would claim of that kind."""
        ...

    def judge(self, claim: Claim, teacher: Teacher) -> Metrics:
        """Score a claim modulo the symmetries no oracle can see."""
        if isinstance(claim, Function):
            return {}
        kind = type(claim)
        if kind not in self.kinds:
            wanted = ", ".join(k.__name__ for k in (*self.kinds, Function))
            raise Unjudgeable(f"claimed a {kind.__name__}; this task can judge {wanted}")
        truth = self.truth(teacher, kind)
        if UNKNOWN in self.spec.activations and isinstance(truth, Network) and isinstance(claim, Network):
            claim = in_words_of(truth, claim)
        return self.headed(claim_scores.score(truth, claim))

    def headed(self, metrics: Metrics) -> Metrics:
        """`metrics` with this family's headline under the common name `error`."""
        if self.headline not in metrics:
            return metrics
        spoiled = self.headline == "weight_error" and metrics.get("excess", 0.0) > 0
        return {"error": CAP if spoiled else metrics[self.headline], **metrics}
