"""Errors and costs of a few whole cells, run once a commit through the harness with its isolation and time limits.

ASV addresses parameters by position and knows no direction: the lists below are literal, only ever grow at their end,
and hold errors, never accuracies. A test compares them with the registries.
"""

import math

CELLS = [
    "spm | shallow:D=10,m=5",
    "spm | shallow:D=20,m=36",
    "spm:refine=gn | shallow:D=20,m=36",
    "spm:stencil=symmetric,refine=gn | shallow:D=15,m=60",
    "spm:derivatives=exact,refine=gn | shallow:D=15,m=22,activation=logistic",
    "spectral-norm | shallow:D=10,m=5",
    "spectral-norm | shallow:D=15,m=22",
    "sgd:optimizer=adam,steps=5000 | shallow:D=10,m=5",
    "sphere-lm | shallow:D=10,m=5",
    "sphere-lm | shallow:D=20,m=160",
    "sphere-lm | shallow:D=20,m=60,shift=1.5,outer=free",
    "sphere-lm | shallow:D=20,m=80,noise=1e-08",
    "sgd:optimizer=adam,steps=5000 | biased-relu:D=5,m=3,N=20000",
    "hermite-jennrich:moments=exact | biased-relu:D=10,m=10,weights=orthonormal",
    "hermite-jennrich:control=2,signs=midpoint | biased-relu:D=5,m=3,weights=orthonormal,N=100000",
    "cp-als:control=2,signs=midpoint | biased-relu:D=5,m=3,weights=orthonormal,N=100000",
    "relu-regression | biased-relu:D=8,m=7,biases=large",
    "hermite-fused | biased-relu:D=5,m=5,N=100000,noise=0.1",
    "hermite-fused:rounds=3,refine=false | biased-relu:D=5,m=5,weights=orthonormal,N=50000",
    "hermite-fused:order=2,moments=exact | biased-relu:D=4,m=8,s_min=0.1",
    "peel | pyramid:D=20,widths=16-10-5",
    "peel | pyramid:D=20,widths=18-14-10-5,output=identity",
    "threshold-correlation | threshold:N=100000",
    "threshold-correlation:source=moments,objective=all | threshold:D=10,m=10,activation=relu,polynomial=linear",
    "threshold-boundary | threshold:polynomial=monotone,weights=mild",
    "threshold-boundary:source=samples | threshold:N=100000",
    "threshold-plane:steps=25,gaussians=1000 | threshold:D=2,m=2,t=0.5",
    "threshold-graph | threshold:D=9,m=3,t=1.0,N=100000,activation=exponential,polynomial=monotone,weights=blocks",
    "overparam-gd | quadratic:D=20,k=2,N=100",
    "overparam-gd:iterations=1000,polish=lm | quadratic:D=10,k=13,N=100,activation=softplus",
    "gram-least-squares | quadratic:D=20,k=20,N=215",
    "gram-queries | quadratic:D=20,k=20",
    "gram-moments | quadratic:D=4,k=2,N=1000000",
    "entangled-gauge | pyramid:D=20,widths=20-14-9-6,output=identity",
    "entangled:steps=300,epochs=2,N=10000 | pyramid:D=20,widths=16-10-5",
    "densenet-lm | hierarchy:N=1000",
    "densenet-als | hierarchy:D=10",
    "densenet-layerwise | hierarchy:D=10",
    "densenet-joint:steps=500 | hierarchy:D=10",
    "densenet-algorithm1:steps=2000 | hierarchy:D=10",
    "kernel:features=squares | hierarchy:D=10",
    "threshold-boundary | biased-relu:D=10,m=10,weights=orthonormal,biases=negative",
]
SEEDS = 2
TIME_LIMIT = 60.0
VERSION = "1"  # bumped by hand when a task or method changes its numbers on purpose


def lower_is_better(value: float) -> float:
    """ASV shows NaN as if the cell had been skipped: what is not a number is as bad as can be."""
    return value if math.isfinite(value) else math.inf


class Cells:
    """Medians over seeds, one curve a cell."""

    params = CELLS
    param_names = ("cell",)
    timeout = 600
    version = VERSION

    def setup_cache(self) -> dict[str, dict[str, float]]:
        """Run every cell of this commit once."""
        import tempfile

        import paramid

        with tempfile.TemporaryDirectory() as store:
            pairs = [tuple(cell.split(" | ")) for cell in CELLS]
            frames = [
                paramid.compare([method], [task], SEEDS, store=store, workers=1, time_limit=TIME_LIMIT)
                for method, task in pairs
            ]
        return {cell: self.summary(frame.to_dict("list")) for cell, frame in zip(CELLS, frames, strict=True)}

    def summary(self, columns: dict[str, list[float]]) -> dict[str, float]:
        """Medians of one cell's seeds."""
        from statistics import median

        names = ("weight_error", "output_error", "queries", "seconds", "peak_mb")
        made = {name: lower_is_better(median(columns.get(name, [math.inf]))) for name in names}
        return {**made, "failed": sum(not flag for flag in columns.get("identified", [0.0])) / SEEDS}

    def track_weight_error(self, cache: dict[str, dict[str, float]], cell: str) -> float:
        return cache[cell]["weight_error"]

    def track_output_error(self, cache: dict[str, dict[str, float]], cell: str) -> float:
        return cache[cell]["output_error"]

    def track_failed(self, cache: dict[str, dict[str, float]], cell: str) -> float:
        return cache[cell]["failed"]

    def track_queries(self, cache: dict[str, dict[str, float]], cell: str) -> float:
        return cache[cell]["queries"]

    def track_seconds(self, cache: dict[str, dict[str, float]], cell: str) -> float:
        return cache[cell]["seconds"]

    def track_peak_mb(self, cache: dict[str, dict[str, float]], cell: str) -> float:
        return cache[cell]["peak_mb"]


for _name, _unit in (("failed", "share"), ("queries", "rows"), ("seconds", "s"), ("peak_mb", "MB")):
    getattr(Cells, f"track_{_name}").unit = _unit
for _name in ("weight_error", "output_error"):
    getattr(Cells, f"track_{_name}").unit = "error"
