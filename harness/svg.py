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


def text(words: object, x: float, y: float, **attributes: object) -> str:
    """Words at a point."""
    return element("text", escaped(words), x=x, y=y, **attributes)


def titled(words: str, *children: str, **attributes: object) -> str:
    """Marks with their numbers."""
    return element("g", element("title", escaped(words)), *children, **attributes)


def path(points: Iterable[tuple[float, float]], **attributes: object) -> str:
    """An open line through points."""
    return paths([points], **attributes)


def paths(lines: Iterable[Iterable[tuple[float, float]]], **attributes: object) -> str:
    """Several open lines that look alike, as one mark."""
    drawn = ("L".join(f"{escaped(round(x, 1))} {escaped(round(y, 1))}" for x, y in points) for points in lines)
    return element("path", d="".join(f"M{line}" for line in drawn), fill="none", **attributes)


def shifted(x: float, y: float, *children: str) -> str:
    """Marks moved by (x, y)."""
    return element("g", *children, transform=f"translate({escaped(float(x))} {escaped(float(y))})")


def document(width: float, height: float, *children: str, label: str, about: str) -> str:
    """The whole drawing; `label` is its name and `about` what it says, for those who do not see it."""
    drawn = element(
        "svg",
        "\n" + element("desc", escaped(about)),
        element("style", ALONE),
        "".join(f"\n{child}" for child in children) + "\n",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {escaped(float(width))} {escaped(float(height))}",
        role="img",
        aria_label=label,
        font_family=FONT,
        font_size=11,
        fill="currentColor",
    )
    return drawn + "\n"
