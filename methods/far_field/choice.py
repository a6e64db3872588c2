"""Which activation it is, by the profiles of crossings of one line.

    (1)  f(x + s u) = c_0 + c_1 s + a g(l s + z)

holds to rounding for the right g and leaves 1e-3 of what bends and more for the others, but for those that an affine
map leads to: tanh and logistic are one family, and so are ReLUs, which differ by a linear function that signs have a
part in. So a family is chosen here, and its members are tried in turn on values.
"""

import torch

from paramid import GiveUp, activation
from paramid.methods.far_field import directions, profiles
from paramid.methods.far_field.crossings import Line
from paramid.methods.far_field.outlook import Outlook
from paramid.methods.spans.output_differences import Values

FAMILIES = (
    ("tanh",),
    ("erf",),
    ("softplus",),
    ("gelu",),
    ("gelu-tanh",),
    ("silu",),
    ("elu",),
    ("relu", "leaky-relu"),
)
AFFINE = (*(name for family in FAMILIES for name in family), "logistic")
MOST = 12  # crossings that are asked
CLEAR, EXPLAINED = 10.0, 1e-4  # the next best leaves so much more, and the best at most so much of what bends


def family(f: Values, line: Line, found: torch.Tensor, view: Outlook, h: float) -> tuple[str, ...]:
    """The activations of which one explains the crossings (k, 2) of a line."""
    there = directions.switches(f, line, found[:: max(1, len(found) // MOST)], h=h, noise=view.far, unit=view.unit)
    if not len(there.x):
        raise GiveUp("no crossing of a line is that of one neuron")
    data = profiles.windows(f, there.x, there.u, there.reach, view.far)
    left = torch.stack(
        [rest.left / rest.bend for rest in (profiles.profiles(data, activation(n[0])) for n in FAMILIES)]
    )
    told = left.median(1).values.tolist()
    first, second = sorted(range(len(FAMILIES)), key=told.__getitem__)[:2]
    if told[first] > EXPLAINED or told[second] < CLEAR * told[first]:
        closest = ", ".join(f"{FAMILIES[i][0]} {told[i]:.0e}" for i in (first, second))
        raise GiveUp(f"no activation explains the crossings of a line: {closest} of what bends is left")
    return FAMILIES[first]
