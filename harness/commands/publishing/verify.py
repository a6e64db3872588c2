"""Whether a bundle's records can be made again: a random sample of its cells is run and compared."""

import argparse
from pathlib import Path

from paramid.commands import DONE, FAILED, Add
from paramid.commands.arguments import warn
from paramid.words.naming import UsageError

EXAMPLE = "paramid verify spm.zip --sample 0.2"
WHEN_STOPPED = "no verdict was kept"


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
    add("--to", type=Path, metavar="DIR", help="publish the records and verdicts there if nothing is disputed")


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    from paramid.records import agreement, bundles, published
    from paramid.running import verification
    from paramid.running.terminal import steps

    if not 0 < options.sample <= 1:
        raise UsageError(f"--sample is {options.sample}; a share above 0 and at most 1 was wanted")
    bundle = bundles.unpack(options.bundle)
    if problems := [*bundle.refused, *bundles.sources(bundle)]:
        for problem in problems:
            warn(problem)
        print(f"refused: {options.bundle.name}, {len(problems)} problems")
        return FAILED
    with steps(warn) as tell:
        found = verification.verify(bundle.records, options.sample, tell=tell)
    print(found.table(), end="")
    counts = found.counts()
    print(f"{', '.join(f'{n} {mark}' for mark, n in counts.items())} (tolerances: {agreement.TOLERANCES})")
    if found.disputed:
        print(f"disputed: {', '.join(sorted(found.disputed))}")
        return FAILED
    if options.to is not None:
        name = f"{published.name()}-{options.bundle.stem}"
        path, count = published.publish(list(bundle.records.values()), options.to, name)
        published.append(found.lines(), options.to, f"{name}-verified")
        held = f"nothing new: {options.to} holds all {len(bundle.records)} records"
        print(f"wrote {path}: {count} records" if path else held)
    return DONE
