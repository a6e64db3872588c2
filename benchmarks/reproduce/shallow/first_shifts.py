"""Algorithm 3.3 and Proposition 3.1 on networks with D ≤ m, m ln² m ≤ D², weights off in random directions.

(1)  ‖τ̂ - τ‖ ≤ C √m ε + C m^{3/2} (ln m / D)^{3/4} δ_max,                                               (3.62)
(2)  δ_max ≤ √D / (C m √ln m),                                                                        (3.61)
(3)  the signs are right once (1) is below 1 and ε ≤ 1/(C m),   ε = h² for differences of step h, C = 1 here.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks.reproduce.pages import grid, slope
from benchmarks.reproduce.shallow.items import FLAT, MODERATE, NEAR, Check, upward, verdict
from benchmarks.reproduce.shallow.sizes import Sizes
from benchmarks.reproduce.shallow.teachers import asked, drawn, widest
from benchmarks.reproduce.source_items import Item
from paramid import Run
from paramid.methods.spans import signs_and_shifts
from paramid.words.activations import activation

STEP = 0.01  # of §3.6
STEPS = (0.1, 0.03, 0.01)  # for the power of ε
OFF = (0.0, 1e-3, 1e-2)  # δ_max


class Initial(NamedTuple):
    """What Algorithm 3.3 makes of one network."""

    d: int
    m: int
    off: float  # δ_max
    h: float
    error: float  # ‖τ̂ - τ‖
    right: float  # share of signs

    @property
    def bound(self) -> float:
        """(1)."""
        return math.sqrt(self.m) * self.h**2 + self.m**1.5 * (math.log(self.m) / self.d) ** 0.75 * self.off

    @property
    def supposed(self) -> bool:
        """(2)."""
        return self.off <= math.sqrt(self.d) / (self.m * math.sqrt(math.log(self.m)))

    @property
    def signed(self) -> bool:
        """What (3) supposes."""
        return self.bound < 1 and self.h**2 <= 1 / self.m

    @property
    def row(self) -> tuple[str, ...]:
        """In the table."""
        numbers = (f"{self.error:.1e}", f"{self.bound:.1e}", f"{self.error / self.bound:.2g}", f"{self.right:.0%}")
        return (f"{self.d}", f"{self.m}", f"{self.off:g}", f"{self.h:g}", *numbers)


def initial(d: int, off: float, h: float) -> Initial:
    """Algorithm 3.3 on the widest network of D, every other weight turned round."""
    m, g, run = widest(d), activation("tanh"), Run.seeded(1)
    network = drawn(d, m)
    w, tau = network.weights[0], network.biases[0]
    turned = 2 * run.normal(1, m)[0].gt(0).double() - 1
    noise = run.normal(d, m)
    noise = noise - w * (noise * w).sum(0)
    angle = 2 * math.asin(off / 2)
    rough = (math.cos(angle) * w + math.sin(angle) * noise / noise.norm(dim=0)) * turned
    second, third = signs_and_shifts.directional_differences(asked(network), rough, h=h)
    limit = signs_and_shifts.SHIFT_LIMITS["tanh"]
    signs, shifts = signs_and_shifts.signs_and_shifts(second, third, rough, g, limit=limit)
    return Initial(d, m, off, h, float((shifts - tau).norm()), float((signs == turned).double().mean()))


def first_shifts(sizes: Sizes) -> Check:
    """Proposition 3.1 and Remark 3.3."""
    seen = [initial(d, off, STEP) for d in sizes.initial for off in OFF]
    finer = [initial(sizes.initial[0], 0.0, h) for h in STEPS]
    lines = (
        "One network for each D, m the largest with m ln² m ≤ D², every weight off by δ_max in a random direction and",
        "its sign drawn; (3.61), (3.62) with C = 1 and ε = h².",
        "",
        *grid(
            ("D", "m", "δ_max", "h", "‖τ̂ - τ‖", "(3.62)", "ratio", "signs right"),
            (one.row for one in (*seen, *finer[:-1])),
        ),
    )
    return Check("First signs and shifts (Algorithm 3.3, Proposition 3.1)", lines, tuple(of_initial(seen, finer)))


def of_initial(seen: Sequence[Initial], finer: Sequence[Initial]) -> Iterator[Item]:
    """What is said of first signs and shifts."""
    within = [one for one in seen if one.supposed]
    ratios = [one.error / one.bound for one in within]
    grows = {
        off: slope((o.d for o in within if o.off == off), (o.error / o.bound for o in within if o.off == off))
        for off in OFF
    }
    free = all(not g > FLAT for g in grows.values())
    told = ", ".join(f"D^{g:.2f} for δ_max = {off:g}" for off, g in grows.items() if not math.isnan(g))
    yield verdict(
        "Proposition 3.1, (3.62): first shifts within C √m ε + C m^{3/2} (ln m / D)^{3/4} δ_max",
        max(ratios) < MODERATE and free if ratios else None,
        f"C = {upward(max(ratios))} suffices at {len(within)} of {len(seen)} errors, those within (3.61), of random "
        f"directions; the ratio goes like {told}",
    )
    asked_of = [one for one in within if one.signed]
    right = sum(one.right == 1 for one in asked_of)
    yield verdict(
        "Proposition 3.1: all signs are right once (3.62) is below 1 and ε ≤ 1/(C m)",
        right == len(asked_of) if asked_of else None,
        f"at {right} of the {len(asked_of)} errors of which that is true with C = 1",
    )
    power = slope((one.h**2 for one in finer), (one.error for one in finer))
    yield verdict(
        "Remark 3.3: Algorithm 3.3 is exact as ε → 0, weights exact",
        abs(power - 1) < NEAR,
        f"first shifts are off like ε^{power:.2f} from h = {STEPS[0]:g} to {STEPS[-1]:g}",
    )
