"""`spectral-norm`: the thesis' pipeline with ascent on the spectral norm for its directions.

Starts come like those of `spm`; larger steps are uniformly faster, so γ = 10. A start is accepted at λ₁ > 0.9.

Reference: Rauchensteiner 2023, Algorithm 2.1.
"""

from dataclasses import dataclass

from torch import Tensor

from paramid import Run
from paramid.methods.spans import power_ascent, spectral_ascent, subspace
from paramid.methods.spans.hessian_pipeline import HessianPipeline


@dataclass(frozen=True)
class SpectralNormAscent(HessianPipeline):
    """Near-rank-one elements of a span of Hessians by spectral-norm ascent, signs and shifts (thesis, ch. 2)."""

    step: float = 10.0  # γ of the ascents M ← P(M + γ u uᵀ), normalised
    starts: int | str | None = None  # random elements of the span; default: ⌈5 m ln D⌉; until: m are held
    most_starts: int | None = None  # starts=until: no more than these; default: ten times ⌈5 m ln D⌉
    steps: int = 500  # steps of an ascent, at most
    threshold: float = 0.9  # least λ₁ of the end M of an ascent that gives a direction, 1 for a rank-one
    tol: float = 1e-10  # length of a step below which an ascent has arrived

    def __post_init__(self) -> None:
        super().__post_init__()
        power_ascent.checked(self.starts)

    def directions(self, span: subspace.Span, m: int, run: Run) -> tuple[Tensor, dict[str, float]]:
        """Ascend from random elements of the span; of every heap keep the best."""

        def climb(count: int) -> tuple[Tensor, Tensor]:
            c = run.normal(count, m)
            return spectral_ascent.ascend(span.basis, span.d, c, step=self.step, steps=self.steps, tol=self.tol)

        return power_ascent.gathered(
            climb, m, span.d, starts=self.starts, most=self.most_starts, threshold=self.threshold
        )
