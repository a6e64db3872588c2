"""The records of a store, or published ones, as a table."""

import argparse
from pathlib import Path

from paramid.commands import DONE, Add
from paramid.commands.arguments import format, store, warn
from paramid.records import text_tables
from paramid.words.naming import UsageError

EXAMPLE = "paramid table --format markdown"


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    store(add)
    add("--records", type=Path, metavar="DIR", help="published records instead of a store")
    add("--best", type=int, metavar="N", help="the N best methods of each task, and where the records come from")
    format(add)


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    from paramid.records import published
    from paramid.records.provenance import made_on
    from paramid.records.selection import newest
    from paramid.records.store import Store

    if options.records is not None:
        records = newest(published.existing(options.records, warn).records.values())
    else:
        records = newest(Store.existing(options.store, warn).records())
    made = text_tables.rows(records)
    if options.best is None:
        print(text_tables.render(made, options.format), end="")
        return DONE
    if options.best < 1:
        raise UsageError(f"--best is {options.best}; a whole number from 1 was wanted")
    kept = text_tables.best(made, options.best)
    if kept or options.format != "markdown":
        print(text_tables.render(kept, options.format), end="")
    if options.format == "markdown":
        print(*([""] if kept else []), f"*{len(records):,} records: {', '.join(made_on(records))}.*", sep="\n")
    return DONE
