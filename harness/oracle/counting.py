"""An oracle over a teacher in this process: it counts every row of every kind, bounds memory, and refuses the rest."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Literal, NoReturn

import torch
from torch import Tensor

from paramid.oracle import points
from paramid.oracle.protocol import AccessRefused, BudgetSpent
from paramid.oracle.samples import Samples, rows_of_a_chunk
from paramid.words import random_streams
from paramid.words.random_streams import Normals
from paramid.words.spec import Access, Spec

Kind = Literal["query", "decision", "gradient", "hessian"]
ASKED = {"query": Access.QUERIES, "decision": Access.DECISIONS}
COUNTED = {"query": "queries", "decision": "queries", "gradient": "derivatives", "hessian": "derivatives"}


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
        shown: Callable[[Tensor], object] | None = None,
    ) -> None:
        self.spec = replace(spec)  # a method that writes to its spec changes its own copy
        self._spec, self._usage = spec, Usage()
        self._teacher, self._access, self._seed = teacher, access, seed
        self._device, self._dtype = device, dtype
        self._limits = {"queries": query_limit, "samples": spec.samples}
        self._sampled, self._calls = 0, list[int]()  # rows granted, and those of every call
        self._process = os.getpid()
        self._noise = Normals(seed, "noise")
        self._shown = shown  # told of points whose values are shown

    def __reduce__(self) -> NoReturn:
        """Neither copied nor pickled."""
        raise AccessRefused("an oracle cannot be copied: rows asked of a copy would not be counted")

    @property
    def usage(self) -> Usage:
        """What has been counted so far, as a copy."""
        return replace(self._usage)

    def query(self, x: Tensor, /) -> Tensor:
        """F at chosen points, (rows, outputs)."""
        return self._asked("query", x)

    def decide(self, x: Tensor, /) -> Tensor:
        """Which output is largest, from 0, or 1 where the only one is positive: (rows, 1)."""
        return self._asked("decision", x)

    def gradient(self, x: Tensor, /) -> Tensor:
        """Exact first derivatives."""
        return self._asked("gradient", x)

    def hessian(self, x: Tensor, /) -> Tensor:
        """Exact second derivatives."""
        return self._asked("hessian", x)

    def _asked(self, kind: Kind, x: Tensor) -> Tensor:
        self.admit(kind)
        rows = self.checked(x)
        self.book(kind, len(rows))
        return torch.cat([self.answer(kind, chunk) for chunk in rows.split(points.at_once(self._spec, kind))])

    def admit(self, kind: Kind) -> None:
        """Refuse what was not agreed, or what this teacher has not."""
        self._admit(ASKED.get(kind, Access.DERIVATIVES))
        if kind not in ASKED:
            self._granted(kind)

    def book(self, kind: Kind | Literal["samples"], count: int) -> None:
        """Count rows before a value of them is known; BudgetSpent where they are more than are left."""
        if os.getpid() != self._process:
            raise AccessRefused("rows asked for in another process cannot be counted")
        name = COUNTED.get(kind, kind)
        used, limit = getattr(self._usage, name), self._limits.get(name)
        if kind != "samples" and limit is not None and used + count > limit:
            raise BudgetSpent(f"{used + count} {name} asked, {limit} granted")
        setattr(self._usage, name, used + count)

    def answer(self, kind: Kind, x: Tensor) -> Tensor:
        """A chunk's values, decisions or derivatives, of rows that are booked."""
        if kind not in ASKED:
            return self._evaluated(self._granted(kind), x)
        y = self._noisy(self._evaluated(self._teacher, x), self._noise)
        if kind == "decision":
            return decided(y)
        if self._shown is not None:
            self._shown(x)
        return y

    def sample(self, n: int, /) -> Samples:
        """`n` further passive pairs; refused when more than granted were asked for in total."""
        call = self.grant(n)
        columns = self._spec.inputs + self._spec.outputs

        def draw(index: int, _: int) -> Tensor:
            return self.inputs(call, index)

        def label(index: int, x: Tensor) -> Tensor:
            return self.label_chunk(call, index, x)

        return Samples(n, columns, rows_of_a_chunk(self._spec.inputs), draw, label)

    def grant(self, n: int) -> int:
        """Grant `n` pairs; the number of the call, by which they are drawn."""
        self._admit(Access.SAMPLES)
        if n < 1:
            raise ValueError(f"{n} samples were asked for; at least 1 was wanted")
        granted, asked = self._limits["samples"], self._sampled + n
        if granted is not None and asked > granted:
            raise BudgetSpent(f"{asked} samples asked, {granted} granted")
        self._sampled = asked
        self._calls.append(n)
        return len(self._calls)

    def has_chunk(self, call: int, index: int) -> bool:
        """Whether a call was granted so many pairs that they have this chunk."""
        known = 1 <= call <= len(self._calls) and index >= 0
        return known and index * rows_of_a_chunk(self._spec.inputs) < self._calls[call - 1]

    def inputs(self, call: int, index: int) -> Tensor:
        """The inputs of a chunk of the pairs that a call was granted: drawn, or the next of a teacher that is data."""
        chunk = rows_of_a_chunk(self._spec.inputs)
        rows = min(chunk, self._calls[call - 1] - index * chunk)
        if (shown := getattr(self._teacher, "shown_rows", None)) is not None:
            data: Tensor = shown(sum(self._calls[: call - 1]) + index * chunk, rows)
            return data.to(device=self._device, dtype=self._dtype, copy=True)
        source = random_streams.generator(self._seed, "samples", call, index)
        return random_streams.inputs(self._spec, rows, source, self._device, self._dtype)

    def label_chunk(self, call: int, index: int, x: Tensor) -> Tensor:
        """The values of such a chunk, counted."""
        self.book("samples", len(x))
        chunks = x.split(points.at_once(self._spec, "query"))
        y = torch.cat([self._evaluated(self._teacher, rows) for rows in chunks])
        return self._noisy(y, Normals(self._seed, "sample noise", call, index))

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
        layers: Tensor = self._granted("label")(self.checked(columns.T).T)
        return layers.to(device=self._device, dtype=self._dtype, copy=True)

    def _admit(self, kind: Access) -> None:
        if kind not in self._access:
            agreed = ", ".join(sorted(a.value for a in self._access)) or "nothing"
            raise AccessRefused(f"{kind.value} were asked for; task and method agreed on {agreed}")

    def _granted(self, name: str) -> Callable[..., Tensor]:
        function: Callable[..., Tensor] | None = getattr(self._teacher, name, None)
        if function is None:
            raise AccessRefused(f"this teacher offers no {name}")
        return function

    def checked(self, x: Tensor) -> Tensor:
        """Points as the teacher takes them."""
        return points.checked(x, self._spec.inputs).to(device=self._device, dtype=self._dtype)

    def _evaluated(self, function: Callable[..., Tensor], x: Tensor) -> Tensor:
        with torch.no_grad():
            return function(x)

    def _noisy(self, y: Tensor, source: Normals) -> Tensor:
        if self._spec.noise:
            y = y + self._spec.noise * source(y.shape, y.dtype).to(y.device)
        return y.float().to(y.dtype) if self._spec.precision == "float32" else y


def decided(y: Tensor) -> Tensor:
    """Values as decisions: the place of the largest, or whether the only one is positive."""
    which = y > 0 if y.shape[1] == 1 else y.argmax(dim=1, keepdim=True)
    return which.to(y.dtype)
