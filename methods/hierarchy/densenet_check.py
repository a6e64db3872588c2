"""Whether a quadratic DenseNet is what its samples come from: judged on samples that it was not fitted to.

With e the mean square error on n unseen samples less the noise σ², N samples fitted, P free numbers and v_l the
variance of α_l ‖S_l‖² (where layers have heads of their own, of what those give), all is explained where

    (1)  e ≤ 2 σ² P / N + 6 σ² √(2 / n) + 1e-5 min_l v_l,

and every layer is seen where

    (2)  σ² P / N + 1e-16 Var y ≤ 1e-4 min_l v_l,   6 σ² √(2 / n) ≤ min_l v_l / 4:

σ² P / N is what noise adds to the error of a fit, and over v_l it is the error of the features of layer l.
"""

import math

import torch

from paramid import GiveUp, Samples, Spec
from paramid.methods.hierarchy.densenet import mean_square, rows, variance
from paramid.words.densenet import DenseNet

EXPLAINED, UNSURE, ROUNDING = 1e-5, 1e-4, 1e-16  # of variances


def checked(
    net: DenseNet, pairs: Samples, fresh: Samples, spec: Spec, size: int, *, explained: float = EXPLAINED
) -> None:
    """GiveUp where (1), its last factor being `explained`, or (2) does not hold for `size` numbers and `pairs`."""
    noise, whole = spec.noise**2, variance(fresh)
    missed = mean_square(net, fresh)
    fitted, spread = noise * size / len(pairs), 6 * noise * math.sqrt(2 / len(fresh))
    weakest = min(layer_variances(net, fresh))
    if not missed - noise <= 2 * fitted + spread + max(explained * weakest, ROUNDING * whole):
        error = missed / whole if whole else math.inf
        raise GiveUp(f"misses samples it has not seen by {error:.1e} of their variance")
    if fitted + ROUNDING * whole > UNSURE * weakest or spread > weakest / 4:
        raise GiveUp(f"noise {spec.noise:g} hides a layer of variance {weakest:.1e} from {len(pairs)} samples")


def layer_variances(net: DenseNet, pairs: Samples) -> list[float]:
    """v_l, one for every layer."""
    count, total = 0, net.weights[0].new_zeros(net.depth - 1)
    squares = torch.zeros_like(total)
    for x, y in rows(pairs, 2 * sum(k.shape[1] for k in net.weights)):
        terms = net.terms(x)
        count, total, squares = count + len(y), total + terms.sum(0), squares + terms.square().sum(0)
    return (squares / count - (total / count) ** 2).tolist()
