"""The board as data: leaderboard.json and leaderboard.csv, and what the page's script recomputes ranks from."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import defaultdict

from paramid.board import pairwise_page
from paramid.board.summary import Result, Summary, family, size
from paramid.records.escaping import for_csv
from paramid.records.record import strict
from paramid.records.selection import assisted
from paramid.statistics.ranking import CEILING, Standing
from paramid.statistics.target_costs import COST_KINDS, TARGETS, TargetCosts
from paramid.words.status import Status

DIGITS = 4  # of errors and costs: more than ranks can tell


def as_json(summary: Summary) -> str:
    """Standings; who declined which tasks, by the reason; every other cell as a row of `columns`."""
    boards = {
        kind: {over: [_placed(s) for s in placed] for over, placed in both.items()}
        for kind, both in summary.standings.items()
    }
    every = ordered(summary)
    cells = [_cell(summary, cell) for cell in every if not _declined(cell)]
    told = ",\n".join(_compact(list(cell.values())) for cell in cells)
    declined: dict[tuple[str, str, int], list[str]] = defaultdict(list)
    for cell in filter(_declined, every):
        declined[cell.entrant, cell.reason, len(cell.records)].append(cell.task)
    whole = {
        "schema": 2, "targets": list(TARGETS), "boards": boards, "refused": summary.refused,
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
    """The costs of every board until each target, for the page's own ranking; every run, for its comparisons."""
    methods = [
        {"name": name, "url": urls[name], "device": name.partition(" on ")[2] or "cpu", "board": summary.kind.get(name)}
        for name in summary.columns
    ]
    tasks = [{"name": task, "family": family(task), "size": size(task)} for task in summary.tasks]
    boards = {
        kind: {over: _target_costs(summary, made[over]) for over in COST_KINDS}
        for kind, made in summary.target_costs.items()
    }
    pairs = {**pairwise_page.data(summary), "urls": [tasks_at[task] for task in summary.tasks]}
    plain = {
        "targets": TARGETS, "ceiling": CEILING, "methods": methods, "tasks": tasks, "boards": boards, "pairs": pairs
    }  # fmt: skip
    text = json.dumps(plain, separators=(",", ":"), allow_nan=False)
    return f"window.PARAMID = {text};\n"


def names(urls: dict[str, dict[str, str]]) -> str:
    """The name, page and kind of whatever has a page, for the search."""
    plain = [[name, url, kind] for kind, ours in urls.items() for name, url in ours.items()]
    return f"window.PARAMID_NAMES = {json.dumps(plain, separators=(',', ':'))};\n"


def _target_costs(summary: Summary, target_costs: TargetCosts) -> dict[str, object]:
    """Indices of methods and tasks, and of each pair its seeds: costs of the targets reached, then the whole cost."""
    place = {name: i for i, name in enumerate(summary.columns)}
    where = {task: i for i, task in enumerate(summary.tasks)}
    runs = [
        [_seeds(target_costs, m, t) for t in range(len(target_costs.tasks))] for m in range(len(target_costs.methods))
    ]
    return {
        "methods": [place[n] for n in target_costs.methods],
        "tasks": [where[t] for t in target_costs.tasks],
        "runs": runs,
    }


def _seeds(target_costs: TargetCosts, m: int, t: int) -> list[list[float]]:
    """[targets reached, their costs …, the whole cost where one was not]."""
    made = []
    for costs, reached in zip(
        target_costs.spent[m, t].tolist(), target_costs.hit[m, t].sum(axis=-1).tolist(), strict=True
    ):
        if math.isnan(costs[0]):
            break
        made.append([reached, *(_short(c) for c in costs[: min(reached + 1, len(costs))])])
    return made


def _short(value: float) -> float:
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() else short


def _declined(cell: Result) -> bool:
    """By every seed alike, so that the reason says all."""
    return {(r.status, r.reason) for r in cell.records} == {(Status.DECLINED, cell.reason)} and not cell.verdicts


def _compact(plain: object) -> str:
    """Strict JSON text without spaces between its parts."""
    return json.dumps(strict(plain), allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def _placed(s: Standing) -> dict[str, object]:
    return {
        "method": s.method, "assisted": assisted(s.method), "score": round(s.score, 4),
        "score_interval": [round(v, 4) for v in s.score_interval], "rank": s.rank,
        "rank_interval": s.rank_interval, "group": s.group,
    }  # fmt: skip


def _cell(summary: Summary, cell: Result) -> dict[str, object]:
    low, high = cell.interval
    share_low, share_high = cell.share
    kind = summary.kind.get(cell.entrant) or ""
    return {
        "task": cell.task, "method": cell.entrant, "board": kind, "seeds": len(cell.records),
        "identified": cell.identified, "identified_low": round(share_low, 4), "identified_high": round(share_high, 4),
        "error": _short(cell.error), "error_low": _short(low), "error_high": _short(high),
        "seconds": _short(cell.seconds), "rows": int(cell.rows),
        "state": cell.state, "endings": cell.endings, "checked": summary.verdict_on([cell]),
    }  # fmt: skip


def sizes(files: dict[str, bytes]) -> str:
    """How large a site is, for people."""
    return f"{len(files)} files, {sum(map(len, files.values())) / 1e3:,.0f} kB"
