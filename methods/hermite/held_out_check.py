"""Whether a shallow network is believed: it must explain samples held out, and every unit must be seen in samples.

With s the root mean square left of h rows held out, σ the noise that the labels are known to have and e how far
parameters may be off by the curvature of the fit,

    (1)  s² ≤ σ² (1 + 5 √(2/h)) + (m e max(1, |a|))² + (1e-6 size)²,
    (2)  e < 0.01,
    (3)  min(#{z_i > 0}, #{z_i < 0}) ≥ D + 2 for every kinked unit: otherwise it is an affine function,
    (4)  ‖Σ_S a_i (w_i; b_i)‖ > 10 e √m for every set S where g(z) - g(-z) = z: otherwise turning S leaves no trace.

What fails is given up: a wrong network is worse than none.
"""

import torch

from paramid import GiveUp, Network, Run, Samples, activation
from paramid.methods.hermite import sign_rules
from paramid.methods.hermite.unit_scalars import RAMPS
from paramid.methods.refinement import sample_refinement
from paramid.words.neuron_distances import CLOSE

CHANCE = 5.0  # deviations of a mean square
EXPLAINED = 1e-6  # of the values' size
TRACE = 10.0  # times the error


def require(network: Network, samples: Samples, held: Samples, run: Run, *, error: float, noise: float) -> None:
    """Raise GiveUp unless (1) to (4) hold."""
    left, m = sample_refinement.residual(held, network), network.widths[0]
    rows, square = sample_refinement.weighed(held, None)
    reach = m * error * max(1.0, float(network.weights[1].abs().max()))
    excused = noise**2 * (1 + CHANCE * (2 / rows) ** 0.5) + EXPLAINED**2 * square
    if not left**2 <= excused + (reach**2 if error < CLOSE else 0.0):
        raise GiveUp(
            f"{left:.1e} is left of the values of samples held out, of {square**0.5:.1e}; noise is {noise:.1e}"
        )
    certain(network, run, error)
    if not activation(network.activations[0]).smooth:
        rare = int(sample_refinement.bends(samples, network).min())
        if rare < network.inputs + 2:
            raise GiveUp(f"a unit bends at {rare} samples only: it is seen as an affine function")


def explains(network: Network, samples: Samples, noise: float) -> bool:
    """(1) for a function: nothing is said of its parameters."""
    rows, square = sample_refinement.weighed(samples, None)
    excused = noise**2 * (1 + CHANCE * (2 / rows) ** 0.5) + EXPLAINED**2 * square
    return sample_refinement.residual(samples, network) ** 2 <= excused


def certain(network: Network, run: Run, error: float) -> None:
    """(2) and (4)."""
    if not error < CLOSE:
        raise GiveUp(f"parameters are uncertain by {error:.1e}")
    if network.activations[0] in RAMPS:
        columns = network.weights[1][:, 0] * torch.cat([network.weights[0], network.biases[0][None]])
        if sign_rules.least_trace(columns, run) <= TRACE * error * columns.shape[1] ** 0.5 + 1e-12:
            raise GiveUp("some units could be turned together without leaving a trace: signs are not told")
