"""The fork server: one process that has imported everything once and forks a child for every cell.

Run as `python -m paramid.running.fork_server FD FOLDER`, the folder being for the cells' temporary files. Over the
socket FD comes, for every cell, one byte with two descriptors: the cell's socket and the pipe for what it prints. The
child reads its request from the cell's socket and reports events there; the server adds `forked` and `exit`. When FD
closes, every child is killed: no orphan outlives its supervisor. What a cell leaves behind, processes that left its
session and temporary files alike, ends with it.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import shutil
import signal
import socket
import sys
import tempfile
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

# Imported here, once, so that a forked child has them: torch, scipy's assignment, the judge.
from paramid.running import inside_cell
from paramid.running.cell import Cell
from paramid.running.error_statuses import ending
from paramid.running.messages import receive, send

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def serve(control: socket.socket, scratch: Path) -> None:
    """Fork children until the other end of `control` closes."""
    woken, wake = os.pipe()
    sources: list[socket.socket | int] = [control, woken]
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    _prctl(PR_SET_CHILD_SUBREAPER)
    children: dict[int, socket.socket] = {}
    try:
        while True:
            ready, _, _ = select.select(sources, [], [])
            if woken in ready:
                os.read(woken, 4096)
                report_ended(children, scratch)
            if control in ready:
                message, descriptors, _, _ = socket.recv_fds(control, 1, 2)
                if not message:
                    return
                ours = [woken, wake, control.fileno(), *(other.fileno() for other in children.values())]
                cell_fd, output_fd = descriptors
                pid, cell_socket = fork_child(cell_fd, output_fd, ours, scratch)
                children[pid] = cell_socket
    finally:
        for pid in children:
            _kill(pid)
        kill_escaped(set())
        shutil.rmtree(scratch, ignore_errors=True)


def fork_child(cell_fd: int, output_fd: int, ours: list[int], scratch: Path) -> tuple[int, socket.socket]:
    """Fork one child, which sees none of the descriptors in `ours`: other cells' channels are among them."""
    cell_socket = socket.socket(fileno=cell_fd)
    pid = os.fork()
    if pid == 0:
        signal.set_wakeup_fd(-1)
        for descriptor in ours:
            os.close(descriptor)
        run_child(cell_socket, output_fd, scratch)
    os.close(output_fd)
    try:
        send(cell_socket, {"event": "forked", "pid": pid})
    except OSError:  # its supervisor has closed the channel already
        os.kill(pid, signal.SIGKILL)
    return pid, cell_socket


def report_ended(children: dict[int, socket.socket], scratch: Path) -> None:
    """Report the exit of every child that has ended, and kill what it left behind."""
    while True:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        kill_escaped(set(children))
        if pid not in children:  # one of them
            continue
        _kill(pid)
        shutil.rmtree(scratch / str(pid), ignore_errors=True)
        code = os.waitstatus_to_exitcode(status)
        peak = usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
        with children.pop(pid) as cell_socket, suppress(OSError):  # nobody may be listening any more
            send(cell_socket, {"event": "exit", "code": code, "peak_mb": peak})


def kill_escaped(children: set[int]) -> None:
    """Kill every process that left a cell's session: when its parent ended, the kernel handed it to this one."""
    task = Path(f"/proc/self/task/{os.getpid()}/children")
    with suppress(OSError):
        for pid in set(map(int, task.read_text().split())) - children:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def run_child(cell_socket: socket.socket, output_fd: int, scratch: Path) -> NoReturn:
    """The child: read the request, handle it, exit."""
    code = 1
    try:
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        for stream in (1, 2):
            os.dup2(output_fd, stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        use_folder(scratch / str(os.getpid()))
        request, payload = receive(cell_socket)
        handle(cell_socket, request, payload)
        code = 0
    except BaseException:  # what a method leaves with, such as SystemExit, is among the last lines it printed
        with suppress(BaseException):
            traceback.print_exc()
    finally:
        with suppress(BaseException):  # the method may have closed or replaced them
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def use_folder(folder: Path) -> None:
    """Temporary files of the cell go to a folder of its own."""
    folder.mkdir()
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)


def handle(cell_socket: socket.socket, request: dict[str, Any], payload: bytes) -> None:
    """Call the function of a request, `module:name` of this package, with the cell and what reports its events."""
    cell = Cell(
        **{
            **request["cell"],
            "plugins": tuple(p if isinstance(p, str) else tuple(p) for p in request["cell"]["plugins"]),
        }
    )
    cell_process = os.getpid()

    def emit(event: dict[str, Any], body: bytes = b"") -> None:
        if os.getpid() != cell_process:  # a fork of the method's making came back from it
            os._exit(1)
        send(cell_socket, event, body)

    try:
        limit_resources(request["threads"], cell.memory_limit or request["memory"])
        module, _, function = request["call"].partition(":")
        given = request["given"] | ({"payload": payload} if payload else {})
        getattr(import_module(module), function)(cell, emit, **given)
    except Exception as error:  # the method's own errors end inside; this is the task, the judge or the set-up
        status, reason = ending(error)
        emit(
            {
                "event": "end",
                "status": status.key,
                "reason": f"outside the method: {reason}",
                "traceback": traceback.format_exc(),
                "metrics": {},
                "peak_mb": inside_cell.peak_mb(),
            }
        )


def limit_resources(threads: int, memory_limit: float | None) -> None:
    """Pin threads and limit memory: what the process may still allocate beyond what it was forked with."""
    import torch

    torch.set_num_threads(threads)
    if memory_limit is not None and sys.platform == "linux":
        limit = int(memory_limit * 2**20)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _prctl(option: int, value: int = 1) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value)


def _kill(session: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(session, signal.SIGKILL)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), Path(sys.argv[2]))
