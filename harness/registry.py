"""The registries: a name, and the `module:Class` that is imported when somebody uses it.

Third parties join through the entry-point groups `paramid.methods` and `paramid.tasks`, or with a file that holds
`METHODS` and / or `TASKS`, dicts from name to class.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, cast

from paramid import naming
from paramid.controls import Control
from paramid.naming import Name, UsageError
from paramid.spec import Access

if TYPE_CHECKING:
    from paramid.contracts import Method, Task

BUILT_IN: Mapping[str, Mapping[str, str]] = {
    "methods": {
        "sphere-lm": "paramid.methods.sphere_lm:SphereLM",
        "hermite-fused": "paramid.methods.hermite_fused:HermiteFused",
        "peel": "paramid.methods.peel:Peel",
        "entangled": "paramid.methods.entangled:Entangled",
        "entangled-gauge": "paramid.methods.entangled_gauge:EntangledGauge",
        "densenet-lm": "paramid.methods.densenet_lm:DenseNetLM",
        "densenet-als": "paramid.methods.densenet_als:DenseNetALS",
        "densenet-joint": "paramid.methods.densenet_joint:DenseNetJoint",
        "densenet-algorithm1": "paramid.methods.densenet_algorithm1:DenseNetAlgorithm1",
        "densenet-layerwise": "paramid.methods.densenet_layerwise:DenseNetLayerwise",
        "kernel": "paramid.methods.kernel:KernelRidge",
        "sgd": "paramid.methods.sgd:StochasticGradientDescent",
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
        "truth": "paramid.controls:Truth",
        "random": "paramid.controls:RandomGuess",
    },
    "tasks": {
        "shallow": "paramid.tasks.shallow:Shallow",
        "threshold": "paramid.tasks.threshold:Threshold",
        "biased-relu": "paramid.tasks.biased_relu:BiasedRelu",
        "pyramid": "paramid.tasks.pyramid:Pyramid",
        "quadratic": "paramid.tasks.quadratic:Quadratic",
        "hierarchy": "paramid.tasks.hierarchy:Hierarchy",
    },
}
_plugins: dict[str, dict[str, str]] = {"methods": {}, "tasks": {}}
_plugin_files: list[Path] = []
_classes: dict[str, type[object]] = {}  # of this process alone


class PluginError(UsageError):
    """A plug-in that cannot be used; everything else can."""


@dataclass(frozen=True)
class Entry:
    """What can be said of a registered class without importing it."""

    name: str
    target: str
    doc: str
    access: tuple[str, ...]


def names(group: str) -> dict[str, str]:
    """Every registered name of "methods" or "tasks" and where its class is; nobody takes a name of paramid's own."""
    known = dict(BUILT_IN[group])
    for name, place in (*_installed(group), *_plugins[group].items()):
        known.setdefault(name, place)
    return known


@cache
def _installed(group: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((point.name, point.value) for point in entry_points(group=f"paramid.{group}")))


def method(text: str) -> Method | Control:
    """The configured method of a name such as `spm:step=1.5`."""
    return cast("Method | Control", _configured("methods", text))


def task(text: str) -> Task:
    """The configured task of a name such as `shallow:D=20,m=40`."""
    return cast("Task", _configured("tasks", text))


def canonical(group: str, text: str) -> str:
    """The text of a configured name as records hold it: the options given, in the order of the fields."""
    name = Name.parse(text)
    return naming.describe(_configured(group, text), name)


def target(group: str, base: str) -> str:
    """The `module:Class` behind a name."""
    known = names(group)
    if base not in known:
        raise UsageError(f"unknown {group[:-1]} {base!r}; {naming.suggestion(base, known)}")
    return known[base]


def _configured(group: str, text: str) -> object:
    name = Name.parse(text)
    made = naming.configure(load(target(group, name.base)), name)
    access = getattr(made, "access", None)
    if not isinstance(made, Control) and not (
        isinstance(access, Set) and all(isinstance(kind, Access) for kind in access)
    ):
        raise UsageError(f"{name.base} has access {access!r}; a frozenset of paramid.Access was wanted")
    if type(version := getattr(made, "version", None)) is not int:
        raise UsageError(f"{name.base} has version {version!r}; a whole number was wanted")
    return made


def load(place: str) -> type[object]:
    """The class at `module:Class`, from paramid or a plug-in's own package and nowhere else."""
    if place in _classes:
        return _classes[place]
    module_name, _, class_name = place.partition(":")
    try:
        cls = getattr(import_module(module_name), class_name)
    except (Exception, SystemExit) as error:  # other people's code: whatever it does, it is named
        raise UsageError(f"{place} cannot be imported: {type(error).__name__}: {error}") from error
    if cls.__module__.split(".")[0] != module_name.split(".")[0]:
        raise UsageError(
            f"{place} comes from {cls.__module__}; a class of {module_name.split('.')[0]} was wanted "
            "(imported under two names?)"
        )
    return cast("type[object]", cls)


def add_plugin(file: str | Path) -> None:
    """Register the `METHODS` and `TASKS` of a file; a UsageError says why it cannot be."""
    path = Path(file).resolve()
    if path in _plugin_files:
        return
    module_name = plugin_module(path)
    spec = spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise UsageError(f"plug-in {file}: a Python file was wanted")
    module = module_from_spec(spec)
    if module_name in sys.modules:
        raise PluginError(f"plug-in {file}: a plug-in of that file name is there already; another name was wanted")
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
        offered = {group: _offered(module, group) for group in _plugins}
    except (Exception, SystemExit) as error:
        del sys.modules[module_name]
        said = (
            f": {error}" if isinstance(error, PluginError) else f" cannot be imported: {type(error).__name__}: {error}"
        )
        raise PluginError(f"plug-in {file}{said}") from error
    for group, classes in offered.items():
        _plugins[group] |= {name: f"{cls.__module__}:{cls.__qualname__}" for name, cls in classes.items()}
    _plugin_files.append(path)


def plugin_module(file: str | Path) -> str:
    """The name under which a plug-in file is imported."""
    return f"paramid_plugin_{re.sub(r'[^0-9A-Za-z_]', '_', Path(file).stem)}"


def _offered(module: ModuleType, group: str) -> dict[str, type[object]]:
    """The classes by name in `METHODS` or `TASKS` of a plug-in; a PluginError says what else is there."""
    offered = getattr(module, group.upper(), {})
    if not isinstance(offered, dict) or not all(isinstance(c, type) for c in offered.values()):
        raise PluginError(f"{group.upper()} is {offered!r}; a dict from name to class was wanted")
    for name in offered:
        if not isinstance(name, str) or not re.fullmatch(r"[^\s:,=]+", name):
            raise PluginError(f"{group.upper()} has the name {name!r}; a word without : , = was wanted")
        if name in names(group):
            raise PluginError(f"{group[:-1]} {name!r} is taken by {names(group)[name]}")
    return offered


def add_class(group: str, name: str, cls: type[object]) -> None:
    """Register a class of this process, such as one of a notebook; other processes cannot see it."""
    place = f"{cls.__module__}:{cls.__qualname__}"
    if (taken := names(group).get(name, place)) != place:
        raise UsageError(f"{group[:-1]} {name!r} is taken by {taken.partition(':')[0]}")
    _plugins[group][name], _classes[place] = place, cls


def plugin_files() -> tuple[str, ...]:
    """The files registered so far."""
    return tuple(map(str, _plugin_files))


def entries(group: str) -> list[Entry]:
    """Name, access and first line of every class, read from the source without importing it."""
    return [_read(name, place) for name, place in names(group).items()]


def _read(name: str, place: str) -> Entry:
    module_name, _, class_name = place.partition(":")
    try:
        spec = find_spec(module_name)  # imports the packages above it
    except (Exception, SystemExit) as error:
        return Entry(name, place, f"({module_name} cannot be imported: {type(error).__name__}: {error})", ())
    if spec is None or spec.origin is None:
        return Entry(name, place, f"({module_name} cannot be found)", ())
    line, access = "", set[str]()
    for node in _lineage(ast.parse(Path(spec.origin).read_text(encoding="utf-8")), class_name):
        line = line or (ast.get_docstring(node) or "").split("\n")[0]
        access |= {a.attr.lower() for a in ast.walk(node) if isinstance(a, ast.Attribute) and _is_access(a)}
    return Entry(name, place, line, tuple(sorted(access)))


def _lineage(tree: ast.Module, name: str, imported: bool = False) -> Iterator[ast.ClassDef]:
    """The class of that name in a module, and its bases, in whatever modules they are; or the one it has `imported`."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name and not imported:
            yield node
            for base in node.bases:
                if isinstance(base, ast.Name):
                    yield from _lineage(tree, base.id, imported=base.id == name)
            return
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and name in {alias.name for alias in node.names}:
            spec = find_spec(node.module)
            if spec and spec.origin and spec.origin.endswith(".py"):
                yield from _lineage(ast.parse(Path(spec.origin).read_text(encoding="utf-8")), name)


def _is_access(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "Access"
