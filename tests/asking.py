"""Methods that ask for rows and then end in some way, or look at what their process holds: a plug-in of the tests."""

import ctypes
import os
import pathlib
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from paramid import Access, Function, Oracle, Run, Spec

HASH = 0x9E3779B97F4A7C15  # odd: multiplication by it hides a number from who does not multiply back
KNOWN = 0x5EED5EED5EED5EED  # what a search must find


@dataclass(frozen=True)
class Asks:
    """Asks `rows` rows one by one, claims in between, and ends."""

    rows: int = 7
    how: str = "hangs"
    version: ClassVar[int] = 1
    access: ClassVar = frozenset({Access.QUERIES})

    def declines(self, spec: Spec) -> str | None:
        return None

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Function]:
        for number in range(self.rows):
            oracle.query(run.normal(1, oracle.spec.inputs))
            if number == self.rows // 2:
                yield Function(lambda x: x[:, :1])
        getattr(self, self.how)()

    def hangs(self) -> None:
        time.sleep(3600)

    def segfaults(self) -> None:
        ctypes.string_at(0)

    def kills_itself(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def eats(self) -> None:
        held = []
        while True:
            held.append(bytearray(2**26))

    def shares(self) -> None:
        import mmap

        held = []
        while True:
            held.append(mmap.mmap(-1, 2**27))
            held[-1].write(b"x" * 2**27)

    def leaves(self) -> None:
        os._exit(3)


@dataclass(frozen=True)
class Searches:
    """Looks for eight-byte numbers, told by their products with HASH, in all that its process holds."""

    needles: str = ""
    version: ClassVar[int] = 1
    access: ClassVar = frozenset({Access.QUERIES})

    def declines(self, spec: Spec) -> str | None:
        return None

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Function]:
        oracle.query(run.normal(100, oracle.spec.inputs))
        wanted = np.array([int(n) for n in self.needles.split("-")], dtype=np.uint64)
        planted = np.full(100, KNOWN ^ 0, dtype=np.uint64)
        found = set(map(int, wanted[[bool(hit) for hit in searched(wanted)]]))
        stats = {str(n): float(n in found) for n in map(int, wanted)}
        places = [str(pathlib.Path(f"/proc/self/fd/{fd}").readlink()) for fd in descriptors()]
        print("ENVIRONMENT", sorted(os.environ))  # noqa: T201 -- what the test reads
        print("DESCRIPTORS", [p for p in places if not p.startswith(("pipe:", "/dev/null"))])  # noqa: T201
        yield Function(lambda x: x[:, :1] + 0 * float(planted[0] & np.uint64(1)), stats=stats)


def descriptors() -> Iterator[int]:
    for fd in range(256):
        with suppress(OSError):
            os.fstat(fd)
            yield fd


def searched(wanted: np.ndarray) -> np.ndarray:
    """Which of the numbers stand anywhere in this process' memory, at any byte."""
    hits = np.zeros(len(wanted), dtype=bool)
    with pathlib.Path("/proc/self/mem").open("rb", buffering=0) as memory:
        for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
            where, rights, *_, inode = line.split()[:5]
            if "r" not in rights or ("w" not in rights and inode != "0"):
                continue  # a file that nobody has written to
            first, last = (int(part, 16) for part in where.split("-"))
            for begin in range(first, last, 2**24):
                with suppress(OSError, ValueError, OverflowError):
                    memory.seek(begin)
                    hits |= seen(memory.read(min(2**24 + 8, last - begin)), wanted)
    return hits


def seen(block: bytes, wanted: np.ndarray) -> np.ndarray:
    hits = np.zeros(len(wanted), dtype=bool)
    for shift in range(8):
        count = (len(block) - shift) // 8
        words = np.frombuffer(block, dtype=np.uint64, count=count, offset=shift) * np.uint64(HASH)
        hits |= np.isin(wanted, words)
    return hits


@dataclass(frozen=True)
class Needs(Asks):
    """Keeps a file, and calls somebody, as it said."""

    port: int = 0
    needs: ClassVar = frozenset({"disk", "network"})

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Function]:
        kept = pathlib.Path(os.environ["PARAMID_DISK"]) / "kept"
        before = kept.exists()
        kept.write_text("of the first run")
        with suppress(OSError):
            (kept.parent.parent / "beside").write_text("of nobody")
            raise RuntimeError("more than its own folder can be written to")
        socket.create_connection(("127.0.0.1", self.port), 5).close()
        yield Function(lambda x: x[:, :1], stats={"before": float(before)})


METHODS = {"needs": Needs, "asks": Asks, "searches": Searches}
