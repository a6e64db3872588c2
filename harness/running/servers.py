"""Our ends of the fork servers: two processes that have imported what the processes of a cell need."""

from __future__ import annotations

import os
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from paramid.words.naming import Name, UsageError

TOLD = (  # what a method's process sees of the environment: nothing that could be a secret
    *("PATH", "HOME", "USER", "TZ", "VIRTUAL_ENV", "LANG", "LC_", "LD_LIBRARY_PATH", "DYLD_", "CONDA_", "PYTHON"),
    "PARAMID_WALLS",
    *("OMP_", "MKL_", "OPENBLAS_", "GOMP_", "KMP_", "CUDA_", "NVIDIA_", "TORCH", "PYTORCH_"),
)


def told(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of a process that runs somebody's method."""
    return {name: value for name, value in environment.items() if name.startswith(TOLD)}


def disk_of(method: str) -> Path:
    """The folder of a method that needs a disk; it stays."""
    name = Name.parse(method).base
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(base) / "paramid" / re.sub(r"[^\w-]", "_", name)
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:
        raise UsageError(f"{name} needs a disk, and there is no folder for it: {error}") from error
    return folder


class Server:
    """Our end of a fork server, which is started again when something has ended it."""

    def __init__(self, work: str) -> None:
        self._work, self.scratch = work, tempfile.mkdtemp(prefix="paramid-")
        self._control, self._theirs = socket.socketpair()

    def words(self) -> list[str]:
        """What a fork server's command line says of it."""
        return [str(self._theirs.fileno()), self.scratch, self._work]

    @staticmethod
    def start(environment: Mapping[str, str], *servers: Server) -> subprocess.Popen[bytes]:
        """A process that becomes the last of these servers, and forks the one before on the way."""
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "paramid.wall.fork_server", *(word for s in servers for word in s.words())],
            pass_fds=tuple(s._theirs.fileno() for s in servers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is ours to handle; our death reaches it as a closed socket
            env=environment,
        )
        for server in servers:
            server._theirs.close()
        return process

    def gone(self) -> bool:
        """Whether nobody listens any more."""
        return bool(select.select([self._control], [], [], 0)[0])  # a server never writes: this is the end

    def fork(self, descriptors: Sequence[int]) -> None:
        """Have a child forked that gets these descriptors."""
        with suppress(OSError):  # it may be dying: what nobody received ends as any other channel
            socket.send_fds(self._control, [b"c"], list(descriptors))

    def end(self) -> None:
        """End it and all its children; it has ended when this returns, or will not within ten seconds."""
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
            self._control.settimeout(10)
            self._control.recv(1)
        self._control.close()
        shutil.rmtree(self.scratch, ignore_errors=True)
