"""Who leads, in a dozen rows: a row for each family and access that anybody leads."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest

from paramid.board.family.numbers import error_words, limits, rows_words, seconds_words
from paramid.board.family.origins import origin
from paramid.records.text_tables import Row
from paramid.statistics import family_standings
from paramid.statistics.family_standings import Table

HEAD = ("family", "access", "leads", "from", "solved", "error", "rows", "seconds", "times the limit")


def leaders(tables: Mapping[str, Mapping[str, Table]], most: int) -> list[Row]:
    """As many rows as are wanted, in the order of the tables: of every family that whose leader solves most first."""
    found: dict[str, list[tuple[Table, family_standings.Row]]] = {}
    for name, by_kind in tables.items():
        led = [(table, row) for table in by_kind.values() if (row := family_standings.leader(table)) is not None]
        found[name] = sorted(led, key=lambda pair: -len(pair[1].solved))
    by_turns = [pair for turn in zip_longest(*found.values()) for pair in turn if pair is not None]
    kept = {(table.family, table.kind): row for table, row in by_turns[:most]}
    return [
        _row(table, kept[name, kind])
        for name, by_kind in tables.items()
        for kind, table in by_kind.items()
        if (name, kind) in kept
    ]


def _row(table: Table, row: family_standings.Row) -> Row:
    return {
        "family": table.family,
        "access": table.kind,
        "leads": row.method,
        "from": origin(row.method) or "-",
        "solved": f"{len(row.solved)}/{row.accepted}",
        "error": error_words(row.error),
        "rows": rows_words(row.cost["queries"]),
        "seconds": seconds_words(row.cost["seconds"]),
        "times the limit": limits(row) or "-",
    }
