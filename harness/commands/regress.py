"""Whether a commit is slower, less exact or hungrier than another, on the same cells in one run.

Exit code 1: a regression; 3: cannot tell; 4: could not measure, as where a commit does not have a method yet.
"""

import argparse
import tempfile
from pathlib import Path

from paramid.commands import DONE, FAILED, Add
from paramid.commands.arguments import warn
from paramid.running import suites
from paramid.words.naming import UsageError

EXAMPLE = "paramid regress HEAD~1 HEAD --quick"
WHEN_STOPPED = "nothing was kept"
CANNOT_TELL, NOT_MEASURED = 3, 4


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    add("base", metavar="BASE", help="a commit")
    add("head", metavar="HEAD", help="the commit in question")
    add("--repository", type=Path, default=Path(), metavar="DIR", help="default: the one around this folder")
    add("--suite", metavar="NAME", help="the cells (default: regress, or regress-quick)")
    add("--rounds", type=int, default=5, metavar="N", help="how often each commit runs a cell (default: 5)")
    add("--quick", action="store_true", help="one round of fewer cells; errors and queries only")


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    from paramid.statistics import commit_regressions as judged

    if options.rounds < 1:
        raise UsageError("--rounds takes a whole number from 1")
    rounds = 1 if options.quick else options.rounds
    quantities = judged.EXACT if options.quick else tuple(judged.JUDGES)
    cells = suites.suite(options.suite or ("regress-quick" if options.quick else "regress")).cells()
    found: list[judged.Judgement] = []
    with tempfile.TemporaryDirectory() as folder:
        sides = []
        for name in ("base", "head"):
            (place := Path(folder, name)).mkdir()
            sides.append(judged.unpack(getattr(options, name), place, options.repository))
        for pair in judged.measured_pairs(sides[0], sides[1], cells, rounds, warn):
            for finding in judged.findings(pair, quantities):
                found.append(finding)
                print(f"{finding.verdict:<17} {finding.cell}: {finding.quantity}: {finding.words}", flush=True)
    verdicts = {f.verdict for f in found}
    print(
        f"{options.base} -> {options.head}: "
        + ", ".join(f"{sum(f.verdict == v for f in found)} {v}" for v in sorted(verdicts))
    )
    if judged.WORSE in verdicts:
        return FAILED
    if judged.FAILED in verdicts:
        return NOT_MEASURED
    return CANNOT_TELL if judged.UNKNOWN in verdicts else DONE
