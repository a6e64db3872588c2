"""Where students start: shifts 0, and weights normal with mean 0 and the variance of a law.

For fan-in n and fan-out k these are

    (1)  glorot: 2 / (n + k);   kaiming: 2 / n;   stacked: 2 / (k S) for S students.

`stacked` is what the usual formula makes of weights kept as (n, k, S), as Expand-and-Cluster's release does.
"""

import math
from itertools import pairwise

from torch import Tensor

from paramid import Run
from paramid.methods.students.stacked import Shape

LAWS = ("glorot", "kaiming", "stacked")


def drawn(shape: Shape, students: int, law: str, run: Run) -> Tensor:
    """θ (students, parameters) by (1)."""
    theta = run.normal(students, shape.parameters)
    for layer, (n, k) in zip(shape.layers(theta), pairwise(shape.sizes), strict=True):
        layer *= math.sqrt({"glorot": 2 / (n + k), "kaiming": 2 / n, "stacked": 2 / (k * students)}[law])
        layer[:, -1] = 0
    return theta
