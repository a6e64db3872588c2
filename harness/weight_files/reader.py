"""A network from a file: `.npz`, `.npy` as published attacks store their models, `.onnx`, TorchScript, state dicts.

A file is read whole, once, and what is made of it is made of these bytes: their hash says what was read. Sizes are
looked at before anything is made, nothing that is unpickled can name more than arrays, and whatever a reader says of a
file becomes a `UsageError` of one line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from paramid.weight_files import arrays, onnx_graphs, torch_files
from paramid.weight_files.limits import check_bytes
from paramid.words.naming import UsageError
from paramid.words.network import Network

SUFFIXES = ".npz, .npy, .onnx, or a torch file (TorchScript or a state dict)"
SAYING = ("is", "holds", "has", "takes", "keeps")  # begins a sentence about the file


@dataclass(frozen=True)
class WeightFile:
    """What a file holds: a network, whether the activations are its own word, and the hash of its bytes."""

    network: Network
    tells_activations: bool
    sha256: str

    @property
    def told(self) -> str:
        """Widths and activations for a person."""
        shape = "-".join(map(str, (self.network.inputs, *self.network.widths, self.network.outputs)))
        names = ", ".join(dict.fromkeys(self.network.activations[:-1])) if self.tells_activations else ""
        return f"{shape}, {names}" if names else shape


def read(text: str | Path, activation: str = "tanh") -> WeightFile:
    """The network in a file; `activation` is that of hidden layers where the file does not tell."""
    path = Path(text)
    try:
        if not path.is_file():
            raise UsageError(f"{path} is no file; {SUFFIXES} was wanted")
        found = path.stat()
        check_bytes(found.st_size, "the file")
        return _read(path.absolute(), (found.st_mtime_ns, found.st_size, found.st_ino), activation)
    except UsageError as error:
        raise type(error)(named(path, str(error))) from error
    except Exception as error:  # whatever a reader says of somebody's file
        raise UsageError(f"{path} cannot be read: {type(error).__name__}: {first_line(error)}") from error


def named(path: Path, said: str) -> str:
    """What is said of a file, with its name."""
    if said.startswith(str(path)):
        return said
    return f"{path}{' ' if said.split(' ')[0] in SAYING else ': '}{said}"


@lru_cache(8)
def _read(path: Path, _: tuple[int, ...], activation: str) -> WeightFile:
    """The file as it was when it had this time and size."""
    payload = path.read_bytes()
    known: Mapping[str, Callable[[bytes, str], Network]] = {".npz": arrays.of_npz, ".npy": arrays.of_npy}
    digest = hashlib.sha256(payload).hexdigest()
    if path.suffix in known:
        return WeightFile(known[path.suffix](payload, activation), False, digest)
    if path.suffix == ".onnx":
        return WeightFile(onnx_graphs.network(payload), True, digest)
    if torch_files.is_script(payload):
        return WeightFile(torch_files.of_script(payload), True, digest)
    return WeightFile(torch_files.of_state(payload, activation), False, digest)


def first_line(error: BaseException) -> str:
    """What an error says, in one line that is not too long."""
    return str(error).strip().partition("\n")[0][:300]
