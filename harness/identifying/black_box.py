"""A function of somebody's own as a teacher: asked in batches, within a time, and its precision seen in its values."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from paramid.contracts.error_statuses import one_line
from paramid.words import random_streams
from paramid.words.network import Network
from paramid.words.spec import Access, Spec

TRIED, COMPARED = 4, 1000  # rows: asked for twice before the start, and compared at the end
GRANTED = frozenset({Access.QUERIES, Access.SAMPLES})
MEASURED = 100  # rows, twice, where these differ
MET = 1e-4  # of the values' size: noise that methods meet
DROWNED = 0.1  # of the values' size: more noise leaves no function
OFTEN = 0.1  # seconds between two states of the line on a terminal

Progress = Callable[[int, float], object]


class BadFunction(ValueError):
    """The callable given to `identify` did not do what a function does."""


class NoisyFunction(Exception):
    """The callable gives other values for the same rows, off by a small noise."""


class TimeIsUp(Exception):
    """The time for asking f has passed."""


def precision_of(f: object) -> str | None:
    """What a module computes in, by its parameters; None for what has none."""
    example = next(f.parameters(), None) if isinstance(f, torch.nn.Module) else None
    if example is None:
        return None
    return "float64" if example.dtype == torch.float64 else "float32"


def terminal_line(rows: int, seconds: float) -> None:
    """Rows and seconds on one line of stderr that is written over, where that is a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\rparamid: {rows:,} rows, {seconds:.0f} s ")
        sys.stderr.flush()


class BlackBox:
    """A caller's function as a teacher: counted, and checked at every call.

    At most `batch` rows are handed over at a time. `progress(rows, seconds)` is called after each; True writes a line
    on a terminal. After `deadline`, a moment of `time.perf_counter`, a call raises `TimeIsUp`.
    """

    def __init__(
        self, f: Callable[..., Any], spec: Spec, *, batch: int | None = None, progress: bool | Progress = False
    ) -> None:
        if not callable(f):
            raise BadFunction(f"f is a {type(f).__name__}; a callable was wanted")
        self._f, self._spec, self.rows = f, spec, 0
        self._batch, self._progress = batch, terminal_line if progress is True else progress or None
        self.noise = 0.0
        self._began, self._told, self.deadline = time.perf_counter(), -math.inf, math.inf
        self._example = next(f.parameters(), None) if isinstance(f, torch.nn.Module) else None
        self.precision = precision_of(f) or "float64"

    def __call__(self, x: Tensor) -> Tensor:
        """The values, (rows, outputs) in float64."""
        return torch.cat([self._asked(rows) for rows in x.split(self._batch or max(1, len(x)))])

    def _asked(self, x: Tensor) -> Tensor:
        """The values of one call of f."""
        if time.perf_counter() > self.deadline:
            raise TimeIsUp(f"the time limit passed after {self.rows:,} rows")
        self.rows += len(x)
        try:
            given = self._f(self._handed(x))
        except (Exception, SystemExit) as error:
            raise BadFunction(one_line(f"f raised {type(error).__name__}: {error}")) from error
        y = self._taken(given)
        wanted = [(len(x), self._spec.outputs)] + [(len(x),)] * (self._spec.outputs == 1)
        if tuple(y.shape) not in wanted:
            raise BadFunction(f"f gave shape {tuple(y.shape)} for {len(x)} rows; {wanted[0]} was wanted")
        if not bool(torch.isfinite(y).all()):
            raise BadFunction(f"f gave {int((~torch.isfinite(y)).sum())} non-finite values for {len(x)} rows")
        self._report()
        return y.reshape(len(x), self._spec.outputs)

    def _report(self) -> None:
        now = time.perf_counter()
        if self._progress and (self._progress is not terminal_line or now - self._told > OFTEN):
            self._told = now
            self._progress(self.rows, now - self._began)

    def clear_line(self) -> None:
        """Take the line on a terminal away."""
        if self._progress is terminal_line and sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def check_deterministic(self, seed: int) -> None:
        """Ask for the same few rows twice, and see the precision of the values.

        Where they differ by very little, that is the noise. Raises NoisyFunction where it is more, BadFunction where
        they have nothing in common.
        """
        x = self._inputs(seed, "try", TRIED)
        first, second = self(x), self(x)
        if not torch.equal(first, second):
            x = self._inputs(seed, "noise", MEASURED)
            first, second = self(x), self(x)
            apart = first - second
            told = f"f is not deterministic: the same rows differ by {float(apart.abs().max()):.1e}"
            sigma, size = float(apart.square().mean().sqrt()) / math.sqrt(2), float(first.abs().max())
            if sigma > DROWNED * size:
                raise BadFunction(told)
            self.noise = sigma
            if sigma <= MET * size:
                return
            raise NoisyFunction(
                f"{told}, noise of about {sigma:.0e} on every value, {sigma / size:.0e} of the largest; try f without "
                "what is random in it (dropout, an unseeded generator), or a mean of many calls at every input"
            )
        whole = bool((first == first.round()).all())  # labels and counts are so in any precision
        if precision_of(self._f) is None and not whole and bool((first.float().double() == first).all()):
            self.precision = "float32"  # of float64 values one in 2^29 is whole in float32

    def fresh_inputs(self, seed: int) -> Tensor:
        """Rows that no method has seen, to compare a network with the function at."""
        return self._inputs(seed, "check", COMPARED)

    def _inputs(self, seed: int, stream: str, rows: int) -> Tensor:
        source = random_streams.generator(seed, stream)
        return random_streams.normal(rows, self._spec.inputs, source, torch.device("cpu"), torch.float64)

    def _handed(self, x: Tensor) -> object:
        if not isinstance(self._f, torch.nn.Module | Network):
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
