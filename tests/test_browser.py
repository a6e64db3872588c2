"""The board in a real browser, opened from a file: where Chromium, playwright and axe-core are.

pip install -e '.[browser]';  apt-get install chromium;  npm install --no-save axe-core
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from paramid.board import history, pairwise_page, site
from paramid.board.summary import Summary
from paramid.records.record import Record
from paramid.statistics import pairwise
from paramid.statistics.asv_results import Commit, Curve
from paramid.words.status import Status
from tests.records import declined, failed, grid, made

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not here")
CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
AXE = Path(os.environ.get("AXE_CORE", Path(__file__).parents[1] / "node_modules" / "axe-core" / "axe.min.js"))
SMALL, WIDE = {"width": 400, "height": 800}, {"width": 1400, "height": 900}
TASKS = ("shallow:D=5,m=2", "shallow:D=20,m=36", "shallow:D=50,m=1000", "pyramid:D=50,widths=25-10")
Open = Callable[..., Any]

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not here")]


def records() -> list[Record]:
    made_records = grid({"sphere-lm": 1e-15, "spm": 1e-5, "spectral-norm": 3e-4}, TASKS[:3])
    made_records = [r for r in made_records if (r.method, r.task) != ("spm", TASKS[1])]
    made_records += [failed(method="spm", task=TASKS[1], seed=s) for s in range(3)]
    made_records += [
        made("sgd", t, s, 10.0 ** -(s + 1), access="samples", seconds=10.0) for t in TASKS for s in range(3)
    ]
    made_records += [made("peel:assisted=true", TASKS[3], s, 1e-6, device="cuda") for s in range(3)]
    made_records += [failed(Status.GAVE_UP, method="jennrich", task=TASKS[0], access="moments", reason="no gap")]
    return made_records + [declined(method="spm", task=TASKS[3], seed=s) for s in range(3)]


def commits() -> list[Commit]:
    curves = {Curve("spm | shallow:D=5,m=2", "queries"): 100.0, Curve("Step", "time", "10"): 0.1}
    return [Commit("here", f"{i:040x}", 10**12 + i, {k: v / (1 + i) for k, v in curves.items()}) for i in range(3)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made_folder = tmp_path_factory.mktemp("site")
    over_commits = history.body(commits(), {commits()[1].hash: "Half the rows"})
    site.write(site.build(Summary(records(), (), ("a.jsonl:2: tampered",)), over_commits), made_folder)
    return made_folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def visit(browser: Any, folder: Path) -> Iterator[Open]:
    """Opens a page of the site; a word on the console, an error or a request to elsewhere fails the test."""
    said: list[str] = []
    contexts = []

    def go(path: str = "index.html", size: dict[str, int] = WIDE, **options: object) -> Any:
        context = browser.new_context(viewport=size, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on(
            "request",
            lambda request: said.append(request.url) if not request.url.startswith(("file:", "data:")) else None,
        )
        page.goto(f"{folder.as_uri()}/{path}")
        return page

    yield go
    for context in contexts:
        context.close()
    assert said == []


@pytest.mark.parametrize("size", [SMALL, WIDE], ids=["400", "1400"])
def test_the_answer_is_on_the_first_screen(visit: Open, size: dict[str, int]) -> None:
    page = visit(size=size)
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    cards = page.locator(".card")
    assert cards.locator("h2 a").all_inner_texts() == ["shallow", "pyramid"]
    first = cards.first.bounding_box()
    assert first["y"] + first["height"] < size["height"]
    told = " ".join(cards.first.inner_text().split())
    assert "queries sphere-lm 3/3 9/9 runs 1e-15 · 1,000 rows · 2 s" in told
    assert "moments nobody, of 1" in told


@pytest.mark.parametrize("width", [400, 700, 1000, 1400])
def test_names_have_room_at_every_width(visit: Open, width: int) -> None:
    page = visit(size={"width": width, "height": 900})
    names = page.locator(".standings tbody th[scope=row]:visible")
    assert min(names.nth(i).bounding_box()["width"] for i in range(names.count())) > 110


def shown(page: Any) -> list[str]:
    return page.locator(".chosen > section:visible").evaluate_all("(all) => all.map((s) => s.id)")


@pytest.mark.parametrize("scripts", [True, False])
def test_a_card_chooses_its_family_and_the_address_keeps_it(visit: Open, scripts: bool) -> None:
    page = visit(java_script_enabled=scripts)
    assert page.locator(".card a").count() > 2
    if scripts:
        assert shown(page) == ["shallow"]
        assert page.locator(".card:has([aria-current])").inner_text().startswith("shallow")
    page.locator(".card h2 a", has_text="pyramid").click()
    assert page.url.endswith("index.html#pyramid")
    again = visit("index.html#pyramid")
    assert shown(again) == ["pyramid"]
    assert again.locator(".card:has([aria-current])").inner_text().startswith("pyramid")
    assert shown(visit("index.html#nothing")) == ["shallow"]


def test_on_paper_every_family_is_there(visit: Open) -> None:
    page = visit()
    page.emulate_media(media="print")
    assert shown(page) == ["shallow", "pyramid"]


def test_the_picture_switches_to_seconds_by_keyboard(visit: Open) -> None:
    page = visit()
    rows, seconds = (page.locator(f"#shallow .over-{over}") for over in ("queries", "seconds"))
    assert (rows.is_visible(), seconds.is_visible()) == (True, False)
    page.locator("#shallow .switch input:checked").focus()
    page.keyboard.press("ArrowRight")
    assert (rows.is_visible(), seconds.is_visible()) == (False, True)


def test_a_mark_says_its_numbers_and_leads_to_its_method(visit: Open) -> None:
    page = visit()
    said, mark = page.locator("#shallow .said"), page.locator("#shallow .over-queries a[href*=sphere-lm]")
    page.locator("#shallow .switch input:checked").focus()
    page.keyboard.press("Tab")
    assert "error" in said.inner_text()
    mark.focus()
    assert said.inner_text().startswith("sphere-lm: error 1e-15 for 1000 rows; 3 tasks, 9/9 identified")
    page.locator("#shallow .over-queries a[href*='spm']").first.hover()
    assert said.inner_text().startswith("spm: ")
    mark.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/method/sphere-lm.html")


def test_who_solves_nothing_is_one_line_and_who_declines_is_in_none(visit: Open) -> None:
    page = visit()
    lines = page.locator("#shallow .standings .nothing").all_inner_texts()
    assert [line.strip() for line in lines] == ["Solved nothing: jennrich"]
    page = visit("index.html#pyramid")
    assert "spm" not in page.locator("#pyramid .standings").inner_text()
    assert "assisted" in page.locator("#pyramid .standings").inner_text()


def test_a_method_and_a_task_are_opened_and_left(visit: Open) -> None:
    page = visit()
    page.locator("#shallow .standings").get_by_role("link", name="sphere-lm").click()
    assert page.locator("h1").inner_text() == "sphere-lm"
    page.get_by_text("Show them").click()
    assert page.locator(".seeds tbody tr:visible").count() > 9
    page.locator("main").get_by_role("link", name="shallow D=20 m=36").click()
    assert page.locator("h1").inner_text() == "shallow:D=20,m=36"
    page.get_by_role("link", name="shallow", exact=True).first.click()
    page.locator(".matrix tbody").locator("a:has-text('1e-15')").first.click()
    assert page.url.endswith("method/sphere-lm.html#shallow-D-5-m-2")


@pytest.mark.parametrize(
    ("path", "there"),
    [
        ("index.html", ".standings td[title*='9 of 9 runs']"),
        ("family/shallow.html", ".matrix td[title*='3/3 identified']"),
        ("method/spm.html", "main small:has-text('3/3')"),
    ],
)
def test_without_scripts_everything_is_there(visit: Open, path: str, there: str) -> None:
    page = visit(path, java_script_enabled=False)
    assert page.locator("button:visible").count() == 0
    assert page.locator(there).count() >= 2


def test_the_matrix_keeps_its_tasks_in_sight(visit: Open) -> None:
    page = visit("family/shallow.html", SMALL)
    page.evaluate("document.querySelector('.plane').scrollTo(9999, 0)")
    boxes = "['.plane', '.matrix tbody th'].map((s) => document.querySelector(s).getBoundingClientRect().left)"
    plane, first = page.evaluate(boxes)
    assert first == pytest.approx(plane, abs=2)


def test_a_command_is_copied(visit: Open) -> None:
    page = visit("task/shallow-D-5-m-2.html", permissions=["clipboard-read", "clipboard-write"])
    page.locator("button.copy").first.click()
    page.get_by_text("copied").wait_for()
    told = "paramid compare --methods sphere-lm --tasks shallow:D=5,m=2 --seeds 3 --time-limit 30"
    assert page.evaluate("getSelection().toString()") == told


def test_a_long_name_that_was_declined_stays_on_a_small_page(browser: Any, tmp_path: Path) -> None:
    task = "threshold:" + ",".join(f"{name}=1" for name in ("activation", "polynomial", "weights", "mixing", "rate"))
    site.write(site.build(Summary([made(), declined(task=task)])), tmp_path)
    page = browser.new_page(viewport=SMALL)
    page.goto((tmp_path / "method" / "spm.html").as_uri())
    assert task in page.locator(".declined dd").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= SMALL["width"]
    page.close()


def test_the_keyboard_reaches_the_content_first(visit: Open) -> None:
    page = visit()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"


def choose(page: Any, field: str, value: str) -> None:
    page.locator(f"select[name={field}]").select_option(value)


def order(page: Any, table: str) -> list[str]:
    return [" ".join(t.split()) for t in page.locator(f"{table} tbody tr th:first-child").all_inner_texts()]


def test_every_table_is_sorted_and_as_it_was_after_the_third_time(visit: Open) -> None:
    page = visit("task/shallow-D-5-m-2.html")
    first = order(page, ".results")
    head = page.locator(".results thead th").nth(3)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert order(page, ".results") == ["sphere-lm", "spm", "spectral-norm", "sgd", "jennrich"]
    head.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert order(page, ".results") == ["sgd", "spectral-norm", "spm", "sphere-lm", "jennrich"]  # without a value: last
    page.keyboard.press("Space")
    assert page.locator("[aria-sort]").count() == 0
    assert order(page, ".results") == first
    seeds = visit("method/spm.html")
    seeds.locator("summary", has_text="Show them").click()
    seeds.locator(".seeds thead").get_by_role("button", name="seconds").click()
    assert seeds.locator(".seeds tbody").nth(0).locator("th[scope=rowgroup]").count() == 1


@pytest.mark.parametrize("path", ["index.html", "method/spm.html"])
def test_a_page_is_found_by_the_keyboard(visit: Open, path: str) -> None:
    page = visit(path)
    page.keyboard.press("/")
    page.keyboard.type("d=20 SHALL")
    found = page.locator("#found").get_by_role("option")
    assert found.locator("a").all_inner_texts() == [TASKS[1]]
    page.keyboard.press("Escape")
    assert found.count() == 0
    page.keyboard.type("s")
    assert found.nth(0).get_attribute("aria-selected") == "true"
    page.keyboard.press("ArrowDown")
    name = found.nth(1).locator("a").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_function("name => document.querySelector('h1').textContent.trim().startsWith(name)", arg=name)
    page.locator("#search input").fill("nobody at all")
    assert found.all_inner_texts() == ["Nothing has this name."]


def test_two_methods_are_compared_as_the_harness_does(visit: Open) -> None:
    summary = Summary(records())
    page = visit("pairwise.html")
    for over in ("seconds", "queries"):
        choose(page, "over", over)
        for a, b in (("sphere-lm", "spm"), ("spm", "sphere-lm"), ("spectral-norm", "spm"), ("sgd", "sphere-lm")):
            choose(page, "a", a)
            choose(page, "b", b)
            found = pairwise.wins({n: summary.entrants[n] for n in (a, b)}, over)
            told = page.locator("#versus .verdict").evaluate("e => ({...e.dataset})")
            wanted = (found.won[0, 1], found.won[1, 0], found.met[0, 1])
            assert tuple(int(told[n]) for n in ("won", "lost", "met")) == wanted
            assert float(told["p"]) == pytest.approx(found.p[0, 1], rel=1e-9)
            for row in page.locator(".versus tbody tr").all():
                task, _, *values = [" ".join(t.split()) for t in row.locator("th, td").all_inner_texts()]
                cells = [summary.results.get((n, task)) for n in (a, b)]
                kept = [None if c is None or c.state == "declined" else pairwise_page.said(c) for c in cells]
                for q in range(4):
                    for one, value in zip(kept, values[2 * q : 2 * q + 2], strict=True):
                        assert value == one[q] if one else value in ("–", "declined", "not run")


def test_a_comparison_has_an_address_and_opens_from_the_matrix(visit: Open) -> None:
    page = visit("pairwise.html")
    choose(page, "a", "spm")
    choose(page, "b", "spectral-norm")
    choose(page, "family", "shallow")
    page.get_by_label("only tasks where they differ").check()
    assert page.locator(".versus tbody tr").count() == 1  # where one failed
    address = page.url.split("/")[-1]
    assert address == "pairwise.html#a=spm&b=spectral-norm&family=shallow&differ=1"
    other = visit(address, SMALL)
    assert other.locator("#versus").inner_text().split()[:2] == page.locator("#versus").inner_text().split()[:2]
    assert other.locator(".versus tbody tr").count() == 1
    page.get_by_label("Swap the two methods").click()
    assert page.locator("select[name=a]").input_value() == "spectral-norm"
    page.get_by_label("spm against sphere-lm").first.click()
    assert page.locator("select[name=b]").input_value() == "sphere-lm"
    visit("pairwise.html#a=nobody&b=%00&family=x")


def test_two_methods_that_never_met_are_not_compared(visit: Open) -> None:
    page = visit("pairwise.html#a=jennrich&b=peel:assisted=true on cuda")
    assert "No task here was run by both of them." in page.locator("#versus").inner_text()


def test_a_drawing_and_its_numbers_are_saved(visit: Open, tmp_path: Path) -> None:
    page = visit("method/spm.html", color_scheme="dark")
    for kind, said in (("CSV", "panel,name,seconds,error"), ("SVG", 'xmlns="http://www.w3.org/2000/svg"')):
        with page.expect_download() as waited:
            page.get_by_role("button", name=f"error-over-seconds as {kind}").click()
        waited.value.save_as(tmp_path / waited.value.suggested_filename)
        assert said in (tmp_path / f"error-over-seconds.{kind.lower()}").read_text()
    drawn = ElementTree.parse(tmp_path / "error-over-seconds.svg").getroot()
    assert not [e for e in drawn.iter() if e.get("class")]


def test_cards_on_a_phone_say_their_columns(visit: Open) -> None:
    page = visit("task/shallow-D-5-m-2.html", SMALL)
    region = page.locator(".results").first.locator("..")
    assert region.evaluate("e => e.scrollWidth <= e.clientWidth")
    label = page.locator(".results td[data-l=seconds]").first.evaluate("e => getComputedStyle(e, '::before').content")
    assert label == '"seconds"'


PAGES = [
    "index.html",
    "pairwise.html",
    "history.html",
    "definitions.html",
    "provenance.html",
    "method/spm.html",
    "task/shallow-D-5-m-2.html",
    "family/shallow.html",
]


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not here")
@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize(("scheme", "size"), [("light", WIDE), ("dark", SMALL)], ids=["light-1400", "dark-400"])
def test_axe_finds_no_serious_violation(visit: Open, path: str, scheme: str, size: dict[str, int]) -> None:
    page = visit(path, size, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    page.add_script_tag(path=str(AXE))
    found = page.evaluate("axe.run({preload: false, resultTypes: ['violations']}).then((r) => r.violations)")
    told = [
        (v["id"], v["nodes"][0]["html"][:120], v["nodes"][0].get("failureSummary"))
        for v in found
        if v["impact"] in ("serious", "critical")
    ]
    assert told == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
