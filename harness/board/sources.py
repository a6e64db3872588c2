"""What methods and tasks say of themselves, read from their source without importing it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from paramid import registry
from paramid.naming import Name, UsageError


@dataclass(frozen=True)
class Source:
    """The first line of a class, the words of its module, their references, the access it names, and its literals."""

    line: str = ""
    words: str = ""
    reference: str = ""
    access: tuple[str, ...] = ()
    module: str = ""

    def literal(self, name: str) -> object:
        """The value that its module gives a class attribute, where it is written out; None elsewhere."""
        for node in ast.walk(ast.parse(self.module)):
            if (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
                and node.target.id == name
                and node.value
            ):
                try:
                    return ast.literal_eval(node.value)
                except ValueError:
                    return None
        return None


@cache
def read(group: str, base: str) -> Source | None:
    """The source behind a name of "methods" or "tasks"; None where nobody here knows it."""
    try:
        place = registry.target(group, base)
    except UsageError:
        return None
    module = place.partition(":")[0]
    spec = find_spec(module)
    text = Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""
    entry = next(e for e in _entries(group) if e.name == base)
    words, _, cited = re.sub(r"\n\nReferences?:\s*", "\0", ast.get_docstring(ast.parse(text)) or "", count=1).partition(
        "\0"
    )
    return Source(entry.doc, words.strip(), " ".join(cited.split()), entry.access, text)


def of(group: str, name: str) -> Source | None:
    """The same for a name with options."""
    return read(group, Name.parse(name).base)


@cache
def _entries(group: str) -> tuple[registry.Entry, ...]:
    return tuple(registry.entries(group))


def metrics(family: str) -> Iterator[tuple[str, str]]:
    """What a family measures beyond the common metrics."""
    source = read("tasks", family)
    own = source.literal("metrics") if source else None
    if isinstance(own, dict):
        yield from ((str(name), str(told)) for name, told in own.items())
