"""Every registered method before every registered task that it takes, at sizes for which a second is enough."""

from collections.abc import Iterator

from paramid.contracts import registry
from paramid.contracts.controls import Control
from paramid.contracts.method import declined
from paramid.running.cell import plan_cell
from paramid.running.inside_cell import execute

# Sizes at which a second is enough; an entry that is not named here runs with its defaults.
SMALL = {
    "entangled": "entangled:steps=200,epochs=1,N=640",
    "sgd": "sgd:N=200,steps=300",
    "student": "student:starts=5,N=300",
    "expand-cluster": "expand-cluster:epochs=30,again=20,N=300",
    "hermite-fused": "hermite-fused:rounds=1,N=5000",
    "cp-als": "cp-als:starts=1,iterations=50",
    "threshold-plane": "threshold-plane:starts=1,steps=20,gaussians=500",
    "shallow": "shallow:D=6,m=3",
    "biased-relu": "biased-relu:D=5,m=3,N=2000",
    "relu": "relu:D=6,widths=3",
    "pyramid": "pyramid:D=8,widths=6-4-3",
    "threshold": "threshold:D=4,m=3,N=20000",
    "quadratic": "quadratic:D=5,k=3",
    "overparam-gd": "overparam-gd:iterations=500",
    "gram-moments": "gram-moments:N=1000",
    "densenet-joint": "densenet-joint:steps=100",
    "densenet-algorithm1": "densenet-algorithm1:steps=600",
    "kernel": "kernel:N=100",
    "convnet": "convnet:epochs=2",
    "images": "images:N=200",
    "hierarchy": "hierarchy:D=5,ks=2-1,N=400",
    "trained": "trained:widths=3,steps=100",
}
METHODS = [SMALL.get(name, name) for name in registry.BUILT_IN["methods"]]
TASKS = [SMALL.get(name, name) for name in registry.BUILT_IN["tasks"]]
IDENTIFYING = [m for m in METHODS if not isinstance(registry.method(m), Control)]


def pairs() -> Iterator[tuple[str, str]]:
    for method in IDENTIFYING:
        for task in TASKS:
            if declined(registry.method(method), registry.task(task)) is None:
                yield method, task


PAIRS = list(pairs())


def play(method: str, task: str, seed: int = 1, device: str = "cpu") -> tuple[list[dict[str, object]], list[bytes]]:
    """The events of a cell without its clock, and the claims."""
    events: list[dict[str, object]] = []
    bodies: list[bytes] = []

    def emit(event: dict[str, object], body: bytes = b"") -> None:
        events.append({k: v for k, v in event.items() if k not in ("seconds", "peak_mb")})
        bodies.append(body)

    execute(plan_cell(method, task, seed=seed, judge_inputs=500, device=device), emit, throw=True)
    return events, [b for b in bodies if b]
