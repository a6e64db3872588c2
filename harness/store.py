"""The store: an append-only folder of records that a person, git and pandas can read.

    cells/<key>-<attempt>.json    one record
    claims/<key>-<attempt>.npz    its last claim, so that metrics can be computed again
    runs/<id>.json                where and with what a command ran

A file appears whole or not at all (temporary file, fsync, link), and never replaces another.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from paramid.naming import UsageError
from paramid.record import Record, dump
from paramid.supervisor import Outcome


class Store:
    """Records on disk. `warn` is told of every file that cannot be read."""

    def __init__(self, folder: str | Path, warn: Callable[[str], None] = lambda _: None) -> None:
        self.folder, self._warn = Path(folder).resolve(), warn

    @classmethod
    def existing(cls, folder: str | Path, warn: Callable[[str], None] = lambda _: None) -> Store:
        """A store that must be there already."""
        if not (Path(folder) / "cells").is_dir():
            raise UsageError(f"no store at {folder}: a folder that `paramid compare --store` wrote was wanted")
        return cls(folder, warn)

    def open(self) -> Store:
        """Make the folders, and sweep up what a killed command left half-written."""
        for name in ("cells", "claims", "runs"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
            for left in (self.folder / name).glob(".*.tmp"):
                if not _alive(left.name.split(".")[1]):
                    left.unlink(missing_ok=True)
        return self

    def start_run(self, provenance: Mapping[str, object]) -> str:
        """Keep a run's provenance and give its id."""
        run = f"{str(provenance['started'])[:19].replace(':', '')}-{uuid.uuid4().hex[:6]}"
        self._write(self.folder / "runs" / f"{run}.json", (dump({**provenance, "run": run}, indent=1) + "\n").encode())
        return run

    def add(self, outcome: Outcome) -> bool:
        """Store a record as the next attempt of its key; the claim goes first, so that a record never lacks it."""
        attempt = self.attempts(outcome.record.key) + 1
        name = f"{outcome.record.key}-{attempt}"
        if outcome.claim:
            self._write(self.folder / "claims" / f"{name}.npz", outcome.claim)
        text = dump(outcome.record.to_json(), indent=1) + "\n"
        return self._write(self.folder / "cells" / f"{name}.json", text.encode())

    def attempts(self, key: str) -> int:
        """How many records a key has had, damaged ones included."""
        count = 0
        while any((self.folder / "cells" / f"{key}-{count + 1}{end}").exists() for end in (".json", ".damaged")):
            count += 1
        return count

    def find(self, key: str) -> Record | None:
        """The newest readable record of a key; a damaged one is set aside."""
        for attempt in range(self.attempts(key), 0, -1):
            if (record := self._read(self.folder / "cells" / f"{key}-{attempt}.json", set_aside=True)) is not None:
                return record
        return None

    def records(self) -> list[Record]:
        """The newest readable record of every key."""
        newest: dict[str, Path] = {}
        for path in sorted((self.folder / "cells").glob("*.json"), key=lambda p: (_attempt(p), p.name)):
            newest[path.stem.rpartition("-")[0]] = path
        return [r for path in newest.values() if (r := self._read(path)) is not None]

    def matching(self, prefix: str) -> list[Record]:
        """The newest records whose key starts so."""
        keys = {path.stem.rpartition("-")[0] for path in (self.folder / "cells").glob(f"{prefix}*.json")}
        return [r for key in sorted(keys) if (r := self.find(key)) is not None]

    def _read(self, path: Path, *, set_aside: bool = False) -> Record | None:
        try:
            record = Record.from_json(json.loads(path.read_text(encoding="utf-8")))
            if record.key != path.stem.rpartition("-")[0]:
                raise ValueError(f"holds key {record.key}")
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError, OSError) as error:
            self._warn(
                f"{path} cannot be read ({str(error).splitlines()[0]}); {'set aside' if set_aside else 'skipped'}"
            )
            if set_aside:
                path.rename(path.with_suffix(".damaged"))
            return None
        return record

    def _write(self, path: Path, content: bytes) -> bool:
        """Whether the file is ours: False when another command wrote it first."""
        partial = path.with_name(f".{os.getpid()}.{uuid.uuid4().hex[:8]}.tmp")
        try:
            with partial.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.link(partial, path)
        except FileExistsError:
            return False
        finally:
            partial.unlink(missing_ok=True)
        return True


def newest(records: Iterable[Record]) -> list[Record]:
    """One record for each method, task, seed, device and budget: the one that was made last."""
    latest: dict[tuple[object, ...], Record] = {}
    for record in sorted(records, key=lambda r: str(r.provenance.get("finished", ""))):
        budget = tuple(sorted(record.budget.items(), key=str))
        latest[record.method, record.task, record.seed, record.device, budget] = record
    return list(latest.values())


def _attempt(path: Path) -> int:
    number = path.stem.rpartition("-")[2]
    return int(number) if number.isdigit() else 0


def _alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        return True
    return True
