"""Between the harness' tensors and numpy: piecewise linear functions are bookkeeping over a few thousand numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from paramid import Oracle, Run
    from paramid.methods.piecewise.line_kinks import Array, Values


def generator(run: Run) -> np.random.Generator:
    """The run's stream for numpy."""
    return np.random.default_rng(torch.randint(2**62, (2,), generator=run.generator, device="cpu").tolist())


def values(oracle: Oracle, run: Run) -> Values:
    """The oracle for arrays, which no accelerator speeds up."""

    def f(x: Array) -> Array:
        return oracle.query(tensor(x, run)).numpy(force=True).astype(np.float64)

    return f


def tensor(x: Array, run: Run) -> torch.Tensor:
    """An array on the run's device."""
    return torch.from_numpy(np.ascontiguousarray(x)).to(device=run.device, dtype=run.dtype)
