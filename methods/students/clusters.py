"""Which neurons many students have in common: average linkage of their vectors (w, b).

    (1)  distances |p - q|, or min(|p - q|, |p + q|) where neurons may be turned;
    (2)  after every merge of the tree the number of clusters of at least γN neurons; the tree is cut where the first
         unbroken run of its largest value ends (`most`), or in the widest gap, by the ratio of the heights of two
         merges that follow each other (`gap`): a cut for every number of clusters, the widest first;
    (3)  a cluster is kept if the median of 1 - cos over its pairs, |cos| where neurons may be turned, is at most
         1 - cos(π/6).

Size counts neurons, not students: a student may hold several copies of one neuron. `gap` is ours: students without
loss agree to rounding on what they share, a gap of many decades below all else, and more clusters appear above it.

Reference: Martinelli, Şimşek, Gerstner & Brea, Expand-and-Cluster, arXiv:2304.12794.
"""

import math

import numpy as np
import numpy.typing as npt
import torch
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from torch import Tensor

Counts = npt.NDArray[np.int64]
Heights = npt.NDArray[np.float64]  # of merges, or the tree that holds them
WIDEST = math.pi / 6
RULES = ("most", "gap")
SAME = 1e-14  # of the widest distance: heights below are rounding


def clusters(vectors: Tensor, *, least: int, turns: bool, rule: str = "most") -> list[list[Tensor]]:
    """The clusters of rows by (1) to (3), as places of rows: for every cut, the likeliest first."""
    if len(vectors) < 2:
        return []
    tree = linkage(squareform(distances(vectors, turns).numpy(force=True), checks=False), "average")
    count = merges(tree, least)
    if not count.any():
        return []
    cuts = gaps(count, tree[:, 2]) if rule == "gap" else [most(count)]
    return [[g for g in members(tree, last + 1, least) if aligned(vectors[g], turns)] for last in cuts]


def distances(vectors: Tensor, turns: bool) -> Tensor:
    """(1) over all pairs of rows."""
    apart = torch.cdist(vectors, vectors, compute_mode="donot_use_mm_for_euclid_dist")
    if turns:
        apart = torch.minimum(apart, torch.cdist(vectors, -vectors, compute_mode="donot_use_mm_for_euclid_dist"))
    return ((apart + apart.T) / 2).fill_diagonal_(0)


def most(count: Counts) -> int:
    """The last merge of the first unbroken run of the largest count."""
    first = int(count.argmax())
    rest = np.flatnonzero(count[first:] != count[first])
    return first + int(rest[0]) - 1 if len(rest) else len(count) - 1


def gaps(count: Counts, heights: Heights) -> list[int]:
    """The merges below the widest gap of every number of clusters, the widest first."""
    low = np.maximum(heights, SAME * heights[-1])
    wide = np.where(count[:-1] > 0, low[1:] / low[:-1], 0)
    found: dict[int, int] = {}
    for merge in np.argsort(-wide, kind="stable").tolist():
        if wide[merge] > 0:
            found.setdefault(int(count[merge]), merge)
    return list(found.values()) or [most(count)]


def merges(tree: Heights, least: int) -> Counts:
    """The number of clusters of at least so many after every merge."""
    leaves = len(tree) + 1
    sizes = np.concatenate([np.ones(leaves), tree[:, 3]])
    large = sizes >= least
    pairs = tree[:, :2].astype(np.int64)
    gained = large[leaves:].astype(np.int64) - large[pairs[:, 0]] - large[pairs[:, 1]]
    return (leaves if least <= 1 else 0) + np.cumsum(gained)


def members(tree: Heights, merged: int, least: int) -> list[Tensor]:
    """The clusters of at least so many after the first `merged` merges, by their rows."""
    groups = {leaf: [leaf] for leaf in range(len(tree) + 1)}
    for new, (a, b) in enumerate(tree[:merged, :2].astype(np.int64).tolist(), len(tree) + 1):
        groups[new] = groups.pop(a) + groups.pop(b)
    return [torch.tensor(sorted(g), dtype=torch.int64, device="cpu") for g in groups.values() if len(g) >= least]


def aligned(vectors: Tensor, turns: bool) -> bool:
    """(3)."""
    unit = vectors / vectors.norm(dim=1, keepdim=True).clamp(min=torch.finfo(vectors.dtype).tiny)
    cosines = unit @ unit.T
    up = torch.triu_indices(len(unit), len(unit), 1, device=unit.device)
    between = cosines[up[0], up[1]]
    if not len(between):
        return True
    return float((1 - (between.abs() if turns else between)).median()) <= 1 - math.cos(WIDEST)
