"""Records as a tidy table for pandas: a row a cell, or a row a claim."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from paramid.records.publications import epochs, published
from paramid.records.record import COSTS, Record
from paramid.records.selection import newest, number
from paramid.records.store import Store
from paramid.words.naming import Name, UsageError

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_STORE = "paramid-store"
BUDGET = {"time_limit": "seconds", "query_limit": "queries", "memory_limit": "memory_mb"}


def load(source: str | Path | Record | Iterable[Record] = DEFAULT_STORE, *, claims: bool = False) -> pd.DataFrame:
    """Records as a DataFrame, the newest of every cell: from a store, from published records, or given as they are.

    A row is a cell, or with `claims` one of its claims, in order. Metrics are columns of their own names; options stand
    in columns such as `task.m` and `method.step`, numbers as numbers. A path may be a store's folder, a file or folder
    of published records, a checkout, or the word `published`.
    """
    import pandas as pd

    if isinstance(source, str | Path):
        records = newest(stored(source), each_budget=True)
    else:
        records = [source] if isinstance(source, Record) else list(source) if isinstance(source, Iterable) else []
        if not all(isinstance(r, Record) for r in records) or not isinstance(source, Record | Iterable):
            raise UsageError(f"{source!r} was given; records, or where they are, were wanted")
    made = [row for r in records for row in (claim_rows(r) if claims else (cell_row(r),))]
    return pd.DataFrame(made, columns=None if made else [*_named(None), "key"])


def stored(where: str | Path) -> list[Record]:
    """The records of a store, or of what was published at a place; what cannot be read is a warning."""

    def tell(note: str) -> None:
        warnings.warn(note, stacklevel=4)

    if (Path(where) / "cells").is_dir():
        return Store(where, tell).records()
    place = published.whereabouts(where)
    if not place.exists() or not published.files(place):
        raise UsageError(f"no records at {where}: a store, or a file or folder of published records, was wanted")
    return list(epochs.shown(where, tell).ranked.values())


def cell_row(record: Record) -> dict[str, object]:
    """A record as one flat row."""
    ended = {"status": record.status.key, "reason": record.reason, "threads": record.threads}
    limits = {name: record.budget.get(kind) for name, kind in BUDGET.items()}
    spent = {name: getattr(record, name) for name in ("seconds", *COSTS, "peak_mb")}
    return {**_named(record), **ended, **limits, **spent, **record.metrics, "key": record.key}


def claim_rows(record: Record) -> Iterator[dict[str, object]]:
    """The claims of a record, a flat row each."""
    for place, stage in enumerate(record.claims, 1):
        spent = {name: getattr(stage, name) for name in ("seconds", *COSTS)}
        yield {**_named(record), "claim": place, "kind": stage.kind, **spent, **stage.metrics, "key": record.key}


def _named(record: Record | None) -> dict[str, object]:
    """Which cell it is: method, task, seed, device, and the options of both names."""
    row: dict[str, object] = {name: getattr(record, name, None) for name in ("method", "task", "seed", "device")}
    for group in ("method", "task") if record else ():
        for option, text in Name.parse(str(row[group])).options:
            value = number(text)
            row[f"{group}.{option}"] = text if math.isnan(value) else value
    return row
