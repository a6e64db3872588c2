"""Levenberg-Marquardt for students side by side, to the rounding of their values.

    (1)  (JᵀJ + λ diag JᵀJ) p = -Jᵀr   for every student with its own λ,

a step is taken where the loss falls: λ is then divided by 5, else multiplied by 4. A student ends at the rounding of
the values, where 20 steps in a row gain nothing, where λ leaves no step to take, or where its parameters run away: with
m = ‖θ‖² / 2P above 1000 two rows grow parallel under ever larger outer weights, which is no teacher's.

Close to a solution with residual 0 this is Gauss-Newton and quadratic. Of wider students JᵀJ is singular: any λ > 0
makes (1) solvable, and the residual vanishes as fast.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from paramid.methods.students import stacked
from paramid.methods.students.stacked import Shape

FIRST, LEAST, MOST = 1e-2, 1e-13, 1e10  # λ
EASED, RAISED = 1 / 5, 4.0
ROUNDING = 2e-32  # of the mean square of the values
IDLE, GAIN = 20, 1e-3  # steps in a row that gain less than a share of the loss
RUNAWAY = 1e3  # m
ENTRIES = 2**24  # of normal equations side by side
RIDGE = 1e-12  # of the largest entry of diag JᵀJ: rows that nothing is seen of stay


@dataclass(frozen=True, eq=False)
class Ended:
    """Students at their ends: θ (students, parameters), their losses, and steps taken all in all."""

    theta: Tensor
    loss: Tensor
    steps: int


def descend(shape: Shape, theta: Tensor, x: Tensor, y: Tensor, *, free: Tensor, steps: int) -> Ended:
    """The ends of (1) from θ, after so many steps each at most, for as many students at once as memory is for."""
    together = max(1, ENTRIES // shape.parameters**2)
    parts = [side_by_side(shape, part, x, y, free, steps) for part in theta.split(together)]
    return Ended(torch.cat([p.theta for p in parts]), torch.cat([p.loss for p in parts]), sum(p.steps for p in parts))


def side_by_side(shape: Shape, theta: Tensor, x: Tensor, y: Tensor, free: Tensor, steps: int) -> Ended:
    """The same for all students at once."""
    theta, loss = theta.clone(), stacked.losses(shape, theta, x, y)
    floor = ROUNDING * float(y.square().sum(1).mean())
    damping, idle = torch.full_like(loss, FIRST), torch.zeros_like(loss)
    system, slope = stacked.normal_equations(shape, theta, x, y, free)
    taken = 0
    for _ in range(steps):
        alive = (loss > floor) & (idle < IDLE) & (damping < MOST) & (theta.square().mean(1) / 2 < RUNAWAY)
        if not len(at := alive.nonzero()[:, 0]):
            break
        taken += len(at)
        new = theta[at]
        new[:, free] += step(system[at], slope[at], damping[at])
        then = stacked.losses(shape, new, x, y)
        better = then < loss[at]
        idle[at] = torch.where(then < (1 - GAIN) * loss[at], 0, idle[at] + 1)
        damping[at] = torch.where(better, damping[at] * EASED, damping[at] * RAISED).clamp(min=LEAST)
        if len(moved := at[better]):
            theta[moved], loss[moved] = new[better], then[better]
            system[moved], slope[moved] = stacked.normal_equations(shape, theta[moved], x, y, free)
    return Ended(theta, loss, taken)


def step(system: Tensor, slope: Tensor, damping: Tensor) -> Tensor:
    """The p of (1), and no number where there is none: its loss is none either."""
    diagonal = system.diagonal(dim1=1, dim2=2)
    raised = damping[:, None] * diagonal + RIDGE * diagonal.amax(1, keepdim=True)
    factor, failed = torch.linalg.cholesky_ex(system + torch.diag_embed(raised))
    p = torch.cholesky_solve(-slope[..., None], factor)[..., 0]
    return p.masked_fill(failed[:, None] != 0, torch.nan)
