"""Many methods before many teachers; what the store holds is not run again.

Exits with 0 where every cell has a record and no method raised, crashed or exited; with 1 elsewhere.
"""

import argparse

from paramid.commands import DONE, FAILED, Add
from paramid.commands import arguments as common
from paramid.commands.table import print_table
from paramid.records import text_tables
from paramid.running.suites import TIME_LIMIT
from paramid.words.naming import whole
from paramid.words.status import BROKEN

EXAMPLE = "paramid compare --methods spm spectral-norm --tasks shallow:D=10,m=5 --seeds 2"
WHEN_STOPPED = "the same command goes on from here"


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    add("--suite", metavar="NAME", help="a named list of cells (see `paramid list suites`)")
    add("--methods", nargs="+", default=(), metavar="M", help="those of a grid; with --suite, beside the suite's own")
    add("--tasks", nargs="+", default=(), metavar="T", help="those of a grid")
    add("--seeds", type=int, metavar="N", help="seeds 0 … N-1 of a grid (default: 1)")
    add(
        "--workers", type=int, metavar="N", help="cells at once (default: as many as there are cores for their threads)"
    )
    add(
        "--cluster", metavar="WHERE",
        help="run cells on a Dask cluster: tcp://…, tls://…, a scheduler.json, or local (docs/cluster.md)",
    )  # fmt: skip
    add("--part", metavar="I/N", help="only the I-th of N parts of the cells, I from 1: for arrays of jobs")
    add("--retry", action="append", default=[], metavar="STATUS", help="run cells again that ended so")
    add("--fresh", action="store_true", help="run every cell again")
    common.cell(
        add,
        time_limit=f"{TIME_LIMIT:g} for a grid, its own for a suite",
        memory_limit="an equal share of nine tenths of what is there",
    )
    common.store(add)
    common.format(add)


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    from paramid.records.provenance import mixed_seconds
    from paramid.running.compare import Comparison
    from paramid.running.progress import progress

    comparison = Comparison.planned(
        options.methods,
        options.tasks,
        None if options.seeds is None else range(whole("--seeds", options.seeds, 1)),
        suite=options.suite,
        store=options.store,
        workers=options.workers,
        cluster=options.cluster,
        part=options.part,
        retry=options.retry,
        fresh=options.fresh,
        **{name: getattr(options, name) for name in common.OF_A_CELL},
    )
    if options.fresh:
        options.stopped = "what has ended is in the store; --fresh begins anew"
    comparison.run_missing(progress())
    records = comparison.results()
    mixed = mixed_seconds(records)
    for note in dict.fromkeys([*comparison.notes, *([mixed] if mixed else [])]):
        common.warn(note)
    print_table(text_tables.rows(records), options.format)
    complete = len(records) == len(comparison.cells)
    return DONE if complete and not any(r.status in BROKEN for r in records) else FAILED
