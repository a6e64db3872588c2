"""What methods and tasks say of themselves, read from their source without importing it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from paramid.contracts import registry
from paramid.judging.metrics import METRICS
from paramid.words.naming import Name, UsageError


@dataclass(frozen=True)
class Entry:
    """What can be said of a registered class without importing it."""

    name: str
    target: str
    doc: str
    access: tuple[str, ...]


def entries(group: str) -> list[Entry]:
    """Name, access and first line of every class, read from the source without importing it."""
    return [_read(name, place) for name, place in registry.names(group).items()]


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
def _entries(group: str) -> tuple[Entry, ...]:
    return tuple(entries(group))


def metrics(family: str) -> Iterator[tuple[str, str]]:
    """What a family measures beyond the common metrics."""
    source = read("tasks", family)
    own = source.literal("metrics") if source else None
    if isinstance(own, dict):
        yield from ((str(name), str(told)) for name, told in own.items())


def meanings() -> dict[str, dict[str, str]]:
    """Every metric with its meaning: a common one under "", the others by the families that have them."""
    found: dict[str, dict[str, str]] = {name: {"": meaning} for name, meaning in METRICS.items()}
    for family in registry.names("tasks"):
        for name, meaning in metrics(family):
            found.setdefault(name, {})[family] = meaning
    return found


def _read(name: str, place: str) -> Entry:
    module_name, _, class_name = place.partition(":")
    try:
        spec = find_spec(module_name)  # imports the packages above it
    except (Exception, SystemExit) as error:
        return Entry(name, place, f"({module_name} cannot be imported: {type(error).__name__}: {error})", ())
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        return Entry(name, place, f"({module_name} cannot be found)", ())
    line, access = "", set[str]()
    for node in _lineage(ast.parse(Path(spec.origin).read_text(encoding="utf-8")), class_name):
        line = line or (ast.get_docstring(node) or "").split("\n")[0]
        access |= {a.attr.lower() for a in ast.walk(node) if isinstance(a, ast.Attribute) and _is_access(a)}
    return Entry(name, place, line, tuple(sorted(access)))


def _lineage(tree: ast.Module, name: str, imported: bool = False) -> Iterator[ast.ClassDef]:
    """The class of that name in a module, and its bases, in whatever modules they are; or the one it has `imported`."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name and not imported:
            yield node
            for base in node.bases:
                if isinstance(base, ast.Name):
                    yield from _lineage(tree, base.id, imported=base.id == name)
            return
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and name in {alias.name for alias in node.names}:
            spec = find_spec(node.module)
            if spec and spec.origin and spec.origin.endswith(".py"):
                yield from _lineage(ast.parse(Path(spec.origin).read_text(encoding="utf-8")), name)


def _is_access(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "Access"
