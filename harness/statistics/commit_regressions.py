"""Whether one commit is slower, less exact or hungrier than another: the same cells of both, interleaved in one run.

A commit is unpacked beside the other and runs in processes of its own, over the packages of this environment. For every
cell (method, task, seed), over rounds that take the two commits in turn,

    (1)  error:    worse where a seed is no longer identified, or every seed's error grew and their geometric mean
                   more than 1.5 times (errors under 1e-12 are rounding and count as 1e-12),
    (2)  queries:  rows of every kind, worse where any seed needs more of them: they do not depend on the machine,
    (3)  seconds:  worse where the median of the rounds' ratios is above 1.25 at 95 % of its bootstrap,
    (4)  peak_mb:  worse where every round took 1.2 times and 50 MB more.

What cannot be defended is no alarm: a cell whose interval of (3) reaches past 2 on noise alone is "cannot tell", one
that a commit does not know or cannot finish "could not measure".
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from itertools import product
from pathlib import Path
from statistics import geometric_mean, median
from tempfile import TemporaryFile

from paramid.records.record import COSTS
from paramid.running.cell import Cell
from paramid.statistics import intervals
from paramid.words.naming import UsageError

SAME, WORSE, UNKNOWN, FAILED = "same", "worse", "cannot tell", "could not measure"
ROUNDING, GREW, SLOWER, WIDE = 1e-12, 1.5, 1.25, 2.0
HUNGRIER, MEGABYTES = 1.2, 50.0
LAYOUT = {"harness": "", "methods": "methods", "tasks": "tasks"}  # folder of the repository -> place in the package
WORKER = """
import json, sys
from pathlib import Path
import paramid
if Path(paramid.__file__).with_name("running").is_dir():
    from paramid.records.record import dump
    from paramid.running.cell import plan_cell
    from paramid.running.supervisor import Supervisor
    from paramid.words.naming import UsageError
else:  # a commit whose harness had no folders
    from paramid.naming import UsageError
    from paramid.plans import cell as plan_cell
    from paramid.record import dump
    from paramid.supervisor import Forkserver as Supervisor

with Supervisor(1) as supervisor:
    for line in sys.stdin:
        try:
            made = dump(supervisor.run(plan_cell(**json.loads(line)), "", {}).record.to_json())
        except UsageError as error:
            made = json.dumps({"status": "no record", "reason": str(error)})
        print(made, flush=True)
"""  # one thread a cell
Json = dict[str, object]


@dataclass(frozen=True)
class Judgement:
    """What is said of one quantity of one cell."""

    cell: str
    quantity: str
    verdict: str
    words: str


@dataclass(frozen=True)
class Pair:
    """What both commits did: by seed, a record for every round."""

    cell: str
    base: dict[int, list[Json]] = field(default_factory=dict)
    head: dict[int, list[Json]] = field(default_factory=dict)


def unpack(commit: str, folder: Path, repository: Path) -> Path:
    """The commit's package as a folder for PYTHONPATH."""
    done = subprocess.run(["git", "-C", str(repository), "archive", commit], capture_output=True, check=False)
    if done.returncode:
        raise UsageError(f"{commit!r} is no commit of {repository}: {done.stderr.decode().strip()}")
    tree = folder / "tree"
    with tarfile.open(fileobj=BytesIO(done.stdout)) as archive:
        archive.extractall(tree, filter="data")
    package = folder / "path" / "paramid"
    package.mkdir(parents=True)
    for source, place in LAYOUT.items():
        if not (tree / source).is_dir():
            raise UsageError(f"{commit!r} has no folder {source}/; a commit of this project was wanted")
        for file in (tree / source).iterdir() if not place else [tree / source]:
            (package / (place or file.name)).symlink_to(file)
    return package.parent


@contextmanager
def cell_runner(path: Path) -> Iterator[Callable[[Cell], Json]]:
    """Runs cells by the package at `path`: gives the record of each, or a reason where there is none."""
    words, places = [sys.executable, "-c", WORKER], {**os.environ, "PYTHONPATH": str(path)}
    pipe = subprocess.PIPE
    with (
        TemporaryFile("w+") as errors,
        subprocess.Popen(words, env=places, stdin=pipe, stdout=pipe, stderr=errors, text=True) as process,
    ):

        def record(cell: Cell) -> Json:
            asked = {"method": cell.method, "task": cell.task, "seed": cell.seed, "time_limit": cell.time_limit}
            if process.poll() is None:
                print(json.dumps(asked), file=process.stdin, flush=True)
            if process.stdout and (line := process.stdout.readline()):
                made: Json = json.loads(line)
                return made
            process.wait()
            errors.seek(0)
            return {"status": "no record", "reason": (errors.read().splitlines() or ["nothing was printed"])[-1]}

        yield record


def measured_pairs(
    base: Path, head: Path, cells: Sequence[Cell], rounds: int, tell: Callable[[str], object]
) -> Iterator[Pair]:
    """Both commits on every cell, in turn."""
    grouped: dict[str, list[Cell]] = {}
    for cell in cells:
        grouped.setdefault(f"{cell.method} | {cell.task}", []).append(cell)
    with cell_runner(base) as before, cell_runner(head) as after:
        for number, (name, mine) in enumerate(grouped.items(), 1):
            tell(f"{number}/{len(grouped)} {name}")
            pair = Pair(name)
            sides = [(pair.base, before), (pair.head, after)]
            for turn, cell in product(range(rounds), mine):
                for side, record in sides if (turn + cell.seed) % 2 == 0 else sides[::-1]:
                    side.setdefault(cell.seed, []).append(record(cell))
            yield pair


def findings(pair: Pair, quantities: Sequence[str]) -> Iterator[Judgement]:
    """What is said of a cell."""
    if told := unmeasured(pair):
        yield Judgement(pair.cell, "all", FAILED, told)
        return
    for quantity in quantities:
        verdict, words = JUDGES[quantity](pair)
        yield Judgement(pair.cell, quantity, verdict, words)


def unmeasured(pair: Pair) -> str | None:
    """Why the base has nothing to compare with, or the head could not even be run."""
    for name, side in (("base", pair.base), ("head", pair.head)):
        for seed, made in side.items():
            for one in made:
                if one["status"] == "no record" or (name == "base" and one["status"] != "finished"):
                    return f"{name}, seed {seed}: {one['status']}: {one.get('reason') or 'no reason given'}"
    return None


def judge_error(pair: Pair) -> tuple[str, str]:
    """Whether error got worse, by (1), and in words."""
    ratios = []
    for seed, made in pair.base.items():
        before, after = made[0], pair.head[seed][0]
        if metric(before, "identified") == 1 and metric(after, "identified") != 1:
            return (
                WORSE,
                f"seed {seed} was identified and is not: {after['status']}, error {metric(after, 'error'):.2g}",
            )
        ratios.append(max(ROUNDING, metric(after, "error")) / max(ROUNDING, metric(before, "error")))
    grown = geometric_mean(ratios) if all(map(math.isfinite, ratios)) else math.inf
    return (WORSE if min(ratios) > 1 and grown > GREW else SAME), f"{grown:.3g} times the error"


def judge_queries(pair: Pair) -> tuple[str, str]:
    """Whether rows got worse, by (2), and in words."""
    most, words = 1.0, "the same rows"
    for seed, made in pair.base.items():
        before, after = (sum(number(one[c]) for c in COSTS) for one in (made[0], pair.head[seed][0]))
        if after != before and abs(math.log(max(after, 1) / max(before, 1))) >= abs(math.log(most)):
            most, words = max(after, 1) / max(before, 1), f"seed {seed}: {before:.0f} -> {after:.0f} rows"
    worse = any(
        sum(number(pair.head[seed][0][c]) for c in COSTS) > sum(number(made[0][c]) for c in COSTS)
        for seed, made in pair.base.items()
    )
    return (WORSE if worse else SAME), words


def judge_seconds(pair: Pair) -> tuple[str, str]:
    """Whether seconds got worse, by (3), and in words."""
    ratios = [
        number(after["seconds"]) / max(number(before["seconds"]), 1e-9)
        for seed, made in pair.base.items()
        for before, after in zip(made, pair.head[seed], strict=True)
    ]
    middle, (low, high) = median(ratios), intervals.median_interval(ratios)
    words = f"{middle:.2f} times the seconds [{low:.2f}, {high:.2f}] over {len(ratios)} pairs"
    if low > SLOWER:
        return WORSE, words
    return (UNKNOWN if high > WIDE else SAME), words


def judge_memory(pair: Pair) -> tuple[str, str]:
    """Whether memory got worse, by (4), and in words."""
    both = [
        (number(before["peak_mb"]), number(after["peak_mb"]))
        for seed, made in pair.base.items()
        for before, after in zip(made, pair.head[seed], strict=True)
    ]
    worse = all(after > max(HUNGRIER * before, before + MEGABYTES) for before, after in both)
    before, after = (median(side) for side in zip(*both, strict=True))
    return (WORSE if worse else SAME), f"{before:.0f} -> {after:.0f} MB"


def metric(made: Json, name: str) -> float:
    """A metric of a record, infinite where it has none."""
    metrics = made.get("metrics")
    value = metrics.get(name) if isinstance(metrics, dict) else None
    return math.inf if value is None else number(value)


def number(value: object) -> float:
    """A number of a record; non-finite ones are words there, and NaN is as bad as can be."""
    made = float(value) if isinstance(value, int | float | str) else math.inf
    return math.inf if math.isnan(made) else made


JUDGES: dict[str, Callable[[Pair], tuple[str, str]]] = {
    "error": judge_error,
    "queries": judge_queries,
    "seconds": judge_seconds,
    "peak_mb": judge_memory,
}
EXACT = ("error", "queries")  # what no machine's load can change
