"""Matrices of squares from samples and from queries: exact where they can be, and honest where not."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from paramid import GiveUp, Gram, Method, Run, Task
from paramid.methods import gram_least_squares
from paramid.methods.gram_least_squares import GramLeastSquares
from paramid.methods.gram_moments import GramMoments
from paramid.methods.gram_queries import GramQueries
from paramid.methods.squares import quadratic_forms
from paramid.oracle.counting import CountingOracle
from paramid.tasks.quadratic import Quadratic
from paramid.tasks.shallow import Shallow
from paramid.words.spec import Spec

PSD = GramLeastSquares(constraint="psd")


def oracle_for(
    method: Method, family: Task, seed: int = 0, teacher: Callable[[Tensor], Tensor] | None = None
) -> CountingOracle:
    behind = teacher or family.draw(seed)
    return CountingOracle(behind, family.spec, access=method.access, seed=seed, device=torch.device("cpu"))


def played(method: Method, family: Task, seed: int = 0) -> tuple[dict[str, float], str, dict[str, int]]:
    """The metrics of its claim, the reason for giving up, and the rows it took."""
    assert method.declines(family.spec) is None
    oracle, metrics, reason = oracle_for(method, family, seed), {}, ""
    try:
        for claim in method.identify(oracle, Run.seeded(seed)):
            assert claim.problem(family.spec) is None
            metrics = family.judge(claim, family.draw(seed))
    except GiveUp as error:
        reason = str(error)
    return metrics, reason, {kind: rows for kind, rows in oracle.usage.snapshot().items() if rows}


FAMILIES = [
    Quadratic(D=1, k=1),
    Quadratic(D=7, k=3, instances=3),
    Quadratic(D=7, k=9, signs="mixed"),
    Shallow(D=5, m=4, activation="square"),
    Shallow(D=5, m=4, activation="square", outer="free"),
]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("method", [GramLeastSquares(), GramQueries()])
def test_every_matrix_is_found(method: Method, family: Task) -> None:
    metrics, reason, _ = played(method, family)
    assert (metrics["exact"], metrics["identified"], reason) == (1, 1, "")
    assert metrics["gram_error"] < 1e-12


def test_least_squares_are_exact_five_samples_beyond_the_numbers() -> None:
    for seed in range(5):
        metrics, reason, used = played(GramLeastSquares(), Quadratic(D=20, k=20, N=215), seed)
        assert metrics["gram_error"] <= 1e-12
        assert (reason, used) == ("", {"samples": 215})


@pytest.mark.parametrize("method", [GramLeastSquares(), PSD])
def test_half_the_samples_fit_and_do_not_identify_full_rank(method: Method) -> None:
    metrics, reason, _ = played(method, Quadratic(D=12, k=12, N=39))
    assert metrics["training_rmse"] < 1e-5
    assert metrics["gram_error"] > 0.3
    assert reason == "39 samples leave 39 of 78 numbers open: fits, not identified"


def test_positive_matrices_of_low_rank_are_found_below_the_numbers() -> None:
    family = Quadratic(D=12, k=1, N=39)
    low, reason, _ = played(PSD, family)
    assert (low["exact"], reason) == (1, "")
    assert played(GramLeastSquares(), family)[0]["gram_error"] > 0.3


def test_what_is_not_positive_is_not_found_among_positive_matrices() -> None:
    _, reason, _ = played(PSD, Quadratic(D=6, k=6, signs="mixed", N=60))
    assert "no quadratic form explains the samples" in reason


def test_samples_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = played(GramLeastSquares(), Quadratic(D=5, k=3, N=400))[0]
    monkeypatch.setattr("paramid.words.memory_limits.CHUNK", 20)
    monkeypatch.setattr(gram_least_squares, "BLOCK", 60)
    oracle = oracle_for(GramLeastSquares(), Quadratic(D=5, k=3, N=400))
    *_, claim = GramLeastSquares().identify(oracle, Run.seeded(0))
    assert Quadratic(D=5, k=3).judge(claim, Quadratic(D=5, k=3).draw(0))["gram_error"] < 1e-13
    assert whole["gram_error"] < 1e-13


def test_the_error_under_noise_is_predicted_and_falls_with_the_samples() -> None:
    errors = []
    for n in (400, 40_000):
        family = Quadratic(D=6, k=6, N=n, noise=0.01)
        oracle = oracle_for(GramLeastSquares(), family)
        *_, claim = GramLeastSquares().identify(oracle, Run.seeded(0))
        errors.append(family.judge(claim, family.draw(0))["gram_error"])
        assert claim.stats["predicted_error"] == pytest.approx(errors[-1], rel=0.5)
    assert errors[0] / errors[1] == pytest.approx(10, rel=0.4)


@pytest.mark.parametrize("method", [GramLeastSquares(), GramQueries()])
def test_noise_that_drowns_the_matrix_is_no_answer(method: Method) -> None:
    metrics, reason, _ = played(method, Quadratic(D=6, k=6, N=60, noise=0.3))
    assert metrics["identified"] == 0
    assert "noise leaves the matrix uncertain" in reason


@pytest.mark.parametrize("method", [GramLeastSquares(), GramQueries()])
def test_another_structure_is_noticed(method: Method) -> None:
    family = Quadratic(D=5, k=5, N=60)
    oracle = oracle_for(method, family, teacher=Quadratic(D=5, k=5, activation="softplus").draw(0))
    with pytest.raises(GiveUp, match="no quadratic form"):
        list(method.identify(oracle, Run.seeded(0)))


@pytest.mark.parametrize(
    ("family", "checks", "rows"),
    [
        (Quadratic(D=9, k=4), 0, 45),
        (Quadratic(D=9, k=4), 1, 46),
        (Quadratic(D=9, k=4, instances=3), 0, 45),
        (Shallow(D=9, m=4, activation="square"), 0, 55),
    ],
)
def test_queries_are_as_many_as_numbers(family: Task, checks: int, rows: int) -> None:
    metrics, _, used = played(GramQueries(checks=checks), family)
    assert (metrics["exact"], used) == (1, {"queries": rows})


def test_the_folded_matrix_keeps_its_length_and_its_values() -> None:
    x, q = (
        torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        for shape in ((7, 4), (10, 2))
    )
    matrices = quadratic_forms.symmetric(q, 4)
    assert torch.allclose(matrices.flatten(1).norm(dim=1), q.norm(dim=0))
    assert torch.allclose(torch.einsum("ri,oij,rj->ro", x, matrices, x), quadratic_forms.features(x) @ q)
    assert torch.allclose(quadratic_forms.folded(matrices), q)


def test_what_is_claimed_is_the_matrix_with_its_constant() -> None:
    family = Quadratic(D=3, k=2)
    *_, claim = GramQueries().identify(oracle_for(GramQueries(), family), Run.seeded(0))
    assert isinstance(claim, Gram)
    assert claim.matrix.shape == (4, 4)
    assert float(claim.matrix[-1].abs().max()) == 0


SPEC = Quadratic(D=4, k=3).spec


@pytest.mark.parametrize("method", [GramLeastSquares(), PSD, GramQueries()])
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"activations": ("softplus", "identity")}, "needs one layer of squares"),
        ({"widths": (3, 3), "activations": ("square", "square", "identity")}, "needs one layer of squares"),
        ({"widths": (None,)}, None),
        ({"inputs": 20_000}, "doubles of 8 bytes"),
    ],
)
def test_it_declines_with_a_reason(method: Method, changes: dict[str, object], reason: str | None) -> None:
    spec: Spec = replace(SPEC, **changes)
    said = method.declines(spec)
    assert said is None if reason is None else reason in str(said)


def test_options_without_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="none or psd was wanted"):
        GramLeastSquares(constraint="nuclear")
    with pytest.raises(ValueError, match="positive numbers were wanted"):
        GramLeastSquares(steps=0)
    with pytest.raises(ValueError, match="at least 0 was wanted"):
        GramQueries(checks=-1)


@pytest.mark.parametrize(
    "family", [Quadratic(D=3, k=2, instances=2), Shallow(D=3, m=2, activation="square", outer="free")]
)
def test_second_moments_err_like_the_root_of_the_samples(family: Task) -> None:
    errors = []
    for n in (4_000, 400_000):
        method = GramMoments(N=n)
        oracle = CountingOracle(
            family.draw(0), replace(family.spec, samples=None), access=method.access, seed=0, device=torch.device("cpu")
        )
        claim = next(method.identify(oracle, Run.seeded(0)))
        errors.append(family.judge(claim, family.draw(0))["gram_error"])
        assert claim.stats["predicted_error"] == pytest.approx(errors[-1], rel=2)
    assert 4 < errors[0] / errors[1] < 25


def test_second_moments_give_up_where_samples_are_few() -> None:
    metrics, reason, used = played(GramMoments(), Quadratic(D=4, k=3, N=500))
    assert (metrics["identified"], used) == (0, {"samples": 500})
    assert "500 samples leave the matrix uncertain" in reason


def test_second_moments_notice_another_structure() -> None:
    family = Quadratic(D=2, k=2, N=1_000_000)
    oracle = oracle_for(GramMoments(), family, teacher=Quadratic(D=2, k=2, activation="softplus", b=3.0).draw(0))
    with pytest.raises(GiveUp, match="no quadratic form: residuals are"):
        list(GramMoments().identify(oracle, Run.seeded(0)))
