"""Each stage of `far-lines` on planted answers, what it must not find where nothing was planted, and the whole."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

import paramid
from paramid import Claim, GiveUp, Network, Run, Spec, activation
from paramid.contracts import registry
from paramid.judging import claim_scores
from paramid.judging.aligned_networks import in_words_of
from paramid.methods.far_field import choice, crossings, directions, hidden_signs, lines, pins, profiles, values
from paramid.methods.far_field.choice import AFFINE
from paramid.methods.far_field.crossings import Crowded, Limits, Line
from paramid.methods.far_field.hidden_signs import Untold
from paramid.methods.far_field.neurons import Neurons, merged
from paramid.methods.far_field.outlook import Outlook, outlook, rounding
from paramid.methods.far_field.scanning import scanned
from paramid.methods.far_field.walking import walked
from paramid.methods.far_lines import FarLines
from paramid.oracle.counting import CountingOracle
from paramid.words.spec import UNKNOWN

F64 = torch.float64
FAINT = Limits(2e-6, 1e-4, 1e-9)
KINKED = ("elu", "relu", "leaky-relu")


def planted(name: str, d: int = 6, m: int = 5, outputs: int = 1, seed: int = 0) -> Network:
    """A network with free outer weights and norms."""
    run = Run.seeded(seed)
    w, a = 1.5 * run.sphere(m, d).T, run.normal(m, outputs)
    return Network((w, a + 0.3 * a.sign()), (run.normal(1, m)[0], run.normal(1, outputs)[0]), (name, "identity"))


def spec_of(network: Network, **changes: object) -> Spec:
    told = Spec(inputs=network.inputs, widths=network.widths, outputs=network.outputs, activations=network.activations)
    return replace(told, **changes)


def noisy(network: Network, sigma: float) -> Callable[[Tensor], Tensor]:
    source = torch.Generator().manual_seed(5)
    return lambda x: network(x) + sigma * torch.randn(len(x), network.outputs, generator=source, dtype=F64)


def oracle_for(f: Callable[[Tensor], Tensor], spec: Spec) -> CountingOracle:
    return CountingOracle(f, spec, access=FarLines.access, seed=0, device=torch.device("cpu"))


def found(f: Callable[[Tensor], Tensor], spec: Spec, seed: int = 0, **options: float) -> list[Claim]:
    return list(FarLines(**options).identify(oracle_for(f, spec), Run.seeded(seed)))


def error(truth: Network, claim: Claim) -> float:
    """The largest error of a parameter."""
    assert isinstance(claim, Network)
    scored = claim_scores.score(truth, in_words_of(truth, claim))
    assert scored["identified"] == 1
    return 2.0 ** -scored["bits"]


def single(name: str, outputs: int = 1, d: int = 4) -> tuple[Network, Line]:
    """One neuron, and a line at distance 1000 that crosses it."""
    return planted(name, d=d, m=1, outputs=outputs), crossings.random_line(d, 1e3, Run.seeded(3))


def where(network: Network, line: Line) -> Tensor:
    """The t at which a line crosses hyperplanes."""
    w, b = network.weights[0], network.biases[0]
    return -(line.origin @ w + b) / (line.direction @ w)


# --- 1: outlook ------------------------------------------------------------------------------------------------------


def test_rounding_is_measured_as_noise_is() -> None:
    network, run = planted("tanh"), Run.seeded(1)
    x, u = run.normal(400, 6), run.sphere(400, 6)
    assert float(rounding(noisy(network, 1e-5), x, u).square().mean().sqrt()) == pytest.approx(1e-5, rel=0.1)
    assert float(rounding(network, x, u).max()) < 1e-14


def test_lines_go_as_far_as_values_are_finite() -> None:
    network = planted("relu")

    def odds(x: Tensor) -> Tensor:
        p = network(x).exp()
        return p.log()

    spec, run = spec_of(network), Run.seeded(0)
    assert outlook(network, spec, run, None).radius == 3e4
    assert outlook(odds, spec, run, None).radius < 1e3
    with pytest.raises(GiveUp, match="constant"):
        outlook(lambda x: x[:, :1] * 0, spec, run, None)


# --- 2: crossings ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", AFFINE)
def test_a_line_shows_where_it_crosses_hyperplanes(name: str) -> None:
    network = planted(name)
    line = crossings.random_line(6, 1e4, Run.seeded(1))
    groups = crossings.crossings(network, line, 500, FAINT)
    t = where(network, line)
    inside = (t[:, None] > groups[:, 0] - 40) & (t[:, None] < groups[:, 1] + 40)
    assert bool(inside.any(1).all())
    assert bool(inside.any(0).all())


def test_an_affine_function_has_no_crossings_and_a_sine_nothing_else() -> None:
    line, w = crossings.random_line(3, 1e4, Run.seeded(0)), Run.seeded(1).normal(3, 1)
    assert crossings.crossings(lambda x: x @ w, line, 100, FAINT).shape == (0, 2)
    with pytest.raises(Crowded, match="less than half"):
        crossings.crossings(lambda x: torch.sin(x @ w), line, 100, FAINT)


# --- 3: directions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", AFFINE)
def test_the_direction_of_a_crossing_is_the_neurons(name: str) -> None:
    network, line = single(name)
    t = where(network, line)
    around = torch.stack([t - 15, t + 15], 1)
    seen = directions.switches(network, line, around, h=0.01, noise=0.0, unit=2.0**-53, smooth=name not in KINKED)
    w = network.weights[0][:, 0] / network.weights[0].norm()
    assert float((seen.u[0] - (seen.u[0] @ w).sign() * w).norm()) < 1e-5


@pytest.mark.parametrize("outputs", [1, 3])
def test_two_neurons_that_switch_at_once_are_not_one(outputs: int) -> None:
    network, line = planted("tanh", d=4, m=2, outputs=outputs), crossings.random_line(4, 0.1, Run.seeded(0))
    line = replace(line, radius=1e3)
    around = torch.tensor([[-8.0, 8.0]], dtype=F64)
    assert not len(directions.switches(network, line, around, h=0.01, noise=0.0, unit=2.0**-53).x)


# --- 4: profiles -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", AFFINE)
def test_a_profile_tells_length_shift_and_outer_weights(name: str) -> None:
    (network, _), g = single(name, outputs=2), activation(name)
    w, b, a = network.weights[0][:, 0], network.biases[0][0], network.weights[1][0]
    u, x = w / w.norm(), torch.zeros(1, 4, dtype=F64)
    data = profiles.windows(network, x, u[None], torch.tensor([3.0], dtype=F64), 0.0)
    told = profiles.profiles(data, g)
    assert float(told.left) < 1e-9 * float(told.bend)
    if g.degree is not None:
        assert float(told.shift / told.length) == pytest.approx(float(b / w.norm()), abs=1e-8)
        return
    assert float(told.length) == pytest.approx(float(w.norm()), rel=1e-8)
    side = 1 if g.tilt is None else float((told.shift * b).sign())
    assert float(told.shift) == pytest.approx(side * float(b), abs=1e-7)
    assert torch.allclose(told.a[0], a, rtol=1e-7)


@pytest.mark.parametrize("name", ["tanh", "gelu", "relu"])
def test_the_profile_of_two_neurons_is_none_of_one(name: str) -> None:
    network = planted(name, d=4, m=2)
    u = Run.seeded(0).sphere(1, 4)
    data = profiles.windows(network, torch.zeros(1, 4, dtype=F64), u, torch.tensor([8.0], dtype=F64), 0.0)
    told = profiles.profiles(data, activation(name))
    assert float(told.left) > 1e-3 * float(told.bend)


# --- 5: lines --------------------------------------------------------------------------------------------------------


def neurons_of(network: Network) -> Neurons:
    w, b, a = network.weights[0].T, network.biases[0], network.weights[1]
    feet = -(b / w.square().sum(1))[:, None] * w
    return Neurons(w, b, a, feet, torch.zeros_like(b), torch.ones_like(b), torch.zeros_like(b))


def test_a_neuron_is_expected_where_it_crosses_and_missed_where_it_does_not() -> None:
    network = planted("tanh")
    known = neurons_of(network)
    known = replace(known, b=torch.cat([known.b[:4], known.b[4:] + 500]))  # the last one is none
    line = crossings.random_line(6, 1e4, Run.seeded(1))
    groups = crossings.crossings(network, line, 500, FAINT)
    known, news = lines.expected(known, line, groups, torch.zeros_like(known.b), FAINT)
    assert known.seen.tolist() == [2, 2, 2, 2, 1]
    assert known.missed.tolist() == [0, 0, 0, 0, 1]
    assert len(news) == 1
    assert int(known.best(4).missed.sum()) == 0


def test_two_sightings_of_one_direction_are_one_neuron() -> None:
    known = neurons_of(planted("tanh"))
    again = replace(known, w=-known.w, left=known.left + 1e-9)
    both = merged(known, again, 1e-3)
    assert len(both) == 5
    assert both.seen.tolist() == [2.0] * 5
    assert torch.equal(both.w.sort(0).values, known.w.sort(0).values)


# --- 6: hidden signs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("name", ["softplus", "gelu", "relu", "leaky-relu"])
def test_hidden_signs_are_told_by_the_linear_part(name: str, outputs: int) -> None:
    network, run = planted(name, m=9, outputs=outputs), Run.seeded(2)
    turned = torch.tensor([1.0, -1, -1, 1, 1, -1, 1, -1, 1], dtype=F64)
    (w, a), (b, c) = network.weights, network.biases
    rough = network.with_layers((w * turned + 1e-5 * run.normal(*w.shape), a), (b * turned, c))
    x = 1.5 * run.normal(500, 6)
    upright = hidden_signs.upright(rough, x, network(x), 0.0, run)
    assert float((upright(x) - network(x)).abs().max()) < 1e-11
    with pytest.raises(GiveUp, match="without its linear part"):
        hidden_signs.upright(rough, x, network(x) + 1e-6 * x.square().sum(1, keepdim=True), 0.0, run)


def test_more_signs_than_the_linear_part_can_tell_are_given_up() -> None:
    network, run = planted("relu", d=3, m=60), Run.seeded(2)
    x = 2 * run.normal(2000, 3)
    with pytest.raises(Untold, match="60 signs"):
        hidden_signs.upright(network, x, network(x), 0.0, run)


# --- 7: the end ------------------------------------------------------------------------------------------------------


def test_neurons_that_do_nothing_around_0_have_points_of_their_own() -> None:
    network = planted("relu")
    far = replace(neurons_of(network), b=torch.tensor([0.0, 30, 0, 0, 0], dtype=F64))
    at = values.centres(far, 1.5, 100.0, 10)
    assert bool((at[::2] == 0).all())
    assert torch.allclose(at[1::2] @ far.w[1] + 30, torch.zeros(5, dtype=F64), atol=1e-12)


@pytest.mark.parametrize("name", ["tanh", "logistic", "relu"])
def test_pins_are_met_by_the_same_function(name: str) -> None:
    w, x = Run.seeded(0).sphere(4, 5).T, Run.seeded(1).normal(20, 5)
    truth = Network.shallow(w, Run.seeded(2).normal(1, 4)[0], name)
    if name == "relu":
        other = pins.scaled(truth, torch.tensor([1.0, 2, 3, 4], dtype=F64))
    else:
        other = paramid.words.network.flip(truth, 0, torch.tensor([1.0, -1, 1, -1], dtype=F64))
    spec = spec_of(truth, outer="ones", norms="unit", output_bias="zero")
    assert torch.allclose(pins.pinned(other, spec)(x), truth(x), atol=1e-14)
    assert bool((pins.pinned(other, spec).weights[1] == 1).all())


# --- which activation ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", AFFINE)
def test_the_activation_is_told_by_one_line(name: str) -> None:
    network = planted(name, d=8, m=8, seed=1)
    claim = found(network, spec_of(network, activations=(UNKNOWN, "identity"), widths=(None,)))[-1]
    assert error(network, claim) < 1e-10
    assert claim.activations[0] == ("tanh" if name == "logistic" else name)  # type: ignore[attr-defined]  # a Network


def test_no_activation_is_told_where_none_explains_the_crossings() -> None:
    w, run = Run.seeded(0).normal(5, 4), Run.seeded(1)

    def clipped(x: Tensor) -> Tensor:
        return (x @ w).clamp(-1, 1).sum(1, keepdim=True)

    view = Outlook(1e4, 3.0, 1e-16, 1e-16)
    line = crossings.random_line(5, 1e4, run)
    with pytest.raises(GiveUp, match="no activation explains"):
        choice.family(clipped, line, crossings.crossings(clipped, line, 500, FAINT), view, 0.01)


# --- noise -----------------------------------------------------------------------------------------------------------


def test_a_hyperplane_is_followed_to_where_it_is_near_0() -> None:
    network, run = planted("tanh", d=8, m=6), Run.seeded(4)
    truth = neurons_of(network)
    along, off = run.sphere(6, 8), truth.w + 1e-3 * run.normal(6, 8)
    flat = along - ((truth.w * along).sum(1) / truth.w.square().sum(1))[:, None] * truth.w
    at = truth.at + 1e3 * flat
    rough = replace(truth, w=off, at=at, b=-(off * at).sum(1))
    told = walked(noisy(network, 1e-6), rough, activation("tanh"))
    assert float((rough.b - truth.b).abs().max()) > 1
    side = (told.w * truth.w).sum(1).sign()
    assert float((side * told.b - truth.b).abs().median()) < 0.05


def test_a_shift_that_went_astray_is_found_again() -> None:
    network, run = planted("tanh", d=6, m=6), Run.seeded(4)
    truth = neurons_of(network)
    x = 1.5 * run.normal(400, 6)
    stray = replace(truth, b=truth.b + torch.tensor([0.0, 3, 0, 0, -2.5, 0], dtype=F64))
    told = scanned(stray, x, network(x), activation("tanh"))
    assert float((told.b - truth.b).abs().max()) < 0.2


# --- the whole -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "d", "m", "outputs"),
    [
        *((name, 8, 12, 1) for name in AFFINE),
        ("tanh", 6, 40, 1),
        ("logistic", 5, 12, 4),
        ("gelu", 6, 30, 6),
        ("relu", 10, 30, 1),
        ("tanh", 2, 1, 1),
    ],
)
def test_every_parameter_is_found_to_rounding(name: str, d: int, m: int, outputs: int) -> None:
    network = planted(name, d, m, outputs, seed=2)
    claims = found(network, spec_of(network))
    assert [type(c).__name__ for c in claims][-3:] == ["Directions", "Network", "Network"]
    assert error(network, claims[-1]) < 1e-10
    assert claims[-1].stats["error_bound"] < 1e-8


@pytest.mark.parametrize("name", ["tanh", "logistic", "erf"])
def test_noise_and_float32_leave_what_their_bound_says(name: str) -> None:
    network = planted(name, 8, 8, seed=3)
    single = network.to("cpu", torch.float32)
    claim = found(lambda x: single(x.to(torch.float32)).to(F64), spec_of(network, precision="float32"))[-1]
    assert error(single.to("cpu", F64), claim) < 5 * claim.stats["error_bound"] < 1e-4
    claim = found(noisy(network, 1e-6), spec_of(network, noise=1e-6))[-1]
    assert error(network, claim) < 5 * claim.stats["error_bound"] < 1e-3


@pytest.mark.parametrize("text", ["shallow:D=6,m=20", "shallow:D=6,m=3,activation=logistic", "biased-relu:D=5,m=4"])
def test_tasks_of_the_registry_are_identified_with_their_pins(text: str) -> None:
    record = paramid.run("far-lines", text, seed=3, throw=True)
    assert record.metrics["identified"] == 1
    assert record.metrics["error"] < 1e-12


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"activations": ("gelu", "identity")}, "lines show"),
        ({"widths": (4,)}, "residual stays|5 neurons, 4 were told"),
        ({"widths": (6,)}, "5 neurons of 6"),
        ({"outer": "ones"}, "residual stays"),
    ],
)
def test_what_was_told_wrong_is_given_up(changes: dict[str, object], said: str) -> None:
    network = planted("tanh")
    with pytest.raises(GiveUp, match=said):
        found(network, spec_of(network, **changes))


def test_a_sum_of_sines_and_a_deep_network_are_given_up() -> None:
    network = planted("sine")
    with pytest.raises(GiveUp, match="less than half"):
        found(network, spec_of(network, activations=(UNKNOWN, "identity")))
    deep = registry.task("pyramid:D=8,widths=6-4-3").draw(0)
    with pytest.raises(GiveUp):
        found(deep, Spec(inputs=8, widths=(6,), outputs=3, activations=("tanh", "identity")))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"activations": ("sine", "identity")}, "affine far out"),
        ({"activations": ("gelu", "identity"), "precision": "float32"}, "float32"),
        ({"noise": 1e-2}, "noise 0.01"),
        ({"widths": (3, 3), "activations": ("tanh", "tanh", "identity")}, "one hidden layer"),
        ({"inputs": 1}, "two inputs"),
    ],
)
def test_it_says_no_before_working(changes: dict[str, object], said: str) -> None:
    assert said in str(FarLines().declines(spec_of(planted("tanh"), **changes)))
    assert FarLines().declines(spec_of(planted("tanh"))) is None


def test_the_same_seed_says_the_same_and_nothing_falls_on_the_default_device() -> None:
    network = planted("gelu")
    one = found(network, spec_of(network))
    torch.set_default_device("meta")
    try:
        two = found(network, spec_of(network))
    finally:
        torch.set_default_device(None)
    for a, b in zip(one, two, strict=True):
        assert all(torch.equal(x, y) for x, y in zip(a.arrays().values(), b.arrays().values(), strict=True))


@pytest.mark.parametrize("off", [0.0, 1e-6])
def test_fresh_values_are_asked_before_a_network_is_claimed(off: float) -> None:
    truth, run = planted("tanh"), Run.seeded(1)
    x, fresh = run.normal(200, 6), run.normal(values.FRESH, 6)

    def f(t: Tensor) -> Tensor:
        return truth(t) + off * torch.cos(30 * t[:, :1])

    pairs = values.Pairs(x, truth(x), fresh, f(fresh), 0.0)
    if not off:
        assert error(truth, values.settled(f, truth, spec_of(truth), pairs, run)) < 1e-12
        return
    with pytest.raises(GiveUp, match="the residual stays"):
        values.settled(f, truth, spec_of(truth), pairs, run)


def test_fresh_values_are_the_last_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "MORE", 0)
    truth, run = planted("tanh"), Run.seeded(1)
    pairs = values.Pairs.of(truth, run.normal(300, 6), 0.0, uneven=False)
    with pytest.raises(GiveUp, match="fresh values leave"):
        values.settled(truth, truth, spec_of(truth), replace(pairs, check=pairs.check + 1e-6), run)


def test_points_that_say_too_little_are_joined_by_some_that_say_more() -> None:
    run, asked = Run.seeded(0), []
    shifts = run.normal(1, 10)[0], run.normal(1, 9)[0]
    truth = Network((run.normal(40, 10) / 3, run.normal(10, 9)), shifts, ("tanh", "identity"))

    def f(t: Tensor) -> Tensor:
        asked.append(len(t))
        return truth(t)

    rough = truth.with_layers([truth.weights[0] + 1e-5 * run.normal(40, 10), truth.weights[1]], truth.biases)
    spec = spec_of(truth)
    pairs = values.Pairs.of(f, 6 * run.normal(160, 40), 0.0, uneven=False)  # most neurons are saturated at most of them
    first, _ = values.fitted(rough, spec, pairs)
    found = values.settled(f, rough, spec, pairs, run)
    assert error(truth, found) < 1e-9 < error(truth, first.network)
    assert 160 < sum(asked) <= 160 * 8
