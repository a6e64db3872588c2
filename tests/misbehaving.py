"""Methods that misbehave, each in its own way: a plug-in of the tests."""

import ctypes
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch

from paramid import Access, Directions, GiveUp, Network, Oracle, Run, Spec


@dataclass(frozen=True)
class Misbehaving:
    """What it does is its option."""

    how: str = "well"
    version: ClassVar[int] = 1
    access: ClassVar = frozenset({Access.QUERIES, Access.SAMPLES})

    def declines(self, spec: Spec) -> str | None:
        return "not today" if self.how == "declines" else None

    def identify(self, oracle: Oracle, run: Run) -> Iterator[object]:
        d, m = oracle.spec.inputs, oracle.spec.widths[0]
        rough = Network.shallow(run.sphere(m, d).T, run.normal(1, m)[0], oracle.spec.activation)
        if self.how != "nothing":
            yield rough
        yield from getattr(self, f"_{self.how}")(oracle, run, rough)

    def _well(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        yield rough

    def _nothing(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        return iter(())

    def _raises(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        raise RuntimeError("planned")

    def _gives_up(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        raise GiveUp("no use")

    def _hangs(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        time.sleep(3600)
        yield rough

    def _dawdles(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        while True:
            time.sleep(0.3)
            yield rough

    def _segfaults(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        ctypes.string_at(0)
        yield rough

    def _exits(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        os._exit(0)
        yield rough

    def _eats(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        yield torch.ones(100 * 2**30 // 8, dtype=torch.float64, device="cpu")

    def _nan(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        yield Directions(float("nan") * rough.weights[0])

    def _shape(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        yield Directions(rough.weights[0].T)

    def _too_many(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        yield Directions(torch.cat([rough.weights[0]] * 2, dim=1))

    def _no_claim(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        yield rough.weights

    def _undeclared(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        oracle.hessian(run.normal(1, oracle.spec.inputs))
        yield rough

    def _greedy(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        oracle.query(run.normal(10**6, oracle.spec.inputs))
        yield rough

    def _prints(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        for line in range(200_000):
            print("line", line)  # noqa: T201 -- what is tested
        yield rough


METHODS = {"misbehaving": Misbehaving}
