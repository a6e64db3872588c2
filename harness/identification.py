"""`identify`: the methods of the registry before a black box of one's own, in the caller's process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from paramid import activations, judging, registry, streams
from paramid.cells import ending, taken
from paramid.claims import Claim
from paramid.contracts import Method, Run
from paramid.controls import Control
from paramid.identifiability import obstacles
from paramid.naming import UsageError, whole
from paramid.network import Network
from paramid.oracle import CountingOracle
from paramid.spec import Access, Spec
from paramid.status import Status

TRIED, CHECKED = 4, 1000  # rows: looked at twice before the start, and compared at the end
GRANTED = frozenset({Access.QUERIES, Access.SAMPLES})


class BadFunction(ValueError):
    """The callable given to `identify` did not do what a function does."""


@dataclass(frozen=True)
class Found:
    """What came of it. `queries + samples` is the number of rows that `f` saw, all checks included."""

    network: Network | None
    status: Status
    reason: str
    claims: tuple[Claim, ...] = field(repr=False)
    queries: int
    samples: int
    seconds: float
    obstacles: tuple[str, ...]  # what of the network found cannot be seen in its values: equal, dead, mirrored neurons
    residual: float  # max |f - network| over max |f| on fresh inputs; NaN without a network


def identify(
    f: Callable[..., Any],
    *,
    inputs: int,
    neurons: int | Sequence[int] | None,
    outputs: int = 1,
    activation: str = "tanh",
    outer: str = "ones",
    norms: str | None = None,
    output_bias: str | None = None,
    shift: float = 0.5,
    method: str = "sphere-lm",
    seed: int = 0,
    query_limit: int | None = None,
) -> Found:
    """Recover the parameters of `f`, believed to be a network with these hidden widths.

    `f` gets a float64 array (rows, inputs), or a tensor where it is a `torch.nn.Module`, and returns (rows,),
    (rows, 1) or (rows, outputs). With `outer="ones"` outer weights are 1, weight vectors have length 1 and there is no
    output bias, unless `norms` and `output_bias` say otherwise; with `outer="free"` all are free.
    """
    widths = tuple(neurons) if isinstance(neurons, Iterable) else (neurons,)
    seed = whole("seed", seed)
    query_limit = None if query_limit is None else whole("query_limit", query_limit, 1)
    try:
        spec = Spec(
            inputs=whole("inputs", inputs, 1),
            widths=tuple(None if width is None else whole("neurons", width, 1) for width in widths),
            outputs=whole("outputs", outputs, 1),
            activations=(activations.activation(activation).name,) * len(widths) + ("identity",),
            outer=outer,
            norms=norms or ("unit" if outer == "ones" else "free"),
            output_bias=output_bias or ("zero" if outer == "ones" else "free"),
            shift=shift,
            precision=precision_of(f),
        )
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from error
    chosen = registry.method(method)
    if isinstance(chosen, Control):
        raise UsageError(f"{method} is a control: it needs the teacher itself")
    if missing := chosen.access - GRANTED:
        raise UsageError(f"{method} needs {', '.join(sorted(a.value for a in missing))}; f grants queries and samples")
    box = BlackBox(f, spec)
    box.try_out(seed)
    if reason := chosen.declines(spec):
        return Found(None, Status.DECLINED, reason, (), box.rows, 0, 0.0, (), float("nan"))
    cpu = torch.device("cpu")
    oracle = CountingOracle(box, spec, access=chosen.access, seed=seed, device=cpu, query_limit=query_limit)
    begin = time.perf_counter()
    claims, status, reason = listen(chosen, oracle, seed)
    seconds = time.perf_counter() - begin
    network = next((c for c in reversed(claims) if isinstance(c, Network)), None)
    residual = box.residual(network, seed) if network is not None else float("nan")
    samples = oracle.usage.samples
    named = obstacles(network) if network is not None else ()
    return Found(network, status, reason, tuple(claims), box.rows - samples, samples, seconds, named, residual)


def listen(method: Method, oracle: CountingOracle, seed: int) -> tuple[list[Claim], Status, str]:
    """The claims until the method ends, and how it ended; what it raises of its own leaves."""
    claims: list[Claim] = []
    try:
        for claim in method.identify(oracle, Run.seeded(seed)):
            claims.append(taken(claim, oracle.spec)[0])
    except judging.Unjudgeable as error:
        return claims, Status.MALFORMED_CLAIM, str(error)
    except Exception as error:
        status, reason = ending(error)
        if status is Status.RAISED:
            raise
        return claims, status, reason
    return claims, Status.FINISHED if claims else Status.NO_ANSWER, ""


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

    def try_out(self, seed: int) -> None:
        """The same few rows twice: a function gives the same values."""
        x = self._inputs(seed, "try", TRIED)
        first, second = self(x), self(x)
        if not torch.equal(first, second):
            raise BadFunction(
                f"f is not deterministic: the same rows differ by {float((first - second).abs().max()):.1e}"
            )

    def residual(self, network: Network, seed: int) -> float:
        """The relative output error of a network on fresh inputs."""
        x = self._inputs(seed, "check", CHECKED)
        return judging.score_outputs(self, network.to("cpu", torch.float64), [x])["output_error_relative"]

    def _inputs(self, seed: int, stream: str, rows: int) -> Tensor:
        source = streams.generator(seed, stream)
        return streams.normal(rows, self._spec.inputs, source, torch.device("cpu"), torch.float64)

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
