"""Rank-one directions of a blurred span: E(u) is small at them and not zero, and no gap says how small.

Where the span stands out, `sphere_search` finds its rank-ones. For deep networks it hardly does: the directions of
deeper layers turn from point to point, and for small shifts one direction of the span, the gauge of `gauge_labels`,
nearly vanishes in the Hessians, which alone leaves E(u) = O(1/m) at every u. Then

    (1)  accept minima of E(u) = 1 - ‖P(u uᵀ)‖² below 0.1, once for each heap |cos| > 0.97, the lowest first,

from random starts and from what is left of the span in turn, until there are enough. A refinement heals the crooked.
"""

import torch
from torch import Tensor

from paramid import Run
from paramid.methods.spans import sphere_search
from paramid.methods.spans.power_ascent import distinct
from paramid.methods.spans.sphere_descent import descend, polish, terms
from paramid.methods.spans.subspace import Projector

BLURRED = 0.1
SAME = 0.97
STEPS, BATCH, ROUNDS = 40, 150, 6


def search(p: Projector, basis: Tensor, m: int, run: Run, *, gap: float) -> Tensor:
    """At most `m` rank-ones of the span with packed orthonormal `basis`, unit rows."""
    found = sphere_search.search(p, basis, m, run, gap=gap).directions
    return found if len(found) == m else blurred(p, basis, m, run)


def blurred(p: Projector, basis: Tensor, m: int, run: Run) -> Tensor:
    """At most `m` unit rows by (1)."""
    d = p.matrices.shape[2]
    found = basis.new_empty(0, d)
    for turn in range(ROUNDS):
        left = sphere_search.remaining(basis, found, BATCH, run)
        starts = run.sphere(BATCH, d) if turn % 2 == 0 else sphere_search.seeds(left, run, spread=True)
        ends, _ = descend(p, starts, accept=BLURRED, hopeless=3 * BLURRED, steps=STEPS)
        heaps = torch.cat([found, polish(p, ends, steps=15)[0]])
        quality = 1 - terms(p, heaps).energy.nan_to_num(1.0)
        found = distinct(heaps, quality, threshold=1 - BLURRED, most=2 * m, same=SAME)
        if len(found) >= m:
            break
    return found[:m]
