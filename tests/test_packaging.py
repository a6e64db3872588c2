"""What is installed is what is in the tree; imports point one way and stay light."""

import ast
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path

import pytest

import paramid
from paramid import registry

ROOT = Path(__file__).parents[1]
PIP_WHEEL = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
FOLDERS = {"harness": "paramid", "methods": "paramid/methods", "tasks": "paramid/tasks"}


def loaded_by(code: str) -> set[str]:
    script = f"{code}\nimport sys; print(' '.join(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "code",
    [
        "import paramid",
        "import paramid.cli; paramid.cli.main(['list'])",
        "import paramid.cli; paramid.cli.main(['list', 'suites'])",
        "from paramid import Access, Status",
    ],
)
def test_what_is_light_stays_light(code: str) -> None:
    assert not {"torch", "pandas", "scipy", "numpy"} & loaded_by(code)


def test_exports_are_the_typed_imports() -> None:
    tree = ast.parse((ROOT / "harness" / "__init__.py").read_text())
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {n.names[0].name: n.module.removeprefix("paramid.") for n in guarded.body if isinstance(n, ast.ImportFrom)}
    assert typed == paramid.EXPORTS
    for name, module in paramid.EXPORTS.items():
        assert getattr(paramid, name) is getattr(import_module(f"paramid.{module}"), name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = paramid.nothing


def imported(path: Path) -> set[str]:
    """The paramid modules that a file imports outside type-checking blocks and functions."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "paramid":
            for alias in node.names:
                found.add(
                    f"paramid.{paramid.EXPORTS.get(alias.name, alias.name)}"
                    if node.module == "paramid"
                    else node.module
                )
    return found


def test_imports_point_one_way() -> None:
    words = {
        "activations", "claims", "contracts", "densenet", "densenet_scores", "hermite", "judging", "metrics",
        "naming", "network", "options", "oracle", "scoring", "sizes", "spec", "status", "streams", "threshold_scores",
        "thresholds",
    }  # fmt: skip
    for path in (ROOT / "harness").glob("*.py"):
        used = {name.split(".")[1] for name in imported(path) if "." in name}
        assert not used & {"methods", "tasks"}, path
        if path.stem in words:
            assert used <= words, path
    for folder in ("methods", "tasks"):
        for path in (ROOT / folder).rglob("*.py"):
            assert {n.split(".")[1] for n in imported(path)} <= words | {folder}, path


def test_the_wheel_holds_the_tree(tmp_path: Path) -> None:
    subprocess.run(
        [*PIP_WHEEL, "-w", str(tmp_path), str(ROOT)],
        check=True,
        capture_output=True,
    )
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        packed = {name for name in wheel.namelist() if name.startswith("paramid/")}
    wanted = set()
    for folder, package in FOLDERS.items():
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".toml", ".typed", ".css", ".js"):
                wanted.add(f"{package}/{path.relative_to(ROOT / folder)}")
    assert packed == wanted


def test_a_class_of_another_name_is_refused() -> None:
    with pytest.raises(ValueError, match="imported under two names"):
        registry.load("paramid.naming:Any")


def test_every_module_says_what_it_is() -> None:
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            assert ast.get_docstring(ast.parse(path.read_text())), path
