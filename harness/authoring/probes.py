"""Runs under observation: a method before an oracle that counts for itself, and what differs from run to run."""

from __future__ import annotations

import hashlib
import inspect
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from paramid.authoring import reaching_out
from paramid.authoring.watchful_oracle import CountedTeacher, WatchfulOracle
from paramid.contracts import plugins, registry
from paramid.contracts.controls import Control
from paramid.contracts.error_statuses import ending
from paramid.contracts.method import Run
from paramid.contracts.task import Task
from paramid.judging.claim_scores import accept
from paramid.judging.metrics import Unjudgeable
from paramid.oracle.counting import CountingOracle
from paramid.running.inside_cell import Emit
from paramid.words import naming, random_streams
from paramid.words.claims import Claim
from paramid.words.network import Teacher
from paramid.words.status import Status

if TYPE_CHECKING:
    from paramid.contracts.method import Method
    from paramid.running.cell import Cell
    from paramid.words.spec import Spec

PATIENCE = 2.0  # seconds of one run whose claims are compared; a run ends at the next claim after it
PROBE_SEED = 1_618_033_988  # of the global random states: nobody else would take it
ALWAYS_PROBED = ("generator", "access", "counts", "claims", "inputs", "sizes")  # looked at in every run


@dataclass(frozen=True)
class Finding:
    """What one probe found before one teacher; no problem means that all was well, or a warning."""

    probe: str
    teacher: str = ""
    problem: str = ""
    warning: str = ""


@dataclass
class Observed:
    """What was seen of one run."""

    digests: list[str] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    warnings: tuple[str, ...] = ()
    status: Status = Status.FINISHED
    reason: str = ""


def run_probes(cell: Cell, emit: Emit, *, whole: bool) -> None:
    """The probes before one teacher, in a child."""
    plugins.join((*cell.plugins, *cell.method_plugins))
    emit({"event": "working"}, b"")
    findings, digests = probe(cell.method, cell.task, whole=whole)
    for found in findings:
        emit({"event": "found", **asdict(found)}, b"")
    emit({"event": "digests", "digests": digests}, b"")
    emit({"event": "end", "status": Status.FINISHED.key, "reason": "", "metrics": {}}, b"")


def probe(name: str, text: str, *, whole: bool) -> tuple[list[Finding], list[str]]:
    """The findings before one teacher, of all probes or of a single run, and the digests of that run's claims."""
    method, task = registry.method(name), registry.task(text)
    assert not isinstance(method, Control)
    first = observe(method, task)
    problems = dict.fromkeys(first.problems)
    findings = [Finding(probe, text, problem) for probe, problem in problems]
    findings += [Finding("wall", text, warning=warning) for warning in first.warnings] or [Finding("wall", text)]
    broken = {probe for probe, _ in problems}
    if first.digests or first.status is not Status.RAISED:  # of what raised at once nothing was seen
        findings += [Finding(name, text) for name in ALWAYS_PROBED if name not in broken]
    if whole and not broken & {"generator", "access", "sizes"}:
        findings += _compared(method, task, text, first, broken)
    return findings, first.digests


def _compared(method: Method, task: Task, text: str, first: Observed, broken: set[str]) -> Iterator[Finding]:
    """Runs that must claim what the first one did."""
    before = naming.settings(method)
    again = difference(first.digests, observe(method, task).digests)
    changed = "its own options changed" if naming.settings(method) != before else again
    yield Finding("state", text, f"{changed}: something is remembered from run to run" if changed else "")
    if changed:
        return
    if "dtype" not in broken:
        with _default_dtype(torch.float64):
            differ = difference(first.digests, observe(method, task).digests)
        yield Finding("dtype", text, f"{differ} under another default dtype: some tensor is float32" if differ else "")
    with _default_device("meta"):
        other = observe(method, task)
    wrong = other.reason if other.status is Status.RAISED else difference(first.digests, other.digests)
    yield Finding("device", text, f"a tensor lands on torch's default device: {wrong}" if wrong else "")
    with _fresh_global_state() as unchanged:
        observe(method, task)
        yield Finding("random", text, "" if unchanged() else "changes the global random state")


def observe(method: Method, task: Task, seed: int = 0) -> Observed:
    """Run a method before an oracle that counts for itself, and see what it does beside asking."""
    with reaching_out.watched(method) as beside:
        seen = _observed(method, task, seed)
    seen.warnings = tuple(beside)
    return seen


def _observed(method: Method, task: Task, seed: int) -> Observed:
    seen, run, drawn = Observed(), Run.seeded(seed), task.draw(seed)
    teacher = CountedTeacher(drawn)
    oracle = WatchfulOracle(teacher, task.spec, access=method.access, seed=seed, device=run.device)
    claims, last = None, None
    begin = time.perf_counter()
    try:
        claims = method.identify(oracle, run)
        if not inspect.isgenerator(claims):
            seen.problems.append(("generator", f"identify gave a {type(claims).__name__}"))
            return seen
        for last in claims:
            seen.digests.append(_digest_of(last, task, drawn, oracle, seen))
            if time.perf_counter() - begin > PATIENCE:
                break
        else:
            seen.problems += [("sizes", "ended without a claim")] if last is None else []
        claims.close()
    except Unjudgeable as error:
        seen.problems.append(("claims", str(error)))
    except Exception as error:
        seen.status, seen.reason = ending(error)
        seen.problems += _ended(seen.status, seen.reason)
    if isinstance(last, Claim):
        seen.problems += _rounded(last)
    seen.problems += [*teacher.miscounted(oracle.usage), *oracle.problems()]
    return seen


def _digest_of(claim: object, task: Task, teacher: Teacher, oracle: CountingOracle, seen: Observed) -> str:
    """The digest of a claim, after it was looked at."""
    if not isinstance(claim, Claim):
        raise Unjudgeable(f"yielded a {type(claim).__name__}; a claim was wanted")
    copy, stats = accept(claim, task.spec)
    task.judge(copy, teacher)
    for name, value in claim.arrays().items():
        if value.dtype != torch.float64:
            seen.problems.append(("dtype", f"{type(claim).__name__}.{name} is {value.dtype}; float64 was wanted"))
    for kind, count in oracle.usage.snapshot().items():
        if kind in stats and stats[kind] != count:
            seen.problems.append(("counts", f"says {stats[kind]:g} {kind}; {count} were counted"))
    arrays = copy.arrays() or {"values": copy(_inputs(task.spec))}  # type: ignore[operator]  # a Function
    return hashlib.sha256(b"".join(k.encode() + v.numpy(force=True).tobytes() for k, v in arrays.items())).hexdigest()


def _inputs(spec: Spec) -> Tensor:
    return random_streams.normal(
        16, spec.inputs, random_streams.generator(0, "check"), torch.device("cpu"), torch.float64
    )


def _ended(status: Status, reason: str) -> list[tuple[str, str]]:
    if status is Status.GAVE_UP:
        return []
    if reason.startswith("AccessRefused"):
        return [("access", reason)]
    return [("counts" if status is Status.BUDGET_SPENT else "sizes", f"{status.key}: {reason}")]


def _rounded(claim: Claim) -> list[tuple[str, str]]:
    """A last claim whose every digit fits in float32 was not computed in float64."""
    wrong = []
    for name, value in claim.arrays().items():
        fine = 1024 * value.double()
        if value.numel() > 2 and bool((value == value.float()).all()) and bool((fine != fine.round()).any()):
            wrong.append(("dtype", f"{type(claim).__name__}.{name} has no digit beyond float32's"))
    return wrong


def difference(first: Sequence[str], second: Sequence[str]) -> str:
    """Where two runs part, over the claims that both made."""
    parted = next((n for n, (a, b) in enumerate(zip(first, second, strict=False), 1) if a != b), None)
    if bool(first) != bool(second):
        parted = 1
    return "" if parted is None else f"claim {parted} differs"


@contextmanager
def _default_dtype(wanted: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(wanted)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@contextmanager
def _default_device(wanted: str) -> Iterator[None]:
    torch.set_default_device(wanted)
    try:
        yield
    finally:
        torch.set_default_device(None)


@contextmanager
def _fresh_global_state() -> Iterator[Callable[[], bool]]:
    """Global random states that nobody else would seed; gives a look at whether they still are as they were."""

    def state() -> tuple[bytes, object, bytes]:
        numpys = np.random.get_state()[1]  # type: ignore[index]  # noqa: NPY002 -- the global state is what is looked at
        return numpys.tobytes(), random.getstate(), torch.get_rng_state().numpy().tobytes()

    before = np.random.get_state(), random.getstate(), torch.get_rng_state()  # noqa: NPY002
    np.random.seed(PROBE_SEED)  # noqa: NPY002
    random.seed(PROBE_SEED)
    torch.manual_seed(PROBE_SEED)
    fresh = state()
    try:
        yield lambda: state() == fresh
    finally:
        np.random.set_state(before[0])  # noqa: NPY002
        random.setstate(before[1])
        torch.set_rng_state(before[2])
