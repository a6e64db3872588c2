"""`expand-cluster`: what many wide students of the same samples have in common is their teacher.

    1. N students, ρ times as wide as the teacher, trained side by side          (plateaus, marquardt)
    2. layer by layer from the input: all students' (w, b), turned and scaled by the activation's symmetry, in an
       average-linkage tree, cut where most clusters have γN neurons or more     (clusters, symmetries)
    3. a neuron for every cluster, given by the best student that is in it; below the last hidden layer all students
       take these neurons and are trained again                                  (collapse)
    4. of even + linear activations, the linear map that turned neurons leave    (linear_rest)
    5. one network, trained to the end, which must explain samples held back     (acceptance)

A student without loss holds its teacher's neurons, in copies, and others that cancel each other, anywhere: copies are
where those of other students are. Widths need not be told: ρ then goes by the narrowest of 1, 2, 3, 5, … neurons a
layer that leaves less than a thousandth of the values in a short training.

As published: N = 10, ρ = 4, γ = 1/2, Adam in batches of 512 at 1e-3 for 25,000 epochs, √10 slower after 100 idle ones;
5000 epochs at 1e-4 after every collapse (`training=adam`). With `training=lm` students are trained in full batches by
Adam, then by Levenberg-Marquardt to rounding, on 6 samples a parameter at most, others in place of those with 1000
times the least loss, and the end is least squares on all samples; `cut=gap` cuts the tree where merges are furthest
apart, at the width that is told if it can, and where its network explains too little tries the next: both ours.
Levenberg-Marquardt takes ρ = 2 to rounding, and seldom ρ = 4.

Changes: float64 for float32; neurons of a layer above are read from the students trained again, not as they were;
distances without signs where neurons may be turned; S of 4 is found, so that the end is a plain network without bypass;
a network that least squares from its own parameters would move by 0.01 is given up, and one of more neurons than the
teacher is told to have.

Reference: Martinelli, Şimşek, Gerstner & Brea, Expand-and-Cluster: parameter recovery of neural networks,
arXiv:2304.12794.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from math import floor
from typing import ClassVar

import torch
from torch import Tensor

from paramid import Access, GiveUp, Network, Oracle, Run, Spec, activation
from paramid.limits.information import ALL
from paramid.methods.students import (
    acceptance,
    buildable,
    clusters,
    collapse,
    copies,
    first_descent,
    linear_rest,
    marquardt,
    plateaus,
    stacked,
    starts,
)
from paramid.methods.students.acceptance import Pairs
from paramid.methods.students.stacked import Shape
from paramid.words.neuron_distances import CLOSE
from paramid.words.options import among, at_least, positive

CHOICES = {"training": ("adam", "lm"), "law": starts.LAWS, "cut": clusters.RULES}
RATE, AGAIN, WITH_BYPASS = 1e-3, 1e-4, 1e-3  # of Adam
BASIN, RATE_OF_BASIN = 1000, 0.01  # full steps of Adam before Levenberg-Marquardt
WORSE, NO_LOSS = 1e3, 1e-12  # students with so many times the least loss, or this of the values, are left out
CUTS = 6  # that are tried
WAVES = 4  # of N students that are trained until N are left
ROWS = {"adam": 20, "lm": 6}  # samples a parameter of a student
TRIAL, TRIALS, FITS = 100, 3, 1e-6  # steps, students and relative loss of the search for a width
WIDEST = 64


@dataclass(frozen=True)
class ExpandCluster:
    """Wide students by the dozen and the neurons they share, by average linkage (Martinelli et al. 2024)."""

    students: int = 10  # N
    rho: float = 4.0  # width of students over the teacher's
    width: int | None = None  # neurons a layer that ρ goes by where none are told; default: the fewest that fit
    gamma: float = 0.5  # share of N that a cluster has neurons, at least
    training: str = "adam"  # adam: batches, as published; lm: full batches, then Levenberg-Marquardt, to rounding
    cut: str = "most"  # of the tree; most: where most clusters are; gap: where its merges are furthest apart
    epochs: int = 25_000  # of training=adam
    again: int = 5000  # epochs of every training after it, and of the last
    steps: int = 300  # of Levenberg-Marquardt, with training=lm
    law: str = "stacked"  # variance of first weights; stacked: 2/(fan-out N), as released; kaiming: 2/fan-in; glorot
    N: int | None = None  # samples, a tenth held back; default: granted, or 20 a student's parameter, 6 with lm

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.SAMPLES})

    def __post_init__(self) -> None:
        among(self, **CHOICES)
        positive(self, "width", "epochs", "again", "steps", "N")
        at_least(self, students=2, rho=1, gamma=0)
        if floor(self.gamma * self.students) < 2:
            raise ValueError(f"gamma is {self.gamma} of {self.students} students; 2 neurons a cluster were wanted")

    def declines(self, spec: Spec) -> str | None:
        """Layers whose neurons have at most a sign and a length that nobody sees."""
        if reason := buildable.refusal(spec):
            return reason
        if spec.activations[-1] != "identity":
            return "needs linear outputs"
        for name in spec.activations[:-1]:
            if activation(name).half_turn is not None:
                return f"half turns would split the clusters of {name}"
            if len(spec.widths) > 1 and activation(name).tilt is not None:
                return f"turned neurons of {name} leave linear maps, which are found below one hidden layer alone"
        return buildable.too_large(buildable.shape(self.guessed(spec), self.rho))

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Network]:
        """Stages 1 to 5."""
        spec = oracle.spec
        pairs = acceptance.drawn(oracle, self.wanted(spec))
        shape = self.shape(spec, pairs, run)
        theta = self.trained(shape, pairs, run)
        best = stacked.losses(shape, theta, pairs.x, pairs.y).argmin()
        yield copies.cut(acceptance.told(shape.network(theta[best]), spec), spec)
        why = "students have no neuron in common"
        for network in self.collapsed(shape, theta, pairs, spec, run):
            yield copies.cut(acceptance.told(network, spec), spec)
            try:
                copies.require(network, spec)
                yield from self.answers(self.upright(network, pairs, run), pairs, spec, run)
                return
            except GiveUp as error:
                why = f"{'-'.join(map(str, network.widths))} clusters: {error}"
        raise GiveUp(why)

    def answers(self, network: Network, pairs: Pairs, spec: Spec, run: Run) -> Iterator[Network]:
        """Stage 5."""
        shape = stacked.shape_of(network)
        network = shape.network(self.again_trained(shape, stacked.rows(network)[None], pairs, run)[0])
        if self.training == "lm":
            yield acceptance.finished(network, pairs, spec)
            return
        network = acceptance.told(network, spec)
        yield network
        vouch(network, acceptance.finished(network, pairs, spec))

    def wanted(self, spec: Spec) -> int:
        """How many samples are asked for."""
        each = -(-buildable.shape(self.guessed(spec), self.rho).parameters // spec.outputs)
        return self.N or spec.samples or ROWS[self.training] * each

    def guessed(self, spec: Spec) -> Spec:
        """The spec with `width` for widths that are not told."""
        return replace(spec, widths=tuple(w or self.width for w in spec.widths))

    def shape(self, spec: Spec, pairs: Pairs, run: Run) -> Shape:
        """That of the students; where widths are not told, over those of the narrowest student that fits."""
        if None not in spec.widths or self.width:
            return buildable.shape(self.guessed(spec), self.rho)
        width, scale = 1, float(pairs.y.var(0, correction=0).sum())
        while True:
            widths = tuple(width if w is None else w for w in spec.widths)
            shape = buildable.shape(replace(spec, widths=widths), 1.0)
            if pairs.y.numel() <= shape.parameters or width > WIDEST:
                raise GiveUp(f"{width} neurons a layer fit no better than fewer, or fit anything")
            if descended(shape, TRIALS, pairs, TRIAL, run)[1].min() <= FITS * scale:
                return buildable.shape(replace(spec, widths=widths), self.rho)
            width += (width + 1) // 2

    def trained(self, shape: Shape, pairs: Pairs, run: Run) -> Tensor:
        """Stage 1: θ of those students that count."""
        if self.training == "adam":
            theta = starts.drawn(shape, self.students, self.law, run)
            return plateaus.train(shape, theta, pairs.x, pairs.y, run, rate=RATE, epochs=self.epochs)
        theta, loss = descended(shape, self.students, pairs, self.steps, run)
        floor = NO_LOSS * float(pairs.y.square().sum(1).mean())
        for _ in range(WAVES - 1):
            if bool((good := loss <= WORSE * max(float(loss.min()), floor)).all()):
                break
            more, theirs = descended(shape, self.students, pairs, self.steps, run)
            theta, loss = torch.cat([theta[good], more]), torch.cat([loss[good], theirs])
            best = loss.argsort()[: self.students]
            theta, loss = theta[best], loss[best]
        return theta[loss <= WORSE * max(float(loss.min()), floor)]

    def collapsed(self, shape: Shape, theta: Tensor, pairs: Pairs, spec: Spec, run: Run) -> Iterator[Network]:
        """Stages 2 and 3: the network of what is common, for every cut of the last layer's tree."""
        x, y = pairs.x, pairs.y
        for layer, told in enumerate(spec.widths):
            order, least = stacked.losses(shape, theta, x, y).argsort(), floor(self.gamma * self.students)
            found = list(islice(collapse.common(shape, theta, order, layer, least=least, rule=self.cut), CUTS))
            found.sort(key=lambda shared: told is not None and shared.columns.shape[1] != told)
            if not found:
                return
            if layer < len(spec.widths) - 1:
                shape, theta = collapse.narrowed(shape, theta, layer, found[0])
                theta = self.again_trained(shape, theta, pairs, run)
        for shared in found:
            narrow, row = collapse.one(shape, theta, order, shared, x, y)
            yield narrow.network(row[0])

    def again_trained(self, shape: Shape, theta: Tensor, pairs: Pairs, run: Run) -> Tensor:
        """θ after what follows a collapse."""
        if self.training == "adam":
            return plateaus.train(shape, theta, pairs.x, pairs.y, run, rate=AGAIN, epochs=self.again)
        free = shape.free(ALL, theta)
        return marquardt.descend(shape, theta, pairs.x, pairs.y, free=free, steps=self.steps).theta

    def upright(self, network: Network, pairs: Pairs, run: Run) -> Network:
        """Stage 4."""
        if activation(network.activations[0]).tilt is None:
            return network
        bypass = linear_rest.fitted(network, pairs.x, pairs.y)
        if self.training == "adam":
            shape, row = stacked.shape_of(network), stacked.rows(network)[None]
            row = plateaus.train(shape, row, pairs.x, pairs.y, run, rate=WITH_BYPASS, epochs=self.again, bypass=bypass)
            network = shape.network(row[0])
        return linear_rest.turned_back(network, bypass, run)


def descended(shape: Shape, students: int, pairs: Pairs, steps: int, run: Run) -> tuple[Tensor, Tensor]:
    """θ and losses of students trained in full batches, by Adam and then by Levenberg-Marquardt."""
    rows = ROWS["lm"] * -(-shape.parameters // shape.sizes[-1])
    theta, x, y = starts.drawn(shape, students, "glorot", run), pairs.x[:rows], pairs.y[:rows]
    free = shape.free(ALL, theta)
    theta = first_descent.adam(shape, theta, x, y, free=free, steps=BASIN, rate=RATE_OF_BASIN)
    ended = marquardt.descend(shape, theta, x, y, free=free, steps=steps)
    return ended.theta, ended.loss


def vouch(network: Network, refined: Network) -> None:
    """Give up what least squares on all samples would move."""
    moved = max(
        float((a - b).abs().max()) for a, b in zip(network.arrays().values(), refined.arrays().values(), strict=True)
    )
    if not moved < CLOSE:
        raise GiveUp(f"least squares would move parameters by {moved:.1e}: training is not at its end")
