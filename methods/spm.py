"""`spm`: the thesis' pipeline with the subspace power method, as run in its §3.6.

R = ⌈5 m ln D⌉ starts, γ = 2, 1000 steps, accepted above Φ = 0.9, or 0.99 where m reaches 0.4 D². The guarantee for
monotone ascent is γ ≤ 1 (the thesis' "γ ≥ 1/2" belongs to another parametrisation); no violation was seen at 2 and 4.
With starts=until it is the loop of Algorithm 2.2, which goes on until m directions are held.

Reference: Rauchensteiner 2023, Algorithms 2.2, 3.1 to 3.3, §3.6.
"""

from dataclasses import dataclass

from torch import Tensor

from paramid import Run
from paramid.methods.spans import power_ascent, subspace
from paramid.methods.spans.hessian_pipeline import HessianPipeline


@dataclass(frozen=True)
class SubspacePowerMethod(HessianPipeline):
    """Rank-one directions of a span of Hessians by projected power ascent, with signs and shifts (thesis, ch. 3)."""

    step: float = 2.0  # γ of the ascents u ← u + 2γ P(u uᵀ) u, normalised
    starts: int | str | None = None  # random unit vectors to ascend from; default: ⌈5 m ln D⌉; until: m are held
    most_starts: int | None = None  # starts=until: no more than these; default: ten times ⌈5 m ln D⌉
    steps: int = 1000  # steps of an ascent, at most
    threshold: float | None = None  # least ‖P(u uᵀ)‖² of a direction u; default: 0.9, or 0.99 for m ≥ 0.4 D²
    tol: float = 1e-12  # length of a step below which an ascent has arrived

    def __post_init__(self) -> None:
        super().__post_init__()
        power_ascent.checked(self.starts)

    def directions(self, span: subspace.Span, m: int, run: Run) -> tuple[Tensor, dict[str, float]]:
        """Ascend from random starts; of every heap keep the best."""
        p, d = span.projector(), span.d

        def climb(count: int) -> tuple[Tensor, Tensor]:
            u = power_ascent.ascend(p, run.sphere(count, d), step=self.step, steps=self.steps, tol=self.tol)
            return u, p.energy(u)

        threshold = self.threshold or (0.99 if m >= 0.4 * d * d else 0.9)
        return power_ascent.gathered(climb, m, d, starts=self.starts, most=self.most_starts, threshold=threshold)
