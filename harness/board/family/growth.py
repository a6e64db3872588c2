"""How far a family's methods get: the frontier, growth with exponents, maps over two options, profiles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

from paramid.board.family.matrix import task_words
from paramid.board.family.numbers import rows_words, seconds_words
from paramid.board.inline_drawings import drawn
from paramid.board.markup import broken, escaped, table, tag
from paramid.board.summary import Summary
from paramid.pictures.panels import lines, varying
from paramid.pictures.phase_map import phase_map
from paramid.pictures.profile import profiles
from paramid.pictures.scaling import growth
from paramid.records.quantities import identified
from paramid.records.record import Record
from paramid.statistics.family_standings import Table
from paramid.statistics.sizes import family, weights
from paramid.statistics.target_costs import KINDS
from paramid.words.status import Status

HEAD = ("method", "by", "largest task solved within the limit", "seeds", "rows", "seconds")


def frontier(summary: Summary, by_kind: Mapping[str, Table], up: Mapping[str, str]) -> str:
    """The largest task that each method solved, largest first."""
    made = []
    for table_ in by_kind.values():
        for row in table_.rows:
            if row.solved:
                cell = summary.results[row.method, row.solved[-1]]
                told = (
                    tag("a", broken(row.method), href=up[row.method]), escaped(KINDS[table_.kind]),
                    tag("a", task_words(cell.task), href=up[cell.task]), f"{cell.identified}/{len(cell.records)}",
                    rows_words(cell.rows), seconds_words(cell.seconds),
                )  # fmt: skip
                made.append((-weights(cell.task), cell.rows, row.method, told))
    rows = [told for *_, told in sorted(made, key=lambda m: m[:3])]
    return table("The frontier: how large a task each method solves", HEAD, rows, class_="frontier") if rows else ""


def curves(summary: Summary, by_kind: Mapping[str, Table]) -> str:
    """Rows and seconds over the size of tasks, a panel for each access."""
    groups = {
        KINDS[kind]: [r for row in table_.rows for r in summary.entrants[row.method] if family(r.task) == table_.family]
        for kind, table_ in by_kind.items()
    }
    made = [drawn(partial(growth, groups, over)) for over in ("queries", "seconds")]
    return tag("div", *(tag("figure", d) for d in made if d), class_="figures") if any(made) else ""


def profile_pictures(by_kind: Mapping[str, Table]) -> str:
    """A profile for each access by which several methods solve anything."""
    several = [t for t in by_kind.values() if len(t.rows) > 1]
    made = [drawn(partial(profiles, {KINDS[t.kind]: t.costs}, "queries")) for t in several]
    return tag("div", *(tag("figure", d) for d in made if d), class_="figures") if any(made) else ""


def phases(records: Sequence[Record]) -> str:
    """Where methods succeed over two options of a family, for those whose tasks fill at least half of such a map."""
    made = []
    ran = [r for r in records if r.status is not Status.DECLINED]
    for name in sorted({family(r.task) for r in ran}):
        groups = lines([r for r in ran if family(r.task) == name]).values()
        ours = [r for group in groups if _fill(group) and any(map(identified, group)) for r in group]
        if ours and (map_ := drawn(partial(phase_map, ours))):
            made += [tag("figure", map_, tag("figcaption", f"{escaped(name)}: phase map"))]
    return tag("h2", "Where it works") + tag("div", *made, class_="figures") if made else ""


def _fill(records: Sequence[Record]) -> bool:
    values = list(varying(records).values())
    return len(values) > 1 and 2 * len({r.task for r in records}) > math.prod(values[:2])
