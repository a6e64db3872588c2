"""A figure of panels one below the other, in points, 72 an inch: ruled axes, lines that are named at their ends.

What comes is a figure of matplotlib and can be restyled as any other: `figure.axes`, their lines, texts and titles. A
line or marker whose numbers are results has the name of what they are of as its label, a panel what goes up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from paramid.pictures.labels import LETTER, shortened, spread
from paramid.pictures.looks import INK, Look
from paramid.pictures.scale import Scale
from paramid.pictures.svg import clean, titled
from paramid.records.number_format import shown
from paramid.records.quantities import UNITS
from paramid.words.naming import UsageError

try:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
    from matplotlib.lines import Line2D
    from matplotlib.text import Text
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator
except ImportError as error:
    raise UsageError("pictures are drawn by matplotlib: pip install 'paramid[plot]'") from error

WIDTH, LEFT, EDGE = 390.0, 44.0, 10.0  # readable where a page leaves a figure 340 pixels
TOP, BODY, BELOW = 36.0, 190.0, 46.0  # of a panel: title and what goes up, the axes, numbers and what goes across
SIZE, SMALL, GAP = 11.0, 10.0, 12.5  # of fonts; between labels
PALE, SOFT = 0.18, 0.72  # of ink: rules, and words that explain
MARK = 6.5  # the width of a marker
Point = tuple[float, float]


class End(NamedTuple):
    """A line's name, where the line ends in shares of its axes, and its look."""

    name: str
    words: str
    place: Point
    look: Look


def sheet(
    bodies: Sequence[float], label: str, about: str = "", *,
    width: float = WIDTH, right: float = EDGE, below: float = BELOW, foot: float = 0.0,
) -> tuple[Figure, list[Axes]]:  # fmt: skip
    """A figure with room for panels of these heights, and for words: `right` of them, `below` each, at the `foot`."""
    height = sum(TOP + body + below for body in bodies) + foot
    figure = Figure(figsize=(width / 72, height / 72), dpi=72, facecolor="none")
    figure.set_label(clean(label))
    figure.set_gid(clean(about))
    made, top = [], height
    for body in bodies:
        low = top - TOP - body
        place = (LEFT / width, low / height, (width - LEFT - right) / width, body / height)
        axes = figure.add_axes(place, frameon=False)
        axes.tick_params(length=0, colors=INK, labelsize=SMALL, which="both")
        made.append(axes)
        top = low - below
    return figure, made


def named(axes: Axes, *, title: str, across: str, up: str) -> None:
    """The words of a panel."""
    short = clipped(title, 48)
    heading = axes.set_title(clean(short), loc="left", x=0.0, y=1.0, pad=20.0, fontsize=SIZE, color=INK, weight="bold")
    if short != title:
        heading.set_gid(titled(title))
    note(axes, (0.0, 9.0), clean(up), above=True)
    axes.set_label(clean(up))
    axes.set_xlabel(clean(across), fontsize=SMALL, color=INK, alpha=SOFT)
    axes.xaxis.set_label_coords(0.5, -25.0 / high(axes))


def note(axes: Axes, place: Point, words: str, *, above: bool = False, **told: object) -> Text:
    """Words at points from the lower left corner of a panel, or from the upper one; small and soft."""
    x, y = place[0] / wide(axes), place[1] / high(axes)
    style: dict[str, object] = {"fontsize": SMALL, "color": INK, "alpha": SOFT, "va": "center", **told}
    return axes.text(x, y + above, clean(words), transform=axes.transAxes, **style)  # type: ignore[arg-type]


def logarithmic(axes: Axes, x: Scale | None, y: Scale | None, ticks: Sequence[float] = ()) -> None:
    """Axes over two scales, ruled; ticks on x too close to the last one have no number."""
    if x is not None:
        axes.set_xscale("log")
        axes.set_xlim(x.low, x.high)
        rule(axes, "x", thinned(sorted(ticks) or x.ticks(), lambda value: x.share(value) * wide(axes)), shown)
    if y is not None:
        axes.set_yscale("log")
        axes.set_ylim(y.low, y.high)
        rule(axes, "y", y.ticks(int(high(axes) / 24)), shown)


def rule(axes: Axes, which: str, values: Sequence[float], words: Callable[[float], str]) -> None:
    """Rules with their numbers across one axis."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(FixedLocator(list(values)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FixedFormatter([words(value) for value in values]))
    axis.grid(True, color=INK, alpha=PALE, linewidth=0.8)
    axis.set_tick_params(pad=5)


def thinned(values: Iterable[float], place: Callable[[float], float]) -> list[float]:
    """Those whose numbers do not run into each other."""
    kept: list[float] = []
    for value in values:
        room = LETTER * SMALL * (len(shown(value)) + len(shown(kept[-1]))) / 2 + 7 if kept else 0.0
        if not kept or place(value) - place(kept[-1]) >= room:
            kept.append(value)
    return kept


def line(
    axes: Axes,
    points: Sequence[Point],
    look: Look,
    *,
    width: float = 2.0,
    told: str = "",
    ended: bool = False,
    **more: object,
) -> Line2D:
    """A line through points, `ended` with the marker of its look; `told` are the numbers behind it."""
    style: dict[str, object] = {"solid_joinstyle": "round", "solid_capstyle": "butt", **more}
    if look.dash:
        style["linestyle"] = (0, [length / width for length in look.dash])
    if ended:
        last = {"marker": look.marker, "markersize": MARK, "markeredgewidth": 0, "markevery": [len(points) - 1]}
        style = {**last, **style}
    return _added(axes, points, look.colour, told, linewidth=width, **style)


def mark(axes: Axes, point: Point, look: Look, *, told: str = "", **more: object) -> Line2D:
    """The marker of a look at a point."""
    style = {"marker": look.marker, "markersize": MARK, "markeredgewidth": 0, "linestyle": "", **more}
    return _added(axes, [point], look.colour, told, **style)


def _added(axes: Axes, points: Sequence[Point], colour: str, told: str, **style: object) -> Line2D:
    """A line as `axes.plot` makes it, without what that asks of the axes: they hold their scales."""
    made = Line2D([p[0] for p in points], [p[1] for p in points], color=colour, clip_on=False, **style)  # type: ignore[arg-type]
    if told:
        made.set_gid(titled(told))
    axes.add_artist(made)  # not `add_line`, which asks for the limits of all that is there
    return made


def cross(axes: Axes, point: Point, look: Look, *, told: str = "") -> Line2D:
    """A failure at a point."""
    return mark(axes, point, look, told=told, marker="x", markersize=6, markeredgewidth=1.6)


def name_ends(axes: Axes, ends: Sequence[End]) -> None:
    """The names of lines in a column beside the axes, led there: at the heights of their ends, as far as they fit."""
    tall, across = high(axes), wide(axes)
    heights = spread([end.place[1] * tall for end in ends], GAP, 0.0, tall)
    for end, height in zip(ends, heights, strict=True):
        x, y = end.place
        led = [(min(x, 1.0), y), (1.0 + 4 / across, height / tall), (1.0 + 12 / across, height / tall)]
        plain = end.look._replace(dash=())
        line(axes, led, plain, width=0.7, ended=True, transform=axes.transAxes, markersize=5.5)
        text = note(axes, (across + 19, height), end.words, alpha=1.0)
        if not end.words.startswith(end.name):
            text.set_gid(titled(end.name))


def room_for(words: Iterable[str]) -> float:
    """The width of a column of names."""
    return 19 + LETTER * SMALL * max(map(len, words), default=0) + 4


def end_words(results: Mapping[str, str]) -> dict[str, str]:
    """A name with its result, short, no two alike."""
    short = shortened(results)
    return {name: f"{short[name]} {result}".rstrip() for name, result in results.items()}


def body_for(lines: int) -> float:
    """The height of axes beside which so many names fit."""
    return max(BODY, GAP * (lines - 1) + 2)


def wide(axes: Axes) -> float:
    """The width of a panel in points."""
    return float(axes.get_position().width * axes.figure.get_figwidth() * 72)  # type: ignore[union-attr]


def high(axes: Axes) -> float:
    """Its height."""
    return float(axes.get_position().height * axes.figure.get_figheight() * 72)  # type: ignore[union-attr]


def plain(over: str) -> str:
    """The name of a cost, for an axis."""
    return UNITS[over].partition(" (")[0]


def clipped(words: str, most: int) -> str:
    """Words that fit; their title says all."""
    return words if len(words) <= most else words[: most - 1] + "…"
