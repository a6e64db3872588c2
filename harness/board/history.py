"""Curves over commits as a page: of every cell its error and costs, of every kernel its time and memory by size.

How they are drawn: `pictures.history`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from itertools import groupby

from paramid.board.inline_drawings import inlined, sheet
from paramid.board.markup import escaped, table, tag
from paramid.pictures.history import QUANTITIES, history
from paramid.records.number_format import shown
from paramid.records.provenance import project_url
from paramid.statistics.asv_results import Commit
from paramid.statistics.commit_regressions import GREW, SLOWER
from paramid.statistics.commit_steps import FALSE_ALARMS, Step, steps
from paramid.words.naming import UsageError

TITLE = "Over commits"
MOST = 30  # steps told
LEAD = (
    "What ASV measured of every commit: errors and costs, lower is better. A gap is a commit without that benchmark, "
    "a cross at the top a failure. Seconds compare only along a curve, and one machine is one series."
)
TOLD = (
    f"Told are errors that changed more than {GREW:g} times, every change in rows of the teacher, and of seconds and "
    f"memory those changes of more than {SLOWER:g} times that noise does not explain: where there is nothing but "
    f"noise, at most {FALSE_ALARMS:.0%} of machines tell any."
)


def body(commits: Sequence[Commit], said: Mapping[str, str] | None = None) -> str:
    """The page but for its frame; `said` are the subjects of commits, as far as they are known."""
    parts = [tag("h1", TITLE), tag("p", LEAD, class_="lead")]
    for machine, group in groupby(commits, lambda c: c.machine):
        ours = list(group)
        told = f"Machine {machine}: {len(ours)} commits"
        parts += [tag("h2", escaped(told)), changes(ours, said or {})]
        figures = (drawn(subject, ours) for subject in subjects(ours))
        parts += [tag("h3", "Commits"), listed(ours, said or {}), tag("h3", "Curves")]
        parts.append(tag("div", *figures, class_="figures"))
    return "".join(parts)


def alone(commits: Sequence[Commit], said: Mapping[str, str] | None = None) -> str:
    """The whole page as one file that fetches nothing."""
    style = files("paramid.board").joinpath("style.css").read_text(encoding="utf-8") + sheet()
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>paramid · {TITLE}</title>{tag('style', style)}"
    )
    main = tag("main", body(commits, said))
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{main}</body></html>\n'


def subjects(commits: Iterable[Commit]) -> list[str]:
    """Cells and kernels with anything to draw, in the order in which they are measured."""
    return list(dict.fromkeys(k.subject for c in commits for k in c.values if k.quantity in QUANTITIES))


def drawn(subject: str, commits: Sequence[Commit]) -> str:
    """What was measured of a subject, as a figure; nothing where that was one commit."""
    try:
        return tag("figure", inlined(history(subject, commits)))
    except UsageError:
        return ""


def changes(commits: Sequence[Commit], said: Mapping[str, str]) -> str:
    """The steps that are more than noise, the newest first."""
    found = steps(commits)[::-1]
    note = tag("p", TOLD, class_="note")
    if not found:
        return tag("h3", "Steps") + tag("p", "No step is more than noise.") + note
    head = ("commit", "date (UTC)", "", "of", "quantity", "before", "after", "subject")
    rows = [(_commit(s.commit), _day(s.commit), _mark(s), *map(escaped, _what(s)), escaped(said.get(s.commit.hash, "")))
            for s in found[:MOST]]  # fmt: skip
    worse = sum(s.worse for s in found)
    left = f", of which the newest {MOST}" if len(found) > MOST else ""
    caption = f"{worse} for the worse, {len(found) - worse} for the better{left}"
    return tag("h3", "Steps") + note + table(caption, head, rows, class_="steps")


def _what(s: Step) -> tuple[str, str, str, str]:
    name = " ".join(filter(None, (s.curve.subject, s.curve.line)))
    return name, QUANTITIES.get(s.curve.quantity, s.curve.quantity), shown(s.before), shown(s.after)


def _mark(s: Step) -> str:
    return tag("span", "▲ worse" if s.worse else "▼ better", class_="worse" if s.worse else "better")


def _commit(c: Commit) -> str:
    short = tag("code", escaped(c.hash[:8]), title=c.hash)
    return tag("a", short, href=f"{url}/commit/{c.hash}") if (url := project_url()) else short


def _day(c: Commit) -> str:
    day = datetime.fromtimestamp(c.date / 1000, UTC).strftime("%Y-%m-%d %H:%M")
    return tag("span", day, class_="num")


def listed(commits: Sequence[Commit], said: Mapping[str, str]) -> str:
    """The commits, newest first."""
    rows = []
    for c in reversed(commits):
        failed = sum(math.isinf(v) for v in c.values.values())
        rows.append((_commit(c), _day(c), escaped(said.get(c.hash, "–")), str(len(c.values)), str(failed)))
    head = ("commit", "date (UTC)", "subject", "values", "without a number")
    return table("Commits, newest first", head, rows)
