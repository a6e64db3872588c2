"""Neurons from the lattices of `simplex_lattices`, their truncation taken off by what was found already.

One-sided rows are off by order h, far more than rounding. But the network that they lead to knows its own error: with
T[·] the differences (1) of simplex_lattices, R the rows made of them and ∂ exact derivatives,

    (1)  R ← R(T[f] - T[student]) + R(∂ student),

leaves of the truncation what the student is wrong by. Every pass: (1), the span and its rank-ones (tensor_search),
signs, norms and shifts (lattice_profiles); the student is what fits well. No value is asked twice.

Where m is not told, the span of a pass has as many dimensions as there is room for at first, and then, n neurons known,

    (2)  m = argmax S_k / S_{k+1}   over n ≤ k ≤ 1.1 n + 3,   S the singular values of (1):

too many dimensions cost precision, but no neuron.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from paramid import Network, Oracle, Run
from paramid.methods.spans import gram_span, lattice_profiles, simplex_lattices, tensor_search
from paramid.methods.spans.gram_span import Spectrum
from paramid.methods.spans.lattice_profiles import Curves, Fit
from paramid.methods.spans.simplex_lattices import Simplex
from paramid.words.activations import activation

WRONG = 1.0  # misfits from which on a neuron helps no student
FURTHER, MORE = 1.1, 3  # (2)


@dataclass(frozen=True, eq=False)
class Seen:
    """What was asked: (1) of simplex_lattices around every base point, the mean over `sides` ±h."""

    lattice: Simplex
    bases: Tensor
    h: float
    both_sides: bool
    values: Tensor  # (bases, sides, points)

    @property
    def sides(self) -> tuple[float, ...]:
        """The steps."""
        return (self.h, -self.h) if self.both_sides else (self.h,)

    @cached_property
    def tensors(self) -> Tensor:
        """T[f], (bases, points)."""
        return torch.stack([self.mean(values) for values in self.values])

    def tensor(self, f: Network, base: Tensor) -> Tensor:
        """T[f] at a base point."""
        return self.mean([simplex_lattices.values(f, base, h, self.lattice) for h in self.sides])

    def mean(self, values: Iterable[Tensor]) -> Tensor:
        """(1) of simplex_lattices, the mean over the sides."""
        found = [self.lattice.differences(f, h) for f, h in zip(values, self.sides, strict=True)]
        return torch.stack(found).mean(0)


@dataclass(frozen=True, eq=False)
class Found:
    """Unit directions (m, d), the fits of both signs, the better first, and how many neurons were looked for."""

    directions: Tensor
    fit: Fit
    other: Fit
    sought: int

    def at(self, rows: Tensor) -> "Found":
        """Some of the neurons."""
        return Found(self.directions[rows], self.fit.at(rows), self.other.at(rows), self.sought)

    def turned(self, which: Tensor) -> "Found":
        """With the other fits of some."""
        fit, other = self.other.where(which, self.fit), self.fit.where(which, self.other)
        return Found(self.directions, fit, other, self.sought)

    def network(self, name: str) -> Network:
        """The better fits."""
        return Network.shallow((self.fit.norm[:, None] * self.directions).T, self.fit.shift, name)

    def other_network(self, name: str) -> Network:
        """Those of the other sign."""
        return Network.shallow((self.other.norm[:, None] * self.directions).T, self.other.shift, name)


@dataclass(frozen=True)
class Search:
    """How a pass looks for `m` neurons, if not `told` at most; norms may be `pinned`, shifts are below `reach`."""

    m: int
    activation: str
    pinned: bool
    reach: float
    batch: int
    steps: int
    patience: int
    told: bool = True


def look(oracle: Oracle, bases: Tensor, lattice: Simplex, *, h: float, both_sides: bool) -> Seen:
    """The lattices around `bases`."""
    empty = Seen(lattice, bases, h, both_sides, bases)
    asked = [[simplex_lattices.values(oracle, base, side, lattice) for side in empty.sides] for base in bases]
    return replace(empty, values=torch.stack([torch.stack(each) for each in asked]))


def grown(oracle: Oracle, seen: Seen, lattice: Simplex) -> Seen:
    """The same around the same points in more inputs; what was asked is not asked again."""
    bases = torch.nn.functional.pad(seen.bases, (0, lattice.d - seen.lattice.d))
    old = (lattice.counts[:, seen.lattice.d :] == 0).all(1)
    values = seen.values.new_empty(*seen.values.shape[:2], len(old))
    values[:, :, old] = seen.values
    for base, of_base in zip(bases, values, strict=True):
        for h, each in zip(seen.sides, of_base, strict=True):
            each[~old] = simplex_lattices.values(oracle, base, h, replace(lattice, counts=lattice.counts[~old]))
    return replace(seen, lattice=lattice, bases=bases, values=values)


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
    m = how.m if how.told else likely(spectrum, len(known), how.m)
    p = tensor_search.projector(spectrum, m, lattice.d, lattice.s)
    u = tensor_search.search(
        p,
        spectrum.basis(m),
        m,
        run,
        accept=tensor_search.acceptance(spectrum.gap(m)),
        known=known,
        patience=how.patience,
        batch=how.batch,
        steps=how.steps,
    ).directions
    return profiled(rows, u, seen, how, m, centred=centred)


def likely(spectrum: Spectrum, known: int, most: int) -> int:
    """(2), at most `most`."""
    last = min(most, int(FURTHER * known) + MORE, len(spectrum.values) - 1)
    first = min(known, last)
    if first < 1:
        return most
    ratios = spectrum.floored[first - 1 : last] / spectrum.floored[first : last + 1]
    return first + int(ratios.argmax())


def profiled(rows: list[list[Tensor]], u: Tensor, seen: Seen, how: Search, sought: int, *, centred: bool) -> Found:
    """Directions with their fits."""
    lattice = seen.lattice
    if not len(u):
        return Found(u, Fit(*[u[:, 0]] * 3), Fit(*[u[:, 0]] * 3), sought)
    data = torch.stack([lattice_profiles.estimates(r, u, lattice.s) for r in rows])
    places = (seen.bases @ u.T)[:, None, :].expand_as(data)
    curves = Curves(data, places, lattice.s, activation(how.activation))
    if not centred:
        curves = replace(curves, places=places + seen.h / 2 * curves.orders * (u**3).sum(1))
    best, other = lattice_profiles.fits(curves, pinned=how.pinned, reach=how.reach)
    return Found(u, best, other, sought)


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
