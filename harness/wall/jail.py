"""What a method's process may not do, as far as this machine grants it: namespaces, a read-only disk, limits.

Every wall is tried once, by `granted`, in a process of its own. What is granted is put up around every cell that
follows; what is not is missing there too, and the records say so.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paramid.wall import syscalls

MB = 2**20
NAMESPACES = {"mounts": 0x20000, "user": 0x10000000, "pids": 0x20000000, "ipc": 0x8000000, "network": 0x40000000}
PRIVATE, BIND, EVERYTHING_BELOW, READ_ONLY, NO_SUID, NO_DEVICES = 0x44000, 0x1000, 0x4000, 1, 2, 4
MOUNT_SETATTR, HERE, RECURSIVE = 442, -100, 0x8000
NO_NEW_PRIVILEGES, DUMPABLE, DROP, AMBIENT, DEATH, SUBREAPER = 38, 4, 24, 47, 1, 36
CAPABILITIES = 41
VERSION_3 = 0x20080522  # of the call that sets capabilities
DOORS = (  # sockets in the file system, through which other programs of the machine would answer
    *("/run/docker.sock", "/run/containerd", "/run/podman", "/run/user", "/run/dbus", "/run/systemd"),
    "/tmp/.X11-unix",
)
DEVICES = ("null", "zero", "full", "random", "urandom", "nvidia*", "dri", "kfd")
SCRATCH_MB = 1024
THREAD_ROOM_MB = 512  # of addresses, for the stacks and arenas of threads
FILES, PROCESSES = 1024, 512


@dataclass(frozen=True)
class Plan:
    """The walls around one cell: those that this machine grants, and what they must know."""

    walls: tuple[str, ...] = ()
    scratch: str = ""
    folder: str = ""  # that may be written to, where the method needs a disk
    hidden: tuple[str, ...] = ()  # files and folders that are empty inside
    needs: tuple[str, ...] = ()  # "network" or "disk", where the method said so
    threads: int = 1
    memory_mb: float | None = None
    seconds: float | None = None
    addresses: bool = True  # whether the space of addresses is limited: not with CUDA, which maps all there is

    @classmethod
    def from_json(cls, plain: dict[str, Any], walls: tuple[str, ...], scratch: str) -> Plan:
        """What a supervisor wants, behind the walls that there are."""
        lists: dict[str, Any] = {name: tuple(plain[name]) for name in ("hidden", "needs")}
        return cls(**{**plain, **lists}, walls=walls, scratch=scratch)

    @property
    def told(self) -> str:
        """What records say of them; two processes stand everywhere."""
        always = ("processes", *(("privileges",) if sys.platform == "linux" else ()))
        needs = tuple(f"no {name}: it was needed" for name in self.needs)
        return ", ".join((*always, *(wall for wall in self.walls if wall not in self.needs), *needs))

    @property
    def has_group(self) -> bool:
        """Whether a control group is put around it."""
        return any(wall.startswith("cgroup") for wall in self.walls)

    def has(self, wall: str) -> bool:
        """Whether this wall is put up; a disk that is needed is a folder, and the rest stays as it is."""
        return wall in self.walls and (wall not in self.needs or wall == "disk")


def separate(plan: Plan) -> None:
    """Leave the machine's namespaces; children are born into the new ones."""
    flags = [flag for name, flag in NAMESPACES.items() if plan.has(name)]
    if not flags:
        return
    user, group = os.getuid(), os.getgid()
    _check(_libc().unshare(sum(flags)), "unshare")
    if plan.has("user"):
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def furnish(plan: Plan) -> None:
    """A disk that can be read only, but for a scratch folder in memory; what is hidden is empty."""
    if plan.has("user"):
        with suppress(OSError):  # no further namespaces from here on
            Path("/proc/sys/user/max_user_namespaces").write_text("0")
    if not plan.has("mounts"):
        return
    _mount("none", "/", "", PRIVATE)
    if plan.has("disk"):
        _read_only("/")
    if plan.has("pids"):
        _mount("proc", "/proc", "proc", READ_ONLY | NO_SUID | NO_DEVICES)
    if plan.has("disk"):
        _few_devices(plan.scratch)
    _mount("tmpfs", "/dev/shm", "tmpfs", NO_SUID | NO_DEVICES, f"size={SCRATCH_MB}m")
    Path(plan.scratch).mkdir(parents=True, exist_ok=True)  # where it was below /dev/shm it is gone
    _mount("tmpfs", plan.scratch, "tmpfs", NO_SUID | NO_DEVICES, f"size={SCRATCH_MB}m")
    if plan.folder:
        _read_only(plan.folder, clear=True)
    for path in dict.fromkeys(map(os.path.realpath, (*plan.hidden, *DOORS))):
        if Path(path).is_dir():
            _mount("tmpfs", path, "tmpfs", READ_ONLY | NO_SUID | NO_DEVICES, "size=4k")
        elif Path(path).exists():
            _mount(os.devnull, path, "", BIND)


def _few_devices(scratch: str) -> None:
    """A /dev of what computing needs: a read-only disk does not keep anybody from writing to the disk's own device."""
    _mount(
        "tmpfs", scratch, "tmpfs", NO_SUID, "size=64k,mode=755"
    )  # a sticky folder's devices open for their owners alone
    made = Path(scratch)
    (made / "shm").mkdir()
    for device in (d for pattern in DEVICES for d in Path("/dev").glob(pattern)):
        place = made / device.name
        if device.is_dir():
            place.mkdir()
        else:
            place.touch()
        _mount(str(device), str(place), "", BIND | EVERYTHING_BELOW)
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        (made / name).symlink_to(target)
    _mount(scratch, "/dev", "", BIND | EVERYTHING_BELOW)


def give_up_privileges() -> None:
    """No capability, none to be had again, and a memory that no sibling can look into."""
    if sys.platform != "linux":
        return
    libc = _libc()
    libc.prctl(AMBIENT, 4, 0, 0, 0)
    for capability in range(CAPABILITIES):
        libc.prctl(DROP, capability, 0, 0, 0)
    header, none = (ctypes.c_uint32 * 2)(VERSION_3, 0), (ctypes.c_uint32 * 6)()
    libc.capset(header, none)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    hide_memory()


def filter_calls(plan: Plan) -> None:
    """No system call that no method needs."""
    if plan.has("calls"):
        syscalls.filtered(network="network" in plan.needs)


def hide_memory() -> None:
    """What this process holds cannot be read through /proc or by ptrace, except by who may do anything."""
    if sys.platform == "linux":
        _libc().prctl(DUMPABLE, 0, 0, 0, 0)


def die_with_parent(number: int = 9) -> None:
    """Killed, or sent that signal, when the process that forked this one ends."""
    if sys.platform == "linux":
        _libc().prctl(DEATH, number, 0, 0, 0)


def adopt_orphans() -> None:
    """Descendants whose parents have ended become children of this process."""
    if sys.platform == "linux":
        _libc().prctl(SUBREAPER, 1, 0, 0, 0)


def children(pid: int) -> list[int]:
    """The children of a process, where /proc tells."""
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, file.read_text().split())
    return found


def end_descendants() -> None:
    """Kill the children of this process, and those that it adopts of them."""
    while left := children(os.getpid()):
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, 9)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def limit(plan: Plan) -> None:
    """What the process may still allocate, open and start."""
    limits = {"CORE": 0, "NOFILE": FILES, "FSIZE": SCRATCH_MB * MB}
    if plan.has("user") and os.getuid():
        limits["NPROC"] = PROCESSES
    if plan.seconds is not None:
        limits["CPU"] = int(plan.seconds * (os.cpu_count() or 1)) + 60
    if plan.memory_mb is not None and sys.platform == "linux":
        limits["DATA"] = int(plan.memory_mb * MB)
        if plan.addresses:
            limits["AS"] = _addresses() + int((plan.memory_mb + THREAD_ROOM_MB) * MB)
    for name, wanted in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        _, hard = resource.getrlimit(kind)
        allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (allowed, allowed))


def granted(scratch: str) -> tuple[str, ...]:
    """The walls that this machine grants, tried in processes of their own."""
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        return ()
    everything = (*NAMESPACES, "disk", "calls")
    without_user = tuple(name for name in everything if name != "user")
    for walls in (everything, without_user):
        if _stands(Plan(walls, scratch)):
            return walls
    alone = coherent(name for name in without_user if _stands(Plan((name,), scratch)))
    return alone if _stands(Plan(alone, scratch)) else ()


def coherent(walls: Iterable[str]) -> tuple[str, ...]:
    """Those that can stand: without mounts the disk cannot be changed, and /proc would tell of other processes.

    Who is not root has namespaces in one of users alone.
    """
    wanted = tuple(walls)
    if os.geteuid() and "user" not in wanted:
        wanted = tuple(wall for wall in wanted if wall not in (*NAMESPACES, "disk"))
    return wanted if "mounts" in wanted else tuple(wall for wall in wanted if wall not in ("disk", "pids"))


def _stands(plan: Plan) -> bool:
    """Whether a process can be put behind these walls."""

    def inside() -> None:
        furnish(plan)
        give_up_privileges()
        if plan.has("calls") and not syscalls.filtered(network=False):
            raise OSError("no filter of system calls")

    def outside() -> None:
        separate(plan)
        if not _well(inside):
            raise OSError("the inner process failed")

    return _well(outside)


def _well(work: Callable[[], None]) -> bool:
    if (child := os.fork()) == 0:
        code = 1
        with suppress(BaseException):
            work()
            code = 0
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _addresses() -> int:
    """The bytes of addresses in use."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(code: int, what: str) -> None:
    if code:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    words = (os.fsencode(text) or None for text in (source, target, kind))
    _check(_libc().mount(*words, ctypes.c_ulong(flags), data.encode() or None), f"mount on {target}")


def _read_only(path: str, *, clear: bool = False) -> None:
    if clear:
        _mount(path, path, "", BIND)
    attributes = (ctypes.c_uint64 * 4)(0 if clear else READ_ONLY, READ_ONLY if clear else 0, 0, 0)
    code = _libc().syscall(MOUNT_SETATTR, HERE, os.fsencode(path), RECURSIVE, attributes, ctypes.sizeof(attributes))
    _check(code, f"read-only {path}")
