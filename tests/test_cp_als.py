"""Alternating least squares: orthogonal terms to rounding, and every other library's backend left alone."""

import re

import pytest
import tensorly
import torch

from paramid import GiveUp, Network, Run, Spec
from paramid.methods.cp_als import AlternatingLeastSquares, alternate
from paramid.oracle.counting import CountingOracle
from paramid.tasks.biased_relu import BiasedRelu

F64 = torch.float64
CPU = torch.device("cpu")


def last_claim(method: AlternatingLeastSquares, task: BiasedRelu, teacher: object = None) -> object:
    f = task.draw(0) if teacher is None else teacher
    oracle = CountingOracle(f, task.spec, access=method.access, seed=0, device=CPU)  # type: ignore[arg-type]
    return list(method.identify(oracle, Run.seeded(0)))[-1]


def test_alternating_least_squares_finds_orthogonal_terms() -> None:
    task = BiasedRelu(D=5, m=5, weights="orthonormal")
    found, truth = last_claim(AlternatingLeastSquares(moments="exact"), task), task.draw(0)
    assert isinstance(found, Network)
    x = Run.seeded(0).normal(100, 5)
    torch.testing.assert_close(found(x), truth(x))


@pytest.mark.parametrize(("biases", "seed"), [("roots", 0), ("roots", 1), (None, 2)])
def test_a_tensor_that_lacks_units_or_is_not_solved_spoils_no_other(biases: str | None, seed: int) -> None:
    """Roots take units out of T_3 and T_4, and no start solves T_3 of seed 2: its other tensor has all directions."""
    task = BiasedRelu(D=5, m=5, biases=biases)
    found, truth = last_claim(AlternatingLeastSquares(moments="exact"), task, task.draw(seed)), task.draw(seed)
    assert isinstance(found, Network)
    x = Run.seeded(0).normal(100, 5)
    torch.testing.assert_close(found(x), truth(x), rtol=0, atol=1e-6)


def test_the_backend_of_others_is_left_alone() -> None:
    before = tensorly.get_backend()
    start = [Run.seeded(k).normal(3, 2) for k in range(3)]
    columns = alternate(torch.ones(3, 3, 3, dtype=F64), start, 5, 0.0)
    assert tensorly.get_backend() == before
    assert columns is None or columns.shape == (3, 2)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (BiasedRelu(D=4, m=7, s_min=0).spec, "7 units exceed \\(4 D - 3\\) / 2"),
        (BiasedRelu(D=4, m=3, known=False).spec, "needs to know"),
        (Spec(inputs=4, widths=(3,), activations=("tanh", "identity")), "not of tanh"),
    ],
)
def test_cp_als_declines_what_has_other_decompositions(spec: Spec, why: str) -> None:
    assert re.search(why, str(AlternatingLeastSquares(order=2).declines(spec)))


@pytest.mark.parametrize(
    ("options", "why"), [({"starts": 0}, "starts is 0"), ({"tolerance": float("nan")}, "tolerance is nan")]
)
def test_options_are_checked(options: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        AlternatingLeastSquares(**options)  # type: ignore[arg-type]


def test_labels_of_pure_noise_are_given_up() -> None:
    def noise(x: torch.Tensor) -> torch.Tensor:
        return torch.sin(1e6 * x[:, :1])

    with pytest.raises(GiveUp, match="misses"):
        last_claim(AlternatingLeastSquares(control=2, starts=1, iterations=50), BiasedRelu(D=4, m=3, N=5000), noise)
