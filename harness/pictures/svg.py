"""SVG by hand: the same marks give the same bytes, and every word is escaped.

A drawing has a viewBox and no size, so it takes the width it is given; no ids and no style that leaks, so that several
can stand in one page; no background, and the page's own text colour. As a file of its own it follows the reader's
light or dark scheme. Marks carry a `<title>`: the numbers behind them, on hover and for screen readers.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

FONT = "system-ui, -apple-system, DejaVu Sans, sans-serif"
ALONE = "svg:root{color:#1a1a1a}@media(prefers-color-scheme:dark){svg:root{color:#e6e6e6}}"
ROOT = f' xmlns="http://www.w3.org/2000/svg" font-family="{FONT}" font-size="11" fill="currentColor"'
STYLE = f"<style>{ALONE}</style>"
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # by XML 1.0, §2.2


def escaped(words: object) -> str:
    """Words as XML takes them; lengths with two decimals at most."""
    if isinstance(words, float):
        return f"{round(words, 2) + 0:g}" if abs(words) < 1e4 else f"{words:.0f}"
    return html.escape(FORBIDDEN.sub("\ufffd", str(words)))


def element(name: str, *children: str, **attributes: object) -> str:
    """`<name attribute="…">children</name>`; children are markup, `stroke_width` becomes `stroke-width`."""
    told = "".join(f' {key.replace("_", "-")}="{escaped(value)}"' for key, value in attributes.items())
    inside = "".join(children)
    return f"<{name}{told}>{inside}</{name}>" if inside else f"<{name}{told}/>"


def text(words: object, x: float = 0, y: float = 0, **attributes: object) -> str:
    """Words at a point."""
    place = {name: round(value, 1) for name, value in (("x", x), ("y", y)) if value}
    return element("text", escaped(words), **place, **attributes)


def titled(words: str, *children: str, **attributes: object) -> str:
    """Marks with their numbers."""
    return element("g", element("title", escaped(words)), *children, **attributes)


def path(points: Iterable[tuple[float, float]], **attributes: object) -> str:
    """An open line through points."""
    return paths([points], **attributes)


def paths(lines: Iterable[Iterable[tuple[float, float]]], **attributes: object) -> str:
    """Several open lines that look alike, as one mark."""
    return element("path", d="".join(_corners(points) for points in lines), fill="none", **attributes)


def _corners(points: Iterable[tuple[float, float]]) -> str:
    """M, then L, or H and V where a step goes along an axis; one decimal."""
    drawn: list[str] = []
    before = ("", "")
    for point in points:
        x, y = here = (escaped(round(point[0], 1)), escaped(round(point[1], 1)))
        step = f"M{x} {y}" if not drawn else f"H{x}" if y == before[1] else f"V{y}" if x == before[0] else f"L{x} {y}"
        drawn.append(step)
        before = here
    return "".join(drawn)


def shifted(x: float, y: float, *children: str, **attributes: object) -> str:
    """Marks moved by (x, y)."""
    if x == y == 0 and not attributes:
        return "".join(children)
    return element("g", *children, transform=f"translate({escaped(float(x))} {escaped(float(y))})", **attributes)


def document(width: float, height: float, *children: str, label: str, about: str) -> str:
    """The whole drawing; `label` is its name and `about` what it says, for those who do not see it."""
    drawn = element(
        "svg",
        "\n" + element("desc", escaped(about)),
        STYLE,
        "".join(f"\n{child}" for child in children) + "\n",
        viewBox=f"0 0 {escaped(float(width))} {escaped(float(height))}",
        role="img",
        aria_label=label,
    )
    return drawn.replace("<svg", f"<svg{ROOT}", 1) + "\n"
