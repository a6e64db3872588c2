"""The judge of quadratic DenseNets: how far features, layers and rows are from the truth, modulo what nobody can see.

With fresh inputs x and Q_l the rotation that brings the claimed features S_l closest to the true S*_l,

    (1)  relative_mse     = E (f - f*)² / Var f*,
    (2)  feature_error_l  = min_Q E‖S*_l - Qᵀ S_l‖² / E‖S*_l‖²   (zeros fill up where widths differ),
    (3)  gram_error_l     = ‖C_lᵀ C_l - C*_lᵀ C*_l‖_F / ‖C*_lᵀ C*_l‖_F,

where row i of C_l holds S_{l,i} as a function of the true features below: its coefficients K_{l,j} for j < 2, and for
j ≥ 2 the symmetric matrix Q_jᵀ R_jᵀ diag(K_{l,j}[i]) R_j Q_j of its quadratic form in S*_j. For a plain claim (R = I)
and l < L also, over the rows of K_l matched one to one up to sign,

    (4)  row_error_l = max_i min_± ‖w_i ∓ ŵ_i‖ / ‖w_i‖, at most √2.

α_l is absorbed by the scale of S_l: claims are first brought to the true ones.

Reference: Allen-Zhu & Li, Backward feature correction, arXiv:2001.04413; (4) is ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from paramid.judging.metrics import EXACT, Metrics, Unjudgeable
from paramid.judging.output_errors import values_of
from paramid.words.densenet import DenseNet
from paramid.words.network import Teacher
from paramid.words.neuron_distances import CAP, match

RIGHT = 1e-4  # a feature error, which is squared: one per cent


def score(truth: DenseNet, claim: DenseNet, x: Tensor) -> Metrics:
    """All of (1) to (4), and whether every layer is there."""
    metrics = outputs(truth, claim, x)
    claim = scaled(claim, truth.alphas)
    turns: dict[int, Tensor] = {}
    theirs, ours = truth.layers(x)[1], claim.layers(x)[1]
    if not all(bool(torch.isfinite(came).all()) for came in ours):
        raise Unjudgeable("the features of the net are beyond any number: squares of its weights overflow")
    worst = 0.0
    for layer, (wanted, came) in enumerate(zip(theirs, ours, strict=False), 2):
        metrics[f"feature_error_{layer}"], turns[layer] = procrustes(wanted, came)
        a, b = (gram(net, layer, turns, mine) for net, mine in ((truth, False), (claim, True)))
        metrics[f"gram_error_{layer}"] = float((a - b).norm() / a.norm())
        worst = max(worst, float((a - b).abs().max()) if layer == truth.depth else 0.0)
    whole = claim.depth == truth.depth
    features = [metrics[f"feature_error_{layer}"] for layer in turns]
    metrics["identified"] = float(whole and max(features) < RIGHT)
    if claim.plain:
        errors, entry = rows(truth, claim)
        metrics |= errors
        worst = max(worst, entry) if whole else math.inf
        metrics["bits"] = min(53.0, -math.log2(worst)) if worst else 53.0
    metrics["exact"] = float(whole and claim.plain and claim.forms is None and worst < EXACT)
    return metrics


def outputs(truth: Teacher, claim: Teacher, x: Tensor) -> Metrics:
    """(1), or nothing where the claim gives no such values: what is wrong with them is said elsewhere."""
    with torch.no_grad():
        y, z = truth(x), values_of(claim, x)
    if not isinstance(z, Tensor) or z.shape != y.shape or not bool(torch.isfinite(z).all()):
        return {}
    return {"relative_mse": float((z.to(y) - y).square().mean() / y.var(unbiased=False))}


def scaled(net: DenseNet, alphas: Sequence[float]) -> DenseNet:
    """The same features over other α_l: S_l grows by s_l = √(α_l / α'_l), what sees h_l shrinks by s_l²."""
    s = [math.sqrt(mine / theirs) for mine, theirs in zip(net.alphas, alphas, strict=False)]
    weights = []
    for layer, size in enumerate(s, 2):
        parts = [k / (s[j - 2] ** 2 if j > 1 else 1) for j, k in net.parts(layer).items()]
        weights.append(size * torch.cat(parts, dim=1))
    return replace(net, weights=tuple(weights), alphas=tuple(alphas[: len(s)]), forms=None)


def procrustes(wanted: Tensor, came: Tensor) -> tuple[float, Tensor]:
    """(2) over rows, and Q, square in the larger of the two widths."""
    width = max(wanted.shape[1], came.shape[1])
    a, b = (torch.nn.functional.pad(s, (0, width - s.shape[1])) for s in (wanted, came))
    u, _, v = torch.linalg.svd(b.T @ a)
    return float((a - b @ (u @ v)).square().sum() / a.square().sum()), u @ v


def gram(net: DenseNet, layer: int, turns: dict[int, Tensor], claimed: bool) -> Tensor:
    """C_lᵀ C_l of (3), the layers that this one does not see being zero."""
    parts, columns = net.parts(layer), []
    width = net.weights[layer - 2].shape[0]
    for j in range(layer):
        if j > 1:
            columns.append(forms(parts.get(j), net.mixes[j - 2], turns[j], claimed, width))
        else:
            columns.append(parts.get(j, net.weights[0].new_zeros(width, net.inputs)))
    c = torch.cat(columns, dim=1)
    return c.T @ c


def forms(k: Tensor | None, mix: Tensor, turn: Tensor, claimed: bool, width: int) -> Tensor:
    """The quadratic forms of rows of K_{l,j} in the true features, (width, entries), off-diagonal ones times √2."""
    i, j = torch.triu_indices(len(turn), len(turn), device=turn.device)
    if k is None:
        return turn.new_zeros(width, len(i))
    r = torch.nn.functional.pad(mix, (0, len(turn) - mix.shape[1]))
    r = r @ turn if claimed else r
    scale = torch.ones_like(r[0, i]).masked_fill_(i != j, CAP)
    return (k @ (r[:, i] * r[:, j])) * scale


def rows(truth: DenseNet, claim: DenseNet) -> tuple[Metrics, float]:
    """(4) by layer below the last, and the largest error of an entry."""
    metrics, worst = {}, 0.0
    order: dict[int, Tensor] = {}  # of the claimed features by true ones; -1 where there is none
    for layer in range(2, min(truth.depth, claim.depth + 1)):
        a, b = truth.weights[layer - 2], permuted(claim, truth, layer, order)
        size = a.norm(dim=1).mean()
        mine, theirs, signs = match((a / size).T, (b / size).T, None)
        gap = a[mine] - signs[:, None] * b[theirs]
        errors = a.new_full((len(a),), CAP)
        errors[mine] = (gap.norm(dim=1) / a[mine].norm(dim=1)).clamp(max=CAP)
        metrics[f"row_error_{layer}"] = float(errors.max())
        found = len(mine) == len(a) == len(b)
        worst = max(worst, float(gap.abs().max()) if found else math.inf)
        order[layer] = torch.full((len(a),), -1, device="cpu").index_copy(0, mine, theirs)
    return metrics, worst


def permuted(claim: DenseNet, truth: DenseNet, layer: int, order: dict[int, Tensor]) -> Tensor:
    """The claimed K_l over the true layer's columns."""
    parts, width = claim.parts(layer), claim.weights[layer - 2].shape[0]
    columns = []
    for j, wanted in truth.parts(layer).items():
        part = parts.get(j, wanted.new_zeros(width, wanted.shape[1]))
        if j > 1 and j in parts:
            part = torch.cat([part, part.new_zeros(width, 1)], dim=1)[:, order[j]]
        columns.append(part)
    return torch.cat(columns, dim=1)
