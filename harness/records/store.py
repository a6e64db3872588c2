"""The store: an append-only folder of records that a person, git and pandas can read.

    cells/<key>-<attempt>.json    one record
    claims/<key>-<attempt>.npz    its last claim, so that metrics can be computed again
    runs/<id>.json                where and with what a command ran
    lock                          empty: commands that write at once lock the cells they work on, byte by byte

A file appears whole or not at all (temporary file, fsync, link), and never replaces another.
"""

from __future__ import annotations

import fcntl
import glob
import hashlib
import json
import os
import platform
import re
import uuid
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from paramid.records.record import SCHEMA, Outcome, Record, dump
from paramid.words.naming import UsageError

NODE = re.sub(r"\W", "-", platform.node())  # this machine, where several write to one disk


class StoreError(RuntimeError):
    """A store that cannot be written to; what it holds is untouched."""


class Store:
    """Records on disk. `warn` is told of every file that cannot be read."""

    def __init__(self, folder: str | Path, warn: Callable[[str], None] = lambda _: None) -> None:
        self.folder, self._warn = Path(folder).resolve(), warn
        self._lock: int | None = None

    @classmethod
    def existing(cls, folder: str | Path, warn: Callable[[str], None] = lambda _: None) -> Store:
        """A store that must be there already."""
        if not (Path(folder) / "cells").is_dir():
            raise UsageError(f"no store at {folder}: a folder that `paramid compare --store` wrote was wanted")
        return cls(folder, warn)

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where it keeps what it holds."""
        return tuple(self.folder / name for name in ("cells", "claims", "runs"))

    @property
    def private(self) -> tuple[Path, ...]:
        """What no method is to see: what it holds, and the lock by which commands wait for each other."""
        return (*self.folders, self.folder / "lock")

    def open(self) -> Store:
        """Make the folders, and sweep up what a killed command left half-written."""
        with self._writing():
            for folder in self.folders:
                folder.mkdir(parents=True, exist_ok=True)
                for left in folder.glob(".*.tmp"):
                    if _abandoned(left.name.split(".")[1]):
                        left.unlink(missing_ok=True)
            self._lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o666)
        weakref.finalize(self, os.close, self._lock)
        return self

    @contextmanager
    def alone(self, key: str) -> Iterator[bool]:
        """Whether no other command works on that cell; until the block ends, none will. A killed command lets go."""
        assert self._lock is not None, "an opened store was wanted"
        byte = int(hashlib.sha256(key.encode()).hexdigest()[:15], 16)
        try:
            fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        except BlockingIOError:
            yield False
            return
        try:
            yield True
        finally:
            fcntl.lockf(self._lock, fcntl.LOCK_UN, 1, byte)

    def start_run(self, provenance: Mapping[str, object]) -> str:
        """Keep a run's provenance and give its id."""
        run = f"{str(provenance['started'])[:19].replace(':', '')}-{uuid.uuid4().hex[:6]}"
        self._write(self.folder / "runs" / f"{run}.json", (dump({**provenance, "run": run}, indent=1) + "\n").encode())
        return run

    def add(self, outcome: Outcome) -> None:
        """Store a record as the next attempt of its key; the claim goes first, so that a record never lacks it."""
        key = outcome.record.key
        text = (dump(outcome.record.to_json(), indent=1) + "\n").encode()
        for attempt in count(self.attempts(key) + 1):
            claim = self.folder / "claims" / f"{key}-{attempt}.npz"
            if outcome.claim and not self._write(claim, outcome.claim):
                continue
            try:
                if self._write(self.folder / "cells" / f"{key}-{attempt}.json", text):
                    return
            except StoreError:
                if outcome.claim:
                    claim.unlink(missing_ok=True)
                raise
            if outcome.claim:  # somebody else's record got that number
                claim.unlink(missing_ok=True)

    def attempts(self, key: str) -> int:
        """How many attempts a key has had: damaged records and claims without one take a number too."""
        taken = ("cells", "json"), ("cells", "damaged"), ("claims", "npz")
        number = 0
        while any((self.folder / part / f"{key}-{number + 1}.{end}").exists() for part, end in taken):
            number += 1
        return number

    def find(self, key: str) -> Record | None:
        """The newest readable record of a key; a damaged one is set aside."""
        for attempt in range(self.attempts(key), 0, -1):
            if (record := self._read(self.folder / "cells" / f"{key}-{attempt}.json")) is not None:
                return record
        return None

    def records(self) -> list[Record]:
        """The newest readable record of every key."""
        return self.matching("")

    def matching(self, prefix: str) -> list[Record]:
        """The newest readable records whose key starts so."""
        paths = (self.folder / "cells").glob(f"{glob.escape(prefix)}*.json")
        latest: dict[str, Record] = {}
        for path in sorted(paths, key=lambda p: (_attempt(p), p.name), reverse=True):
            key = path.stem.rpartition("-")[0]
            if key not in latest and (record := self._read(path)) is not None:
                latest[key] = record
        return list(latest.values())

    def _read(self, path: Path) -> Record | None:
        """The record of a file, or None: what is no record is set aside, a newer schema waits for its reader."""
        try:
            plain = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(plain, dict) and isinstance(plain.get("schema"), int) and plain["schema"] > SCHEMA:
                self._warn(f"{path} has schema {plain['schema']}, this version reads {SCHEMA}; left as it is")
                return None
            record = Record.from_json(plain)
            if record.key != path.stem.rpartition("-")[0]:
                raise ValueError(f"holds key {record.key}")
        except FileNotFoundError:
            return None
        except OSError as error:
            self._warn(f"{path} cannot be read ({error.strerror}); passed over")
            return None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            self._warn(f"{path} cannot be read ({str(error).splitlines()[0]}); {self._set_aside(path)}")
            return None
        return record

    @staticmethod
    def _set_aside(path: Path) -> str:
        try:
            path.rename(path.with_suffix(".damaged"))
        except OSError:  # a disk that cannot be written to
            return "passed over"
        return "set aside"

    def _write(self, path: Path, content: bytes) -> bool:
        """Whether the file is ours: False when another command wrote it first."""
        partial = path.with_name(f".{os.getpid()}@{NODE}.{uuid.uuid4().hex[:8]}.tmp")
        with self._writing():
            try:
                with partial.open("wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                os.link(partial, path)
            except FileExistsError:
                return False
            finally:
                with suppress(OSError):
                    partial.unlink(missing_ok=True)
        return True

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            kept = "; what it holds is safe, and the same command goes on from there"
            held = kept if (self.folder / "cells").is_dir() else ""
            raise StoreError(f"the store {self.folder} cannot be written: {error.strerror}{held}") from error


def _attempt(path: Path) -> int:
    number = path.stem.rpartition("-")[2]
    return int(number) if number.isdigit() else 0


def _abandoned(writer: str) -> bool:
    """Whether a `pid@node` has ended; of another machine's that shares this disk nobody knows."""
    pid, _, node = writer.partition("@")
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, ValueError):
        return node in ("", NODE)
    except PermissionError:
        return False
    return False
