"""Arguments that several commands take, and how notes reach the reader."""

import sys
from pathlib import Path

from paramid.commands import Add

LIMITS = ("time_limit", "query_limit", "memory_limit")


def limits(add: Add) -> None:
    """The device and what a cell may cost."""
    add("--device", choices=("cpu", "cuda", "auto"), default="cpu")
    add("--time-limit", type=float, metavar="S", help="seconds a method may work (judging excluded)")
    add("--query-limit", type=int, metavar="N", help="rows a method may query")
    add("--memory-limit", type=float, metavar="MB", help="memory of a cell's process")


def store(add: Add) -> None:
    """Where records are."""
    add("--store", type=Path, default=Path("paramid-store"), metavar="DIR", help="default: ./paramid-store")


def format(add: Add) -> None:
    """How a table is written."""
    add("--format", choices=("text", "markdown", "csv", "json"), default="text")


def warn(note: str) -> None:
    """Tell the reader something that is no result."""
    print(f"paramid: {note}", file=sys.stderr)
