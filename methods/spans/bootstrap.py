"""Neurons from the lattices of `simplex_lattices`, their truncation taken off by what was found already.

One-sided rows are off by order h, far more than rounding. But the network that they lead to knows its own error: with
T[·] the differences (1) of simplex_lattices, R the rows made of them and ∂ exact derivatives,

    (1)  R ← R(T[f] - T[student]) + R(∂ student),

leaves of the truncation what the student is wrong by. Every pass: (1), the span and its rank-ones (tensor_search),
signs, norms and shifts (lattice_profiles); the student is what fits well. No value is asked twice.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from paramid import Network, Oracle, Run
from paramid.methods.spans import gram_span, lattice_profiles, simplex_lattices, tensor_search
from paramid.methods.spans.lattice_profiles import Curves, Fit
from paramid.methods.spans.simplex_lattices import Simplex
from paramid.words.activations import activation

WRONG = 1.0  # misfits from which on a neuron helps no student


@dataclass(frozen=True, eq=False)
class Seen:
    """What was asked: (1) of simplex_lattices around every base point, the mean over `sides` ±h."""

    lattice: Simplex
    bases: Tensor
    h: float
    both_sides: bool
    tensors: Tensor  # (bases, points)

    @property
    def sides(self) -> tuple[float, ...]:
        """The steps."""
        return (self.h, -self.h) if self.both_sides else (self.h,)

    def tensor(self, f: Oracle | Network, base: Tensor) -> Tensor:
        """T[f] at a base point."""
        found = [self.lattice.differences(simplex_lattices.values(f, base, h, self.lattice), h) for h in self.sides]
        return torch.stack(found).mean(0)


@dataclass(frozen=True, eq=False)
class Found:
    """Unit directions (m, d), the fits of both signs, the better first, and the singular gap of the rows."""

    directions: Tensor
    fit: Fit
    other: Fit
    gap: float

    def at(self, rows: Tensor) -> "Found":
        """Some of the neurons."""
        return Found(self.directions[rows], self.fit.at(rows), self.other.at(rows), self.gap)

    def turned(self, which: Tensor) -> "Found":
        """With the other fits of some."""
        fit, other = self.other.where(which, self.fit), self.fit.where(which, self.other)
        return Found(self.directions, fit, other, self.gap)

    def network(self, name: str) -> Network:
        """The better fits."""
        return Network.shallow((self.fit.norm[:, None] * self.directions).T, self.fit.shift, name)

    def other_network(self, name: str) -> Network:
        """Those of the other sign."""
        return Network.shallow((self.other.norm[:, None] * self.directions).T, self.other.shift, name)


@dataclass(frozen=True)
class Search:
    """How a pass looks for `m` neurons, whose norms may be `pinned` and whose shifts are below `reach`."""

    m: int
    activation: str
    pinned: bool
    reach: float
    batch: int
    steps: int
    patience: int


def look(oracle: Oracle, bases: Tensor, lattice: Simplex, *, h: float, both_sides: bool) -> Seen:
    """The lattices around `bases`."""
    empty = Seen(lattice, bases, h, both_sides, bases[:, :1])
    return replace(empty, tensors=torch.stack([empty.tensor(oracle, base) for base in bases]))


def passed(seen: Seen, how: Search, run: Run, student: Network | None) -> Found:
    """What a pass beside a student finds."""
    known = torch.empty(0, seen.lattice.d, dtype=run.dtype, device=run.device)
    if student is not None:
        w = student.weights[0].T
        known = w / w.norm(dim=1, keepdim=True)
    centred = seen.both_sides or student is not None
    found = whole(corrected(seen, student), seen, how, run, known, centred=centred)
    return found.at(found.fit.cost < WRONG)


def whole(rows: list[list[Tensor]], seen: Seen, how: Search, run: Run, known: Tensor, *, centred: bool) -> Found:
    """The neurons in rows (bases, orders) of all of them."""
    lattice = seen.lattice
    spectrum = gram_span.spectrum(scaled(rows))
    gap = spectrum.gap(how.m)
    p = tensor_search.projector(spectrum, how.m, lattice.d, lattice.s)
    u = tensor_search.search(
        p,
        spectrum.basis(how.m),
        how.m,
        run,
        accept=tensor_search.acceptance(gap),
        known=known,
        patience=how.patience,
        batch=how.batch,
        steps=how.steps,
    ).directions
    return profiled(rows, u, seen, how, gap, centred=centred)


def profiled(rows: list[list[Tensor]], u: Tensor, seen: Seen, how: Search, gap: float, *, centred: bool) -> Found:
    """Directions with their fits."""
    lattice = seen.lattice
    data = torch.stack([lattice_profiles.estimates(r, u, lattice.s) for r in rows])
    places = (seen.bases @ u.T)[:, None, :].expand_as(data)
    curves = Curves(data, places, lattice.s, activation(how.activation))
    if not centred:
        curves = replace(curves, places=places + seen.h / 2 * curves.orders * (u**3).sum(1))
    best, other = lattice_profiles.fits(curves, pinned=how.pinned, reach=how.reach)
    return Found(u, best, other, gap)


def corrected(seen: Seen, student: Network | None) -> list[list[Tensor]]:
    """The rows (1) of every base and order."""
    if student is None:
        return [seen.lattice.rows(t) for t in seen.tensors]
    found = []
    for base, tensor in zip(seen.bases, seen.tensors, strict=True):
        rows, exact = seen.lattice.rows(tensor - seen.tensor(student, base)), seen.lattice.exact_rows(student, base)
        found.append([a + b for a, b in zip(rows, exact, strict=True)])
    return found


def scaled(rows: list[list[Tensor]]) -> Tensor:
    """All rows, those of an order of one size."""
    every = [r / r.square().sum(1).mean().sqrt() for of_base in rows for r in of_base]
    return torch.cat(every)
