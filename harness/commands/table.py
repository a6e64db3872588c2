"""The records of a store, or published ones, as a table."""

import argparse
from pathlib import Path

from paramid import tables
from paramid.commands import DONE, Add
from paramid.commands.arguments import format, store, warn

EXAMPLE = "paramid table --format markdown"


def arguments(add: Add) -> None:
    """What it takes."""
    store(add)
    add("--records", type=Path, metavar="DIR", help="published records instead of a store")
    format(add)


def act(options: argparse.Namespace) -> int:
    """Do it; the exit code."""
    from paramid import published
    from paramid.store import Store, newest

    if options.records is not None:
        records = newest(published.existing(options.records, warn).records.values())
    else:
        records = newest(Store.existing(options.store, warn).records())
    print(tables.render(tables.rows(records), options.format), end="")
    return DONE
