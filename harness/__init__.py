"""paramid: who can recover a network's weights, how exactly, and at what cost.

Everything an author or a user needs is importable from here, and loaded only when it is asked for:
`import paramid` itself loads neither torch nor pandas.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paramid.activations import Activation as Activation
    from paramid.activations import activation as activation
    from paramid.authoring import new as new
    from paramid.checking import Checked as Checked
    from paramid.checking import check as check
    from paramid.claims import Claim as Claim
    from paramid.claims import Directions as Directions
    from paramid.claims import EntangledWeights as EntangledWeights
    from paramid.claims import Function as Function
    from paramid.claims import Gram as Gram
    from paramid.claims import Subspace as Subspace
    from paramid.contracts import GiveUp as GiveUp
    from paramid.contracts import Method as Method
    from paramid.contracts import Run as Run
    from paramid.contracts import Task as Task
    from paramid.densenet import DenseNet as DenseNet
    from paramid.identifiability import obstacles as obstacles
    from paramid.identification import BadFunction as BadFunction
    from paramid.identification import Found as Found
    from paramid.identification import identify as identify
    from paramid.judging import Metrics as Metrics
    from paramid.judging import Teacher as Teacher
    from paramid.judging import Unjudgeable as Unjudgeable
    from paramid.naming import UsageError as UsageError
    from paramid.network import Network as Network
    from paramid.oracle import AccessRefused as AccessRefused
    from paramid.oracle import BudgetSpent as BudgetSpent
    from paramid.oracle import Oracle as Oracle
    from paramid.oracle import Samples as Samples
    from paramid.record import Record as Record
    from paramid.registry import method as method
    from paramid.registry import task as task
    from paramid.runner import compare as compare
    from paramid.runner import run as run
    from paramid.scoring import judge as judge
    from paramid.spec import Access as Access
    from paramid.spec import HierarchySpec as HierarchySpec
    from paramid.spec import LearnerSpec as LearnerSpec
    from paramid.spec import Spec as Spec
    from paramid.spec import ThresholdSpec as ThresholdSpec
    from paramid.status import Status as Status
    from paramid.thresholds import Thresholded as Thresholded
    from paramid.thresholds import Units as Units

__version__ = "0.1.0"

# name -> module that defines it; a test keeps this equal to the imports above.
EXPORTS = {
    "Access": "spec",
    "AccessRefused": "oracle",
    "Activation": "activations",
    "BadFunction": "identification",
    "BudgetSpent": "oracle",
    "Checked": "checking",
    "Claim": "claims",
    "DenseNet": "densenet",
    "Directions": "claims",
    "EntangledWeights": "claims",
    "Found": "identification",
    "Function": "claims",
    "GiveUp": "contracts",
    "Gram": "claims",
    "HierarchySpec": "spec",
    "LearnerSpec": "spec",
    "Method": "contracts",
    "Metrics": "judging",
    "Network": "network",
    "Oracle": "oracle",
    "Record": "record",
    "Run": "contracts",
    "Samples": "oracle",
    "Spec": "spec",
    "Status": "status",
    "Subspace": "claims",
    "Task": "contracts",
    "Teacher": "judging",
    "ThresholdSpec": "spec",
    "Thresholded": "thresholds",
    "Units": "thresholds",
    "Unjudgeable": "judging",
    "UsageError": "naming",
    "activation": "activations",
    "check": "checking",
    "compare": "runner",
    "identify": "identification",
    "judge": "scoring",
    "method": "registry",
    "new": "authoring",
    "obstacles": "identifiability",
    "run": "runner",
    "task": "registry",
}

__all__ = ["__version__", *EXPORTS]


def __getattr__(name: str) -> object:
    if name not in EXPORTS:
        raise AttributeError(f"module 'paramid' has no attribute {name!r}")
    return getattr(import_module(f"paramid.{EXPORTS[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *globals()])
