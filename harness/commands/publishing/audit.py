"""Published records against what is public: entries by their epochs, and a sample of the cells run again.

Teachers of closed epochs are drawn from the secrets that were shown; those of open ones wait.
"""

import argparse
from pathlib import Path

from paramid.commands import DONE, FAILED, Add
from paramid.commands.arguments import SOURCES, warn
from paramid.records.escaping import for_terminal
from paramid.words.naming import UsageError

EXAMPLE = "paramid audit --records leaderboard/records --share 0.1"
WHEN_STOPPED = "no verdict was kept"


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    add("--records", default="published", metavar="WHERE", help=f"{SOURCES} (default: published)")
    add("--share", type=float, default=0.03, metavar="SHARE", help="of every method's cells (default: 0.03)")
    add("--salt", metavar="TEXT", help="what the sample is drawn from, to draw it again (default: today's date)")
    add("--methods", nargs="+", default=(), metavar="M", help="only these (default: all)")
    add("--to", type=Path, metavar="DIR", help="publish the verdicts there")


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    from datetime import UTC, datetime

    from paramid.records.publications import epochs, published
    from paramid.records.publications.lines import DISPUTED
    from paramid.records.selection import chosen
    from paramid.running.terminal import steps
    from paramid.running.verification import reruns, submissions

    if not 0 < options.share <= 1:
        raise UsageError(f"--share is {options.share}; a share above 0 and at most 1 was wanted")
    published.checked(options.to)
    stands = epochs.shown(options.records, warn)
    folder = epochs.folder(published.whereabouts(options.records))
    known = {e.name: e for e in epochs.read(folder)[0].values()}
    problems = [*stands.notes, *filter(None, (epochs.changed(e, folder) for e in known.values()))]
    for entry in stands.entries:
        try:
            problems += submissions.misfits(known[entry.epoch], entry, stands.given[entry.secret].values())
        except UsageError as error:
            warn(f"the cells of {', '.join(entry.methods)} in epoch {entry.epoch} are not known here: {error}")
    secrets = {e.secret: s for e in stands.entries if (s := known[e.epoch].shown(e.frozen)) is not None}
    for epoch in {known[e.epoch].name for e in stands.entries if not known[e.epoch].closed}:
        warn(f"epoch {epoch} is open: its teachers cannot be drawn by anybody else yet")
    records = stands.ranked
    if options.methods:
        wanted = set(map(id, chosen(list(records.values()), options.methods)))
        records = {d: r for d, r in records.items() if id(r) in wanted}
    salt = options.salt if options.salt is not None else f"{datetime.now(UTC):%Y-%m-%d}"
    warn(f"the sample is drawn from --salt {salt}")
    with steps(warn) as tell:
        found = reruns.verify(records, options.share, tell=tell, salt=salt, strict=False, secrets=secrets)
    for row in found.rows([*(v.record for v in found.verdicts), *found.open]):
        print(row)
    for problem in problems:
        print(for_terminal(problem))
    counts = [v.verdict for v in found.verdicts]
    print(f"{counts.count('verified')} verified, {counts.count(DISPUTED)} disputed, {len(found.open)} left open, of "
          f"{len(records)}; {len(problems)} problems with what was published")  # fmt: skip
    if options.to is not None:
        path = published.append(found.lines(), options.to, f"{published.name()}-audit")
        print(f"wrote {path}: {len(found.verdicts)} verdicts")
    return FAILED if found.disputed or problems else DONE
