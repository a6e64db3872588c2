"""Figures 9 and 10 on DenseNets: how far backward correction moves the weights of a layer.

For the rows w of K_l when the layers up to l were trained, and w' when all layers were,

    (1)  mean of ⟨w, w'⟩ / (‖w‖ ‖w'‖) over the rows of a layer,

the paper's average weight correlation, and the same with the random start in the place of w'. Weights are those of
`densenet-lm`, layer by layer and then all together to rounding; R_l stays, so that rows keep their meaning.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from benchmarks.reproduce.hierarchy.images.accuracies import interval, share
from benchmarks.reproduce.hierarchy.images.verdicts import FAR, LOCAL, better
from benchmarks.reproduce.pages import grid
from benchmarks.reproduce.source_items import Judged, Made, every
from paramid import Access, Run
from paramid.contracts import registry
from paramid.methods.densenet_joint import DenseNetJoint
from paramid.methods.densenet_lm import DenseNetLM
from paramid.methods.hierarchy import densenet
from paramid.methods.refinement import stochastic
from paramid.oracle.counting import CountingOracle
from paramid.words.densenet import DenseNet
from paramid.words.spec import HierarchySpec

THREE, FOUR = "hierarchy:N=3000", "hierarchy:D=15,ks=4-3-2,alphas=1-0.2-0.04,truncate=2.5,N=3000"
CASES = {THREE: range(10), FOUR: range(3)}
ADAM, STEPS = "hierarchy", 1500
ADAM_SEEDS = range(10)
PRINTED = (0.927, 0.968)  # the least and the largest of Figure 9, "train ≤ l" against "train all"
PRINTED_ATTACKED = (0.622, 0.942)  # of Figure 14 (b) and (c), adversarial training
PRINTED_START = (0.031, 0.131)  # and against the random start


@dataclass(frozen=True)
class Moved:
    """The correlations of a layer, before and after, over seeds."""

    task: str
    learner: str
    layer: int
    before_after: tuple[float, ...]
    before_start: tuple[float, ...] = ()  # where the start is known


def correlation(before: Tensor, after: Tensor) -> float:
    """(1)."""
    unit = [w / w.norm(dim=1, keepdim=True) for w in (before, after)]
    return float((unit[0] * unit[1]).sum(1).mean())


def oracle_of(task: str, seed: int) -> tuple[CountingOracle, HierarchySpec]:
    """Samples of that teacher."""
    family = registry.task(task)
    spec = family.spec
    if not isinstance(spec, HierarchySpec):
        raise ValueError(f"{task} is no family of DenseNets")
    access = frozenset({Access.SAMPLES})
    return CountingOracle(family.draw(seed), spec, access=access, seed=seed, device=torch.device("cpu")), spec


@cache
def stages(task: str, seed: int) -> tuple[DenseNet, ...]:
    """The nets of `densenet-lm` after each layer that joined."""
    oracle, spec = oracle_of(task, seed)
    claims = DenseNetLM().identify(oracle, Run.seeded(seed))
    return tuple(next(claims) for _ in spec.links)


@cache
def by_adam(task: str, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """K_2 at its start, trained alone, and trained with all layers."""
    oracle, spec = oracle_of(task, seed)
    run = Run.seeded(seed)
    learner = DenseNetJoint(steps=STEPS)
    net = densenet.student(spec, run, drawn=True)
    source = stochastic.batches(oracle.sample(learner.N), learner.batch, run)
    *_, alone = learner.train(net.upto(2), source, STEPS)
    joined = densenet.with_layers(net, {2: alone.weights[0]})
    *_, whole = learner.train(joined, source, STEPS)
    return net.weights[0], alone.weights[0], whole.weights[0]


@cache
def measured() -> tuple[Moved, ...]:
    """All cases."""
    rows = []
    for task, seeds in CASES.items():
        runs = [stages(task, seed) for seed in seeds]
        for at in range(len(runs[0]) - 1):
            told = tuple(correlation(nets[at].weights[at], nets[-1].weights[at]) for nets in runs)
            rows.append(Moved(task, "densenet-lm", at + 2, told))
    adam = [by_adam(ADAM, seed) for seed in ADAM_SEEDS]
    after, start = (tuple(correlation(run[1], run[at]) for run in adam) for at in (2, 0))
    return (*rows, Moved(ADAM, "Adam", 2, after, start))


def text() -> Iterator[str]:
    """The table."""
    yield "Rows of K_l when layers up to l were trained, against the same rows when all were: the mean cosine, least"
    yield f"and largest over seeds. The paper prints {PRINTED[0]} to {PRINTED[1]} for a WRN-34-5 on CIFAR-100, and"
    yield f"{PRINTED_START[0]} to {PRINTED_START[1]} against the random start; under attack (Figure 14)"
    yield f"{PRINTED_ATTACKED[0]} to {PRINTED_ATTACKED[1]} before and after, where §3.1 says more than {LOCAL:g}."
    yield ""
    rows = []
    for m in measured():
        ends = [f"{min(v):.4f} to {max(v):.4f}" if v else "-" for v in (m.before_after, m.before_start)]
        rows.append((m.task, m.learner, str(m.layer), str(len(m.before_after)), *ends))
    yield from grid(("task", "learner", "layer", "seeds", "before against after", "before against start"), rows)


def local(_: Made) -> Judged:
    """Whether correction moves the weights of every layer by little, by an interval over seeds."""
    rows = [dict(enumerate(m.before_after)) for m in measured()]
    numbers = ", ".join(
        f"{share(row)} of layer {m.layer}, {m.learner} on {m.task}" for row, m in zip(rows, measured(), strict=True)
    )
    below = sum(v < LOCAL for row in rows for v in row.values())
    told = f"correlations of {numbers}; {below} of {sum(map(len, rows))} single ones are below {LOCAL:g}"
    return every([better({seed: v - LOCAL for seed, v in row.items()}) for row in rows]), told


def far_from_start(_: Made) -> Judged:
    """Whether training goes as far from where it started as on the paper's images, by an interval over seeds."""
    seeds = dict(enumerate(v for m in measured() for v in m.before_start))
    _, least, most = interval(seeds)
    held = True if most < FAR else False if least > FAR else None
    return (
        held,
        f"correlations of {share(seeds)} with the random start over {len(seeds)} seeds; at most {FAR:g} printed",
    )
