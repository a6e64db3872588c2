"""Bundles: the records of some methods with the hash of their source and the machine they ran on, in one zip file.

    manifest.json    {"schema": 1, "methods": {name: {"version", "source"}}, "tasks": {…}, "environment": {…}}, and
                     "epoch": {"name", "commitment"} where the methods are submitted to one
    records.jsonl    the records, each with its hash (see `lines`)

The same records make the same bytes. Nothing that is read is trusted: names, sizes, links, hashes and numbers are
checked before anything is taken, and nothing is ever unpacked to disk.
"""

from __future__ import annotations

import io
import json
import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, NoReturn

from paramid.records import keys
from paramid.records.publications import door, lines
from paramid.records.publications.lines import canonical, line
from paramid.records.publications.published import in_order
from paramid.records.record import Record
from paramid.words.naming import Name, UsageError

SCHEMA = 1
MANIFEST, RECORDS = "manifest.json", "records.jsonl"
LARGEST = {MANIFEST: 2**20, RECORDS: 2**26}  # bytes, unpacked
PACKED = 2**24  # bytes
DAY = (1980, 1, 1, 0, 0, 0)  # of every file in every bundle
IDENTITIES = door.mapping(door.NAME, lines.IDENTITY, 1000)
FIELDS: dict[str, door.Check] = {
    "schema": door.either(SCHEMA),
    "methods": IDENTITIES,
    "tasks": IDENTITIES,
    "environment": door.mapping(door.WORD, door.fact, 60),
    "epoch": door.shaped({"name": lines.EPOCH, "commitment": door.HASH}, frozenset({"name", "commitment"})),
}


DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
    ValueError,
    struct.error,
    OverflowError,
)  # what a zip file can end with; a text of another encoding is a ValueError


class Refused(UsageError):
    """A bundle that is not read at all, and why."""


@dataclass(frozen=True)
class Bundle:
    """What a bundle holds; `refused` names the lines that cannot be trusted."""

    manifest: Mapping[str, Any]
    records: Mapping[str, Record]  # by their hashes
    refused: tuple[str, ...]


def pack(
    records: Sequence[Record],
    environment: Mapping[str, object],
    methods: Iterable[str] = (),
    epoch: Mapping[str, str] | None = None,
) -> bytes:
    """The bundle of these records, and of methods that may have none."""
    manifest = {
        "schema": SCHEMA,
        "methods": {name: keys.identity("methods", name) for name in sorted({*methods, *(r.method for r in records)})},
        "tasks": {name: keys.identity("tasks", name) for name in sorted({r.task for r in records})},
        "environment": dict(environment),
        **({"epoch": dict(epoch)} if epoch else {}),
    }
    files = {
        MANIFEST: canonical(manifest) + "\n",
        RECORDS: "".join(line("record", r) for r in in_order(records)),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name, DAY)
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
            made.writestr(entry, text.encode())
    return buffer.getvalue()


def unpack(path: Path) -> Bundle:
    """What a bundle holds; a Refused says why it is not read."""
    try:
        if (size := path.stat().st_size) > PACKED:
            raise Refused(f"{path.name} has {size:,} bytes; at most {PACKED:,} were wanted")
        with zipfile.ZipFile(path) as opened:
            names = [_safe(entry) for entry in opened.infolist()]
            if sorted(names) != sorted(LARGEST):
                raise Refused(f"{path.name} holds {_named(names) or 'nothing'}; {MANIFEST} and {RECORDS} were wanted")
            with opened.open(MANIFEST) as file:
                manifest = _manifest(file.read().decode("utf-8"))
            with opened.open(RECORDS) as file:
                return Bundle(manifest, *_records(io.TextIOWrapper(file, "utf-8", newline="\n")))
    except (FileNotFoundError, IsADirectoryError) as error:
        raise Refused(f"{path}: no such file") from error
    except Refused:
        raise
    except DAMAGED as error:
        raise Refused(f"{path.name} is no bundle: {error}") from error


def _safe(entry: zipfile.ZipInfo) -> str:
    """The name of an entry that is a plain file in the bundle itself."""
    name, mode = entry.filename, entry.external_attr >> 16
    if stat.S_ISLNK(mode):
        raise Refused(f"{name!a} is a link")
    if name.startswith(("/", "\\")) or PurePosixPath(name).is_absolute() or ":" in name:
        raise Refused(f"{name!a} is an absolute path")
    if ".." in name.replace("\\", "/").split("/"):
        raise Refused(f"{name!a} climbs out of the bundle")
    if entry.file_size > (most := LARGEST.get(name, 0)) and name in LARGEST:
        raise Refused(f"{name} would be {entry.file_size:,} bytes; at most {most:,} were wanted")
    return name


def _named(names: Sequence[str]) -> str:
    """The first of some names, as a terminal may show them."""
    return ", ".join(door.shown(name, 60) for name in names[:5]) + (f" and {len(names) - 5} more" if names[5:] else "")


def _manifest(text: str) -> Mapping[str, Any]:
    try:
        told = json.loads(text, parse_constant=_refuse)
        if isinstance(told, dict) and told.get("schema") != SCHEMA:
            raise Refused(f"{MANIFEST} has schema {ascii(told.get('schema'))[:40]}; this version reads {SCHEMA}")
        door.shaped(FIELDS, frozenset(FIELDS) - {"epoch"})(told, "the manifest")
    except Refused:
        raise
    except (ValueError, RecursionError) as error:
        raise Refused(f"{MANIFEST} is damaged: {str(error).splitlines()[0]}") from error
    return told


def _records(file: IO[str]) -> tuple[dict[str, Record], tuple[str, ...]]:
    held, refused = {}, []
    for found in lines.lines(lines.numbered(file, RECORDS), RECORDS, ["record"], set()):
        if isinstance(found, str):
            refused.append(found)
        elif isinstance(found.said, Record):
            held[found.digest] = found.said
    return held, tuple(refused)


def problems(bundle: Bundle) -> list[str]:
    """Why a bundle is not what the code here made: other code, other names, keys that are not those of its cells."""
    told = bundle.manifest
    found = [*bundle.refused]
    for group in ("methods", "tasks"):
        for name, theirs in told[group].items():
            try:
                ours = keys.identity(group, str(Name.parse(name)))
            except UsageError as error:
                found.append(str(error) if Name.parse(name).base in str(error) else f"{name}: {error}")
                continue
            if ours != theirs:
                found.append(f"{name}: the code here is not the code that made its records")
    for record in bundle.records.values():
        unlisted = [
            name for group, name in (("methods", record.method), ("tasks", record.task)) if name not in told[group]
        ]
        found += [f"{name}: it has records, and is not in {MANIFEST}" for name in unlisted]
        if record.secret is not None:
            found.append(f"{record.method}: it has records of a secret's teachers, which an epoch alone gives")
    if not told["methods"]:
        found.append("the bundle holds no method")
    return list(dict.fromkeys(found))


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
