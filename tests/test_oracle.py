"""The oracle counts every row once, says no before it works, and bounds what the teacher sees at a time."""

import copy
import os
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from paramid import Access, BudgetSpent, Network, Run, Spec
from paramid.oracle.counting import CountingOracle, Usage
from paramid.oracle.protocol import AccessRefused
from paramid.words import memory_limits

F64, CPU = torch.float64, torch.device("cpu")
EVERYTHING = frozenset(Access)
rows, seeds = st.integers(1, 40), st.integers(0, 10**6)


class Teacher:
    """A network that notes how many rows it is shown."""

    def __init__(self, network: Network) -> None:
        self.network, self.rows, self.largest = network, 0, 0

    def seen(self, x: Tensor) -> Tensor:
        self.rows, self.largest = self.rows + len(x), max(self.largest, len(x))
        return x

    def __call__(self, x: Tensor) -> Tensor:
        return self.network(self.seen(x))

    def gradient(self, x: Tensor) -> Tensor:
        return self.network.gradient(self.seen(x))

    def hessian(self, x: Tensor) -> Tensor:
        return self.network.hessian(self.seen(x))

    def moments(self, order: int) -> Tensor:
        return torch.full((2,) * order, 0.5, dtype=torch.float32)


def setting(
    *,
    d: int = 3,
    m: int = 4,
    outputs: int = 2,
    seed: int = 0,
    access: frozenset[Access] = EVERYTHING,
    query_limit: int | None = None,
    **public: Any,
) -> tuple[CountingOracle, Teacher]:
    run = Run.seeded(7)
    teacher = Teacher(Network.shallow(run.normal(d, m), run.normal(1, m)[0], "tanh", run.normal(m, outputs)))
    spec = Spec(inputs=d, widths=(m,), outputs=outputs, activations=("tanh", "identity"), **public)
    return CountingOracle(teacher, spec, access=access, seed=seed, device=CPU, query_limit=query_limit), teacher


def points(n: int, d: int = 3) -> Tensor:
    return Run.seeded(n).normal(n, d)


ASKS: dict[str, Callable[[CountingOracle], object]] = {
    "queries": lambda o: o.query(points(5)),
    "samples": lambda o: o.sample(5).tensors(),
    "derivatives": lambda o: (o.gradient(points(2)), o.hessian(points(3))),
    "moments": lambda o: [o.moments(k) for k in range(1, 6)],
}
asks = pytest.mark.parametrize("kind", ASKS)


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_limits, "CHUNK", 32)


@asks
def test_every_row_is_counted_under_its_kind(kind: str) -> None:
    asked, teacher = setting()
    for times in (1, 2):
        ASKS[kind](asked)
        assert asked.usage.snapshot() == {**Usage().snapshot(), kind: 5 * times}
        assert teacher.rows == (0 if kind == "moments" else 5 * times)


@asks
def test_what_was_not_agreed_is_refused_before_anything_is_evaluated(kind: str) -> None:
    asked, teacher = setting(access=EVERYTHING - {Access(kind)})
    agreed = ", ".join(sorted(a.value for a in EVERYTHING - {Access(kind)}))
    with pytest.raises(AccessRefused, match=f"{kind} were asked for; task and method agreed on {agreed}"):
        ASKS[kind](asked)
    assert teacher.rows == sum(asked.usage.snapshot().values()) == 0


def test_where_nothing_was_agreed_the_oracle_says_so() -> None:
    with pytest.raises(AccessRefused, match="agreed on nothing"):
        setting(access=frozenset())[0].query(points(1))


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("gradient", lambda o: o.gradient(points(2))),
        ("hessian", lambda o: o.hessian(points(2))),
        ("moments", lambda o: o.moments(1)),
    ],
)
def test_a_teacher_without_derivatives_offers_none(name: str, ask: Callable[[CountingOracle], object]) -> None:
    spec = Spec(inputs=3, widths=(1,), activations=("tanh", "identity"))
    asked = CountingOracle(lambda x: x[:, :1], spec, access=EVERYTHING, seed=0, device=CPU)
    with pytest.raises(AccessRefused, match=f"this teacher offers no {name}"):
        ask(asked)
    assert sum(asked.usage.snapshot().values()) == 0


@given(n=rows, m=rows)
def test_values_and_derivatives_are_the_teachers(n: int, m: int) -> None:
    asked, teacher = setting()
    x, y = points(n), points(m)
    torch.testing.assert_close(asked.query(x), teacher.network(x))
    torch.testing.assert_close(asked.gradient(x), teacher.network.gradient(x))
    torch.testing.assert_close(asked.hessian(y), teacher.network.hessian(y))
    assert asked.usage == Usage(queries=n, derivatives=n + m)


def test_moments_come_in_the_type_of_the_run() -> None:
    value = setting()[0].moments(2)
    assert (value.dtype, value.shape) == (F64, (2, 2))


def test_no_rows_are_no_cost() -> None:
    asked, _ = setting(query_limit=0)
    assert asked.query(points(0)).shape == (0, 2)
    assert asked.hessian(points(0)).shape == (0, 2, 3, 3)
    assert asked.usage == Usage()


@given(limit=rows, extra=st.integers(1, 9))
def test_a_query_past_the_budget_is_refused_before_a_row_is_seen(limit: int, extra: int) -> None:
    asked, teacher = setting(query_limit=limit)
    with pytest.raises(BudgetSpent, match=f"^{limit + extra} queries asked, {limit} granted$"):
        asked.query(points(limit + extra))
    assert teacher.rows == asked.usage.queries == 0
    asked.query(points(limit))
    with pytest.raises(BudgetSpent, match=f"{limit + 1} queries asked"):
        asked.query(points(1))
    assert teacher.rows == asked.usage.queries == limit


def test_a_query_budget_limits_queries_alone() -> None:
    asked, _ = setting(query_limit=1)
    for kind in ("samples", "derivatives", "moments"):
        ASKS[kind](asked)
    assert asked.usage == Usage(samples=5, derivatives=5, moments=5)


@given(granted=rows, extra=st.integers(1, 9))
def test_samples_past_the_grant_are_refused_when_asked(granted: int, extra: int) -> None:
    asked, teacher = setting(samples=granted)
    with pytest.raises(BudgetSpent, match=f"^{granted + extra} samples asked, {granted} granted$"):
        asked.sample(granted + extra)
    kept = asked.sample(granted)
    with pytest.raises(BudgetSpent, match=f"{granted + 1} samples asked"):
        asked.sample(1)
    assert teacher.rows == 0  # asking costs nothing, reading does
    assert len(kept.tensors()[0]) == len(kept) == teacher.rows == asked.usage.samples == granted


@given(parts=st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_the_grant_is_the_sum_of_all_calls(parts: list[int]) -> None:
    asked, _ = setting(samples=sum(parts))
    for n in parts:
        asked.sample(n)
    with pytest.raises(BudgetSpent, match=f"{sum(parts) + 1} samples asked, {sum(parts)} granted"):
        asked.sample(1)


def test_rows_shown_to_a_teacher_that_fails_are_counted() -> None:
    spec = Spec(inputs=3, widths=(1,), activations=("tanh", "identity"))
    asked = CountingOracle(lambda x: x.item(), spec, access=EVERYTHING, seed=0, device=CPU)
    with pytest.raises(RuntimeError, match="Tensor"):
        asked.query(points(5))
    assert asked.usage == Usage(queries=5)


def test_no_answer_carries_the_graph_of_a_teacher() -> None:
    asked, teacher = setting()
    for value in teacher.network.arrays().values():
        value.requires_grad_()
    x = points(4)
    answers = [asked.query(x), asked.gradient(x), asked.hessian(x), asked.sample(4).tensors()[1]]
    assert not any(y.requires_grad for y in answers)


@pytest.mark.parametrize("n", [0, -3])
def test_samples_come_in_positive_numbers(n: int) -> None:
    with pytest.raises(ValueError, match=f"{n} samples were asked for; at least 1 was wanted"):
        setting()[0].sample(n)


@given(n=st.integers(1, 300), seed=seeds, noise=st.sampled_from([0.0, 0.1]))
def test_samples_are_read_again_without_being_evaluated_again(n: int, seed: int, noise: float) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory_limits, "CHUNK", 32)  # 85 rows a chunk
        asked, teacher = setting(seed=seed, noise=noise)
        samples = asked.sample(n)
        first, again = list(samples), list(samples)
        assert len(first) == -(-n // 85)
        assert all(torch.equal(a, b) for p, q in zip(first, again, strict=True) for a, b in zip(p, q, strict=True))
        x, y = samples.tensors()
        assert (x.shape, y.shape) == ((n, 3), (n, 2))
        assert teacher.rows == asked.usage.samples == n
        assert noise or torch.allclose(y, teacher.network(x))


@pytest.mark.usefixtures("small_chunks")
def test_samples_read_in_part_and_side_by_side_are_the_same() -> None:
    asked, teacher = setting(noise=0.1)
    samples = asked.sample(200)
    next(iter(samples))
    assert teacher.rows == asked.usage.samples == 85
    for (x, y), (u, v) in zip(samples, samples, strict=True):
        assert torch.equal(x, u)
        assert torch.equal(y, v)
    assert teacher.rows == asked.usage.samples == 200


@pytest.mark.usefixtures("small_chunks")
def test_writing_into_a_chunk_harms_nobody() -> None:
    asked, _ = setting(noise=0.1)
    samples = asked.sample(200)
    x, y = samples.tensors()
    for a, b in samples:
        a.fill_(9)
        b.fill_(9)
    assert torch.equal(samples.tensors()[0], x)
    assert torch.equal(samples.tensors()[1], y)
    z = points(4)
    wanted = setting()[0].query(z)
    setting()[0].query(z).fill_(9)
    assert torch.equal(setting()[0].query(z), wanted)


def test_not_even_a_teacher_that_returns_its_input_ties_answers_to_points() -> None:
    spec = Spec(inputs=3, widths=(1,), outputs=3, activations=("tanh", "identity"))
    x = points(4)
    kept = x.clone()
    CountingOracle(lambda t: t, spec, access=EVERYTHING, seed=0, device=CPU).query(x).fill_(9)
    assert torch.equal(x, kept)


@given(seed=seeds)
def test_every_call_draws_new_rows_and_every_seed_others(seed: int) -> None:
    asked, other = setting(seed=seed)[0], setting(seed=seed + 1)[0]
    a, b = (asked.sample(4).tensors()[0] for _ in range(2))
    same = setting(seed=seed)[0].sample(4).tensors()[0]
    assert torch.equal(a, same)
    assert not bool(torch.isclose(a, b).any())
    assert not bool(torch.isclose(a, other.sample(4).tensors()[0]).any())


@pytest.mark.usefixtures("small_chunks")
def test_samples_are_standard_normal_without_a_repeated_chunk() -> None:
    x, _ = setting()[0].sample(20_000).tensors()
    assert len(x.unique(dim=0)) == len(x)
    torch.testing.assert_close(x.mean(0), torch.zeros(3, dtype=F64), rtol=0, atol=0.04)
    torch.testing.assert_close(x.T.cov(), torch.eye(3, dtype=F64), rtol=0, atol=0.05)


@given(n=st.integers(1, 200), seed=seeds)
def test_chunks_do_not_change_what_is_answered(n: int, seed: int) -> None:
    x, whole = points(n), setting(seed=seed)[0]
    wanted = [whole.query(x), whole.query(x), whole.gradient(x), whole.hessian(x)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory_limits, "CHUNK", 32)
        asked, teacher = setting(seed=seed)
        got = [asked.query(x), asked.query(x), asked.gradient(x), asked.hessian(x)]
    assert teacher.largest <= 8
    assert (teacher.rows, asked.usage) == (4 * n, Usage(queries=2 * n, derivatives=2 * n))
    for a, b in zip(got, wanted, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize(
    ("ask", "wide"),
    [
        (lambda o: o.query(points(2000, 50)), 1000),
        (lambda o: o.sample(2000).tensors(), 1000),
        (lambda o: o.gradient(points(2000, 50)), 1000 * 2),
        (lambda o: o.hessian(points(20, 50)), 50 * (2 * 50 + 1000)),
    ],
)
def test_the_teacher_sees_few_rows_at_a_time(ask: Callable[[CountingOracle], object], wide: int) -> None:
    asked, teacher = setting(d=50, m=1000)
    ask(asked)
    assert 1 <= teacher.largest * wide <= 2**18
    assert teacher.rows in (20, 2000)


def test_samples_come_in_chunks_of_bounded_memory() -> None:
    chunks = list(setting(d=1000, m=1)[0].sample(5000))
    assert len(chunks) > 1
    assert max(x.numel() for x, _ in chunks) <= 2**21


def test_noise_has_the_stated_size_and_is_drawn_anew() -> None:
    asked, teacher = setting(noise=0.1)
    x = points(5000)
    first, second = (asked.query(x) - teacher.network(x) for _ in range(2))
    z, y = asked.sample(5000).tensors()
    third = y - teacher.network(z)
    for noise in (first, second, third):
        assert float(noise.std()) == pytest.approx(0.1, rel=0.05)
        assert abs(float(noise.mean())) < 0.01
    pairs = torch.stack([first.flatten(), second.flatten(), third.flatten()]).corrcoef()
    assert float((pairs - torch.eye(3, dtype=F64)).abs().max()) < 0.05


@given(seed=seeds, n=st.integers(1, 30))
def test_noise_is_that_of_the_seed(seed: int, n: int) -> None:
    x = points(n)
    a, b, c = (setting(seed=s, noise=0.1)[0].query(x) for s in (seed, seed, seed + 1))
    assert torch.equal(a, b)
    assert not torch.equal(a, c)
    assert torch.equal(setting(seed=seed, noise=0.0)[0].query(x), setting(seed=seed + 1)[0].query(x))


@pytest.mark.parametrize(
    ("x", "wanted"),
    [
        ([[1.0, 2.0, 3.0]], r"came with a list; a tensor \(rows, 3\) was wanted"),
        (points(2).numpy(), "came with a ndarray"),
        (points(2)[0], r"came with shape \(3,\)"),
        (points(2)[None], r"came with shape \(1, 2, 3\)"),
        (points(2).T, r"came with shape \(3, 2\)"),
        (torch.tensor([[0.0, float("nan"), 0.0]]), "points hold non-finite values"),
        (torch.tensor([[0.0, float("inf"), 0.0]]), "points hold non-finite values"),
    ],
)
def test_bad_points_are_refused_and_cost_nothing(x: Any, wanted: str) -> None:
    asked, teacher = setting()
    for ask in (asked.query, asked.gradient, asked.hessian):
        with pytest.raises(ValueError, match=wanted):
            ask(x)
    assert teacher.rows == sum(asked.usage.snapshot().values()) == 0


def test_points_of_any_type_are_taken_off_their_graph() -> None:
    asked, _ = setting()
    wanted = asked.query(torch.ones(2, 3, dtype=F64))
    for x in (torch.ones(2, 3), torch.ones(2, 3, dtype=torch.int64), torch.ones(2, 3, dtype=F64).requires_grad_()):
        y = asked.query(x)
        assert y.dtype == F64
        assert not y.requires_grad
        torch.testing.assert_close(y, wanted)


def test_rows_are_asked_of_the_one_oracle_in_its_own_process(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, teacher = setting()
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(AccessRefused, match="an oracle cannot be copied"):
            copied(asked)
    samples = asked.sample(5)
    monkeypatch.setattr(os, "getpid", lambda: 0)
    for ask in (lambda: asked.query(points(2)), lambda: list(samples)):
        with pytest.raises(AccessRefused, match="in another process"):
            ask()
    assert teacher.rows == 0
