"""A figure as SVG text: what matplotlib writes, a third as long, and fit to stand in a page.

Words stay words, searchable and in the reader's font; ink is `currentColor`, so that a drawing follows the page around
it, and as a file of its own the reader's light or dark scheme; there are no ids and no style that leaks, so that
several can stand in one page; lengths have one decimal. An artist whose gid is `titled(…)` gets a `<title>`, the
numbers behind it, on hover and for screen readers; the figure's label is the name of the drawing, its gid what it says.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from paramid.pictures.looks import INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FONT = "system-ui, -apple-system, DejaVu Sans, sans-serif"
ALONE = (
    f"svg:root{{color:{INK}}}@media(prefers-color-scheme:dark){{svg:root{{color:#e6e6e6}}}}text{{pointer-events:none}}"
)
ROOT = f' xmlns="http://www.w3.org/2000/svg" font-family="{FONT}" font-size="10" fill="currentColor"'
STYLE = f"<style>{ALONE}</style>"
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # by XML 1.0, §2.2
TITLE = "title:"
DOTS = {"svg": 72, "pdf": 72, "png": 200}  # an inch
NAMELESS = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
OF_SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
KEPT = (
    *("fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "opacity"),
    *("text-anchor", "font-weight", "font-size"),
)
USUAL = {"fill-opacity": "1", "stroke-opacity": "1", "opacity": "1", "font-weight": "400", "font-size": "10px"}
USUAL |= {"text-anchor": "start"}


def titled(words: str) -> str:
    """The gid of an artist with a title."""
    return TITLE + clean(words)


def clean(words: str) -> str:
    """Words without what XML forbids."""
    return FORBIDDEN.sub("\ufffd", words)


def reset() -> None:
    """Forget what a reader's own matplotlibrc says, so that commands draw the same everywhere."""
    import matplotlib

    matplotlib.rcdefaults()


def save(figure: Figure, path: Path) -> None:
    """Write a figure in the format that the name of the file says; the same figure is the same bytes."""
    kind = path.suffix.removeprefix(".")
    if kind == "svg":
        path.write_text(svg(figure), encoding="utf-8")
    else:
        _save(figure, path, kind, "white")


def _save(figure: Figure, where: Path | io.BytesIO, kind: str, ground: str) -> None:
    """Write without a date and with words as words."""
    import matplotlib

    settings = {"svg.fonttype": "none", "svg.hashsalt": "paramid", "pdf.fonttype": 42, "path.simplify": False}
    with matplotlib.rc_context(settings):  # type: ignore[arg-type]  # it lists its keys
        figure.savefig(where, format=kind, metadata=NAMELESS[kind], facecolor=ground, dpi=DOTS[kind])


def svg(figure: Figure) -> str:
    """The whole drawing."""
    drawn = io.BytesIO()
    _save(figure, drawn, "svg", "none")
    root = ElementTree.fromstring(drawn.getvalue())
    shapes = {e.get("id", ""): e.get("d", "") for e in root.iter(f"{OF_SVG}path") if e.get("id")}
    marks = "".join(f"\n{mark}" for mark in _written(root, shapes))
    role = "group" if "<a " in marks else "img"
    label = escaped(str(figure.get_label()))
    about = f"<desc>{escaped(figure.get_gid() or '')}</desc>"
    head = f'<svg{ROOT} viewBox="{root.get("viewBox")}" role="{role}" aria-label="{label}">'
    return f"{head}\n{about}{STYLE}{marks}\n</svg>\n"


def escaped(words: object) -> str:
    """Words as XML takes them."""
    return html.escape(clean(str(words)))


def _written(parent: Element, shapes: Mapping[str, str]) -> Iterator[str]:
    """The marks within, words above all others; neighbours that look alike are one path, or one group of words."""
    every = [mark for child in parent for mark in _marks(child, shapes)]
    words = sorted((mark for mark in every if mark.kind == "text"), key=lambda mark: mark.look)
    others = [mark for mark in every if mark.kind != "text"]
    for (kind, look), alike in groupby([*others, *words], key=lambda mark: mark[:2]):
        inside = [mark.inside for mark in alike]
        if kind == "path":
            yield f'<path d="{"".join(inside)}"{look}/>'
        elif kind == "text" and len(inside) > 1 and look:
            yield f"<g{look}>{''.join(f'<text{words}' for words in inside)}</g>"
        else:
            yield from (f"<text{look}{words}" if kind == "text" else words for words in inside)


class Mark(NamedTuple):
    """What may be joined to its neighbours: a path, words, or anything else, whose look is within."""

    kind: str
    look: str
    inside: str


def _marks(element: Element, shapes: Mapping[str, str]) -> Iterator[Mark]:
    """The marks of an element; groups that say nothing are left out."""
    name, looks = element.tag.removeprefix(OF_SVG), _looks(element)
    if name == "g" and (told := element.get("id", "")).startswith(TITLE):
        inside = "".join(_written(element, shapes))
        title = f"<title>{escaped(told.removeprefix(TITLE))}</title>"
        if inside.startswith("<a "):  # which the title names
            yield Mark("", "", inside.replace(">", f">{title}", 1))
        elif inside:
            yield Mark("", "", f"<g>{title}{inside}</g>")
    elif name == "a":
        yield Mark("", "", f'<a href="{escaped(element.get(LINK))}">{"".join(_written(element, shapes))}</a>')
    elif name == "g":
        for child in element:
            yield from _marks(child, shapes)
    elif name == "use":
        x, y = (_length(element.get(n, "0")) for n in "xy")
        shape = _short(shapes[element.get(LINK, "").removeprefix("#")])
        if round_ := re.fullmatch(r"M0 ([\d.]+)(?:C[^A-Z]+){8}Z", shape):
            yield Mark("", "", f'<circle cx="{x}" cy="{y}" r="{round_[1]}"{_told(looks)}/>')
        else:
            yield Mark("", "", f'<path d="{shape}" transform="translate({x} {y})"{_told(looks)}/>')
    elif name == "path" and {looks.get("fill"), looks.get("stroke", "none")} != {"none"}:
        yield Mark("path", _told(looks), _short(element.get("d", "")))
    elif name == "text":
        yield _words(element, looks)


def _words(element: Element, looks: dict[str, str]) -> Mark:
    told = element.get("transform", "")
    moved = re.search(r"translate\((\S+)[ ,]+(\S+?)\)", told)  # of text in several lines
    x, y = map(_length, moved.groups() if moved else (element.get("x", "0"), element.get("y", "0")))
    turned = re.search(r"rotate\((-?[\d.]+)", told)
    angle = _length(turned[1]) if turned else "0"
    place = f'x="{x}" y="{y}"' if angle == "0" else f'transform="translate({x} {y})rotate({angle})"'
    if looks.get("fill") == "currentColor":
        del looks["fill"]
    return Mark("text", _told(looks), f" {place}>{escaped(element.text or '')}</text>")


def _looks(element: Element) -> dict[str, str]:
    """What a style says, without what is usual."""
    pairs = (part.split(":", 1) for part in element.get("style", "").split(";") if ":" in part)
    style = {name.strip(): value.strip() for name, value in pairs}
    if "font" in style:  # the short form: weight and size before the family
        for word in style["font"].split("'")[0].split():
            style["font-size" if word.endswith("px") else "font-weight"] = word
    style = {"font-weight" if n == "font-weight" else n: {"bold": "700"}.get(v, v) for n, v in style.items()}
    if style.get("fill") == "none":
        style.pop("fill-opacity", None)
    return {
        name: "currentColor" if style[name] == INK else style[name]
        for name in KEPT
        if name in style and style[name] != USUAL.get(name)
    }


def _told(looks: Mapping[str, str]) -> str:
    made = {name: value.removesuffix("px").replace(", ", " ").replace(",", " ") for name, value in looks.items()}
    return "".join(f' {name}="{value}"' for name, value in made.items())


def _short(path: str) -> str:
    """The same path with one decimal; H and V where a step goes along an axis."""
    drawn: list[str] = []
    x = y = ""
    for command, numbers in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        values = [_length(n) for n in numbers.split()]
        if command == "L" and values[1] == y:
            drawn.append("" if values[0] == x else f"H{values[0]}")
        elif command == "L" and values[0] == x:
            drawn.append(f"V{values[1]}")
        else:
            drawn.append(f"{command.upper()}{' '.join(values)}")
        if values:
            x, y = values[-2:]
    return "".join(drawn)


def _length(value: str) -> str:
    return f"{round(float(value), 1) + 0:g}" if abs(float(value)) < 1e5 else f"{float(value):.0f}"
