"""Which assumption about a function fails, by tests of its values: the first that does is named, with what to try.

Each test needs what those before it have excluded: kinks are looked for where values are no steps, growth where
there are no kinks, ranks of second derivatives where all is smooth. A test that shows nothing says nothing.
"""

from __future__ import annotations

import warnings

from paramid.identifying import far_field, hessian_span, measurements
from paramid.identifying.black_box import BadFunction
from paramid.identifying.examined import LINES, POINTS, Examined
from paramid.oracle.protocol import BudgetSpent

LABELS = 32  # values in all: more are no labels
ROUNDING = {"float64": 1e-12, "float32": 1e-6}  # of the largest value: what sums leave of the last digit
SINGLE = 5e-7  # of the largest value: what a computation in float32 leaves


def examine(at: Examined) -> str | None:
    """The first assumption that a test shows to fail, and what to try; None where all tests pass or rows run out."""
    tests = (steps, noise, pieces, smoothness, growth, hessian_span.neurons, jumps)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # somebody's exp overflows far out
        for test in tests:
            try:
                reason = test(at)
            except BadFunction:  # it cannot be asked there
                continue
            except BudgetSpent:
                return None
            if reason:
                return reason
    return None


def steps(at: Examined) -> str | None:
    """Few bits, or steps: values that half precision holds; points 0.0001 apart that have the same value exactly."""
    share, stepped, values = measurements.repeats(at.f, *at.lines(POINTS))
    if len(values) > LABELS and (kind := measurements.half(values)) and measurements.decimals(values) != 0:
        return f"f computes in {kind}: that type holds each of {len(values)} values; try f in float32 or float64"
    if share < 0.5 or not stepped:
        return None
    if len(values) == 1:
        return "f is constant: it has one value at all points asked"
    same = f"{share:.0%} of pairs of points 0.0001 apart have the same value"
    if len(values) > LABELS and (count := measurements.decimals(values)):
        return f"f is rounded to {count} decimals: {same}; try f without the rounding"
    return (
        f"f is piecewise constant: {same}, and {len(values)} values were seen in all (hard labels?); "
        "try scores, logits or log-probabilities"
    )


def noise(at: Examined) -> str | None:
    """Rounding or noise: what polynomials leave of values on lines shorter than 0.01."""
    sigma = at.roughness
    if sigma <= ROUNDING[at.spec.precision] * at.size:
        return None
    share = f"{sigma / at.size:.0e} of the largest value"
    if (count := measurements.decimals(at.sample)) is not None:
        return f"f is rounded to {count} decimals, by about {sigma:.1e}, {share}; try f without the rounding"
    if at.spec.precision == "float64" and sigma <= SINGLE * at.size:
        return (
            f"f is rounded or noisy by about {sigma:.0e}, {share}, as a computation in float32 is; "
            'try precision="float32", or f in float64'
        )
    return (
        f"f carries noise or rounding of about {sigma:.1e}, {share}: no polynomial fits it on lines of 0.001; "
        "try f in float64 and without noise, or as a mean of many calls"
    )


def pieces(at: Examined) -> str | None:
    """Piecewise linear: second differences vanish at most points, and changes of slope stay however near one looks."""
    step = 1e-4 if at.roughness < 1e-13 * at.size else 1e-2
    x, u = at.lines(POINTS)
    if (share := measurements.straightness(at.f, x, u, step, at.error)) < 0.6:
        return None
    if measurements.straightness(at.f, x, u, 4.0, at.error) > 0.95:
        return "f is linear: second differences vanish over any distance, so that no neuron is to be seen"
    kinked = measurements.kinks(at.f, *at.lines(LINES), max(1e-4, step / 5))
    if kinked < 0.3 or (at.told and not at.told.smooth):
        return None
    return (
        f"f is piecewise linear{f', which {at.told.name} is not' if at.told else ''}: second differences vanish at "
        f"{share:.0%} of points, and slopes jump on {kinked:.0%} of lines; "
        'try activation="relu" with method="hermite-fused", for which norms="unit" and output_bias="zero" must hold'
    )


def smoothness(at: Examined) -> str | None:
    """Told to have kinks: a smooth function has second differences almost everywhere."""
    if at.told is None or at.told.smooth:
        return None
    if measurements.straightness(at.f, *at.lines(POINTS), 1e-2, at.error) > 0.2:
        return None
    return f'f is smooth, which {at.told.name} is not: second differences vanish nowhere; try activation="auto"'


def growth(at: Examined) -> str | None:
    """Wrong growth: sums of sigmoids are bounded, those of softplus grow linearly, those of squares by squares."""
    spec = at.spec
    if at.told is None or spec.activations[-1] != "identity":
        return None
    wanted = far_field.growth(at.told)
    if wanted == at.growth or not (spec.shallow or wanted in ("bounded", "linear")):
        return None
    others = far_field.growing(at.growth)
    hint = f'try activation="{others[0]}"' if len(others) == 1 else f"try {' or '.join(others)}"
    told = f"f {far_field.SAID[at.growth]} far out on rays, where {at.told.name} {far_field.SAID[wanted]}"
    return f"wrong activation: {told}; {hint if others else 'no registered smooth activation does as f'}"


def jumps(at: Examined) -> str | None:
    """Outer weights 1: what f(Ru) ± f(-Ru) say of activation, output bias and outer weights."""
    spec = at.spec
    if at.told is None or spec.outer != "ones" or not spec.shallow or spec.outputs > 1 or at.growth != "bounded":
        return None
    return far_field.misfit(at.told, *measurements.ends(at.f, at.lines(LINES)[1]), spec)
