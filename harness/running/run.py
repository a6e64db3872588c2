"""`run`: one method before one teacher."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Unpack

from paramid.contracts.plugins import name_of
from paramid.records import provenance
from paramid.records.frames import DEFAULT_STORE
from paramid.records.record import Outcome, Record
from paramid.records.store import Store
from paramid.running import surveyor
from paramid.running import threads as openmp
from paramid.running.cell import Cell, Limits, plan_cell, resolve_device
from paramid.running.supervisor import Supervisor
from paramid.running.transcript import Observe, Transcript
from paramid.words.naming import UsageError
from paramid.words.secrets import Secret
from paramid.words.status import Status


class RunOptions(Limits, total=False):
    """How one cell is run, and where its record is kept."""

    device: str  # cpu, cuda or auto
    threads: int | None  # default: what OMP_NUM_THREADS says, else one
    store: str | Path | None
    secret: str | Path | bytes | None  # from which the teacher is drawn: a file, or the secret itself
    throw: bool


def run(method: object, task: object, seed: int = 0, **options: Unpack[RunOptions]) -> Record:
    """Run one method before one teacher and judge what it claims.

    Both are names such as `spm:step=1.5`, or classes, as they are or configured. `device`, `threads`, `store`, and the
    limits `time_limit`, `query_limit` and `memory_limit` (none by default) are as on the command line. `throw=True`
    runs it in this process, without a wall or limits of time and memory, and lets its errors out: for tests and
    debuggers. With a `secret`, at least 32 bytes or a file of them, nobody without it can know the teacher beforehand.

    Examples
    --------
    >>> record = paramid.run("spm", "shallow:D=20,m=40", seed=0)
    >>> record.metrics["weight_error"]
    """
    record = outcome(method, task, seed, **options).record
    if record.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return record


def outcome(
    method: object, task: object, seed: int = 0, *, observe: Observe | None = None, **options: Unpack[RunOptions]
) -> Outcome:
    """`run`, with the last claim's bytes beside the record; `observe` is told at every step what it would be."""
    threads, device = openmp.chosen(options.pop("threads", None)), options.pop("device", "cpu")
    store, throw = options.pop("store", None), options.pop("throw", False)
    given = options.pop("secret", None)
    secret = None if given is None else Secret.given(given)
    facts = provenance.collect(threads, 1)
    kept = None if store is None else Store(store).open()
    walled = None if throw else Supervisor(threads, secret=secret, hidden=(kept or Store(DEFAULT_STORE)).private)
    with walled or nullcontext() as supervisor:  # it starts while the cell is planned
        limits: Limits = options  # what is left of them
        method, task = name_of("methods", method, here=throw), name_of("tasks", task, here=throw)
        cell = plan_cell(
            method,
            task,
            seed=seed,
            device=resolve_device(device),
            secret=secret.fingerprint if secret else None,
            **limits,
        )
        key, sources = cell.key(), cell.sources()
        surveyor.rest()
        made = supervisor.run(cell, key, facts, observe) if supervisor else _run_here(cell, facts, secret)
    if cell.sources() != sources:
        raise UsageError(f"the source of {cell.method} or {cell.task} has changed while it ran: it has no record")
    if kept is not None:
        kept.start_run(facts)
        kept.add(made)
    return made


def _run_here(cell: Cell, facts: dict[str, object], secret: Secret | None) -> Outcome:
    """The cell in this process, with the threads that torch has here."""
    import torch

    from paramid.running.inside_cell import execute

    transcript = Transcript(cell, torch.get_num_threads())
    seed = secret.drawn_seed(cell.task, cell.seed) if secret else cell.seed
    execute(cell, transcript.add, throw=True, seed=seed)
    return transcript.outcome(cell.key(), facts)
