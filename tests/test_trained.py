"""Trained networks: what training leaves is the seed's, is seen as it was trained, and is judged by what is felt."""

import math
from dataclasses import replace

import pytest
import torch

import paramid
from paramid import Directions, Network, Run, task
from paramid.judging.output_errors import score_outputs
from paramid.tasks.plain_networks import Seen, differences, log_odds, plain
from paramid.tasks.training import by_sklearn, by_torch, data
from paramid.tasks.training.adam import Adam
from paramid.words.naming import UsageError
from paramid.words.network import flip, permute

F64 = torch.float64
QUICK = "trained:widths=4,steps=200"
X = Run.seeded(0).normal(300, 10)


def loss(network: Network) -> float:
    return float((network(data.inputs("friedman")) - data.numbers("friedman", 1, raw=False)).square().mean())


def test_training_lowers_the_loss() -> None:
    before, after = (loss(task(f"trained:steps={steps}").draw(1)) for steps in (0, 500))
    assert after < 0.3 * before


@pytest.mark.parametrize("dtype", [torch.float32, F64])
def test_a_step_is_that_of_torch_to_the_last_bit(dtype: torch.dtype) -> None:
    mine, theirs = ([p.to(dtype).clone().requires_grad_() for p in (X[:5, :3], X[5])] for _ in range(2))
    ours, torchs = Adam(mine, 0.03), torch.optim.Adam(theirs, lr=0.03)
    for _ in range(20):
        ours.descend((mine[0].tanh().square().sum() + mine[1].sin().sum()) / 7)
        torchs.zero_grad()
        ((theirs[0].tanh().square().sum() + theirs[1].sin().sum()) / 7).backward()
        torchs.step()
    assert all(torch.equal(a, b) for a, b in zip(mine, theirs, strict=True))
    assert not torch.equal(mine[0], X[:5, :3].to(dtype))


def test_a_start_has_the_law_of_torch() -> None:
    start = task("trained:widths=400,steps=0").draw(0)
    assert 0.95 < float(start.weights[0].abs().max()) * math.sqrt(10) <= 1
    assert 0.95 < float(start.biases[0].abs().max()) * math.sqrt(10) <= 1
    assert 0.95 < float(start.weights[1].abs().max()) * 20 <= 1


@pytest.mark.parametrize("options", ["steps=200", "by=sklearn,activation=logistic"])
def test_the_seed_decides_and_nobody_else_is_disturbed(options: str) -> None:
    torch.manual_seed(3)
    state = torch.random.get_rng_state()
    first, other = (task(f"trained:widths=3,{options}").draw(seed) for seed in (5, 6))
    paramid.tasks.trained.trained.cache_clear()
    again = task(f"trained:widths=3,{options}").draw(5)
    assert first is not again
    assert torch.equal(first.weights[0], again.weights[0])
    assert not torch.equal(first.weights[0], other.weights[0])
    assert torch.equal(torch.random.get_rng_state(), state)


def test_sklearn_computes_what_its_teacher_does() -> None:
    y = data.numbers("diabetes", 1, raw=False)
    network = by_sklearn.fit(data.inputs("diabetes"), y, (5,), "tanh", F64, 7)
    assert float((network(data.inputs("diabetes")) - y).square().mean()) < 0.6
    assert network.outputs == 1
    assert task("trained:data=diabetes,widths=5,by=sklearn").draw(0).weights[0].shape == (10, 5)


@pytest.mark.parametrize("name", data.KINDS)
def test_data_are_what_is_known_of_them(name: str) -> None:
    kind, x = data.KINDS[name], data.inputs(name)
    assert x.shape[1] == kind.inputs
    assert float(x.mean(dim=0).abs().max()) < 1e-12
    sizes = x.std(dim=0, correction=0)
    assert bool(((sizes - 1).abs() < 1e-12).logical_or(sizes == 0).all())
    labels = data.classes(name)
    assert sorted(set(labels.tolist())) == list(range(kind.classes))


def test_targets_are_scaled_or_raw() -> None:
    raw, scaled = (data.numbers("friedman", 2, raw=raw) for raw in (True, False))
    assert float(scaled[:, 0].std(correction=0)) == pytest.approx(1)
    assert float(raw[:, 0].mean()) > 5
    assert torch.equal(raw[:, 1], scaled[:, 1])


@pytest.mark.parametrize("options", ["", ",data=cancer", ",data=cancer,by=sklearn", ",data=wine,by=sklearn"])
def test_classifiers_are_seen_as_log_odds(options: str) -> None:
    family = task(f"trained:widths=3,targets=classes,steps=200{options}")
    teacher, spec = family.draw(0), family.spec
    assert spec.link == "log-odds"
    x = Run.seeded(1).normal(200, spec.inputs)
    gap = (teacher(x) - plain(teacher)(x)).abs()
    assert teacher(x).shape == (200, spec.outputs)
    assert 0 < float(gap.max()) < 1e-9  # the rounding of probabilities, and nothing but it


def test_log_odds_are_those_of_the_classes() -> None:
    z = Run.seeded(2).normal(50, 3)
    p = z.softmax(dim=1)
    shown = log_odds(z[:, :2] - z[:, 2:])
    assert torch.allclose(shown, (p[:, :2] / p[:, 2:]).log(), atol=1e-13)
    two = log_odds(z[:, 1:2] - z[:, :1])
    q = z[:, :2].softmax(dim=1)
    assert torch.allclose(two[:, 0], (q[:, 1] / q[:, 0]).log(), atol=1e-13)
    assert bool(log_odds(torch.tensor([[800.0, 0.0], [-800.0, 800.0]], dtype=F64)).isfinite().all())


def test_differences_of_logits_are_the_log_odds() -> None:
    network = by_torch.start((10, 4, 3), "tanh", F64, Run.seeded(3).generator)
    z = network(X)
    assert torch.allclose(differences(network)(X), z[:, :2] - z[:, 2:], atol=1e-14)


def test_a_network_of_float32_is_one() -> None:
    family = task(f"{QUICK},dtype=float32")
    teacher, y = family.draw(0), family.draw(0)(X)
    assert family.spec.precision == "float32"
    assert y.dtype == F64
    assert torch.equal(y.float().double(), y)
    assert all(torch.equal(v.float().double(), v) for v in teacher.arrays().values())
    gap = float((y - plain(teacher)(X)).abs().max())
    assert 0 < gap < 1e-5
    assert float((task(QUICK).draw(0)(X) - plain(task(QUICK).draw(0))(X)).abs().max()) == 0


def test_the_judge_is_blind_to_what_cannot_be_seen() -> None:
    family = task(f"{QUICK},outputs=2")
    teacher = family.draw(2)
    order = torch.tensor([2, 0, 3, 1])
    other = flip(permute(plain(teacher), 0, order), 0, torch.tensor([1.0, -1, 1, -1], dtype=F64))
    assert family.judge(other, teacher)["exact"] == 1
    assert family.judge(family.truth(teacher, Directions), teacher)["error"] < 1e-15
    far = other.with_layers(other.weights, (other.biases[0] + 0.2, other.biases[1]))
    assert family.judge(far, teacher)["identified"] == 0


@pytest.mark.parametrize("name", ["relu", "leaky-relu"])
def test_what_is_not_felt_is_not_scored(name: str) -> None:
    family = task(f"{QUICK},activation={name}")
    teacher = family.draw(0)
    w, b = plain(teacher).weights, plain(teacher).biases
    asleep = Seen((w[0].clone(), *w[1:]), (b[0].index_fill(0, torch.tensor([1]), -1e3), b[1]), teacher.activations)
    metrics = family.judge(plain(asleep), asleep)
    assert metrics["undetermined"] > 0
    assert (metrics["identified"], metrics["exact"], metrics["function_exact"]) == (1, 1, 1)
    wrong = plain(asleep).with_layers(asleep.weights, (asleep.biases[0], asleep.biases[1] + 1))
    assert family.judge(wrong, asleep)["identified"] == 0


def test_float32_of_relus_is_judged_by_what_it_can_show() -> None:
    family = task(f"{QUICK},activation=relu,dtype=float32")
    teacher = family.draw(0)
    near = plain(teacher).with_layers([w * (1 + 1e-6) for w in teacher.weights], teacher.biases)
    assert 1e-8 < score_outputs(teacher, near, X.split(100))["output_error_relative"] < 1e-4
    assert family.judge(near, teacher)["function_exact"] == 1


def test_what_is_not_told_is_not_in_the_spec() -> None:
    spec = task(f"{QUICK},known=false,known_activation=false").spec
    assert spec.widths == (None,)
    assert spec.activations == ("unknown", "identity")


@pytest.mark.parametrize(("name", "same"), [("tanh", 1.0), ("relu", 0.0)])
def test_where_it_is_not_told_another_family_is_judged_too(name: str, same: float) -> None:
    family = task(f"{QUICK},activation={name},known_activation=false")
    teacher = family.draw(0)
    claim = replace(plain(teacher), activations=("leaky-relu" if name == "relu" else "logistic", "identity"))
    halved = claim.with_layers((claim.weights[0] * 2, claim.weights[1] * 2), (claim.biases[0] * 2, claim.biases[1]))
    lifted = halved.with_layers(halved.weights, (halved.biases[0], halved.biases[1] - claim.weights[1].sum(0)))
    assert family.judge(lifted, teacher)["exact"] == same


REFUSED = [
    ("by=sklearn,activation=erf", "activation is 'erf'; scikit-learn has tanh, logistic, relu"),
    ("activation=square", "activation is 'square'; one that is no power was wanted"),
    ("data=iris", "data is 'iris'; friedman or diabetes or wine or cancer or digits was wanted"),
    ("data=digits,targets=classes,outputs=10", "outputs are 10; 10 classes have 9 log-odds"),
    ("outputs=11", "friedman has 10 at most"),
    ("widths=0", "one hidden layer and more"),
    ("steps=1e6", "at most 100000 was wanted"),
    ("dtype=float16", "float64 or float32 was wanted"),
]


@pytest.mark.parametrize(("options", "said"), REFUSED)
def test_what_cannot_be_is_refused(options: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        task(f"trained:{options}")


@pytest.mark.parametrize("options", ["data=diabetes", "by=sklearn"])
def test_without_sklearn_a_line_says_what_to_install(options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'paramid\[data\]'"):
        task(f"trained:{options}")
    assert task(QUICK).draw(0).inputs == 10


def test_a_cell_behind_the_wall_finds_what_was_trained() -> None:
    record = paramid.run("sphere-lm", "trained:widths=6,steps=500", seed=4)
    assert (record.status.key, record.metrics["exact"]) == ("finished", 1)
