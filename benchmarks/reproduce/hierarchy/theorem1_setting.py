"""What Theorem 1 asks of a target network, beside the teachers of the page.

For integers C > C_1 ≥ 2,

    (1)  k_l ≤ D^{1/(C_1^l + C_1)},   α_{l+1} / α_l ≤ D^{-1/C_1^l},   singular values of W_{l,j} in [1/κ, κ],

the first as in Corollary B.2: §3 prints D^{-1/…}, which is below 1. C_1 = 2 allows most width.
"""

from collections.abc import Iterator
from itertools import pairwise

import torch

from benchmarks.reproduce.pages import grid
from paramid.methods.densenet_algorithm1 import DenseNetAlgorithm1
from paramid.tasks.hierarchy import Hierarchy

C_1 = 2
SEEDS = range(5)
TEACHERS = {
    "hierarchy": Hierarchy(),
    "hierarchy:D=10": Hierarchy(D=10),
    "hierarchy:D=15,ks=4-3-2": Hierarchy(D=15, ks=(4, 3, 2), alphas=(1.0, 0.2, 0.04), truncate=2.5),
    "hierarchy:D=12,ks=3-2-2-2": Hierarchy(D=12, ks=(3, 2, 2, 2), alphas=(1.0, 0.2, 0.04, 0.008), truncate=2.5),
}


def widest(inputs: int, layer: int) -> float:
    """The most k_l that (1) allows."""
    return float(inputs ** (1 / (C_1**layer + C_1)))


def least_gap(inputs: int, layer: int) -> float:
    """The largest α_{l+1} / α_l that (1) allows."""
    return float(inputs ** (-1 / C_1**layer))


def singular_values(task: Hierarchy) -> tuple[float, float]:
    """The least and the largest of all W_{l,j}, over seeds."""
    found = []
    for seed in SEEDS:
        net = task.draw(seed)
        for layer, k in enumerate(net.weights, 2):
            found += [torch.linalg.svdvals(block) for block in k.split(list(net.blocks(layer)), dim=1)]
    values = torch.cat(found)
    return float(values.min()), float(values.max())


def kappa(task: Hierarchy) -> float:
    """The least κ of (1)."""
    low, high = singular_values(task)
    return max(1 / low, high)


def row(name: str, task: Hierarchy) -> tuple[str, ...]:
    """A teacher beside (1)."""
    ratios = [after / before for before, after in pairwise(task.alphas)]
    low, high = singular_values(task)
    return (
        name,
        "-".join(map(str, task.ks)),
        ", ".join(f"{widest(task.D, layer):.2f}" for layer in range(2, len(task.ks) + 2)),
        ", ".join(f"{r:g}" for r in ratios),
        ", ".join(f"{least_gap(task.D, layer):.2f}" for layer in range(2, len(task.ks) + 1)),
        f"{low:.2f} to {high:.2f}",
        f"{kappa(task):.1f}",
    )


def wider() -> int:
    """How many teachers have a layer that is wider than (1)."""
    return sum(any(k > widest(t.D, layer) for layer, k in enumerate(t.ks, 2)) for t in TEACHERS.values())


def text() -> Iterator[str]:
    """The table."""
    yield f"With C_1 = {C_1}, which leaves most room: k_l ≤ D^(1/(C_1^l + C_1)), as Corollary B.2 has it (§3 prints a"
    yield "minus there, and no width is below 1), and α_(l+1) / α_l ≤ D^(-1/C_1^l)."
    drawn, told = Hierarchy().kappa, DenseNetAlgorithm1().kappa
    yield f"{wider()} of these {len(TEACHERS)} teachers are wider: what agrees with Theorems 1 to 4 does so beyond"
    yield "their setting, and nothing can contradict them. Matrices are drawn with singular values in [1/κ, κ],"
    yield f"κ = {drawn:g}, and scaled to E‖S_l‖² = k_l afterwards, so that B_l = k_l; what these are then, over"
    yield f"{len(SEEDS)} seeds, stands last, and the κ that these would need: `densenet-algorithm1` is told"
    yield f"{told:g}, by which line 21 cuts. x² - 1 is centred for N(0, I), not for |x| ≤ 2.5."
    yield ""
    head = ("teacher", "k", "k allowed", "α_(l+1) / α_l", "allowed", "singular values", "their κ")
    yield from grid(head, (row(name, task) for name, task in TEACHERS.items()))
