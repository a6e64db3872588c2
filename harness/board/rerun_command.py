"""The one command that makes a cell's records again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from paramid.records.record import Record

LIMITS = {"seconds": "--time-limit", "queries": "--query-limit", "memory_mb": "--memory-limit"}


def command(records: Sequence[Record]) -> str:
    """`paramid compare` of one method and task, over its seeds and under its limits."""
    newest = records[-1]
    told = ["paramid", "compare", "--methods", newest.method, "--tasks", newest.task]
    if (seeds := 1 + max(r.seed for r in records)) > 1:
        told += ["--seeds", str(seeds)]
    if newest.device != "cpu":
        told += ["--device", newest.device]
    if newest.threads != 1:
        told += ["--threads", str(newest.threads)]
    for name, option in LIMITS.items():
        if (limit := newest.budget.get(name)) is not None:
            told += [option, f"{limit:g}" if limit < 1e6 else f"{limit:.0f}"]
    return shlex.join(told)
