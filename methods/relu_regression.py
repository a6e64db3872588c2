"""`relu-regression`: a function close to a ReLU network in the mean square, also where its units cannot be told.

    1. the first half of the samples: directions w̃_j, j ∈ S, and biases b̃_j     (hermite_jennrich, relu_scalars)
    2. the second half: least squares on the features max(0, ⟨w̃_j, x⟩ + b̃_j), x and 1, that is

    (1)  g(x) = Σ_{j∈S} α_j max(0, ⟨w̃_j, x⟩ + b̃_j) + ⟨v, x⟩ + c

    3. as a network of |S| + 2 units, for ⟨v, x⟩ + c = β (max(0, z) - max(0, -z)),   z = (⟨v, x⟩ + c) / β,   β = ‖v‖.

Units of large |b| are affine or zero on all samples, and only their sum is seen: in v and c. A unit of the wrong sign
is right up to an affine function, so signs need not be known either. The paper regresses on max(0, ±z̃_j), which are
dependent, as max(0, z) - max(0, -z) = z.

What needs no v and c and fits to a hundredth is claimed as a network. Everything else is stage 3's, whose parameters
are not the teacher's: claimed as a function if it misses at most `within` of the values' deviation on samples held out.

Reference: Awasthi, Tang & Vijayaraghavan, arXiv:2107.10209, Algorithm 5 and Claim B.5.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from paramid import Claim, Directions, Function, GiveUp, Network, Oracle, Run, Spec
from paramid.methods.hermite.affine_part import consolidated
from paramid.methods.hermite.function_check import MISSED, missed, told
from paramid.methods.hermite.moment_estimates import Moments, Pairs
from paramid.methods.hermite.tensors_to_network import HELD
from paramid.methods.hermite_jennrich import HermiteJennrich, count
from paramid.words.memory_limits import CHUNK
from paramid.words.options import at_least


@dataclass(frozen=True)
class ReluRegression(HermiteJennrich):
    """Units from one half of the samples, least squares on their outputs with the other (Awasthi et al.)."""

    control: int = 2  # degree of the regression taken off values before their moments; -1: none, affine units drown it
    within: float = (
        0.1  # of the values' deviation: what a function may miss to be claimed; 1: all that is better than none
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, within=0)
        if self.moments != "samples":
            raise ValueError(f"moments is {self.moments!r}; a regression needs samples")

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Stages 1 to 3."""
        spec, n = oracle.spec, self.rows(oracle.spec)
        moments = self.estimated(oracle.sample(n // 2))
        rest, held = oracle.sample(n - n // 2 - n // HELD), oracle.sample(n // HELD)
        w = self.directions(moments, spec, run)
        yield Directions(w, stats={"directions_found": w.shape[1], "rows": moments.rows})
        units = self.network(moments, w, spec, run)
        bare, v, c = regressed(rest, units, affine=False)
        short = missed(held, bare, v, c, spec.noise)
        if short <= MISSED and told(bare, short, run):
            yield replace(bare, stats={"missed": short})
            return
        fitted, v, c = regressed(rest, units, affine=True)
        short = missed(held, fitted, v, c, spec.noise)
        if not short <= self.within:
            raise GiveUp(f"{w.shape[1]} units and an affine function miss {short:.1%} of the values' deviation")
        whole = consolidated(fitted, v, c)
        yield Function(whole, stats={"missed": short, "units": whole.widths[0]})

    def directions(self, moments: Moments, spec: Spec, run: Run) -> Tensor:
        """What stands out of the noise and nothing else: spurious directions would be fitted."""
        known = spec.widths[0]
        most = count(moments, 2, 1) if known is None and self.order == 1 else known
        return self.joined(moments, most, run, forced=False)


def regressed(samples: Pairs, units: Network, *, affine: bool) -> tuple[Network, Tensor, Tensor]:
    """Least squares (1) with the directions and biases of `units`: the network, v and c, zero unless `affine`."""
    d, m = units.weights[0].shape
    normal = units.weights[0].new_zeros(m + d + 2, m + d + 2)
    for chunk, values in samples:
        size = max(1, CHUNK // (m + d + 2))
        for x, y in zip(chunk.split(size), values.split(size), strict=True):
            phi = torch.cat([torch.relu(x @ units.weights[0] + units.biases[0]), x, torch.ones_like(y), y], dim=1)
            normal += phi.T @ phi
    used = m + d + 1 if affine else m
    beta = normal.new_zeros(m + d + 1)
    beta[:used] = torch.linalg.pinv(normal[:used, :used], hermitian=True) @ normal[:used, -1]
    return Network.shallow(units.weights[0], units.biases[0], "relu", beta[:m]), beta[m:-1], beta[-1:]
