"""A method or a task in a file that runs, with its test."""

import argparse
import shlex
from pathlib import Path

from paramid.commands import DONE, Add

EXAMPLE = "paramid new method random-restarts"


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    add("kind", choices=("method", "task"))
    add("name", metavar="NAME", help="lower-case words joined by dashes")
    add("--dir", type=Path, default=Path(), metavar="DIR", help="where to write (default: here)")


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    from paramid.authoring.new import new

    file, test = (shlex.quote(str(path)) for path in new(options.kind, options.name, options.dir))
    print(f"wrote {file} and {test}; next:")
    if options.kind == "method":
        print(f"  paramid run {options.name} shallow:D=5,m=1 --plugin {file}")
        print(f"  paramid check {options.name} --plugin {file}")
    else:
        print(f"  paramid run truth {options.name} --plugin {file}")
    print(f"  python -m pytest {test}")
    return DONE
