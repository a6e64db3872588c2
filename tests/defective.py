"""A method with one planted defect at a time: a plug-in of the tests."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch

from paramid import Access, Network, Oracle, Run, Spec

MEMORY: list[int] = []


@dataclass(frozen=True)
class Defective:
    """Guesses, and does one thing that a method must not do."""

    how: str = "none"
    version: ClassVar[int] = 1
    access: ClassVar = frozenset({Access.QUERIES, Access.SAMPLES})

    def declines(self, spec: Spec) -> str | None:
        if self.how == "no_reason":
            return "" if spec.inputs == 3 else None
        known = spec.shallow and spec.widths[0] and spec.outputs == 1 and spec.activation == "tanh"
        return None if known else "needs a shallow tanh net"

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Network]:
        return [] if self.how == "no_generator" else self.claims(oracle, run)

    def claims(self, oracle: Oracle, run: Run) -> Iterator[Network]:
        d, m = oracle.spec.inputs, oracle.spec.widths[0]
        w, tau, stats = run.sphere(m, d).T, run.normal(1, m)[0], {}
        x, y = oracle.sample(1).tensors()
        values = oracle.query(x)
        match self.how:
            case "global_seed":
                torch.manual_seed(0)
            case "global_draw":
                w = w + torch.randn(d, m, dtype=torch.float64, device="cpu")
            case "float32_leak":
                w = w.float().double()
            case "float32_claim":
                w = w.float()
            case "float32_default":
                w = w / torch.full((1,), 3.0, device="cpu").log()
            case "float32_points":
                oracle.query(run.normal(1, d).float())
            case "undeclared_access":
                oracle.gradient(x)
            case "mutated_input":
                values *= 2
            case "mutated_samples":
                y.zero_()
            case "mutated_spec":
                object.__setattr__(oracle.spec, "noise", 0.5)
            case "hidden_state":
                MEMORY.append(1)
                tau = tau + len(MEMORY)
            case "off_by_one":
                stats = {"queries": oracle.usage.queries - 1}
            case "oversampling":
                oracle.sample((oracle.spec.samples or 0) + 1)
            case "cooked_books":
                oracle._usage.queries -= 1
            case "nan_claim":
                tau = tau / 0 * 0
            case "non_determinism":
                tau = tau + int.from_bytes(os.urandom(2), "big")
            case "default_device":
                w = w + torch.zeros(d, m, dtype=torch.float64)
            case "hang":
                while True:
                    pass
            case "segfault":
                os.kill(os.getpid(), 11)
        network = Network.shallow(w, tau.to(w.dtype), "tanh")
        yield Network(network.weights, network.biases, network.activations, stats=stats)


METHODS = {"defective": Defective}
