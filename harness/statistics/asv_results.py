"""What ASV measured of commits, read from its results: a folder a machine, a JSON file a commit and environment.

A file names its columns; of each benchmark, `result` lists a value for every combination of `params`, the last varying
fastest: a number, NaN where a commit had nothing to measure, null where it failed.
"""

from __future__ import annotations

import json
import math
from ast import literal_eval
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from paramid.words.naming import UsageError

KINDS = ("track_", "time_", "peakmem_")


class Curve(NamedTuple):
    """What is measured of what: of a cell its `error`, of a kernel its `time` in the line of a size."""

    subject: str
    quantity: str
    line: str = ""


@dataclass(frozen=True)
class Commit:
    """One commit on one machine. A value that failed or is no number is infinite; what was skipped is not there."""

    machine: str
    hash: str
    date: int  # milliseconds, as ASV has it
    values: dict[Curve, float]


def read(folder: Path) -> list[Commit]:
    """Every commit of every machine, oldest first; files of one commit are one."""
    found: dict[tuple[str, str], Commit] = {}
    for path in sorted(folder.glob("*/*.json")):
        if path.name == "machine.json":
            continue
        try:
            plain = json.loads(path.read_text(encoding="utf-8"))
            made = Commit(path.parent.name, plain["commit_hash"], plain["date"], dict(values(plain)))
        except (ValueError, KeyError, TypeError, SyntaxError) as error:
            raise UsageError(f"{path} is no result of ASV: {error}") from error
        known = found.get((made.machine, made.hash))
        found[made.machine, made.hash] = made if known is None else merged(known, made)
    if not found:
        raise UsageError(f"{folder} has no results of ASV; `make asv` or `make asv-history` makes some")
    return sorted(found.values(), key=lambda c: (c.machine, c.date))


def merged(one: Commit, other: Commit) -> Commit:
    """Two environments' values of one commit, the other's first."""
    return Commit(one.machine, one.hash, one.date, {**one.values, **other.values})


def values(plain: dict[str, Any]) -> Iterator[tuple[Curve, float]]:
    """The curves of one file."""
    for name, row in plain["results"].items():
        columns = dict(zip(plain["result_columns"], row, strict=False))
        points = product(*columns["params"])
        for parameters, value in zip(points, columns["result"] or (), strict=False):
            if value is None or not math.isnan(value):
                number = math.inf if value is None else float(value)
                yield curve(name, [str(literal_eval(p)) for p in parameters]), number


def curve(name: str, parameters: Sequence[str]) -> Curve:
    """The curve of `cells.Few.track_error` before a cell, or of `kernels.PowerStep.time_kernel` of a size."""
    *_, group, function = name.split(".")
    kind = next((k for k in KINDS if function.startswith(k)), "")
    if kind == "track_":
        return Curve(parameters[0], function.removeprefix(kind))
    return Curve(group, kind.strip("_"), ", ".join(parameters))
