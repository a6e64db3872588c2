"""Published records: append-only files of `lines`.

A publication is one file, named by its date and commit, and never changed. Reading names every line that cannot be
trusted and keeps it out; the rest stands.
"""

from __future__ import annotations

import lzma
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import paramid
from paramid.records import provenance
from paramid.records.publications import lines
from paramid.records.publications.door import Untrusted
from paramid.records.publications.lines import Entry, Line, Verdict
from paramid.records.record import Record
from paramid.records.store import StoreError
from paramid.words.naming import UsageError

FOLDER = Path("leaderboard") / "records"
OWN = "published"  # the word for what came with paramid
PACKED = Path(__file__).resolve().parents[2] / OWN  # in a wheel; setup.py writes it
Warn = Callable[[str], None]


@dataclass(frozen=True)
class Published:
    """What stands: records by their hashes, what is said of them, and what does not stand."""

    records: Mapping[str, Record]
    verdicts: tuple[Verdict, ...] = ()
    refused: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()
    self_reported: Mapping[str, Record] = field(default_factory=dict)


def read(where: str | Path) -> Published:
    """Everything that was published in a file, or in a folder's files in the order of their names."""
    said: dict[str, list[Line]] = {kind: [] for kind in lines.READERS}
    seen: set[str] = set()
    refused = []
    for path in files(Path(where)):
        try:
            for found in lines.lines(numbered(path), path.name, lines.READERS, seen):
                if isinstance(found, str):
                    refused.append(found)
                else:
                    said[found.kind].append(found)
        except (OSError, EOFError, lzma.LZMAError) as error:
            refused.append(f"{path.name} cannot be read: {getattr(error, 'strerror', None) or error}")
    records, reported = ({f.digest: f.said for f in said[kind]} for kind in ("record", "self-reported"))
    verdicts, entries = (tuple(f.said for f in said[kind]) for kind in ("verdict", "entry"))
    return Published(records, verdicts, tuple(refused), entries, reported)  # type: ignore[arg-type]


def files(where: Path) -> list[Path]:
    """The files of published records: a file itself, or those of a folder."""
    return [where] if where.is_file() else sorted([*where.glob("*.jsonl"), *where.glob("*.jsonl.xz")])


def whereabouts(where: str | Path) -> Path:
    """The file or folder that is meant: a path, a checkout, or what the word `published` stands for here."""
    if str(where) == OWN and not Path(where).exists():
        checkout = Path(__file__).resolve().parents[3] / FOLDER
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
    """The lines of a file with their places; a line of another encoding comes as it can.

    Behind one that is too long nothing is read.
    """
    packed = path.suffix == ".xz"
    with (lzma.open if packed else open)(path, "rt", encoding="utf-8", errors="replace") as file:
        yield from lines.numbered(file, path.name)


def name() -> str:
    """What a publication of today is called: its date and commit."""
    commit = provenance.git(Path(__file__).resolve().parent)["commit"]
    return f"{datetime.now(UTC):%Y-%m-%d}-{str(commit)[:10] if commit else f'paramid-{paramid.__version__}'}"


def unsound(record: Record) -> str | None:
    """Why a reader would keep a record out, or None."""
    try:
        lines.parse(lines.line("record", record))
    except Untrusted as error:
        return str(error)
    return None


def publish(records: Sequence[Record], folder: Path, name: str) -> tuple[Path | None, int]:
    """Write the records that `folder` does not hold yet into a new file; its path and how many there are."""
    held = set(map(lines.fingerprint, read(folder).records.values())) if folder.is_dir() else set()
    fresh = [lines.line("record", r) for r in in_order(records) if lines.fingerprint(r) not in held]
    return (append(fresh, folder, name) if fresh else None), len(fresh)


def in_order(records: Iterable[Record]) -> list[Record]:
    """Records as files hold them."""
    return sorted(records, key=lambda r: (r.task, r.method, r.device, r.seed, r.key))


def checked(folder: Path | None) -> None:
    """Say at once where nothing could be written at the end."""
    if folder is not None and folder.exists() and not folder.is_dir():
        raise UsageError(f"--to is {folder}; a folder was wanted")


def append(made: Iterable[str], folder: Path, name: str) -> Path:
    """Write a new file that appears whole; one that is there is never touched."""
    number, partial = 1, folder / f".{uuid.uuid4().hex[:8]}.tmp"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        partial.write_text("".join(made), encoding="utf-8")
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
