"""`entangled`: the thesis' pipeline for deep networks, from entangled weights to a fit of diagonals and shifts.

    1. Hessians of all outputs at points near 0, their span                      (output_differences, gram_span)
    2. its rank-ones, the entangled weights ±v/‖v‖; gradients at 0 are those of the outputs   (power_ascent)
    3. the first layer's by their score far away, the rest is the second; more
       layers are told with `assisted`, by the oracle itself                     (first_layer_scores)
    4. the network but for diagonals and shifts, and their descent on samples    (loss_free)

The span has m dimensions where the output bends and m - m_L where it is linear. `until=directions` ends with stage 2
and `until=subspace` with stage 1, whatever the shape. `refine=full` goes on to all parameters (`layered_refinement`),
which the thesis does not. Errors of stage 2 stay in the network of stage 4: one that misses its samples by more than
`MISSED` is claimed, and given up.

Reference: Rauchensteiner 2023, Algorithms 4.1 and 4.2 with the settings of §4.4; radius and step are ours.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from paramid import Access, Claim, EntangledWeights, GiveUp, Network, Oracle, Run, Spec, Subspace, activation
from paramid.methods.layers import first_layer_scores, loss_free
from paramid.methods.layers.loss_free import LossFree
from paramid.methods.refinement import layered_acceptance, layered_refinement
from paramid.methods.spans import gram_span, hessians, symmetric
from paramid.methods.spans.gram_span import Spectrum
from paramid.methods.spans.hessian_pipeline import sparse
from paramid.methods.spans.output_differences import gradients, packed_hessians
from paramid.words import memory_limits
from paramid.words.activations import ACTIVATIONS
from paramid.words.options import among, positive

BLOCK = 2**22  # doubles of Hessians held at once
DROWNED = 1e-3  # noise over h²
MISSED = 3e-4  # directions off by 1e-2 leave about 1e-3
RATE, FEW = 0.05, 10  # times outputs, for these at least
ROWS = 2.0  # of a full refinement, for each parameter
REFINEMENTS = ("sgd", "full")


@dataclass(frozen=True)
class Entangled:
    """Deep networks from entangled weights: Hessians near 0, layer scores far away, SGD on scales (thesis, ch. 4)."""

    derivatives: str = "differences"  # differences: by central differences of queries; exact: asked of the oracle
    h: float = 5e-3  # step of the differences; unused where derivatives are exact
    stencil: str = "thesis"  # differences of a Hessian; thesis: 2D² + 1 queries; symmetric: D² + D + 1
    radius: float = 0.1  # size of the points of near Hessians
    points: str = (
        "normal"  # their law; normal: N(0, radius² I / D), as in §4.4; sphere: uniform of length radius, §4.2.3
    )
    locations: int | None = None  # points of Hessians, near and far; default: 4 m, or 20 ⌈m / m_L⌉ with points=sphere
    step: float = 1.5  # γ of the ascents u ← u + 2γ P(u uᵀ) u, normalised
    starts: int | None = None  # ascents at most; default: ⌈5 m ln m⌉, m with outputs
    steps: int = 10_000  # steps of an ascent, at most
    threshold: float = 0.5  # least ‖P(u uᵀ)‖² at which the end u of an ascent is a direction, 1 in the span
    tol: float = 1e-10  # length of a step below which an ascent has arrived
    delta: float = 0.2  # distance below which a direction is taken for an output's gradient
    far: float = 100.0  # radius of the sphere of far Hessians, which tell the first layer; 1000 in the thesis
    assisted: bool = False  # whether the oracle itself tells layers, needed from three hidden layers on
    until: str = "network"  # last stage; subspace: the span; directions: its rank-ones; network: all four
    refine: str = "sgd"  # sgd: diagonals and shifts by descent; full: then all parameters by Levenberg-Marquardt
    lr: float | None = None  # rate of the descent; default: 0.05 / outputs, at most the thesis' 0.005
    batch: int = 64  # samples of a step of the descent, their squares summed
    epochs: int = 10  # passes of the descent over the samples; the thesis: 20 minutes
    N: int | None = None  # samples of the descent; default: m D², m with outputs, or what is granted

    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        among(self, derivatives=("differences", "exact"), stencil=hessians.STENCILS, refine=REFINEMENTS)
        among(self, until=("network", "directions", "subspace"), points=("normal", "sphere"))
        positive(self)

    @property
    def access(self) -> frozenset[Access]:
        """Queries or exact derivatives, samples to fit on, and the oracle's labels where it is assisted."""
        asked = {Access.DERIVATIVES if self.derivatives == "exact" else Access.QUERIES}
        asked |= {Access.SAMPLES} if self.until == "network" else set()
        return frozenset(asked | ({Access.LABELS} if self.assisted else set()))

    def declines(self, spec: Spec) -> str | None:
        """Smooth, with outputs of their own; to the network's end odd, with widths that do not grow."""
        widths = [w for w in spec.widths if w is not None]
        if len(widths) < len(spec.widths) or not widths:
            return "needs a hidden layer and to know the number of neurons"
        acts = [ACTIVATIONS.get(name) for name in spec.activations]
        if not all(g and g.smooth for g in acts) or any(g and g.degree is not None for g in acts[:-1]):
            return f"needs second derivatives that vary, not {', '.join(spec.activations)}"
        if spec.outer != "free" or spec.norms != "unit":
            return "needs free outer weights and unit weight vectors"
        if spec.shift == 0:
            return "without shifts one direction for every layer but the last is invisible"
        if self.derivatives == "differences" and spec.noise > DROWNED * self.h**2:
            return f"noise {spec.noise:g} drowns second differences of step {self.h:g}"
        if (m := bending(spec)) > max(1, limit := spec.inputs * (spec.inputs - 1) // 2):
            return f"{m} neurons exceed D(D-1)/2 = {limit}: spans of Hessians do not tell them apart"
        n = spec.inputs * (spec.inputs + 1) // 2
        if reason := memory_limits.refusal(
            {"Gram matrix": (n, n), "its eigenvectors": (n, n), "work": (n, n)}, memory_limits.room()
        ):
            return reason
        return self.unfit(spec, widths) if self.until == "network" else None

    def unfit(self, spec: Spec, widths: list[int]) -> str | None:
        """Why no network can be made of directions, or None."""
        if any(activation(name).symmetry != "odd" for name in spec.activations[:-1]):
            return f"signs of hidden neurons are free for odd activations only, not for {spec.activation}"
        if spec.output_bias != "free":
            return "needs a free output bias"
        if len(widths) > 2 and not self.assisted:
            return "a far score tells the first layer from one other: more need assisted=true"
        for layer, (fed, width) in enumerate(zip([spec.inputs, *widths], widths, strict=False), 1):
            if width > fed:
                return f"layer {layer} has {width} neurons above {fed}: its weights do not follow from directions"
        return layered_acceptance.refusal(spec, ROWS) if self.refine == "full" else None

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Stages 1 to 4."""
        spec, m, told = oracle.spec, bending(oracle.spec), {"assisted": float(self.assisted)}
        near = self.spectrum(oracle, self.near(spec, run))
        yield Subspace(near.basis(m), stats={"singular_gap": near.gap(m), **told})
        if self.until == "subspace":
            return
        u = first_layer_scores.candidates(
            near.projector(m, spec.inputs),
            m,
            run,
            starts=self.starts or math.ceil(5 * neurons(spec) * math.log(max(2, neurons(spec)))),
            step=self.step,
            steps=self.steps,
            threshold=self.threshold,
            tol=self.tol,
        )
        del near
        yield EntangledWeights(u.T, torch.zeros_like(u[:, 0]), stats={"directions_found": len(u), **told})
        if self.until == "directions":
            return
        outputs = self.outputs(oracle, run)
        u = first_layer_scores.apart(u, outputs, self.delta)
        if len(u) != m - (spec.outputs if bends(spec) else 0):
            raise GiveUp(
                f"found {len(u)} directions that are no output's, {sum(w or 0 for w in spec.widths)} are there"
            )
        layers, stats = self.labelled(oracle, u, run)
        columns = torch.cat([u, outputs]).T
        last = torch.full_like(outputs[:, 0], len(spec.widths) + 1.0)
        yield EntangledWeights(columns, torch.cat([layers, last]), stats={**stats, **told})
        if [int((layers == n).sum()) for n in range(1, len(spec.widths) + 1)] != list(spec.widths):
            raise GiveUp("the layers told are of other widths than the network's")
        yield from self.completed(oracle, [*(u[layers == n].T for n in layers.unique()), outputs.T], run)

    def wanted(self, spec: Spec) -> int:
        """The samples of stage 4, never more than are granted."""
        rows = self.N or neurons(spec) * spec.inputs**2
        rows = max(rows, layered_acceptance.count(spec, ROWS)) if self.refine == "full" else rows
        return rows if spec.samples is None else min(rows, spec.samples)

    def count(self, spec: Spec) -> int:
        """Locations of Hessians."""
        if self.points == "sphere":
            return self.locations or 20 * math.ceil(neurons(spec) / spec.outputs)
        return self.locations or 4 * neurons(spec)

    def near(self, spec: Spec, run: Run) -> Tensor:
        """Locations near 0."""
        if self.points == "sphere":
            return self.radius * run.sphere(self.count(spec), spec.inputs)
        return self.radius / math.sqrt(spec.inputs) * run.normal(self.count(spec), spec.inputs)

    def spectrum(self, oracle: Oracle, x: Tensor) -> Spectrum:
        """Stage 1, in blocks."""
        d = x.shape[1]

        def seen(rows: Tensor) -> Tensor:
            if self.derivatives == "exact":
                return symmetric.pack(oracle.hessian(rows)).flatten(0, 1)
            return packed_hessians(oracle.query, rows, self.h, self.stencil).flatten(0, 1)

        return gram_span.streamed(map(seen, x.split(max(1, BLOCK // (oracle.spec.outputs * d * d)))))

    def outputs(self, oracle: Oracle, run: Run) -> Tensor:
        """Unit gradients of all outputs at 0, as rows."""
        d = oracle.spec.inputs
        zero, e = (
            torch.zeros(1, d, dtype=run.dtype, device=run.device),
            torch.eye(d, dtype=run.dtype, device=run.device),
        )
        found = (
            oracle.gradient(zero)[0] if self.derivatives == "exact" else gradients(oracle.query, zero, e, self.h)[0].T
        )
        return found / found.norm(dim=1, keepdim=True)

    def labelled(self, oracle: Oracle, u: Tensor, run: Run) -> tuple[Tensor, dict[str, float]]:
        """Stage 3: layers from 1, and the scores on both sides of the cut."""
        spec, first = oracle.spec, oracle.spec.widths[0] or 0
        if self.assisted:
            return oracle.label(u.T), {}
        if len(spec.widths) == 1:
            return torch.ones_like(u[:, 0]), {}
        far = self.spectrum(oracle, self.far * run.sphere(self.count(spec), spec.inputs))
        score = first_layer_scores.scores(far.projector(first, spec.inputs), u)
        ordered = score.sort(descending=True).values
        stats = {"score_first": float(ordered[first - 1]), "score_next": float(ordered[first])}
        return first_layer_scores.two_groups(score, first), stats

    def completed(self, oracle: Oracle, entangled: list[Tensor], run: Run) -> Iterator[Network]:
        """Stage 4."""
        spec = oracle.spec
        wanted = self.wanted(spec)
        samples = oracle.sample(wanted)
        student = LossFree.of(entangled, spec.activations)
        network = student.network()
        yield network
        rate = self.lr or RATE / max(FEW, spec.outputs)  # the loss sums over outputs, and its curvature with it
        every = loss_free.descend(student, samples, run, rate=rate, batch=self.batch, epochs=self.epochs)
        for student in sparse(every):
            network = student.network()
            if not all(bool(torch.isfinite(p).all()) for p in network.arrays().values()):
                raise GiveUp(f"descent of rate {rate:g} diverged")
            yield network
        if self.refine == "full":
            x, y = layered_acceptance.first(samples, layered_acceptance.count(spec, ROWS))
            fit = layered_refinement.fit(network, x, y, noise=spec.resolution)
            yield layered_acceptance.believed(fit, x, spec)
        elif (missed := loss_free.misfit(network, samples)) > MISSED:
            raise GiveUp(f"scales and shifts leave {missed:.1%} of the values unexplained: errors of directions stay")


def neurons(spec: Spec) -> int:
    """M of the thesis: outputs included."""
    return sum(w or 0 for w in spec.widths) + spec.outputs


def bends(spec: Spec) -> bool:
    """Whether outputs have second derivatives of their own."""
    return spec.activations[-1] != "identity"


def bending(spec: Spec) -> int:
    """The dimension of the span of Hessians."""
    return neurons(spec) - (0 if bends(spec) else spec.outputs)
