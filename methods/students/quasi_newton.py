"""Students one after the other by BFGS or L-BFGS, to the rounding of their values.

Line searches compare losses, and cannot below the rounding of 1: so rounds minimise

    (1)  J(θ) / J(θ_0),

θ_0 the start of a round, until one gains less than a tenth, at most ten.
"""

import torch
from scipy.optimize import minimize
from torch import Tensor

from paramid.methods.students import stacked
from paramid.methods.students.marquardt import ROUNDING, Ended
from paramid.methods.students.stacked import Shape

ROUNDS, GAIN = 10, 0.9
NAMES = {"lbfgs": "L-BFGS-B", "bfgs": "BFGS"}
UNLIMITED = {"lbfgs": {"ftol": 0.0, "gtol": 0.0, "maxcor": 30, "maxfun": 10**9}, "bfgs": {"gtol": 0.0}}


def descend(
    shape: Shape, theta: Tensor, x: Tensor, y: Tensor, *, free: Tensor, steps: int, name: str = "lbfgs"
) -> Ended:
    """The ends of (1) from θ, after so many steps a round at most."""
    ends, taken = theta.clone(), 0
    for row in ends.split(1):
        for _ in range(ROUNDS):
            if not (used := one_round(shape, row, x, y, free, steps, name)):
                break
            taken += used
    return Ended(ends, stacked.losses(shape, ends, x, y), taken)


def one_round(shape: Shape, row: Tensor, x: Tensor, y: Tensor, free: Tensor, steps: int, name: str) -> int:
    """One round of (1), in place; the steps it took, 0 where another would gain nothing."""
    before = float(stacked.losses(shape, row, x, y))
    if not before > ROUNDING * float(y.square().sum(1).mean()):
        return 0

    def scaled(values: object) -> tuple[float, object]:
        at = row.clone().index_copy_(1, free, torch.as_tensor(values, dtype=row.dtype, device=row.device)[None])
        loss, slope = stacked.gradient(shape, at, x, y)
        return float(loss) / before, (slope[0, free] / before).numpy(force=True)

    start = row[0, free].numpy(force=True)
    end = minimize(scaled, start, jac=True, method=NAMES[name], options={"maxiter": steps, **UNLIMITED[name]})
    if not end.fun < 1:
        return 0
    row[:, free] = torch.as_tensor(end.x, dtype=row.dtype, device=row.device)
    return int(end.nit) if end.fun < GAIN else 0
