"""Drawings within the board's pages: what all of them share is said once, by the style sheet.

A drawing that is a file of its own says its font, its colours and its strokes itself. Within a page a line has a class:
`l` and its look's number, or `b` where it is bold.
"""

from __future__ import annotations

import re

from paramid.pictures import svg
from paramid.pictures.axes import COLOURS, DASHES, GRID

WIDTHS = {"2": "l", "2.5": "b"}


def inlined(drawn: str) -> str:
    """A whole drawing without what `sheet` says."""
    short = drawn.replace(svg.ROOT, "", 1).replace(svg.STYLE, "", 1).replace(' fill="none"', "").rstrip("\n")
    short = short.replace(_told(GRID), ' class="grid"')
    for i, (colour, dash) in enumerate(zip(COLOURS, DASHES, strict=True)):
        dashed = "" if dash == "none" else f' stroke-dasharray="{dash}"'
        for width, letter in WIDTHS.items():
            short = re.sub(f'( stroke="{colour}" stroke-width="{width}"{dashed})(?=/)', f' class="{letter}{i}"', short)
    return short


def sheet() -> str:
    """The rules of style."""
    pairs = zip(COLOURS, DASHES, strict=True)
    looks = (f".l{i}, .b{i} {{ stroke: {c}; stroke-dasharray: {d} }}\n" for i, (c, d) in enumerate(pairs))
    widths = (f"svg [class^={letter}] {{ stroke-width: {width} }}\n" for width, letter in WIDTHS.items())
    grid = "; ".join(f"{name.replace('_', '-')}: {value}" for name, value in GRID.items())
    return (
        "/* drawings */\nfigure svg, details > svg { font: 11px var(--sans); fill: currentColor }\n"
        f"svg :is(path, rect):not([fill]) {{ fill: none }}\n.grid {{ {grid} }}\n{''.join(looks)}{''.join(widths)}"
    )


def _told(attributes: dict[str, object]) -> str:
    return svg.element("x", **attributes)[2:-2]
