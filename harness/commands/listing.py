"""What there is, and what each needs."""

import argparse

from paramid.commands import DONE, Add
from paramid.contracts import descriptions, registry
from paramid.running import suites

EXAMPLE = "paramid list methods"


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    add("what", nargs="?", choices=("methods", "tasks", "suites"), help="only these")
    add("--pairs", action="store_true", help="which method accepts which task, at default options")


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    if options.pairs:
        return list_pairs()
    for group in ("methods", "tasks"):
        if options.what in (None, group):
            print(f"{group}:")
            listed = descriptions.entries(group)
            for entry in listed:
                needs = f"  [{', '.join(entry.access)}]" if entry.access else ""
                print(f"  {entry.name:<{max(len(e.name) for e in listed)}}  {entry.doc}{needs}")
    if options.what in (None, "suites"):
        print("suites:")
        for name, suite in suites.suites().items():
            print(f"  {name}  (version {suite.version}) {suite.about}")
    return DONE


def list_pairs() -> int:
    """Every method before every task, at default options."""
    from paramid.contracts.controls import Control
    from paramid.contracts.task import declined

    for task in registry.names("tasks"):
        for name in registry.names("methods"):
            method = registry.method(name)
            reason = None if isinstance(method, Control) else declined(method, registry.task(task))
            print(f"{name:<16} {task:<16} {f'declines: {reason}' if reason else 'accepts'}")
    return DONE
