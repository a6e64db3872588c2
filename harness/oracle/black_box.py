"""A function of somebody's own as a teacher."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from paramid.words import random_streams
from paramid.words.spec import Access, Spec

TRIED, COMPARED = 4, 1000  # rows: asked for twice before the start, and compared at the end
GRANTED = frozenset({Access.QUERIES, Access.SAMPLES})


class BadFunction(ValueError):
    """The callable given to `identify` did not do what a function does."""


def precision_of(f: object) -> str:
    """What a module computes in, by its parameters; a function is believed to compute in float64."""
    example = next(f.parameters(), None) if isinstance(f, torch.nn.Module) else None
    return "float64" if example is None or example.dtype == torch.float64 else "float32"


class BlackBox:
    """A caller's function as a teacher: counted, and checked at every call."""

    def __init__(self, f: Callable[..., Any], spec: Spec) -> None:
        if not callable(f):
            raise BadFunction(f"f is a {type(f).__name__}; a callable was wanted")
        self._f, self._spec, self.rows = f, spec, 0
        self._example = next(f.parameters(), None) if isinstance(f, torch.nn.Module) else None

    def __call__(self, x: Tensor) -> Tensor:
        """The values, (rows, outputs) in float64."""
        self.rows += len(x)
        try:
            given = self._f(self._handed(x))
        except Exception as error:
            raise BadFunction(f"f raised {type(error).__name__}: {error}") from error
        y = self._taken(given)
        wanted = [(len(x), self._spec.outputs)] + [(len(x),)] * (self._spec.outputs == 1)
        if tuple(y.shape) not in wanted:
            raise BadFunction(f"f gave shape {tuple(y.shape)} for {len(x)} rows; {wanted[0]} was wanted")
        if not bool(torch.isfinite(y).all()):
            raise BadFunction(f"f gave {int((~torch.isfinite(y)).sum())} non-finite values for {len(x)} rows")
        return y.reshape(len(x), self._spec.outputs)

    def check_deterministic(self, seed: int) -> None:
        """Ask for the same few rows twice: a BadFunction where the values differ."""
        x = self._inputs(seed, "try", TRIED)
        first, second = self(x), self(x)
        if not torch.equal(first, second):
            raise BadFunction(
                f"f is not deterministic: the same rows differ by {float((first - second).abs().max()):.1e}"
            )

    def fresh_inputs(self, seed: int) -> Tensor:
        """Rows that no method has seen, to compare a network with the function at."""
        return self._inputs(seed, "check", COMPARED)

    def _inputs(self, seed: int, stream: str, rows: int) -> Tensor:
        source = random_streams.generator(seed, stream)
        return random_streams.normal(rows, self._spec.inputs, source, torch.device("cpu"), torch.float64)

    def _handed(self, x: Tensor) -> object:
        if not isinstance(self._f, torch.nn.Module):
            return x.numpy(force=True).copy()
        if self._example is None:
            return x.clone()
        return x.to(device=self._example.device, dtype=self._example.dtype, copy=True)

    def _taken(self, given: object) -> Tensor:
        if isinstance(given, Tensor) and not given.is_complex() and not given.is_meta:
            return given.detach().to_dense().to(device="cpu", dtype=torch.float64)
        try:
            if isinstance(given, Tensor) or np.asarray(given).dtype.kind in "cSU":
                raise TypeError("no real numbers")
            return torch.from_numpy(np.array(given, dtype=np.float64))
        except (TypeError, ValueError) as error:
            kind = f" of {dtype}" if (dtype := getattr(given, "dtype", "")) else ""
            raise BadFunction(f"f gave a {type(given).__name__}{kind}; an array of real numbers was wanted") from error
