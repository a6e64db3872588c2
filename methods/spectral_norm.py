"""`spectral-norm`: the thesis' pipeline with ascent on the spectral norm for its directions.

Starts come like those of `spm`; larger steps are uniformly faster, so γ = 10. A start is accepted at λ₁ > 0.9.

Reference: Rauchensteiner 2023, Algorithm 2.1.
"""

import math
from dataclasses import dataclass

from torch import Tensor

from paramid import Run
from paramid.methods.spans import power_ascent, spectral_ascent, subspace
from paramid.methods.spans.hessian_pipeline import HessianPipeline


@dataclass(frozen=True)
class SpectralNormAscent(HessianPipeline):
    """Near-rank-one elements of a span of Hessians by spectral-norm ascent, signs and shifts (thesis, ch. 2)."""

    step: float = 10.0  # γ of the ascents M ← P(M + γ u uᵀ), normalised
    starts: int | None = None  # random elements of the span to ascend from; default: ⌈5 m ln D⌉
    steps: int = 500  # steps of an ascent, at most
    threshold: float = 0.9  # least λ₁ of the end M of an ascent that gives a direction, 1 for a rank-one
    tol: float = 1e-10  # length of a step below which an ascent has arrived

    def directions(self, span: subspace.Span, m: int, run: Run) -> tuple[Tensor, dict[str, float]]:
        """Ascend from random elements of the span; of every heap keep the best."""
        count = self.starts or math.ceil(5 * m * math.log(max(span.d, 2)))
        u, top = spectral_ascent.ascend(
            span.basis, span.d, run.normal(count, m), step=self.step, steps=self.steps, tol=self.tol
        )
        found = power_ascent.distinct(u, top, threshold=self.threshold, most=m)
        return found, {"starts": count, "accepted": float((top > self.threshold).sum())}
