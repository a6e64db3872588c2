"""The pages beside the papers are made of records, and of nothing that is not in them."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.reproduce import biased_relu, deep_fits, high_threshold, limits, pages, passive, shallow, trained
from benchmarks.reproduce.__main__ import PAGES
from paramid import Status
from paramid.records.record import Record, Stage
from paramid.running import suites
from paramid.running.cell import Cell
from paramid.words.naming import Name


@pytest.fixture(autouse=True)
def no_long_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fits that are no cell of a suite take a minute."""
    told = {"mean_distance": 1e-7, "uniform_distance": 1e-7, "shift_error_1": 1e-7}
    monkeypatch.setattr(deep_fits, "from_true_directions", lambda *_: deep_fits.Curve(1, (0, 1, 2), (told,) * 3))


def made(cell: Cell, error: float) -> Record:
    right = error < 1e-8
    metrics = {"weight_error": error, "bias_error_max": 0.0, "outer_error": 0.0, "sign_accuracy": 1.0}
    flags = {"exact": float(right), "identified": float(right)}
    return Record(
        key="k", method=cell.method, task=cell.task, seed=cell.seed, device="cpu", threads=1, budget={},
        status=Status.FINISHED, seconds=2.0, queries=10, peak_mb=100.0, metrics=metrics | flags,
    )  # fmt: skip


def text_of(page: pages.Page, error: float) -> str:
    return "\n".join(pages.lines(page, records_of(page, error)))


def records_of(page: pages.Page, error: float) -> dict[str, list[Record]]:
    return {name: [made(c, error) for c in suites.suite(name).cells()] for name in page.sections}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())
def test_every_section_is_written_from_its_suite(page: pages.Page, tmp_path: Path) -> None:
    records = records_of(page, 1e-14)
    written = list(pages.write(page, records, tmp_path))
    text = written[-1].read_text(encoding="utf-8")
    assert text.count("paramid compare --suite") == len(page.sections)
    assert all(f"]({page.name}/{path.name})" in text for path in written[:-1])
    assert text_of(page, 1.0) != text


def test_numbers_of_the_shallow_page() -> None:
    text = text_of(shallow.PAGE, 1e-14)
    assert "189 of 189 cells exact, 189 with every" in text
    assert "113 → 2" in text
    assert "| shallow:D=30,m=420 | sphere-lm | 3/3 | 3/3 | 2 | 3 finished |" in text
    assert "- seconds grows like D^0.0" in text or "- seconds grows like D^-0.0" in text


def test_failures_are_shown() -> None:
    text = text_of(shallow.PAGE, 1.0)
    assert "0 of 189 cells exact, 0 with every" in text
    assert "| 0/3 | 0/3 |" in text


def test_the_suites_are_the_thesis_grid() -> None:
    tasks = {c.task for c in suites.suite("shallow-3.6").cells()}
    told = {(pages.option(t, "D"), pages.option(t, "beta")) for t in tasks}
    assert told == {(d, b) for d in shallow.TABLE_3_2 for b in shallow.BETAS}


def judged(cell: Cell, error: float) -> Record:
    """A record whose last network is off by `error` and stands, whatever it is."""
    metrics = {"parameter_error": error, "parameter_error_unsigned": error / 2, "identified": float(error < 1e-2)}
    last = Stage(kind="Network", seconds=1.0, queries=0, samples=0, derivatives=0, moments=0, metrics=metrics)
    return replace(made(cell, 0.0), metrics=metrics, claims=(last,))


def test_errors_against_samples_have_their_exponent() -> None:
    def rows(cell: Cell) -> float:
        return float(dict(Name.parse(cell.task).options)["N"])

    records = [judged(c, 10 / rows(c) ** 0.5) for c in suites.suite("relu-samples").cells()]
    text = "\n".join(pages.lines(biased_relu.PAGE, {"relu-samples": records}))
    assert "| 1.0e-01 (0/3) | 3.2e-02 (0/3) | 1.0e-02 (0/3) | -0.50 |" in text
    assert "| error | but for signs | ended |" in text
    assert "| 3.2e-01 | 1.6e-01 | 3 finished |" in text
    assert "- hermite-jennrich: 9/9" not in text
    assert "- hermite-jennrich: 27/27" in text
    assert "## Does not" not in text


def test_who_is_ahead_at_equal_samples_is_said() -> None:
    def off(cell: Cell) -> float:
        return 1e-3 if cell.method.startswith("sgd") == ("m=8" in cell.task) else 0.1

    text = "\n".join(biased_relu.side_by_side([judged(c, off(c)) for c in suites.suite("relu-sizes").cells()]))
    assert "Most exact: `hermite-fused` at D=5,m=3, D=5,m=5" in text
    assert "; `sgd` at D=8,m=8." in text


def test_what_is_no_power_of_the_samples_has_no_exponent() -> None:
    assert biased_relu.falling([1e4, 1e5, 1e6], [1e-15, 1e-15, 1e-15]) == "-"
    assert biased_relu.falling([1e4, 1e5, 1e6], [2.0, 0.2, 0.02]) == "-1.00"
    assert biased_relu.without("biased-relu:D=5,m=3,N=10", "m") == "biased-relu:D=5,N=10"


def test_angles_under_thresholds_have_their_exponent() -> None:
    def angled(cell: Cell) -> Record:
        angle = 3 / float(dict(Name.parse(cell.task).options).get("N", 1e6)) ** 0.5
        metrics = {"angle_error": angle}
        stage = Stage(kind="Units", seconds=1.0, queries=0, samples=9, derivatives=0, moments=0, metrics=metrics)
        return replace(made(cell, 0.0), metrics=metrics, claims=(stage,), queries=0, samples=9)

    records = [angled(c) for c in suites.suite("high-threshold").cells()]
    text = "\n".join(pages.lines(high_threshold.PAGE, {"high-threshold": records}))
    assert text.count("like N^-0.50") == 3
    assert "| 9.5e-03 → 9.5e-03 |" in text
    sums = text.split("### Sums of ReLUs")[1].split("\n- t = 2:")[0]
    assert sums.count("| biased-relu:") == 7 == text.count("| biased-relu:")


def test_every_trained_network_stands_in_one_table() -> None:
    records = records_of(trained.PAGE, 1e-14)["trained"]
    text = "\n".join(pages.lines(trained.PAGE, {"trained": records}))
    teachers = len({(r.task, r.seed) for r in records})
    assert teachers >= 150
    assert f"{teachers} of {teachers} networks are identified by one method or another" in text
    assert text.count("\n### ") == len(trained.PARTS)
    assert "| wine | 13-20-10-1 | logistic | peel | 10/10 | 10/10 | 1e-14 (1e-14) | - |" in text
    assert "| digits | 64-50-9 | tanh |" in text
    assert text.endswith("- none")


def test_trained_networks_that_nobody_found_are_told_with_their_reason() -> None:
    records = [replace(made(c, 1.0), reason="why") for c in suites.suite("trained").cells()]
    text = "\n".join(pages.lines(trained.PAGE, {"trained": records}))
    assert f"{len(records)} of {len(records)} runs ended with a wrong network" not in text
    assert "seeds 300, 301, 302, 303, 304, 305, 306, 307, 308, 309, peel: why" in text
    stage = Stage(kind="Network", seconds=1.0, queries=0, samples=0, derivatives=0, moments=0, metrics={})
    assert trained.wrong(replace(records[0], claims=(stage,)))
    assert not trained.wrong(replace(records[0], claims=(stage,), status=Status.GAVE_UP))


def test_errors_stand_beside_their_bounds_and_rows_beside_digits() -> None:
    cells = list(suites.suite("precision").cells())
    records = []
    for place, cell in enumerate(cells):
        told = {"bits": 10.0 + place % 3, "bound": 2.0**-11, "bound_placed": 2.0**-12, "identified": 1.0}
        records.append(replace(made(cell, 1.0), metrics=told, queries=1000 * 4 ** (place % 3)))
    text = "\n".join(pages.lines(limits.PAGE, {"precision": records}))
    assert "the error falls as rows^-0.50" in text
    assert "| inf |" not in text
    lost = [replace(r, metrics={}) for r in records]
    assert "| inf | inf | inf |" in "\n".join(pages.lines(limits.PAGE, {"precision": lost}))


def learnt(cell: Cell, enough: float) -> Record:
    """Identified where there are so many samples a parameter, else given up."""
    record = replace(made(cell, 1e-14), metrics={"recovered": 0.5, "excess": 3.0, "weight_error": 0.03})
    if passive.rows(record) / passive.parameters(record) >= enough:
        return replace(record, metrics=made(cell, 1e-14).metrics | {"recovered": 1.0, "excess": 0.0})
    return replace(record, status=Status.GAVE_UP, metrics=record.metrics | {"identified": 0.0})


def test_the_least_samples_a_parameter_are_told() -> None:
    records = [learnt(c, 2.0) for c in suites.suite("passive").cells()]
    text = "\n".join(pages.lines(passive.PAGE, {"passive": records}))
    assert "0 of 591 runs ended with a wrong network" in text
    assert "| tanh | 2 | 10 | student | 2 | 0/3 | 0/3 | 3/3 | 3/3 |" in text
    assert "| softplus | 4 | 29 | student | 2 | 0/2 | 0/2 | 2/2 |" in text
    assert "- `student`: 2 to 2, in 6 of 6 rows" in text
    assert "| relu | student | 4 of 4; 4 of 4 | 0; 0 |" in text


def test_what_was_never_identified_has_no_least() -> None:
    records = [learnt(c, 1e9) for c in suites.suite("passive").cells()]
    text = "\n".join(pages.lines(passive.PAGE, {"passive": records}))
    assert "- `student`: none, in 0 of 6 rows" in text
    assert "| relu | student | 2 of 4; 2 of 4 | 3; 3 |" in text
    assert passive.angle(records[-1]) == pytest.approx(1.0)
