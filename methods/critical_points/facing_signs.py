"""Which way each neuron of a layer looks, by the way that the papers have for layers of its shape.

`exhaustive` is CRYPTO 2020: preimages where the layer is contractive, else all patterns of the last hidden layer.
`wiggle` is EUROCRYPT 2024: a system of equations in the layers that inputs control, wiggles of single neurons above
them, and second differences below the output. `auto` is the first, and the second where the first has no answer.

For hidden layers that are neither contractive nor the last, the first follows bent planes of the layer above through
both sides of every unit; that is not rebuilt here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramid import GiveUp
from paramid.methods.critical_points import exhaustive_signs, preimage_signs, wiggle_signs

if TYPE_CHECKING:
    import numpy as np

    from paramid.methods.critical_points.known_layers import Known, Layer
    from paramid.methods.critical_points.output_layer import Asked
    from paramid.methods.piecewise.line_kinks import Array

CHOICES = ("auto", "exhaustive", "wiggle")
TRIED_ON = 100  # stored rows
Way = str  # preimage, exhaustive, equations, wiggle or last


def way(
    inputs: int, widths: tuple[int, ...], place: int, choice: str, most: int, *, preimages: bool = True
) -> Way | None:
    """How the signs of that hidden layer are found, or None."""
    last = place == len(widths) - 1
    if choice != "wiggle":
        if preimages and preimage_signs.applies(inputs, widths[: place + 1], place):
            return "preimage"
        if last and widths[place] <= most:
            return "exhaustive"
        if choice == "exhaustive":
            return None
    if last:
        return "last" if place or widths[place] <= inputs else None
    return "equations" if wiggle_signs.controlled(inputs, widths, place) else "wiggle"


def hopeless(inputs: int, widths: tuple[int, ...], choice: str, most: int) -> str | None:
    """Why one of the layers has no way, or None."""
    for place, width in enumerate(widths):
        if way(inputs, widths, place, choice, most) is None:
            if place < len(widths) - 1:
                return f"hidden layer {place + 1} is neither contractive nor the last: signs=wiggle has an answer"
            return f"2^{width} patterns of signs are too many to be tried, and nothing else tells them here"
    return None


def signs(
    f: Asked,
    known: Known,
    rows: Layer,
    widths: tuple[int, ...],
    choice: str,
    most: int,
    source: np.random.Generator,
) -> Array:
    """±1 for each row of the layer above the known ones."""
    place = len(known.layers)
    how = way(known.inputs, widths, place, choice, most)
    if how == "preimage":
        told = preimage_signs.signs(f, known, rows)
        if told is not None:
            return told
        how = way(known.inputs, widths, place, choice, most, preimages=False) if place else None
    if how is None:
        raise GiveUp(f"there is no preimage of zero in layer {place + 1}: it is not contractive")
    if how == "exhaustive":
        held = f.stored(TRIED_ON)
        return exhaustive_signs.signs(rows(known.hidden(held[:, :-1])), held[:, -1])
    return wiggle_signs.signs(f, known, rows, how, source)
