"""What the page beside the paper on over-parameterised nets computes itself: its theorems and lemmas in numbers."""

import math
from dataclasses import replace

import pytest
import torch

from benchmarks.reproduce.quadratic import jacobian_spectra, landscapes, lemmas
from benchmarks.reproduce.quadratic import local_convergence as local
from paramid import Run
from paramid.methods.squares.overparam_descent import Problem, point
from paramid.methods.squares.overparam_polish import tangent_kernel

F64 = torch.float64
SMALL = local.Sizes(d=8, samples=(12,), wide=(12,), radii=(0.1, 1, 1000), draws=2, steps=300, dimensions=(10, 20))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "SIZES", SMALL)


def test_descents_contract_near_planted_weights_of_every_activation() -> None:
    """Theorem 2.5 and Remark 2.6; a start a thousand times (2.4) away leaves softplus' basin."""
    assert [local.converges(even, {})[0] for even in (True, False)] == [True, True]
    found = {(b.name, b.k): b for b in local.basins(SMALL)}
    assert {name for name, _ in found} == {"softplus", "tanh", "logistic", "erf"}
    assert found["softplus", 8].held == (2, 2, 0)
    assert found["softplus", 8].reach(SMALL.radii, 2) == 1
    assert all(b.seen > b.guaranteed for b in found.values())


def test_the_radius_is_that_of_the_theorem() -> None:
    """(2.4) for orthonormal W*: d^2.5 / (n^1.5 k)."""
    told = [b for b in local.basins(SMALL) if b.weights == "orthonormal"]
    assert all(b.radius == pytest.approx(8**2.5 / (12**1.5 * 8)) for b in told)
    wide = {b.name: b.radius for b in local.basins(SMALL) if b.weights == "Gaussian"}
    assert wide["softplus"] < wide["tanh"]  # σ_min(W*) < 1 counts where γ ≠ 0 alone


def test_a_contraction_that_is_too_strong_is_seen() -> None:
    problem, w, v = local.planted("tanh", 8, 8, 12, Run.seeded(0))
    sigma, alpha = local.constants(problem, w, v)
    near = point(problem, w[None] + 0.01 * Run.seeded(1).normal(8, 8), v[None])
    rate = alpha * sigma**2 / (4 * 12)
    assert bool(local.descended(problem, near, alpha, rate, 100)[0].all())
    assert not bool(local.descended(problem, near, alpha, 0.9, 100)[0].any())


def test_the_smallest_singular_value_is_that_of_the_jacobian() -> None:
    problem, w, v = local.planted("erf", 5, 5, 6, Run.seeded(0))

    def values(w: torch.Tensor) -> torch.Tensor:
        return problem.phi(problem.x @ w) @ v

    j = torch.autograd.functional.jacobian(values, w).flatten(1)
    assert local.constants(problem, w, v)[0] == pytest.approx(float(torch.linalg.svdvals(j)[-1]))


def test_averages_of_slopes_are_those_of_the_example() -> None:
    """E φ'(σ g) of erf as printed is 2/√π (1 + σ²)^-1/2."""
    assert local.examples({})[0]
    low, high = local.averages()["erf"][:2]
    assert low == pytest.approx(2 / math.sqrt(math.pi) / math.sqrt(10))
    assert high == pytest.approx(2 / math.sqrt(math.pi) / math.sqrt(1.01))
    assert jacobian_spectra.averaged("erf", 1) == pytest.approx(math.sqrt(2 / math.pi), rel=1e-4)


@pytest.mark.parametrize("d", [3, 6, 10])
def test_squares_of_inputs_are_independent_up_to_as_many_as_a_matrix_has_numbers(d: int) -> None:
    """Lemma 5.6, and one input more; equal inputs are not almost every input."""
    most = d * (d + 1) // 2
    assert min(lemmas.smallest(d, n, seed=n) for n in (d, most // 2 + 1, most)) > 1e-8
    assert lemmas.smallest(d, most + 1, seed=0) < 1e-12
    x = Run.seeded(0).normal(d, 2)
    twice = torch.cat([x, -x[:, :1]], dim=1)
    assert float(torch.linalg.svdvals(lemmas.khatri_rao(twice, twice))[-1]) < 1e-12


def test_fourth_moments_concentrate_in_the_spectral_norm_and_not_in_the_nuclear() -> None:
    """Lemma 5.7: with n → ∞ both vanish; at n = 20 d log d the spectral norm stays below ‖A‖_*, the other grows."""
    assert max(lemmas.fourth_moment(4, 400_000, 0)) < 0.1
    few, many = lemmas.fourth_moment(10, 460, 0), lemmas.fourth_moment(60, 4913, 0)
    assert max(few[2], many[2]) < 1
    assert many[1] < few[1] < 1 < few[0] < many[0]


def test_what_is_false_as_printed_is_found_false() -> None:
    assert lemmas.tall_matrices({})[0] is False
    assert lemmas.products({})[0] is True
    assert lemmas.lengths({})[0] is True


def test_gradients_and_losses_around_planted_weights_obey_their_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lemmas 7.12 and 7.13; constants a thousand times too good are refused."""
    judges = (lemmas.slopes, lemmas.slopes_above, lemmas.distances, lemmas.curvatures)
    assert all(judge({})[0] for judge in judges)
    found = lemmas.around("tanh")
    assert found.slow < 1e6
    assert min(found.steep, found.outer, found.far, found.bent) > 1e-6
    monkeypatch.setattr(lemmas, "around", lambda _: lemmas.Around(0.5, 2.0, 2.0, 2.0, 2.0))
    assert not any(judge({})[0] for judge in judges)


def test_the_largest_curvature_is_that_of_the_tangent_kernel_where_nothing_is_left() -> None:
    problem, w, v = local.planted("tanh", 4, 4, 6, Run.seeded(0))
    kernel = tangent_kernel(problem, w[None], v[None])[0] / 6
    assert lemmas.largest_curvature(problem, w, v) == pytest.approx(float(torch.linalg.eigvalsh(kernel)[-1]))


def test_the_last_step_of_the_rate_is_found_false() -> None:
    assert lemmas.last_step({})[0] is False


def test_the_way_out_of_saddles_is_as_steep_as_the_proof_says() -> None:
    for theorem in ("2.1", "2.2"):
        held, told = landscapes.strict(theorem, {})
        assert held
        assert "1.000" in told
    assert landscapes.left_by_noise({})[0]


def test_a_saddle_that_is_flat_or_moves_is_no_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    good = landscapes.Saddle(loss=0.1, slope=1e-9, lowest=-1.0, predicted=-1.0, freed=0.0)
    for wrong in ({"slope": 1e-3}, {"lowest": -0.9}, {"lowest": 0.0, "predicted": 0.0}, {"loss": 0.0}):
        spoilt = replace(good, **wrong)
        monkeypatch.setattr(landscapes, "saddles", lambda _, spoilt=spoilt: (good, spoilt))
        assert not landscapes.strict("2.1", {})[0]


def test_ends_above_the_optimum_count_where_they_are_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    assert landscapes.all_global({})[0] is True
    assert {kind for kind, *_ in landscapes.ends()} == set(landscapes.DATA)
    for slope, held in ((1e-9, False), (1e-3, None)):
        found = (("Gaussian", 10, 0.0, 1e-9), ("signs", 60, 1e-3, slope))
        monkeypatch.setattr(landscapes, "ends", lambda found=found: found)
        assert landscapes.all_global({})[0] is held


def test_a_small_loss_at_rest_is_no_global_minimum(monkeypatch: pytest.MonkeyPatch) -> None:
    assert landscapes.small_is_global({})[0] is False
    monkeypatch.setattr(landscapes, "small_minima", lambda: ((1e-30, 1e-16), (1e-5, 1e-3), (0.1, 1e-9)))
    assert landscapes.small_is_global({})[0] is True


def test_rows_outside_of_the_theorem_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    held, told = local.converges(True, {})
    assert held
    assert "4 of 4 descents" in told
    rows = [replace(b, held=(0, 0, 0)) if b.weights == "Gaussian" else b for b in local.basins(SMALL)]
    monkeypatch.setattr(local, "basins", lambda _: rows)
    assert local.converges(True, {})[0] is True
    monkeypatch.setattr(local, "basins", lambda _: [replace(b, held=(2, 1, 0)) for b in rows])
    assert local.converges(True, {})[0] is False


def test_weights_are_looked_for_where_the_loss_vanished(monkeypatch: pytest.MonkeyPatch) -> None:
    row = local.basins(SMALL)[0]
    late, there = replace(row, left=1e-3, moved=1.0), replace(row, left=1e-20, moved=0.1)
    monkeypatch.setattr(local, "basins", lambda _: (late, there))
    assert local.weights_are_found({})[0] is True


def test_the_bound_is_nowhere_passed_and_not_vacuous() -> None:
    assert landscapes.bound({})[0]
    assert max(landscapes.bounds()) > 1e-6


def test_products_have_the_singular_values_of_their_gram_matrix() -> None:
    a, b = Run.seeded(0).normal(3, 5), Run.seeded(1).normal(4, 5)
    exact = torch.linalg.svdvals(lemmas.khatri_rao(a, b))
    assert jacobian_spectra.singular(a, b) == (pytest.approx(float(exact[-1])), pytest.approx(float(exact[0])))


def test_scales_that_remark_7_3_leaves_out_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jacobian_spectra, "DIMENSIONS", (20, 30))
    jacobian_spectra.spectra.cache_clear()
    assert jacobian_spectra.centred(True, {})[0] is None  # at d = 20 a draw of five is below 1/2
    assert jacobian_spectra.centred(False, {})[0] is False
    assert jacobian_spectra.perturbed({})[0]
    assert jacobian_spectra.centred_above(True, {})[0]
    rows = jacobian_spectra.spectra()
    jacobian_spectra.spectra.cache_clear()
    for low, held in ((0.6, True), (0.4, False)):
        monkeypatch.setattr(jacobian_spectra, "spectra", lambda low=low: [replace(s, centred=low) for s in rows])
        assert jacobian_spectra.centred(True, {})[0] is held
    rising = [replace(s, largest=s.d**0.5) for s in rows]
    monkeypatch.setattr(jacobian_spectra, "spectra", lambda: rising)
    assert not jacobian_spectra.centred_above(True, {})[0]
    assert not jacobian_spectra.centred_above(False, {})[0]


def test_problems_of_one_run_stay_as_they_are() -> None:
    problem, w, v = local.planted("softplus", 4, 4, 5, Run.seeded(0))
    assert isinstance(problem, Problem)
    assert float(point(problem, w[None], v[None]).loss) < 1e-28
