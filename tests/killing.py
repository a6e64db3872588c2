"""A method that ends the worker it runs on, where no wall hides that from it: a plug-in of the tests."""

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from paramid import Access, Claim, Oracle, Run, Spec


def is_worker(pid: int) -> bool:
    """Whether that process is one that a Dask nanny has started."""
    return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()


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
        pid = os.getpid()
        while pid > 1 and not is_worker(pid):
            pid = above(pid)
        os.kill(pid if pid > 1 else os.getpid(), signal.SIGKILL)
        yield from ()


METHODS = {"killing": Killing}
