"""Figures: what is planted in records is told by the drawing, whatever the records' order."""

import math
import random
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, product
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from paramid.pictures.curves import best_so_far, curves
from paramid.pictures.noise import noise
from paramid.pictures.panels import panels, varying
from paramid.pictures.pareto import front, pareto
from paramid.pictures.phase_map import heat, phase_map
from paramid.pictures.profile import corners, profile
from paramid.pictures.scaling import exponent, growth, scaling
from paramid.pictures.sheet import Figure
from paramid.pictures.svg import svg
from paramid.records.record import Record, Stage
from paramid.records.selection import chosen
from paramid.words.naming import UsageError
from paramid.words.status import Status
from tests.records import judged, made

Kind = Callable[[list[Record]], Figure]
FIGURES: list[Kind] = [
    phase_map, curves, lambda r: curves(r, "queries", seeds=False), scaling, pareto, profile,
    lambda r: pareto(r, "seconds", by="task"), lambda r: noise(r, "m"), lambda r: growth({"all": r}, "seconds"),
]  # fmt: skip
SVG = "{http://www.w3.org/2000/svg}"


def record(method: str = "spm", task: str = "shallow:D=5,m=2", seed: int = 0, **told: object) -> Record:
    """A record whose claims halve their logarithms: error e^(1/4), e^(1/2), e at a quarter, half and all the cost."""
    error, seconds = told.pop("error", 1e-5), told.pop("seconds", 2.0)
    assert isinstance(error, float)
    assert isinstance(seconds, float)
    stages = tuple(
        Stage("Network", seconds * part, int(1000 * part), 20, 0, 0, judged(abs(error) ** part if error else 0.0))
        for part in (0.25, 0.5, 1.0)
    )
    values: dict[str, object] = {
        "key": f"{method}-{task}-{seed}", "method": method, "task": task, "seed": seed, "device": "cpu", "threads": 1,
        "queries": 1020, "budget": {}, "status": Status.FINISHED, "seconds": seconds, "claims": stages,
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


def words(drawn: Figure | str) -> str:
    root = ElementTree.fromstring(svg(drawn) if isinstance(drawn, Figure) else drawn)
    return "\n".join(e.text or "" for e in root.iter() if e.tag in (f"{SVG}title", f"{SVG}text", f"{SVG}desc"))


@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_is_valid_scalable_and_the_same_in_any_order(figure: Kind) -> None:
    records = grid()
    drawn = svg(figure(records))
    random.Random(0).shuffle(records)
    assert svg(figure(records)) == drawn
    root = ElementTree.fromstring(drawn)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.get("aria-label")
    assert root.get("width") is None
    assert re.fullmatch(r"0 0 390 [\d.]+", root.get("viewBox", ""))
    assert not [e for e in root.iter() if e.get("id")]
    assert not re.search(r"nan|inf\b", re.sub(r"<(title|text|desc)>.*?</\1>", "", drawn), flags=re.IGNORECASE)


def test_a_phase_map_tells_medians_shares_and_endings() -> None:
    told = words(phase_map(grid()))
    assert "m=4, D=10: median error 1e-5 (1e-6, 1e-5, 1e-4); 3/3 identified; 3 finished" in told
    assert "m=8, D=5: median error none (none, none, none); 0/3 identified; 3 timed_out" in told
    assert told.split("\n").count("0/3") == 2
    assert told.split("\n").count("–") == 2
    assert "sgd before shallow: 12/18 identified; 12 finished, 6 timed_out" in told


def test_a_phase_map_takes_its_axes_by_name_and_other_options_make_panels() -> None:
    noisy = [record(task=f"shallow:D={d},m={m},noise={n}") for d, m, n in product((5, 6), (2, 3, 4), (0.0, 0.1))]
    told = words(phase_map(noisy, columns="m"))
    assert "D=5, m=2" in told
    assert {"spm before shallow:noise=0.0", "spm before shallow:noise=0.1"} <= set(told.split("\n"))
    assert "noise=0.1, D=5" in words(phase_map(noisy, rows="noise", columns="D"))
    gap = [r for r in noisy[::2] if r.task != "shallow:D=6,m=4,noise=0.0"]
    told = words(phase_map(gap))
    assert "m=4, D=5: median" in told
    assert "m=4, D=6" not in told


def test_a_wide_phase_map_grows_and_its_cells_hold_their_numbers() -> None:
    wide = [record(task=f"shallow:D={d},m={m}", error=3.2e-12) for d, m in product((5, 6), range(1, 31))]
    drawn = phase_map(wide, "D", "m")
    assert ElementTree.fromstring(svg(drawn)).get("viewBox", "").split()[2] == "1134"
    assert words(drawn).split("\n").count("3e-12") == 60
    assert words(phase_map(wide, "m", "D")).split("\n").count("3.2e-12") == 60


def test_curves_tell_every_claim_and_the_median() -> None:
    told = words(figure := curves([record(seed=s, error=e) for s, e in enumerate((1e-4, 1e-8, 1e-12))]))
    assert [len(line.get_xdata()) for line in named_lines(figure, "spm: error 1e-8")] == [3]
    assert "spm, seed 1: Network after 1 s, error 1e-4" in told
    assert "spm, seed 2: Network after 2 s, error 1e-12" in told
    assert "spm: error 1e-8 at 2, 3/3 identified; 3 finished" in told
    assert "spm, seed 0: Network after 1,020 rows, error 1e-4" in words(curves([record(error=1e-4)], "queries"))


def test_medians_alone_are_smaller_and_end_where_they_did() -> None:
    whole, short = (svg(curves(grid(), seeds=s)) for s in (True, False))
    assert len(short) < len(whole) / 2
    assert "seed 1" not in words(short)
    assert words(short).split("\n", 1)[0] == words(whole).split("\n", 1)[0]


def named_lines(figure: Figure, told: str) -> list[Line2D]:
    """The lines whose title begins so."""
    return [one for axes in figure.axes for one in axes.lines if str(one.get_gid()).startswith(f"title:{told}")]


def labels(axes: Axes) -> list[str]:
    """What stands beside the axes."""
    return [text.get_text() for text in axes.texts if text.get_position()[0] > 1]


def test_a_line_is_named_at_its_end_and_led_there() -> None:
    figure = curves([r for r in grid(("spm", "sgd", "student")) if r.task == "shallow:D=5,m=2"])
    (axes,) = figure.axes
    assert labels(axes) == ["sgd", "spm", "student"]
    ends = [one.get_xydata()[-1] for one in named_lines(figure, "s")[:3]]
    assert [float(e) for _, e in ends if math.isfinite(e)]
    heights = sorted(text.get_position()[1] for text in axes.texts if text.get_position()[0] > 1)
    assert min(b - a for a, b in pairwise(heights)) > 0.06


def test_the_bold_line_is_the_median_of_the_best_so_far() -> None:
    assert best_so_far([[(1.0, 1e-2), (3.0, 1.0)], [(2.0, 1e-4)], []]) == [(2.0, 1e-2), (3.0, 1e-2)]
    assert best_so_far([[(1.0, 1e-2)], [(2.0, 1e-4)]]) == [(2.0, pytest.approx(1e-3))]
    assert best_so_far([[(1.0, 1e-2)], [], []]) == []


def test_scaling_finds_the_planted_exponents_and_marks_failures() -> None:
    told = words(figure := scaling(grid()))
    assert labels(figure.axes[0]) == ["sgd m^3.00", "spm m^2.00"]
    assert "spm: m^2.00, 9/9 identified; 9 finished" in told
    assert "sgd: m^3.00, 6/9 identified; 6 finished, 3 timed_out" in told
    assert "sgd, m=8: 0/3 identified; 3 timed_out; not identified: 30, 30, 30 s" in told
    assert {"shallow:D=5", "shallow:D=10"} <= set(told.split("\n"))
    assert exponent({2.0: 1.0, 4.0: 0.0}) != exponent({2.0: 1.0, 4.0: 0.0})  # NaN: one point tells no slope


def test_growth_over_size_finds_the_planted_exponents() -> None:
    tasks = [(f"shallow:D={d},m={m}", d * m) for d, m in ((5, 2), (10, 4), (20, 8))]
    records = [made(who, task, s, rows=size**power) for who, power in (("spm", 2), ("peel", 1)) for task, size in tasks
               for s in range(3)]  # fmt: skip
    told = words(growth({"queries": [*records, *(made("sgd", tasks[0][0], s, 0.5) for s in range(3))]}))
    assert "spm size^2.00" in told
    assert "peel size^1.00" in told
    assert "sgd" not in told  # who solves nothing has no growth
    with pytest.raises(UsageError, match="one point is no growth"):
        growth({"queries": [r for r in records if r.task == tasks[0][0]]})


def test_a_mark_leads_to_its_method_and_is_named_by_its_numbers() -> None:
    records = [
        made(who, "shallow:D=5,m=2", s, error) for who, error in (("spm", 1e-5), ("peel", 1e-9)) for s in range(3)
    ]
    drawn = svg(pareto(records, links={"spm": "method/spm.html"}))
    assert drawn.count("<a ") == 1
    assert '<a href="method/spm.html"><title>spm: error 1e-5 for 1000 rows' in drawn
    assert 'role="group"' in drawn


def test_pareto_draws_a_mark_for_each_method_and_the_front_of_the_best() -> None:
    points = {"spm": (1000, 1e-4), "sphere-lm": (3000, 1e-14), "sgd": (5000, 1e-2), "student": (500, 1e-1)}
    records = [made(m, seed=s, error=e, rows=n * (s + 1) // 2) for m, (n, e) in points.items() for s in range(3)]
    records += [failed(method="peel"), made("kinks", status=Status.DECLINED, claims=(), metrics={})]
    (axes,) = (figure := pareto(records)).axes
    marks = {name: named_lines(figure, f"{name}: ")[0].get_xydata()[0].tolist() for name in points}
    assert marks == {name: pytest.approx(point) for name, point in points.items()}
    front_line = next(one for one in axes.lines if one.get_drawstyle() == "steps-post").get_xydata().tolist()
    assert front_line[1:-1] == [pytest.approx(points[name]) for name in ("student", "spm", "sphere-lm")]
    assert {text.get_text() for text in axes.texts} >= {*points, "no error at the median: peel"}
    assert "kinks" not in words(figure)
    more = words(pareto([*records, made("spm", "shallow:D=6,m=2")]))
    assert {"spm", "sgd 1/2", "error, median over tasks (pale: each task; n/2: n of 2)"} <= set(more.split("\n"))
    assert front([(1, 1.0), (2, math.inf), (3, 2.0), (4, 0.5), (5, 0.5)]) == [(1, 1.0), (4, 0.5)]


def test_pareto_of_a_family_counts_rows_for_a_parameter_where_all_records_do() -> None:
    told = [{"error": e, "rows_per_parameter": n} for n, e in ((2.0, 1e-3), (3.0, 1e-9))]
    records = [
        made(m, task, metrics=told[i]) for task in ("shallow:m=2", "shallow:m=4") for i, m in enumerate(("spm", "sgd"))
    ]
    figure = pareto(records)
    assert figure.axes[0].get_xlabel() == "rows of the teacher a parameter"
    assert "spm: error 1e-3 for 2 rows a parameter; 2 tasks" in words(figure)
    assert "1 row a parameter: fewer are impossible" in words(figure)
    assert pareto(records, by="task").axes[1].get_xlabel() == "rows of the teacher"


def test_a_profile_rises_in_true_steps() -> None:
    costs = {"spm": (1.0, 1.0, 4.0), "sgd": (3.0, 2.0, 1.0)}
    records = [
        made(m, f"shallow:m={i}", seconds=2 * c, error=1e-5) for m, cs in costs.items() for i, c in enumerate(cs)
    ]
    figure = profile(records)
    (spm,) = named_lines(figure, "spm:")
    assert spm.get_drawstyle() == "steps-post"
    steps = [(1.0, 4 / 9), (4.0, 2 / 3), (1000.0, 2 / 3)]  # of three targets before three tasks nobody meets the last
    assert spm.get_xydata().tolist() == [pytest.approx(step) for step in steps]
    assert corners(np.array([1.0, 4.0, 4.0, np.inf])) == [(1.0, 0.25), (4.0, 0.75), (1000.0, 0.75)]
    assert corners(np.array([2.0, np.nan])) == [(1.0, 0.0), (2.0, 0.5), (1000.0, 0.5)]


def test_noise_stands_beside_its_limit() -> None:
    records = [
        record(m, f"shallow:m=2,noise={n}", metrics={"error": n * f, "bound": n / 2, "bound_placed": n / 4})
        for m, f in (("spm", 3.0), ("sgd", 9.0)) for n in (0.0, 1e-4, 1e-3, 1e-2)
    ]  # fmt: skip
    figure = noise(records)
    assert labels(figure.axes[0]) == ["sgd", "spm", "the limit"]
    (limit,) = named_lines(figure, "the limit")
    assert limit.get_xydata().tolist() == [pytest.approx([n, n / 4]) for n in (1e-4, 1e-3, 1e-2)]
    assert "spm, noise=1e-3: 3e-3, limit 5e-4" in words(figure)
    assert "the limit" not in words(noise([replace(r, metrics={"error": r.metrics["error"]}) for r in records]))


def test_tasks_that_the_axis_tells_apart_share_a_panel() -> None:
    diagonal = [record(task=f"shallow:D={d},m={m},N=9") for d, m in ((5, 2), (10, 5), (10, 9))]
    assert list(panels(diagonal, ("m",))) == ["shallow:N=9, D varying"]
    assert list(panels(diagonal, ("D",))) == ["shallow:m=2,N=9", "shallow:m=5,N=9", "shallow:m=9,N=9"]
    assert len(panels(diagonal)) == 3


ODD: dict[str, list[Record]] = {
    "one seed": grid(seeds=1),
    "ties": [record(task=f"shallow:D={d},m={m}", seed=s) for d, m, s in product((5, 6), (2, 3), range(2))],
    "errors of 0": [record(m, r.task, error=0.0, seconds=0.0) for r in grid(seeds=1) for m in ("spm", "sgd")],
    "few that answered": [*(failed(task=r.task, seed=r.seed) for r in grid(seeds=1)), *grid()[:6], *grid()[18:24]],
    "many methods": [r for r in grid(tuple(f"m{i}" for i in range(9)), seeds=1) if "D=5" in r.task or "m=4" in r.task],
    "two devices": [record(r.method, r.task, device=d) for d in ("cpu", "cuda") for r in grid(seeds=1)],
}


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("records", ODD.values(), ids=ODD)
def test_odd_records_are_drawn(figure: Kind, records: list[Record]) -> None:
    try:
        drawn = svg(figure(records))
    except UsageError as error:
        drawn = f'<svg><text xmlns="{SVG[1:-1]}">{error}</text></svg>'
        assert "one point is no" in drawn  # nothing is drawn where that is said
    numbers = re.findall(r' (?:x|y|width|height|d|transform|viewBox)="([^"]*)"', drawn)
    assert not [n for n in numbers if re.search("nan|inf|e-", n)]
    assert words(drawn)


def test_errors_without_a_number_count_as_the_worst() -> None:
    cell = [record(seed=s, metrics={"error": e}) for s, e in enumerate((1e-9, float("nan"), float("inf")))]
    others = [record(task=f"shallow:D={d},m={m}") for d, m in ((5, 3), (6, 2), (6, 3))]
    assert "m=2, D=5: median error none (1e-9, none, none)" in words(phase_map([*cell, *others], "m", "D"))
    assert "median error below 1e-17" in words(phase_map([record("truth", r.task, error=0.0) for r in grid()]))


@pytest.mark.parametrize("figure", FIGURES)
def test_every_word_is_escaped(figure: Kind) -> None:
    hostile = "a<script>\"&'\x00\x1b\ud800</svg>"
    drawn = svg(figure([record(m, r.task, r.seed, key=r.key) for r in grid() for m in (hostile, "spm")]))
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
    (
        lambda: curves([replace(record(), claims=record().claims[:1])]),
        "a single claim has an error; one point is no curve",
    ),
    (
        lambda: scaling([record(), failed(task="shallow:D=5,m=4")]),
        "identified tasks of two values of m; one point is no",
    ),
    (lambda: pareto([record(), failed(method="sgd")]), "no two methods have an error before the same tasks; one point"),
    (lambda: pareto(grid(), "metres"), "pareto goes over seconds or queries by family or task, not 'metres'"),
    (lambda: profile([failed()]), "one point is no profile"),
    (
        lambda: noise([record(task=f"shallow:noise={n}") for n in (0, 1)]),
        "an error at two positive values of",
    ),
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


def test_colours_rise_in_lightness_and_can_be_written_on() -> None:
    shades = [heat(i / 50) for i in range(51)]
    lights = [
        sum(w * (int(c[i : i + 2], 16) / 255) ** 2.2 for w, i in ((0.2126, 1), (0.7152, 3), (0.0722, 5)))
        for c, _ in shades
    ]
    assert lights == sorted(lights)
    for light, (_, ink) in zip(lights, shades, strict=True):
        assert (1.05 / (light + 0.05) if ink == "#ffffff" else (light + 0.05) / 0.051) > 4.5
    assert (heat(-1), heat(2)) == (heat(0), heat(1))
