"""ReLUs whose planes are known: their outer weights by regression on values.

    (1)  f(x) = Σ_i a_i max(0, ⟨w_i, x⟩ - t_i),   t_i > 0,

is linear in a, also for more units than inputs. Rows are drawn from N(0, (2 max t)² I), where every unit fires on three
in ten of them or more. What was fitted is compared with f at further rows and given up where it differs: f has other
units, or is no such sum.
"""

import torch

from paramid import GiveUp, Network, Oracle, Run, Spec
from paramid.methods.thresholds.boundary_planes import Planes

ROWS, CHECKS = 40, 200  # for each unit; against which it is checked
WIDE = 2.0  # deviation of rows over the largest threshold
AGREES = 1e-9  # of the largest value


def unfit(spec: Spec) -> str | None:
    """Why this is not about ReLUs with planes around the origin, or None."""
    if not spec.shallow or spec.outputs != 1 or spec.widths[0] is None or spec.activation != "relu":
        return "needs units of one known threshold, or a known number of ReLUs, below one output"
    if (spec.norms, spec.output_bias) != ("unit", "zero"):
        return "needs weight vectors of length 1 and no output bias"
    if spec.highest_shift is None or not spec.highest_shift < 0:
        most = "any" if spec.highest_shift is None else f"{spec.highest_shift:g}"
        return f"needs units that are all silent at the origin: biases below 0, not up to {most}"
    return None


def thresholds(spec: Spec) -> tuple[float, float]:
    """The least and the largest t_i that the spec allows."""
    assert spec.highest_shift is not None  # unfit otherwise
    return -spec.highest_shift, spec.shift


def fit(oracle: Oracle, planes: Planes, run: Run) -> Network:
    """(1) over these planes; a GiveUp where f is no such function."""
    m, spread = len(planes.thresholds), WIDE * float(planes.thresholds.max())
    x = spread * run.normal(ROWS * m + CHECKS, oracle.spec.inputs)
    y = oracle.query(x)
    features = torch.relu(x @ planes.columns - planes.thresholds)
    a = torch.linalg.pinv(features[CHECKS:]) @ y[CHECKS:]  # lstsq differs from run to run
    missed, size = float((features @ a - y)[:CHECKS].abs().max()), float(y.abs().max())
    if not missed <= AGREES * size:
        raise GiveUp(f"ReLUs on the planes found miss the function by {missed:.1e}, its values being up to {size:.1e}")
    return Network.shallow(planes.columns, -planes.thresholds, "relu", a[:, 0])
