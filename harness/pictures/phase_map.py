"""Where methods succeed: a map over two task options.

A cell's colour is the median over seeds of log10 error, from 1 (dark) to 1e-16 (light), the same in every map; the
share of seeds identified and the median error are written in it, so that nothing rests on colour. A cell whose median
seed has no error is hatched; one that no record fills stays empty. The scale (cividis) rises in lightness too.

Reference: Nuñez, Anderton & Renslow, doi:10.1371/journal.pone.0199239.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from paramid.pictures.looks import INK, Look
from paramid.pictures.panels import along, by_place, lines, panels, two_axes
from paramid.pictures.sheet import EDGE, LEFT, SMALL, WIDTH, Axes, Figure, line, named, note, rule, sheet
from paramid.pictures.svg import titled
from paramid.records.number_format import shown
from paramid.records.quantities import FLOOR, endings, error, error_words, identified, log_median
from paramid.records.record import Record

BEST, WORST = -16, 0  # log10 error at the ends of the colours
HIGH, WIDEST = 32.0, 90.0  # of a cell
BAR, HATCH = 10.0, 8.0
CIVIDIS = ("00204D", "00336F", "39486B", "575C6D", "707173", "8A8779", "A69D75", "C4B56C", "E4CF5B", "FFEA46")


def phase_map(records: Sequence[Record], rows: str | None = None, columns: str | None = None) -> Figure:
    """One panel for each method, and for each group of tasks that differ in other options too."""
    rows, columns = two_axes(records, rows, columns)
    kept = along(records, (rows, columns))
    most = max(len(group) for ours in lines(kept).values() for group in by_place(ours, (rows, columns)).values())
    narrowest = max(36.0, 7.0 * len(f"{most}/{most}") + 4)  # of a cell
    made = {
        f"{method} before {rest}": cells
        for method, ours in lines(kept).items()
        for rest, cells in panels(ours, (rows, columns)).items()
    }
    width = max(WIDTH, LEFT + narrowest * len(by_place(kept, (columns,))) + EDGE)
    bodies = [HIGH * len({up for up, _ in by_place(cells, (rows, columns))}) for cells in made.values()]
    about = ". ".join(f"{title}: {endings(cells)}" for title, cells in made.items())
    figure, every = sheet([*bodies, BAR], f"Phase map over {rows} and {columns}", about, width=width)
    for axes, (title, cells) in zip(every, made.items(), strict=False):
        _panel(axes, cells, title, rows, columns, width - LEFT - EDGE, narrowest)
    _bar(every[-1])
    return figure


def heat(share: float) -> tuple[str, str]:
    """The colour at a share of the scale, and the one that can be read on it."""
    place = min(max(share, 0.0), 1.0) * (len(CIVIDIS) - 1)
    i = min(int(place), len(CIVIDIS) - 2)
    ends = [[int(c[j : j + 2], 16) for j in (0, 2, 4)] for c in CIVIDIS[i : i + 2]]
    mixed = [round(a + (b - a) * (place - i)) for a, b in zip(*ends, strict=True)]
    light = 0.2126 * mixed[0] ** 2.2 + 0.7152 * mixed[1] ** 2.2 + 0.0722 * mixed[2] ** 2.2
    return "#" + "".join(f"{c:02x}" for c in mixed), "#010101" if light > 0.18 * 255**2.2 else "#ffffff"


def _panel(
    axes: Axes, records: Sequence[Record], title: str, rows: str, columns: str, width: float, narrowest: float
) -> None:
    cells = by_place(records, (rows, columns))
    ups, acrosses = sorted({up for up, _ in cells}, reverse=True), sorted({across for _, across in cells})
    wide = min(max(width / len(acrosses), narrowest), WIDEST)
    named(axes, title=title, across=columns, up=rows)
    axes.xaxis.set_label_coords(wide * len(acrosses) / 2 / width, -25.0 / (HIGH * len(ups)))
    axes.set_xlim(0, width / wide)
    axes.set_ylim(len(ups), 0)
    rule(axes, "x", [j + 0.5 for j in range(len(acrosses))], lambda place: shown(acrosses[int(place)]))
    rule(axes, "y", [i + 0.5 for i in range(len(ups))], lambda place: shown(ups[int(place)]))
    axes.grid(False)
    for i, up in enumerate(ups):
        for j, across in enumerate(acrosses):
            if here := cells.get((up, across)):
                _cell(axes, here, f"{rows}={shown(up)}, {columns}={shown(across)}", (j, i), wide)


def _cell(axes: Axes, here: Sequence[Record], words: str, place: tuple[int, int], wide: float) -> None:
    from matplotlib.patches import Rectangle

    (x, y), errors = place, sorted(error(r.metrics) for r in here)
    hatched = math.isinf(level := log_median(errors))
    fill, ink = (INK, INK) if hatched else heat((math.log10(level) - WORST) / (BEST - WORST))
    edge, told = 1 / wide, f"{words}: median error {error_words(level)} ({', '.join(map(error_words, errors))})"
    frame = Rectangle((x + edge, y + 1 / HIGH), 1 - 2 * edge, 1 - 2 / HIGH, facecolor=fill, linewidth=0, clip_on=False)
    frame.set_alpha(0.06 if hatched else None)
    frame.set_gid(titled(f"{told}; {endings(here)}"))
    axes.add_artist(frame)
    if hatched:
        _hatch(axes, x, y, wide)
    said = ((f"{sum(map(identified, here))}/{len(here)}", 0.33, "bold"), (_short(level, wide), 0.71, "normal"))
    for text, down, weight in said:
        axes.text(x + 0.5, y + down, text, color=ink, fontsize=SMALL, weight=weight, ha="center", va="center")


def _short(level: float, wide: float) -> str:
    if math.isinf(level) or level <= FLOOR:
        return "0" if level <= FLOOR else "–"
    return shown(level) if wide > 48 else shown(float(f"{level:.0e}"))


def _hatch(axes: Axes, x: float, y: float, wide: float) -> None:
    """Slanted lines at equal distances, as one line with gaps."""
    across, down = wide - 2, HIGH - 2
    xs: list[float] = []
    ys: list[float] = []
    for k in range(1, int((across + down) / HATCH) + 1):
        start = k * HATCH
        a, b = max(start - down, 0.0), min(start, across)
        xs += [x + (1 + a) / wide, x + (1 + b) / wide, math.nan]
        ys += [y + (1 + start - a) / HIGH, y + (1 + start - b) / HIGH, math.nan]
    line(axes, list(zip(xs, ys, strict=True)), Look(INK, (), ""), width=0.8, alpha=0.2)


def _bar(axes: Axes) -> None:
    """The colours, with their errors."""
    from matplotlib.patches import Rectangle

    levels = range(WORST, BEST - 1, -1)
    axes.set_xlim(0, WORST - BEST + 1)
    axes.set_ylim(0, 1)
    for i, level in enumerate(levels):
        colour, _ = heat((level - WORST) / (BEST - WORST))
        axes.add_artist(Rectangle((i, 0), 1.02, 1, facecolor=colour, linewidth=0, clip_on=False))
    rule(axes, "x", [i + 0.5 for i in range(0, len(levels), 4)], lambda place: shown(10.0 ** levels[int(place)]))
    rule(axes, "y", [], shown)
    axes.grid(False)
    note(axes, (0.0, 9.0), "median error; in a cell: seeds identified / seeds, median error", above=True)
