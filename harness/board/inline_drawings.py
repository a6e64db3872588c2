"""Drawings within the board's pages: what all of them share is said once, by the style sheet.

A drawing that is a file of its own says its font, its colours and its strokes itself. Within a page a rule has the
class `grid`, a number on an axis `n` or `m`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from paramid.pictures import svg
from paramid.words.naming import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHARED = {
    "grid": ' stroke="currentColor" stroke-opacity="0.18" stroke-width="0.8"',
    "n": ' text-anchor="end"',
    "m": ' text-anchor="middle"',
}


def inlined(figure: Figure) -> str:
    """A whole drawing without what `sheet` says."""
    short = svg.svg(figure).replace(svg.ROOT, "", 1).replace(svg.STYLE, "", 1).replace(' fill="none"', "")
    for name, told in SHARED.items():
        short = short.replace(f"{told}>", f' class="{name}">').replace(f"{told}/>", f' class="{name}"/>')
    return short.rstrip("\n")


def drawn(draw: Callable[[], Figure]) -> str:
    """The drawing, or nothing where these records have nothing to draw."""
    try:
        return inlined(draw())
    except UsageError:
        return ""


def sheet() -> str:
    """The rules of style."""
    rules = (
        f".{name} {{ {'; '.join(pair.replace('=', ': ', 1) for pair in told.replace(chr(34), '').split())} }}\n"
        for name, told in SHARED.items()
    )
    drawing = "figure svg"
    return (
        f"/* drawings */\n{drawing} {{ font: 10px var(--sans); fill: currentColor }}\n"
        f"{drawing} text {{ pointer-events: none }}\nsvg :is(path, rect):not([fill]) {{ fill: none }}\n"
        + "".join(f"svg {rule}" for rule in rules)
    )
