"""How many threads a cell computes with, and how they wait for each other.

Threads of OpenMP spin while they wait: beside other work they burn the time of those they wait for. A short spin costs
an idle machine nothing and a busy one little (benchmarks/side_by_side/busy_machine.py).
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from paramid.records import machine
from paramid.words.naming import UsageError, whole

POOLS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
MOST = 4  # for each core: more only wait for each other
SPIN = 3000  # turns of a waiting thread of GNU's OpenMP: 1000 are slower on an idle machine, 10 000 stall on a busy one


def chosen(threads: int | None = None, environment: Mapping[str, str] = os.environ) -> int:
    """The threads of a cell: those asked for, else what OMP_NUM_THREADS says, else one."""
    if threads is not None:
        if whole("threads", threads, 1) > (most := MOST * machine.cores()):
            raise UsageError(f"threads is {threads}; at most {most}, {MOST} for each core that is here, was wanted")
        return whole("threads", threads, 1)
    first = environment.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(first) if first.isdigit() and int(first) else 1


def pinned(threads: int, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of a process that computes with so many threads; how they wait is left to who said so."""
    said = {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & set(environment)
    spin = {} if threads == 1 or said else {"GOMP_SPINCOUNT": str(SPIN)}
    return {**environment, **dict.fromkeys(POOLS, str(threads)), **spin}
