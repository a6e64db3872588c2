"""The rows that a method asked for, as many of them as fit: the rest are left out at random."""

from __future__ import annotations

import torch
from torch import Tensor

from paramid.words import random_streams


class RowsAsked:
    """At most `most` of all rows that are added, each as likely as any other."""

    def __init__(self, most: int, inputs: int, seed: int) -> None:
        self.count, self._most, self._share = 0, most, 1.0
        self._kept = [torch.zeros(0, inputs, dtype=torch.float64, device="cpu")]
        self._held, self._source = 0, random_streams.generator(seed, "rows asked")

    def add(self, x: Tensor) -> None:
        """Take rows into account."""
        self.count += len(x)
        self._keep(x, self._share)
        while self._held > self._most:
            rows, self._kept, self._held = self.rows(), [], 0
            self._share /= 2
            self._keep(rows, 0.5)

    def rows(self) -> Tensor:
        """Those that are left, on the CPU."""
        return torch.cat(self._kept)

    def _keep(self, x: Tensor, share: float) -> None:
        if share < 1:
            x = x[(torch.rand(len(x), generator=self._source, device="cpu") < share).to(x.device)]
        self._kept.append(x.to("cpu", copy=True))
        self._held += len(x)
