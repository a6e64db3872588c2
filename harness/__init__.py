"""paramid: who can recover a network's weights, how exactly, and at what cost.

Everything an author or a user needs is importable from here, and loaded only when it is asked for:
`import paramid` itself loads neither torch nor pandas.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paramid.authoring.check import Checked as Checked
    from paramid.authoring.check import check as check
    from paramid.authoring.new import new as new
    from paramid.contracts.method import GiveUp as GiveUp
    from paramid.contracts.method import Method as Method
    from paramid.contracts.method import Run as Run
    from paramid.contracts.plugins import add_plugin as add_plugin
    from paramid.contracts.registry import method as method
    from paramid.contracts.registry import task as task
    from paramid.contracts.task import Task as Task
    from paramid.identifying.black_box import BadFunction as BadFunction
    from paramid.identifying.identify import Found as Found
    from paramid.identifying.identify import identify as identify
    from paramid.judging.judge import judge as judge
    from paramid.judging.metrics import Metrics as Metrics
    from paramid.judging.metrics import Unjudgeable as Unjudgeable
    from paramid.judging.obstacles import obstacles as obstacles
    from paramid.oracle.protocol import AccessRefused as AccessRefused
    from paramid.oracle.protocol import BudgetSpent as BudgetSpent
    from paramid.oracle.protocol import Oracle as Oracle
    from paramid.oracle.samples import Samples as Samples
    from paramid.pictures.plot import plot as plot
    from paramid.records.frames import load as load
    from paramid.records.record import Record as Record
    from paramid.running.compare import compare as compare
    from paramid.running.run import run as run
    from paramid.words.activations import Activation as Activation
    from paramid.words.activations import activation as activation
    from paramid.words.claims import Claim as Claim
    from paramid.words.claims import Directions as Directions
    from paramid.words.claims import EntangledWeights as EntangledWeights
    from paramid.words.claims import Function as Function
    from paramid.words.claims import Gram as Gram
    from paramid.words.claims import Subspace as Subspace
    from paramid.words.densenet import DenseNet as DenseNet
    from paramid.words.naming import UsageError as UsageError
    from paramid.words.network import Network as Network
    from paramid.words.network import Teacher as Teacher
    from paramid.words.spec import Access as Access
    from paramid.words.spec import HierarchySpec as HierarchySpec
    from paramid.words.spec import ImageSpec as ImageSpec
    from paramid.words.spec import LearnerSpec as LearnerSpec
    from paramid.words.spec import Spec as Spec
    from paramid.words.spec import ThresholdSpec as ThresholdSpec
    from paramid.words.status import Status as Status
    from paramid.words.threshold_units import Thresholded as Thresholded
    from paramid.words.threshold_units import Units as Units

__version__ = "0.1.0"

# name -> module that defines it; a test keeps this equal to the imports above.
EXPORTS = {
    "Access": "words.spec",
    "AccessRefused": "oracle.protocol",
    "Activation": "words.activations",
    "BadFunction": "identifying.black_box",
    "BudgetSpent": "oracle.protocol",
    "Checked": "authoring.check",
    "Claim": "words.claims",
    "DenseNet": "words.densenet",
    "Directions": "words.claims",
    "EntangledWeights": "words.claims",
    "Found": "identifying.identify",
    "Function": "words.claims",
    "GiveUp": "contracts.method",
    "Gram": "words.claims",
    "HierarchySpec": "words.spec",
    "ImageSpec": "words.spec",
    "LearnerSpec": "words.spec",
    "Method": "contracts.method",
    "Metrics": "judging.metrics",
    "Network": "words.network",
    "Oracle": "oracle.protocol",
    "Record": "records.record",
    "Run": "contracts.method",
    "Samples": "oracle.samples",
    "Spec": "words.spec",
    "Status": "words.status",
    "Subspace": "words.claims",
    "Task": "contracts.task",
    "Teacher": "words.network",
    "ThresholdSpec": "words.spec",
    "Thresholded": "words.threshold_units",
    "Units": "words.threshold_units",
    "Unjudgeable": "judging.metrics",
    "UsageError": "words.naming",
    "activation": "words.activations",
    "add_plugin": "contracts.plugins",
    "check": "authoring.check",
    "compare": "running.compare",
    "identify": "identifying.identify",
    "judge": "judging.judge",
    "load": "records.frames",
    "method": "contracts.registry",
    "new": "authoring.new",
    "obstacles": "judging.obstacles",
    "plot": "pictures.plot",
    "run": "running.run",
    "task": "contracts.registry",
}

__all__ = ["__version__", *EXPORTS]


def __getattr__(name: str) -> object:
    if name == "limits":  # a folder of its own: `paramid.limits.bound`
        return import_module("paramid.limits")
    if name not in EXPORTS:
        raise AttributeError(f"module 'paramid' has no attribute {name!r}")
    return getattr(import_module(f"paramid.{EXPORTS[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
