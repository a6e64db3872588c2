"""A family whose judge takes his time: a plug-in of the tests."""

import time
from dataclasses import dataclass

from paramid import Claim, Metrics, Teacher
from paramid.tasks.shallow import Shallow


@dataclass(frozen=True)
class SlowJudge(Shallow):
    """The shallow family before a slow judge."""

    def judge(self, claim: Claim, teacher: Teacher) -> Metrics:
        time.sleep(0.5)
        return super().judge(claim, teacher)


TASKS = {"slow-judge": SlowJudge}
