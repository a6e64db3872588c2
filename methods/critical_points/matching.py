"""Which rows, each known up to a factor and not in every entry, are of one neuron, and the one row they make.

(1)  rows normalised by one entry agree in another where |a - b| / |a| + |a - b| / |b| < 1e-3 ln n;
(2)  two rows are a pair if max(4, F (ln n - 2)) of n entries agree, for one of at most 20 normalising entries;
(3)  components of pairs are neurons; their row is the column of the medians r_ij of entry ratios over the members
with fewest unknowns and, of those, the least Σ |r_ij r_jk - r_ik|;
(4)  the merged rows are matched again, until their number stops falling.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from paramid.methods.piecewise.line_kinks import Array, Flags, Places

LOOSE, LEAST, NORMALISERS = 1e-3, 4, 20
MEMBERS, FEW, INCONSISTENT, SAME = 3, 5, 0.01, 1e-2  # what makes a group a neuron
BLOCK = 200  # rows compared with all others at once


class Group(NamedTuple):
    """A neuron: its row, NaN where unknown, how far the members' ratios contradict each other, and who they are."""

    row: Array
    inconsistency: float
    members: Places


def groups(rows: Array, factor: float, source: np.random.Generator) -> list[Group]:
    """The neurons of rows (witnesses, n), largest first: (1) to (4). Neighbours in the list are no pair."""
    found = [Group(row, 0.0, np.array([number])) for number, row in enumerate(rows)]
    count, apart = len(found) + 1, 1
    while len(found) < count:
        count = len(found)
        labels = components(np.array([group.row for group in found]), factor, apart, source)
        parts = [np.flatnonzero(labels == label) for label in range(labels.max(initial=-1) + 1)]
        joined = [np.concatenate([found[place].members for place in part]) for part in parts]
        found, apart = [merged(rows, members) for members in joined], 0
    return sorted(found, key=lambda group: -len(group.members))


def components(rows: Array, factor: float, apart: int, source: np.random.Generator) -> Places:
    """A number for each row, the same for those that pairs connect."""
    n = rows.shape[1]
    wanted = max(LEAST, factor * (np.log(n) - 2))
    able = np.flatnonzero(np.isfinite(rows).sum(1) >= wanted)
    found = np.zeros((len(able), len(able)), dtype=bool)
    for entry in source.permutation(n)[:NORMALISERS]:
        with np.errstate(divide="ignore", invalid="ignore"):
            normal = rows[able] / rows[able, entry, None]
            for begin in range(0, len(able), BLOCK):
                found[begin : begin + BLOCK] |= agreeing(normal[begin : begin + BLOCK], normal) >= wanted
    one, other = (able[place] for place in np.nonzero(found))
    far = np.abs(one - other) > apart
    pairs = csr_array((np.ones(far.sum()), (one[far], other[far])), shape=(len(rows), len(rows)))
    return np.asarray(connected_components(pairs, directed=False)[1], dtype=np.intp)


def agreeing(a: Array, b: Array) -> Places:
    """In how many entries rows agree by (1), (rows of a, rows of b)."""
    bound, count = LOOSE * np.log(a.shape[1]), np.zeros((len(a), len(b)), dtype=np.intp)
    for one, other in zip(a.T, b.T, strict=True):
        count += np.abs(one[:, None] - other) * (1 / np.abs(one)[:, None] + 1 / np.abs(other)) < bound
    return count


def merged(rows: Array, members: Places) -> Group:
    """The row (3)."""
    mine = rows[members]
    if len(members) == 1:
        return Group(mine[0], 0.0, members)
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # medians of nothing are NaN, as they should be
        ratio = np.nanmedian(mine[:, :, None] / mine[:, None, :], axis=0)
    ratio[~np.isfinite(ratio)] = np.nan
    off = np.abs(ratio[:, :, None] * ratio[None, :, :] - ratio[:, None, :])
    wrong = np.nansum(off, axis=(0, 2))
    unknown = np.isnan(ratio).sum(0)
    best = np.lexsort((wrong, unknown))[0]
    return Group(ratio[:, best], float(wrong[best]), members)


def accepted(found: list[Group], most: int) -> list[Group]:
    """The groups that are neurons, at most that many."""
    kept = list[Group]()
    for group in found:
        size = len(group.members)
        doubtful = group.inconsistency > INCONSISTENT and size <= FEW
        if size >= MEMBERS and not doubtful and not any(same(group.row, other.row) for other in kept):
            kept.append(group)
    return kept[:most]


def same(a: Array, b: Array) -> bool:
    """Whether two rows are one where both are known, up to a factor."""
    both: Flags = np.isfinite(a) & np.isfinite(b)
    a, b = (row[both] / max(float(np.linalg.norm(row[both])), 1e-300) for row in (a, b))
    return bool(min(np.abs(a - b).max(initial=0), np.abs(a + b).max(initial=0)) < SAME)
