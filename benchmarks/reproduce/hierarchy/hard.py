"""Appendix I: the class that no kernel learns, over the number of inputs, with the exponents of the samples needed."""

import math
from collections.abc import Iterator, Sequence
from statistics import median

from benchmarks.reproduce.hierarchy.records import metric, seeds
from benchmarks.reproduce.pages import Records, grid, option, slope
from benchmarks.reproduce.source_items import Judged, Made, every
from paramid.words.naming import Name

KERNEL, LEARNER = "kernel:", "densenet-lm:start=regression"
FEW = {"kernel": 0.1, "net": 1e-8}  # the relative MSE from which it is called learnt


def named(method: str) -> str:
    """The method without its number of samples."""
    name, options = method.partition(":")[0], dict(Name.parse(method).options)
    told = ",".join(f"{k}={v}" for k, v in options.items() if k != "N")
    return f"{name}:{told}" if told else name


def errors(records: Records, method: str, inputs: float) -> dict[float, float]:
    """The median error by number of samples."""
    mine = [r for r in records if named(r.method) == method and option(r.task, "D") == inputs]
    counts = sorted({option(r.method, "N") for r in mine})
    return {n: median(metric(r, "error") for r in mine if option(r.method, "N") == n) for n in counts}


def needed(told: dict[float, float], enough: float) -> float:
    """The least number of samples from which on the error is below `enough`; infinite where there is none."""
    bad = [n for n, e in told.items() if not e <= enough]
    good = [n for n in told if n > max(bad, default=-math.inf)]
    return min(good, default=math.inf)


def methods(records: Records) -> list[str]:
    """All of them, in their order."""
    return list(dict.fromkeys(named(r.method) for r in records))


def enough(method: str) -> float:
    """The error from which a method has learnt: kernels are asked for far less."""
    return FEW["kernel" if method.startswith("kernel") else "net"]


def inputs_of(records: Records) -> list[float]:
    """D."""
    return sorted({option(r.task, "D") for r in records})


def exponent(sizes: Sequence[float], counts: Sequence[float]) -> float:
    """Of the samples needed over D, where known; nan for fewer than three."""
    known = [(d, n) for d, n in zip(sizes, counts, strict=True) if math.isfinite(n)]
    return slope((d for d, _ in known), (n for _, n in known)) if len(known) > 2 else math.nan


def text(records: Records) -> Iterator[str]:
    """Samples needed, their exponents, and what the most samples leave."""
    sizes = inputs_of(records)
    yield f"The least N from which on the median relative MSE is below {FEW['net']:g}, for kernels below"
    yield f"{FEW['kernel']:g}; `>`: not with the most tried; `-`: not tried, for want of time. The exponent is that of"
    yield "D; (D over 4) grows like D⁴."
    yield "Other than in Theorem I.1: α_3 = 0.3, where it has α_L < 0.1; L = 3, where it has L ≤ log log D / 100; and N"
    yield f"beyond its (D over 4) / 1000, {math.comb(int(sizes[-1]), 4) // 1000} at D = {sizes[-1]:g}. What is compared"
    yield "is the power of D, of which it says nothing at such sizes."
    yield ""
    rows = []
    for method in methods(records):
        told = [errors(records, method, d) for d in sizes]
        counts = [needed(t, enough(method)) for t in told]
        shown = [least(n, t) for n, t in zip(counts, told, strict=True)]
        power = exponent(sizes, counts)
        count = str(seeds([r for r in records if named(r.method) == method]))
        rows.append((method, count, *shown, f"{power:.2f}" if math.isfinite(power) else "-"))
    yield from grid(("", "seeds", *(f"D = {d:g}" for d in sizes), "exponent"), rows)
    yield ""
    yield "What the most samples leave:"
    yield ""
    left = ((m, *(last(errors(records, m, d)) for d in sizes)) for m in methods(records))
    yield from grid(("", *(f"D = {d:g}" for d in sizes)), left)


def least(count: float, told: dict[float, float]) -> str:
    """A number of samples, or that the most tried were too few; `-` where nothing was tried."""
    return f"{count:g}" if math.isfinite(count) else f"> {max(told):g}" if told else "-"


def last(told: dict[float, float]) -> str:
    """The error at the most samples."""
    return f"{told[max(told)]:.1e}" if told else "-"


def kernels_fail(made: Made) -> Judged:
    """Whether every kernel needs a higher power of D than the net, or more samples at the largest D than were tried."""
    records = made["bfc-hard"]
    sizes = inputs_of(records)
    counts = {m: [needed(errors(records, m, d), enough(m)) for d in sizes] for m in methods(records)}
    powers = {m: exponent(sizes, found) for m, found in counts.items()}
    net, kernels = powers.get(LEARNER, math.nan), [m for m in powers if m.startswith("kernel")]
    failed = [m for m in kernels if math.isinf(counts[m][-1])]
    told = f"the net needs D^{net:.2f}; {len(failed)} of {len(kernels)} kernels do not come to {FEW['kernel']:g} at"
    known = [f"{m} needs D^{powers[m]:.2f}" for m in kernels if math.isfinite(powers[m])]
    told = "; ".join([f"{told} D = {sizes[-1]:g}", *known])
    if not math.isfinite(net):
        return None, told
    return every([m in failed or (powers[m] > net if math.isfinite(powers[m]) else None) for m in kernels]), told


def warm_start(made: Made) -> Judged:
    """Whether the start by regression solves what random starts do not."""
    records = made["bfc-hard"]
    most = max(option(r.method, "N") for r in records)
    ends = {m: [r for r in records if named(r.method) == m and option(r.method, "N") == most] for m in methods(records)}
    solved = {m: sum(metric(r, "error") < FEW["net"] for r in rs) for m, rs in ends.items() if m.startswith("densenet")}
    told = ", ".join(f"{n} of {len(ends[m])} by {m}" for m, n in solved.items())
    return solved[LEARNER] == len(ends[LEARNER]) if ends.get(LEARNER) else None, f"with {most:g} samples {told}"
