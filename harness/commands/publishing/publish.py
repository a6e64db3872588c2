"""Records of the store as a new file of published ones, each line with its hash."""

import argparse
from pathlib import Path

from paramid.commands import DONE, Add
from paramid.commands.arguments import store, warn

EXAMPLE = "paramid publish --methods spm --to leaderboard/records"


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    store(add)
    add("--methods", nargs="+", default=(), metavar="M", help="only these (default: all, controls too)")
    add("--tasks", nargs="+", default=(), metavar="PREFIX", help="only these and the same with further options")
    add("--to", type=Path, metavar="DIR", help="default: leaderboard/records")


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    from paramid.records.publications import published
    from paramid.records.selection import chosen, newest
    from paramid.records.store import Store

    folder = options.to or published.FOLDER
    records = newest(Store.existing(options.store, warn).records(), each_budget=True)
    methods = options.methods or sorted({r.method for r in records})
    kept = chosen(records, methods, options.tasks)
    for record in list(kept):
        if reason := published.unsound(record):
            warn(f"{record.method} before {record.task}, seed {record.seed} stays out: {reason}")
            kept.remove(record)
    path, count = published.publish(kept, folder, published.name())
    if loose := sum(bool(r.provenance.get("dirty")) for r in kept):
        warn(f"{loose} of {len(kept)} records were made from code that was not committed")
    print(f"wrote {path}: {count} records" if path else f"nothing new: {folder} holds all {len(kept)} records")
    return DONE
