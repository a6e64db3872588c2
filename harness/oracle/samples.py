"""Passive pairs (x, f(x)) that are never all held at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from paramid.words import memory_limits

Draw = Callable[[int, int], Tensor]  # chunk and rows to inputs
Label = Callable[[int, Tensor], Tensor]  # chunk and inputs to values


class Samples:
    """Passive pairs (x, f(x)), re-iterable in chunks: inputs are drawn anew from their seed, values are remembered.

    So ten million rows cost the memory of their values alone, and a row is evaluated and counted once.
    """

    def __init__(self, rows: int, columns: int, chunk: int, draw: Draw, label: Label) -> None:
        self._rows, self._columns, self._chunk = rows, columns, chunk
        self._draw, self._label = draw, label
        self._values: dict[int, Tensor] = {}

    def __len__(self) -> int:
        return self._rows

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        for index, first in enumerate(range(0, self._rows, self._chunk)):
            x = self._draw(index, min(self._chunk, self._rows - first))
            if index not in self._values:
                self._values[index] = self._label(index, x)
            yield x, self._values[index].clone()

    def tensors(self) -> tuple[Tensor, Tensor]:
        """All pairs at once, (rows, inputs) and (rows, outputs); a MemoryError where they cannot fit."""
        if reason := memory_limits.refusal({"samples": (self._rows, self._columns)}, memory_limits.room()):
            raise MemoryError(reason)
        pairs = list(self)
        return torch.cat([x for x, _ in pairs]), torch.cat([y for _, y in pairs])


def rows_of_a_chunk(inputs: int) -> int:
    """How many pairs are drawn at a time."""
    return max(1, memory_limits.CHUNK * 8 // inputs)
