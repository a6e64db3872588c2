"""One record whole."""

import argparse

from paramid.commands import DONE, Add
from paramid.commands.arguments import store, warn, wrapped
from paramid.judging.metrics import LIMITS
from paramid.records.escaping import for_terminal
from paramid.records.record import COSTS, Record
from paramid.words.naming import UsageError
from paramid.words.status import Status

EXAMPLE = "paramid show 3f2a"


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    add("key", metavar="KEY", help="a record's key or its first letters")
    store(add)


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    from paramid.records.store import Store

    found = Store.existing(options.store, warn).matching(options.key)
    if len(found) != 1:
        known = ", ".join(r.key for r in found[:5])
        raise UsageError(f"{options.key!r} fits {len(found)} records{f' ({known} …)' if found else ''}; one was wanted")
    print(describe(found[0]), end="")
    facts = ", ".join(f"{k} {v}" for k, v in found[0].provenance.items())
    print(for_terminal(wrapped(f"provenance: {facts}", then="  ")))
    return DONE


def describe(record: Record) -> str:
    """A record for a person."""
    (what, *came), (how, *account) = course(record), ending(record)
    return for_terminal("\n".join([what, how, *came, *account]) + "\n")


def course(record: Record) -> list[str]:
    """What is run, what is known of its teacher, and every claim: lines that a record in the making only adds to."""
    threads = f"{record.threads} thread{'s' if record.threads > 1 else ''}"
    lines = [
        f"{record.method} before {record.task}, seed {record.seed}, {record.device}, {threads}",
        *(f"teacher: {told}" for told in record.obstacles),
    ]
    for number, claim in enumerate(record.claims, 1):
        told = ", ".join(f"{name} {value:.3g}" for name, value in claim.metrics.items() if name != "excess" or value)
        spent = f"{claim.seconds:.2f} s, {claim.queries:,} queries, {claim.samples:,} samples"
        lines.append(wrapped(f"{number:>4} {claim.kind} after {spent}: {told}", then="     "))
    return lines


def ending(record: Record) -> list[str]:
    """How it ended, what it cost and came to."""
    reason = f" -- {record.reason}" if record.reason else ""
    lines = [wrapped(f"{record.status.key}: {record.status.value}{reason}", then="  ")]
    costs = ", ".join(f"{getattr(record, n):,} {n}" for n in COSTS)
    cost = "cost until its last claim" if record.status is Status.INTERRUPTED else "cost"  # nobody knows of the rest
    peak = f", peak {record.peak_mb:.0f} MB" if record.peak_mb else ""
    lines.append(f"{cost}: {record.seconds:.2f} s, {costs}{peak}")
    for name in ("error", "identified", "exact", "output_error", "output_error_relative", *LIMITS):
        if name in record.metrics:
            lines.append(f"{name:>22} {record.metrics[name]:.3g}")
    said = f"said by the method: {', '.join(f'{k} {v:g}' for k, v in record.stats.items())}"
    lines += [wrapped(said, then="  ")] if record.stats else []
    lines += [record.traceback.rstrip()] if record.traceback else []
    lines += ["printed:", record.printed.rstrip()] if record.printed else []
    return [*map(for_terminal, lines), f"key {record.key}"]
