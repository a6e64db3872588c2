"""Curves over commits as a page: of every cell its error and costs, of every kernel its time and memory by size.

How they are drawn: `pictures.history`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from itertools import groupby, pairwise

from paramid.board.inline_drawings import inlined, sheet
from paramid.board.markup import escaped, table, tag
from paramid.pictures.history import QUANTITIES, history
from paramid.records.number_format import shown
from paramid.statistics.asv_results import Commit
from paramid.words.naming import UsageError

TITLE = "Over commits"
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
        figures = (drawn(subject, ours) for subject in subjects(ours))
        parts += [tag("div", *figures, class_="figures"), listed(ours)]
    return "".join(parts)


def alone(commits: Sequence[Commit]) -> str:
    """The whole page as one file that fetches nothing."""
    style = files("paramid.board").joinpath("style.css").read_text(encoding="utf-8") + sheet()
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>paramid · {TITLE}</title>{tag('style', style)}"
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{tag("main", body(commits))}</body></html>\n'


def subjects(commits: Iterable[Commit]) -> list[str]:
    """Cells and kernels with anything to draw, in the order in which they are measured."""
    return list(dict.fromkeys(k.subject for c in commits for k in c.values if k.quantity in QUANTITIES))


def drawn(subject: str, commits: Sequence[Commit]) -> str:
    """What was measured of a subject, as a figure; nothing where that was one commit."""
    try:
        return tag("figure", inlined(history(subject, commits)))
    except UsageError:
        return ""


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
