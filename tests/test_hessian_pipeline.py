"""The pipeline tells its stages in order, asks only for what it declared, and says no rather than something wrong."""

import math
from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch

from paramid import Access, Claim, Directions, GiveUp, Network, Run, Spec, Subspace, task
from paramid.judging.spans_and_directions import span_of_squares
from paramid.methods.spans.hessian_pipeline import HessianPipeline, sparse
from paramid.methods.spans.subspace import leading_span
from paramid.methods.spectral_norm import SpectralNormAscent
from paramid.methods.spm import SubspacePowerMethod
from paramid.oracle.counting import CountingOracle
from paramid.tasks.shallow import Shallow

METHODS = [SubspacePowerMethod, SpectralNormAscent]
methods = pytest.mark.parametrize("method", METHODS)
Q, S, D = Access.QUERIES, Access.SAMPLES, Access.DERIVATIVES


def oracle_for(method: HessianPipeline, name: str, seed: int = 0) -> CountingOracle:
    """An oracle that grants what the method declared and no more."""
    shallow, cpu = task(name), torch.device("cpu")
    return CountingOracle(shallow.draw(seed), shallow.spec, access=method.access, seed=seed, device=cpu)


def claims(method: HessianPipeline, name: str = "shallow:D=6,m=7", seed: int = 0) -> tuple[list[Claim], CountingOracle]:
    oracle = oracle_for(method, name, seed)
    assert method.declines(oracle.spec) is None
    return list(method.identify(oracle, Run.seeded(seed))), oracle


@methods
@pytest.mark.parametrize(("refine", "networks"), [("none", 1), ("gn", 2), ("sgd", 3)])
def test_span_directions_network_and_its_refinements_are_claimed_in_turn(
    method: type[HessianPipeline], refine: str, networks: int
) -> None:
    found, _ = claims(method(refine=refine, refine_epochs=2, h_dir=0.1))
    assert [type(claim) for claim in found] == [Subspace, Directions] + [Network] * networks
    assert {"singular_gap"} == set(found[0].stats)
    assert found[1].stats["directions_found"] == 7
    assert found[1].stats["accepted"] <= found[1].stats["starts"] == math.ceil(5 * 7 * math.log(6))


@methods
@pytest.mark.parametrize(
    ("activation", "derivatives", "stencil"),
    [
        ("tanh", "differences", "thesis"),
        ("tanh", "differences", "symmetric"),
        ("tanh", "exact", "thesis"),
        ("logistic", "exact", "thesis"),
        ("erf", "differences", "symmetric"),
    ],
)
def test_every_kind_of_derivative_identifies(
    method: type[HessianPipeline], activation: str, derivatives: str, stencil: str
) -> None:
    name = f"shallow:D=6,m=7,activation={activation}"
    found, _ = claims(method(derivatives=derivatives, stencil=stencil, refine="gn"), name)
    shallow = task(name)
    metrics = shallow.judge(found[-1], shallow.draw(0))
    assert (metrics["identified"], metrics["sign_accuracy"]) == (1, 1)
    assert metrics["weight_error"] < (1e-8 if derivatives == "exact" else 1e-3)


@methods
@pytest.mark.parametrize("name", ["shallow:D=1,m=1", "shallow:D=2,m=1", "shallow:D=3,m=3", "shallow:D=4,m=1"])
def test_the_smallest_networks_are_identified(method: type[HessianPipeline], name: str) -> None:
    found, _ = claims(method(refine="gn", steps=3000), name, seed=1)
    assert task(name).judge(found[-1], task(name).draw(1))["weight_error"] < 1e-3


@pytest.mark.parametrize("refine", ["gn", "sgd"])
def test_refinement_leaves_the_weights_and_betters_the_shifts(refine: str) -> None:
    shallow = task("shallow:D=6,m=7")
    found, _ = claims(SubspacePowerMethod(h_dir=0.3, refine=refine, refine_samples=1000, refine_lr=0.05))
    first, *_, last = (claim for claim in found if isinstance(claim, Network))
    assert torch.equal(first.weights[0], last.weights[0])
    before, after = (shallow.judge(claim, shallow.draw(0))["bias_error"] for claim in (first, last))
    assert after < before / 20


@methods
@pytest.mark.parametrize(
    ("derivatives", "refine", "access"),
    [
        ("differences", "none", {Q}),
        ("differences", "gn", {Q, S}),
        ("differences", "sgd", {Q, S}),
        ("exact", "none", {D}),
        ("exact", "gn", {D, S}),
    ],
)
def test_it_declares_the_access_it_uses(
    method: type[HessianPipeline], derivatives: str, refine: str, access: set[Access]
) -> None:
    chosen = method(derivatives=derivatives, refine=refine, refine_epochs=1)
    assert chosen.access == access
    _, oracle = claims(chosen)
    assert {kind for kind, rows in oracle.usage.snapshot().items() if rows} == {kind.value for kind in access}


@pytest.mark.parametrize(
    ("options", "usage"),
    [
        ({"refine": "none"}, {"queries": 13 * 73 + 29}),
        ({"refine": "none", "stencil": "symmetric"}, {"queries": 13 * 43 + 29}),
        ({"refine": "none", "hessian_count": 20}, {"queries": 20 * 73 + 29}),
        ({"refine": "none", "derivatives": "exact"}, {"derivatives": 13 + 15}),
        ({"refine": "gn"}, {"queries": 13 * 73 + 29, "samples": 120}),
        ({"refine": "sgd", "refine_epochs": 1}, {"queries": 13 * 73 + 29, "samples": 252}),
        ({"refine": "gn", "refine_samples": 50}, {"queries": 13 * 73 + 29, "samples": 50}),
    ],
)
def test_it_costs_what_the_thesis_says(options: dict[str, object], usage: dict[str, int]) -> None:
    """⌈7 ln 6⌉ = 13 Hessians of 2·36 + 1 or 36 + 6 + 1 queries, and 4·7 + 1 or 2·7 + 1 for the seven directions."""
    _, oracle = claims(SubspacePowerMethod(**options))
    assert {kind: rows for kind, rows in oracle.usage.snapshot().items() if rows} == usage


@methods
def test_the_step_of_the_differences_decides_how_good_the_span_is(method: type[HessianPipeline]) -> None:
    shallow, steps = task("shallow:D=6,m=7"), (0.1, 0.01)
    firsts = [next(method(h=h).identify(oracle_for(method(), "shallow:D=6,m=7"), Run.seeded(0))) for h in steps]
    coarse, fine = (shallow.judge(first, shallow.draw(0))["subspace_error"] for first in firsts)
    assert coarse / fine == pytest.approx(100, rel=0.1)


def test_shifts_stay_within_the_limit_that_was_chosen() -> None:
    found, _ = claims(SubspacePowerMethod(refine="none", shift_limit=0.1))
    assert isinstance(found[-1], Network)
    assert found[-1].biases[0].abs().max() == pytest.approx(0.1)


@methods
def test_no_more_directions_are_told_than_there_are_neurons(method: type[HessianPipeline]) -> None:
    span = leading_span(Run.seeded(0).normal(21, 21), 2, 6)
    found, stats = method(threshold=1e-6, steps=1, starts=40).directions(span, 2, Run.seeded(0))
    assert (found.shape, stats["accepted"]) == ((2, 6), 40)


@pytest.mark.parametrize(("m", "threshold"), [(9, 0.9), (10, 0.99)])
def test_the_threshold_of_spm_is_stricter_from_two_fifths_of_the_square(m: int, threshold: float) -> None:
    span = leading_span(Run.seeded(0).normal(15, 15), m, 5)
    chosen = (SubspacePowerMethod(steps=3, starts=300, threshold=t) for t in (None, threshold, 0.9, 0.99))
    default, same, loose, strict = (each.directions(span, m, Run.seeded(0))[1]["accepted"] for each in chosen)
    assert default == same
    assert loose > strict


SPEC = task("shallow:D=6,m=7").spec


@methods
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"widths": (15,)}, None),
        ({"inputs": 1, "widths": (1,)}, None),
        ({"activations": ("erf", "identity")}, None),
        ({"activations": ("relu", "identity")}, "cannot read shifts off the second derivative of relu"),
        ({"activations": ("square", "identity")}, "cannot read shifts off the second derivative of square"),
        ({"activations": ("softplus", "identity")}, "cannot read shifts off the second derivative of softplus"),
        ({"activations": ("tanh", "tanh")}, "needs one hidden layer and one linear output"),
        ({"widths": (7, 3), "activations": ("tanh",) * 2 + ("identity",)}, "needs one hidden layer"),
        ({"outputs": 2}, "needs one hidden layer and one linear output"),
        ({"widths": (16,)}, "16 neurons exceed D(D-1)/2 = 15: spans of Hessians do not tell them apart"),
        ({"inputs": 1, "widths": (2,)}, "2 neurons exceed D(D-1)/2 = 0"),
        ({"outer": "free"}, "needs outer weights 1"),
        ({"norms": "free"}, "needs outer weights 1, unit weight vectors"),
        ({"output_bias": "free"}, "and no output bias"),
        ({"widths": (None,)}, "needs to know the number of neurons"),
    ],
)
def test_it_declines_with_a_reason(
    method: type[HessianPipeline], changes: dict[str, object], reason: str | None
) -> None:
    spec: Spec = replace(SPEC, **changes)
    said = method().declines(spec)
    assert said is None if reason is None else reason in str(said)


@methods
def test_it_declines_fewer_hessians_than_neurons(method: type[HessianPipeline]) -> None:
    assert method(hessian_count=6).declines(SPEC) == "6 Hessians cannot span 7 dimensions"
    assert method(hessian_count=7).declines(SPEC) is None


@methods
@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"derivatives": "guessed"}, "'guessed'; differences or exact was wanted"),
        ({"stencil": "five-point"}, "thesis or symmetric was wanted"),
        ({"refine": "joint"}, "sgd or gn or none was wanted"),
        ({"h": 0.0}, "a positive number was wanted"),
        ({"h_dir": -1e-2}, "a positive number was wanted"),
        ({"refine_lr": 0.0}, "a positive number was wanted"),
        ({"refine_batch": 0}, "a positive number was wanted"),
        ({"refine_epochs": 0}, "a positive number was wanted"),
        ({"starts": "forever"}, "'forever'; a number or until was wanted"),
        ({"starts": 0}, "a positive number was wanted"),
        ({"most_starts": 0}, "a positive number was wanted"),
    ],
)
def test_options_without_sense_are_refused(
    method: type[HessianPipeline], options: dict[str, object], match: str
) -> None:
    with pytest.raises(ValueError, match=match):
        method(**options)


@methods
def test_an_unattainable_threshold_ends_in_giving_up_and_not_in_a_wrong_network(method: type[HessianPipeline]) -> None:
    chosen = method(threshold=1.5, steps=50)
    found: list[Claim] = []
    with pytest.raises(GiveUp, match="found 0 of 7 directions"):
        found.extend(chosen.identify(oracle_for(chosen, "shallow:D=6,m=7"), Run.seeded(0)))
    assert [type(claim) for claim in collected(chosen)] == [Subspace, Directions]


def collected(method: HessianPipeline) -> Iterator[Claim]:
    """The claims before it gave up."""
    try:
        yield from method.identify(oracle_for(method, "shallow:D=6,m=7"), Run.seeded(0))
    except GiveUp:
        return


@methods
def test_too_few_starts_end_in_giving_up_with_the_directions_found_so_far(method: type[HessianPipeline]) -> None:
    *_, last = collected(method(starts=3))
    assert isinstance(last, Directions)
    assert 1 <= last.columns.shape[1] == last.stats["directions_found"] <= 3


@pytest.mark.parametrize(("method", "threshold"), [(SubspacePowerMethod, 0.99), (SpectralNormAscent, 0.999)])
def test_starts_go_on_until_all_directions_are_held_or_the_cap_is_met(
    method: type[HessianPipeline], threshold: float
) -> None:
    """Four steps bring few starts above the threshold: the printed number of starts is not enough."""
    w, printed = Run.seeded(5).sphere(14, 8).T, math.ceil(5 * 14 * math.log(8))
    span = leading_span(span_of_squares(w).T, 14, 8)
    few, _ = method(steps=4, threshold=threshold).directions(span, 14, Run.seeded(0))
    all_held, told = method(steps=4, threshold=threshold, starts="until").directions(span, 14, Run.seeded(0))
    assert len(few) < 14 == len(all_held)
    assert printed < told["starts"] < 10 * printed
    assert (all_held @ w).abs().amax(1).min() > 0.95
    capped, told = method(steps=4, starts="until", most_starts=9).directions(span, 14, Run.seeded(0))
    assert (len(capped) < 14, told["starts"]) == (True, 9)
    nothing, told = method(steps=1, threshold=1.5, starts="until").directions(span, 14, Run.seeded(0))
    assert (len(nothing), told["starts"]) == (0, 10 * printed)


@methods
def test_starts_until_say_what_the_printed_starts_say_where_these_are_enough(method: type[HessianPipeline]) -> None:
    (one, _), (two, _) = claims(method(refine="none")), claims(method(refine="none", starts="until"))
    assert torch.equal(one[-1].weights[0], two[-1].weights[0])
    assert one[1].stats == two[1].stats


@methods
def test_the_same_seed_says_the_same(method: type[HessianPipeline]) -> None:
    (one, _), (two, _) = claims(method(refine_epochs=3)), claims(method(refine_epochs=3))
    for a, b in zip(one, two, strict=True):
        assert all(torch.equal(x, y) for x, y in zip(a.arrays().values(), b.arrays().values(), strict=True))


@pytest.mark.parametrize(
    ("count", "told"), [(0, []), (1, [1]), (2, [1, 2]), (3, [1, 2, 3]), (4, [1, 2, 4]), (11, [1, 2, 4, 8, 11])]
)
def test_long_refinements_are_told_sparsely_and_always_with_their_end(count: int, told: list[int]) -> None:
    items = (torch.tensor(n) for n in range(1, count + 1))
    assert [int(item) for item in sparse(items)] == told


@methods
@pytest.mark.parametrize(
    ("options", "task", "match"),
    [
        ({"shift_limit": 3.0}, Shallow(D=6, m=7), "shift_limit 3 exceeds 0.6585"),
        ({"refine": "gn"}, Shallow(D=6, m=7, N=5), "5 samples cannot refine 7 shifts"),
        ({"refine_samples": 3}, Shallow(D=6, m=7), "3 samples cannot refine 7 shifts"),
    ],
)
def test_it_declines_what_would_make_the_shifts_worse(
    method: type[HessianPipeline], options: dict[str, object], task: Shallow, match: str
) -> None:
    assert match in str(method(**options).declines(task.spec))


@methods
@pytest.mark.parametrize("refine", ["sgd", "gn"])
def test_no_more_samples_are_asked_than_are_granted(method: type[HessianPipeline], refine: str) -> None:
    assert method(refine=refine).refinement_rows(Shallow(D=6, m=7, N=40).spec) == 40


def test_noise_that_drowns_the_signs_is_declined() -> None:
    assert "drowns third differences" in str(SubspacePowerMethod().declines(Shallow(D=6, m=4, noise=1e-6).spec))
    assert SubspacePowerMethod().declines(Shallow(D=6, m=4, noise=1e-9).spec) is None


@pytest.mark.parametrize("refine", ["sgd", "gn"])
def test_a_network_that_misses_its_samples_is_not_left_standing(refine: str) -> None:
    """At the limit m = D(D-1)/2 there are false rank-ones: the end is honest."""
    oracle = CountingOracle(
        (family := Shallow(D=8, m=28)).draw(0),
        family.spec,
        access=SubspacePowerMethod().access,
        seed=0,
        device=torch.device("cpu"),
    )
    with pytest.raises(GiveUp, match=r"misses .*% of its own samples"):
        list(SubspacePowerMethod(stencil="symmetric", refine=refine, refine_epochs=5).identify(oracle, Run.seeded(0)))
