"""What is installed is what is in the tree; imports stay light."""

import ast
import json
import runpy
import shutil
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path

import pytest

import paramid
from paramid.contracts import registry
from paramid.records.publications import epochs, published
from paramid.records.selection import newest

ROOT = Path(__file__).parents[1]
PIP_WHEEL = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
EPOCHS = "leaderboard/epochs"
RECORDS = "paramid/published/records.jsonl.xz"  # what a wheel has beside the tree
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
        "import paramid.cli\ntry: paramid.cli.main(['plot', '--help'])\nexcept SystemExit: pass",
        "import paramid.cli\ntry: paramid.cli.main(['run', '--help'])\nexcept SystemExit: pass",
    ],
)
def test_what_is_light_stays_light(code: str) -> None:
    assert not {"torch", "pandas", "scipy", "numpy", "rich", "matplotlib"} & loaded_by(code)


def test_exports_are_the_typed_imports() -> None:
    tree = ast.parse((ROOT / "harness" / "__init__.py").read_text())
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {n.names[0].name: n.module.removeprefix("paramid.") for n in guarded.body if isinstance(n, ast.ImportFrom)}
    assert typed == paramid.EXPORTS
    for name, module in paramid.EXPORTS.items():
        assert getattr(paramid, name) is getattr(import_module(f"paramid.{module}"), name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = paramid.nothing


def test_the_public_names_and_nothing_else_are_listed() -> None:
    assert dir(paramid) == sorted([*paramid.EXPORTS, "__version__"])


def test_the_wheel_holds_the_tree(tmp_path: Path) -> None:
    source = tmp_path / "source"  # a build leaves files behind, and takes what an earlier one left
    for name in (*FOLDERS, "setup.py", "pyproject.toml", "README.md", "LICENSE", "leaderboard"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        source.mkdir(exist_ok=True)
        copy(ROOT / name, source / name)
    subprocess.run([*PIP_WHEEL, "-w", str(tmp_path), str(source)], check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        packed = {name for name in wheel.namelist() if name.startswith("paramid/")}
        wheel.extractall(tmp_path, [name for name in packed if name.startswith("paramid/published/")])
    wanted = {RECORDS, *(f"paramid/published/epochs/{path.name}" for path in (ROOT / EPOCHS).glob("*.json"))}
    for folder, package in FOLDERS.items():
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".toml", ".typed", ".css", ".js"):
                wanted.add(f"{package}/{path.relative_to(ROOT / folder)}")
    assert packed == wanted
    packed_ones, ours = (epochs.shown(where, pytest.fail) for where in ((tmp_path / RECORDS).parent, ROOT))
    last = set(map(id, newest(ours.ranked.values())))
    assert {d for d, r in ours.ranked.items() if id(r) in last} == set(packed_ones.ranked)
    assert packed_ones.epoch_of == ours.epoch_of
    held = published.read(tmp_path / RECORDS)
    assert {v.record for v in held.verdicts} <= set(held.records)
    assert (tmp_path / RECORDS).stat().st_size < 1e6


def test_a_class_of_another_name_is_refused() -> None:
    with pytest.raises(ValueError, match="imported under two names"):
        registry.load("paramid.words.naming:Any")


def test_every_module_says_what_it_is() -> None:
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            assert ast.get_docstring(ast.parse(path.read_text())), path


def test_a_report_takes_no_records_place_in_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A submitter may report, word for word, what an epoch gave before."""
    monkeypatch.setattr("setuptools.setup", lambda **_: None)
    shutil.copy(ROOT / "setup.py", tmp_path)
    folder = tmp_path / "leaderboard" / "records"
    folder.mkdir(parents=True)
    (folder / "a.jsonl").write_text('{"entry":{},"sha256":"1"}\n{"record":{},"sha256":"2"}\n')
    (folder / "b.jsonl").write_text('{"entry":{},"sha256":"3"}\n{"self-reported":{},"sha256":"2"}\n')
    told = runpy.run_path(str(tmp_path / "setup.py"))["standing_lines"]()
    assert [next(iter(json.loads(line))) for line in told] == ["entry", "record", "entry", "self-reported"]
