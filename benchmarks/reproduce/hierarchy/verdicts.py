"""What the suite `bfc` says of the paper's statements."""

import math
from itertools import pairwise

from benchmarks.reproduce.hierarchy import algorithm1
from benchmarks.reproduce.hierarchy.records import (
    ALTERNATING,
    DEPTH,
    GAP,
    GAPS,
    KERNEL,
    LEARNERS,
    PASSES,
    SOLVED,
    floors,
    gain,
    gap,
    kernel_lines,
    mean,
    metric,
    middle,
    stage,
)
from benchmarks.reproduce.pages import Records, option, slope
from benchmarks.reproduce.source_items import Judged, Made, spread
from paramid.words.naming import Name

FORWARD, NOISE = 2.0, 2.0  # exponents: of α_3 in Theorem 2's squared error, and of noise
STUCK, SAME = 1e-8, 10.0  # of Var y that is left by who is stuck; a factor between errors that are the same
NEAR = 0.3  # of an exponent
RIGHT = 1e-4  # errors of features up to which a way to learn them works


def correction(made: Made) -> Judged:
    """Whether training upper layers improves S_2, and leaving them out does not."""
    gains = {m: [gain(r)[2] for r in made["bfc"] if (r.method, r.task) == (m, "hierarchy")] for m in LEARNERS}
    known = {m: sorted(g for g in all_ if math.isfinite(g)) for m, all_ in gains.items()}
    told = ", ".join(f"{middle(g)} ({m})" for m, g in known.items())
    strict, others = known["densenet-layerwise"], [g for m in LEARNERS[1:] for g in known[m]]
    return max(strict) <= 1 < min(others), f"the error of S_2 became smaller by {told}"


def layerwise_is_worse(made: Made) -> Judged:
    """Figure 6: strict layers against all together."""
    mine = [r for r in made["bfc"] if r.task == "hierarchy"]
    strict, joint = (
        [metric(r, "error") for r in mine if r.method == m] for m in ("densenet-layerwise", "densenet-joint")
    )
    told = f"relative MSE {spread(strict, '.1e')} layer by layer, {spread(joint, '.1e')} together, {len(joint)} seeds"
    return (True if min(strict) > max(joint) else False if max(strict) < min(joint) else None), told


def pretraining_is_no_matter(made: Made) -> Judged:
    """Figure 6 and A.4: staged training ends where training from scratch does."""
    mine = [r for r in made["bfc"] if r.task == "hierarchy" and r.seed == 0]
    staged, scratch = (
        [metric(r, "error") for r in mine if r.method == m]
        for m in ("densenet-joint", "densenet-joint:schedule=scratch")
    )
    ratio = max(staged) / max(scratch)
    return 1 / SAME < ratio < SAME, f"relative MSE {max(staged):.1e} staged, {max(scratch):.1e} from scratch, one seed"


def powers(records: Records) -> list[float]:
    """Exponents over α_3 of the error of S_2: layer 2 alone, and after each distillation."""
    mine = [r for r in records if r.method == GAP]
    values = sorted({gap(r) for r in mine})
    errors = [[mean([stage(r, "feature_error_2", at) for r in mine if gap(r) == a]) for a in values] for at in range(5)]
    return [slope(values, errors[at]) for at in (0, 2, 3, 4)]


def near(power: float, law: float) -> bool | None:
    """Whether an exponent is that of a law; None where it is not known."""
    return abs(power - law) < NEAR if math.isfinite(power) else None


def forward(made: Made) -> Judged:
    """Theorem 2: what layer 2 alone leaves is of the size (α_3 / α_2)²."""
    first, *rest = powers(made["bfc"])
    told = f"the error of S_2 goes like α_3^{first:.2f}, and like {', '.join(f'α_3^{p:.2f}' for p in rest)}"
    return near(first, FORWARD), f"{told} after {', '.join(PASSES[2:])}"


def passes_add_powers(made: Made) -> Judged:
    """§6.1: an error of α becomes α² with each correction, its square two powers of α_3 smaller."""
    added = [after - before for before, after in pairwise(powers(made["bfc"]))]
    told = f"each of {len(added)} distillations adds {spread(added, '.2f')} to the exponent of the squared error"
    held = min(added) > FORWARD - NEAR if all(map(math.isfinite, added)) else None
    return held, f"{told}; by densenet-als"


def kernels_in_turn(made: Made) -> Judged:
    """§3: kernels first and correction after "may not work"."""
    mine = [r for r in made["bfc"] if r.method == "densenet-als" and r.task == "hierarchy"]
    three = [metric(r, "feature_error_2") for r in mine]
    told = f"densenet-als does exactly that: at L = 3 it leaves {spread(three, '.1e')} of S_2 in {len(three)} seeds"
    right: dict[str, list[bool]] = {}
    for r in (r for r in made["bfc"] if r.method == ALTERNATING):
        depth = 1 + len(str(dict(Name.parse(r.task).options)["ks"]).split("-"))
        gapped = "with a gap" if GAPS[1] not in r.task else "without"
        right.setdefault(f"at L = {depth} {gapped}", []).append(r.metrics.get("identified") == 1)
    more = ", ".join(f"{sum(each)} of {len(each)} {name}" for name, each in right.items())
    return max(three) > RIGHT, f"{told}; identified {more}" if more else told


def refitting_alone_is_stuck(made: Made) -> Judged:
    """§3: sequential kernels without correction do not come to a good accuracy."""
    mine = [r for r in made["bfc"] if r.method == GAP]
    values = sorted({gap(r) for r in mine})
    errors = [mean([stage(r, "error", 1) for r in mine if gap(r) == a]) for a in values]
    told = f"{spread(errors, '.1e')} of Var y are left, like α_3^{slope(values, errors):.2f}, and S_2 stays as it was"
    return min(errors) > STUCK, told


def kernels_need_more(made: Made) -> Judged:
    """Theorem I.1's direction: at equal samples kernels leave more than layer 2 alone."""
    kernel = [r for r in made["bfc"] if r.method.startswith(KERNEL)]
    blind = [e for n, points in kernel_lines(kernel).items() if "on (x" not in n for _, e in points]
    seeing = [e for n, points in kernel_lines(kernel).items() if "on (x" in n for _, e in points]
    floor = [metric(r, "error") for r in floors(made["bfc"])]
    told = f"the best kernel on x leaves {min(blind):.2g}, the best on (x, x² - 1) {min(seeing):.2g}"
    return min(blind) > max(floor), f"{told}, layer 2 alone {max(floor):.2g}; D = 20 settles no rate"


def gap_matters(made: Made) -> Judged:
    """§3.1: learning fails where the gap is removed."""
    deep = {a: [r for r in made["bfc"] if r.method == DEPTH and a in r.task] for a in GAPS}
    solved = {a: sum(metric(r, "feature_error_2") <= SOLVED for r in rs) for a, rs in deep.items()}
    told = ", ".join(f"{solved[a]} of {len(rs)} solved at α = {a}" for a, rs in deep.items())
    even = [r for r in made["bfc"] if r.method == "densenet-lm" and "alphas=1.0-1.0,N" in r.task]
    right = sum(metric(r, "feature_error_2") <= SOLVED for r in even)
    shares = [solved[a] / len(deep[a]) for a in GAPS if deep[a]]
    return shares[0] > shares[1] if len(
        shares
    ) > 1 else None, f"at L = 4 {told}; at L = 3 {right} of {len(even)} at α = 1.0-1.0"


def depth_corrects(made: Made) -> Judged:
    """Theorem 2 over l: S_2 improves with every layer that joins."""
    mine = [r for r in made["bfc"] if r.method == DEPTH and GAPS[0] in r.task]
    steps = [[stage(r, "feature_error_2", at) for at in range(3)] for r in mine]
    falls = [min(a / b for a, b in pairwise(s) if b) for s in steps if min(s) < math.inf and s[2]]
    return min(
        falls
    ) > 1, f"each layer that joins lowers the error of S_2 at least {min(falls):.1f} times, {len(falls)} seeds"


def wrong_at_zero(made: Made) -> Judged:
    """Remark 3.2: whether any net of no loss has features that are off; none that has decides nothing."""
    zero = [r for r in made["bfc"] if metric(r, "error") < SOLVED and "feature_error_2" in r.metrics]
    off = sum(algorithm1.worst(r) > algorithm1.OFF for r in zero)
    told = f"of {len(zero)} nets with a relative MSE below {SOLVED:g} {off} have features off by {algorithm1.OFF:g}"
    return (True if off else None), told


def noise_is_squared(made: Made) -> Judged:
    """Errors of features under label noise: ours, as the paper has none."""
    mine = [r for r in made["bfc"] if "noise=" in r.task]
    pairs = [(option(r.task, "noise"), metric(r, "feature_error_2")) for r in mine]
    good = [(n, e) for n, e in pairs if math.isfinite(e)]
    power = slope((n for n, _ in good), (e for _, e in good))
    return near(power, NOISE), f"the error of S_2 goes like noise^{power:.2f}, {len(good)} runs"
