"""Independent random streams of one seed: the teacher's, the samples', the method's and the judge's never meet.

All draws are made by a CPU generator and then moved, so that a cell sees the same numbers on every device.
"""

from __future__ import annotations

import math
import zlib
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from paramid.words.spec import Spec


def generator(seed: int, *path: str | int) -> torch.Generator:
    """A CPU generator for one named stream of `seed`, e.g. `generator(0, "samples", 3)`."""
    if seed < 0:
        raise ValueError(f"seed is {seed}; a whole number from 0 was wanted")
    names = tuple(zlib.crc32(str(part).encode()) for part in path)
    state = np.random.SeedSequence(entropy=seed, spawn_key=names).generate_state(1, np.uint64)[0]
    return torch.Generator(device="cpu").manual_seed(int(state) >> 1)


def normal(rows: int, columns: int, source: torch.Generator, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Standard normal rows."""
    return torch.randn(rows, columns, generator=source, device="cpu", dtype=dtype).to(device)


def inputs(spec: Spec, rows: int, source: torch.Generator, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Rows of the spec's input law: standard normal, conditioned on ±within where that is given."""
    if spec.within is None:
        return normal(rows, spec.inputs, source, device, dtype)
    uniform = torch.rand(rows, spec.inputs, generator=source, device="cpu", dtype=torch.float64)
    reach = math.erf(spec.within / math.sqrt(2))  # P(|x| ≤ within)
    x = torch.special.ndtri((1 + reach * (2 * uniform - 1)) / 2)
    return x.clamp(-spec.within, spec.within).to(device=device, dtype=dtype)


def unit_columns(rows: int, columns: int, source: torch.Generator, dtype: torch.dtype) -> Tensor:
    """Columns uniform on the unit sphere, on the CPU."""
    w = torch.randn(rows, columns, generator=source, device="cpu", dtype=dtype)
    return w / w.norm(dim=0)


def shifts(law: str, scale: float, count: int, source: torch.Generator, dtype: torch.dtype) -> Tensor:
    """Shifts of a named law: uniform in ±scale, or normal with standard deviation `scale`; on the CPU."""
    if law == "uniform":
        return scale * (2 * torch.rand(count, generator=source, device="cpu", dtype=dtype) - 1)
    if law == "normal":
        return scale * torch.randn(count, generator=source, device="cpu", dtype=dtype)
    raise ValueError(f"unknown shift law {law!r}; there are uniform, normal")
