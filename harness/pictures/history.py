"""What ASV measured of one subject over commits: a panel for each quantity, one below the other, over the same commits.

Commits stand at equal distances, the oldest left; the axes upwards are logarithmic. A gap is a commit that did not have
the benchmark, a cross at the top one that failed or had no error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from paramid.pictures.looks import INK, Look, in_turn
from paramid.pictures.scale import Scale
from paramid.pictures.sheet import (
    SMALL,
    SOFT,
    Axes,
    End,
    Figure,
    cross,
    end_words,
    line,
    logarithmic,
    mark,
    name_ends,
    named,
    room_for,
    rule,
    sheet,
    wide,
)  # fmt: skip
from paramid.pictures.svg import clean
from paramid.records.number_format import shown
from paramid.statistics.asv_results import Commit, Curve
from paramid.words.naming import UsageError

QUANTITIES = {
    "error": "error", "time": "seconds", "seconds": "seconds", "queries": "rows of the teacher", "peak_mb": "MB",
    "peakmem": "bytes",
}  # fmt: skip
BODY, BELOW, FOOT, APART = 96.0, 4.0, 56.0, 14.0


def history(subject: str, commits: Sequence[Commit]) -> Figure:
    """All that was measured of a subject."""
    curves = list(
        dict.fromkeys(k for c in commits for k in c.values if k.subject == subject and k.quantity in QUANTITIES)
    )
    if len({c.hash for c in commits if any(k in c.values for k in curves)}) < 2:
        raise UsageError(f"{subject} was measured on fewer than two commits; one point is no curve")
    looks = in_turn(dict.fromkeys(k.line for k in curves))
    words = end_words(dict.fromkeys(looks, ""))
    panels = {q: ours for q in QUANTITIES if (ours := [k for k in curves if k.quantity == q])}
    about = ". ".join(f"{q}: {'; '.join(_ends(k, commits) for k in ours)}" for q, ours in panels.items())
    bodies = [max(BODY, 12.5 * len(ours)) for ours in panels.values()]
    figure, every = sheet(bodies, subject, about, right=room_for(words.values()), below=BELOW, foot=FOOT)
    for first, (axes, (quantity, ours)) in enumerate(zip(every, panels.items(), strict=True)):
        named(axes, title="" if first else subject, across="", up=QUANTITIES[quantity])
        _panel(axes, ours, commits, looks, words)
    _hashes(every[-1], commits)
    return figure


def _panel(
    axes: Axes, curves: Sequence[Curve], commits: Sequence[Commit], looks: Mapping[str, Look], words: Mapping[str, str]
) -> None:
    seen = [c.values.get(k) for c in commits for k in curves]
    y = Scale.around([v for v in seen if v is not None])
    logarithmic(axes, None, y)
    axes.set_xlim(0, len(commits))
    rule(axes, "x", [], shown)
    ends = []
    for k in curves:
        points = [(i + 0.5, c.values.get(k), c) for i, c in enumerate(commits)]
        there = [(x, value) for x, value, _ in points if value is not None and math.isfinite(value)]
        gaps = [y.held(v) if v is not None and math.isfinite(v) else math.nan for _, v, _ in points]
        line(axes, list(zip([x for x, *_ in points], gaps, strict=True)), looks[k.line], label=k.line or k.subject)
        for x, value, commit in points:
            if value is not None:
                told = f"{commit.hash[:8]}: {k.quantity}{k.line and ', ' + k.line} {shown(value)}"
                good = math.isfinite(value)
                (mark if good else cross)(axes, (x, y.held(value) if good else y.high), looks[k.line], told=told)
        if there:
            ends += [End(k.line, words[k.line], (there[-1][0] / len(commits), y.share(there[-1][1])), looks[k.line])]
    name_ends(axes, [end for end in ends if end.name])


def _hashes(axes: Axes, commits: Sequence[Commit]) -> None:
    step = math.ceil(len(commits) / (wide(axes) / APART))
    for i, commit in list(enumerate(commits))[::step]:
        axes.annotate(
            clean(commit.hash[:8]), ((i + 0.5) / len(commits), 0.0), xycoords="axes fraction", xytext=(3, -6),
            textcoords="offset points", rotation=55, rotation_mode="anchor", ha="right", va="top", fontsize=SMALL - 1,
            color=INK, alpha=SOFT,
        )  # fmt: skip


def _ends(k: Curve, commits: Iterable[Commit]) -> str:
    values = [c.values[k] for c in commits if k in c.values]
    return f"{k.line} {shown(values[0])} at first, {shown(values[-1])} at last".strip()
