"""What a few rows show of an unknown scalar function: how fine its values are, how it grows, what it is made of.

Every measurement takes `f` (rows, inputs) -> (rows,) and points that its caller drew, and asks f for nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

Values = Callable[[Tensor], Tensor]

FAR = 1e4  # where sigmoids have saturated and kinks are passed
SEGMENT = (1e-3, 1e-4)  # steps between nine points: there smooth functions are polynomials of degree 7
MEDIAN = 0.6745  # of |z|, z standard normal
DECIMALS = 9


def repeats(f: Values, x: Tensor, u: Tensor) -> tuple[float, bool, Tensor]:
    """The share of points 0.0001 apart of exactly equal values, whether the others are steps, and all values seen.

    Where f is continuous, a hundredth of the distance gives about a hundredth of the difference; steps are as high.
    """
    y, z = f(x), f(x + 1e-4 * u)
    near, far = (y - z).abs(), (y - f(x + 1e-2 * u)).abs()
    same = float((near == 0).double().mean())
    stepped = same > 0.95 or float(near[near > 0].median()) > 0.04 * float(far[far > 0].median())
    return same, stepped, torch.cat([y, z]).unique()


def half(y: Tensor) -> str | None:
    """The half precision that holds every value whole."""
    kinds = {"bfloat16": torch.bfloat16, "float16": torch.float16}
    return next((name for name, kind in kinds.items() if torch.equal(y.to(kind).to(y.dtype), y)), None)


def roughness(f: Values, x: Tensor, u: Tensor) -> float:
    """σ of noise or rounding: what polynomials of degree 7 leave of nine values on a short line, the less of two steps.

    (1)  r = Σ_i c_i f(x + h t_i u),   c_i ∝ Π_{j ≠ i} 1 / (t_i - t_j),   Σ c_i² = 1,

    has deviation σ for noise and is h⁸ f⁽⁸⁾ where f is smooth; the median over lines does not see a few kinks. Places
    t_i are not equidistant, so that no period hides.
    """
    i = torch.arange(9, dtype=x.dtype)
    places = i - 4 + 0.3 * torch.sin(2.4 * i * i)
    apart = places[:, None] - places + torch.eye(9, dtype=x.dtype)
    weights = 1 / apart.prod(1)
    weights = weights / weights.norm()
    found = []
    for step in SEGMENT:
        y = f((x[:, None, :] + step * places[:, None] * u[:, None, :]).flatten(0, 1)).reshape(len(x), 9)
        found.append(float((y @ weights).abs().median()))
    return min(found) / MEDIAN


def decimals(y: Tensor) -> int | None:
    """The fewest decimals that write every value whole, or None beyond `DECIMALS`."""
    for count in range(DECIMALS):
        scaled = y * 10**count
        if bool(((scaled - scaled.round()).abs() <= 1e-15 * scaled.abs() * 4).all()):
            return count
    return None


def straightness(f: Values, x: Tensor, u: Tensor, step: float, error: float) -> float:
    """The share of points where f(x + hu) - 2 f(x) + f(x - hu) is 0 but for the `error` of a value."""
    second = f(x + step * u) - 2 * f(x) + f(x - step * u)
    return float((second.abs() <= 4 * error).double().mean())


def kinks(f: Values, x: Tensor, u: Tensor, step: float) -> float:
    """The share of lines on which a change of slope stays when its interval is halved again and again.

    Of x ± tu the half is kept whose ends differ more in slope, (f(t + h) - f(t - h)) / 2h at t, down to a length of
    4h: at a kink the difference stays, that of a smooth function shrinks with the interval.
    """

    def slope(t: Tensor) -> Tensor:
        at = x + t[:, None] * u
        return (f(at + step * u) - f(at - step * u)) / (2 * step)

    high = torch.full_like(x[:, 0], 2 + 2 * math.sqrt(x.shape[1]))
    low, halvings = -high, math.floor(math.log2(float(high[0]) / (2 * step)))
    at_low, at_high = slope(low), slope(high)
    for _ in range(halvings):
        middle = (low + high) / 2
        between = slope(middle)
        left = (between - at_low).abs() > (at_high - between).abs()
        low, high = torch.where(left, low, middle), torch.where(left, middle, high)
        at_low, at_high = torch.where(left, at_low, between), torch.where(left, between, at_high)
    largest = torch.maximum(at_low.abs(), at_high.abs()).max()
    return float(((at_high - at_low).abs() > 0.02 * largest).double().mean())


def growth(f: Values, u: Tensor) -> str:
    """How f grows along rays: f(4Ru) - f(2Ru) is 0 where it is bounded, else 2ⁿ (f(2Ru) - f(Ru)) for a power n."""
    near, middle, far = (f(factor * FAR * u) for factor in (1, 2, 4))
    first, second = (middle - near).abs(), (far - middle).abs()
    moving = second > 1e-3 * near.abs().max().clamp(min=1e-300)
    if float(moving.double().mean()) < 0.3:
        return "bounded"
    ratio = second[moving] / first[moving].clamp(min=1e-300)
    powers = {2.0: "linear", 4.0: "quadratic"}
    return next((name for r, name in powers.items() if ((ratio / r - 1).abs() < 0.05).double().mean() > 0.7), "other")


def ends(f: Values, u: Tensor) -> tuple[Tensor, Tensor]:
    """f(Ru) - f(-Ru) and f(Ru) + f(-Ru) on the lines that have settled there: at 2R they are the same."""
    up, down, later_up, later_down = (f(factor * FAR * u) for factor in (1, -1, 2, -2))
    moved = torch.maximum((up - later_up).abs(), (down - later_down).abs())
    settled = moved <= 1e-5 * torch.maximum(up.abs(), down.abs()).max()
    return (up - down)[settled], (up + down)[settled]
