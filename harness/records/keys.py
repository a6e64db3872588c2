"""Content keys: two cells with one key would give one record.

The key covers the options, the versions and the source of method and task with everything they import inside their
own package, but no file time, folder or thread count. A changed helper reruns those who use it, and nobody else.
"""

import ast
import hashlib
import json
import tokenize
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path

import paramid
from paramid.contracts import registry
from paramid.contracts.plugins import file_of, files

KEY_VERSION = 1
_hashes: dict[str, tuple[dict[Path, tuple[int, ...]], str]] = {}  # and the files that they are of, as they were
FOREIGN = frozenset({"torch", "numpy", "scipy", "pandas", "tensorly"})  # packages that are never looked into


def identity(group: str, name: str) -> dict[str, object]:
    """The version of a method or task, and the hash of its source with all it imports."""
    known = registry.described(group, name)
    return {"version": known.version, "source": source_hash(known.module)}


def digest(parts: Mapping[str, object]) -> str:
    """The key of a cell described by plain values."""
    text = json.dumps({"key_version": KEY_VERSION, **parts}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def source_hash(module: str) -> str:
    """The hash of a module's source and of all it imports, directly or not, from its own package or paramid.

    Of a plug-in file what lies beside it counts as its package.
    """
    if module in _hashes:
        stamps, known = _hashes[module]
        if stamps == {path: _stamp(path) for path in stamps}:
            return known
        for remembered in (_source, _imports, _path):
            remembered.cache_clear()
    reached = transitive(module)
    stamps = {path: _stamp(path) for name in reached if (path := _path(name)) is not None}
    digests = {name: hashlib.sha256(_source(name).encode()).hexdigest() for name in reached}
    _hashes[module] = stamps, hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest()
    return _hashes[module][1]


def _stamp(path: Path) -> tuple[int, ...]:
    """What changes when a file does."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino


def transitive(module: str) -> frozenset[str]:
    """Every module that `module` reaches by imports, and the packages above, `paramid` itself excepted."""
    reached, waiting = {module}, [module]
    while waiting:
        for found in _imports(waiting.pop()):
            for above in accumulate(found.split("."), lambda package, name: f"{package}.{name}"):
                if above not in reached and above != "paramid" and _is_own(above, module):
                    reached.add(above)
                    waiting.append(above)
    return frozenset(reached)


def beside(module: str, folder: Path) -> list[Path]:
    """The files below a folder that a module reaches by imports, its own among them; paramid's are left out."""
    reached = (_path(name) for name in sorted(transitive(module)) if name.split(".")[0] != "paramid")
    return [path for path in reached if path is not None and path.is_relative_to(folder)]


def _is_own(found: str, module: str) -> bool:
    """Whether a module is of paramid, of the package that `module` is of, or lies beside a plug-in file."""
    root = found.split(".")[0]
    return root in ("paramid", module.split(".")[0]) or (file_of(module) is not None and _beside(found) is not None)


def _beside(module: str) -> Path | None:
    """A module in the folder of a plug-in file."""
    inside = Path(*module.split("."))
    for folder in {file.parent for file in files()}:
        for path in (folder / inside.with_suffix(".py"), folder / inside / "__init__.py"):
            if path.is_file():
                return path
    return None


@cache
def _source(module: str) -> str:
    path = _path(module)
    if path is None:
        return ""
    try:
        with tokenize.open(path) as file:
            return file.read()
    except (SyntaxError, UnicodeDecodeError):
        return repr(path.read_bytes())


@cache
def _imports(module: str) -> tuple[str, ...]:
    return tuple(_walk(module)) if _source(module) else ()


def _walk(module: str) -> Iterator[str]:
    """The modules named in the imports of a module, wherever they stand; type-checking blocks count too."""
    try:
        tree = ast.parse(_source(module))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # whoever imports it will say so
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name != "paramid")
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(module, node)
            if not _is_own(base, module):
                continue  # of others nothing is looked at, and nothing imported
            for alias in node.names:
                if base == "paramid" and alias.name in paramid.EXPORTS:
                    yield f"paramid.{paramid.EXPORTS[alias.name]}"
                elif _path(f"{base}.{alias.name}"):
                    yield f"{base}.{alias.name}"
                elif base != "paramid":
                    yield base


def _absolute(module: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    path = _path(module)
    package = module if path and path.name == "__init__.py" else module.rpartition(".")[0]
    for _ in range(node.level - 1):
        package = package.rpartition(".")[0]
    return f"{package}.{node.module}" if node.module else package


@cache
def _path(module: str) -> Path | None:
    """The source file of a module, without importing it."""
    if not module or module.split(".")[0] in FOREIGN:
        return None
    if (plugin := file_of(module) or _beside(module)) is not None:
        return plugin
    spec = _spec(module)
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


def _spec(module: str) -> ModuleSpec | None:
    """Where a module is; no code of it or of those above it runs, but of paramid itself."""
    above, _, _ = module.rpartition(".")
    try:
        if above in ("", "paramid"):
            return find_spec(module)
        if (parent := _spec(above)) is None or parent.submodule_search_locations is None:
            return None
        return PathFinder.find_spec(module, list(parent.submodule_search_locations))
    except (ImportError, ValueError, AttributeError):
        return None
