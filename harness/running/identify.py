"""`identify`: the methods of the registry before a black box of one's own, in the caller's process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from paramid.contracts import registry
from paramid.contracts.controls import Control
from paramid.contracts.method import Method, Run
from paramid.judging.claim_scores import accept
from paramid.judging.metrics import Unjudgeable
from paramid.judging.obstacles import obstacles
from paramid.judging.output_errors import score_outputs
from paramid.oracle.black_box import GRANTED, BlackBox, precision_of
from paramid.oracle.counting import CountingOracle
from paramid.running.error_statuses import ending
from paramid.words import activations
from paramid.words.claims import Claim
from paramid.words.naming import UsageError, whole
from paramid.words.network import Network
from paramid.words.spec import Spec
from paramid.words.status import Status


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
    box.check_deterministic(seed)
    if reason := chosen.declines(spec):
        return Found(None, Status.DECLINED, reason, (), box.rows, 0, 0.0, (), float("nan"))
    cpu = torch.device("cpu")
    oracle = CountingOracle(box, spec, access=chosen.access, seed=seed, device=cpu, query_limit=query_limit)
    begin = time.perf_counter()
    claims, status, reason = collect_claims(chosen, oracle, seed)
    seconds = time.perf_counter() - begin
    network = next((c for c in reversed(claims) if isinstance(c, Network)), None)
    residual = residual_of(network, box, seed) if network is not None else float("nan")
    samples = oracle.usage.samples
    named = obstacles(network) if network is not None else ()
    return Found(network, status, reason, tuple(claims), box.rows - samples, samples, seconds, named, residual)


def residual_of(network: Network, box: BlackBox, seed: int) -> float:
    """The relative output error of a network on fresh inputs."""
    theirs = network.to("cpu", torch.float64)
    return score_outputs(box, theirs, [box.fresh_inputs(seed)])["output_error_relative"]


def collect_claims(method: Method, oracle: CountingOracle, seed: int) -> tuple[list[Claim], Status, str]:
    """The claims until the method ends, and how it ended; what it raises of its own leaves."""
    claims: list[Claim] = []
    try:
        for claim in method.identify(oracle, Run.seeded(seed)):
            claims.append(accept(claim, oracle.spec)[0])
    except Unjudgeable as error:
        return claims, Status.MALFORMED_CLAIM, str(error)
    except Exception as error:
        status, reason = ending(error)
        if status is Status.RAISED:
            raise
        return claims, status, reason
    return claims, Status.FINISHED if claims else Status.NO_ANSWER, ""
