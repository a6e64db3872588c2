"""Verdicts on real images follow the records: what the paper saw holds where it is planted, the contrary does not."""

from collections.abc import Iterator
from random import Random

import pytest

from benchmarks.reproduce.hierarchy.images import accuracies as images
from benchmarks.reproduce.hierarchy.images import section
from benchmarks.reproduce.hierarchy.images.items import ITEMS
from benchmarks.reproduce.source_items import Item, judged
from paramid import Status
from paramid.records.record import Record, Stage
from paramid.running import suites
from paramid.running.cell import Cell

PAPER = {  # accuracies of each phase
    images.LAYERWISE: (0.7, 0.9, 0.95, 0.95),
    images.STAGED: (0.7, 0.94, 0.98, 0.99),
    images.SCRATCH: (0.99,),
    images.DETACHED: (0.991,),
    images.EVERYWHERE: (0.99,),
    images.RELU: (0.99,),
    **{images.frozen(n, f): (0.7 + 0.08 * n, 0.99 - 0.02 * f) for n in images.BELOW for f in range(n + 1)},
    **{images.corrected(n): (0.99, 0.75 + 0.08 * n, 0.99 - 0.01 * n) for n in images.BELOW},
}
UNLIKE = {
    images.LAYERWISE: (0.7, 0.8, 0.85, 0.99),
    images.STAGED: (0.7, 0.75, 0.82, 0.93),
    images.SCRATCH: (0.99,),
    images.DETACHED: (0.7,),
    images.EVERYWHERE: (0.85,),
    images.RELU: (0.99,),
    **{images.frozen(n, f): (0.7 + 0.08 * n, 0.9 + 0.02 * f) for n in images.BELOW for f in range(n + 1)},
    **{images.corrected(n): (0.99, 0.65 + 0.08 * n, 0.8) for n in images.BELOW},
}
Planted = dict[str, tuple[float, ...]]


def records(planted: Planted, kept: float = 0.95, drawn: float = 0.1, noise: float = 0.001) -> Iterator[Record]:
    draw = Random(0)
    for cell in suites.suite("images").cells():
        told = planted[cell.method] if cell.task == images.TASK else (0.1,)
        cosines = [(f"{name}_{n}", v) for name, v in (("kept", kept), ("drawn", drawn)) for n in images.DEPTHS]
        stats = {name: v + draw.gauss(0, noise) for name, v in cosines}
        yield record(cell, tuple(accuracy + draw.gauss(0, noise) for accuracy in told), stats)


def record(cell: Cell, accuracies: tuple[float, ...], stats: dict[str, float]) -> Record:
    costs = {"seconds": 1.0, "queries": 0, "samples": 1198, "derivatives": 0, "moments": 0}
    claims = tuple(Stage(kind="Function", metrics={"accuracy": accuracy}, **costs) for accuracy in accuracies)
    names = {"key": "k", "method": cell.method, "task": cell.task, "seed": cell.seed, "device": "cpu", "threads": 1}
    status = Status.FINISHED if cell.task == images.TASK else Status.GAVE_UP
    metrics = dict(claims[-1].metrics)
    return Record(**names, budget={}, claims=claims, stats=stats, status=status, seconds=2.0, metrics=metrics)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.says)
def test_verdicts_follow_the_records(item: Item) -> None:
    assert judged(item, {"images": list(records(PAPER))})[0] is True
    assert judged(item, {"images": list(records(UNLIKE, kept=0.5, drawn=0.8))})[0] is False
    assert judged(item, {"images": list(records(PAPER, noise=0.3))})[0] is None
    few = [r for r in records(PAPER) if r.seed == 700]
    assert judged(item, {"images": few}) == (None, "too few runs say anything of it")


def test_what_is_compared_is_compared_seed_by_seed() -> None:
    after, before = {1: 0.9, 2: 0.5, 3: 0.7}, {1: 0.8, 2: 0.4, 4: 0.1}
    assert images.gains(after, before) == pytest.approx({1: 0.1, 2: 0.1})


def test_an_interval_is_students() -> None:
    middle, least, most = images.interval({0: 1.0, 1: 2.0, 2: 3.0})
    assert middle == 2
    assert most - middle == pytest.approx(middle - least)
    assert most - middle == pytest.approx(4.302653 / 3**0.5)  # t of 2 degrees of freedom
    assert images.told({0: 0.5}) == "50.0"
    assert images.told({0: 0.5, 1: 0.5}) == "50.0 ± 0.0"
    assert images.told({}) == "-"


def test_the_section_tells_every_table_with_its_seeds() -> None:
    text = "\n".join(section.text(list(records(PAPER, noise=0))))
    rows = [line for line in text.splitlines() if line.startswith("| ") and "±" in line]
    assert len(rows) == 4 + 3 + 3 + 5 + 2 + 3 + 3
    assert all("| 6 |" in row for row in rows)
    assert "| layer by layer | 70.0 ± 0.0 | 90.0 ± 0.0 | 95.0 ± 0.0 | 95.0 ± 0.0 | 6 |" in text
    assert "gave up in 6 of 6 runs" in text
    assert section.depth_figure(list(records(PAPER))).axes[0].get_xlabel() == "layers"
