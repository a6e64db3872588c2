"""Where methods succeed: a map over two task options, as SVG text.

A cell's colour is the median over seeds of log10 error, from 1 (dark) to 1e-16 (light), the same in every map; the
share of seeds identified and the median error are written in it, so that nothing rests on colour. A cell whose median
seed has no error is hatched; one that no record fills stays empty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from paramid.pictures import svg
from paramid.pictures.axes import LEFT, RIGHT, TOP, WIDTH, heading, heat, stacked
from paramid.pictures.panels import along, by_place, lines, panels, two_axes
from paramid.records.number_format import shown
from paramid.records.quantities import FLOOR, endings, error, error_words, identified, log_median
from paramid.records.record import Record

BEST, WORST = -16, 0  # log10 error at the ends of the colours
HIGH = 32.0  # of a cell


def phase_map(records: Sequence[Record], rows: str | None = None, columns: str | None = None) -> str:
    """One panel for each method, and for each group of tasks that differ in other options too."""
    rows, columns = two_axes(records, rows, columns)
    kept = along(records, (rows, columns))
    most = max(len(group) for ours in lines(kept).values() for group in by_place(ours, (rows, columns)).values())
    narrowest = max(36.0, 7.0 * len(f"{most}/{most}") + 4)  # of a cell
    made, told = [], []
    for method, ours in lines(kept).items():
        for rest, cells in panels(ours, (rows, columns)).items():
            made += [_panel(cells, f"{method} before {rest}", rows, columns, narrowest)]
            told += [f"{method} before {rest}: {endings(cells)}"]
    marks, height = stacked([*made, _bar()])
    width = max(WIDTH, LEFT + narrowest * len(by_place(kept, (columns,))) + 12)
    return svg.document(width, height, *marks, label=f"Phase map over {rows} and {columns}", about=". ".join(told))


def _panel(records: Sequence[Record], title: str, rows: str, columns: str, narrowest: float) -> tuple[str, float]:
    cells = by_place(records, (rows, columns))
    ups, acrosses = sorted({up for up, _ in cells}, reverse=True), sorted({across for _, across in cells})
    wide, bottom = min(max((RIGHT - LEFT) / len(acrosses), narrowest), 90.0), TOP + HIGH * len(ups)
    drawn = [heading(title)]
    for i, up in enumerate(ups):
        drawn += [svg.text(shown(up), LEFT - 6, TOP + HIGH * i + HIGH / 2 + 4, text_anchor="end")]
        for j, across in enumerate(acrosses):
            words = f"{rows}={shown(up)}, {columns}={shown(across)}"
            cell = _cell(cells.get((up, across), []), words, wide - 2, HIGH - 2)
            drawn += [svg.shifted(LEFT + wide * j, TOP + HIGH * i, cell)]
    for j, across in enumerate(acrosses):
        drawn += [svg.text(shown(across), LEFT + wide * (j + 0.5), bottom + 12, text_anchor="middle")]
    middle = (TOP + bottom) / 2
    place = f"rotate(-90 10 {svg.escaped(middle)})"
    drawn += [svg.text(columns, LEFT + wide * len(acrosses) / 2, bottom + 26, text_anchor="middle")]
    drawn += [svg.text(rows, 10.0, middle, text_anchor="middle", transform=place)]
    return "".join(drawn), bottom + 40


def _cell(here: Sequence[Record], words: str, wide: float, high: float) -> str:
    frame = {"width": wide, "height": high, "rx": 2, "stroke": "currentColor", "stroke_opacity": 0.3}
    if not here:
        return svg.titled(f"{words}: no record", svg.element("rect", fill="none", **frame))
    errors = sorted(error(r.metrics) for r in here)
    hatched = math.isinf(level := log_median(errors))
    fill, ink = ("none", "currentColor") if hatched else heat((math.log10(level) - WORST) / (BEST - WORST))
    share, typical = f"{sum(map(identified, here))}/{len(here)}", _short(level, wide)
    return svg.titled(
        f"{words}: median error {error_words(level)} ({', '.join(map(error_words, errors))}); {endings(here)}",
        svg.element("rect", fill=fill, **frame),
        _hatching(wide, high) if hatched else "",
        svg.text(share, wide / 2, 13.0, text_anchor="middle", fill=ink, font_weight="bold"),
        svg.text(typical, wide / 2, 25.0, text_anchor="middle", fill=ink, font_size=10),
    )


def _short(level: float, wide: float) -> str:
    if math.isinf(level) or level <= FLOOR:
        return "0" if level <= FLOOR else "–"
    return shown(level) if wide > 48 else shown(float(f"{level:.0e}"))


def _hatching(wide: float, high: float) -> str:
    starts = range(8 - int(high), int(wide), 8)
    ends = [((max(x, 0.0), min(x, 0.0)), (min(x + high, wide), min(high, wide - x))) for x in starts]
    return "".join(
        svg.path([(a, high + b), (c, high - d)], stroke="currentColor", stroke_opacity=0.2) for (a, b), (c, d) in ends
    )


def _bar() -> tuple[str, float]:
    """The colours, with their errors."""
    wide, levels = (RIGHT - LEFT) / (WORST - BEST + 1), range(WORST, BEST - 1, -1)
    drawn = [svg.text("median error; in a cell: seeds identified / seeds, median error", LEFT, 10.0)]
    for i, level in enumerate(levels):
        fill, _ = heat((level - WORST) / (BEST - WORST))
        drawn += [svg.element("rect", x=LEFT + wide * i, y=16, width=wide, height=10, fill=fill)]
        if level % 4 == 0:
            drawn += [svg.text(shown(10.0**level), LEFT + wide * (i + 0.5), 38.0, text_anchor="middle")]
    return "".join(drawn), 46.0
