"""Numbers and names of the standings as people read them: nothing that can be taken for something else."""

from __future__ import annotations

import math
import re

from paramid.records.quantities import FLOOR
from paramid.statistics.family_standings import Row

NONE = "–"


def error_words(value: float) -> str:
    """An error: `2e-15`, `0.03`, `≥ 1`, `≤ 1e-17`; a dash where there is none."""
    if not math.isfinite(value):
        return NONE
    if value <= FLOOR:
        return "≤ 1e-17"
    return "≥ 1" if value >= 1 else f"{value:.0e}".replace("e-0", "e-") if value < 0.01 else f"{value:.2g}"


def rows_words(value: float) -> str:
    """Rows of the teacher, whole: `10,041`, `1.2 million`."""
    if not math.isfinite(value):
        return NONE
    return f"{value / 1e6:.3g} million" if value >= 1e6 else f"{value:,.0f}"


def seconds_words(value: float) -> str:
    """Seconds with their unit."""
    return (
        NONE
        if not math.isfinite(value)
        else f"{value * 1e3:.2g} ms"
        if value < 0.01
        else f"{value:.2g} s"
        if value < 100
        else f"{value:,.0f} s"
    )


def times(value: float) -> str:
    """A factor: `×1.0`, `×12`, `×3,400`."""
    digits = ",.0f" if value >= 9.95 else ".1f" if value >= 0.95 else ".1g"
    return NONE if math.isnan(value) else f"×{value:{digits}}"


def limits(row: Row) -> str:
    """How far a method is from what nobody can do better, in words; empty where no limit is known."""
    told = []
    if not math.isnan(row.rows_per_parameter):
        told.append(f"{times(row.rows_per_parameter)} rows")
    if not math.isnan(row.times_bound):
        told.append(f"{times(row.times_bound)} error")
    return ", ".join(told)


def short(method: str) -> str:
    """A method's name without the option that its table says."""
    return re.sub(r"([:,])(?:derivatives|moments)=exact(?=,|$| )", r"\1", method).replace(":,", ":").rstrip(":,")
