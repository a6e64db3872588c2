"""What happens in one cell: draw, oracle, method, claims, judge. Every step is reported as an event.

The clock runs only while the method works. This module never decides where it runs: `supervisor` puts it into a child
process, `throw=True` and the tests run it in their own.
"""

from __future__ import annotations

import inspect
import io
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from paramid.contracts import plugins, registry
from paramid.contracts.controls import Control
from paramid.contracts.method import GiveUp, Run
from paramid.contracts.task import Task, declined
from paramid.judging.claim_scores import accept
from paramid.judging.metrics import Metrics, Unjudgeable, documented
from paramid.judging.obstacles import obstacles
from paramid.judging.output_errors import score_outputs
from paramid.oracle.counting import CountingOracle, Usage
from paramid.oracle.protocol import BudgetSpent
from paramid.running.error_statuses import ending, one_line, trace_of
from paramid.words import random_streams
from paramid.words.claims import Claim
from paramid.words.network import Network
from paramid.words.status import Status

if TYPE_CHECKING:
    from paramid.running.cell import Cell
    from paramid.words.network import Teacher

Emit = Callable[[dict[str, Any], bytes], None]
JUDGE_CHUNK = 2**22  # doubles per intermediate of the judge
MOST_CLAIMS = 1000  # of a method


def execute(cell: Cell, emit: Emit, *, throw: bool = False) -> None:
    """Run one cell and report `start`, then `judging` and `claim` for every claim, then `end`.

    With `throw` an error of the method is raised instead of reported.
    """
    plugins.join(cell.plugins)
    Execution(cell, emit, throw).run()


class Execution:
    """One cell while it runs: the clock, the oracle and the last claim."""

    def __init__(self, cell: Cell, emit: Emit, throw: bool) -> None:
        self.cell, self.emit, self.throw = cell, emit, throw
        self.task: Task = registry.task(cell.task)
        self.method = registry.method(cell.method)
        self.device = torch.device("cuda" if cell.device == "cuda" else "cpu")
        self.teacher = self.task.draw(cell.seed)
        self.oracle: CountingOracle | None = None
        self.seconds = 0.0
        self.last: Claim | None = None

    def run(self) -> None:
        """The whole cell."""
        spec = self.task.spec
        if isinstance(self.method, Control):
            claims = self.method.claims(self.task, self.cell.seed)
        else:
            try:
                reason = declined(self.method, self.task)
            except Exception as error:
                return self.end(*ending(error), trace_of(error))
            if reason is not None:
                return self.end(Status.DECLINED, reason)
            self.oracle = CountingOracle(
                moved(self.teacher, self.device),
                spec,
                access=self.method.access,
                seed=self.cell.seed,
                device=self.device,
                query_limit=self.cell.query_limit,
            )
            claims = self.method.identify(self.oracle, Run.seeded(self.cell.seed, self.device))
            if not inspect.isgenerator(claims):
                came = type(claims).__name__
                return self.end(Status.MALFORMED_CLAIM, f"identify gave a {came}; a generator of claims was wanted")
        self.emit({"event": "start", "obstacles": obstacles_of(self.teacher)}, b"")
        status, reason, trace = self.take_claims(claims)
        return self.end(status, reason, trace)

    def take_claims(self, claims: Iterator[Claim]) -> tuple[Status, str, str]:
        """Take claims until the method ends, one way or another."""
        for _ in range(MOST_CLAIMS):
            begin = self.now()
            try:
                claim = next(claims)
            except StopIteration:
                return self.finished()
            except Exception as error:
                if self.throw and ending(error)[0] is Status.RAISED:
                    raise
                return *ending(error), "" if isinstance(error, GiveUp | BudgetSpent) else trace_of(error)
            finally:
                self.seconds += self.now() - begin
            try:
                self.judge(claim)
            except Unjudgeable as error:
                return Status.MALFORMED_CLAIM, one_line(str(error)), ""
        return Status.MALFORMED_CLAIM, f"yielded {MOST_CLAIMS:,} claims and did not end", ""

    def judge(self, claim: object) -> None:
        """Check, judge and report one claim."""
        self.emit({"event": "judging"}, b"")
        claim, stats = accept(claim, self.task.spec)
        metrics = self.task.judge(claim, self.teacher)
        stored = claim.arrays()
        if not stored:  # a function cannot be kept: its outputs are judged while it is here
            metrics = {**metrics, **self.outputs(claim)}
        self.last = claim
        self.emit(
            {
                "event": "claim",
                "kind": type(claim).__name__,
                **self.costs(),
                "metrics": self.documented_only(metrics),
                "stats": stats,
            },
            pack(stored),
        )

    def finished(self) -> tuple[Status, str, str]:
        """The method ended by itself."""
        return (Status.NO_ANSWER, "", "") if self.last is None else (Status.FINISHED, "", "")

    def end(self, status: Status, reason: str = "", trace: str = "") -> None:
        """Judge the last claim's outputs and report the end."""
        self.emit({"event": "judging"}, b"")
        metrics: Mapping[str, float] = {}
        if self.last is not None and self.last.arrays():
            try:
                metrics = self.outputs(self.last)
            except Unjudgeable as error:
                status, reason = Status.MALFORMED_CLAIM, one_line(str(error))
        ended = {"event": "end", "status": status.key, "reason": reason, "traceback": trace, **self.costs()}
        self.emit({**ended, "metrics": self.documented_only(metrics), "peak_mb": peak_mb()}, b"")

    def outputs(self, claim: Claim) -> Metrics:
        """The output errors of a callable claim on fresh inputs of the task's law."""
        if not callable(claim):
            return {}
        here = self.device if not claim.arrays() else torch.device("cpu")

        def call(x: Tensor) -> Tensor:
            value: Tensor = claim(x.to(here))
            return value.to("cpu") if isinstance(value, Tensor) else value

        return judge_outputs(self.teacher, call, self.task, self.cell)

    def documented_only(self, metrics: Mapping[str, float]) -> dict[str, float]:
        """The metrics, every one of them documented."""
        if unknown := [name for name in metrics if not documented(name, self.task.metrics)]:
            raise ValueError(f"{self.cell.task} measures {', '.join(unknown)}, which no `metrics` explains")
        return {name: float(value) for name, value in metrics.items()}

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


def judge_outputs(teacher: Teacher, call: Teacher, task: Task, cell: Cell) -> Metrics:
    """Output errors over the cell's fresh inputs, in chunks of bounded memory."""
    spec, source = task.spec, random_streams.generator(cell.seed, "judge")
    rows = max(1, JUDGE_CHUNK // max(spec.inputs, spec.outputs, *(w or 1 for w in spec.widths), 1))
    counts = [min(rows, cell.judge_inputs - first) for first in range(0, cell.judge_inputs, rows)]
    cpu = torch.device("cpu")
    chunks = (random_streams.inputs(spec, n, source, cpu, torch.float64) for n in counts)
    return score_outputs(teacher, call, chunks)


def rejudge(cell: Cell, emit: Emit, *, kind: str, payload: bytes) -> None:
    """The output errors of a last claim, where its child ended before they were measured."""
    plugins.join(cell.plugins)
    task = registry.task(cell.task)
    claim = next(k for k in task.kinds if k.__name__ == kind).restore(unpack(payload), task.spec)
    metrics = judge_outputs(task.draw(cell.seed), claim, task, cell) if callable(claim) else {}
    emit({"event": "rejudged", "metrics": metrics}, b"")


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
