"""What crosses between a caller and the workers of a cluster, and what both must have alike.

Records are a worker's only as far as its source is the caller's. All of paramid is compared when a worker is met and
with every cell; what others have installed, by the hashes of `records.keys`, without importing it. Plug-in files, and
what they import from beside them, are sent along.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import paramid
from paramid.contracts import plugins, registry
from paramid.contracts.plugins import Joined
from paramid.records import keys
from paramid.running.cell import Cell
from paramid.words.naming import Name

APART = ("methods", "tasks")  # packages of paramid's that lie in it when it is installed and elsewhere in a checkout


@dataclass(frozen=True, kw_only=True)
class Order:
    """A cell for a worker, whose plug-in files are named as those of `files`."""

    key: str
    cell: Cell
    seed: int  # of the teacher
    threads: int
    hidden: tuple[str, ...]  # what no method is to see, should the worker see it
    sources: Mapping[str, str]  # hashes of modules that a worker must have itself
    files: Mapping[str, bytes]  # what is sent along, by path


@cache
def harness() -> str:
    """The version and the hash of the source of all of paramid, as it is imported here."""
    digest = hashlib.sha256()
    for package in ("paramid", *(f"paramid.{apart}" for apart in APART)):
        for name, path in sorted(_modules(package)):
            digest.update(f"{package}/{name}\0".encode() + path.read_bytes().replace(b"\r\n", b"\n"))
    return f"{paramid.__version__} ({digest.hexdigest()[:12]})"


def _modules(package: str) -> Iterator[tuple[str, Path]]:
    """The files of a package but for those of packages apart, by their paths in it."""
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent
    for path in folder.rglob("*.py"):
        inside = path.relative_to(folder)
        if package != "paramid" or inside.parts[0] not in APART:
            yield inside.as_posix(), path


def sources(cell: Cell) -> dict[str, str]:
    """The hashes of the modules of method and task, but for plug-in files."""
    named = (("methods", cell.method), ("tasks", cell.task))
    modules = {registry.target(group, Name.parse(text).base).partition(":")[0] for group, text in named}
    return {module: keys.source_hash(module) for module in sorted(modules) if plugins.file_of(module) is None}


def packed(cell: Cell) -> tuple[Cell, dict[str, bytes]]:
    """The cell with plug-in files by their names, and these files with what they import from beside them."""
    files: dict[str, bytes] = {}

    def name(plugin: Joined) -> Joined:
        if not isinstance(plugin, str):
            return plugin
        folder = Path(plugin).parent
        for path in keys.beside(plugins.plugin_module(plugin), folder):
            files[path.relative_to(folder).as_posix()] = path.read_bytes()
        return Path(plugin).name

    own, others = (tuple(map(name, joined)) for joined in (cell.method_plugins, cell.plugins))
    return replace(cell, method_plugins=own, plugins=others), files


def unpacked(order: Order, base: Path) -> Cell:
    """The cell of an order, its plug-in files in a folder below `base` that is named by what they hold."""
    if not order.files:
        return order.cell
    digest = hashlib.sha256(repr(sorted(order.files.items())).encode()).hexdigest()[:16]
    folder = base / digest
    for name, content in order.files.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_name(f".{path.name}.tmp")
            partial.write_bytes(content)
            partial.replace(path)

    def place(plugin: Joined) -> Joined:
        return str(folder / plugin) if isinstance(plugin, str) else plugin

    own, others = (tuple(map(place, joined)) for joined in (order.cell.method_plugins, order.cell.plugins))
    return replace(order.cell, method_plugins=own, plugins=others)
