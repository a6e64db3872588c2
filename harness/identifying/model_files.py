"""Functions in files: `module:function`, modules saved by torch, weights as arrays, ONNX.

`opened` tells them apart by what was written and what the file is. A file that runs code of its own when it is opened,
as pickled modules do, is opened only where its user says that it is trusted. Weights alone become the network that they
are (`weight_files`); what a file tells of widths and activations is for its owner, and no method is told.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from paramid.weight_files import reader
from paramid.weight_files.torch_files import CodeInside
from paramid.words import naming
from paramid.words.naming import UsageError

KINDS = "module:function, FILE.py:function, a TorchScript or torch.save file, .npz, .npy or .onnx"
Function = Callable[..., Any]


def opened(text: str, *, activation_name: str = "tanh", trust: bool = False) -> Function:
    """The function that `text` names; a UsageError says in one line what is wrong with it."""
    path = Path(text)
    if not path.is_file():
        place, colon, name = text.rpartition(":")
        if not (colon and place and name):
            raise UsageError(f"{text!r} is no file; {KINDS} was wanted")
        return function_of(place, name)
    try:
        if path.suffix in (".npz", ".npy"):
            return network_of(path, activation_name)
        if path.suffix == ".onnx":
            return onnx_session(path)
        return torch_module(path, activation_name, trust)
    except UsageError:
        raise
    except Exception as error:  # whatever a reader says of somebody's file
        raise UsageError(f"{text} cannot be read: {type(error).__name__}: {reader.first_line(error)}") from error


def told(text: str, activation_name: str = "tanh") -> str | None:
    """Widths, and activations where they are told, of a file that is a plain network; None of any other."""
    try:
        return reader.read(text, activation_name).told
    except UsageError:
        return None


@contextmanager
def importing_here() -> Iterator[None]:
    """Modules of the current folder can be imported inside."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)


def function_of(place: str, name: str) -> Function:
    """The function `name` of a module that can be imported, also from the current folder, or of a Python file."""
    try:
        with importing_here():
            module = module_of(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    except UsageError:
        raise
    except (Exception, SystemExit) as error:  # other people's code
        raise UsageError(f"{place} cannot be imported: {type(error).__name__}: {reader.first_line(error)}") from error
    if not hasattr(module, name):
        callables = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise UsageError(f"{place} has no {name!r}; {naming.suggestion(name, callables)}")
    found = getattr(module, name)
    if not callable(found):
        raise UsageError(f"{place}:{name} is a {type(found).__name__}; a function was wanted")
    return found


def module_of(path: Path) -> object:
    """The module that a Python file makes, under a name that hides no other."""
    if not path.is_file():
        raise UsageError(f"{path} is no file; a Python file was wanted")
    made = importlib.util.spec_from_file_location(f"_paramid_model_{path.stem}", path)
    if made is None or made.loader is None:
        raise UsageError(f"{path} cannot be imported; a Python file was wanted")
    module = importlib.util.module_from_spec(made)
    sys.modules[made.name] = module
    made.loader.exec_module(module)
    return module


def torch_module(path: Path, activation_name: str, trust: bool) -> Function:
    """A TorchScript module, the network of a state dict, or a pickled module where that is trusted."""
    names = zipfile.ZipFile(path).namelist() if zipfile.is_zipfile(path) else []
    if not any(name.endswith("data.pkl") for name in names):
        raise UsageError(f"{path} is none of {KINDS}")
    scripted = any(name.endswith("constants.pkl") for name in names)
    if scripted:
        return torch.jit.load(str(path), map_location="cpu").eval()
    try:
        return network_of(path, activation_name)
    except CodeInside:
        if not trust:
            raise UsageError(
                f"{path} is a pickle, and opening it runs the code in it; --trust says that you know its author"
            ) from None
    with importing_here():
        module = torch.load(path, map_location="cpu", weights_only=False)
    if not isinstance(module, torch.nn.Module):
        raise UsageError(f"{path} holds a {type(module).__name__}; a torch.nn.Module or its state_dict was wanted")
    return module.eval()


def network_of(path: Path, name: str) -> Function:
    """The network of weights, in float64, with this activation below linear outputs."""
    network = reader.read(path, name).network
    return lambda x: network(torch.from_numpy(x))


def onnx_session(path: Path) -> Function:
    """The first output of an ONNX model with one input, in the type that it takes."""
    try:
        import onnxruntime
    except ImportError:
        raise UsageError(f"{path} needs onnxruntime: pip install 'paramid[onnx]'") from None
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    if len(inputs := session.get_inputs()) != 1:
        raise UsageError(f"{path} takes {len(inputs)} inputs; one was wanted")
    kind = {"tensor(double)": np.float64, "tensor(float)": np.float32}.get(inputs[0].type)
    if kind is None:
        raise UsageError(f"{path} takes {inputs[0].type}; tensor(float) or tensor(double) was wanted")
    return lambda x: session.run(None, {inputs[0].name: x.astype(kind)})[0]
