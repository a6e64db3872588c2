"""What figures share: logarithmic axes, line styles that do not rest on colour, legends, colours of a scale.

A method has a colour, a dash and a marker of its own: eight colours of Okabe & Ito, whose black is the page's text
colour and whose yellow is left out (invisible on white), and a scale (cividis) that rises in lightness too.

References: Okabe & Ito, Color universal design, 2008; Nuñez, Anderton & Renslow, doi:10.1371/journal.pone.0199239.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from paramid.pictures import svg
from paramid.records.number_format import shown

WIDTH, LEFT, RIGHT, TOP = 420.0, 50.0, 408.0, 22.0  # one panel: readable where a page leaves it 400 pixels
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "currentColor")
DASHES = ("none", "7 3", "2 2", "8 3 2 3", "12 3", "5 2 1 2 1 2", "1 4")
MARKERS = (
    "M-3.5 0A3.5 3.5 0 1 1 3.5 0A3.5 3.5 0 1 1-3.5 0Z", "M-3-3H3V3H-3Z", "M0-4L4 3H-4Z", "M0-4.5L4.5 0L0 4.5L-4.5 0Z",
    "M0 4L4-3H-4Z", "M-4-1H-1V-4H1V-1H4V1H1V4H-1V1H-4Z", "M-4-3.5H4L-4 3.5H4Z", "M-4-4L0-1L4-4L1 0L4 4L0 1L-4 4L-1 0Z",
)  # fmt: skip
GRID: dict[str, object] = {"stroke": "currentColor", "stroke_opacity": 0.18}
CROSS = "M-3.5-3.5L3.5 3.5M-3.5 3.5L3.5-3.5"
CIVIDIS = ("00204D", "00336F", "39486B", "575C6D", "707173", "8A8779", "A69D75", "C4B56C", "E4CF5B", "FFEA46")


@dataclass(frozen=True)
class Style:
    """How one method looks wherever it is drawn in a figure."""

    colour: str
    dash: str
    marker: str

    def line(self, points: Iterable[tuple[float, float]], *, width: float, opacity: float = 1.0) -> str:
        """A line through points."""
        dashed = {} if self.dash == "none" else {"stroke_dasharray": self.dash}
        pale = {} if opacity == 1 else {"stroke_opacity": opacity}
        return svg.path(points, stroke=self.colour, stroke_width=width, **dashed, **pale)

    def mark(self, x: float, y: float, *, opacity: float = 1.0) -> str:
        """The marker at a point."""
        pale = {} if opacity == 1 else {"fill_opacity": opacity}
        return svg.shifted(x, y, svg.element("path", d=self.marker, fill=self.colour, **pale))

    def cross(self, x: float, y: float) -> str:
        """A failure at a point."""
        return svg.shifted(x, y, svg.element("path", d=CROSS, fill="none", stroke=self.colour, stroke_width=1.8))


def styles(names: Sequence[str]) -> dict[str, Style]:
    """A style for each name: all three different for seven of them, the three together for 56."""
    return {
        name: Style(COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)], MARKERS[i % len(MARKERS)])
        for i, name in enumerate(names)
    }


@dataclass(frozen=True)
class Scale:
    """A logarithmic axis: x becomes start + (end - start) log(x/low) / log(high/low), held between the ends."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def around(cls, values: Iterable[float], start: float, end: float) -> Scale:
        """The axis that holds positive values with a margin; 1 alone where there are none."""
        seen = [v for v in values if v > 0 and math.isfinite(v)] or [1.0]
        margin = max((max(seen) / min(seen)) ** 0.06, 1.6)  # so that a round number lies within
        return cls(min(seen) / margin, max(seen) * margin, start, end)

    def __call__(self, value: float) -> float:
        """The place of a value."""
        share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        return self.start + (self.end - self.start) * min(share, 1.0)

    def ticks(self, most: int = 7) -> list[float]:
        """Round numbers within: powers of ten, or 1, 2 and 5 times these where few powers fit."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        step = math.ceil((last - first + 1) / most)
        every = [
            float(f"{n}e{k}") for k in range(first, last + 1, step) for n in ((1, 2, 5) if last - first < 4 else (1,))
        ]
        return [v for v in every if self.low <= v <= self.high]


def axes(x: Scale, y: Scale, *, title: str, across: str, up: str, ticks: Sequence[float] = ()) -> str:
    """The frame of a panel: grid, numbers, names; ticks on x too close to the last one are left out."""
    grid = [[(x.start, y(value)), (x.end, y(value))] for value in y.ticks()]
    numbers = [svg.text(shown(value), y=y(value) + 4) for value in y.ticks()]
    drawn = [heading(title), svg.shifted(x.start - 5, 0, *numbers, text_anchor="end")]
    last, numbers = -math.inf, []
    for value in sorted(ticks) or x.ticks():
        if x(value) - last >= 6 * len(shown(value)) + 8:
            last = x(value)
            grid += [[(last, y.start), (last, y.end)]]
            numbers += [svg.text(shown(value), last)]
    drawn += [
        svg.shifted(0, y.start + 14, *numbers, text_anchor="middle"),
        svg.paths(grid, **GRID),
    ]
    drawn += [svg.text(across, (x.start + x.end) / 2, y.start + 29, text_anchor="middle")]
    middle = (y.start + y.end) / 2
    place = f"rotate(-90 10 {svg.escaped(middle)})"
    drawn += [svg.text(up, 10.0, middle, text_anchor="middle", transform=place)]
    return "".join(drawn)


def heading(words: str) -> str:
    """The name of a panel."""
    short = clipped(words, 54)
    drawn = svg.text(short, LEFT, 12.0, font_weight="bold")
    return drawn if short == words else svg.titled(words, drawn)


def legend(entries: Sequence[tuple[Style, str, str, str]], *, markers: bool = True) -> tuple[str, float]:
    """One row for each method, and the height of all: name, result, share identified; how it ended is in its title.

    Without `markers` the rows are lines alone and have no titles: a table beside the figure says it.
    """
    rows = []
    for i, (style, name, result, endings) in enumerate(entries):
        y = 16.0 * i + 6
        words = svg.text(clipped(f"{clipped(name, 30)}: {result}, {endings.split(';')[0]}", 56), LEFT + 42, y + 4)
        sample = style.line([(LEFT, y), (LEFT + 34, y)], width=2) + (style.mark(LEFT + 17, y) if markers else "")
        rows += [svg.titled(f"{name}: {result}, {endings}", sample, words) if markers else sample + words]
    return "".join(rows), 16.0 * len(rows) + 8


def clipped(words: str, most: int) -> str:
    """Words that fit; their title says all."""
    return words if len(words) <= most else words[: most - 1] + "…"


def stacked(panels: Sequence[tuple[str, float]]) -> tuple[list[str], float]:
    """Panels with their heights, one below the other."""
    tops = [sum(height for _, height in panels[:i]) for i in range(len(panels) + 1)]
    return [svg.shifted(0, top, drawn) for top, (drawn, _) in zip(tops, panels, strict=False)], tops[-1]


def heat(share: float) -> tuple[str, str]:
    """The colour at a share of the scale, and the one that can be read on it."""
    place = min(max(share, 0.0), 1.0) * (len(CIVIDIS) - 1)
    i = min(int(place), len(CIVIDIS) - 2)
    ends = [[int(c[j : j + 2], 16) for j in (0, 2, 4)] for c in CIVIDIS[i : i + 2]]
    mixed = [round(a + (b - a) * (place - i)) for a, b in zip(*ends, strict=True)]
    light = 0.2126 * mixed[0] ** 2.2 + 0.7152 * mixed[1] ** 2.2 + 0.0722 * mixed[2] ** 2.2
    return "#" + "".join(f"{c:02x}" for c in mixed), "#000" if light > 0.18 * 255**2.2 else "#fff"
