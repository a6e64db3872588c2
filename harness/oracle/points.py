"""What an oracle asks of points, and how many of them are shown to the teacher at a time.

A chunk is the same wherever the teacher lives, so that its values are the same to the last bit.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from paramid.words import memory_limits
from paramid.words.spec import Spec


def checked(x: Tensor, inputs: int) -> Tensor:
    """Points without their history; a ValueError says what else came."""
    if not isinstance(x, Tensor) or x.ndim != 2 or x.shape[1] != inputs:
        came = f"shape {tuple(x.shape)}" if isinstance(x, Tensor) else f"a {type(x).__name__}"
        raise ValueError(f"points came with {came}; a tensor (rows, {inputs}) was wanted")
    if not finite(x):
        raise ValueError("points hold non-finite values")
    return x.detach()


def finite(x: Tensor) -> bool:
    """Whether all are numbers: their sum is then one too, unless it is too large, and is the cheaper look."""
    return math.isfinite(x.sum().item()) or bool(torch.isfinite(x).all())


def at_once(spec: Spec, kind: str) -> int:
    """The rows of a chunk of values or decisions, of first ("gradient") or second derivatives ("hessian")."""
    width = max(spec.inputs, spec.outputs, *(w or 1 for w in spec.widths), 1)
    if kind == "gradient":
        width = width * spec.outputs
    elif kind == "hessian":
        width = spec.inputs * (spec.outputs * spec.inputs + width)
    return max(1, memory_limits.CHUNK // width)
