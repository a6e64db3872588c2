"""The baseline asks for the thesis' samples, fits what is small, trains only what is free and says when it diverges."""

from dataclasses import replace

import pytest
import torch

from paramid import GiveUp, Network, Run, Spec, task
from paramid.methods.refinement.stochastic import Adam
from paramid.methods.sgd import StochasticGradientDescent, mean_squared_error, student_of
from paramid.oracle.counting import CountingOracle

CPU = torch.device("cpu")


def claims(method: StochasticGradientDescent, name: str, seed: int = 0) -> tuple[list[Network], CountingOracle]:
    shallow = task(name)
    oracle = CountingOracle(shallow.draw(seed), shallow.spec, access=method.access, seed=seed, device=CPU)
    return list(method.identify(oracle, Run.seeded(seed))), oracle


def test_a_tiny_teacher_is_identified() -> None:
    found, _ = claims(StochasticGradientDescent(optimizer="adam", N=1000, steps=6000), "shallow:D=3,m=2")
    tiny = task("shallow:D=3,m=2")
    assert tiny.judge(found[-1], tiny.draw(0))["identified"] == 1
    assert tiny.judge(found[0], tiny.draw(0))["identified"] == 0


def test_training_ends_below_the_loss_of_the_thesis() -> None:
    method = StochasticGradientDescent(optimizer="adam", N=1000, steps=20_000)
    found, oracle = claims(method, "shallow:D=3,m=2")
    x, y = (
        CountingOracle(task("shallow:D=3,m=2").draw(0), oracle.spec, access=method.access, seed=0, device=CPU)
        .sample(1000)
        .tensors()
    )
    losses = [mean_squared_error(claim, x, y) for claim in found]
    assert losses[-1] < 1e-8 <= losses[-2]
    assert [claim.stats["training_loss"] for claim in found] == pytest.approx(losses)


def test_training_goes_on_where_no_loss_is_to_end_it() -> None:
    method = StochasticGradientDescent(optimizer="adam", N=64, steps=60, stop=1e9)
    short, _ = claims(method, "shallow:D=3,m=2")
    found, _ = claims(replace(method, stop=0.0), "shallow:D=3,m=2")
    assert not torch.equal(found[-1].weights[0], short[-1].weights[0])
    with pytest.raises(ValueError, match="stop is -1"):
        replace(method, stop=-1.0)


@pytest.mark.parametrize(
    ("granted", "N", "asked"),
    [("", None, 68), (",N=50", None, 50), (",N=500", None, 68), ("", 33, 33), (",N=20", 33, 20)],
)
def test_it_asks_for_the_samples_of_the_thesis_or_what_is_granted(granted: str, N: int | None, asked: int) -> None:
    _, oracle = claims(StochasticGradientDescent(N=N, steps=3), f"shallow:D=3,m=3{granted}")
    assert oracle.usage.snapshot() == {"queries": 0, "samples": asked, "derivatives": 0, "moments": 0}


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_a_claim_does_not_change_later(optimizer: str) -> None:
    name, method = "shallow:D=3,m=2", StochasticGradientDescent(optimizer=optimizer, N=200, steps=400)
    shallow = task(name)
    oracle = CountingOracle(shallow.draw(0), shallow.spec, access=method.access, seed=0, device=CPU)
    told, then = [], []
    for claim in method.identify(oracle, Run.seeded(0)):
        told.append(claim)
        then.append([value.clone() for value in claim.arrays().values()])
    for claim, values in zip(told, then, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(claim.arrays().values(), values, strict=True))
    assert not torch.equal(told[0].weights[0], told[-1].weights[0])


@pytest.mark.parametrize(("steps", "told"), [(1, 1), (99, 1), (101, 2), (160, 3), (240, 4)])
def test_claims_come_after_a_hundred_steps_then_ever_rarer_and_at_the_end(steps: int, told: int) -> None:
    found, _ = claims(StochasticGradientDescent(N=64, steps=steps), "shallow:D=3,m=2")
    assert len(found) == told


@pytest.mark.parametrize("steps", [1, 7, 10, 23])
def test_training_stops_after_its_steps_also_within_an_epoch(steps: int) -> None:
    spec, method, run = task("shallow:D=3,m=2").spec, StochasticGradientDescent(steps=steps), Run.seeded(0)
    x, y = run.normal(640, 3), run.normal(640, 1)
    assert list(method.train(student_of(spec, run), spec, x, y, run)) == list(range(1, steps + 1))


@pytest.mark.parametrize("N", [200, 20_000])
def test_a_rate_too_large_ends_in_giving_up_and_not_in_a_claim_of_no_number(N: int) -> None:
    method, shallow = StochasticGradientDescent(lr=1.0, N=N, steps=2000), task("shallow:D=5,m=4,activation=square")
    oracle = CountingOracle(shallow.draw(0), shallow.spec, access=method.access, seed=0, device=CPU)
    found = []
    with pytest.raises(GiveUp, match="diverged within"):
        found.extend(problem(claim, oracle.spec) for claim in method.identify(oracle, Run.seeded(0)))
    assert found == []


def problem(claim: Network, spec: Spec) -> None:
    assert claim.problem(spec) is None


@pytest.mark.parametrize(
    ("outer", "output_bias", "trained"),
    [("ones", "zero", "W0 b0"), ("free", "zero", "W0 b0 W1"), ("free", "free", "*")],
)
def test_only_what_is_free_is_trained(outer: str, output_bias: str, trained: str) -> None:
    spec = replace(task("shallow:D=3,m=2").spec, outer=outer, output_bias=output_bias)
    teacher, method = task("shallow:D=3,m=2").draw(0), StochasticGradientDescent(lr=0.01, N=64, steps=5)
    oracle = CountingOracle(teacher, spec, access=method.access, seed=0, device=CPU)
    (found,) = method.identify(oracle, Run.seeded(0))
    start = student_of(spec, Run.seeded(0)).arrays()
    moved = {name for name, value in found.arrays().items() if not torch.equal(value, start[name])}
    assert moved == (set(start) if trained == "*" else set(trained.split()))


def test_a_student_is_drawn_from_the_teachers_laws() -> None:
    spec = replace(task("shallow:D=3,m=2").spec, inputs=5, widths=(40, 30), activations=("tanh", "erf", "identity"))
    student = student_of(spec, Run.seeded(0))
    assert [tuple(w.shape) for w in student.weights] == [(5, 40), (40, 30), (30, 1)]
    for w, b in zip(student.weights[:2], student.biases[:2], strict=True):
        torch.testing.assert_close(w.norm(dim=0), torch.ones(w.shape[1], dtype=w.dtype))
        assert 0.4 < b.abs().max() <= 0.5
    assert bool((student.weights[-1] == 1).all())
    assert student.biases[-1] == 0


@pytest.mark.parametrize(("m", "optimizer", "rate"), [(4, "sgd", 0.125), (50, "sgd", 0.01), (4, "adam", 0.01)])
def test_the_automatic_rate_falls_with_the_neurons(m: int, optimizer: str, rate: float) -> None:
    method = StochasticGradientDescent(lr="auto", optimizer=optimizer)
    assert method.rate(task(f"shallow:D=20,m={m}").spec) == rate
    assert StochasticGradientDescent(lr=0.3).rate(task("shallow:D=20,m=4").spec) == 0.3


def test_one_step_on_all_samples_goes_down_the_gradient() -> None:
    shallow, method = task("shallow:D=3,m=2"), StochasticGradientDescent(lr=0.01, N=64, steps=1)
    oracles = [CountingOracle(shallow.draw(0), shallow.spec, access=method.access, seed=0, device=CPU) for _ in "ab"]
    (found,) = method.identify(oracles[0], Run.seeded(0))
    x, y = oracles[1].sample(64).tensors()
    start = student_of(shallow.spec, Run.seeded(0))
    w = start.weights[0].requires_grad_()
    (slope,) = torch.autograd.grad((start(x) - y).square().mean(), w)
    torch.testing.assert_close(found.weights[0], w.detach() - 0.01 * slope)


def test_adam_takes_the_steps_of_torch() -> None:
    run = Run.seeded(0)
    ours, theirs = (torch.ones(3, 2, dtype=torch.float64) for _ in "ab")
    reference, directions = torch.optim.Adam([theirs.requires_grad_()], lr=0.01), Adam([ours])
    for scale in (1.0, 10.0, 1e-3, 0.0, 1.0):
        gradient = scale * run.normal(3, 2)
        theirs.grad = gradient.clone()
        reference.step()
        ours.sub_(directions([gradient])[0], alpha=0.01)
        torch.testing.assert_close(ours, theirs.detach())


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"optimizer": "lbfgs"}, "sgd or adam was wanted"),
        ({"lr": "big"}, "a number or auto was wanted"),
        ({"lr": 0.0}, "a positive number was wanted"),
        ({"batch": 0}, "a positive number was wanted"),
        ({"steps": 0}, "a positive number was wanted"),
        ({"N": 0}, "a positive number was wanted"),
        ({"N": -3}, "a positive number was wanted"),
    ],
)
def test_options_without_sense_are_refused(options: dict[str, object], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        StochasticGradientDescent(**options)


def test_it_declines_only_what_it_cannot_build() -> None:
    spec, method = task("shallow:D=3,m=2").spec, StochasticGradientDescent()
    assert method.declines(spec) is None
    assert method.declines(replace(spec, widths=(None,))) == "needs to know the number of neurons"
    assert method.declines(replace(spec, activations=("features",))) == "cannot build a student of features"
