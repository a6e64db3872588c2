"""The first layer of a deep network from far circles, where its neurons switch one at a time.

On x(θ) = R (cos θ a + sin θ b), a and b orthonormal, 0 <= θ < π and R ≫ 1, every neuron of the first layer changes sign
exactly once and is saturated everywhere else: f is a staircase with m_1 steps. Where a single neuron j is at work,

    (1)  ∇f(x) = w_j cᵀ,   a matrix (D, outputs) of rank one,

whose left singular vector is ±w_j whatever the layers above make of it. Steps are bisected from a grid to a width of a
few units, and gradients are taken at both ends of the steepest piece of each: together they have rank one as well, and
with a single output that is the test. Steps that merge on one circle lie apart on the next.

Exact values show neurons that are faint or close together in halves of a coarse grid, and at one end who is alone
(lone_neurons). A circle takes some 17 queries for each neuron, and D + 5 for its direction.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from paramid import Run
from paramid.methods.layers.lone_neurons import lone
from paramid.methods.spans.output_differences import SPREAD, Values, gradient_step, gradients
from paramid.methods.spans.sphere_search import SAME, distinct

STEP = 1e-3  # the least jump of f that is looked into
WIDTH = 5.0  # the pieces' length in units of x: a neuron crosses in 20 and more
PURE = 1e-6  # σ_2 / σ_1 of (1) without noise
IMPURE = 3e-2  # the most that noise may make of it
NARROW = 25.0  # pieces of a single crossing where values are exact: of these only the steepest is halved
COARSE = 4  # pieces of the grid for each neuron where values are exact; all that does not show is halved
AT_WORK = 10.0  # pre-activations below it: on later circles, of neurons that are known
LONE = 1e-6  # impurity of a neuron at work alone where values are exact
APART = 3.0  # directions that noise turns are one when closer than so many times their impurity


@dataclass(frozen=True)
class Circle:
    """Points x(θ) = R (cos θ a + sin θ b) of θ = π · cells / count, a and b the columns of `plane`."""

    plane: Tensor
    radius: float

    def at(self, cells: Tensor, count: int) -> Tensor:
        """Points at the left ends of `cells`."""
        angle = (math.pi / count) * cells.to(self.plane.dtype)
        return self.radius * torch.stack([angle.cos(), angle.sin()], 1)[:, : self.plane.shape[1]] @ self.plane.T


def first_layer(
    f: Values, inputs: int, width: int, run: Run, *, noise: float, radius: float = 1e5, circles: int = 12
) -> Tensor:
    """Unit columns ±w_j as far as they were found on at most `circles` circles; more than `width` are no answer."""
    found = run.normal(0, inputs)
    h, grid, floor = gradient_step(noise), 80 * max(12, width) if noise else COARSE * width, max(STEP, 12 * noise)
    for _ in range(circles):
        circle = Circle(torch.linalg.qr(run.normal(inputs, 2))[0], radius)
        ends = steepest(f, circle, grid, floor, narrow=0.0 if noise else NARROW)
        new = ends[:, 0][((ends[:, 0] @ found.T).abs() > AT_WORK).all(1)]
        w, impurity = rank_ones(f, ends, h=h, noise=noise) if noise else lone(f, new, run, pure=LONE)
        same = max(SAME, APART * float(impurity.max())) if len(w) else SAME
        found = torch.cat([found, distinct(found, w[impurity.argsort()], same)])
        if len(found) >= width:
            break
    return found.T.contiguous()


def steepest(f: Values, circle: Circle, grid: int, floor: float, *, narrow: float = 0.0) -> Tensor:
    """Both ends of the steepest piece of every step, (steps, 2, inputs).

    Of pieces shorter than `narrow` those next to steeper ones are left.
    """
    places = torch.arange(grid + 1, dtype=torch.int64, device=circle.plane.device)
    y = f(circle.at(places, grid))
    jumps = (y[1:] - y[:-1]).norm(dim=1)
    cells, count = places[:-1][jumps > floor], grid
    left, right = y[cells], y[cells + 1]
    while circle.radius * math.pi / count > WIDTH:
        middle = f(circle.at(2 * cells + 1, 2 * count)) if len(cells) else left
        cells, count = torch.cat([2 * cells, 2 * cells + 1]), 2 * count
        left, right = torch.cat([left, middle]), torch.cat([middle, right])
        steep = (right - left).norm(dim=1) > floor
        if circle.radius * math.pi / count < narrow:
            steep = steep & tops(cells, (right - left).norm(dim=1), count, 1)
        cells, left, right = cells[steep], left[steep], right[steep]
    cells = cells[tops(cells, (right - left).norm(dim=1), count, 3)]
    return torch.stack([circle.at(cells, count), circle.at(cells + 1, count)], 1)


def tops(cells: Tensor, heights: Tensor, count: int, reach: int) -> Tensor:
    """Which of `cells` are as high as all others within `reach` of them."""
    height = torch.zeros(count, dtype=heights.dtype, device=heights.device).index_copy(0, cells, heights)
    return heights == torch.nn.functional.max_pool1d(height[None], 2 * reach + 1, 1, reach)[0, cells]


def rank_ones(f: Values, ends: Tensor, *, h: float, noise: float) -> tuple[Tensor, Tensor]:
    """The directions (1) where gradients have rank one, (found, inputs), and their σ_2 / σ_1."""
    d = ends.shape[2]
    slopes = gradients(f, ends.flatten(0, 1), torch.eye(d, dtype=ends.dtype, device=ends.device), h)
    both = torch.cat(slopes.view(len(ends), 2, d, slopes.shape[2]).unbind(1), 2)
    u, s, _ = torch.linalg.svd(both, full_matrices=False)
    second = s[:, 1] if s.shape[1] > 1 else torch.zeros_like(s[:, 0])
    drowned = 2 * SPREAD * noise / h * (math.sqrt(d) + math.sqrt(both.shape[2]))
    pure = (second < PURE * s[:, 0] + drowned) & (drowned < IMPURE * s[:, 0])
    return u[pure, :, 0], (second / s[:, 0])[pure]
