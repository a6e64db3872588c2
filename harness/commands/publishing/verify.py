"""Whether a bundle's records can be made again: a random sample of its cells is run and compared.

With --epoch its methods run before the epoch's teachers, which neither side could choose, and --to publishes that.
"""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from paramid.commands import DONE, FAILED, Add
from paramid.commands.arguments import store, warn
from paramid.commands.publishing.epoch import epochs_folder, kept_secret, secret_file, where
from paramid.words.naming import UsageError

if TYPE_CHECKING:
    from paramid.records.publications.bundles import Bundle

EXAMPLE = """paramid verify spm.zip --sample 0.2
paramid verify spm.zip --epoch 2026-12 --to leaderboard/records"""
WHEN_STOPPED = "nothing was published; with --epoch the same command goes on from here"


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    add("bundle", type=Path, metavar="BUNDLE")
    add(
        "--sample",
        type=float,
        default=0.1,
        metavar="SHARE",
        help="of every method's cells, at least one (default: 0.1)",
    )
    add("--salt", metavar="TEXT", help="what the sample is drawn from, to draw it again (default: a fresh one)")
    add("--epoch", metavar="NAME", help="run its methods before the teachers of this epoch instead")
    epochs_folder(add)
    secret_file(add)
    store(add)
    add("--workers", type=int, metavar="N", help="with --epoch: cells at once (default: as many as there are cores)")
    add("--to", type=Path, metavar="DIR", help="with --epoch: publish what came of it, such as leaderboard/records")


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    from paramid.records.publications import bundles, published
    from paramid.running.verification import reruns

    if not 0 < options.sample <= 1:
        raise UsageError(f"--sample is {options.sample}; a share above 0 and at most 1 was wanted")
    if options.to is not None and options.epoch is None:
        raise UsageError("--to is for what an epoch gives; --epoch NAME was wanted")
    published.checked(options.to)
    bundle = bundles.unpack(options.bundle)
    if problems := [*bundles.problems(bundle), *reruns.unmade(bundle.records.values())]:
        return _refused(options, problems)
    return _sampled(options, bundle) if options.epoch is None else _entered(options, bundle)


def _refused(options: argparse.Namespace, problems: list[str]) -> int:
    from paramid.records.publications.lines import PATIENCE

    for problem in problems[: PATIENCE + 1]:
        warn(problem)
    print(f"refused: {options.bundle.name}, {len(problems)} problem{'s' if len(problems) > 1 else ''}")
    return FAILED


def _sampled(options: argparse.Namespace, bundle: "Bundle") -> int:
    from paramid.records import agreement
    from paramid.running.terminal import steps
    from paramid.running.verification import reruns

    salt = options.salt if options.salt is not None else os.urandom(8).hex()
    warn(f"the sample is drawn from --salt {salt}")
    with steps(warn) as tell:
        found = reruns.verify(bundle.records, options.sample, tell=tell, salt=salt)
    print(found.table(), end="")
    counts = found.counts()
    print(f"{', '.join(f'{n} {mark}' for mark, n in counts.items())} (tolerances: {agreement.TOLERANCES})")
    if found.disputed:
        print(f"disputed: {', '.join(sorted(found.disputed))}")
        return FAILED
    return DONE


def _entered(options: argparse.Namespace, bundle: "Bundle") -> int:
    from paramid.records import text_tables
    from paramid.records.publications import epochs, published, reports
    from paramid.running.progress import progress
    from paramid.running.verification import submissions
    from paramid.words.secrets import Secret

    folder = where(options)
    epoch = epochs.existing(options.epoch, folder)
    secret = Secret.given(options.secret or kept_secret(epoch.name))
    held = published.read(options.to) if options.to is not None else published.Published({})
    if problem := submissions.refusal(epoch, bundle, secret, folder, submissions.entered(held, epoch)):
        return _refused(options, [problem])
    made = submissions.Submission.planned(
        epoch, bundle, secret, store=options.store, workers=options.workers, threads=None
    )
    warn(made.announced)
    made.comparison.run_missing(progress())
    records = made.comparison.results()
    print(text_tables.render(text_tables.rows(records), "text"), end="")
    for report in reports.compared(bundle.records.values(), records):
        print(report)
    if doubt := submissions.unhidden(records):
        warn(doubt)
    if missing := len(made.comparison.cells) - len(records):
        print(f"{missing} cells have no record: nothing is published; the same command goes on from here")
        return FAILED
    if options.to is not None:
        name = f"{published.name()}-epoch-{epoch.name}"
        print(f"wrote {made.publish(records, options.to, name)}: {len(records)} records of epoch {epoch.name}")
    return DONE
