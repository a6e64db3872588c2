"""What a method does that a wall would stop: seen by the interpreter's audit events, while it works in this process."""

from __future__ import annotations

import inspect
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import FrameType

LOOKS = "looks for what its process never holds: behind the wall there is no teacher and no judge"
TOLD: Mapping[str, str] = {  # the beginnings of audit events
    "socket.": 'uses the network: behind the wall there is none, unless `needs` says "network"',
    "os.fork": "starts processes: they stand still while its claims are judged, and end with it",
    "os.posix_spawn": "starts processes: they stand still while its claims are judged, and end with it",
    "subprocess.Popen": "starts programs: they stand still while its claims are judged, and end with it",
    "os.kill": "sends signals: behind the wall there is nobody else",
    "gc.get_": LOOKS,
    "sys._getframe": LOOKS,
    "ctypes.": "works around Python by ctypes: behind the wall it reaches its own process alone",
    "open": 'writes files: behind the wall there is a scratch folder, and nothing is kept, unless `needs` says "disk"',
}
THROUGH = ("pathlib", "tempfile", "socket", "subprocess", "contextlib", "random", "shutil", "ctypes", "multiprocessing")
_watched: list[tuple[str, dict[str, None]]] = []  # the file of a method, and what was seen of it
_hooked: list[bool] = []


@contextmanager
def watched(method: object) -> Iterator[dict[str, None]]:
    """What was seen of a method, in the order in which it came."""
    seen: dict[str, None] = {}
    if not _hooked:
        _hooked.append(True)
        sys.addaudithook(_hook)
    _watched.append((inspect.getfile(type(method)), seen))
    before = set(threading.enumerate())
    try:
        yield seen
    finally:
        _watched.pop()
        if any(thread.is_alive() for thread in set(threading.enumerate()) - before):
            seen["leaves threads that work on: they stand still while its claims are judged, and end with it"] = None


def private(name: str) -> None:
    """Note that a private name of the oracle's was asked for, if the method did."""
    if _watched and _from(sys._getframe(2), _watched[-1][0]):
        _watched[-1][1][
            f"asks for `oracle.{name}`: behind the wall the oracle has nothing but what its protocol says"
        ] = None


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if not _watched or event.startswith(("import", "compile", "exec", "object.", "marshal")):
        return
    told = next((told for begin, told in TOLD.items() if event.startswith(begin)), None)
    if told is None or (event == "open" and not _writes(arguments)):
        return
    file, seen = _watched.pop()  # what is done here is no doing of the method's
    try:
        frame = sys._getframe(1)
        if _from(frame, file):
            seen[told] = None
    finally:
        _watched.append((file, seen))


def _from(frame: FrameType | None, file: str) -> bool:
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in THROUGH:
        frame = frame.f_back
    return frame is not None and _resolved(frame.f_code.co_filename) == _resolved(file)


@cache
def _resolved(file: str) -> str:
    """Without links; asked for at every private name of an oracle's, and dear."""
    return os.path.realpath(file)


def _writes(arguments: tuple[object, ...]) -> bool:
    mode, flags = (*arguments, None, None, None)[1:3]
    if isinstance(mode, str):
        return bool(set(mode) & set("wax+"))
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
