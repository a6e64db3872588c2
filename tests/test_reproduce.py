"""The page beside the thesis is made of records, and of nothing that is not in them."""

import importlib
import sys
from pathlib import Path

from paramid import Status, plans
from paramid.record import Record

FOLDER = Path(__file__).parents[1] / "benchmarks"
sys.path.append(str(FOLDER))  # as for a script of that folder
pages = importlib.import_module("reproduce_shallow")


def made(cell: plans.Cell, error: float) -> Record:
    right = error < 1e-8
    metrics = {"weight_error": error, "bias_error_max": 0.0, "outer_error": 0.0, "sign_accuracy": 1.0}
    flags = {"exact": float(right), "identified": float(right)}
    return Record(
        key="k", method=cell.method, task=cell.task, seed=cell.seed, device="cpu", threads=1, budget={},
        status=Status.FINISHED, seconds=2.0, queries=10, peak_mb=100.0, metrics=metrics | flags,
    )  # fmt: skip


def test_every_section_is_written_from_its_suite() -> None:
    records = {name: [made(c, 1e-14) for c in plans.suite(name).cells()] for name in pages.SECTIONS}
    text = "\n".join(pages.page(records))
    assert "189 of 189 cells exact, 189 with every" in text
    assert "113 → 2" in text
    assert text.count("paramid compare --suite") == len(pages.SECTIONS)
    assert "| shallow:D=30,m=420 | sphere-lm | 3/3 | 3/3 | 2 | 3 finished |" in text
    assert "- seconds grows like D^0.0" in text or "- seconds grows like D^-0.0" in text


def test_failures_are_shown() -> None:
    records = {name: [made(c, 1.0) for c in plans.suite(name).cells()] for name in pages.SECTIONS}
    text = "\n".join(pages.page(records))
    assert "0 of 189 cells exact, 0 with every" in text
    assert "| 0/3 | 0/3 |" in text


def test_the_suites_are_the_thesis_grid() -> None:
    cells = plans.suite("shallow-3.6").cells()
    told = {(pages.option(made(c, 0), "D"), pages.option(made(c, 0), "beta")) for c in cells}
    assert told == {(d, b) for d in pages.TABLE_3_2 for b in pages.BETAS}
