"""The family's options: what is drawn, what is told, and what an oracle shows of it."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from paramid import Access, task
from paramid.contracts import registry
from paramid.oracle.counting import CountingOracle
from paramid.tasks.biased_relu import LISTS, BiasedRelu, least_singular_value, numbers
from paramid.words import random_streams

F64 = torch.float64
CPU = torch.device("cpu")
seeds = st.integers(0, 10**6)


def oracle(relu: BiasedRelu, seed: int = 0) -> CountingOracle:
    return CountingOracle(relu.draw(seed), relu.spec, access=relu.access, seed=seed, device=CPU)


@given(seed=seeds)
def test_units_are_drawn_by_their_laws(seed: int) -> None:
    teacher = BiasedRelu(D=4, m=3, bias=0.7).draw(seed)
    (w, a), b = teacher.weights, teacher.biases[0]
    torch.testing.assert_close(w.norm(dim=0), torch.ones(3, dtype=F64))
    assert least_singular_value(w, 1) >= 0.25
    assert 0.5 <= float(a.abs().min()) <= float(a.abs().max()) <= 1.5
    assert float(b.abs().max()) <= 0.7
    assert float(teacher.biases[1]) == 0


def test_outer_weights_and_biases_do_not_depend_on_the_weights_law() -> None:
    drawn = [BiasedRelu(D=4, m=3, weights=law).draw(5) for law in ("random", "orthonormal", "correlated")]
    for other in drawn[1:]:
        assert torch.equal(other.weights[1], drawn[0].weights[1])
        assert torch.equal(other.biases[0], drawn[0].biases[0])
        assert not torch.equal(other.weights[0], drawn[0].weights[0])
    signs = torch.stack([BiasedRelu(D=2, m=2).draw(s).weights[1] for s in range(200)]).sign()
    assert abs(float(signs.mean())) < 0.15


def test_correlated_columns_share_a_direction() -> None:
    grams = [w.T @ w for w in (BiasedRelu(D=8, m=4, weights="correlated").draw(s).weights[0] for s in range(50))]
    assert float(torch.stack(grams).mean(0)[0, 1:].mean()) == pytest.approx(0.4, abs=0.1)


@given(seed=seeds, m=st.integers(1, 10))
def test_the_least_singular_value_is_that_of_the_columnwise_power(seed: int, m: int) -> None:
    w = random_streams.unit_columns(4, m, random_streams.generator(seed), F64)
    square = (w[:, None] * w[None]).flatten(0, 1)
    assert least_singular_value(w, 2) == pytest.approx(float(torch.linalg.svdvals(square)[-1]), abs=1e-7)


@pytest.mark.parametrize(("D", "m", "order"), [(5, 5, 1), (5, 6, 2), (4, 10, 2), (4, 11, 3), (1, 1, 1)])
def test_the_order_is_the_least_with_room_for_every_unit(D: int, m: int, order: int) -> None:
    assert BiasedRelu(D=D, m=m, s_min=0).order == order


@pytest.mark.parametrize(
    ("text", "listed"),
    [("6--6-7", (6, -6, 7)), ("-1.5", (-1.5,)), ("0-1e-3-2", (0, 1e-3, 2)), ("roots", LISTS["roots"][:4])],
)
def test_biases_can_be_listed(text: str, listed: tuple[float, ...]) -> None:
    relu = task(f"biased-relu:D=4,m=4,biases={text}")
    b = relu.draw(0).biases[0]
    assert tuple(b[: len(listed)].tolist()) == pytest.approx(listed)
    assert torch.equal(b[len(listed) :], BiasedRelu(D=4, m=4).draw(0).biases[0][len(listed) :])
    assert relu.spec.shift >= float(b.abs().max())
    assert registry.canonical("tasks", f"biased-relu:D=4,m=4,biases={text}").endswith(text)


@given(seed=seeds)
def test_negative_biases_leave_every_unit_silent_at_the_origin(seed: int) -> None:
    relu = task("biased-relu:D=4,m=3,biases=negative")
    b, plain = relu.draw(seed).biases[0], BiasedRelu(D=4, m=3).draw(seed)
    assert -2.5 <= float(b.min()) <= float(b.max()) <= -1.5 == relu.spec.highest_shift
    torch.testing.assert_close((b + 2) / 0.5, plain.biases[0] / 1.5)
    assert torch.equal(relu.draw(seed).weights[0], plain.weights[0])


@pytest.mark.parametrize(
    ("options", "highest"), [("", 1.5), (",biases=-2--1.7", 1.5), (",biases=-2--1.7--3", -1.7), (",biases=large", 7)]
)
def test_the_spec_tells_how_high_biases_are(options: str, highest: float) -> None:
    assert task(f"biased-relu:D=4,m=3{options}").spec.highest_shift == highest


@pytest.mark.parametrize("text", ["1-", "1---2", "none-1", "a", "1--", "nan"])
def test_lists_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="numbers joined by dashes"):
        numbers(text)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("weights=gauss", "weights is 'gauss'"),
        ("D=3,m=4,weights=orthonormal", "4 units in 3 dimensions"),
        ("D=1,m=2", "2 units in 1 dimensions"),
        ("m=2,biases=1-2-3", "3 biases were listed for 2 units"),
        ("N=0", "N is 0"),
        ("bias=nan", "bias is nan"),
        ("weights=smoothed,tau=0", "tau is 0"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        task(f"biased-relu:{options}")


def test_a_singular_value_out_of_reach_is_named() -> None:
    with pytest.raises(
        ValueError, match=r"none of 5000 draws has s_m\(W\^\(1\)\) ≥ s_min = 0.99; the best reached 0\."
    ):
        BiasedRelu(D=3, m=3, s_min=0.99).draw(0)


@pytest.mark.parametrize("known", [True, False])
def test_the_spec_tells_what_is_public(known: bool) -> None:
    spec = BiasedRelu(D=3, m=4, s_min=0, N=7, noise=0.5, known=known).spec
    assert (spec.widths, spec.outer, spec.norms, spec.output_bias) == ((4 if known else None,), "free", "unit", "zero")
    assert (spec.samples, spec.noise, spec.activations) == (7, 0.5, ("relu", "identity"))


def test_moments_are_the_coefficients_of_the_teacher_and_are_counted() -> None:
    relu = BiasedRelu(D=3, m=2, N=200_000)
    asked = oracle(relu)
    x, y = asked.sample(relu.N).tensors()
    pairs = x[:, :, None] * x[:, None]
    second = (y[:, :, None] * (pairs - torch.eye(3, dtype=F64))).mean(0)
    i, j = torch.triu_indices(3, 3)
    assert [tuple(asked.moments(k).shape) for k in range(5)] == [(1,), (3,), (6,), (10,), (15,)]
    noise = 5 * float(y.std()) * 2 / math.sqrt(relu.N)
    assert float((asked.moments(0) - y.mean(0)).abs().max()) < noise
    assert float((asked.moments(1) - (x * y).mean(0)).abs().max()) < noise
    assert float((asked.moments(2) - second[i, j]).abs().max()) < noise
    assert float(asked.moments(2).abs().max()) > noise
    assert asked.usage.moments == 9
    assert Access.MOMENTS in relu.access


def test_moments_that_cannot_be_held_are_refused_with_the_arithmetic() -> None:
    teacher = BiasedRelu(D=100, m=2).draw(0)
    with pytest.raises(MemoryError, match=r"doubles of 8 bytes are"):
        teacher.moments(12)
    with pytest.raises(ValueError, match="order is -1"):
        teacher.moments(-1)


def test_smoothed_columns_are_equal_but_for_tau() -> None:
    """s_m(W^{⊙2}) of more columns than inputs falls like τ², and of random columns it does not know τ."""
    sizes = {}
    for law in ("smoothed", "random"):
        for tau in (0.02, 0.01):
            drawn = [BiasedRelu(D=4, m=6, s_min=0, weights=law, tau=tau).draw(s).weights[0] for s in range(20)]
            sizes[law, tau] = sorted(least_singular_value(w, 2) for w in drawn)[10]
            assert all(torch.allclose(w.norm(dim=0), torch.ones(6, dtype=F64)) for w in drawn)
    assert 3 < sizes["smoothed", 0.02] / sizes["smoothed", 0.01] < 5
    assert sizes["random", 0.02] == sizes["random", 0.01]


@pytest.mark.parametrize("corner", BiasedRelu.corners)
def test_every_corner_can_be_drawn(corner: str) -> None:
    relu = task(f"biased-relu:{corner}")
    assert [relu.draw(seed).widths for seed in range(5)] == [(relu.m,)] * 5
