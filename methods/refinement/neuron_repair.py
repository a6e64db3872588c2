"""Neurons that are turned the wrong way or missing, by the gradients that a rough network leaves unexplained.

With gradients Y at x_i (`matched_differences`) and neurons w_k = l_k u_k, |u_k| = 1, R = Y - Σ_k g'(z_k) ⊗ w_k. Every
neuron came with a second fit (l', τ') of the other sign. In

    (1)  R ≈ Σ_k (α_k (l'_k g'(z'_k) - l_k g'(z_k)) + β_k ∂_τ (l_k g'(z_k)) + γ_k ∂_l (l_k g'(z_k))) ⊗ u_k

α_k > 1/2 says that the second is right: least squares over all at once, since each alone is drowned by the others, by
conjugate gradients, as an answer to three digits will do. A poor second fit is not found that way, but

    (2)  R ≈ Σ_wrong p_k ⊗ w_k,   of low rank: singular values that stand out,

shows in its right singular vectors the neurons that are wrong, and those that are missing beside others too many. What
r missing neurons leave, Σ g'(z) ⊗ w, has rank r: they lie in the space of its first r right singular vectors, and the
unit u there with norm l and shift τ that explains most,

    (3)  max  2 pᵀR u - |p|²,   p_i = l g'(l⟨u, x_i⟩ + τ),

is where Gauss-Newton starts, one neuron after the other.
"""

import math
from dataclasses import replace

import torch
from torch import Tensor

from paramid import Network, Run
from paramid.methods.refinement import conjugate_gradients, joint_refinement
from paramid.methods.refinement.gradient_system import Pinned
from paramid.methods.refinement.matched_differences import Data, fitted
from paramid.words.activations import activation

ROUNDS = 6
RIDGE, SOLVED, PRODUCTS_OF_SHARES = 1e-3, 1e-3, 300
ENOUGH = 4  # equations for each share
LOW = torch.float32
ALONG = 0.9  # the cosine between (2) and a neuron that is found anew
OUTSTANDING, GAINING, REPLACED = 4.0, 0.7, 5  # over the median singular value; what may be left; neurons at most
FAINT = 0.15  # of the largest singular value: what is smaller is curvature
ATTEMPTS = 3
TRIED, SHIFTS, NORMS, ROWS = 100, 21, 12, 500  # directions and the grid of (3), and rows to compare on
STEPS, PRODUCTS = 15, 60


def residual(data: Data, network: Network) -> Tensor:
    """R, (rows, d)."""
    if not network.widths[0]:
        return data.gradients
    (w, a), b = network.weights, network.biases[0]
    return data.gradients - fitted(data, w, b, a[:, 0], activation(network.activations[0]))


def turned(data: Data, network: Network, other: Network, pinned: bool) -> Tensor:
    """Which neurons (1) takes from `other`, (m,), where only these are exchanged until none is; in float32."""
    turn = torch.zeros_like(network.biases[0], dtype=torch.bool)
    for _ in range(ROUNDS):
        more = shares(data, exchanged(network, other, turn), exchanged(other, network, turn), pinned) > 0.5
        if not bool(more.any()):
            break
        turn = turn ^ more
    return turn


def shares(data: Data, network: Network, other: Network, pinned: bool) -> Tensor:
    """The α of (1), (m,)."""
    g = activation(network.activations[0])
    w, b, w2, b2 = network.weights[0], network.biases[0], other.weights[0], other.biases[0]
    length = w.norm(dim=0)
    u = w / length
    side = (u * w2).sum(0)
    z = data.x @ w + b
    columns = [side * g(data.x @ w2 + b2, 1) - length * g(z, 1), length * g(z, 2)]
    if not pinned:
        columns.append(g(z, 1) + length * (data.x @ u) * g(z, 2))
    every, u, left = torch.stack(columns).to(LOW), u.to(LOW), residual(data, network).to(LOW)
    size = every.norm(dim=1).clamp(min=torch.finfo(LOW).tiny)
    every /= size[:, None]

    def transposed(left: Tensor) -> Tensor:
        along = left @ u
        return torch.stack([(column * along).sum(0) for column in every])

    def normal(p: Tensor) -> Tensor:
        made = torch.zeros_like(every[0])
        for column, share in zip(every, p, strict=True):
            made.addcmul_(column, share)
        return transposed(made @ u.T) + RIDGE * p

    found, _ = conjugate_gradients.solve(normal, transposed(left), lambda p: p, tol=SOLVED, most=PRODUCTS_OF_SHARES)
    return (found / size)[0].to(b.dtype)


def some(data: Data, neurons: int) -> Data:
    """As many of the rows as (1) needs."""
    rows = slice(0, math.ceil(ENOUGH * 3 * neurons / data.x.shape[1]))
    return replace(data, x=data.x[rows], gradients=data.gradients[rows], values=data.values[rows])


def exchanged(one: Network, two: Network, which: Tensor) -> Network:
    """The neurons of `two` where `which`, else those of `one`."""
    w, b = torch.where(which, two.weights[0], one.weights[0]), torch.where(which, two.biases[0], one.biases[0])
    return one.with_layers((w, one.weights[1]), (b, one.biases[1]))


def without(network: Network, which: Tensor) -> Network:
    """The other neurons."""
    w, a = network.weights
    return network.with_layers((w[:, ~which], a[~which]), (network.biases[0][~which], network.biases[1]))


def replaced(data: Data, network: Network, pinned: bool, run: Run) -> Network:
    """The network with the neurons found anew that (2) shows to be wrong, as long as that explains much more."""
    left = residual(data, network)
    for _ in range(REPLACED):
        wrong = suspects(data, network, left)
        if not bool(wrong.any()):
            break
        again = completed(data, without(network, wrong), int(wrong.sum()), pinned, run)
        after = residual(data, again)
        if not float(after.norm()) < GAINING * float(left.norm()):
            break
        network, left = again, after
    return network


def extended(data: Data, network: Network, pinned: bool, run: Run) -> Network:
    """The network and further neurons by (3), where (2) shows them, as long as that explains much more."""
    left = residual(data, network)
    for _ in range(REPLACED):
        sizes = torch.linalg.svdvals(left)
        if not outstanding(sizes):
            break
        again = completed(data, network, rank(sizes), pinned, run)
        after = residual(data, again)
        if not float(after.norm()) < GAINING * float(left.norm()):
            break
        network, left = again, after
    return network


def suspects(data: Data, network: Network, left: Tensor) -> Tensor:
    """The neurons that lie where (2) says, or the weakest if none does; none where nothing stands out, (m,)."""
    _, sizes, across = torch.linalg.svd(left, full_matrices=False)
    w, b = network.weights[0], network.biases[0]
    none = torch.zeros_like(b, dtype=torch.bool)
    if not outstanding(sizes):
        return none
    count = rank(sizes)
    length = w.norm(dim=0)
    within = (across[:count] @ w).norm(dim=0) / length
    if float(within.max()) > ALONG:
        return none.scatter(0, within.topk(min(count, len(b)))[1], 1) & (within > ALONG)
    slopes = activation(network.activations[0])(data.x @ w + b, 1)
    return none.scatter(0, (slopes.norm(dim=0) * length).argmin(), 1)


def completed(data: Data, network: Network, count: int, pinned: bool, run: Run) -> Network:
    """The network and `count` more neurons by (3): the best of a few attempts, or the first that leaves nothing."""
    closest, least = network, math.inf
    for _ in range(ATTEMPTS):
        found = attempted(data, network, count, pinned, run)
        left = residual(data, found)
        if float(left.norm()) < least:
            closest, least = found, float(left.norm())
        if count == 1 or not outstanding(torch.linalg.svdvals(left)):
            break
    return closest


def attempted(data: Data, network: Network, count: int, pinned: bool, run: Run) -> Network:
    """One after the other, and all of them once more beside each other."""
    found = network
    for _ in range(count):
        left = residual(data, found)
        one = best(data, left, count, pinned, run, network.activations[0])
        found = joined(found, refined(data, left, one, pinned))
    if count == 1:
        return found
    more = torch.arange(found.widths[0], device=data.x.device) >= network.widths[0]
    return joined(network, refined(data, residual(data, network), without(found, ~more), pinned))


def outstanding(sizes: Tensor) -> bool:
    """Whether the first of singular values stands out."""
    return float(sizes[0]) > OUTSTANDING * float(sizes.median())


def rank(sizes: Tensor) -> int:
    """How many of singular values stand out."""
    return int((sizes > torch.maximum(OUTSTANDING * sizes.median(), FAINT * sizes[0])).sum())


def joined(one: Network, two: Network) -> Network:
    """The neurons of both."""
    w, a = (
        torch.cat(pair, axis)
        for axis, pair in ((1, (one.weights[0], two.weights[0])), (0, (one.weights[1], two.weights[1])))
    )
    return one.with_layers((w, a), (torch.cat([one.biases[0], two.biases[0]]), one.biases[1]))


def best(data: Data, left: Tensor, count: int, pinned: bool, run: Run, name: str) -> Network:
    """The neuron (3) of a grid."""
    g, several = activation(name), min(count, left.shape[1])
    space = torch.linalg.svd(left, full_matrices=False)[2][:several]
    x, left = data.x[:ROWS], left[:ROWS]
    u = run.sphere(TRIED, several) @ space if several > 1 else torch.cat([space, -space])
    norms = [1.0] if pinned else [(i + 1) / NORMS for i in range(NORMS)]
    chosen, most = None, -torch.inf
    for norm in norms:
        for t in ((2 * i - SHIFTS + 1) / (SHIFTS - 1) for i in range(SHIFTS)):
            p = norm * g(norm * x @ u.T + t, 1)
            gain = 2 * (p * (left @ u.T)).sum(0) - p.square().sum(0)
            if float(gain.max()) > most:
                most, k = float(gain.max()), int(gain.argmax())
                chosen = Network.shallow(norm * u[k][:, None], torch.full_like(u[k][:1], t), name)
    assert chosen is not None
    return chosen


def refined(data: Data, left: Tensor, network: Network, pinned: bool) -> Network:
    """The few neurons where Gauss-Newton ends on what is left."""
    g, fixed = activation(network.activations[0]), Pinned(pinned, True)
    only = replace(data, gradients=left)
    theta = joint_refinement.checked(network, fixed)
    start = joint_refinement.measure(theta, only, g, fixed)
    state = [start, *joint_refinement.descend(start, only, g, fixed, STEPS, PRODUCTS)][-1]
    w, b = state.theta[:-2], state.theta[-2]
    return network.with_layers((w, network.weights[1]), (b, network.biases[1]))
