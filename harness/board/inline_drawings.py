"""Drawings within the board's pages: what all of them share is said once, by the style sheet.

A drawing that is a file of its own says its font, its colours and its strokes itself. Within a page a rule has the
class `grid`, a number on an axis `n` or `m`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from paramid.board.markup import tag
from paramid.pictures import svg
from paramid.records.escaping import for_csv
from paramid.words.naming import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHARED = {
    "grid": ' stroke="currentColor" stroke-opacity="0.18" stroke-width="0.8"',
    "n": ' text-anchor="end"',
    "m": ' text-anchor="middle"',
}


def inlined(figure: Figure) -> str:
    """A whole drawing without what `sheet` says, and its numbers."""
    short = svg.svg(figure).replace(svg.ROOT, "", 1).replace(svg.STYLE, "", 1).replace(' fill="none"', "")
    for name, told in SHARED.items():
        short = short.replace(f"{told}>", f' class="{name}">').replace(f"{told}/>", f' class="{name}"/>')
    return short.rstrip("\n") + _numbers(figure)


def _numbers(figure: Figure) -> str:
    """What is drawn, for the page's script to offer as a table: points of named lines and markers, cells in words.

    A line a row: panel, name and points between tabs, below what goes across and up.
    """
    held: dict[tuple[str, str], list[str]] = {}
    for panel in figure.axes:
        title = panel.get_title(loc="left") or str(panel.get_label())
        for each in (each for each in panel.lines if each.get_label()):
            points = np.asarray(each.get_xydata(), np.float64).tolist()
            told = [f"{x:.4g} {y:.4g}" for x, y in points if math.isfinite(y)]
            held.setdefault((title, str(each.get_label())), []).extend(told)
        held |= {(title, gid.removeprefix(svg.TITLE)): [] for each in panel.patches if (gid := each.get_gid())}
    if not held:
        return ""
    first = figure.axes[0]
    rows = [f"{first.get_xlabel().strip()}\t{first.get_label()}"]
    rows += ["\t".join((*map(_cell, which), " ".join(points))) for which, points in held.items()]
    name = re.sub(r"[^a-z0-9]+", "-", str(figure.get_label()).lower()).strip("-") or "drawing"
    return tag("span", class_="files", data_name=name, data_rows="\n".join(rows))


def _cell(words: str) -> str:
    return re.sub(r"\s+", " ", str(for_csv(words)))


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
