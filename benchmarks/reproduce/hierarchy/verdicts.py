"""What the suite `bfc` says of the paper's statements."""

import math
from itertools import pairwise

from benchmarks.reproduce.hierarchy import algorithm1
from benchmarks.reproduce.hierarchy.images.accuracies import interval
from benchmarks.reproduce.hierarchy.records import (
    ALTERNATING,
    DEPTH,
    GAPS,
    KERNEL,
    LEARNERS,
    SMALL,
    SOLVED,
    corrections,
    kernel_lines,
    metric,
    option_of,
    stage,
)
from benchmarks.reproduce.pages import Records, grouped, option
from benchmarks.reproduce.source_items import Judged, Made, every, spread
from paramid.words.naming import Name

SAME = 2.0  # a factor between errors that are the same
UNLIKELY = 0.05  # a chance
FOUR = "hierarchy:D=15,ks=4-3-2,alphas={},truncate=2.5"
WITH_AND_WITHOUT = (  # a learner, a task with a gap and the same without
    (DEPTH, *(FOUR.format(a) for a in GAPS)),
    (ALTERNATING, *(FOUR.format(a) for a in GAPS)),
    ("densenet-lm", "hierarchy:N=3000", "hierarchy:alphas=1.0-1.0,N=3000"),
)


def on(records: Records, method: str, task: str = "hierarchy") -> Records:
    """Those of one method on one task."""
    return [r for r in records if (r.method, r.task) == (method, task)]


def correction(made: Made) -> Judged:
    """Whether S_2 is better in every run in which upper layers are trained than layer 2 alone has it."""
    gains = {m: corrections(made["bfc"], on(made["bfc"], m)) for m in LEARNERS}
    told = ", ".join(f"{spread(g, '.2g')} times ({m}, {len(g)} seeds)" for m, g in gains.items())
    return min(min(g) for g in gains.values()) > 1, f"the error of S_2 is smaller than by layer 2 alone {told}"


def layerwise_is_worse(made: Made) -> Judged:
    """Figure 6: strict layers against all together."""
    strict, joint = ([metric(r, "error") for r in on(made["bfc"], m)] for m in ("densenet-layerwise", "densenet-joint"))
    told = f"relative MSE {spread(strict, '.1e')} layer by layer, {spread(joint, '.1e')} together, "
    told += f"{len(strict)} and {len(joint)} seeds"
    return (True if min(strict) > max(joint) else False if max(strict) < min(joint) else None), told


def pretraining_is_no_matter(made: Made) -> Judged:
    """Figure 6 and A.4: staged training ends where training from scratch does, seed by seed."""
    staged, scratch = (
        {r.seed: math.log(error) for r in on(made["bfc"], m) if 0 < (error := metric(r, "error")) < math.inf}
        for m in ("densenet-joint", "densenet-joint:schedule=scratch")
    )
    apart = {seed: staged[seed] - scratch[seed] for seed in staged.keys() & scratch.keys()}
    middle, least, most = interval(apart)
    told = f"staged leaves {math.exp(middle):.2g} times what training from scratch does, {math.exp(least):.2g} to "
    edge = math.log(SAME)
    held = True if max(-least, most) < edge else False if least > edge or most < -edge else None
    return held, f"{told}{math.exp(most):.2g} over {len(apart)} seeds, in as many steps"


def nets_need_fewer(made: Made) -> Judged:
    """The direction of Remark I.2: every kernel leaves more of the most samples than nets of the fewest they need."""
    mine = [r for r in made["bfc"] if r.method.startswith(KERNEL)]
    left = min(e for points in kernel_lines(mine).values() for _, e in points)
    nets = grouped([r for r in made["bfc"] if r.method == "densenet-lm"], lambda r: r.task)
    learnt = {task: max(metric(r, "error") for r in rs) < SOLVED for task, rs in nets.items() if only_n(task)}
    fewest = min((option(task, "N") for task, good in learnt.items() if good), default=math.inf)
    told = f"densenet-lm learns with {fewest:g} samples, every seed; with {max(option(r.method, 'N') for r in mine):g}"
    held = left > SOLVED if math.isfinite(fewest) else None
    return held, f"{told} the best kernel leaves {left:.2g}; one seed of kernels, one D"


def only_n(task: str) -> bool:
    """Whether a task differs from the default by its number of samples alone."""
    return list(dict(Name.parse(task).options)) == ["N"]


def gap_matters(made: Made) -> Judged:
    """§3.1: whether every learner loses without a gap what it has with one; runs that were stopped tell nothing."""
    from scipy.stats import fisher_exact

    held: list[bool | None] = []
    told = []
    for learner, gapped, even in WITH_AND_WITHOUT:
        runs = [[r for r in made["bfc"] if (r.method, r.task) == (learner, task)] for task in (gapped, even)]
        ended = [[r for r in rs if r.status.key != "timed_out"] for rs in runs]
        right = [sum(r.metrics.get("identified") == 1 for r in rs) for rs in ended]
        table = [[good, len(rs) - good] for good, rs in zip(right, ended, strict=True)]
        less = fisher_exact(table, alternative="greater").pvalue < UNLIKELY
        counts = " and ".join(f"{good} of {len(rs)}" for good, rs in zip(right, ended, strict=True))
        stopped = sum(map(len, runs)) - sum(map(len, ended))
        held.append(True if less else False if ended[1] and right[1] == len(runs[1]) else None)
        depth = 1 + len(option_of(gapped, "ks", "4-2").split("-"))
        told.append(f"{learner}, L = {depth}: {counts}" + f", {stopped} stopped" * (stopped > 0))
    agree = held[0] if len(set(held)) == 1 else None
    return agree, f"identified with a gap and without: {'; '.join(told)}"


def depth_corrects(made: Made) -> Judged:
    """Theorem 2 over l: S_2 and S_3 improve with every layer that joins, where there is a gap."""
    mine = [r for r in made["bfc"] if r.method == DEPTH and GAPS[0] in r.task]
    told, held = [], []
    for n in (2, 3):
        steps = [[stage(r, f"feature_error_{n}", at) for at in range(n - 2, 3)] for r in mine]
        falls = [a / b for s in steps for a, b in pairwise(s) if b and math.isfinite(a + b)]
        told.append(f"of S_{n} at least {min(falls):.2g} times")
        held.append(min(falls) > 1)
    return every(held), f"each layer that joins lowers the error {' and '.join(told)}, {len(mine)} seeds of densenet-lm"


def wrong_at_zero(made: Made) -> Judged:
    """Remark 3.2: whether any net of small error has features that are off; none that has decides nothing."""
    small = [r for r in made["bfc"] if metric(r, "error") < SMALL and "feature_error_2" in r.metrics]
    off = sum(algorithm1.worst(r) > algorithm1.OFF for r in small)
    told = f"of {len(small)} nets with a relative MSE below {SMALL:g} {off} have features off by {algorithm1.OFF:g}"
    return (True if off else None), f"{told}; a net that was not met may be there"
