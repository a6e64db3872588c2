"""Laws of the suite `bfc`: exponents over the gap and over noise, seed by seed."""

import math
from collections.abc import Mapping
from itertools import pairwise

from benchmarks.reproduce.hierarchy.images.accuracies import interval, told
from benchmarks.reproduce.hierarchy.records import GAP, gap, metric, power, stage
from benchmarks.reproduce.pages import Records, grouped, option
from benchmarks.reproduce.source_items import Judged, Made, every, spread

FORWARD, NOISE = 2.0, 2.0  # of α_3 in Theorem 2's squared error, and of noise
NEAR = 0.3  # of an exponent


def law(exponents: Mapping[int, float], wanted: float) -> bool | None:
    """Whether the interval of an exponent over seeds is that of a law; None where a part of it is."""
    _, least, most = interval(exponents)
    inside = wanted - NEAR < least and most < wanted + NEAR
    return True if inside else False if most < wanted - NEAR or least > wanted + NEAR else None


def within(values: Mapping[int, float]) -> str:
    """An exponent and its interval over seeds."""
    return told(values, ".2f", 1.0)


def exponents(records: Records, name: str, at: int) -> dict[int, float]:
    """By seed, of a metric of the claim number `at` of `densenet-als` over α_3, where it is known."""
    mine = grouped([r for r in records if r.method == GAP], lambda r: r.seed)
    found = {seed: power((gap(r), stage(r, name, at)) for r in rs) for seed, rs in mine.items()}
    return {seed: value for seed, value in found.items() if math.isfinite(value)}


def forward(made: Made) -> Judged:
    """Theorem 2's law: what layer 2 alone leaves is of the size (α_3 / α_2)²."""
    found = exponents(made["bfc"], "feature_error_2", 0)
    said = f"the error of S_2 goes like α_3^({within(found)}), {len(found)} seeds; by least squares"
    return law(found, FORWARD), said


def passes_add_powers(made: Made) -> Judged:
    """§6.1: an error of α becomes α² with each correction, its square two powers of α_3 smaller."""
    found = [exponents(made["bfc"], "feature_error_2", at) for at in (0, 2, 3, 4)]
    added = [
        {seed: after[seed] - before[seed] for seed in after.keys() & before.keys()} for before, after in pairwise(found)
    ]
    said = f"the distillations add {', '.join(map(within, added))} to the exponent of the squared error"
    return every([law(more, FORWARD) for more in added]), f"{said}, {len(found[0])} seeds; by densenet-als"


def noise_is_squared(made: Made) -> Judged:
    """Errors of features under label noise: ours, as the paper has none."""
    mine = [r for r in made["bfc"] if "noise=" in r.task]
    by_seed = grouped(mine, lambda r: r.seed)
    found = [power((option(r.task, "noise"), metric(r, "feature_error_2")) for r in rs) for rs in by_seed.values()]
    gave = sum(r.status.key != "finished" for r in mine)
    said = f"the error of S_2 goes like noise^({spread(found, '.2f')}), {len(found)} seeds of three noises"
    held = all(abs(p - NOISE) < NEAR for p in found) if all(map(math.isfinite, found)) else None
    return held, f"{said}; {gave} of {len(mine)} runs give up, and are judged by what they had"
