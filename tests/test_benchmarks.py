"""What ASV tracks is literal, lower-is-better and made of registered names; what is measured side by side runs."""

import importlib.util
import math
import re
from pathlib import Path
from types import ModuleType

import pytest
import torch

from paramid import registry
from paramid.controls import Control
from paramid.naming import Name

FOLDER = Path(__file__).parents[1] / "benchmarks"


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", FOLDER / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


cells, kernels = module("cells"), module("kernels")


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


def test_what_is_tracked_is_lower_is_better() -> None:
    tracked = {name for name in vars(cells.Cells) if name.startswith("track_")}
    assert tracked == {
        f"track_{n}" for n in ("weight_error", "output_error", "failed", "queries", "seconds", "peak_mb")
    }
    for benchmark in (cells.Cells, kernels.Kernel):
        assert isinstance(benchmark.version, str)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_as_bad_as_can_be(value: float) -> None:
    assert cells.lower_is_better(value) == math.inf
    assert cells.Cells().summary({"weight_error": [value, value]})["weight_error"] == math.inf


@pytest.mark.parametrize("name", [n for n, v in vars(kernels).items() if isinstance(v, type) and n != "Kernel"])
def test_every_kernel_runs(name: str) -> None:
    if not issubclass(getattr(kernels, name), kernels.Kernel):
        return
    benchmark, shape = getattr(kernels, name)(), "D=5,m=3"
    benchmark.setup(shape)
    timed = [getattr(benchmark, n) for n in dir(benchmark) if n.startswith("time_")]
    assert timed or name == "Kernel"
    for run in timed:
        run(shape)


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
