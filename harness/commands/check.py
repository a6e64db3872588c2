"""Whether a method keeps its contract."""

import argparse

from paramid.commands import DONE, FAILED, Add
from paramid.commands.arguments import warn

EXAMPLE = "paramid check spectral-norm"


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    add("method", metavar="METHOD")


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    from paramid.authoring.check import check

    checked = check(options.method, tell=warn)
    print(checked)
    return FAILED if checked.problems else DONE
