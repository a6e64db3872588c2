"""Faces of a first layer until every neuron has moved on one that is explained.

A face takes D - 1 neurons, of which all but the first one has a few that have moved before: by these faces are joined.
What a face tells about norms and shifts makes the next ones better. Those that end above `GOOD` are tried again with
other neurons, and half of those of faces that are; up to `USABLE` they are kept for neurons on no other.
"""

import math
from dataclasses import replace

import torch
from torch import Tensor

from paramid import GiveUp, Run
from paramid.methods.faces import shift_ranks
from paramid.methods.faces.face import Face, Layer, far, size, whole
from paramid.methods.faces.face_fit import Solved, solve
from paramid.methods.faces.second_directions import second_directions
from paramid.methods.faces.second_layer import second_layer
from paramid.methods.spans.output_differences import Values

SHARED = 2  # neurons that a face has in common with others
DRAWS = 10  # of which the nearest is taken
GOOD, USABLE = 1e-6, 1e-3  # what a face leaves of f, whose size is 1


def covered(f: Values, layer: Layer, rank: int, run: Run) -> tuple[Layer, list[Solved]]:
    """The first layer with what faces correct, and faces on which every neuron has moved."""
    inputs, width = layer.directions.shape
    n, solved, why = size(inputs, width), list[Solved](), ""
    fewest = 1 + math.ceil((width - n) / max(1, n - SHARED))
    for tries in range(4 + 3 * fewest):
        missing = moved_on(solved, layer, GOOD)
        if not len(missing) or (tries > 3 + fewest and not solved):
            break
        share = SHARED if tries < fewest else n - n // 2
        try:
            got = seen(f, whole(layer, run) if n == width else drawn(layer, missing, share, run), rank, run)
        except (GiveUp, torch.linalg.LinAlgError) as reason:  # type: ignore[attr-defined]
            why = str(reason)
            continue
        if got.rms < USABLE:
            solved.append(got)
            layer = corrected(layer, got) if got.rms < GOOD else layer
        why = f"a face leaves {got.rms:.1e} of the values"
    if len(missing := moved_on(solved, layer, USABLE)):
        raise GiveUp(f"{len(missing)} neurons of the first layer are on no face that is explained: {why}")
    return layer, solved


def moved_on(solved: list[Solved], layer: Layer, good: float) -> Tensor:
    """The neurons that have moved on no good face."""
    missing = torch.ones_like(layer.norms, dtype=torch.bool)
    for each in solved:
        if each.rms < good:
            missing[each.face.neurons] = False
    return missing.nonzero()[:, 0]


def drawn(layer: Layer, missing: Tensor, share: int, run: Run) -> Face:
    """Of a few random faces the nearest one, with so many neurons that have moved on others, if there are any."""
    inputs, width = layer.directions.shape
    faces = []
    for _ in range(DRAWS):
        order = torch.randperm(width, generator=run.generator, device="cpu").to(missing.device)
        wanted = torch.isin(order, missing)
        todo, rest = order[wanted], order[~wanted]
        most = max(1, inputs - 1 - min(share, len(rest)))
        faces.append(far(layer, torch.cat([todo[:most], rest, todo[most:]])[: inputs - 1], run))
    return min(faces, key=lambda each: float(each.base.norm()))


def seen(f: Values, at: Face, rank: int, run: Run) -> Solved:
    """One face: its shifts, the directions above, their norms, all of it."""
    wrong = shift_ranks.shift_errors(at.values(f), at.n, rank, run)
    at = at.moved(wrong.delta, wrong.stretch)
    at, columns = second_directions(f, at, rank, run)
    return solve(f, at, second_layer(at.values(f), columns, run), run)


def corrected(layer: Layer, solved: Solved) -> Layer:
    """The first layer with what a face tells."""
    own, j = solved.face.layer, solved.face.neurons
    return replace(
        layer, norms=layer.norms.index_copy(0, j, own.norms), shifts=layer.shifts.index_copy(0, j, own.shifts)
    )
