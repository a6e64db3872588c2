"""One method before one teacher.

Exits with 0 where a claim was judged, whatever the judge says of it; with 1 where there is none.
"""

import argparse
import time
from contextlib import suppress
from pathlib import Path

from paramid.commands import DONE, FAILED, STOPPED, Add
from paramid.commands.arguments import OF_A_CELL, cell, warn
from paramid.commands.show import course, ending
from paramid.records.record import Record, dump
from paramid.words.naming import UsageError
from paramid.words.status import Status

EXAMPLE = "paramid run spm shallow:D=20,m=36 --seed 0"


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    add("method", metavar="METHOD", help="a name, or name:option=value,option=value (see `paramid list`)")
    add("task", metavar="TASK", help="likewise, such as shallow:D=20,m=40")
    add("--seed", type=int, default=0, help="of the teacher and of the method's own draws (default: 0)")
    cell(add, time_limit="none", memory_limit="none")
    add("--json", action="store_true", help="one JSON object and nothing else on stdout")
    add("--claim", type=Path, metavar="FILE.npz", help="write the last claim's arrays (default: nowhere)")
    add("--store", type=Path, metavar="DIR", help="also keep the record there (default: nowhere)")


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    from paramid.running.run import outcome
    from paramid.running.terminal import cropped, live

    if options.claim is not None and (options.claim.is_dir() or not options.claim.absolute().parent.is_dir()):
        raise UsageError(f"--claim is {options.claim}; a file in a folder that is there was wanted")
    asked = {name: getattr(options, name) for name in OF_A_CELL}
    news, begun = News(silent=options.json), time.monotonic()
    what = f"{options.method} before {options.task}"
    with live(lambda: cropped(f"{what}: {time.monotonic() - begun:.0f} s, {news.claims} claims so far")):
        made = outcome(options.method, options.task, options.seed, observe=news.tell, store=options.store, **asked)
    news.tell(made.record)
    print(dump(made.record.to_json()) if options.json else "\n".join(ending(made.record)))
    if options.claim is not None and made.claim:
        options.claim.write_bytes(made.claim)
    if made.record.status is Status.INTERRUPTED:
        kept = {"its record": options.store, "its last claim": options.claim if made.claim else None}
        told = " and ".join(f"{name} is in {place}" for name, place in kept.items() if place is not None)
        warn(f"stopped; {told or 'nothing was kept'}")
        return STOPPED
    return DONE if made.record.answered else FAILED


class News:
    """Prints of a record in the making what it has not printed yet."""

    def __init__(self, *, silent: bool) -> None:
        self.silent, self.printed, self.claims = silent, 0, 0

    def tell(self, record: Record) -> None:
        """Print what is new."""
        lines = course(record)
        with suppress(OSError):  # nobody reads: the cell goes on, and its record is kept
            for line in lines[self.printed :] if not self.silent else ():
                print(line, flush=True)
        self.printed, self.claims = len(lines), len(record.claims)
