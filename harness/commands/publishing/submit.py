"""The records of methods, bundled with the hash of their source, for others to verify."""

import argparse
from pathlib import Path

from paramid.commands import DONE, Add
from paramid.commands.arguments import store, warn
from paramid.words.naming import Name, UsageError

EXAMPLE = "paramid submit spm --store paramid-store --out spm.zip"


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    add("methods", nargs="+", metavar="METHOD")
    store(add)
    add("--out", type=Path, required=True, metavar="FILE.zip")


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    from paramid.contracts import registry
    from paramid.records import bundles, provenance
    from paramid.records.selection import chosen, newest
    from paramid.records.store import Store
    from paramid.running import verification

    if not options.out.absolute().parent.is_dir() or options.out.is_dir():
        raise UsageError(f"{options.out}: a file in a folder that exists was wanted")
    for method in options.methods:
        registry.target("methods", Name.parse(method).base)  # what nobody here knows is named
    found = chosen(newest(Store.existing(options.store, warn).records(), each_budget=True), options.methods)
    kept = [r for r in found if verification.made_here(r)]
    if len(kept) < len(found):
        warn(f"{len(found) - len(kept)} of {len(found)} records were made by other code; they stay out")
    if not kept:
        raise UsageError("no record that this code made; `paramid compare` makes them")
    facts = provenance.collect(kept[0].threads, 1)
    options.out.write_bytes(bundles.pack(kept, {k: v for k, v in facts.items() if k != "started"}))
    print(f"wrote {options.out}: {len(kept)} records of {', '.join(sorted({r.method for r in kept}))}")
    return DONE
