"""Trust regions and cubic regularisation for over-parameterised nets: descents that leave strict saddles by curvature.

With g and H the gradient and the Hessian of L (overparam_descent) in what is trained, a step s solves one of

    (1)  min_s  gᵀs + sᵀHs/2,   ‖s‖ ≤ e                      (trust region),
    (2)  min_s  gᵀs + sᵀHs/2 + ‖s‖³/(6e)                     (cubic, M = 1/e),

both to the end: with H = Q Λ Qᵀ their minima are

    (3)  s = -(H + λ)⁻¹ g,   λ ≥ max(0, -Λ_1),   ‖s‖ = e, or λ = 0 and ‖s‖ ≤ e   (1);   ‖s‖ = 2 e λ   (2),

plus, where that falls short of the length for every such λ, a multiple of the lowest eigenvector: g may vanish at a
saddle, s does not. A step is taken where it lowers L; e doubles where L fell by 3/4 of what the model says, and falls
by 4 where it fell by less than 1/4. The Hessian, with c_il = v_l φ''(⟨w_l, x_i⟩),

    (4)  H = JᵀJ/n,   plus 1/n Σ_i r_i c_il x_i x_iᵀ at w_l, and 1/n Σ_i r_i φ'(⟨w_l, x_i⟩) x_i between w_l and v_l.

References: Conn, Gould & Toint, Trust Region Methods, §7.3; Nesterov & Polyak, Math. Program. 108 (2006). The paper,
arXiv:1707.04926, names both after Theorem 2.2 and runs neither.
"""

from collections.abc import Iterator
from dataclasses import fields

import torch
from torch import Tensor

from paramid.methods.squares.overparam_descent import BLOCK, Point, Problem, chosen, point

FIRST, LEAST = 1.0, 1e-12  # of e
GOOD, POOR = 0.75, 0.25  # of what the model says
HALVINGS = 80  # of the interval that holds λ
FLAT = 1e-13  # of the largest curvature: a valley, which leads nowhere


def descend(problem: Problem, at: Point, *, cubic: bool, most: int, tol: float) -> Iterator[Point]:
    """Steps (2), or (1), up to `most` or until L ≤ `tol` L(0) or no e lowers it, in every run; the point after each."""
    reach = torch.full_like(at.loss, FIRST)
    for _ in range(most):
        (going,) = ((at.loss > tol * problem.scale) & (reach > LEAST)).nonzero(as_tuple=True)
        if not len(going):
            return
        part, here = problem.of_runs(going), at.of_runs(going)
        s, fall = stepped(part, here, reach[going], cubic)
        by_w, by_v = split(part, here, s)
        tried = point(part, here.w + by_w, here.v + by_v)
        share = (here.loss - tried.loss) / fall.clamp_min(torch.finfo(fall.dtype).tiny)
        change = torch.where(share > GOOD, 2.0, torch.where(share > POOR, 1.0, 0.25))
        reach = reach.index_copy(0, going, reach[going] * change)
        at = replaced(at, going, chosen(tried.loss < here.loss, tried, here))
        yield at


def stepped(problem: Problem, at: Point, reach: Tensor, cubic: bool) -> tuple[Tensor, Tensor]:
    """The steps (runs, p), and by how much the model falls; a few runs at a time."""
    p = len(gradient(problem, at)[0])
    together = max(1, 4 * BLOCK // max(p * p, at.w[0].numel() * at.w.shape[1]))
    found = []
    for runs in torch.arange(len(reach), device=reach.device).split(together):
        part, here = problem.of_runs(runs), at.of_runs(runs)
        found.append(minimum(hessian(part, here), gradient(part, here), reach[runs], cubic))
    return torch.cat([s for s, _ in found]), torch.cat([fall for _, fall in found])


def minimum(h: Tensor, g: Tensor, reach: Tensor, cubic: bool) -> tuple[Tensor, Tensor]:
    """(3) for every H (runs, p, p) and g (runs, p), and by how much (1) or (2) falls."""
    values, vectors = torch.linalg.eigh(h)
    g = (vectors.mT @ g[:, :, None])[:, :, 0]
    least = (-values[:, 0]).clamp_min(0)
    size = g.norm(dim=1)
    tiny = torch.finfo(g.dtype).tiny
    low, high = torch.zeros_like(least), ((size / reach / 2).sqrt() if cubic else size / reach) + tiny

    def length(more: Tensor) -> Tensor:
        return 2 * reach * (least + more) if cubic else reach

    def solved(more: Tensor) -> Tensor:
        return -g / (values + (least + more)[:, None]).clamp_min(tiny)

    for _ in range(HALVINGS):
        middle = (low + high) / 2
        long = solved(middle).norm(dim=1) > length(middle)
        low, high = torch.where(long, middle, low), torch.where(long, high, middle)
    s, wanted = solved(high), length(high)
    lowest = (wanted.square() - s[:, 1:].square().sum(1)).clamp_min(0).sqrt() * torch.where(s[:, 0] < 0, -1.0, 1.0)
    down = values[:, 0] < -FLAT * values.abs().amax(1)
    s = torch.cat([torch.where(down, lowest, s[:, 0])[:, None], s[:, 1:]], dim=1)
    fall = -(g * s + values * s.square() / 2).sum(1)
    if cubic:
        fall = fall - s.norm(dim=1) ** 3 / (6 * reach)
    return (vectors @ s[:, :, None])[:, :, 0], fall


def hessian(problem: Problem, at: Point) -> Tensor:
    """(4) for every run, (runs, p, p): W as it is flattened, then v where it is trained; summed over blocks of rows."""
    runs, d, k = at.w.shape
    p = k * (d + problem.train_outer)
    total, n = at.w.new_zeros(runs, p, p), len(problem.x)
    bends, turns = at.w.new_zeros(runs, k, d, d), torch.zeros_like(at.w)
    rows = max(1, BLOCK // (runs * p))
    for x, y in zip(problem.x.split(rows), problem.y.split(rows, dim=1), strict=True):
        z = x @ at.w
        values, slopes = problem.phi(z), problem.phi(z, 1)
        r = ((values @ at.v[:, :, None])[:, :, 0] - y)[:, :, None]
        inner = (x[:, :, None] * (slopes * at.v[:, None])[:, :, None]).flatten(2)
        j = torch.cat([inner, values], dim=2) if problem.train_outer else inner
        total = total + j.mT @ j
        weighted = (r * problem.phi(z, 2) * at.v[:, None]).permute(0, 2, 1)
        bends = bends + (x.T * weighted[:, :, None]) @ x
        turns = turns + x.T @ (r * slopes)
    own = torch.diag_embed(bends.permute(0, 2, 3, 1)).permute(0, 1, 3, 2, 4).reshape(runs, d * k, d * k)
    second = torch.zeros_like(total)
    second[:, : d * k, : d * k] = own
    if problem.train_outer:
        cross = torch.diag_embed(turns).reshape(runs, d * k, k)
        second[:, : d * k, d * k :] = cross
        second[:, d * k :, : d * k] = cross.mT
    return (total + second) / n


def gradient(problem: Problem, at: Point) -> Tensor:
    """The gradient of every run, in the order of (4)."""
    return torch.cat([at.by_w.flatten(1), *([at.by_v] if problem.train_outer else [])], dim=1)


def split(problem: Problem, at: Point, s: Tensor) -> tuple[Tensor, Tensor]:
    """What W and v gain by `s`."""
    inner = at.w[0].numel()
    return s[:, :inner].view_as(at.w), s[:, inner:] if problem.train_outer else torch.zeros_like(at.v)


def replaced(at: Point, runs: Tensor, by: Point) -> Point:
    """The same with other points for some runs."""
    return Point(*(getattr(at, f.name).index_copy(0, runs, getattr(by, f.name)) for f in fields(Point)))
