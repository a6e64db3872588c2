r"""Rows of a deeper layer from the planes of its kinks: each kink shows the weights on the neurons active there.

With (A, a) the layers below near a kink x_k, S the neurons active there and (n_k, b_k) its plane, a kink of row ρ has

    (1)  (n_k, b_k) ∝ Σ_{j ∈ S} ρ_j (A_j, a_j) + β (0, 1),

which for |S| ≤ D is the row on S, up to one factor. Kinks are of one neuron if

    (2)  their rows agree up to a factor on all entries that both have, bias included,

and where |S| > D, against a row (ρ, β) of which only the entries S \\ K are missing,

    (3)  (n_k, b_k) and Σ_{j ∈ S ∩ K} ρ_j (A_j, a_j) + β (0, 1) are parallel outside span {(A_j, a_j) : j ∈ S \\ K},

and then (1) tells those entries. A row grows from the kink that shows most.

Where no kink of a neuron of the second layer has |S| ≤ D, two of them, next to each other, have planes

    (4)  (n_2, b_2) ∝ (n_1, b_1) + Σ_{j ∈ S_2 \ S_1} ρ_j (w_j, b_j) - Σ_{j ∈ S_1 \ S_2} ρ_j (w_j, b_j)

with the first layer's (w_j, b_j), which like (3) tells the entries of the few j that switch between them, until no more
than D of S_1 are left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paramid.methods.piecewise.depth.stack import Rows, Stack, size
from paramid.methods.piecewise.line_kinks import Array, Flags, Places
from paramid.methods.piecewise.planes import Planes

CONDITION, RESIDUAL, TIMES = 1e6, 1e-5, 100.0  # of A_S; of (1) where it has more equations than entries
ROUNDING = 1e-13
USABLE = 1e-5  # how sure a partial row must be
AGREE, LOOSEST, UNITS = 1e-6, 1e-3, 30.0  # (2), relative: at least, at most, in what they are known to
OVERLAP, SLIGHT = 3, 1e-4  # entries in common, and their share of a row
TWO, TWO_SHARE, TWO_SURE = 1e-8, 1e-2, 1e-9  # the same for two entries in common
GROWTHS = 6
ALIKE = 1e-8  # 1 - |cos| of two rows that are one


class Partial(NamedTuple):
    """(1) for every kink: a row with its bias, of length 1, which entries it has, and how unsure they are."""

    row: Array
    has: Flags
    unsure: Array


class Group(NamedTuple):
    """A row with its bias that kinks agree on, which entries they have shown, and which kinks they are."""

    row: Array
    has: Flags
    kinks: Places


def partial_rows(stack: Stack, kinks: Planes) -> Partial:
    """(1) for kinks with at most D neurons active."""
    here, count = stack.local(kinks.x), len(kinks.b)
    inputs, active = kinks.n.shape[1], here.active.sum(1)
    row, unsure = np.zeros((count, stack.width + 1)), np.full(count, np.inf)
    few = np.flatnonzero((active > 0) & (active <= inputs))
    u, sizes, v = np.linalg.svd(here.slope[few], full_matrices=False)  # (few, width, r), (few, r, inputs)
    last = active[few] - 1
    least = sizes[np.arange(len(few)), last]
    kept = sizes >= least[:, None]
    shares = np.einsum("krd,kd->kr", v, kinks.n[few]) * kept
    coefficients = np.einsum("kwr,kr->kw", u, shares / np.where(kept, sizes, 1))
    left = np.linalg.norm(kinks.n[few] - np.einsum("krd,kr->kd", v, shares), axis=1)
    fits = (last + 1 == inputs) | (left <= np.maximum(RESIDUAL, TIMES * kinks.unsure[few]))
    good = fits & (least >= sizes[:, 0] / CONDITION)
    few, coefficients, least = few[good], coefficients[good], least[good]
    h = stack(kinks.x[few])
    row[few, :-1] = coefficients * here.active[few]
    row[few, -1] = -np.einsum("kw,kw->k", row[few, :-1], h)
    length = np.linalg.norm(row[few], axis=1)
    row[few] /= length[:, None]
    unsure[few] = (kinks.unsure[few] + ROUNDING) / least * size(kinks.x[few]) / length
    has = np.hstack([here.active, np.ones((count, 1), bool)]) & np.isfinite(unsure)[:, None]
    return Partial(row, has, unsure)


def groups(partial: Partial) -> list[Group]:
    """(2): rows that grow from the kinks that show most, merged where they are one."""
    known = partial.has.sum(1)
    usable = np.flatnonzero((partial.unsure < USABLE) & (known >= 2))
    order = usable[np.lexsort((partial.unsure[usable], -known[usable]))]
    free = np.zeros(len(known), bool)
    free[order] = True
    found = []
    for first in order:
        if free[first]:
            found.append(grown(partial, int(first), free))
            free[found[-1].kinks] = False
    found.sort(key=lambda group: -len(group.kinks))
    return merged(found)


def grown(partial: Partial, first: int, free: Flags) -> Group:
    """The row of one kink with all that agree, and all that agree with these."""
    row, has = partial.row[first].copy(), partial.has[first].copy()
    members = np.zeros(len(free), bool)
    members[first] = True
    for _ in range(GROWTHS):
        factor, agree = agreement(partial, row, has, partial.unsure[first])
        joining = np.flatnonzero(agree & free & ~members)
        if not len(joining):
            break
        for k in joining[np.argsort(partial.unsure[joining])]:
            new = partial.has[k] & ~has
            row[new] = factor[k] * partial.row[k, new]
            has |= new
        members[joining] = True
    return Group(row, has, np.flatnonzero(members))


def agreement(partial: Partial, row: Array, has: Flags, unsure: float) -> tuple[Array, Flags]:
    """(2) for every kink against one row: the factor, and whether they agree."""
    both = partial.has & has
    common = both.sum(1)
    mine, theirs = np.square(row * both).sum(1), np.square(partial.row * both).sum(1)
    factor = (partial.row * row * both).sum(1) / np.where(theirs > 0, theirs, 1)
    off = np.sqrt(np.square((row - factor[:, None] * partial.row) * both).sum(1) / np.where(mine > 0, mine, 1))
    share = np.sqrt(np.minimum(theirs, mine / np.square(row).sum()))
    with np.errstate(divide="ignore", invalid="ignore"):
        loose = np.clip(UNITS * (partial.unsure + unsure) / np.maximum(share, AGREE), AGREE, LOOSEST)
    agree = (common >= OVERLAP) & (off < loose) & (share > SLIGHT)
    two = (common == TWO_ENTRIES) & (off < TWO) & (share > TWO_SHARE) & (partial.unsure < TWO_SURE)
    return factor, agree | two


TWO_ENTRIES = OVERLAP - 1


def merged(found: list[Group]) -> list[Group]:
    """Groups that are one row after all are put together."""
    kept: list[Group] = []
    for group in found:
        for number, other in enumerate(kept):
            both = group.has & other.has
            a, b = group.row[both], other.row[both]
            if len(a) >= OVERLAP and 1 - abs(a @ b) / (np.linalg.norm(a) * np.linalg.norm(b) + 1e-300) < ALIKE:
                new = group.has & ~other.has
                row = np.where(new, (a @ b) / (a @ a) * group.row, other.row)
                kept[number] = Group(row, other.has | new, np.concatenate([other.kinks, group.kinks]))
                break
        else:
            kept.append(group)
    return kept


def extended(stack: Stack, group: Group, kinks: Planes) -> Group:
    """A row with the entries that further kinks show by (3)."""
    here, inputs = stack.local(kinks.x), kinks.n.shape[1]
    lifted = np.concatenate([here.slope, here.offset[:, :, None]], axis=2)  # (kinks, width, D + 1)
    plane = np.hstack([kinks.n, kinks.b[:, None]])
    row, has, members = group.row.copy(), group.has.copy(), list(group.kinks)
    for _ in range(GROWTHS):
        missing = here.active & ~has[:-1]
        count = missing.sum(1)
        common = (here.active & has[:-1]).sum(1)
        may = np.flatnonzero((count > 0) & (np.minimum(common, inputs - count) >= OVERLAP))
        if not len(may):
            break
        known = here.active[may] & has[:-1]
        told = np.einsum("kw,kwd->kd", known * row[:-1], lifted[may])
        told[:, -1] += row[-1]
        fits, weights = shown(lifted[may], told, plane[may], missing[may], kinks.unsure[may])
        if not fits.any():
            break
        for k in np.flatnonzero(fits)[np.argsort(kinks.unsure[may][fits])]:
            new = missing[may[k]] & ~has[:-1]
            row[:-1][new] = weights[k, new]
            has[:-1] |= new
        members += list(may[fits])
    return Group(row, has, np.unique(np.array(members, dtype=np.intp)))


def completed(stack: Stack, found: list[Group], kinks: Planes) -> list[Group]:
    """The groups grown by (3), and further ones by (4) from kinks that are of none that is whole."""
    found = [extended(stack, group, kinks) for group in found]
    if len(stack.layers) == 1:
        free = np.ones(len(kinks.b), bool)
        for group in found:
            free[group.kinks] &= not group.has.all()
        for first in range(len(kinks.b)):
            if free[first] and (another := begun(stack, kinks, first)) is not None:
                found.append(another)
                free[another.kinks] = False
    return merged(found)


def begun(stack: Stack, kinks: Planes, first: int) -> Group | None:
    """(4): a row of the second layer from one kink and those next to it, and those next to these."""
    (layer,) = stack.layers
    lifted, plane = np.hstack([layer.w, layer.b[:, None]]), np.hstack([kinks.n, kinks.b[:, None]])
    active = stack.local(kinks.x).active
    toggled, sign = active ^ active[first], np.where(active, 1.0, -1.0)
    row, has, members = np.zeros(len(lifted)), np.zeros(len(lifted), bool), np.arange(len(active)) == first
    for _ in range(len(lifted)):
        missing = toggled & ~has
        count = missing.sum(1)
        may = np.flatnonzero(~members & (count > 0) & (count <= kinks.n.shape[1] - OVERLAP))
        told = plane[first] + (toggled & has)[may] * sign[may] * row @ lifted
        fits, weights = shown(sign[may, :, None] * lifted, told, plane[may], missing[may], kinks.unsure[may])
        if not fits.any():
            break
        members[may[fits]] = True
        for k in np.flatnonzero(fits)[np.argsort(kinks.unsure[may][fits])]:
            new = missing[may[k]] & ~has
            row[new] = weights[k, new]
            has |= new
    left = active[first] & ~has
    if left.sum() > kinks.n.shape[1]:
        return None
    rest = plane[first] - (active[first] & has) * row @ lifted
    last = np.append(np.zeros(lifted.shape[1] - 1), 1.0)
    found = np.linalg.lstsq(np.vstack([lifted[left], last]).T, rest, rcond=None)[0]
    row[left] = found[:-1]
    return Group(np.append(row, found[-1]), np.append(has | left, True), np.flatnonzero(members))


def shown(lifted: Array, told: Array, plane: Array, missing: Flags, unsure: Array) -> tuple[Flags, Array]:
    """(3) for kinks, with what is told of their planes: whether it holds, and the missing entries."""
    u, sizes, v = np.linalg.svd(lifted * missing[:, :, None], full_matrices=False)
    count = missing.sum(1)
    least = sizes[np.arange(len(count)), count - 1]
    kept = (sizes >= least[:, None]) & (sizes > 0)
    both = np.stack([told, plane], axis=1)
    shares = np.einsum("krd,kbd->kbr", v, both) * kept[:, None]
    told_out, plane_out = (both - shares @ v).transpose(1, 0, 2)
    length = np.linalg.norm(plane_out, axis=1), np.linalg.norm(told_out, axis=1)
    factor = np.einsum("kd,kd->k", told_out, plane_out) / np.maximum(np.square(length[0]), 1e-300)
    off = np.linalg.norm(told_out - factor[:, None] * plane_out, axis=1) / np.maximum(length[1], 1e-300)
    scale = np.linalg.norm(plane, axis=1) / np.maximum(length[0], 1e-300)
    fits = (off < np.clip(UNITS * (unsure + ROUNDING) * scale, AGREE, LOOSEST)) & (scale < 1 / SLIGHT)
    fits &= (length[1] > SLIGHT * np.linalg.norm(told, axis=1)) & (least * CONDITION > sizes[:, 0])
    rest = factor[:, None] * shares[:, 1] - shares[:, 0]
    return fits, np.einsum("kwr,kr->kw", u, rest / np.where(kept, sizes, 1)) * missing


def as_rows(found: list[Group], width: int) -> Rows:
    """Rows of length 1 without their biases."""
    row = np.stack([group.row * group.has for group in found]) if found else np.zeros((0, width + 1))
    has = np.stack([group.has for group in found]) if found else np.zeros((0, width + 1), bool)
    row = row / np.maximum(np.linalg.norm(row[:, :-1], axis=1), 1e-300)[:, None]
    return Rows(row[:, :-1], row[:, -1], has[:, :-1])
