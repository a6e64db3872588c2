"""Algorithm 1 of the DenseNet paper, piece by piece: its square, its rank rule, its objective, its endings."""

import pytest
import torch
from torch import Tensor

import paramid
from paramid import Run, Status
from paramid.contracts import registry
from paramid.methods.hierarchy import truncated_square
from paramid.methods.hierarchy.distillation_stages import Rules, Stages
from paramid.methods.hierarchy.initial_distill import distilled, rank
from paramid.words.spec import HierarchySpec

F64 = torch.float64
DEEP = "hierarchy:D=4,ks=2-2-1,alphas=1-0.2-0.04"
SMALL = "hierarchy:D=5,ks=2-1"


def grid(most: float, count: int = 4001) -> Tensor:
    return torch.linspace(-most, most, count, dtype=F64, device="cpu")


def test_the_truncated_square_is_a_square_and_then_constant() -> None:
    z, bound = grid(9.0), 3.0
    made = truncated_square.square(z, bound)
    inside, outside = z.abs() <= bound, z.abs() >= 2 * bound
    torch.testing.assert_close(made[inside], z[inside].square())
    torch.testing.assert_close(made[outside], torch.full_like(made[outside], truncated_square.TOP * bound**2))
    assert bool((made[z >= 0].diff() >= -1e-12).all())


def test_its_slope_is_its_derivative_and_is_smooth() -> None:
    z = grid(9.0, 90_001)
    slope, step = truncated_square.slope(z, 3.0), float(z[1] - z[0])
    made = truncated_square.square(z, 3.0)
    torch.testing.assert_close(slope[1:-1], (made[2:] - made[:-2]) / (2 * step), atol=1e-5, rtol=0)
    assert float((slope.diff() / step).diff().abs().max() / step) < 10  # a third derivative that is bounded


@pytest.mark.parametrize("width", [1, 2, 4])
def test_the_rank_rule_counts_what_was_planted(width: int) -> None:
    run = Run.seeded(width)
    u, v = (torch.linalg.qr(run.normal(9, width))[0] for _ in range(2))
    noise = 1e-3 * run.normal(9, 9)
    assert rank(u @ v.T + noise, 1.5) == width
    assert rank(0.04 * u @ v.T + noise, 1.5) == 1  # below 1 / (10 κ²), where there is nothing to see
    assert rank(0.04 * u @ v.T + noise, 3.0) == width


def test_distilled_features_have_the_products_of_their_head() -> None:
    run = Run.seeded(0)
    k = run.normal(2, 9)
    turned = torch.linalg.qr(run.normal(6, 2))[0] @ k
    made = distilled(turned, 4, 1.5)
    torch.testing.assert_close(made.T @ made, k.T @ k)
    alone = distilled(turned, 9, 1.5)
    torch.testing.assert_close(alone.T @ alone, k.T @ k)


def stages(distil: int, bound: float = 1.0) -> tuple[Stages, Tensor, Tensor]:
    """A state of three layers at random, `distil` of them distilled, and a batch."""
    task = registry.task(DEEP)
    assert isinstance(task.spec, HierarchySpec)
    run, made = Run.seeded(3), Stages(Rules(task.spec, 1.5, 5, bound), 2.0)
    for layer in (2, 3, 4):
        made.join(layer, run)
        made.heads[-1] = 0.5 * run.normal(*made.heads[-1].shape)
        if layer - 1 <= distil:
            made.distil(layer, run)
    x = run.normal(7, 4)
    return made, x, run.normal(7, 1)


@pytest.mark.parametrize("distil", [2, 3])
def test_gradients_are_the_slopes_of_the_objective(distil: int) -> None:
    made, x, y = stages(distil)
    gradients = made.gradients(x, y[:, 0])
    assert len(gradients) == 3 + distil
    run = Run.seeded(5)
    for name, gradient in gradients.items():
        way, values = run.normal(*gradient.shape), []
        for size in (1e-6, -2e-6):
            made.move({n: -size * way if n == name else torch.zeros_like(g) for n, g in gradients.items()})
            values.append(made.measured([(x, y)]))
        assert float((gradient * way).sum()) == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-4)
        made.move({n: -1e-6 * way if n == name else torch.zeros_like(g) for n, g in gradients.items()})


def test_truncation_reaches_what_is_trained() -> None:
    near, x, y = stages(3, bound=0.1)
    far, *_ = stages(3, bound=1e6)
    assert near.measured([(x, y)]) != far.measured([(x, y)])


def test_widths_are_found_and_not_told() -> None:
    record = paramid.run("densenet-algorithm1:steps=3000,N=8000", SMALL, seed=1, throw=True, judge_inputs=500)
    assert record.status is Status.FINISHED
    assert max(v for n, v in record.metrics.items() if n.startswith("feature_error")) < 0.1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("steps=100", "layer 2 was never distilled"),
        ("steps=400,kappa=0.2", "misses samples|was never"),  # a rank rule that keeps one feature of two
        ("optimizer=sgd,lr=1e200,steps=50", "diverged"),
    ],
)
def test_it_says_when_it_has_not_learnt_a_layer(options: str, said: str) -> None:
    record = paramid.run(f"densenet-algorithm1:{options},N=1000", SMALL, seed=0, throw=True, judge_inputs=500)
    assert record.status is Status.GAVE_UP
    assert any(s in record.reason for s in said.split("|"))


def test_it_ends_at_its_target() -> None:
    record = paramid.run(
        "densenet-algorithm1:steps=1500,N=2000,epsilon=0.5", SMALL, seed=0, throw=True, judge_inputs=500
    )
    assert record.stats["steps"] < 1500
