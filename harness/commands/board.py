"""The leaderboard as a static site: from published records, or from a store."""

import argparse
from pathlib import Path

from paramid.commands import DONE, FAILED, Add
from paramid.commands.arguments import warn
from paramid.words.naming import UsageError

EXAMPLE = "paramid board --out leaderboard/site"


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    add("--store", type=Path, metavar="DIR", help="a store (default: what was published)")
    add("--records", type=Path, metavar="DIR", help="published records (default: leaderboard/records)")
    add("--out", type=Path, default=Path("leaderboard") / "site", metavar="DIR", help="default: leaderboard/site")
    add("--history", type=Path, metavar="DIR", help="results of ASV, such as benchmarks/results: a page over commits")
    add("--audit", action="store_true", help="run a sample of the records again first")


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    from paramid.board import data_files, history, site
    from paramid.board.summary import Summary
    from paramid.records import published
    from paramid.records.store import Store
    from paramid.running import verification
    from paramid.statistics import asv_results

    if options.store is not None and options.records is not None:
        raise UsageError("--store and --records were both given; one of them was wanted")
    folder = options.records or published.FOLDER
    if options.store is not None:
        notes: list[str] = []
        records = Store.existing(options.store, notes.append).records()
        source = published.Published({published.fingerprint(r): r for r in records}, refused=tuple(notes))
        for note in notes:
            warn(note)
    else:
        source = published.existing(folder, warn)
    verdicts, problems = source.verdicts, False
    if options.audit:
        found = verification.audit(source.records, tell=warn)
        verdicts = (*verdicts, *found.verdicts)
        problems = any(v.verdict == published.DISPUTED for v in found.verdicts)
        if options.store is None:
            published.append(found.lines(), folder, f"{published.name()}-audit")
    over_commits = history.body(asv_results.read(options.history)) if options.history else ""
    made = site.build(Summary(source.records.values(), verdicts, source.refused), over_commits)
    site.write(made, options.out)
    print(f"wrote {options.out / 'index.html'} from {len(source.records):,} records ({data_files.sizes(made)})")
    return FAILED if problems else DONE
