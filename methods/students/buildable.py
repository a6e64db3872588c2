"""Which students can be built, and their shape."""

import math

from paramid import Spec, activation
from paramid.methods.students.stacked import Shape
from paramid.words import memory_limits
from paramid.words.activations import ACTIVATIONS

FEW = 4  # copies of one student's normal equations that there is room for, at least
GUESSED = 8  # neurons a layer where nobody tells how many, for the number of samples


def refusal(spec: Spec) -> str | None:
    """Why no student of such a teacher can be told apart from others, or None."""
    if not spec.widths:
        return "needs a hidden layer"
    if strange := sorted(set(spec.activations) - set(ACTIVATIONS)):
        return f"cannot build a student of {', '.join(strange)}"
    if flat := [name for name in spec.activations[:-1] if activation(name).degree == 2 or name == "identity"]:
        return f"neurons of {flat[0]} cannot be told apart"
    return None


def shape(spec: Spec, rho: float = 1.0) -> Shape:
    """The teacher's shape, its hidden widths times `rho`."""
    widths = (math.ceil(rho * (w or GUESSED)) for w in spec.widths)
    return Shape((spec.inputs, *widths, spec.outputs), spec.activations)


def too_large(shape: Shape) -> str | None:
    """Why its normal equations do not fit in memory, or None."""
    p = shape.parameters
    return memory_limits.refusal({"normal equations": (FEW, p, p)}, memory_limits.room())
