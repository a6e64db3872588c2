"""The store's records as a table."""

import argparse

from paramid import tables
from paramid.commands import DONE, Add
from paramid.commands.arguments import format, store, warn

EXAMPLE = "paramid table --format markdown"


def arguments(add: Add) -> None:
    """What it takes."""
    store(add)
    format(add)


def act(options: argparse.Namespace) -> int:
    """Do it; the exit code."""
    from paramid.store import Store, newest

    records = newest(Store.existing(options.store, warn).records())
    print(tables.render(tables.rows(records), options.format), end="")
    return DONE
