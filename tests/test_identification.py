"""`paramid.identify`: somebody's own function, counted to the row."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import paramid
from paramid.contracts import plugins
from paramid.contracts.controls import Truth
from paramid.identifying.attempts import residual_of
from paramid.identifying.black_box import BadFunction, BlackBox
from paramid.methods.sphere_lm import SphereLM

plugins.add_plugin(Path(__file__).with_name("misbehaving.py"))

RNG = np.random.default_rng(5)
W = RNG.normal(size=(6, 4))
W /= np.linalg.norm(W, axis=0)
TAU = RNG.uniform(-0.5, 0.5, size=4)
METHODS = ["spm", "spectral-norm:refine=gn", "spm:refine=none", "sgd:N=500,steps=200"]


class Watched:
    """A black box that counts what it sees."""

    def __init__(self, shape: Callable[[np.ndarray], np.ndarray] = lambda y: y) -> None:
        self.rows, self.shape = 0, shape

    def __call__(self, x: np.ndarray) -> np.ndarray:
        assert x.dtype == np.float64
        self.rows += len(x)
        return self.shape(np.tanh(x @ W + TAU).sum(1))


@pytest.mark.parametrize("method", METHODS)
def test_every_row_is_counted(method: str) -> None:
    f = Watched()
    found = paramid.identify(f, inputs=6, neurons=4, method=method, seed=2)
    assert f.rows == found.queries + found.samples
    assert found.status is paramid.Status.FINISHED


@pytest.mark.parametrize("shape", [lambda y: y, lambda y: y[:, None], lambda y: torch.from_numpy(y)])
def test_the_parameters_come_back(shape: Callable[[np.ndarray], np.ndarray]) -> None:
    found = paramid.identify(Watched(shape), inputs=6, neurons=4, activation="tanh", outer="ones")
    assert found.network is not None
    scores = paramid.judge((W, TAU), found.network)
    assert scores["exact"] == 1
    assert scores["weight_error"] < 1e-12
    assert found.residual < 1e-12


def test_the_residual_is_taken_where_no_method_chose() -> None:
    network = paramid.Network.shallow(torch.from_numpy(W), torch.from_numpy(TAU), "tanh")
    spec = paramid.Spec(inputs=6, widths=(4,), activations=network.activations)
    near, off = BlackBox(Watched(), spec), BlackBox(lambda x: Watched()(x) + (x**2).sum(1), spec)  # equal at 0
    assert residual_of(network, near, seed=0) < 1e-14
    assert residual_of(network, off, seed=0) > 0.1


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_torch_module_gets_tensors_of_its_own_type(dtype: torch.dtype) -> None:
    layers = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)).to(dtype)
    with torch.no_grad():
        layers[0].weight.copy_(torch.from_numpy(W.T))
        layers[0].bias.copy_(torch.from_numpy(TAU))
        layers[2].weight.fill_(1)
        layers[2].bias.fill_(0)
    found = paramid.identify(layers, inputs=6, neurons=4, method="spm:h=0.1,h_dir=0.1")
    assert paramid.judge((W, TAU), found.network)["weight_error"] < 1e-2


def test_a_residual_says_that_f_is_no_such_network() -> None:
    found = paramid.identify(lambda x: np.sin(3 * x).sum(1), inputs=3, neurons=2, method="sgd:N=200,steps=200")
    assert found.residual > 0.3


@pytest.mark.parametrize("how", ["nan", "shape", "too_many", "no_claim", "numpy"])
def test_what_is_no_claim_is_a_status(how: str) -> None:
    found = paramid.identify(Watched(), inputs=6, neurons=4, method=f"misbehaving:how={how}")
    assert found.status is paramid.Status.MALFORMED_CLAIM
    assert "wanted" in found.reason or "non-finite" in found.reason or "claimed" in found.reason
    assert len(found.claims) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"norms": "units"}, "norms is 'units'; unit or free was wanted"),
        ({"output_bias": "none"}, "output_bias is 'none'"),
        ({"outer": "one"}, "outer is 'one'"),
        ({"shift": -1}, "shift is -1"),
        ({"inputs": 0}, "inputs is 0; a whole number from 1 was wanted"),
        ({"neurons": (4, 0)}, "neurons is 0"),
        ({"inputs": "6"}, "inputs is '6'"),
        ({"query_limit": 0}, "query_limit is 0"),
        ({"seed": 1.5}, "seed is 1.5"),
        ({"activation": "cosine"}, "unknown activation 'cosine'"),
    ],
)
def test_options_without_sense_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(paramid.UsageError, match=said):
        paramid.identify(Watched(), **{"inputs": 6, "neurons": 4, **options})


def test_numpy_counts_are_counts() -> None:
    found = paramid.identify(Watched(), inputs=np.int64(6), neurons=np.int64(4), method="spm:refine=none")
    assert found.status is paramid.Status.FINISHED
    assert "claims" not in repr(found)


def test_a_spent_budget_is_a_status() -> None:
    found = paramid.identify(Watched(), inputs=6, neurons=4, query_limit=100)
    assert found.status is paramid.Status.BUDGET_SPENT
    assert found.network is None


@pytest.mark.parametrize(
    ("f", "said"),
    [
        (lambda x: x.sum(1) * np.nan, "f gave 4 non-finite values for 4 rows"),
        (lambda x: x, r"f gave shape \(4, 6\) for 4 rows; \(4, 1\) was wanted"),
        (lambda x: "text", "f gave a str"),
        (lambda x: x.sum(1) * 1j, "f gave a ndarray of complex128; an array of real numbers was wanted"),
        (lambda x: ["1.0"] * len(x), "f gave a list; an array of real numbers was wanted"),
        (lambda x: torch.from_numpy(x).sum(1) * 1j, "f gave a Tensor of torch.complex128"),
        (lambda x: 1 / 0, "f raised ZeroDivisionError"),
        (lambda x: RNG.normal(size=len(x)), "f is not deterministic"),
        (3, "f is a int; a callable was wanted"),
    ],
)
def test_a_bad_function_is_named(f: object, said: str) -> None:
    with pytest.raises(BadFunction, match=said):
        paramid.identify(f, inputs=6, neurons=4)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"inputs": 6, "neurons": 4, "outer": "twos"}, "ones or unit or free"),
        ({"inputs": 6, "neurons": 4, "method": "truth"}, "control"),
        ({"inputs": 6, "neurons": 4, "method": "spm:derivatives=exact"}, "needs derivatives"),
    ],
)
def test_bad_options_are_one_line(options: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        paramid.identify(Watched(), **options)


def test_a_method_that_declines_says_why() -> None:
    found = paramid.identify(Watched(), inputs=6, neurons=121, method="sphere-lm")
    assert found.status is paramid.Status.DECLINED
    assert "exceed" in found.reason


def computed_in_single(x: np.ndarray) -> np.ndarray:
    return np.tanh(x.astype(np.float32) @ W.astype(np.float32) + TAU.astype(np.float32)).sum(1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float32_is_seen_in_values_and_types(dtype: type) -> None:
    found = paramid.identify(lambda x: computed_in_single(x).astype(dtype), inputs=6, neurons=4)
    assert (found.status, found.precision) == (paramid.Status.FINISHED, "float32")
    assert paramid.judge((W, TAU), found.network)["weight_error"] < 1e-5
    assert found.good


@pytest.mark.parametrize(
    ("f", "precision", "seen"),
    [(Watched(), None, "float64"), (Watched(), "float32", "float32"), (computed_in_single, "float64", "float64")],
)
def test_a_precision_that_is_told_is_believed(f: Callable[..., object], precision: str | None, seen: str) -> None:
    assert paramid.identify(f, inputs=6, neurons=4, precision=precision).precision == seen


@pytest.mark.parametrize("activation", ["tanh", "logistic", "erf", "softplus"])
def test_neurons_and_activation_are_found_out(activation: str) -> None:
    network = paramid.Network.shallow(torch.from_numpy(W), torch.from_numpy(TAU), activation)
    seen = 0

    def f(x: np.ndarray) -> torch.Tensor:
        nonlocal seen
        seen += len(x)
        return network(torch.from_numpy(x))

    found = paramid.identify(f, inputs=6, neurons=None, activation="auto")
    assert found.network is not None
    assert found.network.activations[0] == activation
    assert paramid.judge(network, found.network)["exact"] == 1
    assert seen == found.queries


def test_a_call_gets_a_batch_and_progress_hears_of_it() -> None:
    sizes: list[int] = []
    told: list[int] = []

    def f(x: np.ndarray) -> np.ndarray:
        sizes.append(len(x))
        return Watched()(x)

    found = paramid.identify(f, inputs=6, neurons=4, batch=7, progress=lambda rows, seconds: told.append(rows))
    assert found.good
    assert max(sizes) == 7
    assert told == list(np.cumsum(sizes))


class Slow:
    """Takes a second after so many rows, as far as the clock can tell."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
        self.rows, self.after = 0, after
        monkeypatch.setattr(
            "paramid.identifying.black_box.time.perf_counter", lambda: 1.0 if self.rows > after else 0.0
        )

    def __call__(self, x: np.ndarray) -> np.ndarray:
        self.rows += len(x)
        return Watched()(x)


@pytest.mark.parametrize(("method", "after"), [("sphere-lm", 500), ("sgd:N=900,steps=9", 300), ("sphere-lm", 0)])
def test_no_row_is_asked_after_the_time_limit(monkeypatch: pytest.MonkeyPatch, method: str, after: int) -> None:
    f = Slow(monkeypatch, after)
    found = paramid.identify(f, inputs=6, neurons=4, method=method, time_limit=0.5, batch=100)
    assert found.status is paramid.Status.TIMED_OUT
    assert "time limit passed" in found.reason
    assert after < f.rows == found.queries + found.samples <= after + 104
    assert min(found.queries, found.samples) >= 0


def test_claims_before_the_time_limit_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    found = paramid.identify(Slow(monkeypatch, 500), inputs=6, neurons=4, time_limit=0.5, batch=50)
    assert found.status is paramid.Status.TIMED_OUT
    assert [type(claim).__name__ for claim in found.claims][:2] == ["Subspace", "Directions"]


def test_a_stop_by_the_user_leaves() -> None:
    def f(x: np.ndarray) -> np.ndarray:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        paramid.identify(f, inputs=6, neurons=4)


@pytest.mark.parametrize("method", [SphereLM, SphereLM(rows=1.5)])
def test_a_method_may_be_a_class_or_an_instance(method: object) -> None:
    assert paramid.identify(Watched(), inputs=6, neurons=4, method=method).good


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": Truth}, "Truth is a control"),
        ({"method": 3}, "method is a int without access, declines, identify; a name, a class or an instance"),
        ({"method": dict}, "method is a dict without access"),
        ({"method": SphereLM(derivatives="exact")}, "SphereLM needs derivatives"),
        ({"time_limit": 0}, "time_limit is 0; a positive number of seconds was wanted"),
        ({"time_limit": float("nan")}, "time_limit is nan"),
        ({"time_limit": "soon"}, "time_limit is 'soon'; a positive number"),
        ({"batch": 0}, "batch is 0; a whole number from 1 was wanted"),
        ({"progress": "yes"}, "progress is 'yes'; True, False or a function"),
        ({"precision": "float16"}, "precision is 'float16'; float64 or float32 was wanted"),
    ],
)
def test_more_options_without_sense_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(paramid.UsageError, match=said):
        paramid.identify(Watched(), inputs=6, neurons=4, **{**options})


def test_what_was_found_fits_on_a_few_lines() -> None:
    found = paramid.identify(Watched(), inputs=6, neurons=4)
    assert re.fullmatch(
        r"Found\(FINISHED: tanh network 6-4-1, residual .*; 1,827 queries, 0 samples, .* s\)", repr(found)
    )
    crowded = replace(found, obstacles=("a", "b", "c", "d", "e"), reason="why", network=None)
    assert repr(crowded).splitlines()[1:] == [
        "  reason: why", "  obstacle: a", "  obstacle: b", "  obstacle: c", "  and 2 more obstacles)",
    ]  # fmt: skip
    assert "tensor" not in repr(found) + repr(crowded)
