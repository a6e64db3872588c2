"""What an error that left a method means for its cell: a status, one line, a traceback."""

from __future__ import annotations

import errno
import signal
import traceback

from paramid.contracts.method import GiveUp
from paramid.oracle.protocol import BudgetSpent
from paramid.words.status import Status

LONGEST, LINE = 20_000, 2000  # characters of what an error says, and of that in one line


def ending(error: Exception) -> tuple[Status, str]:
    """The status of an error that left a method, and its one line."""
    try:
        said = str(error)
    except Exception as second:  # an error of the method's own making
        said = f"(no words: its __str__ raised {type(second).__name__})"
    line = one_line(f"{type(error).__name__}: {said}")
    if isinstance(error, GiveUp):
        return Status.GAVE_UP, one_line(said)
    if isinstance(error, BudgetSpent):
        return Status.BUDGET_SPENT, one_line(said)
    torchs = isinstance(error, RuntimeError) and ("can't allocate memory" in said or "out of memory" in said)
    systems = isinstance(error, OSError) and error.errno == errno.ENOMEM
    return Status.OUT_OF_MEMORY if torchs or systems or isinstance(error, MemoryError) else Status.RAISED, line


def one_line(text: str) -> str:
    """The first line of a text as a terminal can show it."""
    first = text.lstrip().partition("\n")[0][:LINE]
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in first)


def trace_of(error: Exception) -> str:
    """The end of an error's traceback."""
    try:
        return "".join(traceback.format_exception(error))[-LONGEST:]
    except Exception:  # an error that cannot be put into words
        return "".join(traceback.format_tb(error.__traceback__))[-LONGEST:]


def killed_by(number: int) -> str:
    """What a signal that ended a process means; real-time signals have no name."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = "a real-time signal"
    outside = ", from outside or for want of memory" if name == "SIGKILL" else ""
    return f"killed by signal {number} ({name}{outside})"
