"""Plug-ins for a plan: what they offer is asked of a jailed process, their code never runs in this one."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import tempfile
import weakref
from functools import partial
from pathlib import Path
from typing import Any

from paramid.contracts import plugins, registry
from paramid.contracts.plugins import PluginError
from paramid.contracts.registry import Described
from paramid.running.servers import told
from paramid.wall.messages import receive, send
from paramid.words.naming import Name, UsageError
from paramid.words.secrets import kept

PATIENCE = 120.0  # seconds for a plug-in to be imported, or to configure what it offers
LEAVING = 5.0  # seconds for its process to end what it has started
LONGEST, MOST = 10_000, 2**20  # characters of anything it says, and bytes of all it says at once


_surveyors: weakref.WeakSet[Surveyor] = weakref.WeakSet()
_hidden: list[str] = []  # what no plug-in is to see, not even when it is asked what it offers


def hide(*paths: Path) -> None:
    """Have these files and folders empty for plug-ins that are surveyed from here on."""
    _hidden.extend(str(path.resolve()) for path in paths)


def survey(file: str | Path) -> None:
    """Register what a plug-in file offers without importing it here; a UsageError says why it cannot be."""
    path = plugins.checked_file(file)
    if path is None:
        return
    surveyor = Surveyor(path)
    for group, offered in surveyor.offered.items():
        for name, place in offered.items():
            registry.add_described(group, name, place, partial(surveyor.describe, group))
    plugins.note_file(path)


def rest() -> None:
    """End the processes that have imported plug-ins: while cells run, nobody's code runs beside them."""
    for surveyor in list(_surveyors):
        surveyor.end()


class Surveyor:
    """A process that has imported one plug-in, where there is a question; what it has answered once stands."""

    def __init__(self, path: Path) -> None:
        self._path, self._known = path, dict[tuple[str, str], Described]()
        self.offered = self._start()
        _surveyors.add(self)

    def _start(self) -> dict[str, dict[str, str]]:
        """Start the process; what the plug-in offers, by group."""
        scratch = tempfile.mkdtemp(prefix="paramid-")
        self._channel, theirs = socket.socketpair()
        self._channel.settimeout(PATIENCE)
        process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                "paramid.wall.survey",
                str(theirs.fileno()),
                scratch,
                str(self._path),
                *_hidden,
                str(kept()),
            ],
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=told(),
        )
        theirs.close()
        self.end = weakref.finalize(self, _end, self._channel, process, scratch)
        try:
            return self._offered(self._received())
        except UsageError:
            self.end()
            raise

    def _offered(self, answer: dict[str, Any]) -> dict[str, dict[str, str]]:
        """What the plug-in says that it offers, looked at."""
        if "problem" in answer:
            raise (PluginError if answer.get("broken") else UsageError)(self._problem(answer))
        offered = {group: self._names(group, answer.get(group)) for group in registry.GROUPS}
        if not any(offered.values()):
            raise PluginError(f"plug-in {self._path}: neither METHODS nor TASKS holds anything")
        return offered

    def describe(self, group: str, text: str) -> Described:
        """What a plan must know of a configured name."""
        if (group, text) not in self._known:
            if not self.end.alive:
                self._start()
            self._known[group, text] = self._described(text, self._received({"group": group, "text": text}))
        return self._known[group, text]

    def _received(self, question: dict[str, Any] | None = None) -> dict[str, Any]:
        try:
            if question is not None:
                send(self._channel, question)
            answer, _ = receive(self._channel, most=MOST)
        except (OSError, EOFError, ValueError, RecursionError) as error:
            raise PluginError(f"plug-in {self._path} cannot be imported: its process ended ({error})") from error
        if not isinstance(answer, dict):
            raise PluginError(f"plug-in {self._path} answered a {type(answer).__name__}")
        return answer

    def _problem(self, answer: dict[str, Any]) -> str:
        try:
            return _text(answer["problem"])
        except ValueError as error:
            raise PluginError(f"plug-in {self._path} says {error}") from error

    def _names(self, group: str, offered: object) -> dict[str, str]:
        module = plugins.plugin_module(self._path)
        names = dict(offered) if isinstance(offered, dict) else {}
        for name, place in names.items():
            if self._path not in plugins.files():
                plugins.check_name(group, name)
            if not (isinstance(place, str) and re.fullmatch(rf"{module}:[\w.]+", place)):
                raise PluginError(f"plug-in {self._path}: {name} is at {place!r}")
        return names

    def _described(self, text: str, answer: dict[str, Any]) -> Described:
        if "problem" in answer:
            raise UsageError(self._problem(answer))
        try:
            settings = {_text(name): _text(value) for name, value in dict(answer["settings"]).items()}
            canonical, version, layers = _text(answer["canonical"]), answer["version"], answer["layers"]
            name = Name.parse(canonical)
            if name.base != Name.parse(text).base or type(version) is not int or not 0 <= version < 2**31:
                raise ValueError(f"{canonical}, version {version}")
            given, said = dict(Name.parse(text).options), dict(name.options)
            if given.keys() != said.keys() or not set(name.options) <= set(settings.items()):
                raise ValueError(f"{canonical} and the settings {settings}")  # two cells would have one key
            for option, value in given.items():
                if not _same(value, said[option]):  # a note of the import's to the cell
                    raise ValueError(f"{option}={said[option]!r}, where {option}={value!r} was written")
            shape = None if layers is None else registry.shape_of(*layers)
            needs = tuple(need for need in registry.NEEDS if need in answer["needs"])
        except (KeyError, TypeError, ValueError, UsageError) as error:
            raise PluginError(f"plug-in {self._path} describes {text} by {error}") from error
        return Described(canonical, settings, version, plugins.plugin_module(self._path), needs, shape)


def _same(written: str, said: str) -> bool:
    """Whether an option is what was written: numbers may be written otherwise, and the case of true and none."""
    parts = written.split("-"), said.split("-")
    try:
        return written.strip().lower() == said.strip().lower() or all(
            float(a) == float(b) for a, b in zip(*parts, strict=True)
        )
    except ValueError:
        try:
            return float(written) == float(said)
        except ValueError:
            return False


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > LONGEST:
        raise ValueError(f"a {type(value).__name__} where a text was wanted")
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in value)


def _end(channel: socket.socket, process: subprocess.Popen[bytes], scratch: str) -> None:
    channel.close()
    process.terminate()
    try:
        process.wait(LEAVING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    shutil.rmtree(scratch, ignore_errors=True)
