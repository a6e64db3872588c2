"""The author's way in: templates run, the document's method runs, plug-ins join, broken ones stay outside."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import paramid
from paramid.authoring.new import new
from paramid.cli import main
from paramid.contracts import descriptions, plugins, registry
from paramid.contracts.plugins import PluginError
from paramid.words.naming import UsageError

ROOT = Path(__file__).parents[1]
DOCUMENT = (ROOT / "docs" / "add-a-method.md").read_text()
PARAMID = [sys.executable, "-m", "paramid"]


@pytest.mark.parametrize(("kind", "name"), [("method", "planted-one"), ("task", "planted-family")])
def test_what_new_writes_passes_its_own_test(kind: str, name: str, tmp_path: Path) -> None:
    file, test = new(kind, name, tmp_path)
    assert file.name == f"{name.replace('-', '_')}.py"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", test.name], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout


def test_a_new_method_keeps_the_contract(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "method", "planted-two", "--dir", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert f"paramid run planted-two shallow:D=5,m=1 --plugin {tmp_path}/planted_two.py" in said
    assert main(["check", "planted-two", "--plugin", str(tmp_path / "planted_two.py")]) == 0
    assert main(["run", "planted-two", "shallow:D=5,m=1"]) == 0


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("method", "Two Words", "lower-case words joined by dashes were wanted"),
        ("method", "../up", "lower-case words joined by dashes were wanted"),
        ("method", "class", "a word of Python's own"),
        ("method", "spm", "method 'spm' is taken by paramid.methods.spm"),
        ("judge", "x", "unknown kind 'judge'; there are method, task"),
    ],
)
def test_names_that_new_refuses(kind: str, name: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        new(kind, name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_new_replaces_nothing(tmp_path: Path) -> None:
    file, _ = new("method", "planted-three", tmp_path)
    file.write_text("mine")
    with pytest.raises(UsageError, match="is there already"):
        new("method", "planted-three", tmp_path)
    assert file.read_text() == "mine"


def test_the_method_of_the_document_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, test = re.findall(r"```python\n(.*?)```", DOCUMENT, flags=re.DOTALL)
    assert source.count("\n") <= 40
    file = tmp_path / "random_restarts.py"
    file.write_text(source)
    words = f"compare --methods random-restarts spm --tasks shallow:D=4,m=2 --plugin {file} --store {tmp_path / 's'}"
    assert main(words.split()) == 0
    table = capsys.readouterr().out.splitlines()[2:]
    assert {(row.split()[1], row.split()[2]) for row in table} == {("random-restarts", "1/1"), ("spm", "1/1")}
    assert main(["check", "random-restarts", "--plugin", str(file)]) == 0
    (tmp_path / "test_random_restarts.py").write_text(test)
    words = [sys.executable, "-m", "pytest", "-q", "test_random_restarts.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_a_guest_runs_beside_the_methods_of_a_suite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new("method", "planted-four", tmp_path)
    words = f"compare --suite smoke --methods planted-four --plugin {tmp_path}/planted_four.py --store {tmp_path / 's'}"
    assert main(words.split()) == 0
    said = capsys.readouterr()
    assert "planted-four" in said.out
    assert "spectral-norm" in said.out
    assert "-- needs a single tanh neuron" in said.err


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment in which the sample package, and one whose module is broken, are installed."""
    place = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target", str(place)]
    build = tmp_path_factory.mktemp("build")
    for name in ("sample_plugin", "broken_plugin"):
        source = build / name
        subprocess.run(["cp", "-r", str(Path(__file__).parent / "plugins" / name), str(source)], check=True)
        subprocess.run([*pip, str(source)], check=True, capture_output=True)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(place), os.environ.get("PYTHONPATH", "")])}


def ask(installed: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PARAMID, *words], env=installed, capture_output=True, text=True)


def test_an_installed_package_joins(installed: dict[str, str]) -> None:
    listed = ask(installed, "list").stdout
    assert "sample-guess" in listed
    assert "Guesses from the laws of the teacher." in listed
    assert "sample-family" in listed
    run = ask(installed, "run", "sample-guess", "sample-family", "--seed", "1")
    assert run.returncode == 0, run.stderr
    assert "finished" in run.stdout


def test_a_broken_package_is_named_and_the_rest_works(installed: dict[str, str]) -> None:
    assert "broken-one" in ask(installed, "list").stdout
    run = ask(installed, "run", "broken-one", "shallow")
    assert (run.returncode, run.stderr) == (
        2, "paramid: broken_plugin:Broken cannot be imported: ImportError: no such thing as it needs\n",
    )  # fmt: skip
    assert ask(installed, "run", "truth", "shallow:D=3,m=2").returncode == 0


BROKEN = {
    "import nothing_of_that_name": "ModuleNotFoundError: No module named 'nothing_of_that_name'",
    "raise SystemExit(3)": "SystemExit: 3",
    "METHODS = ['spm']": "METHODS is ['spm']; a dict from name to class was wanted",
    "METHODS = {'spm': int}": "method 'spm' is taken by paramid.methods.spm",
    "METHODS = {1: int}": "METHODS has the name 1; a word without : , = was wanted",
    "METHODS = {'a:b': int}": "METHODS has the name 'a:b'",
    "def (": "SyntaxError: invalid syntax",
}


@pytest.mark.parametrize("source", BROKEN)
def test_a_broken_file_is_named_and_the_rest_works(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "broken.py"
    file.write_text(source)
    assert main(["run", "truth", "shallow:D=3,m=2", "--plugin", str(file)]) == 0
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert BROKEN[source] in said.err
    assert said.err.endswith("going on without it\n")
    assert "finished" in said.out
    assert main(["run", "mine", "shallow:D=3,m=2", "--plugin", str(file)]) == 2
    assert BROKEN[source] in capsys.readouterr().err.splitlines()[-1]  # told again where its method is missing
    registry.broken.clear()


def test_a_class_that_is_no_dataclass_is_named(tmp_path: Path) -> None:
    file = tmp_path / "bare.py"
    file.write_text("class Bare:\n    access = frozenset()\nMETHODS = {'bare': Bare}\n")
    plugins.add_plugin(file)
    with pytest.raises(UsageError, match="a frozen dataclass was wanted"):
        paramid.method("bare")


@pytest.mark.parametrize(
    ("number", "body", "said"),
    [
        (1, "version = 1", "has access None; a frozenset of paramid.Access was wanted"),
        (2, "version = 1; access = frozenset({'queries'})", "a frozenset of paramid.Access was wanted"),
        (3, "access = frozenset()", "has version None; a whole number was wanted"),
        (4, "k: 'Undefined' = 1", "its fields' types cannot be read: NameError"),
        (5, "def __post_init__(self): assert False, 'never'", "AssertionError: never"),
    ],
)
def test_a_class_that_cannot_be_used_is_named(number: int, body: str, said: str, tmp_path: Path) -> None:
    file, name = tmp_path / f"odd_{number}.py", f"odd-{number}"
    head = "from dataclasses import dataclass\n\n@dataclass(frozen=True)\nclass Odd:"
    file.write_text(f"{head}\n    {body}\n\nMETHODS = {{{name!r}: Odd}}\n")
    plugins.add_plugin(file)
    with pytest.raises(UsageError, match=re.escape(said)):
        paramid.run(name, "shallow:D=3,m=2")


def test_two_files_of_one_name_are_not_mixed_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "add_place", lambda *_: None)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "twin_file.py").write_text(f"METHODS = {{'twin-{folder}': type('Twin', (), {{}})}}")
    plugins.add_plugin(tmp_path / "a" / "twin_file.py")
    with pytest.raises(PluginError, match="a plug-in of that file name is there already"):
        plugins.add_plugin(tmp_path / "b" / "twin_file.py")


def test_a_class_may_have_the_name_of_its_base(tmp_path: Path) -> None:
    file = tmp_path / "twin_class.py"
    head = "from paramid.methods.kernel import KernelRidge\n\n\nclass KernelRidge(KernelRidge):"
    file.write_text(f'{head}\n    """Mine."""\n\n\nMETHODS = {{"twin-class": KernelRidge}}\n')
    plugins.add_plugin(file)
    entry = next(e for e in descriptions.entries("methods") if e.name == "twin-class")
    assert (entry.doc, entry.access) == ("Mine.", ("samples",))


def test_what_is_joined_elsewhere_is_what_a_cell_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_added", {group: dict(names) for group, names in registry._added.items()})
    monkeypatch.setattr(plugins, "_plugin_files", list(plugins._plugin_files))
    file = tmp_path / "alone_here.py"
    file.write_text((Path(__file__).parent / "defective.py").read_text().replace('"defective"', '"alone-here"'))
    paramid.add_plugin(file)
    assert plugins.joined(("methods", "alone-here:how=none"), ("tasks", "shallow")) == (str(file),)
    file.unlink()  # other processes could not join it
    assert paramid.run("spm", "shallow:D=5,m=2").answered
