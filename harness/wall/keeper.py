"""The keeper of one cell: builds the jail, starts the method's process in it, stops it, lets it go on, ends it.

    clean server ── fork ──> keeper outside ── fork ──> keeper inside, the first process of its namespace
                                                          └── fork ──> the method's process

Where there is no namespace of processes the two keepers are one, which adopts what loses its parent. Orders come from
the warden, a byte each: `s` stop all, `c` continue, `k` kill all and say what they have used. When the warden's end
closes, all are killed.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

# The public words, and what many methods need, imported once, so that a method's process has them as it has torch.
import scipy.optimize  # noqa: F401

from paramid.wall import cgroups, jail, method_process
from paramid.wall.jail import Plan
from paramid.wall.messages import receive, send
from paramid.words import densenet, hermite, network, threshold_units  # noqa: F401 -- likewise

TOKEN = os.urandom(4).hex()  # of a server and its children: a number of a process comes again
STUBBORN = 2.0  # seconds to have everything stand still
AWAKE = 0.05  # seconds of a processor that what stands still may be charged with
MOST_DESCRIPTORS = 2**16  # that a process of the harness may have
_granted: tuple[str, ...] = ()  # by this machine


def prepare(scratch: Path) -> None:
    """Once, in the server that forks keepers: what this machine grants, of what PARAMID_WALLS names where it is set."""
    global _granted
    cgroups.sweep()
    _granted = (*jail.granted(str(scratch)), *cgroups.granted(group_name(os.getpid())))
    if (wanted := os.environ.get("PARAMID_WALLS")) is not None:
        _granted = jail.coherent(wall for wall in _granted if wall in wanted.split(","))


def keep(channel: socket.socket, descriptors: list[int], scratch: Path) -> None:
    """The life of a cell's keeper; `descriptors` are where the method prints and its end of the link."""
    for stream in (1, 2):
        os.dup2(descriptors[0], stream)
    request, _ = receive(channel)
    plan = Plan.from_json(request, _granted, str(scratch))
    send(channel, {"event": "walls", "walls": plan.told})
    group = cgroups.Group.made(group_name(os.getpid()), plan.memory_mb) if plan.has_group else cgroups.Group()
    jail.separate(plan)
    if plan.has("pids") and (inside := os.fork()):
        channel.close()
        for descriptor in (*descriptors, *group.doors):
            os.close(descriptor)
        _leave_as(inside)
    if plan.has("pids"):
        jail.die_with_parent()
    else:
        jail.adopt_orphans()
    jail.furnish(plan)
    jail.give_up_privileges()
    woken = _wakes()
    if (method := os.fork()) == 0:
        _become_method(plan, group, channel, descriptors, woken)
    for descriptor in descriptors:
        os.close(descriptor)
    Keeper(channel, method, group, plan.has("pids")).serve(woken[0])


def group_name(pid: int) -> str:
    """The control group of the cell whose keeper that is."""
    return f"paramid-{TOKEN}-{pid}"


def _wakes() -> tuple[int, int]:
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return woken, wake


def _leave_as(inside: int) -> NoReturn:
    """Wait for the inner keeper, and end as it did."""
    _, status = os.waitpid(inside, 0)
    os._exit(max(0, os.waitstatus_to_exitcode(status)))


def _become_method(
    plan: Plan, group: cgroups.Group, channel: socket.socket, descriptors: list[int], woken: tuple[int, int]
) -> NoReturn:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    output, link = descriptors
    group.join()
    channel.close()
    for stream in (1, 2):
        os.dup2(output, stream)
    for descriptor in (output, *woken, group.clock, group.kills, group.peak):
        if descriptor >= 0:
            os.close(descriptor)
    os.setsid()
    os.closerange(3, link)
    os.closerange(link + 1, MOST_DESCRIPTORS)
    if plan.folder:
        os.environ["PARAMID_DISK"] = plan.folder
    jail.limit(plan)
    jail.filter_calls(plan)
    os._exit(method_process.work(socket.socket(fileno=link), plan.threads))


def stands(pid: int) -> bool:
    """Whether a process is stopped or has ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return sys.platform != "linux" or not Path(f"/proc/{pid}").exists()
    return state in "TtZX"


def ticks(pid: int) -> int:
    """What a process has used of a processor."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


@dataclass
class Keeper:
    """The keeper at work."""

    channel: socket.socket
    method: int
    group: cgroups.Group
    own_namespace: bool
    code: int | None = None
    stood: float | None = None  # seconds of a processor used until all stood still
    awoke: bool = False  # and more since then

    def serve(self, woken: int) -> None:
        """Follow the warden's orders until it has what it wants to know."""
        while True:
            sources: list[socket.socket | int] = [self.channel, woken]
            ready, _, _ = select.select(sources, [], [])
            if woken in ready:
                os.read(woken, 4096)
                self.reap()
                if self.code is not None:
                    return self.end()
            if self.channel in ready:
                order = self.order()
                if order == b"s":
                    if not self.stopped():
                        return self.end()
                    self.stood = self.used()
                    send(self.channel, {"event": "stopped"})
                elif order == b"c" and self.still():
                    send(self.channel, {"event": "going"})
                    self.signal_all(signal.SIGCONT)
                else:
                    return self.end()

    def still(self) -> bool:
        """Whether nothing has worked since all stood still."""
        self.awoke |= self.stood is not None and self.used() - self.stood > AWAKE
        self.stood = None
        return not self.awoke

    def used(self) -> float:
        """Seconds of a processor of all that are there, or ever were where there is a group."""
        seconds = self.group.cpu_seconds()
        return sum(map(ticks, self.descendants())) / os.sysconf("SC_CLK_TCK") if seconds is None else seconds

    def stopped(self) -> bool:
        """Stop all; whether all stand still. Processes may wake each other: they are looked at twice."""
        until = time.monotonic() + STUBBORN
        still = 0
        while still < 2 and time.monotonic() < until:
            self.signal_all(signal.SIGSTOP)
            others = self.descendants()
            still = still + 1 if all(map(stands, others)) else 0
            if still and len(others) == 1:  # nobody is there to wake it
                return True
        return still == 2

    def order(self) -> bytes:
        """What the warden wants; nothing where it is gone."""
        try:
            return self.channel.recv(1)
        except OSError:
            return b""

    def end(self) -> None:
        """Kill all, and report."""
        self.still()
        until = time.monotonic() + 5
        while self.reap() and time.monotonic() < until:
            self.signal_all(signal.SIGKILL)
            time.sleep(0.0005)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = self.group.cpu_seconds()
        report = {
            "event": "left",
            "code": self.code,
            "peak_mb": max(used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10), self.group.peak_mb()),
            "cpu_seconds": used.ru_utime + used.ru_stime if seconds is None else seconds,
            "out_of_memory": self.group.out_of_memory(),
            "awoke": self.awoke,
        }
        with suppress(OSError):  # nobody may be listening any more
            send(self.channel, report)

    def reap(self) -> bool:
        """Take note of what has ended; whether anything is left."""
        while True:
            try:
                pid, status, _ = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.method:
                self.code = os.waitstatus_to_exitcode(status)

    def signal_all(self, number: int) -> None:
        """Send a signal to the method's process and all that came of it."""
        if self.own_namespace:
            with suppress(ProcessLookupError):
                os.kill(-1, number)
            return
        seen: set[int] = set()
        while new := set(self.descendants()) - seen:  # those that were forked meanwhile are in the next look
            for pid in new:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
            seen |= new

    def descendants(self) -> list[int]:
        """The method's process and all below it."""
        if sys.platform != "linux":
            return [self.method]
        if self.own_namespace:
            return [int(place.name) for place in Path("/proc").iterdir() if place.name.isdigit() and place.name != "1"]
        found, waiting = [], [os.getpid()]
        while waiting:
            waiting += (below := jail.children(waiting.pop()))
            found += below
        return found
