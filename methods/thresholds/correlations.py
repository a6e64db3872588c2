"""Correlations of a function of threshold units with Hermite tensors, divided by what one unit has.

With u_k = E[u(z - t) He_k(z)] and T_k = E[f He_k], x ~ N(0, I_D), a linear P = Σ_i c_i X_i has

    (1)  T_1 / u_1 = Σ_i c_i w_i,   A = T_2 / u_2 = Σ_i c_i w_i w_iᵀ,   B = T_4 / u_4 = Σ_i c_i w_i^{⊗4},

and any other P as well, up to its products of units: E|f - f_linear| ≈ (m - 1) E[X] / 2 of E f for a union. So high
thresholds make every P linear. Products weigh less in B than the noise of its estimate does, from t ≈ 2.5 on.
u_2 or u_4 is zero for a ReLU at t = 1, a step at t = √3, a sigmoid at t ≈ 3.03, and there (1) says nothing.

High thresholds make f constant but for few x: with that constant taken off f, the other rows cost nothing.

Reference: Goel & Panigrahy, Lemmas 1, 2, 10 to 12; the rates of Lemma 10 and the sign of Lemma 12 are corrected.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from paramid import GiveUp, Oracle, Run
from paramid.methods.hermite import moment_estimates
from paramid.methods.hermite.moment_estimates import Moments
from paramid.oracle.samples import Samples
from paramid.words import random_streams
from paramid.words.memory_limits import CHUNK
from paramid.words.spec import Spec, ThresholdSpec
from paramid.words.threshold_units import EVEN, coefficients

SOURCES = ("samples", "queries", "moments")
ORDERS = (1, 2, 4)
ROWS = 1_000_000  # where nothing says how many
FAINT = 0.05  # of the largest u_j √j!: below, a coefficient is a zero
DROWNED = 3.0  # times the noise of A: below, an eigenvalue of it is noise


@dataclass(frozen=True, eq=False)
class Correlations:
    """(1), and the noise of A in operator norm; `sign` is that of all c_i."""

    first: Tensor  # (D,)
    second: Tensor  # (D, D)
    fourth: Tensor  # (D, D, D, D)
    noise: float
    sign: float


class Active:
    """The rows of samples in which something fires, less the value of all others; re-iterable.

    That value is the median of the first chunk: under high thresholds most rows have it. Under noise no row has it, and
    any may be one in which something fires.
    """

    def __init__(self, samples: Samples, *, noisy: bool = False) -> None:
        self._samples = samples
        first = next(iter(samples))[1]
        self.base = float(first.median())
        self._silent = math.inf if noisy else self.base
        self.rows = sum(int((y != self._silent).sum()) for _, y in samples)

    @property
    def share(self) -> float:
        """How many of all rows these are."""
        return self.rows / len(self._samples)

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        for x, y in self._samples:
            here = y[:, 0] != self._silent
            yield x[here], y[here] - self.base


def unfit(spec: Spec, *, even: bool = False) -> str | None:
    """Why (1) is not for such a teacher, or None; `even` units show A and B alone, by a search on the sphere."""
    if not isinstance(spec, ThresholdSpec) or spec.outputs != 1 or spec.widths[0] is None:
        return "needs units of one known threshold below one output"
    if spec.widths[0] > spec.inputs:
        return f"{spec.widths[0]} directions in {spec.inputs} dimensions are dependent"
    if spec.weights in ("blocks", "uneven"):
        return "needs unit weight vectors"
    if (spec.unit in EVEN) and not even:
        return f"{spec.unit} is even: its directions are sought on the sphere"
    return faint(spec, (4,) if even else (1, 2, 4)) or moment_estimates.refusal(spec.inputs, 4)


def faint(spec: ThresholdSpec, orders: tuple[int, ...]) -> str | None:
    """Which of the coefficients is zero, as far as samples can tell, or None."""
    u = coefficients(spec.unit, spec.threshold, 5, spec.rate)
    sizes = {1: 1.0, 2: 2.0**0.5, 4: 24.0**0.5}
    largest = max(abs(u[k]) / size for k, size in sizes.items())
    for k in orders:
        if not abs(u[k]) / sizes[k] > FAINT * largest:
            return f"the Hermite coefficient {k} of a {spec.unit} at t = {spec.threshold:g} is {u[k]:.1e}, about zero"
    return None


def exact(oracle: Oracle) -> Moments:
    """T_1, T_2, T_4 as they are."""
    return moment_estimates.exact(oracle, ORDERS)


def drawn(oracle: Oracle, run: Run, *, source: str, rows: int | None) -> Samples | None:
    """All samples granted, or as many queries at Gaussian points; None where moments are exact."""
    if source == "moments":
        return None
    n = granted(oracle.spec, rows)
    return oracle.sample(n) if source == "samples" else asked(oracle, run, n)


def granted(spec: Spec, rows: int | None) -> int:
    """How many rows to take: all that are granted, or fewer."""
    most = spec.samples or rows or ROWS
    return most if rows is None else min(rows, most)


def of_samples(samples: Samples, noise: float = 0.0) -> tuple[Moments, float]:
    """T_k from the rows that are not at the commonest value, from all under noise, and that value."""
    active = Active(samples, noisy=noise > 0)
    if active.rows < 2:
        raise GiveUp(f"the function is constant on {len(samples) - active.rows} of {len(samples)} rows")
    estimate = moment_estimates.estimate(active, ORDERS, control=moment_estimates.PRINTED)
    tensors = {k: active.share * t for k, t in estimate.tensors.items()}
    spread = {k: active.share * v for k, v in estimate.noise.items()}
    return replace(estimate, tensors=tensors, noise=spread), active.base


def asked(oracle: Oracle, run: Run, n: int) -> Samples:
    """Queries at `n` points of N(0, I), as samples are given."""
    d = oracle.spec.inputs
    seed = int(torch.randint(2**62, (1,), generator=run.generator, device="cpu"))

    def draw(index: int, rows: int) -> Tensor:
        return random_streams.normal(rows, d, random_streams.generator(seed, index), run.device, run.dtype)

    return Samples(n, d + 1, max(1, CHUNK * 8 // d), draw, lambda _, x: oracle.query(x))


def normalised(moments: Moments, spec: ThresholdSpec) -> Correlations:
    """(1), where it stands out of the noise."""
    u, m = coefficients(spec.unit, spec.threshold, 5, spec.rate), spec.widths[0]
    assert m is not None  # unfit otherwise
    a = moments.full(2) / u[2]
    values, noise = torch.linalg.eigvalsh(a), moments.noise[2] / abs(u[2])
    sign = 1.0 if float(values.sum()) >= 0 else -1.0
    last = float((sign * values).sort(descending=True).values[m - 1])
    if not last > DROWNED * noise:
        raise GiveUp(f"direction {m} of the second correlations, {last:.1e}, drowns in noise of {noise:.1e}")
    return Correlations(moments.full(1) / u[1], sign * a, sign * moments.full(4) / u[4], noise, sign)
