"""The two controls before which every task is run. They see the teacher, never rank, and keep the judge honest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from paramid.contracts.task import Task
    from paramid.words.claims import Claim


class Control:
    """Something that claims with the teacher in its hands."""

    version: ClassVar[int] = 1

    def claims(self, task: Task, seed: int) -> Iterator[Claim]:
        """Claims of every kind the task can judge, the fullest last."""
        teacher = task.draw(self.teacher_seed(seed))
        for kind in reversed(task.kinds):
            yield task.truth(teacher, kind)

    def teacher_seed(self, seed: int) -> int:
        """Whose parameters are claimed."""
        raise NotImplementedError


@dataclass(frozen=True)
class Truth(Control):
    """Control: the teacher itself, which must score 0."""

    def teacher_seed(self, seed: int) -> int:
        """The teacher's own seed."""
        return seed


@dataclass(frozen=True)
class RandomGuess(Control):
    """Control: another teacher of the same family, which must not be identified."""

    def teacher_seed(self, seed: int) -> int:
        """A seed that nobody runs."""
        return seed + 1_000_003
