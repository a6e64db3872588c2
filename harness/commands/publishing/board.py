"""The leaderboard as a static site: from published records, from a store, or from both side by side."""

import argparse
from pathlib import Path

from paramid.commands import DONE, Add
from paramid.commands.arguments import SOURCES, published_records, warn
from paramid.words.naming import UsageError

EXAMPLE = """paramid board --out leaderboard/site
paramid board --store paramid-store --records published --out my-board"""
WHEN_STOPPED = "the site is not finished"


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    add("--store", type=Path, metavar="DIR", help="a store; with --records, beside them (default: none)")
    add(
        "--records", metavar="WHERE",
        help=f"published records: {SOURCES} (default: without --store, leaderboard/records, else `published`)",
    )  # fmt: skip
    add("--out", type=Path, default=Path("leaderboard") / "site", metavar="DIR", help="default: leaderboard/site")
    add("--history", type=Path, metavar="DIR", help="results of ASV, such as benchmarks/results: a page over commits")


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    from paramid.board import data_files, history, site
    from paramid.board.summary import Summary
    from paramid.pictures import svg
    from paramid.records import provenance
    from paramid.records.publications import epochs, lines, published
    from paramid.records.store import Store
    from paramid.statistics import asv_results

    where = options.records or (published.FOLDER if published.FOLDER.is_dir() else published.OWN)
    own = options.records is None and options.store
    shown = epochs.Standing({}, {}, {}) if own else published_records(where)
    records, refused = dict(shown.ranked), list(shown.notes)
    if options.store is not None:
        notes: list[str] = []
        records |= {lines.fingerprint(r): r for r in Store.existing(options.store, notes.append).records()}
        refused += notes
        for note in notes:
            warn(note)
    svg.reset()
    measured = asv_results.read(options.history) if options.history else []
    said = provenance.subjects(options.history, [c.hash for c in measured]) if options.history else {}
    over_commits = history.body(measured, said) if measured else ""
    marks = {name: epoch.name for name, epoch in shown.epoch_of.items()}
    summary = Summary(records, shown.verdicts, refused, marks, shown.reported.values())
    made = site.build(summary, over_commits)
    if options.out.exists() and not options.out.is_dir():
        raise UsageError(f"--out is {options.out}; a folder was wanted")
    site.write(made, options.out)
    stand = f"{len(summary.records):,} records that stand, of {len(records):,}"
    print(f"wrote {options.out / 'index.html'} from {stand} ({data_files.sizes(made)})")
    return DONE
