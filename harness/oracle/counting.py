"""An oracle over a teacher in this process: it counts every row of every kind, bounds memory, and refuses the rest."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import NoReturn

import torch
from torch import Tensor

from paramid.oracle.protocol import AccessRefused, BudgetSpent
from paramid.oracle.samples import Samples
from paramid.words import random_streams
from paramid.words.memory_limits import CHUNK
from paramid.words.spec import Access, Spec


@dataclass
class Usage:
    """Rows of the teacher evaluated so far, by kind."""

    queries: int = 0
    samples: int = 0
    derivatives: int = 0
    moments: int = 0

    def snapshot(self) -> dict[str, int]:
        """The counts as they are now."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


class CountingOracle:
    """An oracle over a teacher in this process: any callable, with `gradient`, `hessian`, `moments` where granted."""

    def __init__(
        self,
        teacher: Callable[[Tensor], Tensor],
        spec: Spec,
        *,
        access: frozenset[Access],
        seed: int,
        device: torch.device,
        dtype: torch.dtype = torch.float64,
        query_limit: int | None = None,
    ) -> None:
        self.spec = replace(spec)  # a method that writes to its spec changes its own copy
        self._spec, self._usage = spec, Usage()
        self._teacher, self._access, self._seed = teacher, access, seed
        self._device, self._dtype = device, dtype
        self._limits = {"queries": query_limit, "samples": spec.samples}
        self._sampled, self._calls = 0, 0
        self._process = os.getpid()
        self._noise = random_streams.generator(seed, "noise")

    def __reduce__(self) -> NoReturn:
        """Neither copied nor pickled."""
        raise AccessRefused("an oracle cannot be copied: rows asked of a copy would not be counted")

    @property
    def usage(self) -> Usage:
        """What has been counted so far, as a copy."""
        return replace(self._usage)

    def query(self, x: Tensor, /) -> Tensor:
        """F at chosen points, (rows, outputs)."""
        self._admit(Access.QUERIES)
        y = self._evaluate(self._teacher, self._rows(x), "queries", self._width)
        return self._noisy(y, self._noise)

    def sample(self, n: int, /) -> Samples:
        """`n` further passive pairs; refused when more than granted were asked for in total."""
        self._admit(Access.SAMPLES)
        if n < 1:
            raise ValueError(f"{n} samples were asked for; at least 1 was wanted")
        granted = self._limits["samples"]
        if granted is not None and self._sampled + n > granted:
            raise BudgetSpent(f"{self._sampled + n} samples asked, {granted} granted")
        self._sampled += n
        self._calls += 1
        call = self._calls

        def draw(index: int, rows: int) -> Tensor:
            source = random_streams.generator(self._seed, "samples", call, index)
            return random_streams.inputs(self._spec, rows, source, self._device, self._dtype)

        def label(index: int, x: Tensor) -> Tensor:
            y = self._evaluate(self._teacher, x, "samples", self._width)
            return self._noisy(y, random_streams.generator(self._seed, "sample noise", call, index))

        columns = self._spec.inputs + self._spec.outputs
        return Samples(n, columns, max(1, CHUNK * 8 // self._spec.inputs), draw, label)

    def gradient(self, x: Tensor, /) -> Tensor:
        """Exact first derivatives."""
        self._admit(Access.DERIVATIVES)
        return self._evaluate(self._granted("gradient"), self._rows(x), "derivatives", self._width * self._spec.outputs)

    def hessian(self, x: Tensor, /) -> Tensor:
        """Exact second derivatives."""
        self._admit(Access.DERIVATIVES)
        width = self._spec.inputs * (self._spec.outputs * self._spec.inputs + self._width)
        return self._evaluate(self._granted("hessian"), self._rows(x), "derivatives", width)

    def moments(self, order: int, /) -> Tensor:
        """Exact Hermite coefficients; each call counts 1."""
        self._admit(Access.MOMENTS)
        coefficient = self._granted("moments")
        self._usage.moments += 1
        value: Tensor = coefficient(order)
        return value.to(device=self._device, dtype=self._dtype, copy=True)

    def label(self, columns: Tensor, /) -> Tensor:
        """Layers of true neurons near these directions, (inputs, k): an assistance, of which no row is counted."""
        self._admit(Access.LABELS)
        layers: Tensor = self._granted("label")(self._rows(columns.T).T)
        return layers.to(device=self._device, dtype=self._dtype, copy=True)

    @property
    def _width(self) -> int:
        return max(self._spec.inputs, self._spec.outputs, *(w or 1 for w in self._spec.widths), 1)

    def _admit(self, kind: Access) -> None:
        if kind not in self._access:
            agreed = ", ".join(sorted(a.value for a in self._access)) or "nothing"
            raise AccessRefused(f"{kind.value} were asked for; task and method agreed on {agreed}")

    def _granted(self, name: str) -> Callable[..., Tensor]:
        function: Callable[..., Tensor] | None = getattr(self._teacher, name, None)
        if function is None:
            raise AccessRefused(f"this teacher offers no {name}")
        return function

    def _rows(self, x: Tensor) -> Tensor:
        if not isinstance(x, Tensor) or x.ndim != 2 or x.shape[1] != self._spec.inputs:
            came = f"shape {tuple(x.shape)}" if isinstance(x, Tensor) else f"a {type(x).__name__}"
            raise ValueError(f"points came with {came}; a tensor (rows, {self._spec.inputs}) was wanted")
        if not bool(torch.isfinite(x).all()):
            raise ValueError("points hold non-finite values")
        return x.detach().to(device=self._device, dtype=self._dtype)

    def _evaluate(self, function: Callable[..., Tensor], x: Tensor, kind: str, width: int) -> Tensor:
        if os.getpid() != self._process:
            raise AccessRefused("rows asked for in another process cannot be counted")
        used, limit = getattr(self._usage, kind), self._limits.get(kind)
        if kind != "samples" and limit is not None and used + len(x) > limit:
            raise BudgetSpent(f"{used + len(x)} {kind} asked, {limit} granted")
        setattr(self._usage, kind, used + len(x))
        with torch.no_grad():
            return torch.cat([function(rows) for rows in x.split(max(1, CHUNK // width))])

    def _noisy(self, y: Tensor, source: torch.Generator) -> Tensor:
        if self._spec.noise:
            noise = torch.randn(y.shape, generator=source, device="cpu", dtype=y.dtype)
            y = y + self._spec.noise * noise.to(y.device)
        return y.float().to(y.dtype) if self._spec.precision == "float32" else y
