"""Signs that only the linear part of a network shows.

Where g(t) = e(t) + c t with e even, as of softplus, GELU, SiLU and ReLUs (c is their `tilt`), turning a neuron changes
f by a linear function and nothing else. All but the signs s_k ∈ {-1, 1} known,

    (1)  Σ_k s_k c a_k w_k = y,   y = r + Σ_k c a_k w_k,

with r what the gradients of the network with s = 1 leave, the same at every point: D real equations for m bits, a
knapsack of low density. With each of them known to ε and q ~ 1/ε the integer combinations of the rows

    (2)  (e_k, 0, [q c a_k w_k]),   (0, 1, -[q y])

have one far shorter than random ones, ±(s, 1, small), which `lattice_reduction` finds while m is small against
D log(1/ε). What it finds is compared with (1), and chance would meet all equations that well for

    (3)  2^m Π_j 2δ / √2π σ_j

choices of signs, σ_j² = Σ_k (c a_k w_jk)², if they are met to δ. Random vectors of these n = m + 1 rows are longer by

    (4)  √(n / 2πe) Π_j (q σ_j)^(1/n) / √n,

and reduction, which is content with 1.02ⁿ times the shortest of those, misses s where this is not more.

References: Lagarias & Odlyzko, Solving low-density subset sum problems, J. ACM 32 (1985); Coster, Joux, LaMacchia,
Odlyzko, Schnorr & Stern, Improved low-density subset sum algorithms, Comput. Complexity 2 (1992).
"""

import math

import numpy as np
import torch
from torch import Tensor

from paramid import Activation, GiveUp, Network, Oracle, Run, activation
from paramid.methods.refinement.matched_differences import observe
from paramid.methods.spans.lattice_reduction import Array, Integers, reduced

STEP, POINTS = 0.03, 16  # gradients that a rough network is compared with
FLAT = 3.0  # slopes g' vary by c over so much: errors of weights show less in rows about their mean than in (1)
MOST_BITS = 40  # of q, and of the integers in (2)
REACH = 0.3  # lattice reduction is tried where (4) leaves so much of its 1.02ⁿ; it succeeds from about 0.8 on
WITHIN = 3.0  # times ε: δ of (3)
CHANCE = 1e-3  # of another choice of signs


def hidden(g: Activation) -> bool:
    """Whether signs show in the linear part and nowhere else."""
    return g.tilt is not None


def settled(oracle: Oracle, rough: Network, *, run: Run) -> Network:
    """The rough network with the signs that its linear part shows, if nothing else does; ε is how badly it fits."""
    g = activation(rough.activations[0])
    if not hidden(g):
        return rough
    x = run.normal(POINTS, oracle.spec.inputs)
    left = observe(oracle, x, STEP) - rough.gradient(x)[:, 0]
    off = float((left - left.mean(0)).square().mean().sqrt())
    (w, a), b = rough.weights, rough.biases[0]
    s = signs(a[:, 0] * w, left.mean(0), g, error=FLAT * off)
    return rough.with_layers((s * w, a), (s * b, rough.biases[1]))


def signs(outer_w: Tensor, rest: Tensor, g: Activation, *, error: float) -> Tensor:
    """The s of (1), (m,), from columns a_k w_k and r, where each equation holds to `error`."""
    assert g.tilt is not None
    c = g.tilt
    columns = c * outer_w.numpy(force=True).astype(np.float64)
    y = columns.sum(1) + rest.numpy(force=True).astype(np.float64)
    return torch.from_numpy(combination(columns, y, error)).to(rest)


def combination(columns: Array, y: Array, error: float) -> Array:
    """The s of (1), (m,), where each equation holds to `error`; given up where it is not the only one, or not found."""
    m = columns.shape[1]
    error = max(error, m * np.finfo(np.float64).eps)
    if (likely := log_chance(columns, WITHIN * error)) > math.log(CHANCE):
        raise GiveUp(
            f"{m} signs show in the linear part alone, which known to {error:.1e} allows e^{likely:.0f} choices"
        )
    if log_gap(columns, error) > math.log(REACH):
        for row in reduced(embedded(columns, y, error)):
            s = (row[:m] * row[m]).astype(np.float64)
            if bool((np.abs(row[: m + 1]) == 1).all()) and float(np.abs(columns @ s - y).max()) < WITHIN * error:
                return s
    raise GiveUp(f"{m} signs show in the linear part alone, which known to {error:.1e} does not tell them")


def deviations(columns: Array) -> Array:
    """σ of (3)."""
    return np.maximum(np.sqrt(np.square(columns).sum(1)), np.finfo(np.float64).tiny)


def log_chance(columns: Array, within: float) -> float:
    """The logarithm of (3)."""
    each = 2 * within / (math.sqrt(2 * math.pi) * deviations(columns))
    return float(columns.shape[1] * math.log(2) + np.log(each).sum())


def log_gap(columns: Array, error: float) -> float:
    """The logarithm of (4) over 1.02ⁿ."""
    n = columns.shape[1] + 1
    each = np.log(np.maximum(scale(error) * deviations(columns), 1)).sum() / n
    return float(each - math.log(2 * math.pi * math.e) / 2 - n * math.log(1.02))


def scale(error: float) -> float:
    """The q of (2)."""
    return 2.0 ** min(MOST_BITS, max(0, round(-math.log2(error))))


def embedded(columns: Array, y: Array, error: float) -> Integers:
    """The rows (2)."""
    equations = np.rint(scale(error) * np.vstack([columns.T, -y])).astype(np.int64)
    return np.hstack([np.eye(len(equations), dtype=np.int64), equations])
