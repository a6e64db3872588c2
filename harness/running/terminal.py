"""Lines on standard error's terminal that are renewed in place; rich is loaded only where there is one."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from paramid.records.escaping import for_terminal

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text


def on_terminal() -> bool:
    """Whether standard error is a terminal whose lines can be written again."""
    if sys.stderr is None or not sys.stderr.isatty():
        return False
    from rich.console import Console

    return Console(stderr=True).is_interactive


@contextmanager
def live(display: Callable[[], RenderableType]) -> Iterator[None]:
    """Show on standard error's terminal what `display` gives, renewed as time passes, below what is printed meanwhile.

    At the end it is gone. Where there is no such terminal nothing is shown.
    """
    if not on_terminal():
        yield
        return
    from rich.console import Console
    from rich.live import Live

    prints = sys.stdout is not None and sys.stdout.isatty()  # what goes elsewhere must arrive there
    console = Console(stderr=True)
    with Live(get_renderable=display, console=console, refresh_per_second=4, transient=True, redirect_stdout=prints):
        yield


@contextmanager
def steps(tell: Callable[[str], object]) -> Iterator[Callable[[str], object]]:
    """What to tell each step as it begins: a terminal shows it live with its seconds, elsewhere `tell` has it."""
    now, since = "", time.monotonic()

    def step(line: str) -> None:
        nonlocal now, since
        now, since = line, time.monotonic()

    with live(lambda: cropped(now and f"{now}: {time.monotonic() - since:.0f} s")):
        yield step if on_terminal() else tell


def cropped(line: str, style: str = "") -> Text:
    """A line that ends at the terminal's width."""
    from rich.text import Text

    return Text(for_terminal(line), style, no_wrap=True, overflow="ellipsis")


def show_line(line: str) -> None:
    """Leave a line on the terminal, wrapped between words."""
    from rich.console import Console
    from rich.text import Text

    with suppress(OSError):
        Console(stderr=True).print(Text(for_terminal(line)))
