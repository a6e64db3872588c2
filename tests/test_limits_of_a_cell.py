"""What every record says of the limit: parameters by rank, rows for each, bounds at the rows that were shown."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

import paramid
from paramid import Network, Run, limits
from paramid.judging.metrics import LIMITS
from paramid.limits import information
from paramid.limits import limits_of_a_cell as cells
from paramid.limits.rows_asked import RowsAsked
from paramid.records.quantities import beyond_its_limit
from tests.records import made

F64 = torch.float64


def counted(name: str, **changes: torch.Tensor) -> int | None:
    family = paramid.task(name)
    network = family.truth(family.draw(1), Network)
    assert isinstance(network, Network)
    network = replace(network, **changes) if changes else network
    return cells.parameters(network, family.spec)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("shallow:D=10,m=5", 50),  # unit norms, outer weights 1, no output bias
        ("shallow:D=5,m=3,outer=free", 5 * 3 + 3 + 3 + 1),
        ("shallow:D=4,m=6,activation=square", 15 - 1),  # a symmetric matrix of 5 x 5, whose trace is told
        ("pyramid:D=8,widths=6-4-3", 97 - 10),
        ("relu:D=10,widths=4", 49 - 4),  # lengths are nobody's to see
        ("trained:widths=5,steps=50,outputs=3", 10 * 5 + 5 + 5 * 3 + 3),
        ("shallow:D=3,m=40", 120),
    ],
)
def test_a_function_is_as_many_numbers_as_its_jacobian_has_rank(name: str, count: int) -> None:
    assert counted(name) == count


def test_what_shows_nowhere_is_no_parameter() -> None:
    family = paramid.task("shallow:D=5,m=3,outer=free")
    teacher = family.draw(0)
    w, a = teacher.weights
    silent = teacher.with_layers([w, a * torch.tensor([[0.0], [1], [1]], dtype=F64)], teacher.biases)
    assert cells.parameters(silent, family.spec) == 22 - 6
    twins = teacher.with_layers([w[:, [0, 0, 2]], a], [teacher.biases[0][[0, 0, 2]], teacher.biases[1]])
    assert cells.parameters(twins, family.spec) == 22 - 7  # of two neurons and what they send one neuron is seen


def test_many_are_counted_as_they_would_be_ranked(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "shallow:D=20,m=27"
    assert counted(name) == 540
    monkeypatch.setattr(cells, "RANKED", 1000)
    assert counted(name) == 540
    monkeypatch.setattr(cells, "RANKED", 30)
    assert counted("shallow:D=4,m=6,activation=square") is None


@pytest.mark.parametrize("free", [(), ("norms",), ("outer", "output_bias"), ("norms", "outer", "output_bias")], ids=str)
@pytest.mark.parametrize("name", ["tanh", "relu"])
def test_what_is_held_is_counted_without_its_columns(name: str, free: tuple[str, ...]) -> None:
    run = Run.seeded(0)
    weights = (run.normal(4, 5), run.normal(5, 3), run.normal(3, 2))
    network = Network(weights, tuple(run.normal(1, n)[0] for n in (5, 3, 2)), (name, "tanh", "identity"))
    assert information.held(network, free) == information.still(network, free).shape[1]


def test_a_wide_network_is_counted_in_little_memory() -> None:
    family = paramid.task("shallow:D=100,m=4000")
    assert cells.parameters(family.draw(0), family.spec) == 400_000  # C alone would be 26 GB


def test_where_the_jacobian_overflows_nothing_is_told() -> None:
    family = paramid.task("shallow:D=4,m=3,outer=free,noise=1e-3")
    teacher = family.draw(0)
    huge = teacher.with_layers([teacher.weights[0], 1e308 * teacher.weights[1]], teacher.biases)
    assert cells.parameters(huge, family.spec) is None
    shown = RowsAsked(1000, 4, 0)
    shown.add(Run.seeded(0).normal(200, 4))
    assert not any(math.isnan(v) for v in cells.bounds(huge, huge, family.spec, shown, 0, 0).values())


def test_of_a_linear_model_the_bound_is_the_textbooks() -> None:
    x = Run.seeded(0).normal(50, 3)
    model = Network((torch.ones(3, 1, dtype=F64),), (torch.ones(1, dtype=F64),), ("identity",))
    design = np.column_stack([x.numpy(), np.ones(50)])
    wanted = 0.1 * np.sqrt(np.linalg.inv(design.T @ design).diagonal().max())
    assert limits.bound(model, x, 0.1) == pytest.approx(wanted, rel=1e-9)


def test_of_one_neuron_the_bound_is_that_of_two_columns() -> None:
    x = 2 * Run.seeded(0).normal(50, 1)
    neuron = Network.shallow(torch.tensor([[1.5]], dtype=F64), torch.tensor([0.3], dtype=F64), "tanh")
    slope = 1 - np.tanh(1.5 * x.numpy() + 0.3) ** 2
    design = np.column_stack([slope * x.numpy(), slope])
    wanted = 0.1 * np.sqrt(np.linalg.inv(design.T @ design).diagonal().max())
    assert limits.bound(neuron, x, 0.1, ("norms",)) == pytest.approx(wanted, rel=1e-9)


def test_rows_are_kept_while_they_fit_and_then_some_of_all() -> None:
    x = torch.arange(5000, dtype=F64)[:, None]
    whole, some = RowsAsked(5000, 1, 0), RowsAsked(1000, 1, 0)
    for rows in x.split(300):
        whole.add(rows)
        some.add(rows)
    assert torch.equal(whole.rows(), x)
    kept = some.rows()[:, 0]
    assert whole.count == some.count == 5000
    assert 400 < len(kept) <= 1000
    assert len(kept.unique()) == len(kept)
    assert float(kept.mean()) == pytest.approx(2500, abs=300)


@pytest.mark.parametrize("samples", [0, 3000])
def test_some_of_the_rows_tell_the_bound_of_all(samples: int, monkeypatch: pytest.MonkeyPatch) -> None:
    family = paramid.task("shallow:D=5,m=4,noise=1e-3")
    teacher, told = family.draw(0), []
    for most in (20_000, 1500):
        monkeypatch.setattr(cells, "WORK", most * 29**2)
        shown = cells.asked(teacher, family.spec, 0)
        assert shown is not None
        for rows in Run.seeded(1).normal(9000, 5).split(1000):
            shown.add(3 * rows)
        told.append(cells.bounds(teacher, teacher, family.spec, shown, samples, 0))
    for name in ("bound", "bound_placed"):
        assert told[0][name] == pytest.approx(told[1][name], rel=0.2)
    assert 0.8 < told[0]["bound"] / told[0]["bound_placed"] < 3  # 3 x is a good spread already


@pytest.mark.parametrize(
    ("method", "task"),
    [
        ("sphere-lm", "shallow:D=8,m=5,noise=1e-06"),
        ("sphere-lm", "shallow:D=8,m=5,precision=float32"),
        ("far-lines", "trained:widths=6,steps=300,dtype=float32"),  # computes in float32, too
        ("far-lines", "shallow:D=6,m=4,outer=free,noise=1e-06"),
        ("peel", "pyramid:D=6,widths=4-3-2,noise=1e-06"),
        ("hermite-fused", "shallow:D=5,m=3,N=20000,noise=1e-3"),
    ],
)
def test_a_cell_says_how_far_it_was_from_the_limit_and_is_not_beyond_it(method: str, task: str) -> None:
    record = paramid.run(method, task, seed=3, throw=True)
    told = record.metrics
    assert told["rows_per_parameter"] == pytest.approx((record.queries + record.samples) / told["parameters"])
    assert 0 < told["bound"] < 1e-3
    assert told["bound_placed"] < 2 * told["bound"]
    assert not beyond_its_limit(record)
    assert told["identified"] == 1
    assert 2.0 ** -told["bits"] < 100 * told["bound"]


def test_who_beats_the_bound_tenfold_is_seen() -> None:
    honest, lucky = (made(metrics={"bits": bits, "bound": 1e-6}) for bits in (20.0, 30.0))
    assert not beyond_its_limit(honest)
    assert beyond_its_limit(lucky)
    assert not beyond_its_limit(made(metrics={"bits": 50.0}))
    assert not beyond_its_limit(made(metrics={"bits": 50.0, "bound": math.inf}))


@pytest.mark.parametrize(
    ("method", "task", "told"),
    [
        ("sphere-lm", "shallow:D=6,m=3", LIMITS[:2]),  # exact values
        ("spm:derivatives=exact", "shallow:D=6,m=3,noise=1e-6", LIMITS[:2]),  # derivatives have no noise
        ("boundary-bends", "relu:D=5,widths=3,decisions=true", LIMITS[:2]),
        ("threshold-boundary", "threshold:D=5,m=5,N=200000", ()),
        ("peel", "shallow:D=6,m=3,noise=1e-6", ()),  # declined
    ],
)
def test_where_there_is_no_bound_none_is_told(method: str, task: str, told: tuple[str, ...]) -> None:
    metrics = paramid.run(method, task, throw=True).metrics
    assert [name for name in LIMITS if name in metrics] == list(told)
