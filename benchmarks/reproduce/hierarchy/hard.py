"""Appendix I: the class of the kernels' lower bound, over the number of inputs, with exponents of what is needed."""

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
    yield f"beyond its (D over 4) / 1000, {math.comb(int(sizes[-1]), 4) // 1000} at D = {sizes[-1]:g}: nothing here"
    yield "decides it. Few seeds and factors of two between the N that were tried make the exponent a rough one."
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
    yield "What the most samples leave, medians over as many seeds:"
    yield ""
    left = ((m, *(last(errors(records, m, d)) for d in sizes)) for m in methods(records))
    yield from grid(("", *(f"D = {d:g}" for d in sizes)), left)


def least(count: float, told: dict[float, float]) -> str:
    """A number of samples, or that the most tried were too few; `-` where nothing was tried."""
    return f"{count:g}" if math.isfinite(count) else f"> {max(told):g}" if told else "-"


def last(told: dict[float, float]) -> str:
    """The error at the most samples."""
    return f"{told[max(told)]:.1e}" if told else "-"


def theorem(made: Made) -> Judged:
    """Theorem I.1 itself, none of whose hypotheses these cells meet: nothing is decided."""
    records = made["bfc-hard"]
    least = min(option(r.method, "N") for r in records if r.method.startswith("kernel"))
    bound = math.comb(int(inputs_of(records)[-1]), 4) // 1000
    return None, f"it has N ≤ {bound} at the largest D, α_L < 0.1 and L ≤ log log D / 100; here N ≥ {least:g}"


def nets_need_fewer(made: Made) -> Judged:
    """Whether at every D, and for every kernel, there is an N with which the net learns and the kernel does not."""
    records = made["bfc-hard"]
    kernels, held, shown = [m for m in methods(records) if m.startswith("kernel")], [], []
    for inputs in inputs_of(records):
        net, right = errors(records, LEARNER, inputs), []
        for found in filter(None, (errors(records, m, inputs) for m in kernels)):
            known = [n for n in found if net.get(n, math.inf) <= FEW["net"]]
            right.append(any(found[n] > FEW["kernel"] for n in known) if known else None)
        held += right
        if right:
            shown.append(f"{right.count(True)} of {len(right)} at D = {inputs:g}")
    told = f"kernels that do not learn from samples from which the net does: {', '.join(shown)}"
    return every(held) if held else None, f"{told}; one seed of kernels"


def warm_start(made: Made) -> Judged:
    """Whether the net learns its class with the most samples, with the start by regression and without."""
    records = made["bfc-hard"]
    most = max(option(r.method, "N") for r in records)
    ends = {m: [r for r in records if named(r.method) == m and option(r.method, "N") == most] for m in methods(records)}
    nets = {m: rs for m, rs in ends.items() if m.startswith("densenet")}
    solved = {m: sum(metric(r, "error") < FEW["net"] for r in rs) for m, rs in nets.items()}
    told = ", ".join(f"{n} of {len(nets[m])} by {m}" for m, n in solved.items())
    return all(solved[m] == len(rs) for m, rs in nets.items()) if nets else None, f"with {most:g} samples {told}"
