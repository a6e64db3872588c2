"""What all figures share: looks that stay, labels that keep apart, axes, and files that open and are the same twice."""

import re
import sys
from collections.abc import Sequence
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import paramid
from paramid.cli import main
from paramid.contracts.registry import BUILT_IN, CONTROLS
from paramid.pictures.labels import Box, beside, shortened, spread
from paramid.pictures.lines import chart, small
from paramid.pictures.looks import COLOURS, DASHES, MARKERS, PLACES, in_turn, look, nth
from paramid.pictures.pareto import pareto
from paramid.pictures.plot import KINDS
from paramid.pictures.scale import Scale
from paramid.pictures.sheet import Figure
from paramid.pictures.svg import save, svg
from paramid.records.record import dump
from paramid.words.naming import UsageError
from tests.records import grid, made

SVG = "{http://www.w3.org/2000/svg}"
TASKS = tuple(f"shallow:D={d},m={m},noise={n}" for d in (5, 6) for m in (2, 4) for n in (1e-4, 1e-3))
RECORDS = grid({"spm": 1e-5, "sgd": 1e-3, "truth": 0.0}, TASKS, seeds=2)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "store" / "cells").mkdir(parents=True)
    for each in RECORDS:
        (tmp_path / "store" / "cells" / f"{each.key}-1.json").write_text(dump(each.to_json()))
    return tmp_path / "store"


def test_looks_differ_and_stay_as_methods_are_added() -> None:
    every = [nth(i) for i in range(len(COLOURS) * len(DASHES) * len(MARKERS))]
    assert len(set(every)) == len(every) == 280
    for part in range(3):
        assert len({one[part] for one in map(look, PLACES[:7])}) == (7, 1, 7)[part]
    ours = set(BUILT_IN["methods"]) - set(CONTROLS)
    assert len({look(name) for name in ours}) == len(ours)
    assert look("spm") == nth(1) == look("spm")
    for other in ("spm:step=1.5", "spm on cuda"):
        assert look(other).colour == look("spm").colour
        assert look(other).marker != look("spm").marker
        assert look(other).dash != look("spm").dash
    assert look("somebody-elses") == look("somebody-elses")
    assert in_turn("ab") == {"a": nth(0), "b": nth(1)}


names = st.lists(st.text("ab:=,1", min_size=1, max_size=40), unique=True, max_size=12)


@given(names)
def test_short_names_are_never_alike(every: Sequence[str]) -> None:
    made_names = shortened(every, 9)
    assert len(set(made_names.values())) == len(every)
    assert all(made_names[name] == name for name in every if len(name) <= 9)


def test_a_short_name_keeps_what_tells_it() -> None:
    long = ["sphere-lm:derivatives=exact", "spm:derivatives=exact,step=1.5", "spm", "threshold-correlation"]
    assert list(shortened(long).values()) == ["spm", "threshold-correlation", "sphere-lm:exact", "spm:exact,step=1.5"]


@given(st.lists(st.floats(-50, 250), max_size=14))
def test_labels_keep_their_order_their_gap_and_their_room(places: Sequence[float]) -> None:
    made_places = spread(places, 12.5, 0.0, 190.0)
    assert all(-1e-6 <= place <= 190 + 1e-6 for place in made_places)
    ordered = [made_places[i] for i in sorted(range(len(places)), key=lambda i: (places[i], i))]
    assert all(b - a >= 12.5 - 1e-6 for a, b in pairwise(ordered))


def test_labels_with_room_stand_at_their_ends() -> None:
    assert spread([10.0, 100.0, 50.0], 12.5, 0.0, 190.0) == [10.0, 100.0, 50.0]
    assert spread([100.0, 100.0], 10.0, 0.0, 190.0) == pytest.approx([95.0, 105.0])


@given(st.lists(st.tuples(st.floats(0, 300), st.floats(0, 200)), min_size=1, max_size=8))
def test_words_beside_marks_never_meet(points: Sequence[tuple[float, float]]) -> None:
    boxes = beside(points, ["a name"] * len(points), Box(0, 0, 300, 200), 10)
    assert not [pair for pair in combinations(boxes, 2) if pair[0].meets(pair[1])]
    assert all(box.within(Box(0, 0, 300, 200)) for box in boxes)


def test_the_words_of_a_crowded_front_do_not_overlap_where_they_are_drawn() -> None:
    crowd = [
        made(m, s_task, 0, 10.0 ** -(i % 4), rows=1000 + 10 * i)
        for i, m in enumerate(PLACES[:14])
        for s_task in TASKS[:1]
    ]
    figure = pareto(crowd)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    places = [text.get_window_extent() for text in axes.texts if text.get_text() in PLACES]
    assert len(places) == 14
    assert not [1 for a, b in combinations(places, 2) if a.overlaps(b)]


def test_a_logarithmic_axis_has_round_ticks_within() -> None:
    assert Scale(0.9, 60).ticks() == [1, 2, 5, 10, 20, 50]
    assert Scale(1e-17, 2).ticks() == [1e-17, 1e-14, 1e-11, 1e-8, 1e-5, 1e-2]
    assert [Scale(1, 100).share(v) for v in (0, 1, 10, 100, 1e9)] == pytest.approx([0, 0, 0.5, 1, 1])


def test_a_drawing_in_a_page_is_short_plain_and_follows_its_ink() -> None:
    drawn = svg(chart({"a": [(1, 1), (10, 5)], "b": [(1, 2), (10, 2)]}, title="T", across="x", up="y"))
    root = ElementTree.fromstring(drawn)
    assert len(drawn) < 4000
    assert {e.tag.removeprefix(SVG) for e in root.iter()} == {
        *("svg", "desc", "style", "g", "path", "circle", "text", "title")
    }
    assert not [e for e in root.iter() if e.get("id") or e.get("style") or e.get("clip-path")]
    assert "#1a1a1a" not in drawn.replace("svg:root{color:#1a1a1a}", "")
    assert {"T", "x", "y", "a", "b"} <= {e.text for e in root.iter(f"{SVG}text")}
    assert "M44 " in drawn
    assert "currentColor" in drawn


def test_words_in_several_lines_and_turned_ones_stand_where_they_were_put() -> None:
    figure = chart({"a": [(1, 1), (10, 5)]}, title="T", across="x", up="y")
    figure.axes[0].text(0.5, 0.5, "one\ntwo", transform=figure.axes[0].transAxes)
    figure.axes[0].text(0.5, 0.5, "up", rotation=90, transform=figure.axes[0].transAxes)
    drawn = svg(figure)
    assert re.search(r'x="2\d\d[\d.]*" y="1\d\d[\d.]*">one<', drawn)
    assert re.search(r'transform="translate\(2[\d.]+ 1[\d.]+\)rotate\(-90\)"[^>]*>up<', drawn)


def test_a_link_makes_a_drawing_a_group_of_them() -> None:
    figure = small([(1, 1), (2, 4)], look("spm"), "grows")
    assert (figure.axes[0].get_lines()[0].get_xydata()[0] < 0.5).all()
    assert 'role="img" aria-label="grows"' in svg(figure)
    figure.axes[0].lines[0].set_url("method/spm.html")
    assert '<a href="method/spm.html"><path ' in svg(figure)
    assert 'role="group"' in svg(figure)
    with pytest.raises(UsageError, match="one point is no curve"):
        small([(1, 1)], look("spm"), "grows")


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_writes_every_kind(kind: str, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = store / "drawn.svg"
    assert main(["plot", kind, "--store", str(store), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"wrote {out} from 32 records\n"
    assert out.read_text() == svg(paramid.plot(kind, store)) == svg(paramid.plot(kind, RECORDS[::-1]))


STARTS = {"svg": b"<svg xmlns=", "pdf": b"%PDF-1.", "png": b"\x89PNG"}


@pytest.mark.parametrize("kind", STARTS)
def test_every_format_opens_and_is_the_same_bytes_twice(kind: str, tmp_path: Path) -> None:
    first, second = (tmp_path / f"{n}.{kind}" for n in range(2))
    for path, records in ((first, RECORDS), (second, RECORDS[::-1])):
        save(paramid.plot("pareto", records), path)
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes().startswith(STARTS[kind])
    if kind == "png":
        with Image.open(first) as image:
            assert image.getpixel((0, 0))[:3] == (255, 255, 255)
            assert image.size[0] == pytest.approx(390 * 200 / 72, abs=1)


def test_a_figure_is_matplotlibs_and_can_be_restyled() -> None:
    figure = paramid.plot("scaling", RECORDS, methods=["spm"], over="m")
    assert isinstance(figure, Figure)
    figure.axes[0].set_title("mine", loc="left")
    figure.set_size_inches(3, 2)
    assert ">mine</text>" in svg(figure)
    with pytest.raises(UsageError, match="no figure is called 'parato'; did you mean pareto"):
        paramid.plot("parato", RECORDS)


def test_what_the_command_does_not_take_is_said(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, wanted in (
        (["phase", "--over", "m"], "phase takes no --over"), (["pareto", "--methods", "x"], "no record of method 'x'"),
        (["curves", "--by", "task"], "curves takes no --by"), (["pareto", "--methods", "spm"], "one point is no front"),
        (["noise", "--out", "a.gif"], "a.gif: a name that ends with .svg, .pdf or .png was wanted"),
    ):  # fmt: skip
        assert main(["plot", *words, "--store", str(store)]) == 2
        assert wanted in capsys.readouterr().err


@pytest.mark.parametrize("words", [["plot", "pareto"], ["board", "--records", "published"]])
def test_without_matplotlib_one_line_says_what_to_install(
    words: list[str], store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [n for n in sys.modules if n.startswith(("matplotlib", "paramid.pictures", "paramid.board"))]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("matplotlib", "matplotlib.axes"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main([*words, *(("--store", str(store)) if words[0] == "plot" else ())]) == 2
    assert capsys.readouterr().err == "paramid: pictures are drawn by matplotlib: pip install 'paramid[plot]'\n"
