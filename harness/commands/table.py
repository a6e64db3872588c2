"""The records of a store, or published ones, as a table."""

import argparse
from pathlib import Path

from paramid import tables
from paramid.commands import DONE, Add
from paramid.commands.arguments import format, store, warn
from paramid.naming import UsageError

EXAMPLE = "paramid table --records leaderboard/records --format markdown --best 2"


def arguments(add: Add) -> None:
    """What it takes."""
    store(add)
    add("--records", type=Path, metavar="DIR", help="published records instead of a store")
    add("--best", type=int, metavar="N", help="only the first N methods of every task")
    format(add)


def act(options: argparse.Namespace) -> int:
    """Do it; the exit code."""
    from paramid import published
    from paramid.store import Store, newest

    if options.best is not None and options.best < 1:
        raise UsageError(f"--best takes a whole number from 1, not {options.best}")
    if options.records is not None:
        records = newest(published.existing(options.records, warn).records.values())
    else:
        records = newest(Store.existing(options.store, warn).records())
    rows = tables.rows(records)
    print(tables.render(tables.best(rows, options.best) if options.best else rows, options.format), end="")
    return DONE
