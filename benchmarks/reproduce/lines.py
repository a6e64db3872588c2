"""Lines through points over two logarithmic axes, as SVG."""

import math
from collections.abc import Mapping, Sequence

from paramid.pictures import svg
from paramid.pictures.axes import LEFT, RIGHT, TOP, WIDTH, Scale, axes, legend, styles
from paramid.records.number_format import shown
from paramid.words.naming import UsageError

BOTTOM = TOP + 230
Series = Mapping[str, Sequence[tuple[float, float]]]


def chart(series: Series, *, title: str, across: str, up: str) -> str:
    """A line for every name; what is not positive and finite is left out."""
    finite = {n: [p for p in points if math.isfinite(p[1]) and p[1] > 0] for n, points in series.items()}
    drawn = {n: points for n, points in finite.items() if points}
    if not drawn:
        raise UsageError("no record has the numbers of this figure")
    every = [p for points in drawn.values() for p in points]
    x, y = Scale.around([p[0] for p in every], LEFT, RIGHT), Scale.around([p[1] for p in every], BOTTOM, TOP)
    looks = styles(list(drawn))
    marks = [axes(x, y, title=title, across=across, up=up, ticks=sorted({p[0] for p in every}))]
    for name, points in drawn.items():
        places = [(x(a), y(b)) for a, b in points]
        marks += [looks[name].line(places, width=2), *(looks[name].mark(*place) for place in places)]
    rows, height = legend([(looks[n], n, shown(min(p[1] for p in ps)), "at best") for n, ps in drawn.items()])
    marks.append(svg.shifted(0, BOTTOM + 36, rows))
    about = "; ".join(f"{n}: " + ", ".join(f"{shown(a)} {shown(b)}" for a, b in ps) for n, ps in drawn.items())
    return svg.document(WIDTH, BOTTOM + 42 + height, *marks, label=title, about=about)
