"""`identify`: the methods of the registry before a black box of one's own, in the caller's process."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

from paramid.contracts import registry
from paramid.contracts.controls import Control
from paramid.contracts.method import Method
from paramid.identifying import order
from paramid.identifying.attempts import SMALL, Attempts
from paramid.identifying.black_box import GRANTED, BlackBox, NoisyFunction, Progress, TimeIsUp
from paramid.identifying.order import AUTO
from paramid.judging.obstacles import obstacles
from paramid.words import activations
from paramid.words.claims import Claim
from paramid.words.naming import UsageError, whole
from paramid.words.network import Network
from paramid.words.spec import Spec
from paramid.words.status import Status


@dataclass(frozen=True, repr=False)
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
    precision: str = "float64"  # what f was believed to compute in
    error_bound: float = (
        math.nan
    )  # Cramér-Rao: how well f's values let any method know its worst parameter; NaN: unsaid

    @property
    def good(self) -> bool:
        """Whether the method finished with a network whose residual is at most 0.001."""
        return self.status is Status.FINISHED and self.network is not None and self.residual <= SMALL

    def __repr__(self) -> str:
        """A few lines without any tensor."""
        found = "no network"
        if self.network is not None:
            shape = "-".join(map(str, (self.network.inputs, *self.network.widths, self.network.outputs)))
            found = f"{self.network.activations[0]} network {shape}, residual {self.residual:.1e}"
        spent = f"{self.queries:,} queries, {self.samples:,} samples, {self.seconds:.2f} s"
        lines = [f"Found({self.status.name}: {found}; {spent}"]
        lines += [f"  reason: {self.reason}"] if self.reason else []
        lines += [f"  obstacle: {told}" for told in self.obstacles[:3]]
        lines += [f"  and {len(self.obstacles) - 3} more obstacles"] if len(self.obstacles) > 3 else []
        return "\n".join(lines) + ")"


def identify(
    f: Callable[..., Any],
    *,
    inputs: int,
    neurons: int | Sequence[int | None] | None,
    outputs: int = 1,
    activation: str = "tanh",
    outer: str = "ones",
    norms: str | None = None,
    output_bias: str | None = None,
    shift: float = 0.5,
    method: str | type[Method] | Method = AUTO,
    seed: int = 0,
    query_limit: int | None = None,
    time_limit: float | None = None,
    batch: int | None = None,
    precision: str | None = None,
    precision_wanted: float | None = None,
    progress: bool | Progress = False,
) -> Found:
    """Recover the parameters of `f`, believed to be a network with these hidden widths.

    `f` gets a float64 array (rows, inputs), or a tensor where it is a `torch.nn.Module` or a `Network`, and returns
    (rows,), (rows, 1) or (rows, outputs). With `outer="ones"` outer weights are 1, weight vectors have length 1 and
    there is no output bias, unless `norms` and `output_bias` say otherwise; with `outer="free"` all are free.
    `neurons=None` finds the width out, `activation="auto"` the activation. `method` is a name, a class or an instance;
    "auto" tries those of `identifying.order` until one finds f.

    Values that are all whole in float32 are believed to be computed in it, unless `precision` says otherwise. Where a
    row has other values every time, by very little, that is noise, and rows are spent until the Cramér-Rao bound says
    that no parameter is off by more than `precision_wanted`.

    A call of `f` gets at most `batch` rows, `progress(rows, seconds)` follows each, and none begins `time_limit`
    seconds after the start. Where the method gives up, the reason says which assumption failed by a test, and what to
    try.
    """
    seed = whole("seed", seed)
    query_limit = None if query_limit is None else whole("query_limit", query_limit, 1)
    batch = None if batch is None else whole("batch", batch, 1)
    time_limit = None if time_limit is None else positive("time_limit", time_limit, "a positive number of seconds")
    if not (isinstance(progress, bool) or callable(progress)):
        raise UsageError(f"progress is {progress!r}; True, False or a function of rows and seconds was wanted")
    spec = spec_of(inputs, neurons, outputs, activation, outer, norms, output_bias, shift, precision)
    candidates = order.methods() if method == AUTO else {"": chosen_method(method)}
    wanted = None if precision_wanted is None else positive("precision_wanted", precision_wanted, "a positive number")
    box = BlackBox(f, spec, batch=batch, progress=progress)
    if time_limit is not None:
        box.deadline = time.perf_counter() + time_limit
    try:
        box.check_deterministic(seed)
    except (NoisyFunction, TimeIsUp) as error:
        status = Status.GAVE_UP if isinstance(error, NoisyFunction) else Status.TIMED_OUT
        return Found(None, status, str(error), (), box.rows, 0, 0.0, (), float("nan"))
    spec = replace(spec, precision=precision or box.precision, noise=box.noise, precision_wanted=wanted)
    attempts = Attempts(next(iter(candidates.values())), box, seed, query_limit)
    try:
        return found(attempts, candidates, spec, None if activation == AUTO else activation)
    finally:
        box.clear_line()


def found(attempts: Attempts, candidates: Mapping[str, Method], spec: Spec, activation: str | None) -> Found:
    """What the attempts come to, with the reason where they fail."""
    begin = time.perf_counter()
    made = order.first_success(attempts, candidates, spec, activation)
    reason = made.reason
    lost = made.status is Status.FINISHED and made.network is not None and not made.residual <= SMALL
    if (made.status in (Status.DECLINED, Status.GAVE_UP) or lost) and (misfit := attempts.diagnosis(made, activation)):
        reason = f"{misfit} ({reason or f'residual {made.residual:.0e}'})"
    network = made.network
    return Found(
        network,
        made.status,
        reason,
        made.claims,
        attempts.box.rows - attempts.samples,
        attempts.samples,
        time.perf_counter() - begin,
        obstacles(network) if network is not None else (),
        made.residual,
        spec.precision,
        math.nan if network is None else network.stats.get("error_bound", math.nan),
    )


def spec_of(
    inputs: int,
    neurons: int | Sequence[int | None] | None,
    outputs: int,
    activation: str,
    outer: str,
    norms: str | None,
    output_bias: str | None,
    shift: float,
    precision: str | None,
) -> Spec:
    """What methods are told; a UsageError names what cannot be meant."""
    widths = tuple(neurons) if isinstance(neurons, Iterable) else (neurons,)
    if not widths:
        raise UsageError(f"neurons is {neurons!r}; a width for each hidden layer, or None, was wanted")
    if not isinstance(activation, str):
        raise UsageError(f"activation is {activation!r}; a name, or auto, was wanted")
    try:
        name = "tanh" if activation == AUTO else activations.activation(activation).name
        return Spec(
            inputs=whole("inputs", inputs, 1),
            widths=tuple(None if width is None else whole("neurons", width, 1) for width in widths),
            outputs=whole("outputs", outputs, 1),
            activations=(name,) * len(widths) + ("identity",),
            outer=outer,
            norms=norms or ("unit" if outer == "ones" else "free"),
            output_bias=output_bias or ("zero" if outer == "ones" else "free"),
            shift=shift,
            precision=precision or "float64",
        )
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from error


def positive(name: str, value: object, wanted: str) -> float:
    """A positive, finite number."""
    if isinstance(value, Real) and 0 < float(value) < math.inf:
        return float(value)
    raise UsageError(f"{name} is {value!r}; {wanted} was wanted")


def chosen_method(method: object) -> Method:
    """The method of a name, of a class with its defaults, or as it is; it works on queries and samples alone."""
    name = method if isinstance(method, str) else (method if isinstance(method, type) else type(method)).__name__
    try:
        made: Any = (
            registry.method(method) if isinstance(method, str) else method() if isinstance(method, type) else method
        )
    except TypeError as error:
        raise UsageError(f"{name} cannot be made without options: {error}; an instance was wanted") from error
    if isinstance(made, Control):
        raise UsageError(f"{name} is a control: it needs the teacher itself")
    if lacking := [part for part in ("access", "declines", "identify") if not hasattr(made, part)]:
        raise UsageError(f"method is a {name} without {', '.join(lacking)}; a name, a class or an instance was wanted")
    if missing := made.access - GRANTED:
        raise UsageError(f"{name} needs {', '.join(sorted(a.value for a in missing))}; f grants queries and samples")
    return made
