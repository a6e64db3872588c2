"""Published records: append-only JSON lines, each checked against its own hash.

    {"schema": 1, "sha256": "…", "record": {…}}      a record, and the hash of its canonical JSON
    {"schema": 1, "sha256": "…", "verdict": {…}}     what became of a record, named by its hash, when it was run again

Canonical JSON is ASCII with sorted keys and no spaces. A publication is one file, named by its date
and commit, and never changed. Reading names every line that cannot be trusted and keeps it out; the rest stands.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import math
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

import paramid
from paramid.judging.metrics import METRICS
from paramid.records import provenance
from paramid.records.record import COSTS, Record, Stage, dump
from paramid.records.store import StoreError
from paramid.words.naming import UsageError

SCHEMA = 1
FOLDER = Path("leaderboard") / "records"
OWN = "published"  # the word for what came with paramid
PACKED = Path(__file__).resolve().parents[1] / OWN  # in a wheel; setup.py writes it
VERIFIED, DISPUTED, UNVERIFIED = "verified", "disputed", "unverified"  # the last: nobody ran it again, or could
LONGEST = 2**22  # characters of a line
Warn = Callable[[str], None]


@dataclass(frozen=True)
class Verdict:
    """What became of a record, named by its hash, when it was run again."""

    record: str
    verdict: str
    reason: str = ""
    provenance: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Published:
    """What stands: records by their hashes, and verdicts on them; `refused` names what does not."""

    records: Mapping[str, Record]
    verdicts: tuple[Verdict, ...] = ()
    refused: tuple[str, ...] = ()


class Untrusted(ValueError):
    """A line that cannot be trusted, and why."""


def canonical(plain: object) -> str:
    """The one text of a plain value."""
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(plain: object) -> str:
    """The hash of a plain value's canonical JSON."""
    return hashlib.sha256(canonical(plain).encode()).hexdigest()


def fingerprint(record: Record) -> str:
    """The hash of a record."""
    return digest(json.loads(dump(record.to_json())))


def line(kind: str, plain: object) -> str:
    """One line of a publication; `kind` is `record` or `verdict`."""
    plain = json.loads(dump(plain))
    return _sealed(kind, plain, digest(plain))


def read(where: str | Path) -> Published:
    """Everything that was published in a file, or in a folder's files in the order of their names."""
    records: dict[str, Record] = {}
    verdicts, refused = [], []
    for path in files(Path(where)):
        for place, text in numbered(path):
            try:
                digested, entry = parse(text)
                if isinstance(entry, Verdict):
                    verdicts.append(entry)
                elif digested in records:
                    raise Untrusted("a duplicate of an earlier line")
                else:
                    records[digested] = entry
            except Untrusted as error:
                refused.append(f"{place}: {error}")
    return Published(records, tuple(verdicts), tuple(refused))


def files(where: Path) -> list[Path]:
    """The files of published records: a file itself, or those of a folder."""
    return [where] if where.is_file() else sorted([*where.glob("*.jsonl"), *where.glob("*.jsonl.xz")])


def whereabouts(where: str | Path) -> Path:
    """The file or folder that is meant: a path, a checkout, or what the word `published` stands for here."""
    if str(where) == OWN and not Path(where).exists():
        checkout = Path(__file__).resolve().parents[2] / FOLDER
        return checkout if checkout.is_dir() else PACKED
    inside = Path(where) / FOLDER
    return inside if inside.is_dir() else Path(where)


def existing(where: str | Path, warn: Warn) -> Published:
    """`read`, of a place that must be there; `warn` is told of every line that is kept out."""
    place = whereabouts(where)
    if not place.exists():
        raise UsageError(f"no published records at {where}: `paramid publish` writes them")
    if place.is_file() and not place.name.endswith((".jsonl", ".jsonl.xz")):
        raise UsageError(f"{where} is no file of published records: a name.jsonl was wanted")
    if place.is_dir() and not files(place) and any(not path.name.startswith(".") for path in place.iterdir()):
        raise UsageError(f"no published records at {where}: files *.jsonl were wanted")
    found = read(place)
    for note in found.refused:
        warn(note)
    return found


def numbered(path: Path) -> Iterator[tuple[str, str]]:
    """The lines of a file that hold something, with their places; a line of another encoding comes as it can."""
    packed = path.suffix == ".xz"
    with (lzma.open if packed else open)(path, "rt", encoding="utf-8", errors="replace") as file:
        for number, text in enumerate(file, 1):
            if text.strip():
                yield f"{path.name}:{number}", text


def parse(text: str) -> tuple[str, Record | Verdict]:
    """The hash and the entry of one line; an Untrusted says what is wrong with any other."""
    if len(text) > LONGEST:
        raise Untrusted(f"{len(text):,} characters; at most {LONGEST:,} were wanted")
    try:
        plain = json.loads(text, parse_constant=_not_finite)
    except Untrusted:
        raise
    except (ValueError, RecursionError) as error:
        raise Untrusted(f"damaged: {str(error).splitlines()[0]}") from error
    if not isinstance(plain, dict) or not isinstance(plain.get("schema"), int):
        raise Untrusted("no published line: an object with a schema was wanted")
    if plain["schema"] != SCHEMA:
        raise Untrusted(f"schema {plain['schema']}; this version reads {SCHEMA}")
    kinds = [kind for kind in ("record", "verdict") if kind in plain]
    if len(kinds) != 1 or set(plain) != {"schema", "sha256", *kinds}:
        raise Untrusted("no published line: schema, sha256 and a record or a verdict were wanted")
    inside = plain[kinds[0]]
    if (found := digest(inside)) != plain["sha256"]:
        raise Untrusted(f"tampered: the hash of its {kinds[0]} is {found[:12]}…, not {str(plain['sha256'])[:12]}…")
    try:
        return found, _verdict(inside) if kinds[0] == "verdict" else believable(Record.from_json(inside))
    except Untrusted:
        raise
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Untrusted(f"no {kinds[0]}: {str(error).splitlines()[0]}") from error


def believable(record: Record) -> Record:
    """A record whose numbers can be believed to be numbers; an Untrusted names the first that cannot."""
    spending: tuple[Record | Stage, ...] = (record, *record.claims)
    for costs in spending:
        for name in ("seconds", *COSTS):
            value = getattr(costs, name)
            if not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise Untrusted(f"{name} is {value!r}; a number from 0 was wanted")
        for name, value in costs.metrics.items():
            if math.isnan(value) or (value < 0 and name in METRICS and name != "bits"):
                raise Untrusted(f"{name} is {value}; a number from 0 was wanted")
    spent = [s.seconds for s in record.claims]
    if spent != sorted(spent):
        raise Untrusted("its claims are not in the order of their seconds")
    return record


def name() -> str:
    """What a publication of today is called: its date and commit."""
    commit = provenance.git(Path(__file__).resolve().parent)["commit"]
    return f"{datetime.now(UTC):%Y-%m-%d}-{str(commit)[:10] if commit else f'paramid-{paramid.__version__}'}"


def unsound(record: Record) -> str | None:
    """Why a reader would keep a record out, or None."""
    try:
        parse(line("record", record.to_json()))
    except Untrusted as error:
        return str(error)
    return None


def publish(records: Sequence[Record], folder: Path, name: str) -> tuple[Path | None, int]:
    """Write the records that `folder` does not hold yet into a new file; its path and how many there are."""
    held = set(read(folder).records) if folder.is_dir() else set()
    ordered = sorted(records, key=lambda r: (r.task, r.method, r.device, r.seed, r.key))
    plain = (json.loads(dump(r.to_json())) for r in ordered)
    fresh = [_sealed("record", p, found) for p in plain if (found := digest(p)) not in held]
    return (append(fresh, folder, name) if fresh else None), len(fresh)


def append(lines: Iterable[str], folder: Path, name: str) -> Path:
    """Write a new file that appears whole; one that is there is never touched."""
    number, partial = 1, folder / f".{uuid.uuid4().hex[:8]}.tmp"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        partial.write_text("".join(lines), encoding="utf-8")
        while True:
            path = folder / f"{name}{f'-{number}' if number > 1 else ''}.jsonl"
            try:
                os.link(partial, path)
            except FileExistsError:
                number += 1
            else:
                return path
    except OSError as error:
        raise StoreError(f"{folder} cannot be written: {error.strerror}") from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _sealed(kind: str, plain: object, digested: str) -> str:
    return canonical({"schema": SCHEMA, "sha256": digested, kind: plain}) + "\n"


def _verdict(plain: Mapping[str, Any]) -> Verdict:
    verdict = Verdict(**plain)
    if verdict.verdict not in (VERIFIED, DISPUTED):
        raise Untrusted(f"verdict {verdict.verdict!r}; {VERIFIED} or {DISPUTED} was wanted")
    return verdict


def _not_finite(name: str) -> NoReturn:
    raise Untrusted(f"{name} is no JSON number")
