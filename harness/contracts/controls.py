"""The two controls before which every task is run. They see the teacher, never rank, and keep the judge honest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from paramid.contracts.task import Task
    from paramid.words.claims import Claim
    from paramid.words.network import Teacher


class Control:
    """Something that claims with the teacher in its hands."""

    version: ClassVar[int] = 1

    def claims(self, task: Task, seed: int) -> Iterator[Claim]:
        """Claims of every kind the task can judge, the fullest last."""
        teacher = self.teacher(task, seed)
        for kind in reversed(task.kinds):
            yield task.truth(teacher, kind)

    def teacher(self, task: Task, seed: int) -> Teacher:
        """Whose parameters are claimed."""
        raise NotImplementedError


@dataclass(frozen=True)
class Truth(Control):
    """Control: the teacher itself, which must score 0."""

    def teacher(self, task: Task, seed: int) -> Teacher:
        """The teacher of that seed."""
        return task.draw(seed)


@dataclass(frozen=True)
class RandomGuess(Control):
    """Control: another teacher of the same family, which must not be identified."""

    def teacher(self, task: Task, seed: int) -> Teacher:
        """One that nobody runs."""
        return task.guess(seed)
