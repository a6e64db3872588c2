"""From rows of a lattice every neuron's sign, norm and shift are read off, and wrong directions are told by misfits."""

import pytest
import torch
from torch import Tensor

from paramid import Network, Run, activation
from paramid.methods.spans import lattice_profiles, simplex_lattices
from paramid.methods.spans.lattice_profiles import Curves

CPU = torch.device("cpu")


def planted(pinned: bool, name: str = "tanh") -> tuple[Network, Tensor, Tensor, list[Tensor]]:
    run = Run.seeded(0)
    u = run.sphere(12, 4)
    norms = torch.ones(12, dtype=run.dtype) if pinned else 0.3 + 0.6 * torch.sigmoid(run.normal(1, 12)[0])
    network = Network.shallow((norms[:, None] * u).T, 0.4 * torch.tanh(run.normal(1, 12)[0]), name)
    x = 0.5 * run.normal(1, 4)[0]
    return network, u, x, simplex_lattices.simplex(4, 6, 3, CPU).exact_rows(network, x)


def curves_of(rows: list[Tensor], u: Tensor, x: Tensor, name: str = "tanh") -> Curves:
    data = lattice_profiles.estimates(rows, u, 3)[None]
    return Curves(data, (u @ x).expand_as(data), 3, activation(name))


@pytest.mark.parametrize("pinned", [True, False])
@pytest.mark.parametrize("name", ["tanh", "logistic", "erf"])
def test_exact_rows_give_signs_norms_and_shifts(pinned: bool, name: str) -> None:
    network, u, x, rows = planted(pinned, name)
    side = torch.sign(Run.seeded(3).normal(1, 12)[0])
    best, other = lattice_profiles.fits(curves_of(rows, side[:, None] * u, x, name), pinned=pinned, reach=1.0)
    right = side * best.norm > 0
    assert right.all()
    torch.testing.assert_close(best.norm[:, None] * side[:, None] * u, network.weights[0].T, rtol=0, atol=1e-4)
    torch.testing.assert_close(best.shift, network.biases[0], rtol=0, atol=1e-3)
    assert float(best.cost.max()) < 1e-6
    assert (other.cost > best.cost).all()
    assert (other.norm * best.norm < 0).all()


def test_a_direction_that_is_none_fits_badly() -> None:
    _, u, x, rows = planted(pinned=True)
    false = Run.seeded(5).sphere(1, 4)
    best, _ = lattice_profiles.fits(curves_of(rows, torch.cat([u, false]), x), pinned=True, reach=1.0)
    assert float(best.cost[-1]) > 0.1 > 1e3 * float(best.cost[:-1].max())
