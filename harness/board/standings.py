"""The first page's standings: a board for each kind of access, by seconds and by rows of the teacher."""

from __future__ import annotations

import math
from itertools import groupby

import numpy as np

from paramid.board.inline_drawings import inlined
from paramid.board.markup import broken, escaped, hidden, region, tag
from paramid.board.summary import Summary, tally
from paramid.pictures.profile import profiles
from paramid.records.provenance import mixed_seconds
from paramid.records.publications.lines import DISPUTED, UNVERIFIED, VERIFIED
from paramid.records.selection import assisted
from paramid.statistics.intervals import Interval, wilson
from paramid.statistics.ranking import Standing
from paramid.statistics.target_costs import COST_KINDS, KINDS, TARGETS, TargetCosts
from paramid.words.naming import UsageError

OVER = {"seconds": "seconds", "queries": "rows of the teacher"}
ABOUT = {
    "samples": "Nothing but pairs (x, f(x)) from the input law: no input is chosen.",
    "queries": "Values, or decisions alone, at inputs of the method's own choice.",
    "derivatives": "Exact gradients or Hessians from the oracle, in whatever part.",
    "moments": "Exact Hermite coefficients, as infinitely many samples would give them.",
}
HEAD = ("rank", "method", "score", *(f"≤ {t:.0e}".replace("e-0", "e-") for t in TARGETS), "identified")


def section(summary: Summary, kind: str, urls: dict[str, str]) -> str:
    """A board."""
    tables = [_table(summary, kind, over, urls) for over in COST_KINDS]
    return tag(
        "section",
        tag("h3", escaped(KINDS[kind].capitalize()), id=f"board-{kind}"),
        tag("p", escaped(ABOUT[kind]), class_="about"),
        *tables,
        tag("p", class_="recomputed", aria_live="polite"),
        _profile(summary.target_costs[kind]["seconds"], kind),
        class_="board",
        data_kind=kind,
    )


def _table(summary: Summary, kind: str, over: str, urls: dict[str, str]) -> str:
    placed, target_costs = summary.standings[kind][over], summary.target_costs[kind][over]
    head = "".join(
        tag("th", hidden("share of runs within ") + escaped(words) if words[0] == "≤" else escaped(words), scope="col")
        for words in HEAD
    )
    bodies = [
        tag("tbody", _heading(number, len(placed)), *(_row(summary, s, target_costs, urls) for s in group))
        for number, group in groupby(placed, key=lambda s: s.group)
    ]
    if not placed:
        bodies = [tag("tbody", tag("tr", tag("td", "Nothing ranked.", colspan=len(HEAD))))]
    caption = f"Standings, {KINDS[kind]}, cost in {OVER[over]}"
    mixed = mixed_seconds(summary.records) if over == "seconds" else ""
    told = f"Cost in {OVER[over]}; {len(target_costs.tasks)} tasks{mixed and f'; {mixed}'}"
    words = tag("caption", escaped(told))
    whole = tag("table", words, tag("thead", tag("tr", head)), *bodies, class_="standings")
    return region(caption, whole, data_over=over)


def _heading(group: int, methods: int) -> str:
    if methods < 2:
        return ""
    words = "Head group" if group == 1 else f"Group {group}"
    return tag("tr", tag("th", f"{words}", colspan=len(HEAD), scope="rowgroup"), class_="group")


def _row(summary: Summary, placed: Standing, target_costs: TargetCosts, urls: dict[str, str]) -> str:
    name = placed.method
    at = target_costs.methods.index(name)
    there = ~np.isnan(target_costs.spent[at, :, :, 0])
    reached = [(int(target_costs.hit[at, :, :, t].sum()), int(there.sum())) for t in range(len(TARGETS))]
    found = tally(summary.of(name))
    return tag(
        "tr",
        tag("td", rank(placed.rank, placed.rank_interval), class_="rank"),
        tag("th", tag("a", broken(name.partition(" on ")[0]), href=urls[name]), badges(summary, name), scope="row"),
        tag("td", bar(placed.score, placed.score_interval), class_="score"),
        *(tag("td", share(*each), class_="num") for each in reached),
        tag("td", share(*found), class_="num"),
        data_method=name,
    )


def rank(value: float, interval: Interval) -> str:
    """A place and its interval."""
    low, high = math.floor(interval[0]), math.ceil(interval[1])
    within = "" if low == high else tag("small", f"{low}–{high}")
    return f"<b>{value:g}</b> {within}"


def bar(score: float, interval: Interval) -> str:
    """A score as a dot in its interval, and in numbers."""
    low, high = interval
    drawn = tag("span", class_="bar", style=f"--s:{score:.3f};--a:{low:.3f};--b:{high:.3f}", aria_hidden="true")
    return drawn + f"<b>{score:.2f}</b> " + tag("small", f"{low:.2f}–{high:.2f}")


def share(count: int, whole: int) -> str:
    """A count of many, its Wilson interval on hover and for screen readers."""
    if not whole:
        return "–"
    low, high = wilson(count, whole)
    words = f"95 %: {100 * low:.0f}–{100 * high:.0f} %"
    return tag("span", f"{100 * count / whole:.0f} %", title=words) + " " + tag("small", f"{count}/{whole}")


def badges(summary: Summary, name: str) -> str:
    """What has to be known of an entrant."""
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
        told.append((VERIFIED, f"verified {epoch}", "run by the maintainers before teachers that nobody could choose"))
    elif verdict != UNVERIFIED:
        told.append((verdict, verdict, "some of its cells were run again"))
    return "".join(f" {tag('span', escaped(t[1]), class_=f'badge {t[0]}', title=t[2])}" for t in told)


def _profile(target_costs: TargetCosts, kind: str) -> str:
    """The performance profile in a fold, if there is one."""
    try:
        drawn = profiles({KINDS[kind]: target_costs})
    except UsageError:
        return ""
    return tag("details", tag("summary", "Performance profile"), inlined(drawn))
