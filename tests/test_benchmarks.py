"""What ASV tracks is literal, lower-is-better and made of registered names."""

import importlib.util
import math
from pathlib import Path
from types import ModuleType

import pytest

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
