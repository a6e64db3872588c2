"""The events of one cell, collected into its record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from paramid.records.record import COSTS, Outcome, Record, Stage
from paramid.running.cell import Cell
from paramid.words.status import Status

Observe = Callable[[Record], object]  # told what the record would be if the cell were stopped now


@dataclass
class Transcript:
    """The events of one cell, as they come in."""

    cell: Cell
    threads: int
    stages: list[Stage] = field(default_factory=list)
    stats: dict[str, float] = field(default_factory=dict)
    final: dict[str, float] = field(default_factory=dict)
    obstacles: tuple[str, ...] = ()
    claim: bytes = b""
    ended: dict[str, Any] | None = None
    peak_mb: float = 0.0
    observe: Observe | None = None

    def add(self, event: Mapping[str, Any], body: bytes = b"") -> None:
        """Take one event of a cell."""
        if event["event"] == "start":
            self.obstacles = tuple(event.get("obstacles", ()))
        elif event["event"] == "claim":
            costs = {name: event[name] for name in ("seconds", *COSTS)}
            self.stages.append(Stage(kind=event["kind"], metrics=event["metrics"], **costs))
            self.stats |= event["stats"]
            self.claim = body
        elif event["event"] == "end":
            self.ended = dict(event)
        elif event["event"] == "rejudged":
            self.final |= event["metrics"]
        self.peak_mb = max(self.peak_mb, event.get("peak_mb", 0.0))

    def show(self) -> None:
        """Tell the observer."""
        if self.observe is not None and self.ended is None:
            self.observe(self.outcome("", {}, Status.INTERRUPTED).record)

    def outcome(
        self,
        key: str,
        provenance: Mapping[str, object],
        status: Status | None = None,
        reason: str = "",
        printed: str = "",
    ) -> Outcome:
        """The record; `status` overrides the end that was reported, if any was."""
        ended = self.ended or {}
        status = status or Status.named(ended["status"])
        last = self.stages[-1] if self.stages else None
        costs = {n: ended.get(n, getattr(last, n, 0)) for n in ("seconds", *COSTS)}
        if status is Status.TIMED_OUT:  # what was spent since the last claim is known of the clock alone
            costs["seconds"] = self.cell.time_limit
        metrics = {**(last.metrics if last else {}), **self.final, **ended.get("metrics", {})}
        record = Record(
            key=key,
            method=self.cell.method,
            task=self.cell.task,
            seed=self.cell.seed,
            device=self.cell.device,
            threads=self.threads,
            budget=self.cell.budget,
            status=status,
            reason=reason or ended.get("reason", ""),
            peak_mb=round(self.peak_mb, 1),
            metrics=metrics,
            claims=tuple(self.stages),
            obstacles=self.obstacles,
            stats=self.stats,
            provenance={**provenance, "finished": datetime.now(UTC).isoformat(timespec="milliseconds")},
            traceback=ended.get("traceback", ""),
            printed=printed,
            judge_inputs=self.cell.judge_inputs,
            **costs,
        )
        return Outcome(record, self.claim)
