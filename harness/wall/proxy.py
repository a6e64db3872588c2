"""The oracle as a method holds it: every question becomes a frame, and the warden answers and counts."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from typing import NoReturn

import torch
from torch import Tensor

from paramid.oracle import points
from paramid.oracle.protocol import AccessRefused, BudgetSpent
from paramid.oracle.samples import Samples, rows_of_a_chunk
from paramid.wall.frames import Frame, Kind, Link
from paramid.words.spec import Spec

REFUSALS: tuple[type[Exception], ...] = (  # by the number that stands for them in a frame
    *(RuntimeError, BudgetSpent, AccessRefused),
    *(ValueError, TypeError, MemoryError),
)


class ProxyOracle:
    """An `Oracle` over a teacher in another process."""

    def __init__(self, link: Link, spec: Spec, device: torch.device, dtype: torch.dtype) -> None:
        self.spec = replace(spec)  # a method that writes to its spec changes its own copy
        self._spec, self._link, self._device, self._dtype = spec, link, device, dtype
        self._process, self._talk = os.getpid(), threading.RLock()  # a question and its answer are one

    def __reduce__(self) -> NoReturn:
        """Neither copied nor pickled."""
        raise AccessRefused("an oracle cannot be copied: rows asked of a copy would not be counted")

    def query(self, x: Tensor, /) -> Tensor:
        """F at chosen points, (rows, outputs)."""
        return self._rows("query", Kind.QUERY, x)

    def decide(self, x: Tensor, /) -> Tensor:
        """Which output is largest, from 0, or 1 where the only one is positive: (rows, 1)."""
        return self._rows("decision", Kind.DECISION, x)

    def gradient(self, x: Tensor, /) -> Tensor:
        """Exact first derivatives."""
        return self._rows("gradient", Kind.GRADIENT, x)

    def hessian(self, x: Tensor, /) -> Tensor:
        """Exact second derivatives."""
        return self._rows("hessian", Kind.HESSIAN, x)

    def sample(self, n: int, /) -> Samples:
        """`n` further passive pairs."""
        if n < 1:
            raise ValueError(f"{n} samples were asked for; at least 1 was wanted")
        call = self._ask(Kind.SAMPLE, int(n)).number
        values: dict[int, Tensor] = {}

        def draw(index: int, _: int) -> Tensor:
            with self._talk:
                x = self._ask(Kind.CHUNK, call, sizes=(index, int(index not in values)))
                if x.number:  # values follow
                    values[index] = self._here(self._link.receive(VALUES))
            return self._here(x)

        columns = self._spec.inputs + self._spec.outputs
        return Samples(n, columns, rows_of_a_chunk(self._spec.inputs), draw, lambda index, _: values[index])

    def moments(self, order: int, /) -> Tensor:
        """The exact Hermite coefficient of that order."""
        return self._here(self._ask(Kind.MOMENTS, int(order)))

    def label(self, columns: Tensor, /) -> Tensor:
        """Layers of true neurons near these directions."""
        return self._here(self._ask(Kind.LABEL, array=points.checked(columns.T, self._spec.inputs).T))

    def _rows(self, name: str, kind: Kind, x: Tensor) -> Tensor:
        """Show points a chunk at a time; the first of their frames says how many they are."""
        rows = points.at_once(self._spec, name)
        if isinstance(x, Tensor) and x.ndim == 2 and x.shape[0] <= rows:  # the warden looks at them before it counts
            return self._here(self._ask(kind, x.shape[0], array=x))
        x, found, asked = points.checked(x, self._spec.inputs), [], x.shape[0]
        for chunk in x.split(rows):
            found.append(self._here(self._ask(kind, asked, array=chunk)))
            asked = 0
        return torch.cat(found)

    def _ask(self, kind: Kind, number: int = 0, *, sizes: tuple[int, ...] = (), array: Tensor | None = None) -> Frame:
        if os.getpid() != self._process:
            raise AccessRefused("rows asked for in another process cannot be counted")
        with self._talk:
            self._link.send(kind, number, sizes=sizes, array=array)
            answer = self._link.receive(ANSWERS)
        if answer.kind is Kind.REFUSED:
            raise REFUSALS[answer.number](answer.text)
        return answer

    def _here(self, frame: Frame) -> Tensor:
        return frame.content.to(device=self._device, dtype=self._dtype)


VALUES = frozenset({Kind.VALUES})
ANSWERS = VALUES | {Kind.REFUSED}
