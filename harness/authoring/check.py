"""`check`: does a method keep its contract? Probes look from outside; each says what it found and why that matters.

A registered method runs in child processes, as in a comparison, so that one that hangs or crashes is named like any
other. A class of this process is looked at here.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass
from typing import TYPE_CHECKING, Any

from paramid.authoring.probes import Finding, difference, probe
from paramid.contracts import registry
from paramid.contracts.controls import Control
from paramid.contracts.method import declined
from paramid.contracts.plugins import joined
from paramid.running import suites
from paramid.running.cell import plan_cell
from paramid.running.supervisor import Supervisor
from paramid.running.transcript import Transcript
from paramid.words import naming
from paramid.words.naming import UsageError
from paramid.words.spec import Access, Spec
from paramid.words.status import Status

if TYPE_CHECKING:
    from paramid.contracts.method import Method

DEADLINE = 120.0  # seconds for all probes before one teacher
PROBES: Mapping[str, str] = {
    "form": "a frozen dataclass with a docstring, a version and its access",
    "import": "importing it takes no longer than importing torch",
    "declines": "says None or a reason, whatever the teacher",
    "generator": "identify is a generator of claims",
    "access": "uses what it declared and nothing else",
    "counts": "every row is counted, and no more samples are asked than were granted",
    "claims": "what it claims can be judged",
    "dtype": "float64 throughout, whatever torch's default",
    "inputs": "nothing that it was given is written to",
    "state": "one instance claims the same twice",
    "repeats": "two processes claim the same for one seed",
    "device": "no tensor lands on torch's default device",
    "random": "global random state is neither used nor changed",
    "wall": "does nothing that the wall of a record would stop",
    "sizes": "small and awkward teachers end in a claim, a refusal or an honest end",
}
ODD_SPECS = (
    Spec(inputs=3, widths=(None, None), outputs=2, activations=("step", "step", "polynomial")),
    Spec(inputs=1, widths=(1,), activations=("tanh", "identity"), outer="ones", norms="unit", output_bias="zero"),
    Spec(inputs=4, widths=(None,), activations=("tanh", "identity"), outer="ones", norms="unit", output_bias="zero"),
    Spec(inputs=4, widths=(3,), activations=("relu", "identity")),
    Spec(inputs=4, widths=(3, 2), activations=("tanh", "tanh", "identity")),
    Spec(inputs=4, widths=(50,), activations=("tanh", "identity"), samples=1, noise=10.0),
    Spec(inputs=2, widths=(), activations=("identity",)),
)


@dataclass(frozen=True, repr=False)
class Checked:
    """All findings, and what the method cost on the `smoke` suite."""

    method: str
    findings: tuple[Finding, ...]
    costs: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[Finding, ...]:
        """The findings that need work."""
        return tuple(f for f in self.findings if f.problem)

    def __repr__(self) -> str:
        """Whose, and how many problems."""
        return f"Checked({self.ended})"

    @property
    def ended(self) -> str:
        """What it came to, in a few words."""
        count = len(self.problems)
        told = f"{count} problem{'s' if count > 1 else ''}" if count else "keeps the contract"
        return f"{self.method}: {told}"

    def __str__(self) -> str:
        lines = []
        for name, about in PROBES.items():
            mine = [f for f in self.findings if f.probe == name]
            state = "FAIL" if any(f.problem for f in mine) else "warn" if any(f.warning for f in mine) else "ok"
            state = state if mine else "-"
            lines.append(f"{name:<10} {state:<5} {about}")
            teachers: dict[str, list[str]] = {}
            for found in mine:
                teachers.setdefault(found.problem or found.warning, []).append(found.teacher)
            for problem, (first, *others) in teachers.items():
                more = f" (and before {len(others)} other teachers)" if others else ""
                lines += [f"{'':<16} {first + ': ' if first else ''}{problem}{more}"] * bool(problem)
        return "\n".join([*lines, *self.costs, self.ended])


def check(method: str | type[object], tell: Callable[[str], None] = lambda _: None) -> Checked:
    """Put a method through every probe: a registered name, or a class. `tell` is called with what is looked at next.

    Other processes cannot see a class of this one: what takes a process of its own (`import`, `repeats`, costs) is left
    out for it and shows as "-".

    Examples
    --------
    >>> print(paramid.check("spm"))
    """
    if isinstance(method, type):
        return _checked_here(method)
    if isinstance(registry.method(method), Control):
        raise UsageError(f"{method} is a control: it never works through an oracle")
    name = registry.canonical("methods", method)
    findings = [*_form(registry.method(name)), *_declines(registry.method(name)), _import(name)]
    with Supervisor(threads=1) as supervisor:
        for number, text in enumerate(_accepted(registry.method(name))):
            tell(f"{name} before {text}")
            findings += _probed_twice(supervisor, name, text, whole=number == 0)
        tell(f"{name} on the smoke suite")
        costs = tuple(_costs(supervisor, name))
    return Checked(name, tuple(findings), costs)


def _checked_here(cls: type[object]) -> Checked:
    name = f"{cls.__name__.lower()}-here"  # a registered method may have the same
    registry.add_class("methods", name, cls)
    method = registry.method(name)
    findings = [*_form(method), *_declines(method)]
    for number, text in enumerate(_accepted(method)):
        findings += probe(name, text, whole=number == 0)[0]
    return Checked(name, tuple(findings))


def _accepted(method: Method | Control) -> Iterator[str]:
    """The corners of every family that the method does not decline."""
    assert not isinstance(method, Control)
    for family in registry.names("tasks"):
        for corner in registry.task(family).corners:
            text = f"{family}:{corner}" if corner else family
            try:
                refused = declined(method, registry.task(text)) is not None
            except Exception:
                refused = True  # named by the probe of `declines`
            if not refused:
                yield text


# What needs no run


def _form(method: object) -> list[Finding]:
    wrong = []
    parameters = vars(type(method)).get("__dataclass_params__")  # its own: a base's say nothing of it
    if not (is_dataclass(method) and parameters and parameters.frozen):
        wrong.append("is no frozen dataclass: options could change under a run")
    if not isinstance(getattr(method, "version", None), int):
        wrong.append("has no whole number `version`: records of different numerics could not be told apart")
    access = getattr(method, "access", None)
    if not isinstance(access, frozenset) or not access or not all(isinstance(a, Access) for a in access):
        wrong.append(f"access is {access!r}; a frozenset of paramid.Access was wanted")
    doc = vars(type(method)).get("__doc__") or ""
    if not doc.strip() or doc.startswith(f"{type(method).__name__}("):  # the signature that dataclass puts there
        wrong.append("has no docstring: its first line is what `paramid list` shows")
    return [Finding("form", problem=w) for w in wrong] or [Finding("form")]


def _declines(method: object) -> list[Finding]:
    wrong = []
    for spec in (*ODD_SPECS, *(registry.task(t).spec for t in registry.names("tasks"))):
        try:
            reason = method.declines(spec)  # type: ignore[attr-defined]
        except Exception as error:
            wrong.append(f"raised {type(error).__name__}: {error} for {spec}")
            continue
        if reason is not None and not (isinstance(reason, str) and reason.strip()):
            wrong.append(f"gave {reason!r}; None or a reason was wanted")
    return [Finding("declines", problem=w) for w in dict.fromkeys(wrong)] or [Finding("declines")]


IMPORT = """
import sys, time
begin = time.perf_counter(); import torch; torchs = time.perf_counter() - begin
from paramid.contracts import plugins, registry
from paramid.running import inside_cell
begin = time.perf_counter()
for file in sys.argv[3:]: plugins.add_plugin(file)
registry.load(registry.target("methods", sys.argv[1]))
print(time.perf_counter() - begin, torchs)
"""


def _import(name: str) -> Finding:
    base = naming.Name.parse(name).base
    files = [file for file in joined(("methods", base)) if isinstance(file, str)]
    words = [sys.executable, "-c", IMPORT, base, "--", *files]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        return Finding("import", problem=done.stderr.strip().splitlines()[-1])
    took, torchs = map(float, done.stdout.split()[-2:])
    slow = f"takes {took:.1f} s, torch itself {torchs:.1f} s: every cell would pay it" if took > torchs else ""
    return Finding("import", problem=slow)


# In child processes


@dataclass
class ProbeTranscript(Transcript):
    """The findings of one child, as they come in."""

    findings: list[Finding] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)

    def add(self, event: Mapping[str, Any], body: bytes = b"") -> None:
        """Keep findings, the digests of claims and the end."""
        if event["event"] == "found":
            self.findings.append(Finding(event["probe"], event["teacher"], event["problem"], event["warning"]))
        elif event["event"] == "digests":
            self.digests = event["digests"]
        else:
            super().add(event, body)


def _probed_twice(supervisor: Supervisor, name: str, text: str, *, whole: bool) -> list[Finding]:
    first = _probed(supervisor, name, text, whole)
    if not whole:
        return first.findings
    second = _probed(supervisor, name, text, whole=False)
    if differ := difference(first.digests, second.digests):
        rest = [f for f in first.findings if f.probe != "state"]  # which follows from this
        return [*rest, Finding("repeats", text, f"{differ}: it draws from something that is not `run`")]
    return [*first.findings, *([Finding("repeats", text)] if first.digests else [])]


def _probed(supervisor: Supervisor, name: str, text: str, whole: bool) -> ProbeTranscript:
    planned = plan_cell(name, text, seed=0, time_limit=DEADLINE)
    transcript = ProbeTranscript(planned, supervisor.threads)
    status, reason = supervisor.run_child(
        "paramid.authoring.probes:run_probes", planned, transcript, whole=whole
    ).status_and_reason()
    if status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    if status is not None:
        transcript.findings.append(Finding("sizes", text, f"{status.key}: {reason}"))
    elif transcript.ended and transcript.ended["status"] != Status.FINISHED.key:
        transcript.findings.append(Finding("sizes", text, transcript.ended["reason"]))
    return transcript


def _costs(supervisor: Supervisor, name: str) -> Iterator[str]:
    """The method's line for every teacher of the `smoke` suite."""
    for grid in suites.suite("smoke").grids:
        for text in grid.tasks:
            planned = plan_cell(name, text, seed=0, time_limit=grid.time_limit)
            record = supervisor.run(planned, planned.key(), {}).record
            if record.status is Status.INTERRUPTED:
                raise KeyboardInterrupt
            error = f", error {record.metrics['error']:.1e}" if "error" in record.metrics else ""
            rows = f"{record.queries:,} queries, {record.samples:,} samples, {record.derivatives:,} derivatives"
            yield f"smoke: {text} {record.status.key}{error}, {record.seconds:.2f} s, {rows}, {record.peak_mb:.0f} MB"
