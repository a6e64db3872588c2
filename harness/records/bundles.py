"""Bundles: the records of some methods with the hash of their source and the machine they ran on, in one zip file.

    manifest.json    {"schema": 1, "methods": {name: {"version", "source"}}, "tasks": {…}, "environment": {…}}
    records.jsonl    the records, each with its hash (see `published`)

The same records make the same bytes. Nothing that is read is trusted: names, sizes, links, hashes and numbers are
checked before anything is taken, and nothing is ever unpacked to disk.
"""

from __future__ import annotations

import io
import json
import stat
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from paramid.records import keys
from paramid.records.published import Untrusted, canonical, line, parse
from paramid.records.record import Record
from paramid.words.naming import Name, UsageError

SCHEMA = 1
MANIFEST, RECORDS = "manifest.json", "records.jsonl"
LARGEST = {MANIFEST: 2**20, RECORDS: 2**28}  # bytes, unpacked
EPOCH = (1980, 1, 1, 0, 0, 0)  # of every file in every bundle


class Refused(UsageError):
    """A bundle that is not read at all, and why."""


@dataclass(frozen=True)
class Bundle:
    """What a bundle holds; `refused` names the lines that cannot be trusted."""

    manifest: Mapping[str, Any]
    records: Mapping[str, Record]  # by their hashes
    refused: tuple[str, ...]


def pack(records: Sequence[Record], environment: Mapping[str, object]) -> bytes:
    """The bundle of these records."""
    ordered = sorted(records, key=lambda r: (r.task, r.method, r.device, r.seed, r.key))
    manifest = {
        "schema": SCHEMA,
        "methods": {name: keys.identity("methods", name) for name in sorted({r.method for r in records})},
        "tasks": {name: keys.identity("tasks", name) for name in sorted({r.task for r in records})},
        "environment": dict(environment),
    }
    files = {
        MANIFEST: canonical(manifest) + "\n",
        RECORDS: "".join(line("record", r.to_json()) for r in ordered),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
            made.writestr(entry, text.encode())
    return buffer.getvalue()


def unpack(path: Path) -> Bundle:
    """What a bundle holds; a Refused says why it is not read."""
    try:
        with zipfile.ZipFile(path) as opened:
            names = [_safe(entry) for entry in opened.infolist()]
            if sorted(names) != sorted(LARGEST):
                raise Refused(
                    f"{path.name} holds {', '.join(names) or 'nothing'}; {MANIFEST} and {RECORDS} were wanted"
                )
            texts = {name: _limited(opened, name) for name in names}
    except (FileNotFoundError, IsADirectoryError) as error:
        raise Refused(f"{path}: no such file") from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path.name} is no bundle: {error}") from error
    return Bundle(_manifest(texts[MANIFEST]), *_records(texts[RECORDS].splitlines()))


def _safe(entry: zipfile.ZipInfo) -> str:
    """The name of an entry that is a plain file in the bundle itself."""
    name, mode = entry.filename, entry.external_attr >> 16
    if stat.S_ISLNK(mode):
        raise Refused(f"{name!r} is a link")
    if name.startswith(("/", "\\")) or PurePosixPath(name).is_absolute() or ":" in name:
        raise Refused(f"{name!r} is an absolute path")
    if ".." in name.replace("\\", "/").split("/"):
        raise Refused(f"{name!r} climbs out of the bundle")
    if entry.file_size > (most := LARGEST.get(name, 0)) and name in LARGEST:
        raise Refused(f"{name} would be {entry.file_size:,} bytes; at most {most:,} were wanted")
    return name


def _limited(opened: zipfile.ZipFile, name: str) -> str:
    """The text of an entry, whatever size its head claims."""
    with opened.open(name) as file:
        content = file.read(LARGEST[name] + 1)
    if len(content) > LARGEST[name]:
        raise Refused(f"{name} is more than {LARGEST[name]:,} bytes")
    return content.decode("utf-8")


def _manifest(text: str) -> Mapping[str, Any]:
    try:
        plain = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise Refused(f"{MANIFEST} is damaged: {error}") from error
    if not isinstance(plain, dict) or plain.get("schema") != SCHEMA:
        told = plain.get("schema") if isinstance(plain, dict) else None
        raise Refused(f"{MANIFEST} has schema {told}; this version reads {SCHEMA}")
    if not all(isinstance(plain.get(part), dict) for part in ("methods", "tasks", "environment")):
        raise Refused(f"{MANIFEST} lacks methods, tasks or environment")
    return plain


def _records(lines: Iterable[str]) -> tuple[dict[str, Record], tuple[str, ...]]:
    held: dict[str, Record] = {}
    refused = []
    for number, text in enumerate(lines, 1):
        try:
            digested, entry = parse(text)
            if not isinstance(entry, Record):
                raise Untrusted("a verdict; only records were wanted")
            if digested in held:
                raise Untrusted("a duplicate of an earlier line")
            held[digested] = entry
        except Untrusted as error:
            refused.append(f"{RECORDS}:{number}: {error}")
    return held, tuple(refused)


def sources(bundle: Bundle) -> list[str]:
    """The methods and tasks whose code here is not the code that made the bundle, and why."""
    found = []
    for group in ("methods", "tasks"):
        for name, told in bundle.manifest[group].items():
            try:
                ours = keys.identity(group, str(Name.parse(name)))
            except UsageError as error:
                found.append(str(error) if Name.parse(name).base in str(error) else f"{name}: {error}")
                continue
            if ours != told:
                found.append(f"{name}: the code here is not the code that made its records")
    return found


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
