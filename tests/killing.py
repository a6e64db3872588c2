"""A method that ends the worker it runs on, where no wall hides that from it: a plug-in of the tests."""

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from paramid import Access, Claim, Oracle, Run, Spec


def workers() -> list[int]:
    """The Dask workers of this machine whose environment has the mark of this one's."""
    mark, found = f"PARAMID_MARK={os.environ['PYTHON_MARK']}\0".encode(), []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes() and b"spawn_main" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def above(pid: int) -> int:
    """Its parent."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@dataclass(frozen=True)
class Killing:
    """Kills its worker."""

    version: ClassVar[int] = 1
    access: ClassVar = frozenset({Access.QUERIES})

    def declines(self, spec: Spec) -> str | None:
        """Never."""

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Go up until a worker is found."""
        known, pid = set(workers()), os.getpid()
        while pid > 1 and pid not in known:
            pid = above(pid)
        os.kill(pid if pid > 1 else os.getpid(), signal.SIGKILL)
        yield from ()


METHODS = {"killing": Killing}
