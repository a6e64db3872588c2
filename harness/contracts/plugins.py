"""Plug-ins: files of other people's methods and tasks, dicts `METHODS` and / or `TASKS` from name to class.

A class that is handed over where a name was wanted joins the same way, by its module: other processes import it there.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import is_dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from paramid.contracts import registry
from paramid.words import naming
from paramid.words.naming import Name, UsageError

Joined = str | tuple[str, str, str]  # a plug-in file; or a group, a name and the `module:Class` it stands for
_plugin_files: list[Path] = []
_classes: list[tuple[str, str, str]] = []


class PluginError(UsageError):
    """A plug-in that cannot be used; everything else can."""


def add_plugin(file: str | Path) -> None:
    """Register the `METHODS` and `TASKS` of a file; a UsageError says why it cannot be."""
    _forget_surveyed(Path(file).resolve())
    path = checked_file(file)
    if path is None:
        return
    module_name = plugin_module(path)
    spec = spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
        offered = {group: _offered(module, group) for group in registry.BUILT_IN}
        if not any(offered.values()):
            raise PluginError("neither METHODS nor TASKS holds anything; a dict from name to class was wanted")
    except (Exception, SystemExit) as error:
        del sys.modules[module_name]
        said = (
            f": {error}" if isinstance(error, PluginError) else f" cannot be imported: {type(error).__name__}: {error}"
        )
        raise PluginError(f"plug-in {file}{said}") from error
    for group, classes in offered.items():
        for name, cls in classes.items():
            registry.add_place(group, name, f"{cls.__module__}:{cls.__qualname__}")
    note_file(path)


def checked_file(file: str | Path) -> Path | None:
    """The path of a plug-in that can be joined; None where it has been."""
    path = Path(file).resolve()
    if path in _plugin_files:
        return None
    if path.suffix != ".py" or not path.is_file():
        raise UsageError(f"plug-in {file}: a Python file was wanted")
    if plugin_module(path) in sys.modules or file_of(plugin_module(path)):
        raise PluginError(f"plug-in {file}: a plug-in of that file name is there already; another name was wanted")
    return path


def _forget_surveyed(path: Path) -> None:
    """What was only asked elsewhere is to be imported here."""
    if path in _plugin_files and plugin_module(path) not in sys.modules:
        _plugin_files.remove(path)
        registry.forget(plugin_module(path))


def note_file(path: Path) -> None:
    """Other processes must join this file to know what it offers."""
    _plugin_files.append(path)


def files() -> tuple[Path, ...]:
    """The plug-in files that were joined."""
    return tuple(_plugin_files)


def file_of(module: str) -> Path | None:
    """The plug-in file that is imported, here or elsewhere, as that module."""
    return next((path for path in _plugin_files if plugin_module(path) == module), None)


def plugin_module(file: str | Path) -> str:
    """The name under which a plug-in file is imported."""
    return f"paramid_plugin_{re.sub(r'[^0-9A-Za-z_]', '_', Path(file).stem)}"


def _offered(module: ModuleType, group: str) -> dict[str, type[object]]:
    """The classes by name in `METHODS` or `TASKS` of a plug-in; a PluginError says what else is there."""
    offered = getattr(module, group.upper(), {})
    if not isinstance(offered, dict) or not all(isinstance(c, type) for c in offered.values()):
        raise PluginError(f"{group.upper()} is {offered!r}; a dict from name to class was wanted")
    for name in offered:
        check_name(group, name)
    return offered


def check_name(group: str, name: object) -> None:
    """A PluginError where a method or task cannot be called so."""
    if not isinstance(name, str) or not re.fullmatch(r"[\w.+-]+", name):
        raise PluginError(f"{group.upper()} has the name {name!r}; a word without : , = was wanted")
    if name in registry.names(group):
        raise PluginError(f"{group[:-1]} {name!r} is taken by {registry.names(group)[name]}")


def name_of(group: str, given: object, *, here: bool = False) -> str:
    """The name of what was given: a name itself, or a class, as it is or configured.

    The class must be one that other processes can import, unless it is used `here` alone.
    """
    if isinstance(given, str):
        return given
    cls = given if isinstance(given, type) else type(given)
    place = f"{cls.__module__}:{cls.__qualname__}"
    name = next((n for n, at in registry.names(group).items() if at == place), None) or _new_name(
        group, cls, place, here
    )
    if isinstance(given, type):
        return name
    default = naming.settings(naming.configure(cls, Name(name)))
    changed = ((option, text) for option, text in naming.settings(given).items() if text != default[option])
    told = str(Name(name, tuple(changed)))
    again: object = naming.configure(cls, Name.parse(told))
    if again != given:
        raise UsageError(f"{given!r} cannot be told by name: {told} is another one; simpler values were wanted")
    return told


def _new_name(group: str, cls: type[object], place: str, here: bool) -> str:
    """Register a class under its own name with dashes; a UsageError where other processes could not import it."""
    if not is_dataclass(cls):
        raise UsageError(f"a {cls.__name__} was given as a {group[:-1]}; a name, or a frozen dataclass, was wanted")
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()
    if cls.__module__ == "__main__" or "<locals>" in cls.__qualname__:
        if here:
            registry.add_class(group, name, cls)
            return name
        raise UsageError(
            f"{cls.__name__} is defined in {cls.__module__}, where other processes cannot import it; "
            "a class of a module or of a plug-in (`paramid.add_plugin`) was wanted, or `throw=True`, which stays here"
        )
    if (taken := registry.names(group).get(name)) is not None:
        raise UsageError(f"{cls.__name__} would be called {name}, which is taken by {taken}")
    registry.add_place(group, name, place)
    _classes.append((group, name, place))
    return name


def joined(*named: tuple[str, str]) -> tuple[Joined, ...]:
    """What other processes must join to know these names, each of a group: of what is broken no other cell suffers."""
    places = {registry.target(group, Name.parse(name).base) for group, name in named}
    modules = {place.partition(":")[0] for place in places}
    files = (str(path) for path in _plugin_files if plugin_module(path) in modules)
    return (*files, *(entry for entry in _classes if entry[2] in places))


def join(plugins: Iterable[Joined]) -> None:
    """Register here what another process had registered."""
    for entry in plugins:
        if isinstance(entry, str):
            add_plugin(entry)
        else:
            if (here := str(Path.cwd())) not in sys.path:  # of a script or notebook, behind all that is installed
                sys.path.append(here)
            registry.add_place(*entry)
