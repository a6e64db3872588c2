"""What cannot fit into memory is refused with the arithmetic, before anything is allocated."""

from __future__ import annotations

import math
import os
import resource
from collections.abc import Mapping
from itertools import pairwise
from typing import Protocol

DOUBLE = 8
LEAST_MB = 256  # of a process that has torch in it and may do something
MOST = 10**300  # bytes that can be said
CHUNK = 2**18  # doubles per intermediate: 2 MB, about a core's cache


def room() -> int:
    """The bytes that this process may hold: its own limit, or the machine's memory."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
    return machine if soft == resource.RLIM_INFINITY else min(machine, soft)


class Layers(Protocol):
    """What is looked at of a spec."""

    @property
    def inputs(self) -> int:
        """Of the teacher."""
        ...

    @property
    def widths(self) -> tuple[int | None, ...]:
        """Of its hidden layers."""
        ...

    @property
    def outputs(self) -> int:
        """Of the teacher."""
        ...


def least(spec: Layers) -> dict[str, tuple[int, ...]]:
    """The arrays that a teacher of that spec and its judge cannot do without, by their shapes."""
    layers = [spec.inputs, *(w or 1 for w in spec.widths), spec.outputs]
    weights = {f"weights {i}": pair for i, pair in enumerate(pairwise(layers), 1)}
    return {**weights, "distances between neurons": (max(layers[1:]),) * 2}


def refusal(arrays: Mapping[str, tuple[int, ...]], allowed: float) -> str | None:
    """Why these float64 arrays cannot be held in `allowed` bytes, or None."""
    needed = DOUBLE * sum(math.prod(shape) for shape in arrays.values())
    if needed <= allowed:
        return None
    told = " + ".join(f"{' x '.join(f'{min(n, MOST):,}' for n in shape)} ({name})" for name, shape in arrays.items())
    return f"{told} doubles of 8 bytes are {gigabytes(needed)}; {gigabytes(allowed)} are there"


def gigabytes(count: float) -> str:
    """A number of bytes for people."""
    return f"{min(count, MOST) / 1e9:,.1f} GB"
