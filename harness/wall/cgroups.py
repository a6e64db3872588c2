"""A control group around one cell, where this user may make one: memory with shared maps, processes, CPU seconds.

Version 1 has a tree for each controller, version 2 one for all; a machine may have both. A group is made beside or
below the one that this process is in, and named after the process that leads the cell.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
MOST_PROCESSES = 512
LIMITS = {  # controller -> file of version 1 and of version 2, and the unit of a megabyte
    "memory": ("memory.limit_in_bytes", "memory.max"),
    "pids": ("pids.max", "pids.max"),
}


@dataclass
class Group:
    """The folders of one cell's group by controller, and what stays open of them when the disk is out of reach."""

    folders: dict[str, Path] = field(default_factory=dict)
    doors: list[int] = field(default_factory=list)  # a process that writes 0 to them joins
    clock: int = -1
    kills: int = -1
    peak: int = -1

    @classmethod
    def made(cls, name: str, memory_mb: float | None) -> Group:
        """A group of that name with as many controllers as can be had."""
        made = cls()
        for controller, parent in parents():
            folder = parent / name
            try:
                folder.mkdir(exist_ok=True)
                made._limited(controller, folder, memory_mb)
                made.doors.append(os.open(folder / "cgroup.procs", os.O_WRONLY))
            except OSError:
                with suppress(OSError):
                    folder.rmdir()
                continue
            made.folders[controller] = folder
        made._opened()
        return made

    def _limited(self, controller: str, folder: Path, memory_mb: float | None) -> None:
        wanted = {"memory": None if memory_mb is None else int(memory_mb * 2**20), "pids": MOST_PROCESSES}
        for name in LIMITS if controller == "all" else (controller,):
            if name in LIMITS and wanted[name] is not None:
                file = folder / LIMITS[name][controller == "all"]
                if controller != "all" or file.exists():
                    file.write_text(str(wanted[name]))

    def _opened(self) -> None:
        for controller, clock, kills, peak in (
            ("all", "cpu.stat", "memory.events", "memory.peak"),
            ("cpuacct", "cpuacct.usage", "", ""),
            ("memory", "", "memory.oom_control", "memory.max_usage_in_bytes"),
        ):
            for name, file in (("clock", clock), ("kills", kills), ("peak", peak)):
                with suppress(OSError, KeyError):
                    if file and getattr(self, name) < 0:
                        setattr(self, name, os.open(self.folders[controller] / file, os.O_RDONLY))

    @property
    def names(self) -> tuple[str, ...]:
        """The limits that hold."""
        whole = self.folders.get("all")
        return tuple(n for n, files in LIMITS.items() if n in self.folders or (whole and (whole / files[1]).exists()))

    def join(self) -> None:
        """Put this process in."""
        for door in self.doors:
            os.write(door, b"0")
            os.close(door)

    def cpu_seconds(self) -> float | None:
        """What all that ever were in it have used; None where nobody counts."""
        if self.clock < 0:
            return None
        words = _text(self.clock).split()
        return int(words[1]) / 1e6 if words[0] == "usage_usec" else int(words[0]) / 1e9

    def peak_mb(self) -> float:
        """The most memory that all in it have held at once, files in memory included; 0 where nobody counts."""
        return 0.0 if self.peak < 0 else int(_text(self.peak)) / 2**20

    def out_of_memory(self) -> bool:
        """Whether the kernel ended a process of it for want of memory."""
        if self.kills < 0:
            return False
        rows = dict(line.split()[:2] for line in _text(self.kills).splitlines())
        return rows.get("oom_kill", "0") != "0"


def parents() -> Iterator[tuple[str, Path]]:
    """Controllers, "all" being those of version 2, and the folders in which this process may make a group."""
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            inside = path.lstrip("/")
            for controller in controllers.split(","):
                if controller in ("memory", "pids", "cpuacct"):
                    yield controller, next(p for p in (ROOT / controller / inside, ROOT / controller) if p.is_dir())
            if not controllers:
                top = ROOT / "unified" if (ROOT / "unified").is_dir() else ROOT
                own = top / inside
                yield "all", own if own == top else own.parent  # a group with processes in it has no groups below


def remove(name: str) -> None:
    """Remove a group whose processes have ended."""
    for _, parent in parents():
        with suppress(OSError):
            (parent / name).rmdir()


def sweep() -> None:
    """Remove the groups of cells that were killed with their server: their names end with a process that is gone."""
    for _, parent in parents():
        for left in parent.glob("paramid-*"):
            with suppress(OSError, ValueError):
                if not Path(f"/proc/{int(left.name.rpartition('-')[2])}").exists():
                    left.rmdir()


def granted(name: str) -> tuple[str, ...]:
    """The limits that a group of this user's would have: "cgroup memory", "cgroup pids"."""
    made = Group.made(name, None)
    names = tuple(f"cgroup {limit}" for limit in made.names)
    for descriptor in (*made.doors, made.clock, made.kills, made.peak):
        if descriptor >= 0:
            os.close(descriptor)
    remove(name)
    return names


def _text(descriptor: int) -> str:
    return os.pread(descriptor, 4096, 0).decode()
