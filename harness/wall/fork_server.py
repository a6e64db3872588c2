"""A fork server: one process that has imported what its children need and forks one for every cell.

Run as `python -m paramid.wall.fork_server FD FOLDER MODULE:FUNCTION`, the folder being for the cells' temporary files.
Three words more are a second server, which goes on in a fork of this one: both share what was imported until then, and
the first knows nothing of what the second imports after it. The module is imported once, before anything is known of a
cell. Over the socket FD comes, for every cell, one byte with descriptors, the first of them the cell's own channel; the
child calls the function with that channel, the other descriptors and a folder of its own. The server adds `forked` and
`exit` to the channel. When FD closes, every child is killed: no orphan outlives its supervisor.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from paramid.wall import cgroups, jail
from paramid.wall.keeper import group_name
from paramid.wall.messages import send

Child = Callable[[socket.socket, list[int], Path], object]
DESCRIPTORS = 4  # of a cell, at most
spared: set[int] = set()  # children that are no cell's: the other server


def serve(control: socket.socket, scratch: Path, child: Child) -> None:
    """Fork children until the other end of `control` closes."""
    woken, wake = os.pipe()
    sources: list[socket.socket | int] = [control, woken]
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    jail.adopt_orphans()
    children: dict[int, socket.socket] = {}
    try:
        while True:
            ready, _, _ = select.select(sources, [], [])
            if woken in ready:
                os.read(woken, 4096)
                report_ended(children, scratch)
            if control in ready:
                message, descriptors, _, _ = socket.recv_fds(control, 1, DESCRIPTORS)
                if not message:
                    return
                ours = [woken, wake, control.fileno(), *(other.fileno() for other in children.values())]
                pid, channel = fork_child(child, descriptors, ours, scratch)
                children[pid] = channel
    finally:
        for pid in children:
            _kill(pid)
        kill_escaped(set())
        for pid in children:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
            cgroups.remove(group_name(pid))
        remove(scratch)


def fork_child(child: Child, descriptors: list[int], ours: list[int], scratch: Path) -> tuple[int, socket.socket]:
    """Fork one child, which sees none of the descriptors in `ours`: other cells' channels are among them."""
    first, *others = descriptors
    channel = socket.socket(fileno=first)
    pid = os.fork()
    if pid == 0:
        signal.set_wakeup_fd(-1)
        for descriptor in ours:
            os.close(descriptor)
        run_child(child, channel, others, scratch)
    for descriptor in others:
        os.close(descriptor)
    with suppress(OSError):  # its supervisor may have closed the channel already: the child ends by itself
        send(channel, {"event": "forked", "pid": pid})
    return pid, channel


def report_ended(children: dict[int, socket.socket], scratch: Path) -> None:
    """Report the exit of every child that has ended, and remove what it left behind."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        kill_escaped(set(children))
        if pid not in children:  # one of them
            continue
        _kill(pid)
        cgroups.remove(group_name(pid))
        remove(scratch / str(pid))
        with children.pop(pid) as channel, suppress(OSError):  # nobody may be listening any more
            send(channel, {"event": "exit", "code": os.waitstatus_to_exitcode(status)})


def remove(folder: Path) -> None:
    """Remove a folder, however deep somebody has made it."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:
        subprocess.run(["rm", "-rf", "--", str(folder)], check=False, stderr=subprocess.DEVNULL)


def kill_escaped(children: set[int]) -> None:
    """Kill every process that left a cell's session: when its parent ended, the kernel handed it to this one."""
    for pid in set(jail.children(os.getpid())) - children - spared:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def run_child(child: Child, channel: socket.socket, descriptors: list[int], scratch: Path) -> NoReturn:
    """The child: its own session and folder, then its work."""
    code = 1
    try:
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        folder = scratch / str(os.getpid())
        folder.mkdir()
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
        child(channel, descriptors, folder)
        code = 0
    except BaseException:
        with suppress(BaseException):
            traceback.print_exc()
    finally:
        with suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _kill(session: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(session, signal.SIGKILL)


def main(descriptor: str, folder: str, work: str, *second: str) -> None:
    """Import what the first server needs; serve, and let another process go on as the second."""
    module = import_module(work.partition(":")[0])
    control = socket.socket(fileno=int(descriptor))
    if second and (other := os.fork()) == 0:
        control.close()
        os.setsid()
        return main(*second)
    if second:
        os.close(int(second[0]))
        spared.add(other)
    if hasattr(module, "prepare"):
        module.prepare(Path(folder))
    serve(control, Path(folder), getattr(module, work.partition(":")[2]))
    return None


if __name__ == "__main__":
    main(*sys.argv[1:])
