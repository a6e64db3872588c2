"""Imports go along the arrows between folders, files and functions stay small, and the page about it is true."""

import ast
import re
import shutil
from importlib import import_module
from pathlib import Path
from statistics import mean

import pytest

from tests.folder_graph import MAY_IMPORT, PLACES, ROOT, Arrows, cycle, drawn, forbidden, graph, homeless, modules

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
MOST_MODULES, MOST_LINES, MEAN_LINES, DEEPEST = 15, 50, 8, 4
BLOCKS = ast.For | ast.While | ast.If | ast.With | ast.Try | ast.Match
Function = ast.FunctionDef | ast.AsyncFunctionDef


def test_no_folders_form_a_ring() -> None:
    assert cycle(set(graph())) == []


def test_no_import_goes_against_the_arrows() -> None:
    arrows = graph()
    assert forbidden(arrows) == []
    assert homeless() == []
    assert unused(arrows) == []


def unused(arrows: Arrows) -> list[str]:
    """Arrows that nothing needs."""
    used = {(a, place) for (a, b), found in arrows.items() for _, other in found for place in (b, other[8:])}
    return [f"{a}: {place}" for a, places in MAY_IMPORT.items() for place in places if (a, place) not in used]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for place in PLACES:
        shutil.copytree(ROOT / place, tmp_path / place, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.parametrize(
    ("file", "line", "told"),
    [
        ("harness/words/spec.py", "from paramid.judging import claim_scores", "paramid.judging.claim_scores"),
        ("harness/judging/claim_scores.py", "def late():\n    import paramid.running.cell", "paramid.running.cell"),
        ("harness/oracle/protocol.py", "from paramid import run", "paramid.running.run"),
        ("methods/spm.py", "from paramid.judging.claim_scores import score", "paramid.judging.claim_scores"),
        ("harness/records/store.py", "from paramid.cli import main", "paramid.cli"),
        ("harness/words/spec.py", "from ..running.cell import Cell", "paramid.running.cell"),
        ("harness/words/spec.py", "from .. import run", "paramid.running.run"),
        ("harness/words/spec.py", "from ..judging import metrics", "paramid.judging.metrics"),
        ("harness/words/spec.py", "import paramid\nparamid.run", "paramid.running.run"),
        ("harness/words/spec.py", "from paramid import *", "paramid.*"),
        ("harness/words/spec.py", "import_module('paramid.running.cell')", "paramid.running.cell"),
        ("harness/words/spec.py", "from methods import spm", "methods"),
        ("harness/words/spec.py", "import harness.running.cell", "harness.running.cell"),
        ("methods/spm.py", "from paramid.oracle.counting import CountingOracle", "paramid.oracle.counting"),
        ("methods/spm.py", "from paramid.contracts.controls import Truth", "paramid.contracts.controls"),
    ],
)
def test_an_import_against_the_arrows_is_named(tree: Path, file: str, line: str, told: str) -> None:
    path = tree / file
    path.write_text(f"{path.read_text()}\n{line}\n")
    assert forbidden(graph(tree)) == [f"{file} imports {told}"]


def test_a_planted_ring_is_named(tree: Path) -> None:
    path = tree / "harness/records/store.py"
    path.write_text(f"{path.read_text()}\nfrom paramid.running import compare")
    assert set(cycle(set(graph(tree)))) == {"records", "running"}


@pytest.mark.parametrize("file", ["harness/extras/a.py", "harness/helper.py", "harness/suites/code.py"])
def test_a_file_in_no_folder_of_the_plan_is_named(tree: Path, file: str) -> None:
    (tree / file).parent.mkdir(exist_ok=True)
    (tree / file).write_text("")
    assert homeless(tree) == [file]


def test_a_ring_of_folders_is_named() -> None:
    assert cycle({("a", "b"), ("b", "c"), ("c", "d")}) == []
    assert cycle({("x", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("c", "y")}) == ["a", "b", "c", "a"]


def test_what_may_be_imported_is_no_ring() -> None:
    assert cycle({(a, b) for a, below in MAY_IMPORT.items() for b in below}) == []


def test_the_graph_of_the_page_is_made_from_the_imports() -> None:
    told = PAGE.partition("<!-- graph: python -m tests.folder_graph -->\n")[2].partition("<!-- end of graph -->")[0]
    assert told == drawn(set(graph())), "stale: paste what `python -m tests.folder_graph` prints"


def named() -> list[str]:
    """What the page names in code: dotted names that begin with a folder or `cli`."""
    folders = "|".join([*MAY_IMPORT, "cli"])
    return sorted(set(re.findall(rf"(?<![\w./])(?:{folders})(?:\.\w+)+(?![\w/])", PAGE)))


@pytest.mark.parametrize("name", named())
def test_the_names_of_the_page_are_there(name: str) -> None:
    parts = f"paramid.{name}".split(".")
    known = max(n for n in range(1, len(parts) + 1) if ".".join(parts[:n]) in modules())
    there: object = import_module(".".join(parts[:known]))
    for part in parts[known:]:
        assert hasattr(there, part), f"{name}: {there} has no {part}"
        there = getattr(there, part)


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"`((?:harness|tests|docs|benchmarks|methods|tasks)/[\w./-]*)`", PAGE)))
)
def test_the_files_of_the_page_are_there(path: str) -> None:
    assert (ROOT / path).exists()


def test_every_folder_says_what_it_may_import() -> None:
    for box, places in MAY_IMPORT.items():
        if (start := ROOT / "harness" / box / "__init__.py").exists():
            told = ast.get_docstring(ast.parse(start.read_text(encoding="utf-8"))) or ""
            said = re.search(r"Imports\s([^.;]*)", told)
            named = set(re.findall(r"`(\w+)`", said[1])) if said else set()
            assert named == {place.split(".")[0] for place in places}, f"{box} says it imports {named}"


def test_the_page_names_every_folder() -> None:
    for box in MAY_IMPORT:
        assert f"`{box}/`" in PAGE or f"`harness/{box}/`" in PAGE


def test_no_folder_of_the_harness_has_too_many_modules() -> None:
    for start in (ROOT / "harness").rglob("__init__.py"):
        count = len(list(start.parent.glob("*.py"))) - 1
        assert count <= MOST_MODULES, f"{start.parent}: {count} modules"


def functions() -> list[tuple[str, int, int]]:
    """Every function with the lines of its body and how deep its blocks are nested."""
    found = []
    for path in modules().values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, Function):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lines = (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
                found.append((f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", lines, depth(node)))
    return found


def depth(node: ast.AST) -> int:
    """How many blocks stand in each other; `elif` is no deeper than its `if`."""
    deepest = 0
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, Function):
                chained = isinstance(node, ast.If) and field == "orelse" and isinstance(child, ast.If)
                deepest = max(deepest, isinstance(child, BLOCKS) - chained + depth(child))
    return deepest


def test_functions_are_short_and_flat() -> None:
    every = functions()
    assert [f"{name}: {lines} lines" for name, lines, _ in every if lines > MOST_LINES] == []
    assert [f"{name}: {deep} deep" for name, _, deep in every if deep > DEEPEST] == []
    assert mean(lines for _, lines, _ in every) < MEAN_LINES
