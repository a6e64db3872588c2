"""Arguments that several commands take, and how notes reach the reader."""

from __future__ import annotations

import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from paramid.commands import Add
from paramid.records.escaping import for_terminal

if TYPE_CHECKING:
    from paramid.records.publications.epochs import Standing

SOURCES = "a file, a folder, a checkout, or `published`, those that came with paramid"
OF_A_CELL = ("device", "threads", "time_limit", "query_limit", "memory_limit", "secret")  # what `cell` adds


def cell(add: Add, *, time_limit: str, memory_limit: str) -> None:
    """The device, the threads and what a cell may cost; the texts say what holds where nothing is given."""
    add("--device", choices=("cpu", "cuda", "auto"), default="cpu", help="auto: cuda where there is one (default: cpu)")
    add("--threads", type=int, metavar="N", help="of a cell (default: OMP_NUM_THREADS, else 1)")
    add(
        "--time-limit", type=float, metavar="S",
        help=f"seconds a method may work, judging excluded (default: {time_limit})",
    )  # fmt: skip
    add("--query-limit", type=int, metavar="N", help="rows a method may query (default: none)")
    add("--memory-limit", type=float, metavar="MB", help=f"memory of a method's process (default: {memory_limit})")
    add(
        "--secret", type=Path, metavar="FILE",
        help="32 bytes and more from which teachers are drawn, so that nobody can know them (default: seeds alone)",
    )  # fmt: skip


def store(add: Add) -> None:
    """Where records are."""
    add("--store", type=Path, default=Path("paramid-store"), metavar="DIR", help="default: ./paramid-store")


def published_records(where: str | Path) -> Standing:
    """What was published there, and what of it ranks; every line that cannot be trusted is told."""
    from paramid.records.publications import epochs

    return epochs.shown(where, warn)


def format(add: Add) -> None:
    """How a table is written."""
    add("--format", choices=("text", "markdown", "csv", "json"), default="text")


def width(most: int = 10_000) -> int:
    """The columns that a line may take: the terminal's; elsewhere as many as it has."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    return min(most, shutil.get_terminal_size().columns) if terminal else most


def wrapped(text: str, most: int = 10_000, first: str = "", then: str = "") -> str:
    """A text within `width`, cut between words, its lines indented so."""
    return textwrap.fill(
        text, width(most), initial_indent=first, subsequent_indent=then, break_long_words=False, break_on_hyphens=False
    )


def warn(note: str) -> None:
    """Tell the reader something that is no result."""
    say(f"paramid: {note}")


def say(line: str) -> None:
    """A line on standard error, cut between words on a terminal."""
    narrow = sys.stderr is not None and sys.stderr.isatty()
    columns = shutil.get_terminal_size().columns if narrow else 10_000
    print(
        "\n".join(textwrap.wrap(for_terminal(line), columns, break_long_words=False, break_on_hyphens=False)),
        file=sys.stderr,
    )
