"""A submission before the teachers of an epoch, and what is published of it.

What may run is decided before anything does: the epoch is open and as it was when it was committed, the secret is its
own, the source here is the one that was frozen, and no method was entered before. The suite's own cells run, no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from paramid.contracts import registry
from paramid.records import machine
from paramid.records.publications import epochs, lines, published
from paramid.records.publications.bundles import Bundle
from paramid.records.publications.epochs import Epoch
from paramid.records.publications.lines import Entry, line
from paramid.records.record import Record
from paramid.records.selection import is_control
from paramid.running import suites
from paramid.running.cell import Cell
from paramid.running.compare import Comparison
from paramid.running.suites import Suite
from paramid.running.verification.reruns import clock
from paramid.words.naming import UsageError
from paramid.words.secrets import Secret


@dataclass(frozen=True)
class Submission:
    """A bundle before an epoch: the comparison that gives its records."""

    epoch: Epoch
    bundle: Bundle
    frozen: str
    secret: Secret
    comparison: Comparison

    @classmethod
    def planned(
        cls, epoch: Epoch, bundle: Bundle, secret: Secret, *, store: Path, workers: int | None, threads: int | None
    ) -> Submission:
        """What will run; a UsageError says why nothing may."""
        methods, suite = bundle.manifest["methods"], suite_of(epoch)
        for name in methods:
            if (canonical := registry.described("methods", name).canonical) != name:
                raise UsageError(f"{name} is written {canonical}, and enters by that name alone")
        frozen = epochs.frozen(methods)
        drawn = Secret(epoch.drawn(secret.value, frozen).value, secret.file)
        entered = suite.of(list(methods), epoch.seeds)
        made = Comparison.planned((), (), suite=entered, store=store, workers=workers, threads=threads, secret=drawn)
        return cls(epoch, bundle, frozen, drawn, made)

    @property
    def announced(self) -> str:
        """How many cells run, and how long that may take."""
        cells = [c for key, c in self.comparison.cells.items() if self.comparison.wanted(key)]
        most = sum(c.time_limit or 0.0 for c in cells) / self.comparison.workers
        told = f"{len(cells)} of {len(self.comparison.cells)} cells to run, {self.comparison.workers} at once"
        return f"{told}: at most {clock(most)} by their limits, judging excluded"

    def entry(self, records: Sequence[Record]) -> Entry:
        """What is published of it."""
        return Entry(
            epoch=self.epoch.name,
            commitment=self.epoch.commitment,
            suite=self.epoch.suite,
            version=self.epoch.version,
            methods={name: dict(told) for name, told in self.bundle.manifest["methods"].items()},
            frozen=self.frozen,
            secret=self.secret.fingerprint,
            count=len(records),
            records=lines.of_records(map(lines.fingerprint, records)),
            machine=f"{machine.cores()} cores of {machine.cpu_model()}",
            made=f"{datetime.now(UTC):%Y-%m-%d}",
        )

    def publish(self, records: Sequence[Record], folder: Path, name: str) -> Path:
        """Write entry, records and what the submitter reports as one new file."""
        made = [line("entry", self.entry(records))]
        made += [line("record", r) for r in published.in_order(records)]
        made += [line("self-reported", r) for r in published.in_order(self.bundle.records.values())]
        return published.append(made, folder, name)


def refusal(epoch: Epoch, bundle: Bundle, secret: Secret, folder: Path, held: Mapping[str, str]) -> str:
    """Why a bundle may not run in an epoch; empty where it may. `held` says who is in it already, by which source."""
    told = bundle.manifest.get("epoch")
    if epoch.closed:
        return f"epoch {epoch.name} was closed on {epoch.closed[:10]}"
    if problem := epochs.changed(epoch, folder):
        return problem
    if secret.fingerprint != epoch.commitment:
        return f"this is not the secret that epoch {epoch.name} was opened with"
    if told != {"name": epoch.name, "commitment": epoch.commitment}:
        return f"the bundle was not submitted to epoch {epoch.name}, or to another secret of that name"
    if again := sorted(held.keys() & bundle.manifest["methods"].keys()):
        return f"{again[0]} is in epoch {epoch.name} already: every method once"
    return ""


def unhidden(records: Iterable[Record]) -> str:
    """Which methods could have read the secret's file, for want of the wall `mounts`; empty where none could."""
    methods = {r.method for r in records if not is_control(r.method) and "mounts" not in _walls(r)}
    if not methods:
        return ""
    return f"without the wall `mounts` these could read the secret's file: {', '.join(sorted(methods))}"


def _walls(record: Record) -> list[str]:
    return str(record.provenance.get("walls")).split(", ")


def misfits(epoch: Epoch, entry: Entry, records: Iterable[Record]) -> list[str]:
    """Where an entry's records are not the suite's own cells: a seed or a limit that was chosen, a cell left out.

    A UsageError says why it is not known here what its cells were.
    """
    suite = suite_of(epoch)
    wanted = {_place(c) for c in suite.of(list(entry.methods), epoch.seeds).cells()}
    held = {_place(r) for r in records}
    strays = [f"{words} is no cell of suite {suite.name}" for words in sorted(held - wanted)]
    return strays + [f"epoch {epoch.name} has no record of {words}" for words in sorted(wanted - held)]


def _place(cell: Cell | Record) -> str:
    """What a suite says of a cell, in words."""
    limits = [f"{name} {limit:g}" for name, limit in cell.budget.items() if limit is not None]
    told = ", ".join([cell.device, *limits, f"judged at {cell.judge_inputs}"])
    return f"{cell.method} before {cell.task}, seed {cell.seed} ({told})"


def suite_of(epoch: Epoch) -> Suite:
    """The suite that comes with the package and is the epoch's: of an older version, the one kept as NAME-VERSION."""
    kept = suites.suites()
    known = kept.get(f"{epoch.suite}-{epoch.version}", kept.get(epoch.suite))
    if known is None or known.version != epoch.version:
        told = "is not here" if known is None else f"is version {known.version}"
        raise UsageError(f"suite {epoch.suite} {told}; the epoch has version {epoch.version}")
    return known


def entered(found: published.Published, epoch: Epoch) -> dict[str, str]:
    """The methods that are in an epoch already, and the hashes of what was frozen with them."""
    return {m: e.frozen for e in found.entries if e.epoch == epoch.name for m in e.methods}
