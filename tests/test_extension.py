"""From a network on a few inputs to all of them, exactly; and not from a wrong one."""

import pytest
import torch

from paramid import Access, GiveUp, Network, Run, task
from paramid.methods.refinement import extension
from paramid.methods.spans import few_rows
from paramid.oracle.counting import CountingOracle


def planted(name: str, d: int) -> tuple[Network, CountingOracle, torch.Tensor, Network]:
    family, run = task(name), Run.seeded(0)
    teacher = family.draw(0)
    assert isinstance(teacher, Network)
    oracle = CountingOracle(
        teacher, family.spec, access=frozenset({Access.QUERIES}), seed=0, device=torch.device("cpu")
    )
    frame = torch.linalg.qr(run.normal(family.spec.inputs, d))[0].T
    inside = Network.shallow(frame @ teacher.weights[0], teacher.biases[0], family.spec.activation)
    return teacher, oracle, frame, inside


@pytest.mark.parametrize("name", ["tanh", "logistic", "erf"])
@pytest.mark.parametrize(("d", "m"), [(1, 1), (5, 8), (8, 40), (9, 60)])
def test_the_other_inputs_are_found_to_rounding(name: str, d: int, m: int) -> None:
    teacher, oracle, frame, inside = planted(f"shallow:D=10,m={m},activation={name}", d)
    found = extension.extended(oracle, inside, frame, Run.seeded(1))
    torch.testing.assert_close(found.weights[0], teacher.weights[0], rtol=0, atol=1e-9)
    assert oracle.usage.queries <= (10 - d) * (1.1 * m + 6)
    assert torch.equal(found.biases[0], teacher.biases[0])


@pytest.mark.parametrize(("shorter", "found"), [(extension.SHORTER, True), ((), False)])
def test_where_long_steps_lead_nowhere_short_ones_lead_the_way(
    shorter: tuple[float, ...], found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extension, "STEP", 3.0)
    monkeypatch.setattr(extension, "SHORTER", shorter)
    teacher, oracle, frame, inside = planted("shallow:D=6,m=30", 5)
    off = extension.extended(oracle, inside, frame, Run.seeded(1)).weights[0] - teacher.weights[0]
    assert bool(off.abs().max() < 1e-8) == found


def test_the_complement_is_orthonormal() -> None:
    frame = torch.linalg.qr(Run.seeded(0).normal(7, 3))[0].T
    whole = torch.cat([frame, extension.complement(frame, Run.seeded(1))])
    torch.testing.assert_close(whole @ whole.T, torch.eye(7, dtype=whole.dtype))


def test_norms_tell_that_the_network_inside_was_wrong() -> None:
    _, oracle, frame, inside = planted("shallow:D=10,m=20", 6)
    wrong = inside.with_layers((inside.weights[0] + 1e-3, inside.weights[1]), inside.biases)
    with pytest.raises(GiveUp, match="norms are off by"):
        few_rows.normalised(extension.extended(oracle, wrong, frame, Run.seeded(1)))
