"""What the learners of quadratic DenseNets share: students, sensitivities, Jacobians, losses in bounded memory.

For the net of `paramid.DenseNet`, H_l = (h_j)_{j∈J_l}, S_l = K_l H_l, h_l = (R_l S_l)², heads W_l and
f = Σ_l α_l ‖W_l H_l‖² (W_l = K_l where they are tied), with ∘ going by coordinates,

    (1)  own_l   = ∂f/∂(W_l H_l) = 2 α_l W_l H_l,
    (2)  below_l = ∂f/∂S_l = Σ_{l': l∈J_l'} R_lᵀ (2 R_l S_l ∘ g_{l',l}),   g_l' = W_l'ᵀ own_l' + K_l'ᵀ below_l',
    (3)  ∂f/∂W_l = own_l H_lᵀ,   ∂f/∂K_l = below_l H_lᵀ,   and their sum where heads are tied.

R_l is drawn normal, or holds e_i and (e_i + e_j) / √2: as many rows, the same span of products, better conditioned.

Reference: Allen-Zhu & Li, Backward feature correction, arXiv:2001.04413, §2.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from paramid import Run, Spec
from paramid.methods.hierarchy import truncated_square
from paramid.words import memory_limits
from paramid.words.densenet import DenseNet, Links
from paramid.words.spec import HierarchySpec

CHUNK = 2**21  # doubles per intermediate: 16 MB
START = 0.3  # of weights, over the root of their fan-in
Pairs = Iterable[tuple[Tensor, Tensor]]


def declined(spec: Spec, arrays: dict[str, tuple[int, ...]] | None = None) -> str | None:
    """Why a learner of DenseNets is not for such a teacher, or cannot hold `arrays`; None to accept."""
    if not isinstance(spec, HierarchySpec):
        return "needs to be told the links and gaps of a quadratic DenseNet"
    if spec.samples is not None and spec.samples < 2:
        return f"{spec.samples} samples are too few to fit and to check"
    return memory_limits.refusal(arrays or {}, memory_limits.room())


def mixed(width: int) -> int:
    """How many rows R_l has for `width` features: k (k + 1) / 2."""
    return width * (width + 1) // 2


def seen_by(spec: HierarchySpec, widths: Sequence[int], links: Links) -> list[int]:
    """The length of H_2, …, H_L."""
    return [sum(spec.inputs if j < 2 else mixed(widths[j - 2]) for j in seen) for seen in links]


def parameters(spec: HierarchySpec, widths: Sequence[int] | None = None, links: Links | None = None) -> int:
    """The number of weights of a student."""
    widths = widths or told(spec)
    return sum(k * q for k, q in zip(widths, seen_by(spec, widths, links or spec.links), strict=True))


def told(spec: HierarchySpec) -> tuple[int, ...]:
    """The widths that the spec tells."""
    return tuple(w for w in spec.widths if w is not None)


def mix(width: int, run: Run, *, drawn: bool) -> Tensor:
    """R_l: normal entries of variance 1/k, or all e_i and (e_i + e_j) / √2."""
    if drawn:
        return run.normal(mixed(width), width) / math.sqrt(width)
    one = torch.eye(width, dtype=run.dtype, device=run.device)
    i, j = torch.triu_indices(width, width, 1, device=run.device)
    return torch.cat([one, (one[i] + one[j]) / math.sqrt(2)])


def layer_start(width: int, seen: int, run: Run) -> Tensor:
    """K_l at random."""
    return START * run.normal(width, seen) / math.sqrt(seen)


def student(
    spec: HierarchySpec, run: Run, *, widths: Sequence[int] | None = None, links: Links | None = None, drawn: bool
) -> DenseNet:
    """A net of the spec's structure, or of another, at random."""
    widths, links = widths or told(spec), links or spec.links
    mixes = tuple(mix(k, run, drawn=drawn) for k in widths)
    seen = seen_by(spec, widths, links)
    weights = tuple(layer_start(k, q, run) for k, q in zip(widths, seen, strict=True))
    return DenseNet(weights, mixes, links, spec.alphas)


def with_layers(net: DenseNet, changed: dict[int, Tensor]) -> DenseNet:
    """The net with other K_l."""
    return replace(net, weights=tuple(changed.get(layer, k) for layer, k in enumerate(net.weights, 2)))


def sensitivities(
    net: DenseNet, x: Tensor, heads: Sequence[Tensor] | None = None, bound: float = math.inf
) -> tuple[Tensor, list[Tensor], list[Tensor], list[Tensor]]:
    """Values f (rows,), H_l, own_l of (1) and below_l of (2) for all layers; squares of R_l S_l end at `bound`."""
    seen, features = net.layers(x) if math.isinf(bound) else truncated_layers(net, x, bound)
    heads = net.weights if heads is None else heads
    sums = [h @ w.T for h, w in zip(seen, heads, strict=True)]
    own = [2 * a * s for a, s in zip(net.alphas, sums, strict=True)]
    below = [torch.zeros_like(s) for s in features]
    for n in reversed(range(len(own))):
        back = own[n] @ heads[n] + below[n] @ net.weights[n]
        for j, g in zip(net.links[n], back.split(net.blocks(n + 2), dim=1), strict=True):
            if j > 1:
                r = net.mixes[j - 2]
                z = features[j - 2] @ r.T
                slope = 2 * z if math.isinf(bound) else truncated_square.slope(z, bound)
                below[j - 2] = below[j - 2] + (slope * g) @ r
    f = torch.stack([a * s.square().sum(1) for a, s in zip(net.alphas, sums, strict=True)]).sum(0)
    return f, seen, own, below


def truncated_layers(net: DenseNet, x: Tensor, bound: float) -> tuple[list[Tensor], list[Tensor]]:
    """H_2, …, H_L and S_2, …, S_L with h_l = σ̃(R_l S_l)."""
    h, seen, features = [x, x * x - 1], [], []
    for k, r, links in zip(net.weights, net.mixes, net.links, strict=True):
        seen.append(torch.cat([h[j] for j in links], dim=1))
        features.append(seen[-1] @ k.T)
        h.append(truncated_square.square(features[-1] @ r.T, bound))
    return seen, features


def jacobian(net: DenseNet, x: Tensor, layers: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Values f (rows,) and their derivative by the K_l of `layers`, flat and in their order, heads being tied (3)."""
    f, seen, own, below = sensitivities(net, x)
    parts = [
        ((own[n] + below[n])[:, :, None] * seen[n][:, None, :]).flatten(1) for n in (layer - 2 for layer in layers)
    ]
    return f, torch.cat(parts, dim=1)


def flat(net: DenseNet, layers: Sequence[int]) -> Tensor:
    """The K_l of `layers` as `jacobian` orders them."""
    return torch.cat([net.weights[layer - 2].flatten() for layer in layers])


def unflat(net: DenseNet, layers: Sequence[int], theta: Tensor) -> DenseNet:
    """The net with these K_l."""
    sized = [net.weights[layer - 2] for layer in layers]
    parts = theta.split([k.numel() for k in sized])
    return with_layers(net, {n: p.view_as(k) for n, p, k in zip(layers, parts, sized, strict=True)})


def rows(pairs: Pairs, width: int) -> Iterator[tuple[Tensor, Tensor]]:
    """The pairs, values flat, in chunks that fit `width` doubles a row."""
    most = max(1, CHUNK // max(1, width))
    for x, y in pairs:
        yield from zip(x.split(most), y[:, 0].split(most), strict=True)


def mean_square(net: DenseNet, pairs: Pairs) -> float:
    """The mean of (f - y)²."""
    total, count = 0.0, 0
    for x, y in rows(pairs, 2 * sum(k.shape[1] for k in net.weights)):
        total, count = total + float((net(x)[:, 0] - y).square().sum()), count + len(y)
    return total / count


def variance(pairs: Pairs) -> float:
    """The variance of y."""
    count, total, squares = 0, 0.0, 0.0
    for _, y in pairs:
        count, total, squares = count + len(y), total + float(y.sum()), squares + float(y.square().sum())
    return max(squares / count - (total / count) ** 2, 0.0)
