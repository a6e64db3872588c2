"""`paramid new`: a method or a task in a file that runs, and the test that goes with it."""

from __future__ import annotations

import keyword
import re
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from paramid.contracts import registry
from paramid.words.naming import UsageError

KINDS = ("method", "task")


def new(kind: str, name: str, folder: str | Path = ".") -> list[Path]:
    """Write `<name>.py` and `test_<name>.py`; nothing is replaced. The paths written.

    Examples
    --------
    >>> paramid.new("method", "random-restarts")
    """
    if kind not in KINDS:
        raise UsageError(f"unknown kind {kind!r}; there are {', '.join(KINDS)}")
    module = name.replace("-", "_")
    if keyword.iskeyword(module):
        raise UsageError(f"name is {name!r}, a word of Python's own; another was wanted")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise UsageError(f"name is {name!r}; lower-case words joined by dashes were wanted, such as random-restarts")
    if name in registry.names(f"{kind}s"):
        raise UsageError(f"{kind} {name!r} is taken by {registry.names(f'{kind}s')[name]}")
    title = "".join(word.capitalize() for word in name.split("-"))
    written = [Path(folder) / f"{module}.py", Path(folder) / f"test_{module}.py"]
    if find_spec(module) and not (Path(folder) / f"{module}.py").exists():
        raise UsageError(f"name is {name!r}: {module}.py would hide the module {module}; another name was wanted")
    if there := [path for path in written if path.exists()]:
        raise UsageError(f"{there[0]} is there already")
    for path, template in zip(written, (f"{kind}.py", f"test_{kind}.py"), strict=True):
        text = files("paramid").joinpath("templates", template).read_text(encoding="utf-8")
        text = text.replace("newcomer.py", f"{module}.py").replace("newcomer", name).replace("Newcomer", title)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from error
    return written
