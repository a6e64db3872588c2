"""Plug-ins: files of other people's methods and tasks, dicts `METHODS` and / or `TASKS` from name to class."""

from __future__ import annotations

import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from paramid.contracts import registry
from paramid.words.naming import UsageError

_plugin_files: list[Path] = []


class PluginError(UsageError):
    """A plug-in that cannot be used; everything else can."""


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
        offered = {group: _offered(module, group) for group in registry.BUILT_IN}
    except (Exception, SystemExit) as error:
        del sys.modules[module_name]
        said = (
            f": {error}" if isinstance(error, PluginError) else f" cannot be imported: {type(error).__name__}: {error}"
        )
        raise PluginError(f"plug-in {file}{said}") from error
    for group, classes in offered.items():
        for name, cls in classes.items():
            registry.add_place(group, name, f"{cls.__module__}:{cls.__qualname__}")
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
        if name in registry.names(group):
            raise PluginError(f"{group[:-1]} {name!r} is taken by {registry.names(group)[name]}")
    return offered


def plugin_files() -> tuple[str, ...]:
    """The files registered so far."""
    return tuple(map(str, _plugin_files))
