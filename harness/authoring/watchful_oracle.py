"""A teacher that counts for itself and an oracle that remembers what it handed out, for the probes of `check`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from paramid.authoring import reaching_out
from paramid.oracle.counting import CountingOracle, Usage
from paramid.oracle.samples import Samples
from paramid.words.network import Teacher


class CountedTeacher:
    """A teacher that counts for itself."""

    def __init__(self, teacher: Teacher) -> None:
        self._teacher, self._rows = teacher, Usage()

    def __call__(self, x: Tensor) -> Tensor:
        """The teacher's values."""
        self._rows.queries += len(x)
        return self._teacher(x)

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._teacher, name)

        def counted(given: Any) -> Any:
            if name == "moments":
                self._rows.moments += 1
            else:
                self._rows.derivatives += len(given)
            return function(given)

        return counted if name in ("gradient", "hessian", "moments") else function

    def miscounted(self, usage: Usage) -> list[tuple[str, str]]:
        """Where the oracle's books differ."""
        books = {"values": usage.queries + usage.samples, "derivatives": usage.derivatives, "moments": usage.moments}
        mine = dict(zip(books, (self._rows.queries, self._rows.derivatives, self._rows.moments), strict=True))
        return [
            ("counts", f"the oracle counted {books[k]} rows of {k}, the teacher gave {mine[k]}")
            for k in books
            if books[k] != mine[k]
        ]


class WatchfulOracle(CountingOracle):
    """An oracle that remembers what it handed out, and as what it got points."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._handed_out: list[tuple[Tensor, Tensor]] = []
        self._coarse: set[str] = set()

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("_") and not name.startswith("__"):
            reaching_out.private(name)
        return super().__getattribute__(name)

    def hand_out(self, value: Tensor) -> Tensor:
        """Hand out a tensor and remember its content."""
        self._handed_out.append((value, value.clone()))
        return value

    def query(self, x: Tensor, /) -> Tensor:
        """Values at chosen points."""
        return self.hand_out(super().query(x))

    def decide(self, x: Tensor, /) -> Tensor:
        """Decisions at chosen points."""
        return self.hand_out(super().decide(x))

    def sample(self, n: int, /) -> Samples:
        """Passive pairs."""
        return WatchfulSamples(super().sample(n), self.hand_out)

    def gradient(self, x: Tensor, /) -> Tensor:
        """First derivatives."""
        return self.hand_out(super().gradient(x))

    def hessian(self, x: Tensor, /) -> Tensor:
        """Second derivatives."""
        return self.hand_out(super().hessian(x))

    def checked(self, x: Tensor) -> Tensor:
        """Points, and what they came as."""
        rows = super().checked(x)
        if x.dtype != rows.dtype:
            self._coarse.add(f"points came as {x.dtype}; {rows.dtype} was wanted")
        return rows

    def problems(self) -> list[tuple[str, str]]:
        """What was written to, and what came too coarse."""
        wrong = [("dtype", problem) for problem in sorted(self._coarse)]
        if any(not torch.equal(now, then) for now, then in self._handed_out):
            wrong.append(("inputs", "wrote into a tensor that the oracle gave"))
        if self.spec != self._spec:
            wrong.append(("inputs", "wrote into the spec"))
        return wrong


class WatchfulSamples(Samples):
    """Samples that are remembered."""

    def __init__(self, samples: Samples, hand_out: Callable[[Tensor], Tensor]) -> None:
        self._samples, self._hand_out = samples, hand_out

    def __len__(self) -> int:
        return len(self._samples)

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        for x, y in self._samples:
            yield self._hand_out(x), self._hand_out(y)

    def tensors(self) -> tuple[Tensor, Tensor]:
        """All pairs at once."""
        x, y = self._samples.tensors()
        return self._hand_out(x), self._hand_out(y)
