"""What ASV tracks is literal, lower-is-better and made of registered names; what is measured side by side runs."""

import importlib.util
import math
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch

from benchmarks import cells, growth, kernels
from benchmarks import planted_regressions as planted
from benchmarks.reproduce import pages, relu
from benchmarks.reproduce.__main__ import PAGES
from benchmarks.reproduce.pages import Page, Section
from paramid.contracts import registry
from paramid.contracts.controls import Control
from paramid.running import suites
from paramid.statistics import commit_regressions
from paramid.words.naming import Name
from tests.records import failed, made

FOLDER = Path(__file__).parents[1] / "benchmarks"


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", FOLDER / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


TRACKED = ("error", "weight_error", "output_error", "failed", "queries", "seconds", "peak_mb")


def test_the_tracked_lists_match_the_registries() -> None:
    pairs = [cell.split(" | ") for cell in cells.CELLS]
    for method, task in pairs:
        assert registry.canonical("methods", method) == method
        assert registry.canonical("tasks", task) == task
    identifying = {
        m for m in registry.names("methods") if not issubclass(registry.load(registry.names("methods")[m]), Control)
    }
    assert {Name.parse(method).base for method, _ in pairs} == identifying & set(registry.BUILT_IN["methods"])
    assert {Name.parse(task).base for _, task in pairs} == set(registry.BUILT_IN["tasks"])
    assert len(pairs) == len(set(cells.CELLS)) <= 60
    assert (cells.Few.params, cells.More.params) == (cells.FEW, cells.MORE)


def test_what_is_tracked_is_lower_is_better() -> None:
    assert {name for name in vars(cells.Tracked) if name.startswith("track_")} == {f"track_{n}" for n in TRACKED}
    for benchmark in (cells.Few, cells.More, *growth.every().values()):
        assert isinstance(benchmark.version, str)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_as_bad_as_can_be(value: float) -> None:
    assert cells.lower_is_better(value) == math.inf
    assert cells.median_error([made(error=value)], "error") == math.inf


def test_a_failure_is_infinite_and_what_a_family_does_not_measure_is_no_number() -> None:
    assert math.isnan(cells.median_error([made(), made()], "weight_error"))
    told = cells.summary([failed(), failed(), made(error=1e-5, rows=10)])
    assert (told["error"], told["failed"]) == (math.inf, 2 / 3)
    assert cells.summary([made(error=1e-5, rows=10)])["queries"] == 10


def test_a_commit_without_a_cell_or_a_kernel_skips_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotImplementedError, match="no such cell"):
        cells.Few().setup({}, cells.FEW[0])
    assert cells.measured(["nobody | shallow:D=5,m=3", "spm:nothing=1 | shallow:D=5,m=3"]) == {}
    monkeypatch.setitem(sys.modules, "paramid.methods.spans", None)
    with pytest.raises(NotImplementedError, match="no such kernel"):
        kernels.Subspace().setup(5, "cpu")


@pytest.mark.parametrize("name", sorted(growth.every()))
def test_every_kernel_runs(name: str) -> None:
    threads = torch.get_num_threads()
    benchmark = growth.every()[name]()
    assert benchmark.params[0] == tuple(sorted(benchmark.params[0]))
    try:
        benchmark.setup(4, "cpu")
        benchmark.time_kernel(4, "cpu")
    finally:
        benchmark.teardown(4, "cpu")
        torch.set_num_threads(threads)


def test_growth_names_the_kernels_that_are_off() -> None:
    times = {"square": {n: n**2.3 for n in (1.0, 2.0, 4.0)}, "cubic": {n: n**2.5 for n in (1.0, 2.0, 4.0)}}
    told = growth.report(times, {"square": 2.0, "cubic": 3.0, "unknown": 1.0}, 0.4)
    assert "grows with power 2.30, expected 2 " in told
    assert "unknown            not timed" in told
    assert told.endswith("off by more than 0.4: cubic")


@pytest.mark.parametrize("name", planted.PLANTS)
def test_a_plant_still_fits_the_code(name: str) -> None:
    plant = planted.PLANTS[name]
    text = (FOLDER.parent / plant.file).read_text(encoding="utf-8")
    assert text.count(plant.old) == 1
    compile(text.replace(plant.old, plant.new) + planted.PREAMBLE.get(name, ""), plant.file, "exec")
    assert plant.quantity in commit_regressions.JUDGES


def test_a_plant_is_caught_by_its_own_quantity(monkeypatch: pytest.MonkeyPatch) -> None:
    line = "worse             spm | shallow:D=5,m=3: queries: seed 0: 5 -> 10 rows\nsame   x: error: 1 times\n"
    assert planted.worse(line) == [("spm | shallow:D=5,m=3", "queries")]
    monkeypatch.setattr(planted, "copied", lambda folder: None)
    monkeypatch.setattr(planted, "planted", lambda folder, name: None)
    monkeypatch.setattr(planted, "regress", lambda folder, base, *words: (1, line))
    assert planted.main(["--plants", "queries-twice", "--pairs", "0"]) == 0
    assert planted.main(["--plants", "neuron-dropped", "--pairs", "0"]) == 1
    assert planted.main(["--plants", "--pairs", "2"]) == 1


def test_an_environment_sees_a_commit_and_the_shared_packages(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    for _ in range(2):  # the next commit takes the place of the one before
        module("environment").install(tmp_path / "env", FOLDER.parent, str(tmp_path / "shared"))
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "outer.py").write_text("here = True")
    words = [tmp_path / "env" / "bin" / "python", "-I", "-c", "import outer, paramid; print(paramid.__path__)"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert str(tmp_path / "env" / "shape" / "paramid") in done.stdout


@pytest.mark.parametrize(
    ("script", "arguments", "said"),
    [
        (
            "directions",
            "--D 6 --m 5 --starts 60 --spm-starts 20",
            [r"sphere-lm: 5 of 5 directions", r"EXTRAPOLATED from 20"],
        ),
        ("rank_ones", "--D 6 --m 8", [r"8 of 8", r"error of a direction: \S+e-1[4-6]", r"in \S+ of the time"]),
        (
            "refinement",
            "--D 5 --m 6",
            [r"right to \S+e-1[3-6], shifts to \S+e-1[3-6]", r"off by 1:.*\n  gave up: the residual"],
        ),
        (
            "kinks_against_cryptanalytic",
            "--tasks D=6,widths=3 --seeds 2",
            [r"2 of 2 identified by both", r"kinks +2 of 2 +\S+ queries", r"takes \S+ times the queries"],
        ),
        ("board_build", "--methods 1", [r"1,000 records: read \S+ s, ranked \S+ s, written \S+ s; \S+ s in all"]),
        (
            "thresholds",
            "--D 3 --iterations 6 --offsets 50",
            [r"in 6 iterations", r"plane: 0.1 -> \S+e-1[3-6]", r"all 3 units and P from nothing, \S+e-1[3-6]"],
        ),
    ],
)
def test_what_is_measured_side_by_side_runs(
    script: str, arguments: str, said: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    threads = torch.get_num_threads()
    module(f"side_by_side/{script}").main(arguments.split())
    torch.set_num_threads(threads)
    out = capsys.readouterr().out
    assert not [pattern for pattern in said if not re.search(pattern, out)]


def test_a_direction_counts_once_and_only_when_it_is_true() -> None:
    w = torch.eye(4, dtype=torch.float64)
    near, far = w[1] + 0.009 * w[2], w[2] + 0.02 * w[3]
    ends = torch.stack([w[0], -w[0], near / near.norm(), far / far.norm()])
    counted = module("side_by_side/directions").distinct_true
    assert counted(ends, w) == 2
    assert counted(ends[:0], w) == 0


def test_pages_are_made_of_suites_that_exist() -> None:
    assert all(suites.suite(name).about for page in PAGES.values() for name in page.sections)


def test_a_page_is_written_from_what_its_suite_gives(tmp_path: Path) -> None:
    records = pages.played("smoke", tmp_path / "store", 2)
    section = Section("Small", lambda mine: pages.by_task(mine, pages.IDENTIFIED, pages.ENDED))
    (path,) = pages.write(Page("small", "A page", "Sources.", {"smoke": section}), {"smoke": records}, tmp_path)
    assert f"| {records[0].task} |" in path.read_text(encoding="utf-8")


def test_the_page_of_relu_networks_counts_what_is_wrong_and_how_much_more_the_attack_takes() -> None:
    task, right = "relu:D=10,widths=4", {"identified": 1.0, "function_exact": 1.0}
    ours = [made("kinks", task, s, rows=200, seconds=0.01, metrics={**right, "bits": 48.0}) for s in (1, 2)]
    attack = made("cryptanalytic", task, 1, rows=6000, seconds=0.3, metrics={**right, "bits": 40.0})
    assert list(relu.ratios([*ours, attack])) == [("D=10,widths=4", "30.0 times", "30.0 times", "+8.0")]
    wrong = made("kinks", task, 3, metrics={"identified": 0.0, "function_exact": 0.0})
    assert list(relu.counted([*ours, wrong])) == ["2 of 3 networks are identified; 1 claims are another function."]
