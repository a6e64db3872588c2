"""The judge: how far a claim is from the truth, modulo what no oracle can see.

Neurons are matched one to one, so that two copies of one neuron never count twice, and differences are taken
explicitly: sqrt(2 - 2 cos) would bottom out at 1e-8. A distance is capped at √2, which is what silence costs.
Which sign of a neuron is the right one is decided by what it sends on: where the outer weights agree in sign nothing
may flip, where they disagree the neuron is read as its mirror image (odd and logistic activations only).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from paramid import network as networks
from paramid.activations import activation as named_activation
from paramid.claims import Claim, Directions, EntangledWeights, Gram, Subspace
from paramid.network import Network

Metrics = dict[str, float]
Teacher = Callable[[Tensor], Tensor]

CAP = math.sqrt(2)
CLOSE, EXACT, SHIFT, BITS = 1e-2, 1e-8, 1e-1, 53
ENTANGLED = 0.1  # what the thesis' §4.4 takes for the same entangled direction
TIE = 1e-3  # weight of a shift in the matching: it decides between neurons of the same direction only


class Unjudgeable(ValueError):
    """A claim that has no error because it is not of the kind or shape that can have one."""


def score(truth: Claim, claim: Claim) -> Metrics:
    """Every metric of a claim against the true claim of the same kind."""
    claim = claim.copy()
    if reason := claim.non_finite():
        raise Unjudgeable(f"{type(claim).__name__}: {reason}")
    if isinstance(truth, Network) and isinstance(claim, Network):
        return score_network(truth, claim)
    if isinstance(truth, Directions) and isinstance(claim, Directions):
        return score_directions(truth.columns, claim.columns)
    if isinstance(truth, Subspace) and isinstance(claim, Subspace):
        return score_subspace(truth.basis, claim.basis)
    if isinstance(truth, EntangledWeights) and isinstance(claim, EntangledWeights):
        return score_entangled(truth, claim)
    if isinstance(truth, Gram) and isinstance(claim, Gram):
        return score_gram(truth.matrix, claim.matrix)
    raise Unjudgeable(f"a {type(claim).__name__} cannot be judged against a {type(truth).__name__}")


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
        "bits": _bits(worst),
    }


def score_directions(truth: Tensor, claim: Tensor) -> Metrics:
    """Columns matched up to sign; a zero column is no direction and costs what silence costs."""
    rows, columns, _ = match(truth, claim, None)
    distances = truth.new_full((truth.shape[1],), CAP)
    a, b = truth[:, rows], claim[:, columns]
    gaps = torch.minimum((a - b).norm(dim=0), (a + b).norm(dim=0)).clamp(max=CAP)
    distances[rows] = torch.where(b.norm(dim=0) > 0, gaps, CAP)
    return _weight_metrics([distances], excess=claim.shape[1] - len(columns))


def score_entangled(truth: EntangledWeights, claim: EntangledWeights) -> Metrics:
    """Directions of all layers, matched up to sign and length without a look at their labels; then the labels."""
    lengths = claim.columns.norm(dim=0)
    a, b = truth.columns / truth.columns.norm(dim=0), claim.columns / torch.where(lengths > 0, lengths, 1.0)
    gaps = torch.minimum(distances(a, b), distances(a, -b))
    rows, columns = assign(gaps)
    errors = gaps.new_full((gaps.shape[0],), CAP).index_copy(0, rows, gaps[rows, columns].clamp(max=CAP))
    labels = torch.zeros_like(errors).index_copy(0, rows, claim.layers[columns].to(errors.dtype))
    right = (errors < ENTANGLED) & (labels == truth.layers)
    strays = (gaps.amin(0) >= ENTANGLED).double()
    by_layer = {f"entangled_error_{int(n)}": float(errors[truth.layers == n].max()) for n in truth.layers.unique()}
    return {
        "entangled_error": float(errors.max()),
        **by_layer,
        "false_positives": float(strays.sum()) / max(1, len(strays)),
        "layers_right": float(right.double().mean()),
    }


def score_network(truth: Network, claim: Network) -> Metrics:
    """Weights, shifts, outer weights and signs of a layered network."""
    if not truth.widths:
        raise Unjudgeable("a network without hidden layers has no neurons to compare; its outputs can be")
    truth, claim = networks.normalise(truth), networks.normalise(claim)
    aligned, found, sign_share = align(truth, claim)
    distances, shifts = [], []
    for layer, hit in enumerate(found):
        gap = (truth.weights[layer] - aligned.weights[layer]).norm(dim=0)
        distances.append(torch.where(hit, gap, CAP).clamp(max=CAP))
        offset = (truth.biases[layer] - aligned.biases[layer]).abs()
        shifts.append(torch.where(hit, offset, CAP))
    bias = torch.cat(shifts)
    outer = max(
        float((truth.weights[-1] - aligned.weights[-1]).abs().max()),
        float((truth.biases[-1] - aligned.biases[-1]).abs().max()),
    )
    excess = sum(claim.widths) - sum(int(hit.sum()) for hit in found)
    metrics = _weight_metrics(distances, excess)
    metrics |= {
        "bias_error": float(bias.norm()),
        "bias_error_max": float(bias.max()),
        "outer_error": outer,
        "sign_accuracy": sign_share,
    }
    worst = max(metrics["bias_error_max"], outer, _largest_entry(truth, aligned))
    right = metrics["weight_error"] < CLOSE and sign_share == 1 and max(metrics["bias_error"], outer) < SHIFT
    metrics |= {
        "identified": float(right and not excess),
        "exact": float(worst < EXACT and not excess),
        "bits": _bits(worst),
    }
    if _sees_only_gram(truth):
        metrics |= score_gram(gram(truth), gram(claim))
    return metrics


def align(truth: Network, claim: Network) -> tuple[Network, list[Tensor], float]:
    """The claim with its hidden neurons in the truth's order and signs, layer after layer.

    Neurons that the claim lacks become zeros and excess ones are left out. Also: which true neurons were matched, by
    layer, and the share of all whose sign is right.
    """
    if truth.activations != claim.activations or truth.inputs != claim.inputs or truth.outputs != claim.outputs:
        raise Unjudgeable(
            f"a network {claim.inputs}-{claim.outputs} with {claim.activations} cannot be judged against "
            f"{truth.inputs}-{truth.outputs} with {truth.activations}"
        )
    found, signs_right = [], 0.0
    for layer, width in enumerate(truth.widths):
        last = layer == len(truth.widths) - 1
        mirrored = _mirrored(truth, claim, layer, last)
        a = torch.cat([truth.weights[layer], TIE * truth.biases[layer][None]])
        b = torch.cat([claim.weights[layer], TIE * claim.biases[layer][None]])
        rows, columns, signs = match(a, b, mirrored)
        signs_right += _signs_right(truth.weights[layer], claim.weights[layer], mirrored)
        symmetric = named_activation(truth.activations[layer]).symmetry is not None
        claim = networks.permute(claim, layer, columns)
        claim = networks.flip(claim, layer, signs) if symmetric else claim
        claim = _spread(claim, layer, rows, width)
        found.append(torch.zeros(width, dtype=torch.bool, device="cpu").index_fill(0, rows, True))
    return claim, found, signs_right / max(1, sum(truth.widths))


def match(truth: Tensor, claim: Tensor, mirrored: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """The one-to-one matching of columns with the least sum of capped distances: rows, columns and signs.

    `mirrored` (true, claimed) says for every pair whether the claim is read as its mirror image; None leaves every sign
    free. Pairs at the cap are no matches.
    """
    straight, turned = distances(truth, claim), distances(truth, -claim)
    use = turned < straight if mirrored is None else mirrored
    cost = torch.where(use, turned, straight).clamp(max=CAP)
    rows, columns = assign(cost)
    close = cost[rows, columns] < CAP
    rows, columns = rows[close], columns[close]
    return rows, columns, 1.0 - 2.0 * use[rows, columns].to(truth.dtype)


def assign(cost: Tensor) -> tuple[Tensor, Tensor]:
    """The one-to-one matching with the least sum of costs: rows and columns."""
    rows, columns = linear_sum_assignment(cost.numpy())
    return torch.from_numpy(rows), torch.from_numpy(columns)


def distances(a: Tensor, b: Tensor) -> Tensor:
    """‖a_i - b_j‖ over all pairs of columns, by explicit differences."""
    return torch.cdist(a.T.contiguous(), b.T.contiguous(), compute_mode="donot_use_mm_for_euclid_dist")


def score_outputs(teacher: Teacher, claim: Teacher, inputs: Iterable[Tensor]) -> Metrics:
    """Max |f - g| over fresh inputs given in chunks, the same over max |f|, and the root mean square of f - g."""
    worst = largest = squares = 0.0
    count = 0
    for x in inputs:
        with torch.no_grad():
            y, z = teacher(x), said(claim, x)
        if not isinstance(z, Tensor) or z.shape != y.shape:
            came = f"a tensor {tuple(z.shape)}" if isinstance(z, Tensor) else f"a {type(z).__name__}"
            raise Unjudgeable(f"the claimed function gave {came} for {len(x)} rows; {tuple(y.shape)} was wanted")
        if not z.is_floating_point() or z.layout is not torch.strided:
            raise Unjudgeable(f"the claimed function gave {z.dtype} values, {z.layout}; real numbers were wanted")
        if not bool(torch.isfinite(z).all()):
            raise Unjudgeable("the claimed function gave non-finite values")
        worst = max(worst, float((y - z).abs().max()))
        largest = max(largest, float(y.abs().max()))
        squares, count = squares + float((y - z).square().sum()), count + y.numel()
    relative = worst / largest if largest else (0.0 if worst == 0 else math.inf)
    rmse = math.sqrt(squares / max(1, count))
    return {"output_error": worst, "output_error_relative": relative, "output_rmse": rmse}


def said(claim: Teacher, x: Tensor) -> Tensor:
    """What a claim gives for x; whatever it raises is its own fault."""
    try:
        return claim(x)
    except Exception as error:
        raise Unjudgeable(f"the claimed function raised {type(error).__name__}: {error}") from error


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


def _mirrored(truth: Network, claim: Network, layer: int, last: bool) -> Tensor:
    """Which pairs (true, claimed) are compared as mirror images."""
    symmetry = named_activation(truth.activations[layer]).symmetry
    a, b = truth.weights[layer], claim.weights[layer]
    if symmetry is None:
        return torch.zeros(a.shape[1], b.shape[1], dtype=torch.bool, device="cpu")
    if last and symmetry != "even":
        return truth.weights[-1] @ claim.weights[-1].T < 0
    return distances(a, -b) < distances(a, b)


def _signs_right(truth: Tensor, claim: Tensor, mirrored: Tensor) -> float:
    """How many true neurons, matched up to sign, have the sign that their mirroring demands."""
    straight, turned = distances(truth, claim), distances(truth, -claim)
    right = (straight <= turned) != mirrored
    gaps = torch.minimum(straight, turned).clamp(max=CAP)
    cost = gaps + TIE * ~right  # between w and -w, both there, the right one is meant
    rows, columns = assign(cost)
    return float(right[rows, columns].sum())


def _spread(claim: Network, layer: int, rows: Tensor, width: int) -> Network:
    """The claim with its neurons at `rows` of a layer of `width`, zeros elsewhere."""
    w, b = list(claim.weights), list(claim.biases)
    w[layer] = w[layer].new_zeros(w[layer].shape[0], width).index_copy(1, rows, w[layer])
    b[layer] = b[layer].new_zeros(width).index_copy(0, rows, b[layer])
    w[layer + 1] = w[layer + 1].new_zeros(width, w[layer + 1].shape[1]).index_copy(0, rows, w[layer + 1])
    return claim.with_layers(w, b)


def _weight_metrics(distances: list[Tensor], excess: int) -> Metrics:
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


def _largest_entry(truth: Network, aligned: Network) -> float:
    """The largest error of a single weight."""
    return max(float((a - b).abs().max()) for a, b in zip(truth.weights, aligned.weights, strict=True))


def _sees_only_gram(network: Network) -> bool:
    return network.activations == ("square", "identity") and network.outputs == 1


def _bits(worst: float) -> float:
    """-log2 of an error, as far as a double can tell."""
    if math.isnan(worst):
        return -math.inf
    return min(float(BITS), -math.log2(worst)) if worst else float(BITS)


def _spectral(matrix: Tensor) -> float:
    return float(torch.linalg.matrix_norm(matrix, 2)) if matrix.numel() else 0.0
