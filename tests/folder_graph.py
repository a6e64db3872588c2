"""The folders of the package and what they import of each other, read from the source.

`python -m tests.folder_graph` prints the graph of docs/architecture.md. `MAY_IMPORT` is the one place that says which
arrows there may be: a folder imports from itself and from what is named beside it, wherever in a file the import stands
and for types alone too; `oracle.protocol` is that module and no other of its folder.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Set
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACES = {"harness": "paramid", "methods": "paramid.methods", "tasks": "paramid.tasks"}
ABOVE = {"paramid", "paramid.__main__", "paramid.cli"}  # all folders: they may import anything
OPEN = {"EXPORTS", "__version__"}  # what anybody may ask of `paramid` itself
FOREIGN = {*PLACES, "tests", "benchmarks"}  # folders of the checkout: never packages for `import`

MAY_IMPORT: Mapping[str, tuple[str, ...]] = {
    "words": (),
    "limits": ("words",),
    "weight_files": ("words",),
    "oracle": ("words",),
    "judging": ("words", "limits"),
    "contracts": ("words", "oracle", "judging"),
    "wall": ("words", "oracle", "contracts"),
    "tasks": ("words", "weight_files", "oracle", "judging", "contracts"),
    "methods": ("words", "limits", "oracle.protocol", "oracle.samples", "contracts.method"),
    "records": ("words", "judging", "contracts"),
    "running": ("words", "limits", "oracle", "judging", "contracts", "records", "wall"),
    "identifying": ("words", "weight_files", "oracle", "judging", "contracts"),
    "statistics": ("words", "contracts", "records", "running"),
    "pictures": ("words", "records", "statistics"),
    "board": ("words", "judging", "contracts", "records", "statistics", "pictures"),
    "authoring": ("words", "oracle", "judging", "contracts", "running"),
    "commands": (
        *("words", "judging", "contracts", "records", "running", "identifying"),
        *("statistics", "pictures", "board", "authoring"),
    ),
}
Arrows = dict[tuple[str, str], list[tuple[str, str]]]  # folders -> the files and what they import


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
    """The box that a module stands in; `paramid` for what is above all of them."""
    parts = module.split(".")
    return parts[0] if module in ABOVE or len(parts) == 1 else parts[1]


def imports(name: str, path: Path, known: Set[str], exports: Mapping[str, str]) -> Iterator[str]:
    """What a file names of this checkout: modules of the package, and folders that are none."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.split(".")[0] in {"paramid", *FOREIGN})
        elif isinstance(node, ast.ImportFrom):
            up = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*up, *([node.module] if node.module else [])])
            if base.split(".")[0] in {"paramid", *FOREIGN}:
                yield from (_meant(base, alias.name, known, exports) for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "paramid":
            if node.attr not in OPEN:  # `import paramid` and then anything of it
                yield f"paramid.{exports.get(node.attr, node.attr)}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in known - ABOVE:
            yield node.value  # for `import_module`


def _meant(base: str, name: str, known: Set[str], exports: Mapping[str, str]) -> str:
    """The module behind `from base import name`."""
    if base == "paramid" and name in exports:
        return f"paramid.{exports[name]}"
    full = f"{base}.{name}"
    return full if full in known or base == "paramid" else base


def graph(root: Path = ROOT) -> Arrows:
    """Every arrow between two folders, with the imports that make it."""
    known, arrows = modules(root), defaultdict(list)
    exports = _exports(known["paramid"])
    for name, path in known.items():
        if name in ABOVE:
            continue
        for other in imports(name, path, set(known), exports):
            if other != "paramid" and folder(name) != folder(other):
                arrows[folder(name), folder(other)].append((str(path.relative_to(root)), other))
    return dict(arrows)


def _exports(path: Path) -> dict[str, str]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "EXPORTS":
            return dict(ast.literal_eval(node.value))
    raise ValueError(f"{path} has no EXPORTS")


def forbidden(arrows: Arrows) -> list[str]:
    """The imports that go against `MAY_IMPORT`."""
    return [
        f"{file} imports {other}"
        for (a, b), found in arrows.items()
        for file, other in found
        if not {b, other.removeprefix("paramid.")} & set(MAY_IMPORT.get(a, ()))
    ]


def homeless(root: Path = ROOT) -> list[str]:
    """Files of the harness that stand in no folder of `MAY_IMPORT`, and code among data."""
    stray = [p for name, p in modules(root).items() if name not in ABOVE and folder(name) not in MAY_IMPORT]
    return [str(path.relative_to(root)) for path in stray]


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
