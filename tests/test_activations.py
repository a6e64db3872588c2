"""Derivatives by the slope of their error, and every declared symmetry, and its absence, as a law."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from paramid import Activation, Run, activation
from paramid.words.activations import ACTIVATIONS

F64 = torch.float64
ALL = list(ACTIVATIONS.values())
every = pytest.mark.parametrize("g", ALL, ids=lambda g: g.name)
GRID = torch.linspace(-3.05, 3.05, 62, dtype=F64)  # keeps 0.05 away from the kink of the ReLU
SYMMETRIES = {
    "odd": lambda g, t: g(-t) + g(t),
    "even": lambda g, t: g(-t) - g(t),
    "complement": lambda g, t: g(-t) + g(t) - 1,
}


def difference_error(g: Activation, order: int, h: float) -> float:
    """The largest error of the central difference of derivative `order` - 1."""
    slope = (g(GRID + h, order - 1) - g(GRID - h, order - 1)) / (2 * h)
    return float((slope - g(GRID, order)).abs().max())


def scaled(g: Activation, degree: int, t: torch.Tensor, c: float) -> bool:
    return torch.allclose(g(c * t), c**degree * g(t), rtol=1e-12, atol=1e-15)


@every
@pytest.mark.parametrize("order", [1, 2, 3])
def test_central_differences_err_by_the_square_of_their_step(g: Activation, order: int) -> None:
    coarse, fine = (difference_error(g, order, h) for h in (2.0**-5, 2.0**-8))
    if coarse > 1e-12:  # the difference is exact where the next two derivatives vanish
        assert math.log2(coarse / fine) / 3 == pytest.approx(2, abs=0.05)


@every
@given(seed=st.integers(0, 10**6))
def test_exactly_the_declared_symmetry_holds(g: Activation, seed: int) -> None:
    t = 2 * Run.seeded(seed).normal(1, 20)
    held = [name for name, gap in SYMMETRIES.items() if bool(gap(g, t).abs().max() < 1e-14)]
    assert held == ([g.symmetry] if g.symmetry else [])


@every
@given(seed=st.integers(0, 10**6), c=st.sampled_from([0.3, 1.7, 20.0]))
def test_exactly_the_declared_degree_holds(g: Activation, seed: int, c: float) -> None:
    t = 2 * Run.seeded(seed).normal(1, 20)
    held = [degree for degree in range(5) if scaled(g, degree, t, c)]
    assert held == ([g.degree] if g.degree is not None else [])


@every
def test_the_second_derivative_is_monotone_exactly_so_far(g: Activation) -> None:
    r, away = g.monotone, 1e-7
    sign = g(torch.tensor([-r - away, -r + away, r - away, r + away], dtype=F64), 3).sign()
    if r:
        steps = g(torch.linspace(-r, r, 200, dtype=F64), 2).diff()
        assert bool((steps.sign() == steps[0].sign()).all())
        assert bool(steps[0])
        assert sign.tolist() in ([1, -1, -1, 1], [-1, 1, 1, -1])
    else:
        assert abs(float(sign.sum())) < len(sign)  # g''' is zero or changes sign at 0


@every
def test_smooth_means_that_no_derivative_jumps(g: Activation) -> None:
    jumps = [g(torch.tensor([-1e-9, 1e-9], dtype=F64), order).diff().abs() for order in (1, 2, 3)]
    assert g.smooth == (float(max(jumps)) < 1e-6)


@every
@given(seed=st.integers(0, 10**6))
def test_exactly_the_declared_tilt_holds(g: Activation, seed: int) -> None:
    t = 2 * Run.seeded(seed).normal(1, 20)
    c = ((g(t) - g(-t)) / (2 * t)).flatten()
    one = bool((c - c[0]).abs().max() < 1e-12) and g.name != "identity" and g.symmetry != "even"
    assert g.tilt == (pytest.approx(float(c[0])) if one else None)


@every
@given(seed=st.integers(0, 10**6))
def test_exactly_the_declared_half_turn_holds(g: Activation, seed: int) -> None:
    t = 2 * Run.seeded(seed).normal(1, 20)
    held = torch.allclose(g(t + math.pi), -g(t), atol=1e-14)
    assert held == (g.half_turn == math.pi)


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("gelu", torch.nn.GELU()),
        ("gelu-tanh", torch.nn.GELU(approximate="tanh")),
        ("silu", torch.nn.SiLU()),
        ("elu", torch.nn.ELU()),
        ("leaky-relu", torch.nn.LeakyReLU()),
    ],
)
def test_values_are_those_of_torch(name: str, module: torch.nn.Module) -> None:
    t = torch.linspace(-12, 12, 241, dtype=F64)
    torch.testing.assert_close(activation(name)(t), module(t), rtol=1e-14, atol=1e-15)


@every
@pytest.mark.parametrize("order", range(4))
@pytest.mark.parametrize("dtype", [torch.float32, F64])
def test_type_shape_and_argument_are_kept(g: Activation, order: int, dtype: torch.dtype) -> None:
    t = torch.linspace(-2, 2, 6, dtype=dtype).reshape(2, 3)
    y = g(t, order)
    assert (y.dtype, y.shape) == (t.dtype, t.shape)
    y.fill_(7)
    assert torch.equal(t, torch.linspace(-2, 2, 6, dtype=dtype).reshape(2, 3))


@every
@pytest.mark.parametrize("order", range(4))
def test_nothing_overflows_far_out(g: Activation, order: int) -> None:
    assert bool(torch.isfinite(g(torch.tensor([-1e4, -750.0, 750.0, 1e4], dtype=F64), order)).all())


def test_softplus_is_not_cut_off() -> None:
    t = torch.tensor([15.0, 21.0, 25.0], dtype=F64)
    torch.testing.assert_close(activation("softplus")(t) - t, torch.log1p(torch.exp(-t)), rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_is_found_by_its_name(name: str) -> None:
    assert activation(name).name == name


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("tahn", "did you mean tanh"),
        ("logistik", "did you mean logistic"),
        ("soft_plus", "did you mean softplus"),
        ("xq", "there are tanh, logistic, erf"),
    ],
)
def test_an_unknown_name_is_answered_with_near_ones(name: str, answer: str) -> None:
    with pytest.raises(ValueError, match=f"unknown activation '{name}'; {answer}"):
        activation(name)
