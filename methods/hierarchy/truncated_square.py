"""The truncated square of Figure 8: z² up to a bound B', constant from 2 B' on, smooth and monotone between.

With t = (|z| - B') / B' between 0 and 1, and the smooth step w(t) = 1 - 10 t³ + 15 t⁴ - 6 t⁵ from 1 down to 0,

    (1)  σ̃'(z) = 2 z w(t),
    (2)  σ̃(z) = B'² (1 + 2 t + t² - 5 t⁴ + 2 t⁵ + 3 t⁶ - 12/7 t⁷),   so that B'' = 16/7 B'²,

which has three bounded derivatives, as §2.1 asks. The polynomial between is ours: the paper takes any.

Reference: Allen-Zhu & Li, Backward feature correction, arXiv:2001.04413, §2.1.
"""

from torch import Tensor

TOP = 16 / 7  # B'' over B'²


def square(z: Tensor, bound: float) -> Tensor:
    """σ̃ of (2)."""
    t = (z.abs() / bound - 1).clamp(0, 1)
    above = t * (2 + t * (1 + t * t * (-5 + t * (2 + t * (3 - 12 / 7 * t)))))
    return z.clamp(-bound, bound).square() + bound**2 * above


def slope(z: Tensor, bound: float) -> Tensor:
    """σ̃' of (1)."""
    t = (z.abs() / bound - 1).clamp(0, 1)
    return 2 * z * (1 - t**3 * (10 + t * (-15 + 6 * t)))
