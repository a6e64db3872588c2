"""The records of a store, or published ones, as a table."""

import argparse
import os
import sys
from collections.abc import Sequence

from paramid.commands import DONE, Add
from paramid.commands.arguments import SOURCES, format, published_records, store, warn
from paramid.records import text_tables
from paramid.records.record import Record
from paramid.words.naming import UsageError

EXAMPLE = """paramid table --format markdown
paramid table --tasks shallow --sort seconds --columns task method seconds bits
paramid table --records published --best 3
paramid table --records published --leaders 12"""


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    store(add)
    add("--records", metavar="WHERE", help=f"published records instead of a store: {SOURCES}")
    add("--methods", nargs="+", default=(), metavar="M", help="only these (default: all, controls too)")
    add("--tasks", nargs="+", default=(), metavar="PREFIX", help="only these and the same with further options")
    add("--best", type=int, metavar="N", help="the N best methods of each task, and where the records come from")
    add("--leaders", type=int, metavar="N", help="who leads a family by an access, in N rows, as the board says it")
    add("--sort", nargs="+", default=(), metavar="C", help="best first by these columns (default: task by task)")
    add("--columns", nargs="+", default=(), metavar="C", help="these and no others; any metric is one")
    format(add)


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    from paramid.records.provenance import mixed_seconds
    from paramid.records.selection import chosen, newest
    from paramid.records.store import Store

    for name in ("best", "leaders"):
        if (most := getattr(options, name)) is not None and most < 1:
            raise UsageError(f"--{name} is {most}; a whole number from 1 was wanted")
    if options.leaders is not None:
        return _leaders(options)
    if options.records is not None:
        records = newest(published_records(options.records).ranked.values())
    else:
        records = newest(Store.existing(options.store, warn).records(), each_budget=True)
    if options.methods or options.tasks:
        records = chosen(records, options.methods or sorted({r.method for r in records}), options.tasks)
    made = text_tables.rows(records, (*options.columns, *options.sort))
    made = made if options.best is None else text_tables.best(made, options.best)
    made = text_tables.ordered(made, options.sort)
    captioned = options.best is not None and options.format == "markdown"
    if made or not captioned:
        print_table(made, options.format, options.columns)
    if captioned:
        caption(records, below=bool(made))
    if mixed := mixed_seconds(records):
        warn(mixed)
    return DONE


def _leaders(options: argparse.Namespace) -> int:
    from paramid.board.family.leaders import HEAD, leaders
    from paramid.board.summary import Summary
    from paramid.records.selection import chosen
    from paramid.records.store import Store

    if options.records is not None:
        shown = published_records(options.records)
        ranked, verdicts = dict(shown.ranked), shown.verdicts
    else:
        ranked, verdicts = {r.key: r for r in Store.existing(options.store, warn).records()}, ()
    if options.methods or options.tasks:
        kept = set(map(id, chosen(list(ranked.values()), options.methods, options.tasks)))
        ranked = {digest: r for digest, r in ranked.items() if id(r) in kept}
    summary = Summary(ranked, verdicts)
    print_table(leaders(summary.tables, options.leaders), options.format, options.columns or HEAD)
    if options.format == "markdown":
        caption(summary.records)
    return DONE


def caption(records: Sequence[Record], *, below: bool = True) -> None:
    """How many records stand, as the board counts them: the newest of every seed, controls left out."""
    from paramid.records.provenance import made_on
    from paramid.records.selection import entrants

    stand = [r for ours in entrants(records).values() for r in ours]
    print(*([""] if below else []), f"*{len(stand):,} records: {', '.join(made_on(stand))}.*", sep="\n")


def print_table(made: Sequence[text_tables.Row], form: str, columns: Sequence[str] = ()) -> None:
    """Print rows: for a terminal in its width and in colour, elsewhere whole; FORCE_COLOR colours that too."""
    narrow = sys.stdout is not None and sys.stdout.isatty()
    if form != "text" or not (narrow or os.environ.get("FORCE_COLOR")):
        print(text_tables.render(made, form, columns), end="")
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    whole = text_tables.grid(made, columns)
    console = Console() if narrow else Console(width=10_000)
    cells = text_tables.fitting(whole, console.width)
    table = Table(box=None, pad_edge=False, padding=(0, len(text_tables.GAP), 0, 0), header_style="bold")
    for name in cells[0]:
        table.add_column(name, no_wrap=True)
    for row in cells[1:]:
        styled = [Text(c, share_style(c) if n == "identified" else "") for n, c in zip(cells[0], row, strict=True)]
        table.add_row(*styled, style="dim" if any(c.startswith("(") for c in row) else "")
    console.print(table)
    if dropped := [name for name in whole[0] if name not in cells[0]]:
        note = f"not in {console.width} columns: {', '.join(dropped)} (--format csv has them, or a wider terminal)"
        Console(stderr=True).print(note, style="dim", highlight=False)


def share_style(share: str) -> str:
    """The colour of `identified of seeds`."""
    some, _, all_of_them = share.partition("/")
    return "green" if some == all_of_them else "red" if some == "0" else "yellow" if all_of_them else ""
