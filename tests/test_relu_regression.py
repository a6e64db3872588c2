"""Functions are learnt where units cannot be told; what an affine function cannot explain is not made up."""

import pytest
import torch
from torch import Tensor

from paramid import Claim, Directions, Function, GiveUp, Network, Run
from paramid.methods.hermite.affine_part import consolidated
from paramid.methods.relu_regression import ReluRegression, regressed
from paramid.oracle.counting import CountingOracle
from paramid.tasks.biased_relu import BiasedRelu

F64 = torch.float64
CPU = torch.device("cpu")


def play(method: ReluRegression, task: BiasedRelu, teacher: object = None) -> tuple[list[Claim], str]:
    """The claims, and why it gave up if it did."""
    assert method.declines(task.spec) is None
    f = task.draw(0) if teacher is None else teacher
    oracle = CountingOracle(f, task.spec, access=method.access, seed=0, device=CPU)  # type: ignore[arg-type]
    claims: list[Claim] = []
    try:
        claims.extend(method.identify(oracle, Run.seeded(0)))
    except GiveUp as reason:
        return claims, str(reason)
    return claims, ""


def rms(values: Tensor) -> float:
    return float(values.square().mean().sqrt())


def affine_fit(x: Tensor, y: Tensor) -> Tensor:
    phi = torch.cat([x, torch.ones_like(x[:, :1])], dim=1)
    return phi @ (torch.linalg.pinv(phi) @ y)


def test_what_cannot_be_told_is_learnt() -> None:
    task = BiasedRelu(D=6, m=5, biases="large", N=60_000)
    claims, reason = play(ReluRegression(), task)
    learnt = claims[-1]
    assert isinstance(learnt, Function), reason
    x = Run.seeded(5).normal(5000, 6)
    y = task.draw(0)(x)
    assert rms(learnt(x) - y) < rms(affine_fit(x, y) - y) / 4


def test_more_samples_miss_less() -> None:
    missed = []
    for rows in (20_000, 320_000):
        claims, reason = play(ReluRegression(), BiasedRelu(D=4, m=4, biases="large", N=rows))
        assert not reason
        missed.append(claims[-1].stats["missed"])
    assert missed[1] < missed[0] / 1.8


def test_directions_that_are_right_leave_a_network() -> None:
    """The regression needs no affine part, and the outer weights are the teacher's."""
    f = BiasedRelu(D=4, m=3).draw(0)
    x = Run.seeded(0).normal(3000, 4)
    found, v, c = regressed([(x[:1000], f(x[:1000])), (x[1000:], f(x[1000:]))], f, affine=True)
    torch.testing.assert_close(found.weights[1], f.weights[1])
    assert float(v.norm() + c.norm()) < 1e-9
    bare, v, c = regressed([(x, f(x))], f, affine=False)
    torch.testing.assert_close(bare.weights[1], f.weights[1])
    assert not bool(torch.cat([v, c]).any())


def test_wrong_signs_are_right_up_to_an_affine_function() -> None:
    f = BiasedRelu(D=4, m=3).draw(0)
    mirrored = Network.shallow(-f.weights[0], -f.biases[0], "relu")
    x = Run.seeded(0).normal(3000, 4)
    found, v, c = regressed([(x, f(x))], mirrored, affine=True)
    torch.testing.assert_close(found.weights[1], f.weights[1])
    torch.testing.assert_close(found(x) + x @ v[:, None] + c, f(x))


@pytest.mark.parametrize(("v", "units"), [((1.0, -2.0, 0.5), 5), ((0.0, 0.0, 0.0), 3)])
@pytest.mark.parametrize("c", [0.0, 0.7])
def test_an_affine_part_is_two_opposite_units(v: tuple[float, ...], units: int, c: float) -> None:
    f = BiasedRelu(D=3, m=3).draw(0)
    slope, shift = torch.tensor(v, dtype=F64), torch.tensor([c], dtype=F64)
    whole = consolidated(f, slope, shift)
    assert whole.widths == (units,)
    x = Run.seeded(0).normal(100, 3)
    torch.testing.assert_close(whole(x), f(x) + x @ slope[:, None] + shift)


def test_an_affine_function_needs_no_units() -> None:
    task = BiasedRelu(D=3, m=2, biases="6--6", N=5000)
    claims, reason = play(ReluRegression(), task)
    assert not reason
    assert [type(claim) for claim in claims] == [Directions, Function]
    assert claims[-1].stats["units"] <= 2 + 2


def test_labels_of_pure_noise_are_given_up() -> None:
    def noise(x: Tensor) -> Tensor:
        return torch.sin(1e6 * x[:, :1])

    _, reason = play(ReluRegression(), BiasedRelu(D=4, m=3, N=5000), noise)
    assert "units and an affine function miss" in reason


def test_what_a_function_may_miss_is_an_option() -> None:
    """A few samples show no unit: an affine function misses half of the values' deviation."""
    task = BiasedRelu(D=6, m=5, biases="large", N=2_000)
    assert "miss" in play(ReluRegression(), task)[1]
    claims, reason = play(ReluRegression(within=1.0), task)
    assert not reason
    assert 0.1 < claims[-1].stats["missed"] < 1
    with pytest.raises(ValueError, match="within is -1"):
        ReluRegression(within=-1)


def test_it_needs_samples() -> None:
    with pytest.raises(ValueError, match="a regression needs samples"):
        ReluRegression(moments="exact")
