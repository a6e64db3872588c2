"""What the judge calls exact computes what the teacher computes, whatever was changed."""

import math
from collections.abc import Iterator

import pytest
import torch

from paramid.contracts import registry
from paramid.judging.metrics import Unjudgeable
from paramid.words.claims import Claim, Function
from paramid.words.random_streams import generator

OTHERS = (
    *("threshold:D=4,m=3,activation=relu,polynomial=linear", "threshold:D=4,m=3,activation=sigmoid,polynomial=pairs"),
    *("threshold:D=4,m=3,t=0,activation=abs,polynomial=monotone", "threshold:D=4,m=3,t=0,activation=cosh"),
    *("shallow:D=4,m=3,outer=free", "shallow:D=4,m=3,activation=softplus", "quadratic:D=4,k=3,instances=2"),
)
FAMILIES = [name for name in registry.BUILT_IN["tasks"] if registry.task(name).kinds != (Function,)]  # with parameters
TASKS = [f"{name}:{registry.task(name).corners[0]}" for name in FAMILIES] + list(OTHERS)


def changed(truth: Claim, spec: object, factors: tuple[float, ...]) -> Iterator[tuple[str, Claim]]:
    """The truth with the first column of one of its arrays multiplied."""
    for name, array in truth.arrays().items():
        if name.startswith("J"):  # which layers a layer sees: no numbers to scale
            continue
        for factor in factors:
            scale = torch.ones_like(array).index_fill_(-1, torch.tensor([0]), factor)
            yield f"{factor:g} {name}", type(truth).restore({**truth.arrays(), name: array * scale}, spec)


@pytest.mark.parametrize("text", TASKS)
def test_what_is_exact_is_the_same_function(text: str) -> None:
    task = registry.task(text)
    teacher = task.draw(0)
    x = torch.randn(500, task.spec.inputs, generator=generator(0, "probe"), dtype=torch.float64)
    seen = 0
    for kind in task.kinds:
        truth = task.truth(teacher, kind)
        if not callable(truth):
            continue
        for change, claim in changed(truth, task.spec, (-1.0, 3.0, 0.0)):
            try:
                exact = not claim.problem(task.spec) and task.judge(claim, teacher)["exact"] == 1
            except Unjudgeable:
                exact = False
            gap = float((claim(x) - teacher(x)).abs().max()) if exact else 0.0
            assert gap <= 1e-6 * float(teacher(x).abs().max()), change
            seen += 1
    assert seen >= 6


@pytest.mark.parametrize("text", TASKS)
def test_whatever_is_claimed_is_judged_or_said_to_be_no_claim(text: str) -> None:
    task = registry.task(text)
    teacher = task.draw(0)
    for kind in task.kinds:
        for change, claim in changed(task.truth(teacher, kind), task.spec, (1e300, -1e160, 1e-300)):
            if claim.problem(task.spec):
                continue
            try:
                metrics = task.judge(claim, teacher)
            except Unjudgeable:
                continue
            assert not any(math.isnan(value) for value in metrics.values()), change
