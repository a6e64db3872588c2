"""What there is, and what each needs."""

from __future__ import annotations

import argparse

from paramid.commands import DONE, Add
from paramid.commands.arguments import width, wrapped
from paramid.contracts import descriptions, registry
from paramid.running import suites
from paramid.words.naming import UsageError

EXAMPLE = """paramid list methods
paramid list --pairs
paramid list --pairs --task pyramid:D=8,widths=6-4-3"""
FITS, NOT = "yes", "-"


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    add("what", nargs="?", choices=("methods", "tasks", "suites"), help="only these (default: all)")
    add("--pairs", action="store_true", help="which method accepts which task, at default options")
    add("--method", metavar="M", help="with --pairs: before every task, with reasons")
    add("--task", metavar="T", help="with --pairs: every method before it, with reasons")


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    if options.pairs and options.what:
        raise UsageError("--pairs are of methods and tasks alike; what to list was not wanted with it")
    if not options.pairs and (options.method is not None or options.task is not None):
        raise UsageError("--method and --task go with --pairs; `paramid describe NAME` tells of one alone")
    if options.pairs:
        if options.method is not None or options.task is not None:
            list_reasons(options.method, options.task)
        else:
            list_pairs()
        return DONE
    for group in ("methods", "tasks"):
        if options.what in (None, group):
            print(f"{group}:")
            listed = descriptions.entries(group)
            longest = max(len(e.name) for e in listed)
            for entry in listed:
                needs = f"  [{', '.join(entry.access)}]" if entry.access else ""
                print(wrapped(f"{entry.name:<{longest}}  {entry.doc}{needs}", first="  ", then=" " * (longest + 4)))
    if options.what in (None, "suites"):
        print("suites:")
        for name, suite in suites.suites().items():
            print(wrapped(f"{name}  (version {suite.version}) {suite.about}", first="  ", then="      "))
    return DONE


def list_pairs() -> None:
    """A matrix: a row a method, a column a task; where it is too wide, one below the other."""
    methods, tasks = list(registry.names("methods")), list(registry.names("tasks"))
    first = max(map(len, methods))
    while tasks:
        count = len(tasks)
        while count > 1 and first + sum(1 + len(task) for task in tasks[:count]) > width():
            count -= 1
        block, tasks = tasks[:count], tasks[count:]
        print(" ".join([" " * first, *block]).rstrip())
        for name in methods:
            marks = ((FITS if reason_against(name, task) is None else NOT).ljust(len(task)) for task in block)
            print(" ".join([name.ljust(first), *marks]).rstrip())
    print(f"{FITS}: accepts it at default options; {NOT}: declines, and --method M or --task T says why")


def list_reasons(method: str | None, task: str | None) -> None:
    """One method before every task, every method before one task, or one pair; a line each."""
    methods, tasks = ([] if one is None else [one] for one in (method, task))
    for group, names in (("methods", methods), ("tasks", tasks)):
        for name in names:
            registry.canonical(group, name)  # what was asked for is there
    methods, tasks = methods or [*registry.names("methods")], tasks or [*registry.names("tasks")]
    named = [(m if task else t, reason_against(m, t)) for m in methods for t in tasks]
    for name, reason in named:
        longest = max(len(n) for n, _ in named)
        told = "accepts" if reason is None else f"declines: {reason}"
        print(wrapped(f"{name:<{longest}}  {told}", then=" " * (longest + 2)))


def reason_against(method: str, task: str) -> str | None:
    """Why a method declines a task, or cannot be used at all; None where it accepts, as controls do."""
    from paramid.contracts.controls import Control
    from paramid.contracts.method import declined

    try:
        ours, theirs = registry.method(method), registry.task(task)
        return None if isinstance(ours, Control) else declined(ours, theirs)
    except UsageError as error:
        return str(error)
    except Exception as error:  # somebody's `declines`
        return f"cannot say: {type(error).__name__}: {error}"
