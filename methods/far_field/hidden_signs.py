"""Signs that only the linear part of f shows, from a network whose signs may all be wrong.

Where g(t) = e(t) + c t with e even (`Activation.tilt`), a profile tells ±(w_k, b_k) and a_k, and turning a neuron
changes f by a linear function and a constant. So everything else is refined without them: with Q an orthonormal basis
of the functions 1, x_1, …, x_D on the points,

    (1)  r = (1 - QQᵀ)(f_θ - y),   (JᵀJ - (QᵀJ)ᵀ(QᵀJ) + λ diag) p = -Jᵀr,

and the slopes L (D, outputs) of what f_θ then leaves of y tell the signs,

    (2)  Σ_k s_k c w_k a_kᵀ = L + Σ_k c w_k a_kᵀ,

D · outputs equations for m bits: by least squares and rounding where they are as many, else as a knapsack of low
density (`linear_parts`).
"""

import math

import torch
from torch import Tensor

from paramid import Activation, GiveUp, Network, Run, activation
from paramid.limits import information
from paramid.methods.refinement import layered_refinement
from paramid.methods.spans import linear_parts

ROWS = 2**22  # doubles of QᵀJ's factors at once
STEPS, ENDED, DOWN = 40, 1.0 + 1e-2, 0.1  # gains below are the end, and residuals far below the floor
DAMPED = 1e-13  # λ where the uncertainty is told: rounding may leave no factor
DOUBTED = 0.2  # of ±1, by which a sign of (2) may be off
LOOSE = 3.0  # times what a draw of noise makes of (2): it holds to so much
BELIEVED = 100.0  # times what noise and rounding explain: what is left for the refinement with signs


def upright(rough: Network, x: Tensor, y: Tensor, noise: float, run: Run) -> Network:
    """The network refined by (1), with the signs of (2)."""
    g = activation(rough.activations[0])
    q = torch.linalg.qr(torch.cat([torch.ones_like(x[:, :1]), x], 1))[0]
    floor = max(noise, 16 * layered_refinement.UNIT * float(y.square().mean().sqrt()))
    found, rms = refined(rough, x, y, q, floor)
    if rms > BELIEVED * floor:
        raise GiveUp(f"without its linear part f leaves {rms:.1e}, noise and rounding explain {floor:.1e}")
    s = signs(found, x, y, g, uncertainty(found, x, q, g, max(rms, noise), run))
    (w, a), (b, _) = found.weights, found.biases
    turned = found.with_layers((s * w, a), (s * b, torch.zeros_like(a[0])))
    return turned.with_layers(turned.weights, (s * b, (y - turned(x)).mean(0)))


def refined(rough: Network, x: Tensor, y: Tensor, q: Tensor, floor: float) -> tuple[Network, float]:
    """The end of (1), and the root mean square of r."""
    now, damping = rough, 0.0
    r = blind(now, x, y, q)
    for _ in range(STEPS):
        normal, fixed = normal_matrix(now, x, q)
        gradient = layered_refinement.slope(now, x, now(x) - r)
        new, left = now, r
        while damping < 1e3:
            factor = layered_refinement.factored(normal, damping)
            if factor is not None:
                p = torch.cholesky_solve(-gradient[:, None], factor)[:, 0]
                new = layered_refinement.moved(now, p - fixed @ (fixed.T @ p))
                left = blind(new, x, y, q)
                if float(left.norm()) < float(r.norm()):
                    break
            damping = max(1e-8, 10 * damping)
        gain = float(r.norm()) / max(float(left.norm()), 1e-300)
        if not gain > 1:
            break
        now, r, damping = new, left, 0.0 if damping < 1e-8 else damping / 30
        if gain < ENDED or float(r.square().mean().sqrt()) < DOWN * floor:
            break
    return now, float(r.square().mean().sqrt())


def blind(network: Network, x: Tensor, y: Tensor, q: Tensor) -> Tensor:
    """R of (1), (rows, outputs)."""
    r = network(x) - y
    r = r - q @ (q.T @ r)
    return r - q @ (q.T @ r)


def normal_matrix(network: Network, x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    """The matrix of (1) without λ, and the directions that it does not see: the output bias, lengths of ReLUs."""
    normal = information.normal_matrix(network, x)
    seen = linear(network, x, q).flatten(0, 1)
    normal = normal.addmm_(seen.T, seen, alpha=-1)
    fixed = information.still(network, ("norms", "outer"))
    return information.moving(normal, fixed)[0], fixed


def linear(network: Network, x: Tensor, q: Tensor) -> Tensor:
    """QᵀJ for every output, (outputs, D + 1, parameters)."""
    total: list[Tensor] = []
    rows = max(1, ROWS // (q.shape[1] * max(w.shape[0] + 1 for w in network.weights)))
    for part, basis in zip(x.split(rows), q.split(rows), strict=True):
        fed, delta = information.parts(network, part)
        layers = []
        for y, d in zip(fed, delta, strict=True):
            crossed = (basis[:, :, None] * y[:, None, :]).flatten(1).T @ d.flatten(1)
            crossed = crossed.view(q.shape[1], y.shape[1], *d.shape[1:])
            layers.append(crossed.permute(2, 0, 1, 3).flatten(2))
        total.append(torch.cat(layers, 2))
    return torch.stack(total).sum(0)


def uncertainty(found: Network, x: Tensor, q: Tensor, g: Activation, noise: float, run: Run) -> float:
    """What noise of the values makes of an equation (2) for the true signs."""
    assert g.tilt is not None
    normal, fixed = normal_matrix(found, x, q)
    if (factor := layered_refinement.factored(normal, DAMPED)) is None:
        return math.inf
    drawn = noise * run.normal(len(x), found.outputs)
    drawn = drawn - q @ (q.T @ drawn)
    p = torch.cholesky_solve(layered_refinement.slope(found, x, found(x) + drawn)[:, None], factor)[:, 0]
    moved = layered_refinement.moved(found, p - fixed @ (fixed.T @ p))
    off = [torch.einsum("dm,mo->dom", n.weights[0], n.weights[1]).flatten(0, 1) for n in (found, moved)]
    return LOOSE * (g.tilt * float((off[1] - off[0]).norm(dim=1).max()) + noise)


class Untold(GiveUp):
    """All but the signs is known: further lines tell nothing new."""


def signs(network: Network, x: Tensor, y: Tensor, g: Activation, error: float) -> Tensor:
    """The s of (2), (m,)."""
    assert g.tilt is not None
    (w, a), left = network.weights, y - network(x)
    ones = torch.cat([torch.ones_like(x[:, :1]), x], 1)
    slopes = (torch.linalg.pinv(ones) @ left)[1:]
    columns = g.tilt * torch.einsum("dm,mo->dom", w, a).flatten(0, 1)
    right = slopes.flatten() + columns.sum(1)
    if columns.shape[0] >= columns.shape[1]:
        s = torch.linalg.pinv(columns) @ right
        if bool(((s.abs() - 1).abs() < DOUBTED).all()):
            return s.sign()
    try:
        found = linear_parts.combination(columns.numpy(force=True), right.numpy(force=True), error)
    except GiveUp as failed:
        raise Untold(str(failed)) from failed
    return torch.from_numpy(found).to(right)
