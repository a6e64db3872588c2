"""How a cell can end. The value is the sentence shown to people; the lower-case name is what records hold."""

from enum import Enum


class Status(Enum):
    """One ending each; whether the answer is right is the judge's to say."""

    FINISHED = "the method ended by itself with a claim"
    BUDGET_SPENT = "the method asked for more rows than it was granted"
    TIMED_OUT = "the method was stopped at its time limit"
    DECLINED = "the method said beforehand that this task is not for it"
    GAVE_UP = "the method checked its own work and found no answer"
    NO_ANSWER = "the method ended without a claim"
    MALFORMED_CLAIM = "the method claimed something that cannot be judged"
    RAISED = "the method raised an error"
    CRASHED = "the method's process was killed by a signal"
    EXITED = "the method's process left without a word"
    OUT_OF_MEMORY = "the method asked for more memory than it was allowed"
    INTERRUPTED = "the run was stopped by its user"

    @property
    def key(self) -> str:
        """The name that records hold."""
        return self.name.lower()

    @classmethod
    def named(cls, key: str) -> "Status":
        """The status that records call `key`."""
        try:
            return cls[key.upper()]
        except KeyError:
            raise ValueError(f"unknown status {key!r}; there are {', '.join(s.key for s in cls)}") from None


BROKEN = frozenset({Status.RAISED, Status.CRASHED, Status.EXITED})
"""Endings that no sound method has: `compare` exits with 1 when it sees one."""
