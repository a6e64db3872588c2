"""The board: what is planted in records is said by the page, the same bytes each time, and nothing is fetched."""

import csv
import html.parser
import io
import json
import math
import re
from pathlib import Path

import pytest

from paramid.board import data_files, definitions, site
from paramid.board.family import formulas, numbers, origins
from paramid.board.inline_drawings import SHARED, inlined
from paramid.board.markup import escaped, slim, slugs, tag
from paramid.board.rerun_command import command
from paramid.board.summary import Result, Summary
from paramid.cli import main
from paramid.contracts import descriptions
from paramid.judging.metrics import METRICS
from paramid.pictures.curves import curves
from paramid.pictures.svg import svg
from paramid.records.publications.lines import DISPUTED, VERIFIED, Verdict, fingerprint
from paramid.records.publications.published import FOLDER, existing
from paramid.records.record import Record, dump
from paramid.words.status import Status
from tests.records import declined, failed, grid, made

TASKS = ("shallow:D=5,m=2", "shallow:D=20,m=36", "pyramid:D=50,widths=25-10")
VOID = {"meta", "link", "wbr", "input"}
UNCLOSED = {"td", "th", "tr", "li", "dt", "dd", "option", "tbody", "thead"}  # their ends are left out


def everything() -> list[Record]:
    """Five methods on three boards, a control, failures of several kinds."""
    records = grid({"sphere-lm": 1e-15, "spm": 1e-5, "truth": 1e-17}, TASKS[:2])
    records += [made("sgd", t, s, 1e-3, access="samples", seconds=10.0) for t in TASKS for s in range(3)]
    records += [made("peel:assisted=true", TASKS[2], s, 1e-6) for s in range(3)]
    records += [failed(Status.RAISED, method="jennrich", task=TASKS[0], seed=0, access="moments", reason="<b>&")]
    records += [declined(method=m, task=TASKS[2], seed=s) for m in ("sphere-lm", "spm") for s in range(3)]
    return records


@pytest.fixture(scope="module")
def built() -> dict[str, bytes]:
    return site.build(Summary(everything(), (), ("a.jsonl:3: tampered",)))


class Page(html.parser.HTMLParser):
    """Tags that are not closed, addresses, ids, and words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, name: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.links += [value for key in ("href", "src") if (value := told.get(key))]
        self.ids += [value for key in ("id",) if (value := told.get(key))]
        if name not in VOID | UNCLOSED:
            self.open.append(name)

    def handle_endtag(self, name: str) -> None:
        assert self.open.pop() == name, name

    def handle_data(self, words: str) -> None:
        self.words.append(words)


def test_every_page_is_whole_and_every_link_leads_somewhere(built: dict[str, bytes]) -> None:
    pages = {path: Page(text.decode()) for path, text in built.items() if path.endswith(".html")}
    assert len(pages) == 4 + 5 + 3 + 2
    for path, page in pages.items():
        assert page.open == [], path
        assert len(page.ids) == len(set(page.ids)), path
        for to in page.links:
            if to.startswith("data:"):
                continue
            assert ":" not in to, (path, to)
            file, _, anchor = to.partition("#")
            target = str((Path("/") / Path(path).parent / file).resolve().relative_to("/")) if file else path
            assert target in built, (path, to)
            assert not anchor or anchor in pages[target].ids, (path, to)


def test_nothing_is_fetched_from_elsewhere(built: dict[str, bytes]) -> None:
    for path, content in built.items():
        outside = re.findall(r"(?:https?:)?//[\w.-]+\.\w+", content.decode())
        assert not [o for o in outside if "w3.org" not in o], path
    assert b"@import" not in built["style.css"]
    assert b"fetch(" not in built["front.js"]


def test_the_same_records_make_the_same_bytes_in_any_order(built: dict[str, bytes]) -> None:
    assert site.build(Summary(everything()[::-1], (), ("a.jsonl:3: tampered",))) == built
    assert sum(map(len, built.values())) < 250_000


def test_words_of_records_are_escaped(built: dict[str, bytes]) -> None:
    assert b": <b>&" not in built["method/jennrich.html"]
    assert b": &lt;b&gt;&amp;" in built["method/jennrich.html"]
    hostile = site.build(Summary([made("x<script>alert(1)</script>", "y:z=<i>")]))
    assert not [p for p, text in hostile.items() if p.endswith(".html") and b"<script>alert" in text]


def test_controls_never_rank_and_assistance_is_marked(built: dict[str, bytes]) -> None:
    front = built["index.html"].decode()
    assert "truth" not in front
    assert 'class="badge assisted"' in front
    assert "1 line refused" in front
    assert "a.jsonl:3: tampered" in built["provenance.html"].decode()


def test_the_matrix_says_error_share_and_ending(built: dict[str, bytes]) -> None:
    page, deep = (built[f"family/{name}.html"].decode() for name in ("shallow", "pyramid"))
    assert re.search(r'<td class="e7 best"[^>]*title="sphere-lm before shallow:D=5,m=2: median error 1e-15', page)
    assert re.search(r'<td class=e2[^>]*title="spm before .*?3/3 identified; 3 finished', page)
    assert re.search(r'#shallow-D-5-m-2 aria-label="1e-15 identified">1e-15</a>', page)
    assert re.search(r'<td class=bare[^>]*title="jennrich before shallow:D=5,m=2: no median error[^"]*1 raised', page)
    assert "sphere-lm" not in deep.split("class=matrix")[1].split("</table>")[0]  # it declines the family


def cell(*records: Record) -> Result:
    return Result("spm", TASKS[0], records, ())


def test_a_cell_counts_its_failures() -> None:
    mixed = cell(made(error=1e-6), made(seed=1, error=1e-4), failed(seed=2))
    assert (mixed.error, mixed.identified, mixed.state, mixed.level) == (1e-4, 2, "partly identified", 2)
    half = cell(made(error=1e-6), failed(seed=1))
    assert (half.error, half.level, half.interval) == (math.inf, None, (1e-6, math.inf))
    assert cell(failed(), failed(seed=1)).state == "timed out"
    assert cell(made(error=0.5)).state == "not identified"
    assert cell(failed(Status.GAVE_UP)).state == "gave up"
    assert cell(failed(Status.CRASHED)).state == "failed"


@pytest.mark.parametrize(
    ("error", "level"), [(1.0, 0), (1.1e-2, 0), (1e-2, 1), (1e-4, 2), (1e-8, 4), (1e-14, 7), (0.0, 7)]
)
def test_colours_change_at_the_targets(error: float, level: int) -> None:
    assert cell(made(error=error)).level == level


def test_devices_are_paired_and_flagged_where_they_disagree() -> None:
    here = [made(seed=s) for s in (0, 1)]
    there = [made(seed=0, device="cuda", rows=7), made(seed=1, device="cuda", error=1e-9)]
    (pair,) = Summary([*here, *there]).pairs
    assert pair.problem == "seed 1: CPU error 1e-5, GPU 1e-9"
    page = definitions.provenance(Summary([*here, *there]))
    assert "<b>disagree</b>: seed 1: CPU error 1e-5, GPU 1e-9" in page
    assert Summary([*here, *there[:1]]).pairs[0].problem is None
    made_site = site.build(Summary([*here, *there]))
    assert "1 cell where CPU and GPU disagree" in made_site["index.html"].decode()
    assert made_site["family/shallow.html"].decode().split("class=matrix")[1].split("</table>")[0].count("†") == 2


def test_a_disputed_method_is_shown_and_not_ranked() -> None:
    records = grid({"spm": 1e-5, "sphere-lm": 1e-15}, TASKS[:1])
    verdicts = [Verdict(fingerprint(records[0]), DISPUTED, "found error 1"), Verdict(fingerprint(records[3]), VERIFIED)]
    summary = Summary(records, verdicts)
    assert [row.method for row in summary.tables["shallow"]["queries"].rows] == ["sphere-lm"]
    assert summary.columns == ("sphere-lm", "spm")
    made_site = site.build(summary)
    assert "spm" not in made_site["index.html"].decode()
    assert 'class="badge disputed"' in made_site["family/shallow.html"].decode()
    assert "class=tick" in made_site["index.html"].decode()


def test_json_and_csv_hold_every_cell(built: dict[str, bytes]) -> None:
    plain = json.loads(built["leaderboard.json"], parse_constant=lambda name: pytest.fail(name))
    rows = list(csv.DictReader(io.StringIO(built["leaderboard.csv"].decode())))
    assert [len(plain[name]) for name in ("cells", "declined")] == [9, 2]
    assert len(rows) == 11
    assert plain["declined"][1] == {"method": "spm", "reason": "needs more neurons", "seeds": 3, "tasks": [TASKS[2]]}
    board = plain["boards"]["shallow"]["queries"]["rows"]
    assert [(s["method"], s["tasks_solved"], s["from"]) for s in board] == [
        ("sphere-lm", 2, "ours"), ("spm", 2, "Rauchensteiner 2023"),
    ]  # fmt: skip
    (row,) = [r for r in rows if (r["method"], r["task"]) == ("spm", TASKS[0])]
    assert (row["identified"], row["seeds"], row["error"], row["rows"]) == ("3", "3", "1e-05", "1000")
    assert plain["boards"]["pyramid"]["queries"]["rows"][0]["assisted"] is True
    assert plain["boards"]["shallow"]["moments"] == {"rows": [], "solved nothing": ["jennrich"]}


def test_every_number_is_defined(built: dict[str, bytes]) -> None:
    page = built["definitions.html"].decode()
    assert not [name for name in METRICS if f"<code>{name}</code>" not in page]
    assert not [s for s in Status if f"<code>{s.key}</code>" not in page]
    words = (Path(__file__).parents[1] / "docs" / "metrics.md").read_text()
    assert not [name for name, told in definitions.BOARD.items() if f"| {name} | {told} |" not in words]


def test_pages_cite_their_papers_and_tell_long_lists_short(built: dict[str, bytes]) -> None:
    assert "Algorithms 2.2, 3.1 to 3.3" in built["method/spm.html"].decode()
    assert "TUM 2023, (1.11)" in built["task/shallow-D-5-m-2.html"].decode()
    many = [made(seed=s) for s in range(400)]
    page = site.build(Summary(many))["method/spm.html"].decode()
    assert "The first 300 seeds of each task; all 400 are in the records." in page
    assert page.count("<tr>") < 330


def test_slugs_are_plain_and_their_own() -> None:
    made_slugs = slugs(["a:b=1", "a-b=1", "A-B-1", "../x", "…"])
    assert len({s.lower() for s in made_slugs.values()}) == 5
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", s) and ".." not in s for s in made_slugs.values())


def test_markup_is_escaped_where_it_must_be() -> None:
    assert tag("td", "<b>x</b>", class_="a", data_v='"', hidden=True, title=None) == (
        '<td class="a" data-v="&quot;" hidden><b>x</b></td>'
    )


def test_every_row_says_the_command_that_makes_it_again(built: dict[str, bytes]) -> None:
    told = "<code class=run>paramid compare --methods spm --tasks shallow:D=5,m=2 --seeds 3 --time-limit 30</code>"
    assert told in built["method/spm.html"].decode()
    assert told in built["task/shallow-D-5-m-2.html"].decode()
    limits = {"seconds": 1e6, "queries": 3e7, "memory_mb": None}
    assert command([made(device="cuda", task="x:w=1-2", budget=limits)]) == (
        "paramid compare --methods spm --tasks x:w=1-2 --device cuda --time-limit 1000000 --query-limit 30000000"
    )


def test_what_was_declined_is_listed_by_its_reason(built: dict[str, bytes]) -> None:
    page = built["task/pyramid-D-50-widths-25-10.html"].decode()
    assert "Declined (2)" in page
    assert page.count("<dt>needs more neurons<dd>sphere-lm, spm</dl>") == 1


def test_a_cell_that_was_not_only_declined_stands_for_itself() -> None:
    mixed = [declined(seed=0), declined(seed=1), failed(seed=2)]
    plain = json.loads(data_files.as_json(Summary([*mixed, made("sgd", mixed[0].task)])))
    assert (plain["declined"], len(plain["cells"])) == ([], 2)


def test_a_drawing_within_a_page_leaves_to_its_style_what_all_share(built: dict[str, bytes]) -> None:
    page, style = built["method/spm.html"].decode(), built["style.css"].decode()
    figure = curves([r for r in everything() if r.method == "spm"], seeds=False)
    alone, inside = svg(figure), inlined(figure)
    assert inside.count("<path") == alone.count("<path")
    assert [said for said in ("xmlns", "font-family", "<style>", 'fill="none"', "0.18") if said in inside] == []
    used = set(re.findall(r'<(?:path|text|g)[^>]* class="?(\w+)', page))
    assert used == set(SHARED)
    assert [name for name in used if not re.search(rf"svg \.{name} {{ ", style)] == []


def test_slim_pages_keep_every_word_and_value() -> None:
    said = tag("td", tag("a", escaped('a="b" </td>'), href="x/y.html#z", title="two words", data_v="a=b"))
    assert slim(said) == ('<td><a href=x/y.html#z title="two words" data-v="a=b">a=&quot;b&quot; &lt;/td&gt;</a>')
    assert slim('<path d="M0 0" class="l0"/>') == '<path d="M0 0" class="l0"/>'


def test_the_published_board_is_small_and_the_same_bytes_twice() -> None:
    records = list(existing(Path(__file__).parents[1] / FOLDER, pytest.fail).records.values())
    site_bytes = site.build(Summary(records))
    assert sum(map(len, site_bytes.values())) < 2_000_000
    assert site.build(Summary(records[::-1])) == site_bytes


def test_every_ranked_row_of_the_published_board_says_its_epoch(tmp_path: Path) -> None:
    assert main(["board", "--records", str(Path(__file__).parents[1] / FOLDER), "--out", str(tmp_path)]) == 0
    front = (tmp_path / "index.html").read_text()
    rows = re.findall("<tr data-method=.*?(?=<tr|</table>)", front, re.DOTALL)
    assert len(rows) > 40
    assert all(re.search(r'title="verified 20\d\d-\d\d:', row) for row in rows)
    assert "verified in epoch 20" in front


def test_no_records_make_a_page_that_says_so() -> None:
    front = site.build(Summary([]))["index.html"].decode()
    assert "No record stands yet." in front


def test_the_command_writes_the_site_and_clears_what_is_no_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells, out = tmp_path / "store" / "cells", tmp_path / "out"
    cells.mkdir(parents=True)
    for r in grid({"spm": 1e-5, "truth": 0.0}, TASKS[:1]):
        (cells / f"{r.key}-1.json").write_text(dump(r.to_json()))
    (out / "method").mkdir(parents=True)
    for name in ("method/gone.html", "mine.txt"):
        (out / name).write_text("")
    assert main(["board", "--store", str(cells.parent), "--out", str(out)]) == 0
    assert "from 3 records that stand, of 6 (" in capsys.readouterr().out
    first = {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}
    assert {p.name for p in out.iterdir()} >= {"index.html", "front.js", "mine.txt"}
    assert [p.name for p in (out / "method").iterdir()] == ["spm.html"]
    assert main(["board", "--store", str(cells.parent), "--out", str(out)]) == 0
    assert {p: p.read_bytes() for p in out.rglob("*") if p.is_file()} == first
    assert main(["board", "--store", str(cells.parent), "--records", str(out)]) == 2


def test_the_search_knows_every_page_and_the_navigation_leads_to_what_is_there(built: dict[str, bytes]) -> None:
    names = json.loads(built["names.js"].decode().removeprefix("window.PARAMID_NAMES = ").rstrip(";\n"))
    assert {url for _, url, _ in names} == {p for p in built if re.match("(method|task|family)/", p)}
    assert b"history.html" not in built["index.html"]
    assert b"<li><a href=history.html>History</a>" in site.build(Summary([made()]), "<h1>x</h1>")["index.html"]


def test_a_page_is_described_and_names_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "project_url", lambda: "https://example.org/paramid")
    page = site.build(Summary([made()]))["task/shallow-D-5-m-2.html"].decode()
    assert '<meta name=description content="Identified by: spm.">' in page
    assert 'The project: <a href="https://example.org/paramid">example.org/paramid</a>.' in page


def test_wins_stand_in_the_family_and_access_of_their_methods() -> None:
    records = grid({"sphere-lm": 1e-15, "spm": 0.5}, TASKS[:2]) + grid({"peel": 1e-6}, TASKS[2:])
    page = site.build(Summary([*records, *(made("sgd", TASKS[0], s, access="samples") for s in range(3))]))
    told = page["pairwise.html"].decode()
    assert re.findall(r"<h3>([\w-]+) <small>([^<]*)", told) == [("shallow", "queries")]  # nobody met elsewhere
    assert [told.count(f"<td class={one}") for one in ("ahead>6:0", "behind>0:6", "even")] == [2, 2, 0]


def test_the_numbers_of_a_drawing_are_beside_it() -> None:
    drawn = inlined(curves([r for r in everything() if r.method == "spm" and r.task == TASKS[0]], seeds=False))
    assert 'data-name="error-over-seconds"' in drawn
    assert re.search(r"seconds\terror\n\S+\tspm\t1 0.003162 2 1e-05", drawn)


@pytest.mark.slow
def test_fifty_thousand_records_are_aggregated() -> None:
    tasks = [f"shallow:D={d},m={m}" for d in range(5, 25) for m in range(1, 6)]
    records = [
        made(f"m{i}", t, s, 10.0 ** -(i % 15), seconds=1.0 + (i * 7 + s) % 11)
        for i in range(50) for t in tasks for s in range(10)
    ]  # fmt: skip
    built = site.build(Summary(records))
    assert max(map(len, built.values())) < 8e6
    assert len(json.loads(built["leaderboard.json"])["cells"]) == 5000


def test_sizes_are_told(built: dict[str, bytes]) -> None:
    assert re.fullmatch(r"\d+ files, \d+ kB", data_files.sizes(built))


@pytest.mark.parametrize(
    ("error", "said"),
    [(2e-15, "2e-15"), (1e-18, "≤ 1e-17"), (1.2, "≥ 1"), (0.034, "0.034"), (1e-2, "0.01"), (math.inf, "–")],
)
def test_an_error_cannot_be_misread(error: float, said: str) -> None:
    assert numbers.error_words(error) == said


def test_who_is_ours_is_what_the_readme_says() -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    told = dict(re.findall(r"^\| `([\w-]+)` \| (.*?)(?: \||:)", readme, flags=re.MULTILINE))
    assert {name for name, words in told.items() if words.startswith("ours") and name != "trained"} == origins.OURS


@pytest.mark.parametrize(
    ("method", "said"),
    [("kinks", "ours"), ("spm:derivatives=exact", "Rauchensteiner 2023"), ("cp-als on cuda", "Harshman 1970"),
     ("cryptanalytic", "Carlini et al. 2020"), ("gram-queries", "Soltanolkotabi et al. 2017"), ("unheard-of", "")],
)  # fmt: skip
def test_methods_are_told_from_their_papers(method: str, said: str) -> None:
    assert origins.origin(method) == said


def test_of_two_rows_of_a_paper_one_is_tuned() -> None:
    beside = ("sgd", "sgd:optimizer=adam", "spm:trials=9", "sphere-lm", "sphere-lm:route=few-rows")
    told = {name: origins.tuning(name, beside) for name in beside}
    assert {name: word for name, word in told.items() if word} == {"sgd": "default", "sgd:optimizer=adam": "tuned"}


@pytest.mark.parametrize(
    ("family", "said"),
    [("shallow", "f(x) = Σ<sub>k≤m</sub> g(⟨w<sub>k</sub>, x⟩ + τ<sub>k</sub>)"), ("unheard-of", "")],
)
def test_a_family_is_a_line_of_mathematics(family: str, said: str) -> None:
    assert formulas.formula(family) == said


@pytest.mark.parametrize("family", [e.name for e in descriptions.entries("tasks") if e.name != "images"])
def test_every_family_says_its_function(family: str) -> None:
    assert "f(x) = " in formulas.formula(family)
