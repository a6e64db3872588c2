"""Marks beside a method's name, a share of runs, and a score in its interval."""

from __future__ import annotations

from paramid.board.markup import escaped, tag
from paramid.board.summary import Summary
from paramid.records.publications.lines import DISPUTED, UNVERIFIED
from paramid.records.selection import assisted
from paramid.statistics.intervals import Interval, wilson

TICK = "✓"


def bar(score: float, interval: Interval) -> str:
    """A score as a dot in its interval, and in numbers."""
    low, high = interval
    drawn = tag("span", class_="bar", style=f"--s:{score:.3f};--a:{low:.3f};--b:{high:.3f}", aria_hidden="true")
    return drawn + tag("span", f"{score:.2f}", title=f"95 %: {low:.2f} to {high:.2f}")


def share(count: int, whole: int) -> str:
    """A count of many, its Wilson interval on hover and for screen readers."""
    if not whole:
        return "–"
    low, high = wilson(count, whole)
    words = f"95 %: {100 * low:.0f}–{100 * high:.0f} %"
    return tag("span", f"{100 * count / whole:.0f} %", title=words) + " " + tag("small", f"{count}/{whole}")


def badges(summary: Summary, name: str) -> str:
    """What has to be known of an entrant: exceptions in words, and a tick for who was verified."""
    method, _, device = name.partition(" on ")
    told = []
    if assisted(method):
        told.append(("assisted", "assisted", "is told what no method should know"))
    if device:
        told.append((device, device, "ran there"))
    verdict = summary.verdict_on(summary.of(name))
    if verdict == DISPUTED:
        told.append((verdict, verdict, "a cell that was run again came to something else"))
    elif (epoch := summary.epochs.get(method)) is not None:
        told.append(
            ("tick", TICK, f"verified {epoch}: run by the maintainers before teachers that nobody could choose")
        )
    elif verdict != UNVERIFIED:
        told.append(("tick", TICK, "verified: some of its cells were run again"))
    return "".join(f" {_badge(*t)}" for t in told)


def _badge(kind: str, words: str, title: str) -> str:
    heard = {"role": "img", "aria_label": title} if kind == "tick" else {}
    return tag("span", escaped(words), class_=kind if kind == "tick" else f"badge {kind}", title=title, **heard)
