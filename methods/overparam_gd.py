"""`overparam-gd`: gradient descent on a net that may be wider than its teacher, from several starts.

    1. W_0 ~ init N(0, I/D), v_0 = 1 (or ±1), for every start
    2. full-batch descent on (v, W), or on W alone                     (overparam_descent)
       descent=trust, cubic: steps by the Hessian instead              (second_order)
    3. polish=lm: Levenberg-Marquardt, to a global minimum or not      (overparam_polish)
    4. the ends are claimed from the worst start to the best, so that one sees whether every start got there

While it descends, the best start so far is claimed after 1, 10, 100, … steps. With squares ‖w_l‖² - 2 v_l² is conserved
by the flow of stage 2, so that the sign of v_l is frozen where ‖w_l‖² < 2 v_l²: neurons of a wrong sign are wasted, and
v_0 = 1 is the better start for teachers of one sign. For arbitrary labels both signs are needed.

A fit is not an identification: where the samples do not outnumber what can be seen of the network, k D - k(k-1)/2
numbers of a sum of k squares, the end is `gave_up` however small the loss.

Reference: Soltanolkotabi, Javanmard & Lee, arXiv:1707.04926, §2 and §3.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from paramid import Access, GiveUp, Network, Oracle, Run, Spec, activation
from paramid.methods.squares import second_order
from paramid.methods.squares.overparam_descent import Point, Problem, descend, point
from paramid.methods.squares.overparam_polish import polish, tangent_kernel
from paramid.words import memory_limits
from paramid.words.neuron_distances import CLOSE
from paramid.words.options import among, at_least, positive

CHOICES = {
    "v0": ("ones", "rademacher", "balanced"),
    "train": ("auto", "both", "weights"),
    "descent": ("gradient", "trust", "cubic"),
    "step": ("bold", "curvature"),
    "polish": ("none", "lm"),
}
STOP = 1e-26  # of L over that of f = 0
FITS, FITS_FLOAT32 = 1e-16, 1e-12
ROOM = 2**30  # bytes of samples, or of a system of the polish


@dataclass(frozen=True)
class OverparamGD:
    """Full-batch gradient descent on over-parameterised squares or softplus (Soltanolkotabi, Javanmard & Lee)."""

    starts: int = 4  # random starts, which descend side by side
    v0: str = "ones"  # outer weights at the start; ones: 1; rademacher: ±1 at random; balanced: 1 and -1 in turn
    train: str = "auto"  # both: W and v; weights: W alone; auto: W alone where v is known to be 1, else both
    descent: str = "gradient"  # gradient: by step and kicks; trust: a trust region; cubic: cubic regularisation
    step: str = "bold"  # bold: grows by 2 %, halves where L would rise; curvature: 1 / λ_max(JJᵀ/n) at the start
    step_scale: float = 1.0  # what step=curvature is multiplied by: below 1 where curvature grows on the way
    kicks: int = 3  # how often at most noise pushes a run whose slope vanishes; 0: never
    iterations: int = 5000  # steps of the descent, at most
    init: float = 1.0  # scale of the first weights: W_0 ~ init N(0, I/D)
    polish: str = "none"  # none: ends as the descent leaves them; lm: then Levenberg-Marquardt
    lm_steps: int = 150  # steps of polish=lm, at most
    N: int | None = None  # samples; default: what is granted, or four for every number that can be seen

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.SAMPLES})

    def __post_init__(self) -> None:
        among(self, **CHOICES)
        positive(self, "starts", "iterations", "init", "lm_steps", "step_scale", "N")
        at_least(self, kicks=0)

    def declines(self, spec: Spec) -> str | None:
        """Squares, and softplus without shifts, of a width that is told."""
        if not spec.shallow or spec.outputs != instances(spec):
            return "needs one hidden layer and one linear output"
        if spec.activation not in ("square", "softplus") or (spec.activation == "softplus" and spec.shift):
            return "needs squares, or softplus without shifts"
        if spec.widths[0] is None:
            return "needs to know the learner's width"
        if spec.output_bias != "zero":
            return "trains no output bias"
        n, d = self.samples(spec), lifted(spec)
        weights = width(spec) * (d + 1)
        unknowns = min(n, weights) if self.polish == "lm" or self.step == "curvature" else 0
        unknowns = unknowns if self.descent == "gradient" else weights
        arrays = {"samples": (n, d + spec.outputs), "starts": (self.starts * spec.outputs * 8, d, width(spec))}
        return memory_limits.refusal({**arrays, "system": (4 * unknowns, unknowns)}, ROOM)

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Network]:
        """Stages 1 to 4."""
        spec = oracle.spec
        problem = self.problem(oracle)
        first = at = self.start(problem, spec, run)
        for done, at in enumerate(self.descended(problem, first, run), 1):
            if math.log10(done).is_integer():
                yield network(spec, *self.ranked(at, -1))
        if self.polish == "lm":
            at = polish(problem, at, most=self.lm_steps)
        for place in range(self.starts):
            yield network(spec, *self.ranked(at, place))
        vouch(spec, problem, at.loss.reshape(-1, self.starts).min(1).values)

    def descended(self, problem: Problem, first: Point, run: Run) -> Iterator[Point]:
        """Stage 2, the point after every step."""
        if self.descent != "gradient":
            cubic = self.descent == "cubic"
            return second_order.descend(problem, first, cubic=cubic, most=self.iterations, tol=STOP)
        alpha = self.step_scale / steepest(problem, first) if self.step == "curvature" else None
        most, kicks = self.iterations, self.kicks
        return descend(problem, first, step=alpha, most=most, tol=STOP, run=run, kicks=kicks)

    def samples(self, spec: Spec) -> int:
        """How many samples are asked for."""
        wanted = self.N or spec.samples or 4 * visible(spec, self.trains_outer(spec))
        return min(wanted, spec.samples or wanted)

    def trains_outer(self, spec: Spec) -> bool:
        """Whether v is trained."""
        return self.train == "both" or (self.train == "auto" and spec.outer != "ones")

    def problem(self, oracle: Oracle) -> Problem:
        """All samples, and every instance's labels once a start; a shift is a weight of a constant input."""
        spec = oracle.spec
        x, y = oracle.sample(self.samples(spec)).tensors()
        if spec.shift:
            x = torch.cat([x, torch.ones_like(x[:, :1])], dim=1)
        labels = y.T.repeat_interleave(self.starts, dim=0).contiguous()
        return Problem(x, labels, activation(spec.activation), getattr(spec, "sharpness", 1.0), self.trains_outer(spec))

    def start(self, problem: Problem, spec: Spec, run: Run) -> Point:
        """Stage 1."""
        runs, d, k = len(problem.y), problem.x.shape[1], width(spec)
        w = self.init * run.normal(runs * d, k).reshape(runs, d, k) / math.sqrt(d)
        v = torch.ones_like(w[:, 0])
        if self.v0 == "rademacher":
            v = 1 - 2 * (run.normal(runs, k) < 0).to(v)
        if self.v0 == "balanced":
            v = v * (1 - 2 * (torch.arange(k, device=v.device) % 2))
        return point(problem, w, v)

    def ranked(self, at: Point, place: int) -> tuple[Tensor, Tensor]:
        """W and v of every instance's start at that place, 0 the worst and -1 the best."""
        order = at.loss.reshape(-1, self.starts).argsort(dim=1, descending=True)[:, place]
        runs = order + self.starts * torch.arange(len(order), device=order.device)
        return at.w[runs], at.v[runs]


def instances(spec: Spec) -> int:
    """The teachers at once."""
    return int(getattr(spec, "instances", 1))


def width(spec: Spec) -> int:
    """The neurons k of one learner."""
    return (spec.widths[0] or 0) // instances(spec)


def lifted(spec: Spec) -> int:
    """Inputs, and a constant one where there are shifts."""
    return spec.inputs + bool(spec.shift)


def visible(spec: Spec, train_outer: bool = True) -> int:
    """The numbers that can be seen of a sum of k squares; of softplus all weights."""
    d, k = lifted(spec), width(spec)
    if spec.activation != "square":
        return k * (d + train_outer)
    rank = min(k, d)
    return rank * d - rank * (rank - 1) // 2


def steepest(problem: Problem, at: Point) -> Tensor:
    """λ_max of JJᵀ/n, run by run."""
    n = len(problem.x)
    kernels = (tangent_kernel(problem, at.w[i : i + 1], at.v[i : i + 1]) for i in range(len(at.v)))
    return torch.stack([torch.linalg.eigvalsh(kernel[0])[-1] / n for kernel in kernels])


def network(spec: Spec, w: Tensor, v: Tensor) -> Network:
    """Every instance's columns (instances, D, k) and outer weights as one net, an output each."""
    b = getattr(spec, "sharpness", 1.0)
    columns = b * w.permute(1, 0, 2).flatten(1)
    shifts = columns[-1] if spec.shift else torch.zeros_like(columns[0])
    outer = torch.block_diag(*(v / b)[:, :, None])
    return Network.shallow(columns[: spec.inputs], shifts, spec.activation, outer)


def vouch(spec: Spec, problem: Problem, best: Tensor) -> None:
    """Give up where no start explains the labels, or where other networks would explain them as well."""
    n, seen = len(problem.x), visible(spec, problem.train_outer)
    zero = problem.scale[:: len(problem.y) // len(best)]
    close = FITS_FLOAT32 if spec.precision == "float32" else FITS
    spread = 1 + 5 * math.sqrt(2 / max(1, n - seen))
    floor = spec.noise**2 * max(0, n - seen) / (2 * n) * spread
    if stuck := int((best > floor + close * zero).sum()):
        left = float((best / zero).max().sqrt())
        raise GiveUp(
            f"{stuck} of {len(best)} fits leave up to {left:.1e} of the labels: a minimum that is none, or slow"
        )
    if n <= seen:
        raise GiveUp(f"fits {n} samples, which leave {seen} numbers of the network open: fits, not identified")
    drift = spec.noise * math.sqrt(seen / (2 * (n - seen)))
    size = float((zero * 2).min().sqrt())
    if drift > CLOSE / 2 * size:
        raise GiveUp(f"noise moves the fit by about {drift / size:.1%} of its values")
