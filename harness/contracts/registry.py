"""The registries: a name, and the `module:Class` that is imported when somebody uses it.

Third parties join through the entry-point groups `paramid.methods` and `paramid.tasks`, or with a file (`plugins`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, NamedTuple, cast

from paramid.contracts.controls import Control
from paramid.words import naming
from paramid.words.naming import Name, UsageError
from paramid.words.spec import Access

if TYPE_CHECKING:
    from typing import Protocol

    from paramid.contracts.method import Method
    from paramid.contracts.task import Task

    class _Versioned(Protocol):
        version: int


BUILT_IN: Mapping[str, Mapping[str, str]] = {
    "methods": {
        "sphere-lm": "paramid.methods.sphere_lm:SphereLM",
        "hermite-fused": "paramid.methods.hermite_fused:HermiteFused",
        "kinks": "paramid.methods.kinks:Kinks",
        "cryptanalytic": "paramid.methods.cryptanalytic:Cryptanalytic",
        "boundary-bends": "paramid.methods.boundary_bends:BoundaryBends",
        "far-lines": "paramid.methods.far_lines:FarLines",
        "peel": "paramid.methods.peel:Peel",
        "entangled": "paramid.methods.entangled:Entangled",
        "entangled-gauge": "paramid.methods.entangled_gauge:EntangledGauge",
        "densenet-lm": "paramid.methods.densenet_lm:DenseNetLM",
        "densenet-als": "paramid.methods.densenet_als:DenseNetALS",
        "densenet-joint": "paramid.methods.densenet_joint:DenseNetJoint",
        "densenet-algorithm1": "paramid.methods.densenet_algorithm1:DenseNetAlgorithm1",
        "densenet-layerwise": "paramid.methods.densenet_layerwise:DenseNetLayerwise",
        "convnet": "paramid.methods.convnet:ConvNet",
        "kernel": "paramid.methods.kernel:KernelRidge",
        "sgd": "paramid.methods.sgd:StochasticGradientDescent",
        "student": "paramid.methods.student:Student",
        "expand-cluster": "paramid.methods.expand_cluster:ExpandCluster",
        "spectral-norm": "paramid.methods.spectral_norm:SpectralNormAscent",
        "spm": "paramid.methods.spm:SubspacePowerMethod",
        "threshold-correlation": "paramid.methods.threshold_correlation:ThresholdCorrelation",
        "threshold-boundary": "paramid.methods.threshold_boundary:ThresholdBoundary",
        "threshold-plane": "paramid.methods.threshold_plane:ThresholdPlane",
        "threshold-graph": "paramid.methods.threshold_graph:ThresholdGraph",
        "hermite-jennrich": "paramid.methods.hermite_jennrich:HermiteJennrich",
        "cp-als": "paramid.methods.cp_als:AlternatingLeastSquares",
        "relu-regression": "paramid.methods.relu_regression:ReluRegression",
        "overparam-gd": "paramid.methods.overparam_gd:OverparamGD",
        "gram-least-squares": "paramid.methods.gram_least_squares:GramLeastSquares",
        "gram-moments": "paramid.methods.gram_moments:GramMoments",
        "gram-queries": "paramid.methods.gram_queries:GramQueries",
        "truth": "paramid.contracts.controls:Truth",
        "random": "paramid.contracts.controls:RandomGuess",
    },
    "tasks": {
        "shallow": "paramid.tasks.shallow:Shallow",
        "threshold": "paramid.tasks.threshold:Threshold",
        "biased-relu": "paramid.tasks.biased_relu:BiasedRelu",
        "relu": "paramid.tasks.relu:Relu",
        "pyramid": "paramid.tasks.pyramid:Pyramid",
        "quadratic": "paramid.tasks.quadratic:Quadratic",
        "hierarchy": "paramid.tasks.hierarchy:Hierarchy",
        "images": "paramid.tasks.images:Images",
        "trained": "paramid.tasks.trained:TrainedNetwork",
        "file": "paramid.tasks.file:File",
    },
}
CONTROLS = ("truth", "random")
GROUPS = ("methods", "tasks")
NEEDS = ("network", "disk")  # what a method may say that it cannot do without
_added: dict[str, dict[str, str]] = {"methods": {}, "tasks": {}}
broken: dict[str, str] = {}  # plug-ins that could not be used, and why
_local_classes: dict[str, type[object]] = {}  # by their place; other processes cannot see them


class Shape(NamedTuple):
    """What a plan looks at of a task's spec."""

    inputs: int
    widths: tuple[int | None, ...]
    outputs: int


@dataclass(frozen=True)
class Described:
    """What a plan must know of a configured method or task: enough for a key, and to refuse what cannot be."""

    canonical: str  # the text as records hold it: the options given, in the order of the fields
    settings: Mapping[str, str] = field(hash=False)
    version: int
    module: str
    needs: tuple[str, ...] = ()
    layers: Shape | None = None  # of a task's teachers
    private: tuple[str, ...] = ()  # files of a task's that a method is not to see


Describe = Callable[[str], Described]
_described: dict[tuple[str, str], Describe] = {}  # plug-ins that are asked elsewhere, and not imported here


def names(group: str) -> dict[str, str]:
    """Every registered name of "methods" or "tasks" and where its class is; nobody takes a name of paramid's own."""
    known = dict(BUILT_IN[group])
    for name, place in (*_installed(group), *_added[group].items()):
        known.setdefault(name, place)
    return known


@cache
def _installed(group: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((point.name, point.value) for point in entry_points(group=f"paramid.{group}")))


def method(text: str) -> Method | Control:
    """The configured method of a name such as `spm:step=1.5`."""
    return cast("Method | Control", _configured("methods", text))


def is_control(text: str) -> bool:
    """Whether this is one of the two controls: nobody else is shown a teacher."""
    return Name.parse(text).base in CONTROLS


def task(text: str) -> Task:
    """The configured task of a name such as `shallow:D=20,m=40`."""
    return cast("Task", _configured("tasks", text))


def canonical(group: str, text: str) -> str:
    """The text of a configured name as records hold it: the options given, in the order of the fields."""
    return described(group, text).canonical


def described(group: str, text: str) -> Described:
    """What a plan must know of a name such as `spm:step=1.5`."""
    name = Name.parse(text)
    if (elsewhere := _described.get((group, name.base))) is not None:
        return elsewhere(text)
    made = _configured(group, text)
    needs: Set[str] = getattr(made, "needs", frozenset())
    return Described(
        naming.describe(made, name),
        dict(naming.settings(made)),
        made.version,
        type(made).__module__,
        tuple(need for need in NEEDS if need in needs),
        _shape(made, text) if group == "tasks" else None,
        tuple(getattr(made, "private", ())),
    )


def _shape(made: object, text: str) -> Shape:
    try:
        spec = cast("Task", made).spec
    except ValueError as error:
        raise UsageError(f"{text}: {error}") from error
    return Shape(spec.inputs, spec.widths, spec.outputs)


def shape_of(inputs: object, widths: object, outputs: object) -> Shape:
    """The shape that somebody else has told; a ValueError says what is wrong with it."""
    whole = isinstance(widths, list) and all(w is None or type(w) is int for w in widths)
    if type(inputs) is not int or type(outputs) is not int or not isinstance(widths, list) or not whole:
        raise ValueError(f"{inputs!r} inputs, {widths!r} widths, {outputs!r} outputs")
    return Shape(inputs, tuple(widths), outputs)


def target(group: str, base: str) -> str:
    """The `module:Class` behind a name."""
    known = names(group)
    if base not in known:
        elsewhere = f"`paramid list {group}` names all, and --plugin FILE.py adds others"
        hints = [naming.suggestion(base, known, elsewhere), *broken.values()]
        raise UsageError(f"unknown {group[:-1]} {base!r}; {'; '.join(hints)}")
    return known[base]


def _configured(group: str, text: str) -> _Versioned:
    name = Name.parse(text)
    made = naming.configure(load(target(group, name.base)), name)
    access = getattr(made, "access", None)
    if not isinstance(made, Control) and not (
        isinstance(access, Set) and all(isinstance(kind, Access) for kind in access)
    ):
        raise UsageError(f"{name.base} has access {access!r}; a frozenset of paramid.Access was wanted")
    if type(version := getattr(made, "version", None)) is not int:
        raise UsageError(f"{name.base} has version {version!r}; a whole number was wanted")
    return cast("_Versioned", made)


def load(place: str) -> type[object]:
    """The class at `module:Class`, from paramid or a plug-in's own package and nowhere else."""
    if place in _local_classes:
        return _local_classes[place]
    module_name, _, class_name = place.partition(":")
    try:
        cls = getattr(import_module(module_name), class_name)
    except MemoryError:  # the cell's limit, not the code
        raise
    except (Exception, SystemExit) as error:  # other people's code: whatever it does, it is named
        raise UsageError(f"{place} cannot be imported: {type(error).__name__}: {error}") from error
    if cls.__module__.split(".")[0] != module_name.split(".")[0]:
        raise UsageError(
            f"{place} comes from {cls.__module__}; a class of {module_name.split('.')[0]} was wanted "
            "(imported under two names?)"
        )
    return cast("type[object]", cls)


def add_place(group: str, name: str, place: str) -> None:
    """Register the `module:Class` of a plug-in."""
    _added[group][name] = place


def add_described(group: str, name: str, place: str, describe: Describe) -> None:
    """Register what is asked elsewhere."""
    add_place(group, name, place)
    _described[group, name] = describe


def forget(module: str) -> None:
    """Take away what a plug-in's module has registered."""
    for group, added in _added.items():
        for name in [name for name, place in added.items() if place.startswith(f"{module}:")]:
            del added[name]
            _described.pop((group, name), None)


def add_class(group: str, name: str, cls: type[object]) -> None:
    """Register a class of this process, such as one of a notebook; other processes cannot see it."""
    place = f"{cls.__module__}:{cls.__qualname__}"
    if (taken := names(group).get(name, place)) != place:
        raise UsageError(f"{group[:-1]} {name!r} is taken by {taken.partition(':')[0]}")
    _added[group][name], _local_classes[place] = place, cls
