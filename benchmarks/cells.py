"""Errors and costs of a few whole cells, run once a commit through the harness with its isolation and time limits.

ASV addresses parameters by position and knows no direction: the lists below are literal, only ever grow at their end,
and hold errors, never accuracies. A test compares them with the registries. A history runs `Few` and the kernels.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paramid.records.record import Record

FEW = [
    "spm | shallow:D=10,m=5",
    "spm:refine=gn | shallow:D=20,m=36",
    "spectral-norm | shallow:D=10,m=5",
    "sphere-lm | shallow:D=10,m=5",
    "sphere-lm | shallow:D=20,m=60,shift=1.5,outer=free",
    "hermite-jennrich:moments=exact | biased-relu:D=10,m=10,weights=orthonormal",
    "relu-regression | biased-relu:D=8,m=7,biases=large",
    "threshold-correlation | threshold:N=100000",
    "gram-queries | quadratic:D=20,k=20",
    "densenet-als | hierarchy:D=10",
    "peel | pyramid:D=20,widths=16-10-5",
    "kinks | relu:D=20,widths=10",
]
MORE = [
    "spm | shallow:D=20,m=36",
    "spm:stencil=symmetric,refine=gn | shallow:D=15,m=60",
    "spm:derivatives=exact,refine=gn | shallow:D=15,m=22,activation=logistic",
    "spectral-norm | shallow:D=15,m=22",
    "sgd:optimizer=adam,steps=5000 | shallow:D=10,m=5",
    "sphere-lm | shallow:D=20,m=160",
    "sphere-lm | shallow:D=20,m=80,noise=1e-08",
    "sgd:optimizer=adam,steps=5000 | biased-relu:D=5,m=3,N=20000",
    "hermite-jennrich:control=2,signs=midpoint | biased-relu:D=5,m=3,weights=orthonormal,N=100000",
    "cp-als:control=2,signs=midpoint | biased-relu:D=5,m=3,weights=orthonormal,N=100000",
    "hermite-fused | biased-relu:D=5,m=5,N=100000,noise=0.1",
    "hermite-fused:rounds=3,refine=false | biased-relu:D=5,m=5,weights=orthonormal,N=50000",
    "hermite-fused:order=2,moments=exact | biased-relu:D=4,m=8,s_min=0.1",
    "peel | pyramid:D=20,widths=18-14-10-5,output=identity",
    "threshold-correlation:source=moments,objective=all | threshold:D=10,m=10,activation=relu,polynomial=linear",
    "threshold-boundary | threshold:polynomial=monotone,weights=mild",
    "threshold-boundary:source=samples | threshold:N=100000",
    "threshold-plane:steps=25,gaussians=1000 | threshold:D=2,m=2,t=0.5",
    "threshold-graph | threshold:D=9,m=3,t=1.0,N=100000,activation=exponential,polynomial=monotone,weights=blocks",
    "overparam-gd | quadratic:D=20,k=2,N=100",
    "overparam-gd:iterations=1000,polish=lm | quadratic:D=10,k=13,N=100,activation=softplus",
    "gram-least-squares | quadratic:D=20,k=20,N=215",
    "gram-moments | quadratic:D=4,k=2,N=1000000",
    "entangled-gauge | pyramid:D=20,widths=20-14-9-6,output=identity",
    "entangled:steps=300,epochs=2,N=10000 | pyramid:D=20,widths=16-10-5",
    "densenet-lm | hierarchy:N=1000",
    "densenet-layerwise | hierarchy:D=10",
    "densenet-joint:steps=500 | hierarchy:D=10",
    "densenet-algorithm1:steps=2000 | hierarchy:D=10",
    "kernel:features=squares | hierarchy:D=10",
    "threshold-boundary | biased-relu:D=10,m=10,weights=orthonormal,biases=negative",
    "kinks | relu:D=10,widths=25",
    "kinks | relu:D=20,widths=10-10",
    "cryptanalytic | relu:D=10,widths=4",
    "cryptanalytic | relu:D=20,widths=10",
    "cryptanalytic:signs=wiggle | relu:D=10,widths=4",
    "cryptanalytic | relu:D=10,widths=5-5",
    "boundary-bends | relu:D=10,widths=5,decisions=true",
    "far-lines | shallow:D=10,m=60,activation=softplus,outer=free",
    "sphere-lm | trained:widths=10,steps=1000",
    "sphere-lm | file",
    "student | shallow:D=10,m=5,N=650",
    "expand-cluster:rho=2.0,training=lm,cut=gap | shallow:D=5,m=4,N=350,outer=free",
    "convnet:epochs=10 | images",
]
CELLS = FEW + MORE
SEEDS, WORKERS = 2, 2
TIME_LIMIT = 60.0
VERSION = "2"  # bumped by hand when a task or method changes its numbers on purpose
Cache = dict[str, dict[str, float]]


def lower_is_better(value: float) -> float:
    """ASV shows NaN as if the cell had been skipped: what is not a number is as bad as can be."""
    return value if math.isfinite(value) else math.inf


def measured(names: Sequence[str]) -> Cache:
    """Every cell that this commit knows, on one core each, by its name."""
    try:
        from paramid.running.cell import plan_cell
        from paramid.running.supervisor import Supervisor
        from paramid.words.naming import UsageError
    except ModuleNotFoundError:  # commits whose harness had no folders
        from paramid.naming import UsageError
        from paramid.plans import cell as plan_cell
        from paramid.supervisor import Forkserver as Supervisor

    made: Cache = {}
    with Supervisor(1) as supervisor, ThreadPoolExecutor(WORKERS) as pool:
        for name in names:
            method, task = name.split(" | ")
            try:
                planned = [plan_cell(method, task, seed=seed, time_limit=TIME_LIMIT) for seed in range(SEEDS)]
            except UsageError:  # this commit has no such method, task or option
                continue
            made[name] = summary([outcome.record for outcome in pool.map(lambda c: supervisor.run(c, "", {}), planned)])
    return made


def summary(records: Sequence[Record]) -> dict[str, float]:
    """Medians over one cell's seeds; NaN for an error that its family does not measure."""
    made = {name: median_error(records, name) for name in ("error", "weight_error", "output_error")}
    costs = {name: median(getattr(r, name) for r in records) for name in ("seconds", "peak_mb")}
    rows = median(r.queries + r.samples + r.derivatives + r.moments for r in records)
    failed = sum(r.metrics.get("identified") != 1 for r in records) / len(records)
    return {**made, **costs, "queries": rows, "failed": failed}


def median_error(records: Sequence[Record], name: str) -> float:
    """Of one metric; a run without it is as bad as can be, unless it ended well and none has it."""
    if all(r.status.name == "FINISHED" and name not in r.metrics for r in records):
        return math.nan
    return lower_is_better(median(lower_is_better(r.metrics.get(name, math.inf)) for r in records))


class Tracked(ABC):
    """Medians over seeds, one curve a cell."""

    params: list[str]
    param_names = ("cell",)
    timeout = 900
    version = VERSION

    @abstractmethod
    def setup_cache(self) -> Cache:
        """Run every cell of this commit once."""

    def setup(self, cache: Cache, cell: str) -> None:
        if cell not in cache:
            raise NotImplementedError("this commit has no such cell")

    def track_error(self, cache: Cache, cell: str) -> float:
        return cache[cell]["error"]

    def track_weight_error(self, cache: Cache, cell: str) -> float:
        return cache[cell]["weight_error"]

    def track_output_error(self, cache: Cache, cell: str) -> float:
        return cache[cell]["output_error"]

    def track_failed(self, cache: Cache, cell: str) -> float:
        return cache[cell]["failed"]

    def track_queries(self, cache: Cache, cell: str) -> float:
        return cache[cell]["queries"]

    def track_seconds(self, cache: Cache, cell: str) -> float:
        return cache[cell]["seconds"]

    def track_peak_mb(self, cache: Cache, cell: str) -> float:
        return cache[cell]["peak_mb"]


UNITS = {"error": "error", "weight_error": "error", "output_error": "error"}
UNITS |= {"failed": "share", "queries": "rows", "seconds": "s", "peak_mb": "MB"}
for _name, _unit in UNITS.items():
    getattr(Tracked, f"track_{_name}").unit = _unit


class Few(Tracked):
    """Cells of seconds, one for every kind of method: what a history runs of every commit."""

    params = FEW

    def setup_cache(self) -> Cache:  # not inherited: ASV knows a cache by the line of its function
        return measured(FEW)


class More(Tracked):
    """All the others."""

    params = MORE

    def setup_cache(self) -> Cache:
        return measured(MORE)
