"""A figure by the name of its kind: what `paramid plot` draws, for Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from paramid.pictures.curves import curves
from paramid.pictures.noise import noise
from paramid.pictures.pareto import pareto
from paramid.pictures.phase_map import phase_map
from paramid.pictures.profile import profile
from paramid.pictures.scaling import scaling
from paramid.pictures.sheet import Figure
from paramid.records.frames import DEFAULT_STORE, stored
from paramid.records.record import Record
from paramid.records.selection import chosen, newest
from paramid.words.naming import UsageError, suggestion

KINDS: Mapping[str, Callable[..., Figure]] = {
    "pareto": pareto, "curves": curves, "scaling": scaling, "phase": phase_map, "profile": profile, "noise": noise,
}  # fmt: skip


def plot(
    kind: str,
    source: str | Path | Iterable[Record] = DEFAULT_STORE,
    *,
    methods: Sequence[str] = (),
    tasks: Sequence[str] = (),
    **told: str,
) -> Figure:
    """The matplotlib figure of a kind, to restyle and save: pareto, curves, scaling, phase, profile or noise.

    The `source` is what `load` takes: a store, published records, or records; `methods` and `tasks` choose among them.
    What is `told` besides is what the command takes: `over`, `by`, `rows`, `columns`. A UsageError where there is
    nothing to draw.
    """
    if kind not in KINDS:
        raise UsageError(f"no figure is called {kind!r}; {suggestion(kind, KINDS)}")
    records = stored(source) if isinstance(source, str | Path) else list(source)
    return KINDS[kind](chosen(newest(records), methods, tasks), **told)
