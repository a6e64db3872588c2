"""How far spans, directions, entangled weights and Gram matrices are from the true ones, up to order and sign."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from paramid.judging.metrics import EXACT, Metrics, Unjudgeable, bits
from paramid.words.claims import EntangledWeights
from paramid.words.network import Network
from paramid.words.neuron_distances import CAP, CLOSE, assign, distances, match

ENTANGLED, FOUND = 0.1, 0.05  # what the thesis' §4.4 and §4.2.3 take for the same entangled direction
ENTANGLED_METRICS = {
    "entangled_error": "max over true neurons of the distance of their direction at 0 from its match, at most √2",
    "false_positives": "share of claimed directions that are 0.1 and more from every true one",
    "layers_right": "higher is better: share of true neurons whose direction is within 0.1 and in its layer",
    "assigned": "higher is better: share of the directions claimed for a layer that are within 0.1 of one of it",
    "entangled_found": "higher is better: share of true neurons with a claimed direction within 0.05",
    "entangled_strays": "share of claimed directions that are farther than 0.05 from every true one",
}


def score_subspace(truth: Tensor, claim: Tensor) -> Metrics:
    """Sine of the largest principal angle, and ‖P - P̂‖_F; a span of another dimension is off by a whole axis."""
    (q, _), (p, r) = torch.linalg.qr(truth), torch.linalg.qr(claim)
    if (claim.shape[1] and float(r.diagonal().abs().min()) < 1e-12 * float(r.abs().max())) or not bool(r.any()):
        raise Unjudgeable(f"the {claim.shape[1]} columns of the basis are dependent")
    outside, missing = p - q @ (q.T @ p), q - p @ (p.T @ q)
    sine = max(_spectral(outside), _spectral(missing))
    return {
        "subspace_error": min(sine, 1.0),
        "subspace_error_frobenius": math.hypot(float(outside.norm()), float(missing.norm())),
    }


def score_gram(truth: Tensor, claim: Tensor) -> Metrics:
    """Relative distance in Frobenius norm."""
    if truth.shape != claim.shape:
        raise Unjudgeable(f"the matrix has shape {tuple(claim.shape)}; {tuple(truth.shape)} was wanted")
    worst = float((truth - claim).abs().max())
    gap, size = float((truth - claim).norm()), float(truth.norm())
    error = gap / size if size else (math.inf if gap else 0.0)
    error = math.inf if math.isnan(error) else error  # squares of huge weights overflow
    return {
        "gram_error": error,
        "identified": float(error < CLOSE),
        "exact": float(worst < EXACT),
        "bits": bits(worst),
    }


def score_directions(truth: Tensor, claim: Tensor) -> Metrics:
    """Columns matched up to sign; a zero column is no direction and counts as not found."""
    rows, columns, _ = match(truth, claim, None)
    distances = truth.new_full((truth.shape[1],), CAP)
    a, b = truth[:, rows], claim[:, columns]
    gaps = torch.minimum((a - b).norm(dim=0), (a + b).norm(dim=0)).clamp(max=CAP)
    distances[rows] = torch.where(b.norm(dim=0) > 0, gaps, CAP)
    return weight_metrics([distances], excess=claim.shape[1] - len(columns))


def score_entangled(truth: EntangledWeights, claim: EntangledWeights) -> Metrics:
    """Directions of all layers, matched up to sign and length without a look at their labels; then the labels."""
    lengths = claim.columns.norm(dim=0)
    a, b = truth.columns / truth.columns.norm(dim=0), claim.columns / torch.where(lengths > 0, lengths, 1.0)
    gaps = torch.minimum(distances(a, b), distances(a, -b))
    rows, columns = assign(gaps)
    errors = gaps.new_full((gaps.shape[0],), CAP).index_copy(0, rows, gaps[rows, columns].clamp(max=CAP))
    labels = torch.zeros_like(errors).index_copy(0, rows, claim.layers[columns].to(errors.dtype))
    right = (errors < ENTANGLED) & (labels == truth.layers)
    strays = gaps.amin(0) >= ENTANGLED
    by_layer = {f"entangled_error_{int(n)}": float(errors[truth.layers == n].max()) for n in truth.layers.unique()}
    told = {int(n): gaps[truth.layers == n][:, claim.layers == n] for n in truth.layers.unique()}
    return {
        "entangled_error": float(errors.max()),
        **by_layer,
        "false_positives": share(strays),
        "layers_right": share(right),
        **{f"assigned_{n}": share(near.amin(0) < ENTANGLED) for n, near in told.items() if near.numel()},
        "entangled_found": share(gaps.amin(1) <= FOUND) if gaps.shape[1] else 0.0,
        "entangled_strays": share(gaps.amin(0) > FOUND),
    }


def gram(network: Network) -> Tensor:
    """All that a shallow net of squares shows: Q with f(x) = [x, 1] Q [x, 1]ᵀ, of size inputs + 1."""
    lifted = torch.cat([network.weights[0], network.biases[0][None]])
    q = (lifted * network.weights[1][:, 0]) @ lifted.T
    q[-1, -1] += network.biases[1][0]
    return q


def span_of_squares(columns: Tensor) -> Tensor:
    """An orthonormal basis of span{w_k w_kᵀ}, as `Subspace` wants it."""
    i, j = torch.triu_indices(len(columns), len(columns), device=columns.device)
    scale = torch.ones_like(columns[i, 0]).masked_fill_(i != j, CAP)
    return torch.linalg.qr(columns[i] * columns[j] * scale[:, None])[0]


def weight_metrics(distances: list[Tensor], excess: int) -> Metrics:
    """The metrics of distances between neurons by layer, and of how many were claimed in excess."""
    all_layers = torch.cat(distances)
    metrics = {
        "weight_error": float(all_layers.max()),
        "weight_error_median": float(all_layers.median()),
        "recovered": float((all_layers < CLOSE).double().mean()),
        "excess": float(excess),
    }
    if len(distances) > 1:
        metrics |= {f"weight_error_{layer}": float(d.max()) for layer, d in enumerate(distances, 1)}
    return metrics


def share(passed: Tensor) -> float:
    """How many of all, 0 of none."""
    return float(passed.sum()) / max(1, len(passed))


def _spectral(matrix: Tensor) -> float:
    return float(torch.linalg.matrix_norm(matrix, 2)) if matrix.numel() else 0.0
