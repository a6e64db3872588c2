"""The folders of the package and what they import of each other, read from the source.

`python -m tests.folder_graph` prints the graph of docs/architecture.md. `MAY_IMPORT` is the one place that says which
arrows there may be: a folder imports from those named beside it and from itself, wherever in a file the import stands.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Set
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACES = {"harness": "paramid", "methods": "paramid.methods", "tasks": "paramid.tasks"}
FACADE = "paramid"  # `__init__`, `__main__` and `cli`, above all folders

MAY_IMPORT: Mapping[str, tuple[str, ...]] = {
    "words": (),
    "oracle": ("words",),
    "judging": ("words",),
    "contracts": ("words", "oracle", "judging"),
    "tasks": ("words", "oracle", "judging", "contracts"),
    "methods": ("words", "oracle", "contracts"),
    "records": ("words", "judging", "contracts"),
    "running": ("words", "oracle", "judging", "contracts", "records"),
    "statistics": ("words", "contracts", "records", "running"),
    "pictures": ("words", "records"),
    "board": ("words", "judging", "contracts", "records", "running", "statistics", "pictures"),
    "authoring": ("words", "oracle", "judging", "contracts", "running"),
    "commands": (
        "words", "judging", "contracts", "records", "running", "statistics", "pictures", "board", "authoring",
    ),
}  # fmt: skip


def modules(root: Path = ROOT) -> dict[str, Path]:
    """Every module of the package by its dotted name; templates are files for others."""
    found = {}
    for place, package in PLACES.items():
        for path in sorted((root / place).rglob("*.py")):
            inside = path.relative_to(root / place)
            if inside.parts[0] != "templates":
                parts = [package, *inside.with_suffix("").parts]
                found[".".join(parts).removesuffix(".__init__")] = path
    return found


def folder(module: str) -> str:
    """The box that a module stands in."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in MAY_IMPORT else FACADE


def imports(name: str, path: Path, known: Set[str], exports: Mapping[str, str]) -> Iterator[str]:
    """The modules of the package that a file names in imports, in functions and for types alone too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == FACADE)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == FACADE and not node.level:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                through = f"{FACADE}.{exports.get(alias.name, '')}" if node.module == FACADE else ""
                yield through if through in known else full if full in known else str(node.module)


def graph(root: Path = ROOT) -> dict[tuple[str, str], list[str]]:
    """Every arrow between two folders, with the imports that make it."""
    known, arrows = modules(root), defaultdict(list)
    exports = _exports(known[FACADE])
    for name, path in known.items():
        for other in imports(name, path, set(known), exports):
            if other != FACADE and folder(name) not in (folder(other), FACADE):
                arrows[folder(name), folder(other)].append(f"{path.relative_to(root)} imports {other}")
    return dict(arrows)


def _exports(path: Path) -> dict[str, str]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "EXPORTS":
            return dict(ast.literal_eval(node.value))
    raise ValueError(f"{path} has no EXPORTS")


def forbidden(arrows: Mapping[tuple[str, str], list[str]]) -> list[str]:
    """The imports that go against `MAY_IMPORT`."""
    return [told for (a, b), found in arrows.items() if b not in MAY_IMPORT.get(a, ()) for told in found]


def cycle(arrows: Set[tuple[str, str]]) -> list[str]:
    """Folders that import each other in a ring, or nothing."""
    left = {a for a, _ in arrows} | {b for _, b in arrows}
    while free := {a for a in left if not any((a, b) in arrows for b in left)}:
        left -= free
    if not left:
        return []
    ring = [min(left)]
    while (after := min(b for b in left if (ring[-1], b) in arrows)) not in ring:
        ring.append(after)
    return [*ring[ring.index(after) :], after]


def drawn(arrows: Set[tuple[str, str]]) -> str:
    """The graph as Mermaid: an arrow from who imports to what is imported, but for those that others imply."""
    below = {a: {b for x, b in arrows if x == a} for a in MAY_IMPORT}

    def reached(a: str) -> set[str]:
        return below[a] | {c for b in below[a] for c in reached(b)}

    lines = [
        f"    {a} --> {b}"
        for a in reversed(MAY_IMPORT)
        for b in MAY_IMPORT
        if b in below[a] - _beyond(below[a], reached)
    ]
    return "\n".join(["```mermaid", "flowchart TD", *lines, "```"]) + "\n"


def _beyond(boxes: Set[str], reached: Callable[[str], set[str]]) -> set[str]:
    return {c for b in boxes for c in reached(b)}


if __name__ == "__main__":
    sys.stdout.write(drawn(set(graph())))
