"""The way to a Dask scheduler: its address, whether one answers there, and TLS where teachers are secret.

Certificates are those of Dask's own configuration, as for everything else that speaks to that scheduler.
"""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

from distributed import Client, LocalCluster, Security
from distributed.comm import connect

from paramid.words.naming import UsageError

PATIENCE = 30.0  # seconds for a scheduler to answer, at first and when the connection is lost
LOOK = 0.1  # seconds from one look at a file to the next
LOCAL, SEALED = "local", "tls://"


@contextmanager
def connected(where: str, *, workers: int, sealed: bool) -> Iterator[Client]:
    """A client of the scheduler there, or of one on this machine; a UsageError says in a line why there is none.

    What is to be `sealed` goes to no scheduler without TLS. That of this machine is none: it serves all who ask.
    """
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters is said here, in a line
    address = read_address(where) if where.endswith(".json") else where
    if sealed and not address.startswith(SEALED):
        other = "; without --cluster the same cells run here" if where == LOCAL else ""
        raise UsageError(f"teachers drawn from a secret are sent over TLS alone; {where} is no {SEALED} address{other}")
    if where == LOCAL:
        with local(workers) as made, _client(made) as client:
            yield client
    else:
        try_to_reach(address)
        with _client(address) as client:
            yield client


def local(workers: int) -> LocalCluster:
    """Workers on this machine, with a scheduler of theirs."""
    quiet = {"dashboard_address": None, "silence_logs": logging.CRITICAL}
    try:
        return LocalCluster(n_workers=workers, threads_per_worker=1, **quiet)
    except (OSError, ValueError, RuntimeError) as error:
        raise UsageError(f"no Dask workers on this machine: {error}") from error


def _client(place: object) -> Client:
    return Client(place, timeout=PATIENCE, set_as_default=False)


def read_address(file: str) -> str:
    """The address in the file that a scheduler writes once it is there."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return str(json.loads(Path(file).read_text())["address"])
        except (OSError, ValueError, TypeError, KeyError) as error:  # not written yet, or half
            if time.monotonic() > until:
                raise UsageError(f"no Dask scheduler at {file}: {str(error) or type(error).__name__}") from error
            time.sleep(LOOK)


def try_to_reach(address: str) -> None:
    """Shake hands with what is there; a client waits for ever where something accepts connections and is silent."""
    told: Future[None] = Future()

    def look() -> None:  # in a thread, for a notebook has a loop of its own
        try:
            told.set_result(asyncio.run(asyncio.wait_for(_shake_hands(address), PATIENCE)))
        except Exception as error:  # whatever is there
            told.set_exception(error)

    threading.Thread(target=look, daemon=True).start()
    try:
        told.result()
    except Exception as error:
        why = error.__cause__ if isinstance(error.__cause__, ssl.SSLError) else error
        said = str(why) or f"nobody answered within {PATIENCE:g} s"
        by = ", by the certificates of Dask's configuration (docs/cluster.md)" if address.startswith(SEALED) else ""
        raise UsageError(f"no Dask scheduler at {address}{by}: {said}") from error


async def _shake_hands(address: str) -> None:
    comm = await connect(address, PATIENCE, **Security().get_connection_args("client"))
    await comm.close()
