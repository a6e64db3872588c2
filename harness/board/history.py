"""Curves over commits as a page: of every cell its error and costs, of every kernel its time and memory by size.

Commits stand at equal distances, the oldest left; the axes upwards are logarithmic. A gap is a commit that did not have
the benchmark, a cross at the top one that failed or had no error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from itertools import groupby, pairwise

from paramid.board.markup import escaped, table, tag
from paramid.pictures import svg
from paramid.pictures.axes import LEFT, RIGHT, TOP, WIDTH, Scale, Style, heading, styles
from paramid.records.number_format import shown
from paramid.statistics.asv_results import Commit, Curve

TITLE = "Over commits"
QUANTITIES = {
    "error": "error", "time": "seconds", "seconds": "seconds", "queries": "rows of the teacher", "peak_mb": "MB",
    "peakmem": "bytes",
}  # fmt: skip
HEIGHT, APART = 112.0, 14.0
CHANGED, MOST = 1.5, 12
LEAD = (
    "What ASV measured of every commit: errors and costs, lower is better. A gap is a commit without that benchmark, "
    "a cross at the top a failure. Seconds compare only along a curve, and one machine is one series."
)


def body(commits: Sequence[Commit]) -> str:
    """The page but for its frame."""
    parts = [tag("h1", TITLE), tag("p", LEAD, class_="lead")]
    for machine, group in groupby(commits, lambda c: c.machine):
        ours = list(group)
        told = f"Machine {machine}: {len(ours)} commits"
        parts += [tag("h2", escaped(told)), changes(ours)]
        drawn = (tag("figure", figure(subject, ours)) for subject in subjects(ours))
        parts += [tag("div", *drawn, class_="figures"), listed(ours)]
    return "".join(parts)


def alone(commits: Sequence[Commit]) -> str:
    """The whole page as one file that fetches nothing."""
    style = files("paramid.board").joinpath("style.css").read_text(encoding="utf-8")
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>paramid · {TITLE}</title>{tag('style', style)}"
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{tag("main", body(commits))}</body></html>\n'


def subjects(commits: Iterable[Commit]) -> list[str]:
    """Cells and kernels with anything to draw, in the order in which they are measured."""
    return list(dict.fromkeys(k.subject for c in commits for k in c.values if k.quantity in QUANTITIES))


def figure(subject: str, commits: Sequence[Commit]) -> str:
    """A panel for each quantity, one below the other, over the same commits."""
    curves = list(dict.fromkeys(k for c in commits for k in c.values if k.subject == subject))
    looks = styles(list(dict.fromkeys(k.line for k in curves)))
    drawn, top, about = [heading(subject)], 14.0, []
    for quantity in QUANTITIES:
        ours = [k for k in curves if k.quantity == quantity]
        if ours:
            drawn.append(svg.shifted(0, top, panel(ours, commits, looks)))
            about.append(f"{quantity}: " + "; ".join(_ends(k, commits) for k in ours))
            top += HEIGHT + 12
    drawn.append(svg.shifted(0, top + TOP, *_hashes(commits)))
    rows = [] if list(looks) == [""] else list(_legend(looks))
    drawn.append(svg.shifted(0, top + TOP + 56, *rows))
    return svg.document(WIDTH, top + TOP + 60 + 16 * len(rows), *drawn, label=subject, about=". ".join(about))


def panel(curves: Sequence[Curve], commits: Sequence[Commit], looks: dict[str, Style]) -> str:
    """The curves of one quantity."""
    seen = [c.values.get(k) for c in commits for k in curves]
    y = Scale.around([v for v in seen if v is not None], HEIGHT, TOP)
    drawn, last = [svg.text(QUANTITIES[curves[0].quantity], LEFT, TOP - 4)], math.inf
    for value in y.ticks():
        if last - y(value) >= APART:
            last = y(value)
            drawn.append(svg.path([(LEFT, last), (RIGHT, last)], stroke="currentColor", stroke_opacity=0.18))
            drawn.append(svg.text(shown(value), LEFT - 5, last + 4, text_anchor="end"))
    for k in curves:
        drawn += _curve(k, commits, looks[k.line], y)
    return "".join(drawn)


def _curve(k: Curve, commits: Sequence[Commit], look: Style, y: Scale) -> Iterator[str]:
    points = [(place(i, len(commits)), c.values.get(k), c) for i, c in enumerate(commits)]
    for (a, before, _), (b, after, _) in pairwise(points):
        if before is not None and after is not None and math.isfinite(before + after):
            yield look.line([(a, y(before)), (b, y(after))], width=2)
    for x, value, commit in points:
        if value is not None:
            mark = look.mark(x, y(value)) if math.isfinite(value) else look.cross(x, TOP)
            name = f"{k.quantity}, {k.line}" if k.line else k.quantity
            yield svg.titled(f"{commit.hash[:8]}: {name} {shown(value)}", mark)


def place(index: int, count: int) -> float:
    """Where a commit stands."""
    return LEFT + (RIGHT - LEFT) * (index + 0.5) / count


def _hashes(commits: Sequence[Commit]) -> Iterator[str]:
    step = math.ceil(len(commits) / ((RIGHT - LEFT) / APART))
    for i, commit in list(enumerate(commits))[::step]:
        x = svg.escaped(place(i, len(commits)))
        yield svg.element("text", commit.hash[:8], text_anchor="end", transform=f"translate({x} 0) rotate(-55)")


def _legend(looks: dict[str, Style]) -> Iterator[str]:
    for i, (name, look) in enumerate(looks.items()):
        y = 16.0 * i
        yield look.line([(LEFT, y), (LEFT + 34, y)], width=2) + look.mark(LEFT + 17, y)
        yield svg.text(name, LEFT + 42, y + 4)


def _ends(k: Curve, commits: Sequence[Commit]) -> str:
    values = [c.values[k] for c in commits if k in c.values]
    return f"{k.line} {shown(values[0])} at first, {shown(values[-1])} at last".strip()


def changes(commits: Sequence[Commit]) -> str:
    """The largest steps between neighbouring commits."""
    steps = []
    for before, after in pairwise(commits):
        for k in before.values.keys() & after.values.keys():
            a, b = (max(c.values[k], 1e-12) for c in (before, after))  # below is rounding
            if k.quantity in QUANTITIES and a != b and (size := abs(math.log(b) - math.log(a))) > math.log(CHANGED):
                steps.append((size, k, before.values[k], after.values[k], after.hash[:8]))
    largest = sorted(steps, key=lambda s: (-s[0], s[1]))[:MOST]
    rows = [
        (f"<code>{hash_}</code>", escaped(" ".join(filter(None, (k.subject, k.line)))), k.quantity, shown(a), shown(b))
        for _, k, a, b, hash_ in largest
    ]
    if not rows:
        return tag("p", f"No step of more than {CHANGED:g} times.")
    return table(
        f"The largest steps of more than {CHANGED:g} times", ("commit", "of", "quantity", "before", "after"), rows
    )


def listed(commits: Sequence[Commit]) -> str:
    """The commits, newest first."""
    rows = []
    for c in reversed(commits):
        day = datetime.fromtimestamp(c.date / 1000, UTC).strftime("%Y-%m-%d %H:%M")
        failed = sum(math.isinf(v) for v in c.values.values())
        rows.append((f"<code>{escaped(c.hash)}</code>", day, str(len(c.values)), str(failed)))
    return table("Commits, newest first", ("commit", "date (UTC)", "values", "without a number"), rows)
