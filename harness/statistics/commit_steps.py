"""Which steps between neighbouring commits are more than noise, and whether they are better or worse.

Of a curve, d = log(after / before). Errors and rows of the teacher are the same on every run of a commit: a step of
theirs is one of the code, told where rows differ at all, errors by more than 1.5 times (those under 1e-12 are rounding
and count as 1e-12). Seconds and memory are noisy. Of a quantity on a machine, over its steps in all curves,

    (1)  e = d - median of d over the curves between the same two commits          (what slowed down everything alike),
    (2)  s = max(median |e| over the other steps of the curve, median |e| over all steps) / 0.706,
    (3)  p = P(|T| > |e| / s),   T of Student's law with 8 degrees of freedom, whose |T| has the median 0.706,

and a step is told where p ≤ α / n, α = 5 %, of the n steps of all noisy quantities on the machine, and the factor is
above 1.25: where all is noise with tails no heavier than those of T, about one machine in twenty at most tells a step
that is none, however many curves it has.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from scipy.stats import t as student

from paramid.statistics.asv_results import Commit, Curve
from paramid.statistics.commit_regressions import EXACT, GREW, ROUNDING, SLOWER

FALSE_ALARMS = 0.05  # α
DEGREES, MIDDLE = 8, 0.7064  # of T; the median of |T|
NOISY = ("seconds", "time", "peak_mb", "peakmem")
Steps = Mapping[tuple[Curve, int], float]


class Step(NamedTuple):
    """A change of a curve by a commit; lower is better."""

    commit: Commit
    curve: Curve
    before: float
    after: float

    @property
    def worse(self) -> bool:
        """Whether it grew."""
        return self.after > self.before


def steps(commits: Sequence[Commit]) -> list[Step]:
    """All that is more than noise between neighbours, oldest first, of one machine's commits, in order."""
    found = [key for quantity in EXACT for key in _exact(commits, quantity)]
    noisy = [_changes(commits, quantity) for quantity in NOISY]
    level = FALSE_ALARMS / max(1, sum(map(len, noisy)))
    found += [key for changes in noisy for key in _noisy(changes, level)]
    places = sorted(found, key=lambda key: (key[1], key[0]))
    return [Step(commits[i + 1], k, commits[i].values[k], commits[i + 1].values[k]) for k, i in places]


def _changes(commits: Sequence[Commit], quantity: str) -> dict[tuple[Curve, int], float]:
    """The d of every curve between each commit and the next one, where both have a number."""
    made = {}
    for i, (before, after) in enumerate(pairwise(commits)):
        for k in before.values.keys() & after.values.keys():
            a, b = before.values[k], after.values[k]
            if k.quantity == quantity and 0 < a < math.inf and 0 < b < math.inf:
                made[k, i] = math.log(b / a)
    return made


def _exact(commits: Sequence[Commit], quantity: str) -> Iterable[tuple[Curve, int]]:
    least = ROUNDING if quantity == "error" else 0.0
    factor = GREW if quantity == "error" else 1.0
    for i, (before, after) in enumerate(pairwise(commits)):
        for k in before.values.keys() & after.values.keys():
            a, b = sorted(max(commit.values[k], least) for commit in (before, after))
            if k.quantity == quantity and b > a * factor:
                yield k, i


def _noisy(changes: Steps, level: float) -> Iterable[tuple[Curve, int]]:
    """(1) to (3) of one quantity, p at most `level`."""
    together: dict[int, list[float]] = defaultdict(list)
    for (_, i), d in changes.items():
        together[i].append(d)
    common = {i: median(ds) for i, ds in together.items()}
    rest = {(k, i): d - common[i] for (k, i), d in changes.items()}
    every = median(map(abs, rest.values())) if rest else 0.0
    curves: dict[Curve, dict[int, float]] = defaultdict(dict)
    for (k, i), e in rest.items():
        curves[k][i] = abs(e)
    for (k, i), e in rest.items():
        others = [v for j, v in curves[k].items() if j != i]
        scale = max(every, median(others) if others else 0.0) / MIDDLE
        told = abs(e) > math.log(SLOWER) and abs(changes[k, i]) > math.log(SLOWER) and e * changes[k, i] > 0
        if told and (scale == 0 or 2 * student.sf(abs(e) / scale, DEGREES) <= level):
            yield k, i
