"""A jailed process that imports a plug-in and says what a plan must know of it.

Run as `python -m paramid.wall.survey FD FOLDER FILE [HIDDEN ...]`. Over the socket FD comes, for every question, a
group and a name with options; what is answered is plain text and numbers, and is looked at again by who asked.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
from contextlib import suppress
from typing import Any

from paramid.contracts import plugins, registry
from paramid.wall import cgroups, jail
from paramid.wall.messages import receive, send
from paramid.words.naming import UsageError

MEMORY_MB, SECONDS = 4096.0, 120.0  # of who only imports


def answer(group: str, text: str) -> dict[str, Any]:
    """What a plan must know of a configured method or task, or why it cannot be configured."""
    try:
        known = registry.described(group, text)
    except UsageError as error:
        return {"problem": str(error)}
    return {
        "canonical": known.canonical,
        "settings": dict(known.settings),
        "version": known.version,
        "module": known.module,
        "needs": list(known.needs),
        "layers": known.layers and [list(part) if isinstance(part, tuple) else part for part in known.layers],
    }


def serve(channel: socket.socket, file: str) -> None:
    """Import the plug-in, say what it offers, and answer until nobody asks."""
    try:
        plugins.add_plugin(file)
        module = plugins.plugin_module(file)
        offered = {
            g: {n: p for n, p in registry.names(g).items() if p.startswith(f"{module}:")} for g in registry.GROUPS
        }
        send(channel, offered)
    except UsageError as error:
        send(channel, {"problem": str(error), "broken": isinstance(error, plugins.PluginError)})
        return
    with suppress(EOFError, OSError):
        while True:
            question, _ = receive(channel)
            send(channel, answer(question["group"], question["text"]))


def main(descriptor: int, scratch: str, file: str, *hidden: str) -> None:
    """Have it done by a child; whatever ends this process or the one that started it, nothing is left."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # who started us may not care for its children
    above = os.getppid()
    jail.die_with_parent(signal.SIGTERM)
    jail.adopt_orphans()
    name = f"paramid-{os.urandom(4).hex()}-{os.getpid()}"
    group = cgroups.Group.made(name, MEMORY_MB)
    try:
        if os.getppid() == above:
            if (child := os.fork()) == 0:
                try:
                    signal.signal(signal.SIGTERM, signal.SIG_DFL)
                    jail.die_with_parent()
                    group.join()
                    behind_walls(descriptor, scratch, file, hidden)
                finally:
                    os._exit(0)
            os.close(descriptor)
            os.waitpid(child, 0)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        jail.end_descendants()
        cgroups.remove(name)
        shutil.rmtree(scratch, ignore_errors=True)


def behind_walls(descriptor: int, scratch: str, file: str, hidden: tuple[str, ...]) -> None:
    """Put up the walls that this machine grants, and serve behind them."""
    plan = jail.Plan(jail.granted(scratch), scratch, hidden=hidden, memory_mb=MEMORY_MB, seconds=SECONDS)
    channel = socket.socket(fileno=descriptor)
    jail.separate(plan)
    if plan.has("pids") and (inside := os.fork()):
        channel.close()
        os.waitpid(inside, 0)
        return
    jail.die_with_parent()
    jail.furnish(plan)
    jail.give_up_privileges()
    if plan.has("pids") and (surveying := os.fork()):  # what ends with its parent must not be somebody's code
        channel.close()
        os.waitpid(surveying, 0)
        os._exit(0)
    jail.limit(plan)
    jail.filter_calls(plan)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    serve(channel, file)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
