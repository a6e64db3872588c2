"""The records of methods, bundled with the hash of their source, for others to verify.

With --epoch the source is frozen for that epoch, and a method needs no record of its own.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from paramid.commands import DONE, Add
from paramid.commands.arguments import store, warn
from paramid.commands.publishing.epoch import epochs_folder, where
from paramid.words.naming import Name, UsageError

if TYPE_CHECKING:
    from paramid.records.record import Record

EXAMPLE = """paramid submit spm --store paramid-store --out spm.zip
paramid submit spm --epoch 2026-12 --out spm.zip"""


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    add("methods", nargs="*", metavar="METHOD")
    add("--suite", metavar="NAME", help="all methods of this suite too")
    add("--epoch", metavar="NAME", help="freeze the source for this epoch, in which the maintainers run it")
    epochs_folder(add)
    store(add)
    add("--out", type=Path, required=True, metavar="FILE.zip")


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    from paramid.contracts import registry
    from paramid.records import provenance
    from paramid.records.publications import bundles, epochs
    from paramid.running import suites

    if not options.out.absolute().parent.is_dir() or options.out.is_dir():
        raise UsageError(f"{options.out}: a file in a folder that exists was wanted")
    of_suite = [m for g in suites.suite(options.suite).grids for m in g.methods] if options.suite else []
    if not (methods := list(dict.fromkeys([*options.methods, *map(str, of_suite)]))):
        raise UsageError("no method: a METHOD or --suite NAME was wanted")
    epoch = epochs.existing(options.epoch, where(options)) if options.epoch else None
    if epoch and epoch.closed:
        raise UsageError(f"epoch {epoch.name} was closed on {epoch.closed[:10]}; one that is open was wanted")
    frozen = [registry.described("methods", m).canonical for m in methods] if epoch else []
    kept = _records(options, methods, needed=epoch is None)
    facts = {k: v for k, v in provenance.collect(1, 1).items() if k != "started"}
    told = {"name": epoch.name, "commitment": epoch.commitment} if epoch else None
    options.out.write_bytes(bundles.pack(kept, facts, frozen, told))
    named = sorted({*frozen, *(r.method for r in kept)})
    many = f"{len(named)} methods" if len(named) > 5 else ", ".join(named)
    print(f"wrote {options.out}: {len(kept)} records of {many}" + (f", frozen for epoch {epoch.name}" if epoch else ""))
    return DONE


def _records(options: argparse.Namespace, methods: list[str], *, needed: bool) -> "list[Record]":
    """The records of these methods that this code made."""
    from paramid.contracts import registry
    from paramid.records.selection import chosen, fits, newest
    from paramid.records.store import Store
    from paramid.running.verification import reruns

    for method in methods:
        registry.target("methods", Name.parse(method).base)  # what nobody here knows is named
    if not needed and not (options.store / "cells").is_dir():
        return []
    there = newest(Store.existing(options.store, warn).records(), each_budget=True)
    there = [r for r in there if r.secret is None]
    known = methods if needed else [m for m in methods if any(fits(r.method, m) for r in there)]
    found = chosen(there, known) if known else []
    kept = [r for r in found if reruns.made_here(r)]
    if len(kept) < len(found):
        warn(f"{len(found) - len(kept)} of {len(found)} records were made by other code; they stay out")
    if needed and not kept:
        raise UsageError("no record that this code made; `paramid compare` makes them")
    return kept
