"""What this machine has, as far as this process may use it: processor, cores, memory."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
UNLIMITED = float("inf")


def cpu_model() -> str:
    """The processor's own name."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def cores() -> int:
    """The cores this process may use: those it is bound to, or fewer where a container's quota says so."""
    bound = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return max(1, int(min(bound, quota())))


def quota(root: Path = CGROUPS, membership: Path = Path("/proc/self/cgroup")) -> float:
    """The cores' worth of time that the process' control groups leave it; infinite where none of them limits it."""
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return UNLIMITED
    groups = [line.split(":", 2)[1:] for line in lines if line.count(":") >= 2]
    return min((share for controllers, path in groups for share in _shares(root, controllers, path)), default=UNLIMITED)


def _shares(root: Path, controllers: str, path: str) -> Iterator[float]:
    """The quota of a control group and of all above it; version 2 has no name for its controllers."""
    if controllers and "cpu" not in controllers.split(","):
        return
    top = root / controllers if controllers else root
    if controllers and not top.is_dir():
        top = root / "cpu"
    inside = Path(path.lstrip("/"))
    for group in (top / inside, *(top / parent for parent in inside.parents)):  # the last is `top` itself
        if controllers:
            words = [_text(group / "cpu.cfs_quota_us"), _text(group / "cpu.cfs_period_us")]
        else:
            words = _text(group / "cpu.max").split()
        if len(words) == 2 and all(word.isdigit() and int(word) for word in words):
            yield int(words[0]) / int(words[1])


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def ram_mb() -> int:
    """Physical memory."""
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**20)
