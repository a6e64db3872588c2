"""What chapter 4 of the thesis proves, checked in numbers on small networks of fixed seeds (a few seconds in all).

With z_l the pre-activations, v = ∇z the entangled weights, V_l their matrices and κ = 2 for tanh:

    (1)  ‖V_l(x)‖ ≤ κ^{l-1} Π_{k≤l} ‖W_k‖,   ‖S_k^l(x)‖_F ≤ max |g_L'| κ^{L-l} ‖w_k^L‖ Π_{l<k<L} ‖W_k‖,
    (2)  ‖V_l(x) - V_l(x')‖ ≤ Π_{k≤l} ‖W_k‖ Σ_{k<l} κ^{l+k-2} ‖W_k‖_{2→∞} Π_{j<k} ‖W_j‖ ‖x - x'‖,
    (3)  f̃ = f for L_1 = 1, L_{l+1} = πᵀ D_l⁻¹ π, R_l = S_l⁻¹, N_l = S_l or, with L_{l+1} S_l, N_l = 1.

Reference: Rauchensteiner 2023, Lemmas 4.1 and 4.2, Propositions 4.1, 4.3 and 4.4, (4.44), (4.77), Remark 4.4.
"""

import math
from functools import cache

import torch
from torch import Tensor
from torch.autograd.functional import jacobian

from benchmarks.reproduce.source_items import Judged, Made
from paramid import Network, Run
from paramid.judging.spans_and_directions import score_subspace, span_of_squares
from paramid.methods.layers.loss_free import LossFree
from paramid.methods.spans import symmetric
from paramid.methods.spans.output_differences import packed_hessians
from paramid.tasks.pyramid import Pyramid
from paramid.words.activations import activation
from paramid.words.network import flip

SMALL = Pyramid(D=12, widths=(10, 6, 4))
SEEDS = (700, 701, 702)
KAPPA = 2.0  # max |tanh'''|
ROUNDING = 1e-10
STEPS = (0.02, 0.01, 0.005)  # of differences, the last the thesis'


def teachers() -> list[Network]:
    """Networks of fixed seeds."""
    return [SMALL.draw(seed) for seed in SEEDS]


def points(count: int, seed: int, length: float | None = None) -> Tensor:
    """Gaussian inputs, or uniform ones of that length."""
    run = Run.seeded(seed)
    return run.normal(count, SMALL.D) if length is None else length * run.sphere(count, SMALL.D)


@cache
def slopes_are_gradients() -> float:
    """Lemma 4.1: the largest gap between (4.18) and the Jacobian of the pre-activations."""
    worst = 0.0
    for seed, teacher in zip(SEEDS, teachers(), strict=True):
        x = points(1, seed)
        slopes = teacher.slopes(x)
        for layer, v in enumerate(slopes):
            exact = jacobian(lambda at, n=layer, t=teacher: t.preactivations(at)[n], x)[0, :, 0]
            worst = max(worst, float((exact.T - v[0]).abs().max()))
    return worst


@cache
def hessian_gaps() -> tuple[float, ...]:
    """Proposition 4.1: the largest gap between (4.26) and (4.77) by its step."""
    found = []
    for h in STEPS:
        gaps = []
        for seed, teacher in zip(SEEDS, teachers(), strict=True):
            x = points(5, seed)
            exact = symmetric.pack(teacher.hessian(x))
            gaps.append(float((packed_hessians(teacher, x, h, "thesis") - exact).norm(dim=-1).max()))
        found.append(max(gaps))
    return tuple(found)


def norms(teacher: Network) -> list[float]:
    """‖W_1‖, …, ‖W_L‖."""
    return [float(torch.linalg.matrix_norm(w, 2)) for w in teacher.weights]


@cache
def lemma_of_bounds() -> tuple[float, float, float]:
    """Lemma 4.2: of each of its three bounds the largest share that is reached, where it is no identity.

    (4.28) is one at l = 1; (4.30) is taken below the last layer.
    """
    size = first = second = 0.0
    for seed, teacher in zip(SEEDS, teachers(), strict=True):
        w, x, y = norms(teacher), points(50, seed), points(50, seed + 10)
        for layer, (v, u) in enumerate(zip(teacher.slopes(x), teacher.slopes(y), strict=True), 1):
            product = math.prod(w[:layer])
            if layer > 1:
                size = max(size, float(torch.linalg.matrix_norm(v, 2).max()) / (KAPPA ** (layer - 1) * product))
            lipschitz = product * sum(
                KAPPA ** (layer + k - 2) * float(teacher.weights[k - 1].norm(dim=0).max()) * math.prod(w[: k - 1])
                for k in range(1, layer)
            )
            if lipschitz:
                gaps = torch.linalg.matrix_norm(v - u, 2) / (x - y).norm(dim=1)
                first = max(first, float(gaps.max()) / lipschitz)
        second = max(second, coefficients(teacher, x, w))
    return size, first, second


def coefficients(teacher: Network, x: Tensor, w: list[float]) -> float:
    """The largest share of the second bound of (1) for l < L, where |g_L'| ≤ 1 and weights have length 1."""
    depth, z = len(w), teacher.preactivations(x)
    most = 0.0
    for layer, sent in enumerate(teacher.sensitivities(x)[:-1], 1):
        g = activation(teacher.activations[layer - 1])
        s = sent / g(z[layer - 1], 1)[:, None] * g(z[layer - 1], 2)[:, None]
        bound = KAPPA ** (depth - layer) * math.prod(w[layer : depth - 1])
        most = max(most, float(s.norm(dim=2).max()) / bound)
    return most


@cache
def bound_of_the_last_layer() -> tuple[float, float]:
    """(4.30) at l = L, one weight of length 1: max |g''| and the bound max |g'|, for g(t) = tanh(2t)."""
    t, g = torch.linspace(-5, 5, 100_001, dtype=torch.float64), activation("tanh")
    return float((4 * g(2 * t, 2)).abs().max()), float((2 * g(2 * t, 1)).abs().max())


@cache
def printed_hessian_gaps() -> tuple[float, ...]:
    """(4.77) with its last argument as printed, x - ε e_(-i,-j), which is x + ε e_(i,j): its gap to (4.26) by ε."""
    teacher, x, e = SMALL.draw(SEEDS[0]), points(1, SEEDS[0]), torch.eye(SMALL.D, dtype=torch.float64)
    exact, found = teacher.hessian(x)[0, 0], []
    i, j = e[:, None], e[None]
    for h in STEPS:

        def at(step: Tensor, size: float = h) -> Tensor:
            return teacher(x + size * step.reshape(-1, SMALL.D))[:, 0].reshape(SMALL.D, SMALL.D)

        quotient = (at(i + j) - at(j - i) - at(i - j) + at(-(-i - j))) / (4 * h**2)
        found.append(float((quotient - exact).norm()))
    return tuple(found)


@cache
def rank_at_one_point() -> tuple[int, int, int, float]:
    """(4.44) with linear outputs, more of them than neurons below: neurons and rank at one point of three layers.

    Then rank of two layers, and the sine of the largest angle between its span and that of the squares it should be.
    """
    task = Pyramid(D=20, widths=(12, 6, 20), output="identity")
    h = symmetric.pack(task.draw(SEEDS[0]).hessian(Run.seeded(1).normal(1, 20))).flatten(0, 1)
    shallow = Pyramid(D=20, widths=(12, 20), output="identity")
    teacher = shallow.draw(SEEDS[0])
    low = symmetric.pack(teacher.hessian(Run.seeded(1).normal(1, 20))).flatten(0, 1)
    ranks = (int(torch.linalg.matrix_rank(x, rtol=1e-9)) for x in (h, low))
    basis = torch.linalg.svd(low.T, full_matrices=False)[0][:, :12]
    gap = score_subspace(span_of_squares(teacher.weights[0]), basis)["subspace_error"]
    return (18, *ranks, gap)


@cache
def reparametrised() -> tuple[float, float, float]:
    """Propositions 4.3 and 4.4: the largest |f̃ - f| of (Opt2), of (Opt1), and of (Opt2) with signs turned."""
    gaps = [0.0, 0.0, 0.0]
    for seed, teacher in zip(SEEDS, teachers(), strict=True):
        run, x = Run.seeded(seed), points(500, seed)
        given, scales, orders = disguised(teacher, run)
        slopes = [activation(a)(z[0], 1) for a, z in zip(teacher.activations, at_origin(teacher), strict=True)]
        blank = LossFree.of(given, teacher.activations)
        left = (blank.left[0], *(1 / g[p] for g, p in zip(slopes, orders[:-1], strict=False)))
        shifts = tuple(b[p] for b, p in zip(teacher.biases, orders, strict=True))
        second = LossFree(blank.matrices, left, tuple(1 / s for s in scales), shifts, teacher.activations)
        one = [at[:, None] * w / s for at, w, s in zip(left, blank.matrices, scales, strict=True)]
        first = Network(
            (one[0], *(s[:, None] * w for s, w in zip(scales, one[1:], strict=False))), shifts, teacher.activations
        )
        signs = [run.normal(len(s), 1)[:, 0].sign() for s in scales[:-1]] + [torch.ones_like(scales[-1])]
        turned = LossFree(
            blank.matrices,
            left,
            tuple(t / s for t, s in zip(signs, scales, strict=True)),
            tuple(t * b for t, b in zip(signs, shifts, strict=True)),
            teacher.activations,
        )
        for n, network in enumerate((second.network(), first, turned.network())):
            gaps[n] = max(gaps[n], float((network(x) - teacher(x)).abs().max()))
    return gaps[0], gaps[1], gaps[2]


def at_origin(teacher: Network) -> list[Tensor]:
    """z_l(0)."""
    return teacher.preactivations(torch.zeros(1, teacher.inputs, dtype=teacher.weights[0].dtype))


def disguised(teacher: Network, run: Run) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Ṽ_l = V_l(0) π_l S_l with random diagonals S_l, and orders π_l that leave the outputs as they are."""
    given, scales, orders = [], [], []
    slopes = teacher.slopes(torch.zeros(1, teacher.inputs, dtype=teacher.weights[0].dtype))
    for layer, v in enumerate(slopes, 1):
        width = v.shape[2]
        order = run.normal(width, 1)[:, 0].argsort() if layer < len(slopes) else torch.arange(width)
        scale = run.normal(width, 1)[:, 0].exp() * (run.normal(width, 1)[:, 0].sign() if layer < len(slopes) else 1.0)
        given.append(v[0][:, order] * scale)
        scales.append(scale)
        orders.append(order)
    return given, scales, orders


@cache
def logistic_signs() -> float:
    """Remark 4.4: the largest change of a network of logistic units by signs, constants moved along."""
    task = Pyramid(D=12, widths=(10, 6, 4), activation="logistic")
    teacher, run, x = task.draw(SEEDS[0]), Run.seeded(1), points(500, 1)
    turned = teacher
    for layer, width in enumerate(teacher.widths):
        turned = flip(turned, layer, run.normal(width, 1)[:, 0].sign())
    return float((turned(x) - teacher(x)).abs().max())


# Verdicts


def gradients(_: Made) -> Judged:
    """Lemma 4.1."""
    gap = slopes_are_gradients()
    return gap < ROUNDING, f"(4.18) is the Jacobian of the pre-activations to {gap:.1e}, on {len(SEEDS)} networks"


def hessians(_: Made) -> Judged:
    """Proposition 4.1."""
    gaps = hessian_gaps()
    order = math.log(gaps[0] / gaps[-1]) / math.log(STEPS[0] / STEPS[-1])
    told = f"(4.26) and central differences of step ε = {STEPS[-1]:g} differ by {gaps[-1]:.1e}, like ε^{order:.2f}"
    return abs(order - 2) < 0.3, told


def printed_hessians(_: Made) -> Judged:
    """Whether (4.77) as printed comes to the Hessian."""
    gaps = printed_hessian_gaps()
    order = math.log(gaps[0] / gaps[-1]) / math.log(STEPS[0] / STEPS[-1])
    told = f"x - ε e_(-i,-j) is x + ε e_(i,j) again, and the gap to the Hessian goes like ε^{order:.2f}"
    return (
        order > 0,
        f"{told}; with + for the last sign it is {hessian_gaps()[-1]:.1e} at ε = {STEPS[-1]:g}, so it is played",
    )


def bounds(_: Made) -> Judged:
    """Lemma 4.2."""
    shares = lemma_of_bounds()
    told = ", ".join(f"{s:.2g}" for s in shares)
    numbers = (
        f"at most {told} of (4.28) for l > 1, (4.29) and (4.30) is reached, on {len(SEEDS)} networks of tanh, κ = 2"
    )
    return max(shares) <= 1, f"{numbers}; at l = 1 (4.28) is an equality"


def bound_at_last(_: Made) -> Judged:
    """(4.30) at l = L: S is g_L'' there, and its proof takes ∂f/∂y of the last layer, 1, for bounded by g_L'."""
    second, first = bound_of_the_last_layer()
    told = (
        f"there S is g_L''(z): g_L(t) = tanh(2t) and a weight of length 1 have {second:.2f} where it allows {first:.2f}"
    )
    return second <= first, f"{told}; κ is a bound there, and tanh itself meets what is printed"


def one_point(_: Made) -> Judged:
    """(4.44), where its hypothesis is met."""
    *_ranks, shallow, gap = rank_at_one_point()
    told = f"D = 20, [12, 20], linear: {shallow} of 12 independent Hessians at one point"
    return (
        gap < ROUNDING if shallow == 12 else None,
        f"{told}, and their span is that of the entangled weights to {gap:.1e}",
    )


def one_point_of_deep_ones(_: Made) -> Judged:
    """Whether deep networks with linear outputs meet the hypothesis of (4.44)."""
    wanted, found, *_shallow = rank_at_one_point()
    told = f"D = 20, [12, 6, 20], linear: {found} of {wanted} independent Hessians at one point"
    return found >= wanted, f"{told}, since every output is a fixed mixture of the 6 units below"


def no_left_inverse(_: Made) -> Judged:
    """Whether (4.55) fails where a hidden layer is wider than what feeds it."""
    wide = Pyramid(D=12, widths=(10, 14, 4)).draw(SEEDS[0])
    v = wide.slopes(points(1, SEEDS[0]))[1][0]
    rank = int(torch.linalg.matrix_rank(v))
    return rank < v.shape[1], f"D = 12, [10, 14, 4]: the second layer's {v.shape[1]} entangled weights have rank {rank}"


def equivalent(_: Made) -> Judged:
    """Proposition 4.3."""
    second, first, _turned = reparametrised()
    return max(first, second) < ROUNDING, f"f̃ - f is {first:.1e} for (Opt1) and {second:.1e} for (Opt2)"


def signs_are_free(_: Made) -> Judged:
    """Proposition 4.4."""
    turned = reparametrised()[2]
    return turned < ROUNDING, f"f̃ - f is {turned:.1e} with random signs of R̃_l in hidden layers"


def logistic(_: Made) -> Judged:
    """Remark 4.4."""
    gap = logistic_signs()
    return (
        gap < ROUNDING,
        f"signs of all hidden units turned, constants moved into the next shifts: f changes by {gap:.1e}",
    )
