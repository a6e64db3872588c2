"""Which assumption fails is named by a test of the values; where all hold, nothing is named."""

import re
from collections.abc import Callable

import numpy as np
import pytest
import torch

import paramid
from paramid.identifying import far_field, hessian_span, measurements
from paramid.identifying.black_box import BlackBox
from paramid.identifying.examined import Examined
from paramid.identifying.misfits import examine
from paramid.oracle.protocol import BudgetSpent

RNG = np.random.default_rng(5)
D, M = 6, 4
W = RNG.normal(size=(D, M))
W /= np.linalg.norm(W, axis=0)
TAU, A = RNG.uniform(-0.5, 0.5, size=M), RNG.normal(size=M)
Function = Callable[[np.ndarray], np.ndarray]


def softplus(z: np.ndarray) -> np.ndarray:
    return np.logaddexp(0, z)


def logistic(z: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-z))


def erf(z: np.ndarray) -> np.ndarray:
    return torch.erf(torch.from_numpy(z)).numpy()


def relu(z: np.ndarray) -> np.ndarray:
    return np.maximum(0, z)


def of(g: Function) -> Function:
    """A sum of neurons with weights of length 1."""
    return lambda x: g(x @ W + TAU).sum(1)


def free(g: Function) -> Function:
    return lambda x: 3 * g(x @ (2 * W) + TAU) @ A + 2


def single(f: Function) -> Function:
    """f in float32, given as float64: its values alone say so."""

    def computed(x: np.ndarray) -> np.ndarray:
        return f(x.astype(np.float32)).astype(np.float32).astype(np.float64)

    return computed


def jittered(x: np.ndarray) -> np.ndarray:
    return of(np.tanh)(x) + 1e-3 * ((x.sum(1) * 1e7) % 1 - 0.5)


def noisy(x: np.ndarray) -> np.ndarray:
    return of(np.tanh)(x) + 1e-3 * RNG.normal(size=len(x))


def labels(x: np.ndarray) -> np.ndarray:
    return (of(np.tanh)(x) > 0).astype(float)


def reason(f: Function, **told: object) -> str:
    """What `identify` says, its rows counted."""
    seen = 0

    def watched(x: np.ndarray) -> np.ndarray:
        nonlocal seen
        seen += len(x)
        return f(x)

    found = paramid.identify(watched, **{"inputs": D, "neurons": M, **told})
    assert seen == found.queries + found.samples
    assert not found.good
    return found.reason


LATTICES: dict[str, object] = {"method": "sphere-lm"}  # far lines find what is only rounded
MISFITS: dict[str, tuple[Function, dict[str, object], str]] = {
    "a neuron more": (of(np.tanh), {"neurons": 5}, "wrong number of neurons: .* span 4 .* 5 .* told; try neurons=4"),
    "a neuron less": (of(np.tanh), {"neurons": 3}, "wrong number of neurons: .* span 4 .* 3 .* told; try neurons=4"),
    "softplus": (of(softplus), {}, "wrong activation: f grows linearly .* tanh stays bounded; try .*softplus"),
    "noise": (noisy, {}, "not deterministic: .* noise of about .e-0[34] on every value"),
    "relu": (of(relu), {}, 'piecewise linear, which tanh is not: .* try activation="relu"'),
    "labels": (labels, {}, r"piecewise constant: .* 2 values .* \(hard labels\?\)"),
    "jitter": (jittered, LATTICES, "f carries noise or rounding of about [1-4]\\..e-04"),
    "rounding": (lambda x: np.round(of(np.tanh)(x), 5), LATTICES, "rounded to 5 decimals"),
    "coarse": (lambda x: np.round(of(np.tanh)(x), 2), {}, "rounded to 2 decimals"),
    "half": (lambda x: of(np.tanh)(x).astype(np.float16), LATTICES, "f computes in float16"),
    "float32 of float64": (lambda x: single(of(np.tanh))(x) * 1.1, {}, 'try precision="float32"'),
    "constant": (lambda x: 0 * x[:, 0] + 3, {}, "f is constant"),
    "linear": (lambda x: x.sum(1), {}, "f is linear"),
    "smooth": (of(np.tanh), {"activation": "relu", "method": "sgd:N=200,steps=20"}, "f is smooth, which relu is not"),
    "logistic": (of(logistic), {}, 'wrong activation: .* sums of 4 logistic .*; try activation="logistic"'),
    "tanh": (of(np.tanh), {"activation": "logistic"}, 'wrong activation: .*; try activation="tanh"'),
    "erf": (of(erf), {}, 'wrong activation: activation="erf" finds f to a residual of .e-1'),
    "outer weights": (lambda x: np.tanh(x @ W + TAU) @ A, {}, 'outer weights are not 1: .*; try outer="free"'),
    "output bias": (lambda x: of(np.tanh)(x) + 0.3, {}, 'output bias is not 0: .*; try output_bias="free"'),
    "norms": (lambda x: np.tanh(x @ (1.5 * W) + TAU).sum(1), {}, 'have not length 1: norms="free" finds f'),
    "too many": (of(np.tanh), {"neurons": 16}, "try neurons=4 .*lines show 4 neurons of 16"),
    "no sum": (lambda x: np.exp(-(x**2).sum(1) / 9), {"activation": "auto"}, "span 21 of 21 .* or is no sum"),
    "no such": (lambda x: np.sin(x @ W).sum(1), {}, "wrong activation: f neither settles nor grows"),
}


@pytest.mark.parametrize("name", MISFITS)
def test_a_planted_misfit_is_named(name: str) -> None:
    f, told, wanted = MISFITS[name]
    said = reason(f, **told)
    assert re.search(wanted, said), said


CONTROLS = {"tanh": np.tanh, "logistic": logistic, "erf": erf, "softplus": softplus}


def examined(f: Function, name: str, outer: str, precision: str = "float64", width: int | None = M) -> Examined:
    pins = {} if outer == "free" else {"norms": "unit", "output_bias": "zero"}
    spec = paramid.Spec(
        inputs=D, widths=(width,), activations=(name, "identity"), outer=outer, precision=precision, **pins
    )
    return Examined(BlackBox(f, spec), spec, 0, name)


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("outer", ["ones", "free"])
@pytest.mark.parametrize("name", CONTROLS)
def test_nothing_is_named_where_all_is_as_told(name: str, outer: str, precision: str) -> None:
    f = (of if outer == "ones" else free)(CONTROLS[name])
    f = single(f) if precision == "float32" else f
    assert examine(examined(f, name, outer, precision)) is None
    assert examine(examined(f, name, outer, precision, width=None)) is None


def test_an_examination_ends_where_rows_run_out_and_goes_on_where_f_cannot_be_asked() -> None:
    near = examined(lambda x: of(np.tanh)(x) / (np.abs(x).max() < 1e3), "tanh", "ones", width=3)
    with np.errstate(divide="ignore", invalid="ignore"):
        assert "try neurons=4" in (examine(near) or "")

    def spent(x: torch.Tensor) -> torch.Tensor:
        raise BudgetSpent("no rows")

    assert examine(Examined(spent, near.spec, 0, "tanh")) is None


@pytest.mark.parametrize(("sigma", "size"), [(1e-5, 1.0), (1e-9, 1.0), (1e-3, 50.0)])
def test_noise_is_measured(sigma: float, size: float) -> None:
    at = examined(lambda x: size * of(np.tanh)(x) + sigma * RNG.normal(size=len(x)), "tanh", "ones")
    assert 0.5 < at.roughness / sigma < 2
    assert examined(lambda x: size * of(np.tanh)(x), "tanh", "ones").roughness < 1e-14 * size


@pytest.mark.parametrize(
    ("f", "how"),
    [
        (of(np.tanh), "bounded"),
        (of(softplus), "linear"),
        (lambda x: softplus(x @ W[:, 0]), "linear"),
        (lambda x: (x @ W[:, 0]) ** 2 + x[:, 1], "quadratic"),
        (lambda x: np.sin(x).sum(1), "other"),
        (lambda x: np.abs(x).sum(1) ** 3, "other"),
    ],
)
def test_growth_is_told(f: Function, how: str) -> None:
    assert examined(f, "tanh", "ones").growth == how


@pytest.mark.parametrize(
    ("y", "count"), [([0.25, 1.5], 2), ([3.0, -2.0], 0), ([0.1, 0.30000000000000004], 1), ([np.pi, 1.0], None)]
)
def test_decimals_are_counted(y: list[float], count: int | None) -> None:
    assert measurements.decimals(torch.tensor(y, dtype=torch.float64)) == count


@pytest.mark.parametrize(("m", "noise", "found"), [(3, 1e-9, 3), (3, 1e-1, None), (12, 1e-9, 12), (1, 0.0, 1)])
def test_a_dimension_is_told_where_it_is_clear(m: int, noise: float, found: int | None) -> None:
    source = torch.Generator().manual_seed(1)
    rows = [torch.randn(size, generator=source, dtype=torch.float64) for size in ((40, m), (m, 12), (40, 12))]
    planted = rows[0] @ rows[1] + noise * rows[2]
    assert hessian_span.dimension(planted, 20 * noise + 1e-12) == found


def test_hessians_are_those_of_a_network() -> None:
    network = paramid.Network.shallow(torch.from_numpy(W), torch.from_numpy(TAU), "tanh")
    x = torch.from_numpy(RNG.normal(size=(3, D)))
    i, j = torch.triu_indices(D, D)
    truth = network.hessian(x)[:, 0][:, i, j]
    errors = [
        float((hessian_span.hessians(lambda r: network(r)[:, 0], x, h) - truth).abs().max()) for h in (4e-2, 2e-2)
    ]
    assert 3.5 < errors[0] / errors[1] < 4.5


def test_activations_are_sorted_by_their_growth() -> None:
    assert {"tanh", "logistic", "erf"} <= set(far_field.growing("bounded"))
    assert "softplus" in far_field.growing("linear")
    assert not {"relu", "square", "identity"} & set(far_field.identifiable())


@pytest.mark.parametrize(("limit", "named"), [(260, False), (700, False), (1000, False), (3000, True)])
def test_tests_keep_within_what_the_query_limit_leaves(limit: int, named: bool) -> None:
    found = paramid.identify(of(np.tanh), inputs=D, neurons=5, query_limit=limit, method="sphere-lm")
    assert found.network is None
    assert found.queries <= limit + 8  # the rows asked twice before the start
    assert ("try neurons=4" in found.reason) is named


@pytest.mark.parametrize(("name", "residual"), [("jitter", 1e-3), ("rounding", 1e-5), ("half", 1e-3)])
def test_what_is_only_rounded_is_found_as_far_as_that_allows(name: str, residual: float) -> None:
    found = paramid.identify(MISFITS[name][0], inputs=D, neurons=M)
    assert found.good
    assert found.residual < residual
    wrong = 2.0 ** -paramid.judge((W, TAU), found.network)["bits"]
    assert wrong < 4 * found.error_bound < 0.1


def test_a_little_noise_is_met() -> None:
    found = paramid.identify(lambda x: of(np.tanh)(x) + 1e-6 * RNG.normal(size=len(x)), inputs=D, neurons=M)
    assert found.good
    assert 2.0 ** -paramid.judge((W, TAU), found.network)["bits"] < 4 * found.error_bound < 1e-5
    wanted = found.error_bound / 3
    rng = np.random.default_rng(1)
    finer = paramid.identify(
        lambda x: of(np.tanh)(x) + 1e-6 * rng.normal(size=len(x)), inputs=D, neurons=M, precision_wanted=wanted
    )
    assert 3 * finer.error_bound <= wanted
    assert finer.queries > 4 * found.queries
