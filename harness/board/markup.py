"""HTML by hand: every word is escaped, children are markup."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Iterable

from paramid.pictures.svg import clean

VOID = ("input",)  # that have no end


def escaped(words: object) -> str:
    """Words as HTML takes them."""
    return html.escape(clean(str(words)))


def tag(name: str, /, *children: str, **attributes: object) -> str:
    """`<name attribute="…">children</name>`; `class_` and `data_x` become `class` and `data-x`, None is left out."""
    told = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escaped(value)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return f"<{name}{told}>" + ("" if name in VOID else f"{''.join(children)}</{name}>")


def link(words: object, to: str, **attributes: object) -> str:
    """A link."""
    return tag("a", escaped(words), href=to, **attributes)


def broken(name: str) -> str:
    """A name with options, which may be broken between them."""
    return re.sub("([:,=])", r"\1<wbr>", escaped(name)) if ":" in name else escaped(name)


def hidden(words: str) -> str:
    """Words for screen readers."""
    return tag("span", escaped(words), class_="vh")


def table(caption: str, head: Iterable[str], rows: Iterable[Iterable[str]], **attributes: object) -> str:
    """A plain table in a region that scrolls; the first cell of a row is its header."""
    columns = "".join(tag("th", words) for words in head)
    body = "".join(tag("tr", *(tag("td", c) if i else tag("th", c) for i, c in enumerate(row))) for row in rows)
    head_row = tag("thead", tag("tr", columns))
    return region(caption, tag("table", tag("caption", escaped(caption)), head_row, tag("tbody", body), **attributes))


def region(label: str, *children: str, **attributes: object) -> str:
    """What may be wider than the page: it scrolls by itself, by keyboard too."""
    extra = str(attributes.pop("class_", ""))
    kind = f"scroll {extra}".rstrip()
    return tag("div", *children, class_=kind, role="region", aria_label=label, tabindex="0", **attributes)


def slim(page: str) -> str:
    """The same page without the end tags and quotes that HTML leaves to the writer; words are escaped, so are safe."""
    return re.sub(r'="([\w./#-]+)"(?=[ >])', r"=\1", re.sub(r"</(?:td|th|tr|li|dt|dd|option|tbody|thead)>", "", page))


def marked(text: str) -> str:
    """One line of Markdown: `code` alone is read."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped(text))


def plain_words(body: str, most: int = 200) -> str:
    """What a page says of itself: its first leading paragraph as text, cut at a word."""
    told = re.search(r'<p class="lead">(.*?)</p>', body, re.DOTALL)
    words = html.unescape(re.sub(r"<[^>]*>", "", told[1])) if told else ""
    return words if len(words) <= most else f"{words[:most].rpartition(' ')[0]} …"


def slugs(names: Iterable[str]) -> dict[str, str]:
    """A file name for each name, the same wherever it is made; where two would be one, a hash tells them apart."""
    made: dict[str, str] = {}
    taken: dict[str, str] = {}
    for name in sorted(set(names)):
        slug = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:80] or "unnamed"
        if taken.setdefault(slug.lower(), name) != name:
            slug = f"{slug}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
        made[name] = slug
    return made
