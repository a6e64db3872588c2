"""The events of one cell, collected into its record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from paramid.records.record import COSTS, Outcome, Record, Stage
from paramid.running.cell import Cell
from paramid.words.status import Status

MOST_WORDS = 1000  # that a method may say of itself, all claims together
SPENT = ("seconds", *COSTS, "peak_mb", "cpu_seconds", "walls")
Observe = Callable[[Record], object]  # told what the record would be if the cell were stopped now


@dataclass
class Transcript:
    """The events of one cell, as they come in."""

    cell: Cell
    threads: int
    stages: list[Stage] = field(default_factory=list)
    stats: dict[str, float] = field(default_factory=dict)
    spent: dict[str, Any] = field(default_factory=dict)  # the last that was heard of
    obstacles: tuple[str, ...] = ()
    claim: bytes = b""
    ended: dict[str, Any] | None = None
    observe: Observe | None = None

    def add(self, event: Mapping[str, Any], body: bytes = b"") -> None:
        """Take one event of a cell."""
        if event["event"] == "start":
            self.obstacles = tuple(event.get("obstacles", ()))
        elif event["event"] == "claim":
            costs = {name: event[name] for name in ("seconds", *COSTS)}
            self.stages.append(Stage(kind=event["kind"], metrics=event["metrics"], **costs))
            if len(self.stats) < MOST_WORDS:
                self.stats |= event["stats"]
            self.claim = body
        elif event["event"] == "end":
            self.ended = dict(event)
        self.spent |= {name: event[name] for name in SPENT if name in event}

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
        metrics = {**(last.metrics if last else {}), **ended.get("metrics", {})}
        walls = {"walls": self.spent["walls"]} if "walls" in self.spent else {}
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
            **{name: self.spent.get(name, 0) for name in ("seconds", *COSTS)},
            peak_mb=round(self.spent.get("peak_mb", 0.0), 1),
            cpu_seconds=self.spent.get("cpu_seconds", 0.0),
            secret=self.cell.secret,
            metrics=metrics,
            claims=tuple(self.stages),
            obstacles=self.obstacles,
            stats=self.stats,
            provenance={**provenance, **walls, "finished": datetime.now(UTC).isoformat(timespec="milliseconds")},
            traceback=ended.get("traceback", ""),
            printed=printed,
            judge_inputs=self.cell.judge_inputs,
        )
        return Outcome(record, self.claim)
