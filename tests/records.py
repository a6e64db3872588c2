"""Records as a run would leave them, for tests of what is made of records."""

import hashlib
from typing import Any

from paramid.records.record import Record, Stage
from paramid.words.status import Status

FACTS = {
    "paramid": "0.1.0", "commit": "c2a63318d4", "dirty": False, "cpu": "A processor", "cores": 2, "python": "3.11",
    "packages": {"torch": "2.6"}, "finished": "2026-11-18T12:00:00.000+00:00",
}  # fmt: skip


def made(method: str = "spm", task: str = "shallow:D=5,m=2", seed: int = 0, error: float = 1e-5, **told: Any) -> Record:
    """A finished record of two claims: sqrt(error) at half of the cost, error at all of it."""
    seconds, rows = told.pop("seconds", 2.0), told.pop("rows", 1000)
    access = told.pop("access", "queries")
    stages = tuple(
        Stage("Network", seconds * part, **spent(access, int(rows * part)), metrics=judged(error**part))
        for part in (0.5, 1.0)
    )
    key = hashlib.sha256(f"{method}-{task}-{seed}".encode()).hexdigest()[:24]
    values: dict[str, Any] = {
        "key": key, "method": method, "task": task, "seed": seed, "device": "cpu", "threads": 1,
        "budget": {"seconds": 30.0, "queries": None, "memory_mb": None}, "status": Status.FINISHED,
        "seconds": seconds, **spent(access, rows), "peak_mb": 200.0, "claims": stages,
        "metrics": judged(error), "provenance": FACTS,
    }  # fmt: skip
    return Record(**{**values, **told})


def judged(error: float) -> dict[str, float]:
    """The metrics of a claim that is as good as its error."""
    return {"error": error, "identified": float(error < 1e-2)}


def failed(status: Status = Status.TIMED_OUT, **told: Any) -> Record:
    """A record without a claim."""
    return made(**{"status": status, "claims": (), "metrics": {}, "seconds": 30.0, **told})


def declined(**told: Any) -> Record:
    """A record of a pair that does not fit."""
    return failed(Status.DECLINED, **{"seconds": 0.0, "rows": 0, "reason": "needs more neurons", **told})


def spent(access: str, rows: int) -> dict[str, int]:
    """The rows of a record, all of one kind."""
    return {name: rows if name == access else 0 for name in ("queries", "samples", "derivatives", "moments")}


def grid(methods: dict[str, float], tasks: tuple[str, ...], seeds: int = 3) -> list[Record]:
    """Records of methods by their error before every task."""
    return [made(m, t, s, e) for m, e in methods.items() for t in tasks for s in range(seeds)]
