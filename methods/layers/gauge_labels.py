"""Which layer a direction belongs to, from the gauge that small shifts leave.

Let u_i = ±v_i/‖v_i‖ be the directions at a point a_0 of the neurons of h hidden layers, v = ∇z. Hessians near a_0 are

    (1)  H_k(a) = Σ_i c_ik(a) u_i u_iᵀ,   c_ik ≈ c_ik(a_0) + s_ik ⟨u_i, a - a_0⟩,
         c_ik(a_0) = ‖v_i‖² J_ik g''(z_i),   s_ik = ‖v_i‖³ J_ik g'''(z_i),   J_ik = ∂f_k/∂y_i,

while by the chain rule Σ_{i in layer l} J_ik g'(z_i) v_i = ∇f_k for EVERY layer l. So the matrix with columns

    (2)  M_i = vec(u_i ⊗ s_i g'(z_i)/g'''(z_i)) = vec(v_i ⊗ J_i g'(z_i)) ‖v_i‖²

has h - 1 null vectors, q_l/‖v_i‖² on layer l with Σ_l q_l = 0: in their span, candidates are points around one centre
for each layer. The widths are known: candidates are shared out by assignment with so many places at every centre, the
centres are renewed, and the tightest of several starts is taken. Layers of equal width may be exchanged.

Pre-activations come with it: by (1) g''/g''' (z_i) = ‖v_i‖ Σ_k s_ik c_ik(a_0) / Σ_k s_ik².
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import Activation, Run
from paramid.methods.spans import symmetric
from paramid.words.neuron_distances import assign

RESTARTS = 30
REACH = 0.9  # of the interval on which g'' is monotone: further out no ratio leads


@dataclass(frozen=True)
class Bends:
    """What Hessians say of directions `u` (d, p): s of (1), (p, outputs), and Σ s c / Σ s², (p,)."""

    u: Tensor
    slopes: Tensor
    ratios: Tensor


@dataclass(frozen=True)
class Labels:
    """The layer of every direction, from 0; spread within clusters over distance between them; singular values of M."""

    layer: Tensor
    spread: float
    tail: Tensor


def bends(u: Tensor, offsets: Tensor, packed: Tensor) -> Bends:
    """Coefficients (1) of packed Hessians (points, outputs, ·) at antipodal `offsets` (points, d) from a_0."""
    c = torch.linalg.pinv(symmetric.squares(u.T).T) @ packed.flatten(0, 1).T  # lstsq rounds anew at every call
    c = c.view(u.shape[1], len(packed), -1)
    along = offsets @ u
    slopes = torch.einsum("np,pnk->pk", along, c) / along.square().sum(0)[:, None]
    ratios = (c.mean(1) * slopes).sum(1) / slopes.square().sum(1)
    return Bends(u, slopes, ratios)


def preactivations(ratios: Tensor, g: Activation) -> Tensor:
    """The z with g''(z)/g'''(z) = ratio, by bisection."""
    low, high = torch.full_like(ratios, -REACH * g.monotone), torch.full_like(ratios, REACH * g.monotone)
    for _ in range(50):
        middle = (low + high) / 2
        above = g(middle, 2) / g(middle, 3) > ratios
        low, high = torch.where(above, low, middle), torch.where(above, middle, high)
    return (low + high) / 2


def label(seen: Bends, widths: tuple[int, ...], g: Activation, run: Run, *, known: int = 0) -> Labels:
    """Layers of these widths for the directions, Σ widths of them; those of the first `known` layers come in order."""
    z = preactivations(seen.ratios, g)
    weighted = seen.slopes * (g(z, 1) / g(z, 3))[:, None]
    matrix = (seen.u[:, None, :] * weighted.T).flatten(0, 1)
    _, s, vt = torch.linalg.svd(matrix, full_matrices=True)
    h, p, told = len(widths), len(z), sum(widths[:known])
    points = vt[p - h + 1 :].T * p**0.5
    layer, spread = shared_out(points[told:], widths[known:], run)
    first = torch.repeat_interleave(torch.tensor(widths[:known], dtype=torch.int64, device="cpu")).to(layer.device)
    return Labels(torch.cat([first, layer + known]), spread, s[-h:])


def shared_out(points: Tensor, widths: tuple[int, ...], run: Run) -> tuple[Tensor, float]:
    """The tightest of several clusterings of `points` (p, ·) into clusters of these sizes."""
    places = torch.repeat_interleave(torch.arange(len(widths), device="cpu"), torch.tensor(widths, device="cpu"))
    best, tightest = places.to(points.device), float("inf")
    if len(widths) == 1:
        return best, 0.0
    for _ in range(RESTARTS):
        chosen = torch.randperm(len(points), generator=run.generator, device="cpu")[: len(widths)]
        layer, within = settled(points, points[chosen.to(points.device)], places)
        if within < tightest:
            best, tightest = layer, within
    centres = means(points, best, len(widths))
    apart = torch.pdist(centres).min()
    return best, float(((points - centres[best]).norm(dim=1).max()) / apart)


def settled(points: Tensor, centres: Tensor, places: Tensor, *, rounds: int = 20) -> tuple[Tensor, float]:
    """Assignments to `places` at the centres and centres in turn: the cluster of every point, their inner spread."""
    layer = torch.full_like(places, -1, device=points.device)
    for _ in range(rounds):
        rows, columns = assign(torch.cdist(points, centres).square()[:, places].cpu())
        new = torch.empty_like(layer).index_copy(0, rows.to(layer.device), places[columns].to(layer.device))
        if torch.equal(new, layer):
            break
        layer = new
        centres = means(points, layer, len(centres))
    return layer, float((points - centres[layer]).square().sum())


def means(points: Tensor, layer: Tensor, count: int) -> Tensor:
    """The centre of every cluster."""
    one_hot = torch.nn.functional.one_hot(layer, count).to(points.dtype)
    return one_hot.T @ points / one_hot.sum(0)[:, None]
