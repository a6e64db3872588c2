"""The site: every file by its path, the same bytes for the same records; nothing in it is fetched from elsewhere."""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from paramid.board import data_files, definitions, history, inline_drawings, pages, pairwise_page
from paramid.board.family import cards, section
from paramid.board.family import page as family_page
from paramid.board.markup import escaped, link, plain_words, slim, slugs, tag
from paramid.board.summary import Summary
from paramid.records.provenance import project_url
from paramid.statistics.sizes import family

TITLE = "Who can recover a network's weights, how exactly, and at what cost?"
ICON = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='3' fill='#0b5557'/>"
    "<circle cx='5' cy='11' r='2' fill='white'/><circle cx='11' cy='5' r='2' fill='white'/>"
    "<path d='M5 11L11 5' stroke='white'/></svg>\n"
)
NOTHING = (
    "No record stands yet. <code>paramid compare --suite standard</code> makes them, <code>paramid publish</code> puts "
    "them into <code>leaderboard/records</code>, and <code>paramid board</code> makes this page of them."
)
SCRIPTS = ("front.js", "shared.js", "pairwise.js")
EVERYWHERE, FRONT, PAIRWISE = ("names.js", "shared.js"), ("front.js",), ("data.js", "pairwise.js")
NAVIGATION = {
    "Families": "index.html",
    "Compare": "pairwise.html",
    "History": "history.html",
    "Definitions": "definitions.html",
    "Provenance": "provenance.html",
}
SEARCH = tag(
    "form",
    '<input type="search" name="q" placeholder="Find a method or task" aria-label="Find a method, family or task" '
    'autocomplete="off" role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list">',
    tag("ul", id="found", role="listbox", aria_label="Found", hidden=True),
    id="search",
    role="search",
    hidden=True,
)
LEAD = (
    "Who leads, by what access: tasks solved of those accepted, median error, rows of the teacher and seconds; "
    "(×3): three times what is possible at all."
)


def build(summary: Summary, over_commits: str = "") -> dict[str, bytes]:
    """Every file of the site; `over_commits` is the body of one more page."""
    gc.freeze()  # pictures leave cycles: to find them, nobody looks through all records each time
    try:
        return _built(summary, over_commits)
    finally:
        gc.unfreeze()


def _built(summary: Summary, over_commits: str) -> dict[str, bytes]:
    shown = {words: to for words, to in NAVIGATION.items() if over_commits or to != "history.html"}

    def page(title: str, body: str, *, depth: int = 0, scripts: Sequence[str] = ()) -> str:
        return whole(title, body, shown, depth=depth, scripts=scripts)

    method_slugs, task_slugs = slugs(summary.columns), slugs(summary.tasks)
    methods = {name: f"method/{slug}.html" for name, slug in method_slugs.items()}
    tasks = {name: f"task/{slug}.html" for name, slug in task_slugs.items()}
    family_slugs = slugs(map(family, summary.tasks))
    families = {name: f"family/{family_slugs[name]}.html" for name in summary.families}
    up = {**{n: f"../{u}" for n, u in methods.items()}, **{n: f"../{u}" for n, u in tasks.items()}}
    homes = {name: f"../{url}" for name, url in families.items()}
    made = {
        "index.html": page(
            TITLE,
            _front(summary, methods, families, bool(over_commits)),
            scripts=FRONT if summary.records else (),
        ),
        "definitions.html": page("Definitions", definitions.definitions(summary)),
        "provenance.html": page("Provenance", definitions.provenance(summary)),
        "leaderboard.json": data_files.as_json(summary),
        "leaderboard.csv": data_files.as_csv(summary),
        "icon.svg": ICON,
        "data.js": data_files.script(summary, methods, tasks),
        "names.js": data_files.names({"method": methods, "family": families, "task": tasks}),
        "pairwise.html": page(
            pairwise_page.TITLE, pairwise_page.body(summary), scripts=PAIRWISE if summary.records else ()
        ),
        **{name: files("paramid.board").joinpath(name).read_text(encoding="utf-8") for name in ("style.css", *SCRIPTS)},
    }
    made["style.css"] += inline_drawings.sheet()
    if over_commits:
        made["history.html"] = page(history.TITLE, over_commits)
    for name, url in methods.items():
        made[url] = page(name, pages.method(summary, name, up, task_slugs, homes), depth=1)
    for name, url in tasks.items():
        made[url] = page(name, pages.task(summary, name, up, homes[family(name)]), depth=1)
    for name, url in families.items():
        made[url] = page(f"Family {name}", family_page.body(summary, name, up, family_slugs[name]), depth=1)
    return {path: text.encode("utf-8", "replace") for path, text in sorted(made.items())}


def write(made: dict[str, bytes], folder: Path) -> None:
    """Write the site; pages of methods and tasks that are no more are removed, nothing else is touched."""
    for part in ("method", "task", "family"):
        (folder / part).mkdir(parents=True, exist_ok=True)
        for old in (folder / part).glob("*.html"):
            if f"{part}/{old.name}" not in made:
                old.unlink()
    for path, content in made.items():
        (folder / path).write_bytes(content)


def whole(title: str, body: str, navigation: Mapping[str, str], *, depth: int = 0, scripts: Sequence[str] = ()) -> str:
    """A whole page."""
    root = "../" * depth
    head = [
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f'<meta name="description" content="{escaped(plain_words(body) or TITLE)}">',
        tag("title", f"{escaped(title)} · paramid"),
        f'<link rel="icon" href="{root}icon.svg"><link rel="stylesheet" href="{root}style.css">',
        *(tag("script", src=f"{root}{name}", defer=True) for name in (*EVERYWHERE, *scripts)),
    ]
    entries = [tag("li", link(words, f"{root}{to}")) for words, to in navigation.items()]
    home = link("paramid", f"{root}index.html", class_="brand")
    top = tag("header", home, tag("nav", tag("ul", *entries), aria_label="Pages"), SEARCH)
    raw = f"{link('JSON', f'{root}leaderboard.json')} · {link('CSV', f'{root}leaderboard.csv')}"
    there = f" The project: {link(url.partition('//')[2], url)}." if (url := project_url()) else ""
    foot = tag("footer", tag("p", f"Made by <code>paramid board</code> from records alone; also as {raw}.{there}"))
    skip = tag("a", "To the content", href="#content", class_="skip")
    main = tag("main", body, id="content")
    text = f"<head>{''.join(head)}</head>\n<body>{skip}{top}\n{main}\n{foot}</body>"
    return slim(f'<!doctype html>\n<html lang="en">{text}</html>\n')


def _front(summary: Summary, methods: dict[str, str], families: dict[str, str], over_commits: bool) -> str:
    """The answer: cards, and below them the chosen family; without a choice the first one, without a style all."""
    hero = tag("div", tag("h1", escaped(TITLE)), tag("p", LEAD, class_="lead"), class_="hero")
    last = tag("p", link("Errors and times over commits", "history.html"), class_="note") if over_commits else ""
    if not summary.records:
        return hero + tag("p", NOTHING) + last
    anchors = {name: Path(url).stem for name, url in families.items()}
    sections = [section.section(summary, name, methods, anchors[name], url) for name, url in families.items()]
    return "".join([hero, cards.cards(summary, methods, anchors), tag("div", *sections, class_="chosen"),
                    definitions.reading(), definitions.facts(summary), last])  # fmt: skip
