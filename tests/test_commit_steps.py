"""Steps over commits: planted ones are told, noise is not more often than it says."""

import math

import numpy as np
import pytest

from paramid.statistics.asv_results import Commit, Curve
from paramid.statistics.commit_steps import FALSE_ALARMS, steps


def commits(values: dict[Curve, list[float]]) -> list[Commit]:
    count = max(map(len, values.values()))
    return [
        Commit("here", f"{i:040x}", i, {k: v[i] for k, v in values.items() if not math.isnan(v[i])})
        for i in range(count)
    ]


def noise(rng: np.random.Generator, curves: int = 40, count: int = 10, heavy: bool = False) -> dict[Curve, list[float]]:
    made = {}
    load = rng.normal(0, 0.1, count)  # of the machine, on everything
    for c in range(curves):
        size = rng.uniform(0.01, 0.1)
        each = rng.standard_t(8, count) if heavy else rng.normal(size=count)
        made[Curve(f"kernel {c}", "time")] = np.exp(load + size * each).tolist()
    return made


@pytest.mark.parametrize("heavy", [False, True])
def test_noise_alone_is_told_on_few_pages(heavy: bool) -> None:
    rng = np.random.default_rng(3)
    false = sum(bool(steps(commits(noise(rng, heavy=heavy)))) for _ in range(150))
    assert false / 150 <= FALSE_ALARMS + 3 * math.sqrt(FALSE_ALARMS * (1 - FALSE_ALARMS) / 150)


def test_a_planted_step_is_told_with_its_direction_and_commit() -> None:
    values = noise(np.random.default_rng(0))
    slower, faster = Curve("kernel 3", "time"), Curve("kernel 5", "time")
    values[slower][6:] = [6 * v for v in values[slower][6:]]
    values[faster][2:] = [v / 6 for v in values[faster][2:]]
    found = [(s.curve, int(s.commit.hash, 16), s.worse) for s in steps(commits(values))]
    assert found == [(faster, 2, False), (slower, 6, True)]


def test_what_slows_down_everything_is_the_machine() -> None:
    values = {k: [*v[:5], *(5 * x for x in v[5:])] for k, v in noise(np.random.default_rng(1)).items()}
    assert steps(commits(values)) == []


@pytest.mark.parametrize(
    ("quantity", "values", "told"),
    [
        ("error", [1e-15, 9e-13, 1e-14], 0),
        ("error", [1e-5, 1.4e-5, 1.4e-5], 0),
        ("error", [1e-5, 1.6e-5, 1.6e-5], 1),
        ("error", [1e-5, math.inf, 1e-5], 2),
        ("error", [1e-5, math.nan, 1e-3], 0),
        ("queries", [100, 101, 101], 1),
        ("queries", [100, 100, 0], 1),
    ],
)
def test_errors_and_rows_have_no_noise(quantity: str, values: list[float], told: int) -> None:
    assert len(steps(commits({Curve("spm", quantity): values}))) == told
