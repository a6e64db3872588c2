"""The board as data: leaderboard.json and leaderboard.csv."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import defaultdict

from paramid.board import pairwise_page
from paramid.board.family.origins import origin
from paramid.board.summary import Result, Summary
from paramid.records.escaping import for_csv
from paramid.records.record import strict
from paramid.records.selection import assisted
from paramid.statistics.family_standings import Row
from paramid.statistics.sizes import family
from paramid.statistics.target_costs import TARGETS
from paramid.words.status import Status

DIGITS = 4  # of errors and costs: more than ranks can tell


def as_json(summary: Summary) -> str:
    """Standings; who declined which tasks, by the reason; every other cell as a row of `columns`."""
    boards = {
        name: {kind: {"rows": [_placed(row) for row in table.rows], "solved nothing": table.nothing}
               for kind, table in by_kind.items()}
        for name, by_kind in summary.tables.items()
    }  # fmt: skip
    every = ordered(summary)
    cells = [_cell(summary, cell) for cell in every if not _declined(cell)]
    told = ",\n".join(_compact(list(cell.values())) for cell in cells)
    declined: dict[tuple[str, str, int], list[str]] = defaultdict(list)
    for cell in filter(_declined, every):
        declined[cell.entrant, cell.reason, len(cell.records)].append(cell.task)
    whole = {
        "schema": 3, "targets": list(TARGETS), "boards": boards, "refused": summary.refused,
        "declined": [{"method": m, "reason": r, "seeds": s, "tasks": t} for (m, r, s), t in declined.items()],
        "columns": list(cells[0]) if cells else [],
    }  # fmt: skip
    return f'{_compact(whole)[:-1]},"cells":[\n{told}\n]}}\n'


def as_csv(summary: Summary) -> str:
    """A row for each method and task."""
    rows = [_cell(summary, cell) for cell in ordered(summary)]
    buffer = io.StringIO()
    if rows:
        writer = csv.DictWriter(buffer, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: for_csv(value) for name, value in row.items()} for row in rows)
    return buffer.getvalue()


def ordered(summary: Summary) -> list[Result]:
    """Every cell, task after task, methods in the order of the columns."""
    places = ((name, task) for task in summary.tasks for name in summary.columns)
    return [summary.results[place] for place in places if place in summary.results]


def script(summary: Summary, urls: dict[str, str], tasks_at: dict[str, str]) -> str:
    """Every run, for the comparisons of the page's own script."""
    methods = [{"name": name, "url": urls[name]} for name in summary.columns]
    tasks = [{"name": task, "family": family(task)} for task in summary.tasks]
    pairs = {**pairwise_page.data(summary), "urls": [tasks_at[task] for task in summary.tasks]}
    text = json.dumps({"methods": methods, "tasks": tasks, "pairs": pairs}, separators=(",", ":"), allow_nan=False)
    return f"window.PARAMID = {text};\n"


def names(urls: dict[str, dict[str, str]]) -> str:
    """The name, page and kind of whatever has a page, for the search."""
    plain = [[name, url, kind] for kind, ours in urls.items() for name, url in ours.items()]
    return f"window.PARAMID_NAMES = {json.dumps(plain, separators=(',', ':'))};\n"


def _short(value: float) -> float:
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() else short


def _declined(cell: Result) -> bool:
    """By every seed alike, so that the reason says all."""
    return {(r.status, r.reason) for r in cell.records} == {(Status.DECLINED, cell.reason)} and not cell.verdicts


def _compact(plain: object) -> str:
    """Strict JSON text without spaces between its parts."""
    return json.dumps(strict(plain), allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def _placed(row: Row) -> dict[str, object]:
    s = row.standing
    return {
        "method": row.method, "assisted": assisted(row.method), "from": origin(row.method),
        "tasks_solved": len(row.solved), "tasks_accepted": row.accepted,
        "runs_solved": row.runs[0], "runs": row.runs[1],
        "error": _short(row.error), "seconds": _short(row.cost["seconds"]), "rows": _short(row.cost["queries"]),
        "seconds_times_best": _known(row.times_best["seconds"]), "rows_times_best": _known(row.times_best["queries"]),
        "rows_per_parameter": _known(row.rows_per_parameter), "error_times_bound": _known(row.times_bound),
        "score": round(s.score, 4), "score_interval": [round(v, 4) for v in s.score_interval],
        "rank": s.rank, "rank_interval": s.rank_interval, "group": s.group,
    }  # fmt: skip


def _known(value: float) -> float | None:
    return None if math.isnan(value) else _short(value)


def _cell(summary: Summary, cell: Result) -> dict[str, object]:
    low, high = cell.interval
    share_low, share_high = cell.share
    return {
        "task": cell.task, "method": cell.entrant, "seeds": len(cell.records),
        "identified": cell.identified, "identified_low": round(share_low, 4), "identified_high": round(share_high, 4),
        "error": _short(cell.error), "error_low": _short(low), "error_high": _short(high),
        "seconds": _short(cell.seconds), "rows": int(cell.rows),
        "state": cell.state, "endings": cell.endings, "checked": summary.verdict_on([cell]),
    }  # fmt: skip


def sizes(files: dict[str, bytes]) -> str:
    """How large a site is, for people."""
    return f"{len(files)} files, {sum(map(len, files.values())) / 1e3:,.0f} kB"
