"""Numbers as people read them."""

from __future__ import annotations

import math


def table_number(value: float, *, whole: bool) -> str:
    """A number in a table."""
    if math.isnan(value):
        return "-"
    if whole:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 0.01 or value == 0 else f"{value:.1e}"


def shown(value: float) -> str:
    """A number on an axis or in a title."""
    plain = value == 0 or 0.01 <= abs(value) < 1e5 or not math.isfinite(value)
    return f"{value:.3g}" if plain and abs(value) < 1000 else f"{value:.0f}" if plain else _power(value)


def _power(value: float) -> str:
    head, _, exponent = f"{value:.1e}".partition("e")
    return f"{head.removesuffix('.0')}e{int(exponent)}"
