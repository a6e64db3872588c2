"""docs/biased-relu.md: what Hermite coefficients tell of sums of biased ReLUs, beside what is proved of them.

About half an hour on two cores.
"""

import math
from collections.abc import Callable, Iterator
from statistics import median

from benchmarks.reproduce.pages import ENDED, SECONDS, Page, Section, by_task, grid, option, share, slope
from paramid.records.record import Record
from paramid.words.naming import Name

LEARNT = 0.3  # above, errors do not yet fall like a power of N
ROUNDING = 1e-9  # below, they fall no longer
STATEMENTS = """f(x) = Σ a_i σ(⟨w_i, x⟩ + b_i), ‖w_i‖ = 1,
T_k = E[f He_k] = Σ a_i (-1)^k He_{k-2}(b_i) φ(b_i) w_i^{⊗k} for k ≥ 2.

Holds, as the tables show and tests check:

- **Exact coefficients identify every network with independent w_i^{⊗l}**, whatever the biases: where b_i is a root of
  one Hermite polynomial its unit is missing in one tensor and stands in the next (rows with `biases=roots`).
- **For more than D units signs stay open** in T_l … T_{2l+2}; T_0 and T_1 tell them, but for sets S with
  Σ_S a_i w_i = 0 and Σ_S a_i b_i = 0, which may be turned as σ(z) − σ(−z) = z. The judge counts such networks as equal.
- **T_3 and T_4 show a unit while its bias is small**: φ(b) max(|b|, b² − 1) sinks into their noise. What refines on
  the samples themselves (`hermite-fused`) sees further, as far as samples lie on both sides of the kink.
- **Errors fall like N^{-1/2}** once they are small, as long as coefficients alone are used (the last column above).

Does not hold as printed:

- *Scalars for l ≥ 2.* With p the order of the tensor whose coefficient ζ_p is larger, p = l+1 or l+2, and q = p − 2
  the index of its Hermite polynomial, b = −(ζ_{p+1} + q ζ_{p−1}) / ζ_p and a = (−1)^p √(2π) e^{b²/2} ζ_p / He_q(b).
  Printed is the order where the index is meant: on exact coefficients b is then wrong by up to 1.8.
- *Consecutive Hermite polynomials.* max(|He_k(t)|, |He_{k+1}(t)|) ≥ √(k!/2) is false for every k ≥ 1: the least value
  for k = 1 is (√5 − 1)/2 = 0.618, not 0.707. What the proof gives is √((k−1)!/2) for k ≥ 2. Only > 0 is needed.
- *Equal functions.* Networks whose signs differ by ξ_i are equal iff Σ a_i w_i Φ(b_i) = Σ a_i ξ_i w_i Φ(ξ_i b_i) and
  Σ a_i b_i Φ(b_i) = Σ a_i ξ_i b_i Φ(ξ_i b_i). Printed without ξ_i in the second, identical pairs are refused.
- *Rank of the second tensor.* T_{2l+2} is to be flattened as D^l × D^{l+2}; the exact algorithm prints l + 1 for both.
- *Thresholds.* Terms with |α| < η are to be dropped, not those with α < η; the number of terms is max{r : s_r > η}, and
  η of the size of ε⁴ as proved is far from what noise demands: half the difference of two halves of the samples is.
- *Signs near 0.* A bound |ẑ − z| ≤ ε |z| cannot hold at z = 0; ≤ ε is meant. The two candidates for z, Φ(b) and
  Φ(b) − 1, are one apart: comparing with their midpoint leaves a margin of ½ whatever b is, the printed rule min Φ(±b).
- *Constants.* The Gaussian density has (2π)^{−D/2}; least squares on dependent features needs a pseudo-inverse, and the
  features σ(z), σ(−z), x, 1 are dependent; |b| < c √log(1/(ε m D B)) supposes ε m D B < 1."""


def findings(_: object) -> Iterator[str]:
    """What holds and what does not."""
    yield from STATEMENTS.splitlines()


def measured(records: list[Record]) -> Iterator[str]:
    """Exact coefficients, errors against N, errors against the bias, and what was claimed wrongly."""
    exact = [r for r in records if "moments=exact" in r.method]
    rest = [r for r in records if "moments=exact" not in r.method]
    yield "Errors are medians over seeds of max_i ‖w − ŵ‖ + |a − â| + |b − b̂|, of the last network claimed, whether it"
    yield "was given up afterwards or not."
    yield ""
    yield "### Exact coefficients"
    yield ""
    yield "The second error leaves the joint sign of (w, b) free, which T_2, T_3, … do not show for more than D units."
    yield ""
    yield from by_task(exact, ("error", error()), ("but for signs", error("parameter_error_unsigned")), ENDED)
    yield ""
    yield "### Errors against the number of samples"
    yield ""
    yield from against([r for r in rest if "biases=" not in r.task], "N", falling)
    yield ""
    yield "In brackets how many seeds are identified. The exponent is fitted to medians between 1e-9 and 0.3."
    yield ""
    yield "### Errors against the bias of one unit"
    yield ""
    yield from against([r for r in rest if "biases=" in r.task], "biases", None)
    yield ""
    yield "### Claimed and wrong"
    yield ""
    yield "Networks that a method let stand as its answer and that are not the teacher's:"
    yield ""
    for method in dict.fromkeys(r.method for r in records):
        mine = [r for r in records if r.method == method]
        yield f"- {method}: {share(wrong)(mine)}"


def side_by_side(records: list[Record]) -> Iterator[str]:
    """The same samples before every learner, and who is ahead where."""
    yield from by_task(records, ("error", error()), ("identified", share(right)), ("wrong", share(wrong)), SECONDS)
    for about, best in (("Most exact", middle_of), ("Quickest of those right most often", quickness)):
        ahead: dict[str, list[str]] = {}
        for task in dict.fromkeys(r.task for r in records):
            mine = [r for r in records if r.task == task]
            methods = dict.fromkeys(r.method for r in mine)
            winner = min(methods, key=lambda name: best([r for r in mine if r.method == name]))
            ahead.setdefault(winner.partition(":")[0], []).append(task.partition(":")[2].partition(",s_min")[0])
        yield ""
        told = (f"`{name}` at {', '.join(sizes)}" for name, sizes in ahead.items())
        yield f"{about}: {'; '.join(told)}."


def quickness(records: list[Record]) -> tuple[int, float]:
    """Fewest misses first, then seconds."""
    return sum(not right(r) for r in records), median(r.seconds for r in records)


def against(records: list[Record], name: str, last: Callable[[list[float], list[float]], str] | None) -> Iterator[str]:
    """A row for every method and all else of the task, a column for every value of an option."""
    values = sorted({option(r.task, name) for r in records})
    heads = [*(f"{name} = {v:g}" for v in values), *(["exponent of N"] if last else [])]
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((without(record.task, name), record.method), []).append(record)
    rows = []
    for (task, method), mine in groups.items():
        cells = [[r for r in mine if option(r.task, name) == v] for v in values]
        row = [f"{error()(c)} ({share(right)(c)})" if c else "-" for c in cells]
        known = [(v, middle_of(c)) for v, c in zip(values, cells, strict=True) if c]
        row += [last([v for v, _ in known], [e for _, e in known])] if last else []
        rows.append((task, method, *row))
    yield from grid(("task", "method", *heads), rows)


def falling(samples: list[float], errors: list[float]) -> str:
    """The exponent of N, of errors in the range where there is one."""
    kept = [(n, e) for n, e in zip(samples, errors, strict=True) if ROUNDING < e < LEARNT]
    return f"{slope([n for n, _ in kept], [e for _, e in kept]):.2f}" if len(kept) > 1 else "-"


def without(task: str, name: str) -> str:
    """The task's name without one of its options."""
    parsed = Name.parse(task)
    return str(Name(parsed.base, tuple(pair for pair in parsed.options if pair[0] != name)))


def told(record: Record, name: str = "parameter_error") -> float:
    """A metric of the last claim that has it."""
    return next((c.metrics[name] for c in reversed(record.claims) if name in c.metrics), math.inf)


def middle_of(records: list[Record], name: str = "parameter_error") -> float:
    """Its median."""
    return median(told(r, name) for r in records)


def error(name: str = "parameter_error") -> Callable[[list[Record]], str]:
    """Its median as text."""
    return lambda mine: f"{middle_of(mine, name):.1e}"


def right(record: Record) -> bool:
    """Whether the answer is the teacher."""
    return record.metrics.get("identified") == 1


def wrong(record: Record) -> bool:
    """Whether another network stands as the answer."""
    networks = [claim.kind for claim in record.claims[-1:]] == ["Network"]
    return networks and record.status.key == "finished" and not right(record)


PAGE = Page(
    name="biased-relu",
    title="Sums of biased ReLUs, beside the paper",
    sources="""Reference: Awasthi, Tang & Vijayaraghavan, *Efficient algorithms for learning depth-2 neural networks
with general ReLU activations*, arXiv:2107.10209. It proves polynomial bounds and prints no numbers.""",
    sections={
        "relu-samples": Section("Measured", measured),
        "relu-sizes": Section("Three learners at equal samples", side_by_side),
    },
    findings=findings,
)
