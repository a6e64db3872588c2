"""Hermite coefficients of a function from samples, streamed, with control variates.

With r = f - h for any h whose coefficients are known, and He_k as in `hermite`,

    (1)  T_k = E[f He_k] = T_k(h) + E[r He_k],   estimated by a mean over samples, unbiased.

The printed estimator has h = 0. Regressing on all Hermite features of degree c ≤ 2 takes 60 to 100 times fewer samples
(`control`), a network that is nearly right even more (`model`). For an index i_1 ≤ … ≤ i_k cut in the middle, of whose
coordinate at the cut a copies are on the left and b on the right,

    (2)  He_k[i] = He_p[i_1 … i_p] He_q[i_{p+1} … i_k] - Σ_{s≥1} C(a,s) C(b,s) s! He_{k-2s}[i without 2s copies],

so that E[r He_k] is one matrix product, E[He_p (r He_q)ᵀ], and its traces. Two halves A, B of the samples tell

    (3)  noise_k = ‖flatten(E_A[r He_k] - E_B[r He_k])‖ / 2   in operator norm.

References: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, Lemma 5.2; (2) is the product formula of He_a He_b.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import Network, Oracle
from paramid.words import hermite, memory_limits
from paramid.words.memory_limits import CHUNK

Pairs = Iterable[tuple[Tensor, Tensor]]  # re-iterable, in chunks
PRINTED = -1  # as control: no regression
BLOCK = 4 * CHUNK  # doubles of features at a time


@dataclass(frozen=True)
class Moments:
    """Coefficients by order, as distinct entries, and the noise (3) of each: 0 where they are exact."""

    inputs: int
    tensors: Mapping[int, Tensor]
    noise: Mapping[int, float]
    rows: int = 0

    def full(self, order: int) -> Tensor:
        """T_k with all its D^k entries."""
        return hermite.unfold(self.tensors[order], self.inputs, order)


def exact(oracle: Oracle, orders: Iterable[int]) -> Moments:
    """The coefficients that the oracle itself tells."""
    tensors = {k: oracle.moments(k) for k in sorted(set(orders))}
    return Moments(oracle.spec.inputs, tensors, dict.fromkeys(tensors, 0.0))


def estimate(
    samples: Pairs, orders: Iterable[int], *, control: int | None = 2, model: Network | None = None, left: int = 1
) -> Moments:
    """(1) for the orders asked for, and (3) where `left` indices make the rows of the flattening.

    h is `model` and the regression of degree `control` (PRINTED or None: no regression) on what it leaves.
    """
    orders = sorted(set(orders))
    fit = {} if control is None or control < 0 else regress(samples, control, model)
    known = {} if model is None else of_network(model, orders)
    sums, rows, inputs = _accumulate(samples, _with_traces(orders), fit, model)
    first, second = (_assemble({k: s[i] / max(rows[i], 1) for k, s in sums.items()}, inputs) for i in (0, 1))
    share = rows[0] / sum(rows)
    tensors = {k: share * first[k] + (1 - share) * second[k] + fit.get(k, 0.0) + known.get(k, 0.0) for k in orders}
    noise = {k: spectral(first[k] - second[k], inputs, k, left) / 2 if rows[1] else math.inf for k in orders}
    return Moments(inputs, tensors, noise, sum(rows))


def regress(samples: Pairs, degree: int, model: Network | None = None) -> dict[int, Tensor]:
    """Least squares of f - model on all features up to `degree`, as its coefficients T_0 … T_degree."""
    inputs, degrees, normal = 0, list(range(degree + 1)), list[Tensor]()
    for x, y in _blocks(samples, degrees, model):
        inputs = x.shape[1]
        phi = torch.cat(
            [*(hermite.features(x, k) / _factorials(x, inputs, k).sqrt() for k in degrees), y[:, None]], dim=1
        )
        normal = [phi.T @ phi + sum(normal)]
    gram, right = normal[0][:-1, :-1], normal[0][:-1, -1]
    beta = (torch.linalg.pinv(gram, hermitian=True) @ right).split([hermite.entries(inputs, k) for k in degrees])
    return {k: part * _factorials(part, inputs, k).sqrt() for k, part in enumerate(beta)}


def refusal(inputs: int, order: int, control: int = PRINTED) -> str | None:
    """Why coefficients up to that order cannot be held, or None."""
    half = hermite.entries(inputs, (order + 1) // 2)
    fitted = sum(hermite.entries(inputs, k) for k in range(control + 1))
    arrays = {"products": (4, half, half), "tensors": (order + 4, inputs**order), "regression": (4, fitted, fitted)}
    return memory_limits.refusal(arrays, memory_limits.room())


def spectral(distinct: Tensor, inputs: int, order: int, left: int) -> float:
    """The operator norm of a symmetric tensor with `left` of its indices as rows."""
    flat = hermite.unfold(distinct, inputs, order).reshape(inputs ** min(left, order), -1)
    return math.sqrt(max(0.0, float(torch.linalg.eigvalsh(flat @ flat.T)[-1])))


def _accumulate(
    samples: Pairs, orders: list[int], fit: Mapping[int, Tensor], model: Network | None
) -> tuple[dict[int, Tensor], list[int], int]:
    """Σ He_p (r He_q)ᵀ over each half of the samples, (2, p entries, q entries), the halves' rows, and D."""
    degrees = sorted({d for k in orders for d in (k // 2, (k + 1) // 2)} | set(fit))
    sums: dict[int, Tensor] = {}
    rows, inputs = [0, 0], 0
    for x, y in _blocks(samples, degrees, model):
        inputs, phi = x.shape[1], {d: hermite.features(x, d) for d in degrees}
        for d, t in fit.items():
            y = y - phi[d] @ (t / _factorials(x, x.shape[1], d))
        cut = (len(x) + 1) // 2
        for half, part in enumerate((slice(0, cut), slice(cut, None))):
            rows[half] += len(y[part])
            for k in orders:
                p, q = phi[(k + 1) // 2][part], phi[k // 2][part]
                if k not in sums:
                    sums[k] = p.new_zeros(2, p.shape[1], q.shape[1])
                sums[k][half] += p.T @ (y[part, None] * q)
    return sums, rows, inputs


def _assemble(products: Mapping[int, Tensor], inputs: int) -> dict[int, Tensor]:
    """(2) for every order, given E[He_p (r He_q)ᵀ] of it and of all orders that its traces need."""
    tensors: dict[int, Tensor] = {}
    for k, product in sorted(products.items()):
        rows, p = hermite.multi_indices(inputs, k, product.device), (k + 1) // 2
        tensor = product[hermite.positions(rows[:, :p], inputs), hermite.positions(rows[:, p:], inputs)]
        for s, weight in enumerate(_traces(rows, p), 1):
            rest = torch.cat([rows[:, : p - s], rows[:, p + s :]], dim=1)
            tensor = tensor - weight.to(tensor.dtype) * tensors[k - 2 * s][hermite.positions(rest, inputs)]
        tensors[k] = tensor
    return tensors


def _traces(rows: Tensor, p: int) -> Iterator[Tensor]:
    """The factors C(a, s) C(b, s) s! of (2) for s = 1, …, q."""
    k = rows.shape[1]
    cut = rows[:, p - 1 : p]
    a, b = (rows[:, :p] == cut).sum(dim=1), (rows[:, p:] == cut).sum(dim=1)
    for s in range(1, k - p + 1):
        choose = torch.tensor([math.comb(n, s) for n in range(k + 1)], device=rows.device, dtype=torch.long)
        yield choose[a] * choose[b] * math.factorial(s)


def _with_traces(orders: list[int]) -> list[int]:
    """The orders and all below them of the same parity."""
    return sorted({j for k in orders for j in range(k % 2, k + 1, 2)})


def _blocks(samples: Pairs, degrees: list[int], model: Network | None) -> Iterator[tuple[Tensor, Tensor]]:
    """Rows and what `model` leaves of their values, few enough that their features are BLOCK numbers."""
    for x, y in samples:
        width = sum(hermite.entries(x.shape[1], d) for d in degrees) + (model.widths[0] if model else 0)
        for part, values in zip(*(t.split(max(2, BLOCK // width)) for t in (x, y[:, 0])), strict=True):
            yield part, values if model is None else values - model(part)[:, 0]


def _factorials(like: Tensor, inputs: int, order: int) -> Tensor:
    """E He_α² = α! for every distinct entry."""
    return math.factorial(order) / hermite.multiplicities(inputs, order, like.device)


def of_network(model: Network, orders: Sequence[int]) -> dict[int, Tensor]:
    """T_k of a shallow network, its output bias included."""
    (w, a), (b, c) = model.weights, model.biases
    tensors = hermite.shallow_tensors(w, b, a[:, 0], model.activations[0], orders)
    return tensors | ({0: tensors[0] + c} if 0 in tensors else {})
