"""From random starts into a basin, on all samples at once.

Adam for all students together, with the directions of `refinement.stochastic`; or, one student after the other, the
gradient flow itself,

    (1)  dθ/dt = -∂J/∂θ,

by Radau's implicit rule of order 5 with relative and absolute tolerance 1e-6, which ends where no entry of the gradient
is above 1e-9, or after so many steps; the best point that it saw is its end. Its Hessian is differenced from gradients
of as many students side by side as there are parameters.
"""

import numpy as np
import numpy.typing as npt
import torch
from scipy.integrate import Radau
from torch import Tensor

from paramid.methods.refinement.stochastic import Adam
from paramid.methods.students import stacked
from paramid.methods.students.stacked import Shape

TOLERANCE = 1e-6
AT_REST = 1e-9
DIFFERENCE = 1e-6


def adam(shape: Shape, theta: Tensor, x: Tensor, y: Tensor, *, free: Tensor, steps: int, rate: float = 0.01) -> Tensor:
    """θ after so many full steps of Adam."""
    theta = theta.clone()
    moments = Adam([theta[:, free]])
    for _ in range(steps):
        _, slope = stacked.gradient(shape, theta, x, y)
        theta[:, free] -= rate * moments([slope[:, free]])[0]
    return theta


def flow(shape: Shape, theta: Tensor, x: Tensor, y: Tensor, *, free: Tensor, steps: int) -> Tensor:
    """θ at the best point of (1) for every student."""
    return torch.cat([_flow(shape, row[None], x, y, free, steps) for row in theta])


def _flow(shape: Shape, row: Tensor, x: Tensor, y: Tensor, free: Tensor, steps: int) -> Tensor:
    def at(values: object) -> Tensor:
        return row.clone().index_copy_(1, free, torch.as_tensor(values, dtype=row.dtype, device=row.device)[None])

    def downhill(_: float, values: object) -> npt.NDArray[np.float64]:
        return -stacked.gradient(shape, at(values), x, y)[1][0, free].numpy(force=True)

    def curvature(_: float, values: object) -> npt.NDArray[np.float64]:
        moved = at(values).repeat(len(free), 1)
        moved[:, free] += DIFFERENCE * torch.eye(len(free), dtype=row.dtype, device=row.device)
        ahead, here = (stacked.gradient(shape, theta, x, y)[1][:, free] for theta in (moved, at(values)))
        return -((ahead - here).T / DIFFERENCE).numpy(force=True)

    start = row[0, free].numpy(force=True)
    solver = Radau(downhill, 0.0, start, torch.inf, rtol=TOLERANCE, atol=TOLERANCE, jac=curvature)
    best, least = row, float(stacked.losses(shape, row, x, y))
    for _ in range(steps):
        if solver.status != "running" or np.abs(downhill(0.0, solver.y)).max() < AT_REST:
            break
        solver.step()
        if (loss := float(stacked.losses(shape, at(solver.y), x, y))) < least:
            best, least = at(solver.y), loss
    return best
