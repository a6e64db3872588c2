"""What the learners of DenseNets are made of: derivatives, least squares, diagonals, batches, the check at the end."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from paramid import Access, GiveUp, Run, Samples
from paramid.methods.hierarchy import densenet, densenet_check, densenet_fit, joint_diagonalisation, layer_regression
from paramid.methods.refinement import stochastic
from paramid.methods.spans import symmetric
from paramid.oracle.counting import CountingOracle
from paramid.tasks.hierarchy import Hierarchy
from paramid.words.densenet import DenseNet

F64, CPU = torch.float64, torch.device("cpu")
DEEP = Hierarchy(D=5, ks=(3, 2, 2), alphas=(1.0, 0.3, 0.1), truncate=2.5)
TASK = Hierarchy(D=6, ks=(3, 2))


def samples_of(task: Hierarchy, rows: int) -> Samples:
    kinds = frozenset({Access.SAMPLES})
    return CountingOracle(task.draw(0), task.spec, access=kinds, seed=0, device=CPU).sample(rows)


def student(task: Hierarchy = DEEP, *, drawn: bool = True, seed: int = 0) -> DenseNet:
    return densenet.student(task.spec, Run.seeded(seed), drawn=drawn)


@pytest.mark.parametrize("layers", [[2, 3, 4], [3], [2, 4]])
def test_the_jacobian_is_that_of_the_values(layers: list[int]) -> None:
    net, x = student(), DEEP.rows(6, torch.Generator().manual_seed(0))
    theta = densenet.flat(net, layers)
    f, jacobian = densenet.jacobian(net, x, layers)
    wanted = torch.autograd.functional.jacobian(lambda t: densenet.unflat(net, layers, t)(x)[:, 0], theta)
    torch.testing.assert_close(f, net(x)[:, 0])
    torch.testing.assert_close(jacobian, wanted)


def test_sensitivities_of_features_and_heads_are_apart() -> None:
    net, x = student(), DEEP.rows(6, torch.Generator().manual_seed(0))
    heads = [Run.seeded(n).normal(4, k.shape[1]) for n, k in enumerate(net.weights)]

    def value(weights: list[Tensor], heads: list[Tensor]) -> Tensor:
        seen = replace(net, weights=tuple(weights)).layers(x)[0]
        terms = zip(net.alphas, seen, heads, strict=True)
        return torch.stack([a * (h @ w.T).square().sum(1) for a, h, w in terms]).sum()

    free = [t.clone().requires_grad_() for t in (*net.weights, *heads)]
    slopes = torch.autograd.grad(value(free[:3], free[3:]), free, allow_unused=True)
    f, seen, own, below = densenet.sensitivities(net, x, heads)
    assert float(f.sum()) == pytest.approx(float(value(list(net.weights), heads)))
    for n in range(3):
        torch.testing.assert_close(own[n].T @ seen[n], slopes[3 + n])
        if n < 2:  # nothing sees the features of the top
            torch.testing.assert_close(below[n].T @ seen[n], slopes[n])
    assert not below[2].any()


@pytest.mark.parametrize("drawn", [True, False])
def test_mixes_span_every_product(drawn: bool) -> None:
    r = densenet.mix(4, Run.seeded(0), drawn=drawn)
    i, j = torch.triu_indices(4, 4)
    assert torch.linalg.matrix_rank(r[:, i] * r[:, j]) == len(r) == 10
    assert torch.linalg.matrix_rank((r[:, i] * r[:, j])[:9]) == 9


def test_chunks_do_not_change_what_is_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    net, pairs = student(TASK), samples_of(TASK, 300)
    whole = (*densenet_fit.normal_equations(net, pairs, [2, 3]), torch.tensor(densenet.mean_square(net, pairs)))
    monkeypatch.setattr(densenet, "CHUNK", 1000)
    parts = (*densenet_fit.normal_equations(net, pairs, [2, 3]), torch.tensor(densenet.mean_square(net, pairs)))
    for a, b in zip(whole, parts, strict=True):
        torch.testing.assert_close(a, b)


def test_the_fit_converges_ever_faster_to_the_planted_net() -> None:
    truth, pairs = TASK.draw(0), samples_of(TASK, 400)
    near = replace(truth, weights=tuple(k + 1e-2 * Run.seeded(1).normal(*k.shape) for k in truth.weights))
    losses = [densenet_fit.fit(near, pairs, [2, 3], steps=n, enough=0.0)[1] for n in (2, 4, 12)]
    assert losses[1] < 1e-3 * losses[0]  # damping falls fivefold a step
    assert losses[2] < 1e-24


def test_layers_that_are_not_named_stay() -> None:
    net, pairs = student(TASK), samples_of(TASK, 100)
    moved, _ = densenet_fit.fit(net, pairs, [3], steps=3, enough=0.0)
    assert torch.equal(moved.weights[0], net.weights[0])
    assert not torch.equal(moved.weights[1], net.weights[1])


def test_planted_diagonals_are_found_and_others_are_told() -> None:
    turn = torch.linalg.qr(Run.seeded(0).normal(5, 5))[0]
    planted = turn @ torch.diag_embed(Run.seeded(1).normal(3, 5)) @ turn.T
    v, off = joint_diagonalisation.diagonalise(planted)
    torch.testing.assert_close(v.T @ v, torch.eye(5, dtype=F64))
    assert off < 1e-14
    torch.testing.assert_close((v.T @ turn).abs().sort(0).values[:-1], torch.zeros(4, 5, dtype=F64), atol=1e-13, rtol=0)
    nothing = Run.seeded(2).normal(15, 5).view(3, 5, 5)
    assert joint_diagonalisation.diagonalise(nothing + nothing.mT)[1] > 0.1


def test_rotated_nets_are_brought_back_to_their_rows() -> None:
    truth, weights, mixes = DEEP.draw(0), [], []
    products = [densenet.mix(k.shape[0], Run.seeded(0), drawn=True) for k in truth.weights]
    below: dict[int, Tensor] = {}
    for layer, (k, r) in enumerate(zip(truth.weights, products, strict=True), 2):
        u = torch.linalg.qr(Run.seeded(layer).normal(len(k), len(k)))[0]
        parts = truth.parts(layer)
        for j, turn in below.items():
            if j in parts:  # squares of S_j as combinations of squares of R U S_j
                parts[j] = parts[j] @ squares_in(turn, products[j - 2])
        weights.append(u @ torch.cat(list(parts.values()), dim=1))
        mixes.append(r)
        below[layer] = u
    net = DenseNet(tuple(weights), tuple(mixes), truth.links, truth.alphas)
    x = DEEP.rows(20, torch.Generator().manual_seed(0))
    torch.testing.assert_close(net(x), truth(x))
    found, off = joint_diagonalisation.plain(net)
    torch.testing.assert_close(found(x), truth(x))
    assert off < 1e-12
    assert DEEP.judge(found, truth)["exact"] == 1


def squares_in(turn: Tensor, mix: Tensor) -> Tensor:
    """C with (s)² = C (mix turn s)² for every s."""
    i, j = torch.triu_indices(len(turn), len(turn))
    r = mix @ turn
    wanted = torch.eye(len(turn), dtype=F64)
    return torch.linalg.solve((r[:, i] * r[:, j]).T, (wanted[:, i] * wanted[:, j]).T).T


def test_heads_are_found_and_roots_give_the_features_back() -> None:
    truth, pairs = TASK.draw(0), samples_of(TASK, 2000)
    net = replace(student(TASK), weights=(truth.weights[0], student(TASK).weights[1]))
    forms = layer_regression.refit(net, pairs, [2, 3])
    whole = layer_regression.headed(net, forms)
    assert densenet.mean_square(whole, pairs) < 1e-12
    torch.testing.assert_close(forms[2], truth.weights[0].T @ truth.weights[0], atol=1e-6, rtol=0)
    k = layer_regression.root(forms[3], net.blocks(3)[-1], 2)
    metrics = TASK.judge(replace(net, weights=(truth.weights[0], k)), truth)
    assert metrics["feature_error_3"] < 1e-9
    torch.testing.assert_close(
        layer_regression.aligned(layer_regression.root(forms[2], 6, 3), truth.weights[0]), truth.weights[0],
        atol=1e-6, rtol=0,
    )  # fmt: skip


def test_layers_that_are_fixed_are_taken_off_first() -> None:
    truth, pairs = TASK.draw(0), samples_of(TASK, 2000)
    forms = {2: truth.weights[0].T @ truth.weights[0]}
    net = replace(student(TASK), weights=(truth.weights[0], student(TASK).weights[1]))
    forms |= layer_regression.refit(net, pairs, [3], forms)
    assert densenet.mean_square(layer_regression.headed(net, forms), pairs) < 1e-12


def test_batches_go_through_all_samples_in_another_order_each_time() -> None:
    pairs = samples_of(TASK, 50)
    source = stochastic.batches(pairs, 20, Run.seeded(0))
    first, second = ([next(source) for _ in range(3)] for _ in range(2))
    a, b = (torch.cat([y for _, y in epoch]) for epoch in (first, second))
    assert [len(y) for _, y in first] == [20, 20, 10]
    assert not torch.equal(a, b)
    assert torch.equal(a.sort().values, b.sort().values)
    torch.testing.assert_close(TASK.draw(0)(first[0][0])[:, 0], first[0][1])


def test_gradients_are_cut_together_and_rates_fall() -> None:
    long = [torch.full((2,), 30.0, dtype=F64), torch.full((1,), 40.0, dtype=F64)]
    cut = torch.cat(stochastic.cut(long))
    assert float(cut.norm()) == pytest.approx(10)
    assert torch.equal(torch.cat(stochastic.cut([g / 100 for g in long])), torch.cat(long) / 100)
    assert stochastic.rate(0, 1000) == pytest.approx(0.01)
    assert stochastic.rate(500, 1000) == pytest.approx(0.5)
    assert stochastic.rate(999, 1000) < 1e-5


@pytest.mark.parametrize(("size", "said"), [(0.0, None), (1e-1, "misses samples")])
def test_only_what_explains_fresh_samples_is_believed(size: float, said: str | None) -> None:
    truth, pairs, fresh = TASK.draw(0), samples_of(TASK, 200), samples_of(TASK, 50)
    off = replace(truth, weights=tuple(k + size for k in truth.weights))
    if said is None:
        densenet_check.checked(off, pairs, fresh, TASK.spec, 40)
    else:
        with pytest.raises(GiveUp, match=said):
            densenet_check.checked(off, pairs, fresh, TASK.spec, 40)


def test_a_layer_under_the_noise_is_not_believed() -> None:
    noisy = Hierarchy(D=6, ks=(3, 2), noise=0.5)
    with pytest.raises(GiveUp, match="hides a layer"):
        densenet_check.checked(noisy.draw(0), samples_of(noisy, 400), samples_of(noisy, 50), noisy.spec, 40)


def test_features_follow_from_what_no_other_layer_has() -> None:
    run = Run.seeded(0)
    k, h = run.normal(2, 9), run.normal(500, 4)
    made = layer_regression.crossed(k.T @ k, h, 2)
    torch.testing.assert_close(made.T @ made, k.T @ k, atol=1e-6, rtol=1e-6)


def test_products_belong_to_the_lowest_layer_that_has_them() -> None:
    spec = Hierarchy(D=3, ks=(2, 2, 1), alphas=(1.0, 0.2, 0.04), truncate=2.5).spec
    net = densenet.student(spec, Run.seeded(0), drawn=True)
    assert bool(layer_regression.owned(net, 3, (2, 3, 4)).all())
    mask = symmetric.unpack(layer_regression.owned(net, 4, (2, 3, 4)).double(), 6) > 0
    assert not bool(mask[:3, :3].any())
    assert bool(mask[3:].all())
    assert bool(layer_regression.owned(net, 4, (4,)).all())
