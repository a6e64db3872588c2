"""Epochs: teachers that neither who runs them nor who is run can choose.

A maintainer makes a secret, keeps it, and publishes its hash with a suite; this opens the epoch. A submitter freezes
the source of some methods. The teachers of a submission are drawn from

    (1)  HMAC-SHA256(secret of the epoch, its name, zero byte, frozen),    frozen = hash of the methods' sources,

as `words.secrets` draws from any secret, so that to choose them the one would have to know the secret, and the other
to change it, and its hash is public. At the end the secret is shown, and anybody draws the same teachers again.

    leaderboard/epochs/NAME.json    what is public of an epoch: closing adds the last two fields, nothing else changes

Which records rank is decided here, by `standing`, from what is public alone.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import subprocess
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from paramid.records.publications import door, lines, published
from paramid.records.publications.door import Untrusted
from paramid.records.publications.lines import Entry, Verdict
from paramid.records.publications.published import Published
from paramid.records.record import Record, dump
from paramid.words.naming import UsageError
from paramid.words.secrets import Secret, fingerprint

SCHEMA = 1
OPENED = ("schema", "name", "suite", "version", "seeds", "opened", "commitment")  # never change


@dataclass(frozen=True, kw_only=True)
class Epoch:
    """What is public of an epoch."""

    name: str
    suite: str
    version: int
    seeds: int | None  # of every task; None: as many as the suite says
    opened: str
    commitment: str  # the hash of its secret
    closed: str = ""
    secret: str = ""  # in hexadecimal digits, when it is closed
    schema: int = SCHEMA

    def drawn(self, secret: bytes, frozen: str) -> Secret:
        """The secret (1) of a submission."""
        return Secret(hmac.new(secret, f"{self.name}\0{frozen}".encode(), hashlib.sha256).digest())

    def shown(self, frozen: str) -> Secret | None:
        """The secret (1) of a submission where the epoch is closed."""
        return self.drawn(bytes.fromhex(self.secret), frozen) if self.secret else None


def frozen(methods: Mapping[str, Mapping[str, object]]) -> str:
    """The hash of methods' names, versions and sources."""
    return lines.digest({name: dict(told) for name, told in methods.items()})


# Files

FIELDS: dict[str, door.Check] = {
    "schema": door.either(SCHEMA),
    "name": lines.EPOCH,
    "suite": door.WORD,
    "version": door.number(1, 1e6, whole=True),
    "seeds": door.optional(door.number(1, 1000, whole=True)),
    "opened": lines.DAY,
    "commitment": door.HASH,
    "closed": door.text(40),
    "secret": door.text(4096, "([0-9a-f]{2})*"),
}
NEEDED = frozenset(FIELDS) - {"closed", "secret"}


def parse(words: str) -> Epoch:
    """The epoch of a file's words; an Untrusted says what is wrong with any other."""
    try:
        told = json.loads(words)
    except (ValueError, RecursionError) as error:
        raise Untrusted(f"damaged: {str(error).splitlines()[0]}") from error
    door.shaped(FIELDS, NEEDED)(told, "the epoch")
    epoch = Epoch(**told)
    if bool(epoch.closed) != bool(epoch.secret):
        raise Untrusted("an epoch is closed by showing its secret, and not otherwise")
    if epoch.secret and fingerprint(bytes.fromhex(epoch.secret)) != epoch.commitment:
        raise Untrusted("its secret is not the one whose hash it was opened with")
    return epoch


def folder(records: Path) -> Path:
    """Where the epochs of some published records are."""
    return records / "epochs" if (records / "epochs").is_dir() else records.parent / "epochs"


def read(where: Path) -> tuple[dict[str, Epoch], list[str]]:
    """The epochs of a folder by name, and which files hold none."""
    found, refused = {}, []
    for path in sorted(where.glob("*.json")) if where.is_dir() else ():
        try:
            epoch = parse(path.read_text(encoding="utf-8"))
            if epoch.name != path.stem:
                raise Untrusted(f"it holds the epoch {epoch.name}")
            found[epoch.name] = epoch
        except (Untrusted, OSError, UnicodeDecodeError) as error:
            refused.append(f"{path.name}: {error}")
    return found, refused


def existing(name: str, where: Path) -> Epoch:
    """The epoch of that name; a UsageError where there is none that can be trusted."""
    found, refused = read(where)
    if name in found:
        return found[name]
    told = next((note for note in refused if note.startswith(f"{name}.json")), "")
    raise UsageError(
        told or f"no epoch {name} in {where}: there {'are' if found else 'is'} {', '.join(found) or 'none'}"
    )


def write(epoch: Epoch, where: Path) -> Path:
    """Write an epoch's file."""
    where.mkdir(parents=True, exist_ok=True)
    path = where / f"{epoch.name}.json"
    path.write_text(dump(asdict(epoch), indent=1) + "\n", encoding="utf-8")
    return path


def changed(epoch: Epoch, where: Path) -> str:
    """What of an epoch is not as it was whenever its file was first committed, on any branch that was merged."""
    for commit in _git(
        where, "log", "--full-history", "--format=%H", "--diff-filter=A", "--", f"{epoch.name}.json"
    ).split():
        try:
            before = parse(_git(where, "show", f"{commit}:./{epoch.name}.json"))
        except Untrusted as error:
            return f"epoch {epoch.name} was none when it was first committed: {error}"
        for name in OPENED:
            if (was := getattr(before, name)) != (now := getattr(epoch, name)):
                return f"epoch {epoch.name}: its {name} is {now}, and was {was!r} when it was first committed"
    return ""


def _git(folder: Path, *words: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


# What stands


@dataclass(frozen=True)
class Standing:
    """Which published records rank, of which epoch, and why others do not."""

    ranked: Mapping[str, Record]  # by their hashes
    epoch_of: Mapping[str, Epoch]  # by methods
    reported: Mapping[str, Record]  # by whoever made them; nobody ran them again
    notes: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()  # that hold
    given: Mapping[str, Mapping[str, Record]] = field(default_factory=dict)  # what they gave, by their secrets' hashes
    verdicts: tuple[Verdict, ...] = ()


def standing(found: Published, known: Mapping[str, Epoch]) -> Standing:
    """What ranks of published records: where an epoch gave some, those of the newest that ran the same suite.

    Where none did, all are as whoever made them says, and rank as such.
    """
    if not found.entries:
        return Standing(found.records, {}, found.self_reported)
    held: dict[str, dict[str, Record]] = defaultdict(dict)
    for digest, record in found.records.items():
        held[record.secret or ""][digest] = record
    notes, holding = [], []
    entered: dict[tuple[str, str], str] = {}
    for entry in found.entries:
        problem = unsound(entry, held[entry.secret], known)
        again = [m for m in entry.methods if (entry.epoch, m) in entered]
        if problem or again:
            words = problem or f"{again[0]} was entered before: once an epoch"
            notes.append(f"the entry of {', '.join(entry.methods)} in epoch {entry.epoch} does not stand: {words}")
        else:
            holding.append(entry)
            entered.update(dict.fromkeys(((entry.epoch, m) for m in entry.methods), entry.secret))
    newest = max(holding, key=lambda e: known[e.epoch].opened, default=None)
    ranked: dict[str, Record] = {}
    epoch_of: dict[str, Epoch] = {}
    for entry in sorted(holding, key=lambda e: known[e.epoch].opened, reverse=True):
        if newest and (entry.suite, entry.version) == (newest.suite, newest.version):
            fresh = set(entry.methods) - epoch_of.keys()
            epoch_of.update(dict.fromkeys(fresh, known[entry.epoch]))
            ranked |= {d: r for d, r in held[entry.secret].items() if r.method in fresh}
    rest = {d: r for d, r in found.records.items() if d not in ranked}
    return Standing(ranked, epoch_of, {**found.self_reported, **rest}, tuple(notes), tuple(holding), held)


def shown(where: str | Path, warn: Callable[[str], None]) -> Standing:
    """What ranks of the records at a place that must be there; whatever does not stand is told."""
    found = published.existing(where, warn)
    known, refused = read(folder(published.whereabouts(where)))
    made = standing(found, known)
    for note in (*refused, *made.notes):
        warn(note)
    return replace(made, notes=(*found.refused, *refused, *made.notes), verdicts=found.verdicts)


def unsound(entry: Entry, records: Mapping[str, Record], known: Mapping[str, Epoch]) -> str:
    """Why an entry does not stand before the records of its teachers; empty where it does."""
    if (epoch := known.get(entry.epoch)) is None:
        return "there is no such epoch"
    if (entry.commitment, entry.suite, entry.version) != (epoch.commitment, epoch.suite, epoch.version):
        return "it is of another secret, suite or version than the epoch was opened with"
    if frozen(entry.methods) != entry.frozen:
        return "its methods are not those whose hash it holds"
    shown = epoch.shown(entry.frozen)
    if shown is not None and shown.fingerprint != entry.secret:
        return "its teachers were not drawn from the epoch's secret and the frozen source"
    if (len(records), lines.of_records(records)) != (entry.count, entry.records):
        return f"it is of {entry.count} records, and of those that are here, {len(records)}, the hash is another"
    cells = {(r.method, r.task, r.seed, r.device) for r in records.values()}
    if len(cells) < len(records):
        return "a seed was run twice"
    methods = {r.method for r in records.values()}
    if strangers := methods - entry.methods.keys():
        return f"it has records of {min(strangers)}, which it did not freeze"
    if idle := entry.methods.keys() - methods:
        return f"it has no record of {min(idle)}"
    return ""
