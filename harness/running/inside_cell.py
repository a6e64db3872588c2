"""What happens in one cell: draw, oracle, method, claims, judge. Every step is reported as an event.

The clock runs only while the method works. This module never decides where a method runs: a `Seat` does. The one behind
the wall is another process (`wall.serving`); that of `throw=True` and the tests is this one.
"""

from __future__ import annotations

import inspect
import io
import math
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import numpy as np
import torch
from torch import Tensor

from paramid.contracts import plugins, registry
from paramid.contracts.controls import Control
from paramid.contracts.error_statuses import ending, one_line, trace_of
from paramid.contracts.method import GiveUp, Run, declined
from paramid.contracts.task import Task
from paramid.judging.claim_scores import accept
from paramid.judging.metrics import Metrics, Unjudgeable, documented
from paramid.judging.obstacles import obstacles
from paramid.judging.output_errors import score_outputs
from paramid.limits import limits_of_a_cell
from paramid.oracle.counting import CountingOracle, Usage
from paramid.oracle.protocol import BudgetSpent
from paramid.wall.custody import Left
from paramid.wall.serving import Ended
from paramid.words import random_streams
from paramid.words.claims import Claim
from paramid.words.network import Network
from paramid.words.status import Status

if TYPE_CHECKING:
    from paramid.running.cell import Cell
    from paramid.words.claims import Function
    from paramid.words.network import Teacher
    from paramid.words.spec import Access

T = TypeVar("T")
Emit = Callable[[dict[str, Any], bytes], None]
JUDGE_CHUNK = 2**22  # doubles per intermediate of the judge
MOST_CLAIMS = 1000  # of a method


class Seat(Protocol):
    """Where a method works. `until`, a moment of `time.monotonic`, is when its time is up."""

    until: float
    throws: bool  # whether errors are let out
    tell: Callable[[], object]  # called now and then, that what was spent is known

    def ready(self) -> None:
        """Return when it can begin."""
        ...

    def start(self, cell: Cell, task: Task, stream: int) -> frozenset[Access]:
        """Make the method and ask it whether it will; the access that it declares. Raises `Ended` where it does not."""
        ...

    def claims(self, oracle: CountingOracle, task: Task) -> Iterator[Claim]:
        """Its claims, until it ends or `Ended` is raised."""
        ...

    def close(self) -> Left:
        """End it; what it has used."""
        ...


class Here:
    """A method in this process; with `throw` its errors are raised."""

    def __init__(self, cell: Cell, *, throw: bool) -> None:
        self.until, self.throws = math.inf, throw
        self.tell: Callable[[], object] = lambda: None
        self._method = registry.method(cell.method)
        self._run = Run.seeded(0)

    def ready(self) -> None:
        """It always is."""

    def start(self, cell: Cell, task: Task, stream: int) -> frozenset[Access]:
        """Ask the method."""
        assert not isinstance(self._method, Control)
        self._run = Run.streamed(stream, cell.torch_device)
        try:
            reason = declined(self._method, task)
        except Exception as error:
            raise Ended(*ending(error), trace_of(error)) from error
        if reason is not None:
            raise Ended(Status.DECLINED, reason)
        return self._method.access

    def claims(self, oracle: CountingOracle, task: Task) -> Iterator[Claim]:  # noqa: ARG002 -- a seat elsewhere needs it
        """What the method yields."""
        assert not isinstance(self._method, Control)
        claims = self._method.identify(oracle, self._run)
        if not inspect.isgenerator(claims):
            told = f"identify gave a {type(claims).__name__}; a generator of claims was wanted"
            raise Ended(Status.MALFORMED_CLAIM, told)
        try:
            yield from claims
        except Exception as error:
            if self.throws and ending(error)[0] is Status.RAISED:
                raise
            trace = "" if isinstance(error, GiveUp | BudgetSpent) else trace_of(error)
            raise Ended(*ending(error), trace) from error

    def close(self) -> Left:
        """Its memory is this process'."""
        return Left(peak_mb=peak_mb())


def execute(cell: Cell, emit: Emit, *, throw: bool = False, seed: int | None = None) -> None:
    """Run one cell in this process. With `throw` an error of the method is raised instead of reported."""
    plugins.join((*cell.plugins, *cell.method_plugins))
    Execution(cell, emit, Here(cell, throw=throw), cell.seed if seed is None else seed).run()


class Execution:
    """One cell while it runs: the clock, the oracle and the last claim. Reports `start`, claims and `end`."""

    def __init__(self, cell: Cell, emit: Emit, seat: Seat, seed: int) -> None:
        self.cell, self.emit, self.seat, self.seed = cell, emit, seat, seed
        self.task: Task = registry.task(cell.task)
        self.device = cell.torch_device
        self.teacher = self.task.draw(seed)
        self.oracle: CountingOracle | None = None
        self.network: Network | None = None
        if self.task.layered:
            self.network = cast("Network", self.task.truth(self.teacher, Network))
        self.shown_rows = None if self.network is None else limits_of_a_cell.asked(self.network, self.task.spec, seed)
        self.seconds = 0.0
        self.shown = 0  # how often a function of the method's has seen the judge's inputs
        self.last: Claim | None = None

    def run(self) -> None:
        """The whole cell."""
        try:
            claims = self.begun()
        except Ended as ended:
            return self.end(ended)
        self.emit({"event": "start", "obstacles": obstacles_of(self.teacher)}, b"")
        return self.end(self.take_claims(claims))

    def begun(self) -> Iterator[Claim]:
        """The claims of a method that has started, or of a control."""
        if registry.is_control(self.cell.method):
            control = registry.method(self.cell.method)
            assert isinstance(control, Control)
            return control.claims(self.task, self.seed)
        self.seat.ready()
        self.seat.tell = lambda: self.emit({"event": "spent", **self.costs()}, b"")
        stream = random_streams.number(self.seed, "method")
        access = self.timed(lambda: self.seat.start(self.cell, self.task, stream))
        self.oracle = CountingOracle(
            moved(self.teacher, self.device),
            self.task.spec,
            access=access,
            seed=self.seed,
            device=self.device,
            query_limit=self.cell.query_limit,
            shown=None if self.shown_rows is None else self.shown_rows.add,
        )
        return self.seat.claims(self.oracle, self.task)

    def timed(self, work: Callable[[], T]) -> T:
        """What the method does, on its own time."""
        self.emit({"event": "working"}, b"")
        begin = self.now()
        if self.cell.time_limit is not None:
            self.seat.until = time.monotonic() + self.cell.time_limit - self.seconds
        try:
            return work()
        finally:
            self.seconds += self.now() - begin

    def take_claims(self, claims: Iterator[Claim]) -> Ended:
        """Take claims until the method ends, one way or another."""
        for _ in range(MOST_CLAIMS):
            try:
                claim = self.timed(lambda: next(claims))
                self.judge(claim)
            except StopIteration:
                return Ended(Status.NO_ANSWER if self.last is None else Status.FINISHED)
            except Ended as ended:
                return ended
            except Unjudgeable as error:
                return Ended(Status.MALFORMED_CLAIM, one_line(str(error)))
            except (RuntimeError, ArithmeticError, IndexError, MemoryError) as error:
                if self.seat.throws:
                    raise
                told = f"could not be judged: {type(error).__name__}: {error}"
                return Ended(Status.MALFORMED_CLAIM, one_line(told), trace_of(error))
        return Ended(Status.MALFORMED_CLAIM, f"yielded {MOST_CLAIMS:,} claims and did not end")

    def judge(self, claim: object) -> None:
        """Check, judge and report one claim."""
        self.emit({"event": "judging", **self.costs()}, b"")
        claim, stats = accept(claim, self.task.spec)
        if stored := claim.stored(self.task.spec):
            metrics = self.task.judge(claim, self.teacher)
        else:  # a function cannot be kept, and in its own code a method could work on: it is judged on its time
            claim = replace(cast("Function", claim).held_on(self.device), before=self.shown)
            metrics = self.timed(lambda: {**self.task.judge(claim, self.teacher), **self.outputs(claim)})
        self.last = claim
        told = {"event": "claim", "kind": type(claim).__name__, **self.costs(), "stats": stats}
        self.emit({**told, "metrics": self.documented_only(metrics)}, pack(stored))

    def end(self, ended: Ended) -> None:
        """Judge the last claim's outputs and report the end."""
        self.emit({"event": "judging", **self.costs()}, b"")
        left = self.seat.close()
        status, reason = ended.status, ended.reason
        if left.lost and status is Status.FINISHED:
            status, reason = Status.CRASHED, "its keeper was ended: what it used is not known"
        metrics: Mapping[str, float] = {}
        if status is Status.TIMED_OUT:
            limit = self.cell.time_limit or self.seconds
            self.seconds = self.seconds if self.seconds > limit + 1 else limit
            reason = f"stopped after {self.seconds:g} s"
        if self.last is not None and self.last.arrays() and status is not Status.INTERRUPTED:
            try:
                metrics = self.outputs(self.last)
            except Unjudgeable as error:
                status, reason = Status.MALFORMED_CLAIM, one_line(str(error))
        if self.oracle is not None and status is not Status.INTERRUPTED:
            metrics = {**metrics, **self.limits(self.oracle.usage)}
        told = {"event": "end", "status": status.key, "reason": reason, "traceback": ended.trace, **self.costs()}
        used = {"peak_mb": left.peak_mb, "cpu_seconds": left.cpu_seconds, "walls": left.walls}
        self.emit({**told, "metrics": self.documented_only(metrics), **used}, b"")

    def limits(self, usage: Usage) -> Metrics:
        """How far from the limit: the teacher's parameters, the rows for each, and what the values can say of them."""
        count = None if self.network is None else limits_of_a_cell.parameters(self.network, self.task.spec)
        if self.network is None or not count:
            return {}
        rows = usage.snapshot()
        told = {"parameters": float(count), "rows_per_parameter": sum(rows.values()) / count}
        asked = self.shown_rows
        if asked is None or asked.count + usage.samples < sum(rows.values()):  # some of it was no value under noise
            return told
        return told | limits_of_a_cell.bounds(
            self.network, self.teacher, self.task.spec, asked, usage.samples, self.seed
        )

    def outputs(self, claim: Claim) -> Metrics:
        """The output errors of a callable claim on fresh inputs of the task's law."""
        if not callable(claim):
            return {}
        source = random_streams.generator(self.seed, "judge", *([self.shown] if self.shown else []))
        self.shown += not claim.arrays()
        width = max([1, *(size for array in claim.arrays().values() for size in array.shape)])
        return judge_outputs(self.teacher, claim, self.task, self.cell.judge_inputs, source, width)

    def documented_only(self, metrics: Mapping[str, float]) -> dict[str, float]:
        """The metrics, every one of them documented."""
        if unknown := [name for name in metrics if not documented(name, self.task.metrics)]:
            raise ValueError(f"{self.cell.task} measures {', '.join(unknown)}, which no `metrics` explains")
        plain = {name: float(value) for name, value in metrics.items()}
        if any(map(math.isnan, plain.values())):  # what is no number is no evidence
            plain |= dict.fromkeys({"identified", "exact"} & set(plain), 0.0)
        return plain

    def costs(self) -> dict[str, float]:
        """What the method has spent so far."""
        usage = self.oracle.usage if self.oracle else Usage()
        return {"seconds": self.seconds, **usage.snapshot()}

    def now(self) -> float:
        """A clock that waits for the device."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()


def obstacles_of(teacher: Teacher) -> tuple[str, ...]:
    """What is named before work starts; teachers that are no layered networks speak for themselves."""
    return obstacles(teacher) if isinstance(teacher, Network) else ()


def judge_outputs(
    teacher: Teacher, call: Teacher, task: Task, inputs: int, source: torch.Generator, width: int = 1
) -> Metrics:
    """Output errors over so many fresh inputs, in chunks of bounded memory; `width` is the claim's largest.

    Of a teacher that is data the inputs held out are all that is fresh.
    """
    spec = task.spec
    rows = max(1, JUDGE_CHUNK // max(spec.inputs, spec.outputs, *(w or 1 for w in spec.widths), width))
    if (data := getattr(teacher, "held_out", None)) is not None:
        return score_outputs(teacher, call, data()[0][:inputs].split(rows))
    counts = [min(rows, inputs - first) for first in range(0, inputs, rows)]
    cpu = torch.device("cpu")
    chunks = (random_streams.inputs(spec, n, source, cpu, torch.float64) for n in counts)
    return score_outputs(teacher, call, chunks)


def moved(teacher: Teacher, device: torch.device) -> Teacher:
    """The teacher on the run's device; one without `to` is device-free."""
    to = getattr(teacher, "to", None)
    return teacher if to is None else to(device)


def pack(arrays: Mapping[str, Tensor]) -> bytes:
    """Tensors as the bytes of an npz file."""
    buffer = io.BytesIO()
    np.savez(buffer, **{name: value.numpy() for name, value in arrays.items()})  # type: ignore[arg-type]  # stub of savez
    return buffer.getvalue()


def unpack(payload: bytes) -> dict[str, Tensor]:
    """The tensors of an npz file's bytes."""
    with np.load(io.BytesIO(payload), allow_pickle=False) as stored:
        return {name: torch.from_numpy(stored[name]) for name in stored.files}


def peak_mb() -> float:
    """The peak resident memory of this process."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)
