"""Theorems 2.5 and 2.10, Remark 2.2: where the subspace power method ends for up to 0.4 D² random weights."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.reproduce.pages import grid
from benchmarks.reproduce.shallow.items import Check, verdict
from benchmarks.reproduce.shallow.rank_one_bases import single_steps
from benchmarks.reproduce.shallow.rank_one_bases.perturbed_spans import HALF, SAME, perturbed
from benchmarks.reproduce.shallow.sizes import Sizes
from benchmarks.reproduce.shallow.teachers import apart, neurons, off
from benchmarks.reproduce.source_items import Item, spread
from paramid import Run
from paramid.methods.spans import power_ascent

BETAS = (1.0, 1.5, 1.75, 2.0)
COUPONS = 4  # times those of equally likely w_k
LOW = 0.01  # share of starts


@dataclass(frozen=True)
class Climbed:
    """Where SPM ends from random starts in Ŵ of m random weights."""

    m: int
    share: float  # the m ln² m / D² that Theorem 2.10 supposes at most 1
    level: float  # of (2.54) with C = 1
    starts: int
    found: int  # w_k with a maximum within √δ
    others: tuple[int, int]  # distinct ends above ½ that are no w_k, and those above the threshold of §3.6
    error: float  # the largest of the found, over δ
    low: float  # share of starts that end below ½
    coupons: float  # starts to all w_k over m (ln m + 0.577)

    @property
    def alone(self) -> bool:
        """Whether every w_k is one maximum above ½ and nothing else is."""
        return self.found == self.m and self.others[0] == 0


def climbed(d: int, m: int, delta: float) -> Climbed:
    """From ⌈5 m ln m⌉ starts with γ = 2."""
    run = Run.seeded(0)
    w = run.sphere(m, d).T
    p = perturbed(w, delta, run).projector()
    u = power_ascent.ascend(p, run.sphere(math.ceil(5 * m * math.log(m)), d), step=2.0, steps=2000, tol=1e-12)
    energy = p.energy(u)
    high = power_ascent.distinct(u, energy, threshold=HALF, most=9 * m, same=SAME)
    true = off(high, w) <= math.sqrt(delta)
    strict = 0.99 if m >= 0.4 * d * d else 0.9
    return Climbed(
        m=m,
        share=m * math.log(m) ** 2 / d**2,
        level=m * math.log(m) ** 2 / d**2 + 5 * delta,
        starts=len(u),
        found=int(true.sum()),
        others=(int((~true).sum()), int((p.energy(high[~true]) > strict).sum()) if bool((~true).any()) else 0),
        error=float(off(high[true], w).max()) / delta,
        low=float((energy <= HALF).sum()) / len(u),
        coupons=first_visits(u, w, math.sqrt(delta)) / (m * (math.log(m) + 0.5772)),
    )


def maxima(sizes: Sizes) -> Check:
    """Theorems 2.5 and 2.10, Lemma 2.11, Remark 2.2 on random weights up to m = 0.4 D²."""
    d, delta = sizes.overcomplete, 1e-4
    seen = [climbed(d, neurons(d, beta), delta) for beta in BETAS]
    falls, rises = {step: single_steps.falling(sizes, step) for step in single_steps.STEPS}, single_steps.rising(sizes)
    head = ("m", "level of (2.54), C = 1", "starts", "w_k found", "others above ½", "above 0.9 / 0.99")
    rows = (
        (
            *(f"{c.m}", f"{c.level:.2g}", f"{c.starts}", f"{c.found}/{c.m}", f"{c.others[0]}", f"{c.others[1]}"),
            *(f"{c.error:.2g} δ", f"{c.low:.1%}", f"{c.coupons:.2g}"),
        )
        for c in seen
    )
    lines = (
        f"D = {d}, δ = {delta:g}, one draw of weights for each m, ⌈5 m ln m⌉ uniform starts with γ = 2. "
        "Others are counted",
        "above ½, which Theorem 3.3 proves enough, and above the threshold of §3.6. "
        "Coupons: m (ln m + 0.577), the starts",
        "to see all m if all are equally likely.",
        "",
        *grid((*head, "largest error", "starts that end below ½", "starts to all / coupons"), rows),
        "",
        single_steps.counted(falls, rises, sizes),
    )
    return Check(
        "Maxima for many weights (Theorems 2.5 and 2.10, Remark 2.2)",
        lines,
        (*peaks(seen, delta), *single_steps.climbs(falls, rises)),
    )


def peaks(seen: Sequence[Climbed], delta: float) -> Iterator[Item]:
    """What is said of maxima."""
    few = [c for c, beta in zip(seen, BETAS, strict=True) if beta < 2]
    many = seen[len(few) :]
    crowded = ", ".join(f"{c.others[0]} others above ½ and {c.others[1]} above 0.99" for c in many)
    above = sum(c.level >= 1 for c in seen)
    within, beyond = ([c for c in few if (c.share <= 1) == supposed] for supposed in (True, False))
    yield verdict(
        "Theorem 2.10: exactly 2m maxima in the superlevel set, here above ½ instead of (2.54)",
        all(c.alone for c in within) if within else None,
        f"every w_k is one maximum above ½ and nothing else is at m = {alone(within)}, of which m ln² m ≤ D² is true; "
        f"beyond it that is also seen at m = {alone(beyond)}, and at m = 0.4 D² there are {crowded}.",
    )
    yield verdict(
        "Theorem 2.10: its level C m ln² m / D² + 5δ",
        None,
        f"With C = 1 it is above 1, and the set empty, in {above} of {len(seen)} rows; C is not given.",
    )
    worst = max(c.error for c in seen)
    yield verdict(
        "Theorems 2.8, 2.10, (2.55): errors at most √δ",
        worst * delta <= math.sqrt(delta),
        f"and far from tight: they are at most {worst:.2g} δ.",
    )
    drawn = [c.coupons for c in seen]
    yield verdict(
        "Remark 2.2: Θ(m log m) starts",
        max(drawn) < COUPONS,
        f"All w_k were seen after {spread(drawn, '.2g')} times the coupons.",
    )
    yield verdict(
        "Theorem 2.5 (SPM2): random starts end at maxima, here with Φ > ½",
        max(c.low for c in seen) < LOW,
        f"At most {max(c.low for c in seen):.1%} of the starts end below ½.",
    )


def alone(seen: Sequence[Climbed]) -> str:
    """The m of which every w_k is one maximum and nothing else is."""
    return ", ".join(str(c.m) for c in seen if c.alone) or "none"


def first_visits(u: Tensor, w: Tensor, near: float) -> int:
    """After how many of the rows u every column of w was met; all of them where one never was."""
    met = apart(u, w) <= near
    firsts = torch.where(met.any(0), met.int().argmax(0), len(u) - 1)
    return int(firsts.max()) + 1
