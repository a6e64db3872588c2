"""The standings of a family: a group of rows for each kind of access, columns in line."""

from __future__ import annotations

import math
from collections.abc import Mapping

from paramid.board.family.numbers import NONE, error_words, rows_words, seconds_words, short, times
from paramid.board.family.origins import origin, tuning
from paramid.board.marks import TICK, badges, bar
from paramid.board.markup import broken, escaped, link, region, tag
from paramid.board.summary import Summary
from paramid.contracts import descriptions
from paramid.statistics.family_standings import Row, Table
from paramid.statistics.intervals import wilson
from paramid.statistics.target_costs import KINDS

ABOUT = {
    "samples": "pairs (x, f(x)) from the input law, no input is chosen",
    "decisions": "the largest output, or the sign of the only one, at inputs of the method's choice",
    "queries": "values at inputs of the method's choice",
    "derivatives": "exact gradients or Hessians",
    "moments": "exact Hermite coefficients",
}
HEAD = {
    "group": "methods of one group cannot be told apart by these records",
    "method": "",
    "from": "this project, or the paper",
    "solved": "tasks solved, of those accepted: more than half of the seeds identified",
    "error": "median over solved runs",
    "rows": "of the teacher, times the least that anybody here needs, over the tasks solved",
    "seconds": "the same",
    "× least rows": "rows for a parameter of the teacher: 1 is the least possible for one output",
    "× noise bound": "under noise: error over the Cramér-Rao bound of the least certain parameter",
    "score": "share of tasks and targets reached, weighed by what they cost in rows; its 95 % interval",
}


def standings(summary: Summary, family: str, methods: Mapping[str, str]) -> str:
    """The table; columns that no row fills are left out."""
    by_kind = summary.tables.get(family, {})
    if not by_kind:
        return tag("p", "Nothing ranked.")
    rows = [row for table in by_kind.values() for row in table.rows]
    empty = {
        name
        for name, value in (("× least rows", "rows_per_parameter"), ("× noise bound", "times_bound"))
        if all(math.isnan(getattr(row, value)) for row in rows)
    }
    head = {name: told for name, told in HEAD.items() if name not in empty}
    columns = "".join(tag("th", escaped(name), title=told or None, scope="col") for name, told in head.items())
    bodies = [_body(summary, table, methods, list(head)) for table in by_kind.values()]
    verified = sorted({epoch for row in rows if (epoch := summary.epochs.get(row.method)) is not None})
    told = f"; {TICK} verified in epoch {', '.join(verified)}" if verified else ""
    caption = tag("caption", escaped(f"Standings in the family {family}, by access{told}"))
    whole = tag("table", caption, tag("thead", tag("tr", columns)), *bodies, class_="standings")
    return region(f"Standings, {family}", whole)


def _body(summary: Summary, table: Table, methods: Mapping[str, str], head: list[str]) -> str:
    words = f"<b>{escaped(KINDS[table.kind])}</b> {escaped(ABOUT[table.kind])}"
    first = tag("tr", tag("th", words, colspan=len(head), scope="rowgroup"), class_="group")
    rows = [_row(summary, table, row, methods, head) for row in table.rows]
    if table.nothing:
        names = ", ".join(link(short(name), methods[name]) for name in table.nothing)
        rows.append(
            tag("tr", tag("td"), tag("td", f"Solved nothing: {names}", colspan=len(head) - 1), class_="nothing")
        )
    return tag("tbody", first, *rows)


def _row(summary: Summary, table: Table, row: Row, methods: Mapping[str, str], head: list[str]) -> str:
    name, place = row.method, row.standing
    low, high = wilson(*row.runs)
    told = f"{row.runs[0]} of {row.runs[1]} runs (95 %: {100 * low:.0f} to {100 * high:.0f} %)"
    tuned = tuning(name, table.methods)
    mark = tag("span", tuned, class_="badge") if tuned else ""
    cells = {
        "group": tag("td", str(place.group), class_="place"),
        "method": tag(
            "th", tag("a", broken(short(name)), href=methods[name]), f" {mark}", badges(summary, name), scope="row"
        ),
        "from": tag("td", _origin(name), class_="from"),
        "solved": tag("td", f"{len(row.solved)}/{row.accepted}", title=told),
        "error": tag("td", error_words(row.error)),
        "rows": _relative(row, "queries", f"{rows_words(row.cost['queries'])} rows"),
        "seconds": _relative(row, "seconds", seconds_words(row.cost["seconds"])),
        "× least rows": tag("td", times(row.rows_per_parameter)),
        "× noise bound": tag("td", times(row.times_bound)),
        "score": tag("td", bar(place.score, place.score_interval), class_="score"),
    }
    return tag("tr", *(cells[column] for column in head), data_method=name)


def _relative(row: Row, over: str, absolute: str) -> str:
    return tag("td", times(row.times_best[over]), " ", tag("small", escaped(absolute)))


def _origin(name: str) -> str:
    found, source = origin(name), descriptions.of("methods", name)
    words = source.reference if source else ""
    ours = "ours" if found == "ours" else None
    return tag("span", escaped(found), title=words or None, class_=ours) if found else NONE
