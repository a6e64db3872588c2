"""Figures: what is planted in records is told by the drawing, whatever the records' order."""

import random
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import pytest

from paramid.cli import main
from paramid.pictures import svg
from paramid.pictures.axes import COLOURS, DASHES, MARKERS, Scale, heat, styles
from paramid.pictures.curves import best_so_far, curves
from paramid.pictures.panels import panels, varying
from paramid.pictures.phase_map import phase_map
from paramid.pictures.scaling import exponent, scaling
from paramid.records.record import Record, Stage, dump
from paramid.records.selection import chosen
from paramid.words.naming import UsageError
from paramid.words.status import Status

Figure = Callable[[list[Record]], str]
FIGURES: list[Figure] = [phase_map, curves, lambda r: curves(r, "queries"), scaling]
SVG = "{http://www.w3.org/2000/svg}"


def record(method: str = "spm", task: str = "shallow:D=5,m=2", seed: int = 0, **told: object) -> Record:
    """A record whose claims halve their logarithms: error e^(1/4), e^(1/2), e at a quarter, half and all the cost."""
    error, seconds = told.pop("error", 1e-5), told.pop("seconds", 2.0)
    assert isinstance(error, float)
    assert isinstance(seconds, float)
    stages = tuple(
        Stage("Network", seconds * part, int(1000 * part), 20, 0, 0, {"error": abs(error) ** part if error else 0.0})
        for part in (0.25, 0.5, 1.0)
    )
    values: dict[str, object] = {
        "key": f"{method}-{task}-{seed}", "method": method, "task": task, "seed": seed, "device": "cpu", "threads": 1,
        "budget": {}, "status": Status.FINISHED, "seconds": seconds, "claims": stages,
        "metrics": {"error": error, "identified": float(error < 2e-2)},
    }  # fmt: skip
    return Record(**{**values, **told})  # type: ignore[arg-type]


def failed(**told: object) -> Record:
    return record(**{"status": Status.TIMED_OUT, "claims": (), "metrics": {}, "seconds": 30.0, **told})  # type: ignore[arg-type]


def grid(methods: tuple[str, ...] = ("spm", "sgd"), seeds: int = 3) -> list[Record]:
    """Seconds grow as m² for spm and as m³ for sgd, which fails at m=8."""
    made = []
    for method, d, m, seed in product(methods, (5, 10), (2, 4, 8), range(seeds)):
        task, power = f"shallow:D={d},m={m}", 2 if method == "spm" else 3
        good = record(method, task, seed, error=10.0 ** -(m + seed), seconds=0.01 * d * m**power)
        made.append(failed(method=method, task=task, seed=seed) if (method, m) == ("sgd", 8) else good)
    return made


def words(drawn: str) -> str:
    root = ElementTree.fromstring(drawn)
    return "\n".join(e.text or "" for e in root.iter() if e.tag in (f"{SVG}title", f"{SVG}text", f"{SVG}desc"))


@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_is_valid_scalable_and_the_same_in_any_order(figure: Figure) -> None:
    records = grid()
    drawn = figure(records)
    random.Random(0).shuffle(records)
    assert figure(records) == drawn
    root = ElementTree.fromstring(drawn)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.get("aria-label")
    assert root.get("width") is None
    assert re.fullmatch(r"0 0 420 [\d.]+", root.get("viewBox", ""))
    assert not [e for e in root.iter() if e.get("id")]
    assert not re.search(r"nan|inf\b", re.sub(r"<(title|text|desc)>.*?</\1>", "", drawn), flags=re.IGNORECASE)


def test_a_phase_map_tells_medians_shares_and_endings() -> None:
    told = words(phase_map(grid()))
    assert "m=4, D=10: median error 1e-5 (1e-6, 1e-5, 1e-4); 3/3 identified; 3 finished" in told
    assert "m=8, D=5: median error none (none, none, none); 0/3 identified; 3 timed_out" in told
    assert told.split("\n").count("0/3") == 2
    assert "sgd before shallow: 12/18 identified; 12 finished, 6 timed_out" in told


def test_a_phase_map_takes_its_axes_by_name_and_other_options_make_panels() -> None:
    noisy = [record(task=f"shallow:D={d},m={m},noise={n}") for d, m, n in product((5, 6), (2, 3, 4), (0.0, 0.1))]
    told = words(phase_map(noisy, columns="m"))
    assert "D=5, m=2" in told
    assert {"spm before shallow:noise=0.0", "spm before shallow:noise=0.1"} <= set(told.split("\n"))
    assert "noise=0.1, D=5" in words(phase_map(noisy, rows="noise", columns="D"))
    gap = [r for r in noisy[::2] if r.task != "shallow:D=6,m=4,noise=0.0"]
    assert "m=4, D=6: no record" in words(phase_map(gap))


def test_a_wide_phase_map_grows_and_its_cells_hold_their_numbers() -> None:
    wide = [record(task=f"shallow:D={d},m={m}", error=3.2e-12) for d, m in product((5, 6), range(1, 31))]
    drawn = phase_map(wide, "D", "m")
    assert ElementTree.fromstring(drawn).get("viewBox", "").split()[2] == "1142"
    assert words(drawn).split("\n").count("3e-12") == 60
    assert words(phase_map(wide, "m", "D")).split("\n").count("3.2e-12") == 60


def test_curves_tell_every_claim_and_the_median() -> None:
    told = words(curves([record(seed=s, error=e) for s, e in enumerate((1e-4, 1e-8, 1e-12))]))
    assert "spm, seed 1: Network after 1 s, error 1e-4" in told
    assert "spm, seed 2: Network after 2 s, error 1e-12" in told
    assert "spm: error 1e-8 at 2, 3/3 identified; 3 finished" in told
    assert "spm, seed 0: Network after 1,020 rows, error 1e-4" in words(curves([record(error=1e-4)], "queries"))


def test_medians_alone_are_smaller_and_end_where_they_did() -> None:
    whole, short = (curves(grid(), seeds=s) for s in (True, False))
    assert len(short) < len(whole) / 2
    assert "seed 1" not in words(short)
    whole_about, short_about = (words(f).split("\n", 1)[0] for f in (whole, short))
    assert short_about == re.sub(r": \d/\d identified; [\w ,]*?(?=; s|\. s|$)", "", whole_about)


def test_the_bold_line_is_the_median_of_the_best_so_far() -> None:
    assert best_so_far([[(1.0, 1e-2), (3.0, 1.0)], [(2.0, 1e-4)], []]) == [(2.0, 1e-2), (3.0, 1e-2)]
    assert best_so_far([[(1.0, 1e-2)], [(2.0, 1e-4)]]) == [(2.0, pytest.approx(1e-3))]
    assert best_so_far([[(1.0, 1e-2)], [], []]) == []


def test_scaling_finds_the_planted_exponents_and_marks_failures() -> None:
    told = words(scaling(grid()))
    assert "spm: m^2.00, 9/9 identified; 9 finished" in told
    assert "sgd: m^3.00, 6/9 identified; 6 finished, 3 timed_out" in told
    assert "sgd, m=8: 0/3 identified; 3 timed_out; not identified: 30, 30, 30 s" in told
    assert {"shallow:D=5", "shallow:D=10"} <= set(told.split("\n"))
    assert exponent({2.0: 1.0, 4.0: 0.0}) != exponent({2.0: 1.0, 4.0: 0.0})  # NaN: one point tells no slope


def test_tasks_that_the_axis_tells_apart_share_a_panel() -> None:
    diagonal = [record(task=f"shallow:D={d},m={m},N=9") for d, m in ((5, 2), (10, 5), (10, 9))]
    assert list(panels(diagonal, ("m",))) == ["shallow:N=9, D varying"]
    assert list(panels(diagonal, ("D",))) == ["shallow:m=2,N=9", "shallow:m=5,N=9", "shallow:m=9,N=9"]
    assert len(panels(diagonal)) == 3


ODD: dict[str, list[Record]] = {
    "one seed": grid(seeds=1),
    "ties": [record(task=f"shallow:D={d},m={m}", seed=s) for d, m, s in product((5, 6), (2, 3), range(2))],
    "errors of 0": [record("truth", r.task, error=0.0, seconds=0.0) for r in grid()],
    "NaN and infinite errors": [
        record(task=r.task, seed=i, metrics={"error": [float("nan"), float("inf")][i % 2]})
        for i, r in enumerate(grid())
    ],
    "one that answered": [*(failed(task=r.task, seed=r.seed) for r in grid()), *grid(seeds=1)[:1]],
    "many methods": grid(tuple(f"m{i}" for i in range(9)), seeds=1),
    "two devices": [record(r.method, r.task, device=d) for d in ("cpu", "cuda") for r in grid(seeds=1)],
}


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("records", ODD.values(), ids=ODD)
def test_odd_records_are_drawn(figure: Figure, records: list[Record]) -> None:
    drawn = figure(records)
    numbers = re.findall(r' (?:x|y|width|height|d|transform|viewBox)="([^"]*)"', drawn)
    assert not [n for n in numbers if re.search("nan|inf|e-", n)]
    assert words(drawn)


def test_errors_without_a_number_count_as_the_worst() -> None:
    cell = [record(seed=s, metrics={"error": e}) for s, e in enumerate((1e-9, float("nan"), float("inf")))]
    others = [record(task=f"shallow:D={d},m={m}") for d, m in ((5, 3), (6, 2), (6, 3))]
    assert "m=2, D=5: median error none (1e-9, none, none)" in words(phase_map([*cell, *others], "m", "D"))
    assert "median error below 1e-17" in words(phase_map([record("truth", r.task, error=0.0) for r in grid()]))


@pytest.mark.parametrize("figure", FIGURES)
def test_every_word_is_escaped(figure: Figure) -> None:
    hostile = "a<script>\"&'\x00\x1b\ud800</svg>"
    drawn = figure([record(hostile, r.task, r.seed, key=r.key) for r in grid()])
    assert "<script" not in drawn
    assert drawn.count("</svg>") == 1
    drawn.encode()
    assert "a<script>\"&'���</svg>" in words(drawn)


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: phase_map([record()]), "wants two task options that vary; here vary: none"),
    (lambda: phase_map(grid(), "m", "m"), "rows and columns are both 'm'; two options were wanted"),
    (lambda: phase_map(grid(), "m", "beta"), "no two tasks differ in the number 'beta'; there are D, m"),
    (lambda: phase_map([record(task=f"shallow:{o}") for o in ("D=1", "D=2", "m=1", "m=2")]), "no task gives"),
    (lambda: curves(grid(), "metres"), "curves go over seconds or queries, not 'metres'"),
    (lambda: curves([failed()]), "no claim has an error to draw"),
    (lambda: scaling(grid(), "N"), "no two tasks differ in the number 'N'"),
    (lambda: scaling([record(task=f"shallow:noise={n}") for n in (0, 1)], "noise"), "not positive"),
    (lambda: chosen(grid(), ["spn"]), "no record of method 'spn'; did you mean spm?"),
    (lambda: chosen(grid(), tasks=["deep"]), "no record of task 'deep'"),
    (lambda: chosen(grid(), ["spm"], ["shallow:D=1"]), "no record of task 'shallow:D=1'"),
    (lambda: chosen([record("truth")]), "no record of a method other than the controls"),
    (lambda: chosen([]), "no record"),
]


@pytest.mark.parametrize(("call", "wanted"), WRONG)
def test_what_cannot_be_drawn_is_said(call: Callable[[], object], wanted: str) -> None:
    with pytest.raises(UsageError, match=re.escape(wanted)):
        call()


def test_records_are_chosen_by_name() -> None:
    records = [record(m, t) for m in ("spm", "spm:step=1.0", "truth") for t in ("shallow:D=1,m=2", "shallow:D=10,m=2")]
    assert {r.method for r in chosen(records)} == {"spm", "spm:step=1.0"}
    assert {r.method for r in chosen(records, ["spm", "truth"])} == {"spm", "truth"}
    assert {r.method for r in chosen(records, ["spm:step=1"])} == {"spm:step=1.0"}
    assert {r.task for r in chosen(records, tasks=["shallow:D=1"])} == {"shallow:D=1,m=2"}
    assert varying(records) == {"D": 2}


def test_methods_differ_in_more_than_colour() -> None:
    seven = list(styles([str(i) for i in range(7)]).values())
    for part in ("colour", "dash", "marker"):
        assert len({getattr(s, part) for s in seven}) == 7
    assert len(set(styles([str(i) for i in range(56)]).values())) == 56
    assert (len(COLOURS), len(DASHES), len(MARKERS)) == (7, 7, 8)


def test_colours_rise_in_lightness_and_can_be_written_on() -> None:
    shades = [heat(i / 50) for i in range(51)]
    lights = [
        sum(w * (int(c[i : i + 2], 16) / 255) ** 2.2 for w, i in ((0.2126, 1), (0.7152, 3), (0.0722, 5)))
        for c, _ in shades
    ]
    assert lights == sorted(lights)
    for light, (_, ink) in zip(lights, shades, strict=True):
        assert (1.05 / (light + 0.05) if ink == "#fff" else (light + 0.05) / 0.05) > 4.5
    assert (heat(-1), heat(2)) == (heat(0), heat(1))


def test_a_logarithmic_axis_has_round_ticks_within() -> None:
    assert Scale(0.9, 60, 0, 1).ticks() == [1, 2, 5, 10, 20, 50]
    assert Scale(1e-17, 2, 0, 1).ticks() == [1e-17, 1e-14, 1e-11, 1e-8, 1e-5, 1e-2]
    scale = Scale(1, 100, 200, 0)
    assert [scale(v) for v in (0, 1, 10, 100, 1e9)] == pytest.approx([200, 200, 100, 0, 0])


def test_lengths_are_short_and_plain() -> None:
    assert [svg.escaped(v) for v in (1.0, 0.3333, -0.001, 1234.5, 1e7)] == ["1", "0.33", "0", "1234.5", "10000000"]


def test_steps_along_an_axis_name_one_coordinate() -> None:
    drawn = svg.path([(1, 2), (5.04, 2), (5, 7.25), (6, 8), (6, 8)], stroke="red")
    assert drawn == '<path d="M1 2H5V7.2L6 8H6" fill="none" stroke="red"/>'
    assert svg.shifted(0, 0, drawn) == drawn
    assert svg.text("a", 0, 3.14) == '<text y="3.1">a</text>'


def test_the_command_writes_the_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, out = tmp_path / "store", tmp_path / "drawn.svg"
    (store / "cells").mkdir(parents=True)
    for each in grid():
        (store / "cells" / f"{each.key}-1.json").write_text(dump(each.to_json()))
    words = ["plot", "phase", "--store", str(store), "--out", str(out)]
    assert main([*words, "--methods", "spm", "--rows", "D"]) == 0
    assert capsys.readouterr().out == f"wrote {out} from 18 records\n"
    assert out.read_text() == phase_map(chosen(grid(), ["spm"]), rows="D")
    for more, wanted in ((["--over", "m"], "phase takes no --over"), (["--methods", "x"], "no record of method 'x'")):
        assert main([*words, *more]) == 2
        assert wanted in capsys.readouterr().err
