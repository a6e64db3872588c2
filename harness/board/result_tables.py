"""What cells came to, as tables: a row for each, those that were declined by their reason, and every seed."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

from paramid.board.family.matrix import task_words
from paramid.board.family.numbers import error_words as shown_error
from paramid.board.marks import share
from paramid.board.markup import escaped, region, table, tag
from paramid.board.rerun_command import command
from paramid.board.summary import MARKS, Result, Summary
from paramid.records.number_format import shown
from paramid.records.quantities import cost, error, error_words
from paramid.records.record import Record

MOST_SEEDS = 300  # on a page
SEED_HEAD = ("seed", "ended", "error", "identified", "seconds", "rows", "MB", "key")
Named = Callable[[Result], str]


def cells(ours: Sequence[Result], name: Named, short: Named, what: str) -> str:
    """A row for each cell that was not declined, with the command that makes it again; then the declined ones."""
    told = [c for c in ours if c.state != "declined"]
    head = (
        *(what, "", "identified", "median error", "95 %", "bound"),
        *("seconds", "rows", "a parameter", "ended", "makes it again"),
    )
    rows = [
        (
            name(c),
            tag("span", MARKS[c.state], title=c.state, aria_hidden="true"),
            share(c.identified, len(c.records)),
            "–" if c.level is None else tag("span", shown_error(c.error), class_=f"chip e{c.level}"),
            tag(
                "small",
                "–" if math.isinf(c.interval[0]) else f"{error_words(c.interval[0])} to {error_words(c.interval[1])}",
            ),
            c.limit("bound"),
            shown(c.seconds),
            f"{c.rows:,.0f}",
            c.limit("rows_per_parameter"),
            _ended(c),
            tag("code", escaped(command(c.records)), class_="run"),
        )
        for c in told
    ]
    made = table(f"Results by {what}", head, rows, class_="results") if rows else tag("p", "Every run was declined.")
    return made + _declined([c for c in ours if c.state == "declined"], short)


def _ended(c: Result) -> str:
    told = escaped(c.endings)
    return tag("span", f"{told}: {escaped(c.reason)}", class_="ended") if c.reason else told


def _declined(ours: Sequence[Result], name: Named) -> str:
    """Who said beforehand that it will not work, by the reasons; the matrix has the links."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for c in ours:
        by_reason[c.reason or "no reason was given"].append(name(c))
    if not by_reason:
        return ""
    rows = [tag("dt", escaped(reason)) + tag("dd", escaped(", ".join(names))) for reason, names in by_reason.items()]
    return tag("h3", f"Declined ({len(ours)})") + tag("dl", *rows, class_="declined")


def seeds(summary: Summary, ours: Sequence[Result]) -> str:
    """All seeds that were not declined, or as many of each task as fit."""
    ours = [c for c in ours if c.state != "declined"]
    every = sum(len(c.records) for c in ours)
    if not every:
        return tag("p", "Every run was declined.")
    most = max(1, MOST_SEEDS // len(ours)) if every > MOST_SEEDS else every
    bodies = []
    for c in ours[:MOST_SEEDS]:
        count = tag("small", f"{c.identified} of {len(c.records)} identified")
        head = tag("th", task_words(c.task), " ", count, colspan=len(SEED_HEAD), scope="rowgroup")
        bodies.append(tag("tbody", tag("tr", head), *(_seed(summary, r) for r in c.records[:most])))
    head = tag("thead", tag("tr", *(tag("th", words) for words in SEED_HEAD)))
    whole = region("Every seed", tag("table", tag("caption", f"{every:,} runs"), head, *bodies, class_="seeds"))
    left = any(len(c.records) > most for c in ours) or len(ours) > MOST_SEEDS
    note = tag("p", f"The first {most} seeds of each task; all {every:,} are in the records.") if left else ""
    return note + tag("details", tag("summary", f"Show {'them' if not left else 'these'}"), whole)


def _seed(summary: Summary, r: Record) -> str:
    reason = f": {escaped(r.reason[:160])}" if r.reason else ""
    verdict = summary.verdict(r)
    level = error(r.metrics)
    told = (
        f"{r.status.key}{reason}" + (f" ({verdict})" if verdict else ""),
        "–" if math.isinf(level) else error_words(level),
        "yes" if r.metrics.get("identified") == 1 else "no",
        shown(r.seconds),
        f"{cost(r, 'queries'):,.0f}",
        f"{r.peak_mb:.0f}",
        escaped(r.key[:10]),
    )
    return tag("tr", tag("th", str(r.seed)), *(tag("td", c) for c in told))
