"""Networks as numpy stores them: an archive of W0, b0, W1, b1, …, or one object array [weights, biases].

    (1)  np.savez(file, W0=…, b0=…, …), as `paramid run --claim` writes it,
    (2)  np.save(file, [[A_0, A_1, …], [b_0, b_1, …]]), a pickle, as the published attack on ReLU networks keeps models.

Weights are (in, out) in both, outputs are linear, and the activation of hidden layers is nowhere said.

Reference for (2): github.com/google-research/cryptanalytic-model-extraction, train_models.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from io import BytesIO
from typing import IO, Any

import numpy as np
import torch
from numpy.lib import format as npy

from paramid.weight_files.limits import MOST_LAYERS, check_shape, checked_zip
from paramid.weight_files.pickled_arrays import unpickled
from paramid.words.activations import activation
from paramid.words.naming import UsageError
from paramid.words.network import Network

Header = tuple[tuple[int, ...], bool, np.dtype[Any]]


def of_npz(payload: bytes, name: str) -> Network:
    """(1)."""
    if not payload.startswith(b"PK"):
        raise UsageError("is no .npz: an archive of arrays was wanted")
    with checked_zip(payload) as archive:
        members = {member.removesuffix(".npy"): member for member in archive.namelist()}
        depth = len(members) // 2
        wanted = [f"{kind}{layer}" for layer in range(min(depth, MOST_LAYERS)) for kind in "Wb"]
        if not depth or sorted(members) != sorted(wanted):
            raise UsageError(f"holds {', '.join(sorted(members)[:8]) or 'nothing'}; W0, b0, W1, b1, … were wanted")
        given = [numbers(archive.open(members[key]), key) for key in wanted]
    return network(given[::2], given[1::2], name)


def of_npy(payload: bytes, name: str) -> Network:
    """(2)."""
    file = BytesIO(payload)
    shape, _, kind = header(file)
    if kind != np.dtype(object):
        raise UsageError(f"holds one array of shape {shape}; [weights, biases] of all layers was wanted")
    held = unpickled(file.read())
    if not (isinstance(held, list) and len(held) == 2 and all(isinstance(part, list) for part in held)):
        raise UsageError("holds something else than [weights, biases]")
    weights, biases = ([array(layer) for layer in part[:MOST_LAYERS]] for part in held)
    return network(weights, biases, name)


def network(weights: Sequence[np.ndarray], biases: Sequence[np.ndarray], name: str) -> Network:
    """The network of these layers with one activation below linear outputs."""
    return network_of(weights, biases, (activation(name).name,) * (len(weights) - 1) + ("identity",))


def network_of(weights: Sequence[np.ndarray], biases: Sequence[np.ndarray], names: tuple[str, ...]) -> Network:
    """A network whose weights fit together and are all there."""
    w, b = ([torch.from_numpy(np.array(a, dtype=np.float64)) for a in part] for part in (weights, biases))
    try:
        made = Network(tuple(w), tuple(b), names)
    except ValueError as error:
        raise UsageError(str(error)) from error
    for key, value in made.arrays().items():
        if not value.numel() or not bool(value.isfinite().all()):
            raise UsageError(f"{key} of shape {tuple(value.shape)} is empty or holds non-finite values")
    return made


def numbers(file: IO[bytes], what: str) -> np.ndarray:
    """A plain array, no more bytes than its header says."""
    shape, fortran, kind = header(file)
    if kind.kind not in "fiub":
        raise UsageError(f"{what} holds {kind}; real numbers were wanted")
    check_shape(shape, what)
    count = math.prod(shape)
    data = file.read(count * kind.itemsize)
    if len(data) < count * kind.itemsize:
        raise UsageError(f"{what} is cut off")
    return np.frombuffer(data, kind).reshape(shape, order="F" if fortran else "C")


def header(file: IO[bytes]) -> Header:
    """Shape, order and type of an array in numpy's format."""
    version = npy.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise UsageError(f"is of version {version[0]}.{version[1]} of numpy's format; 1.0 or 2.0 was wanted")
    return (npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0)(file)


def array(held: object) -> np.ndarray:
    """An array of what was unpickled: one, or rows and numbers in lists."""
    check_shape((size(held),), "a layer")
    made = np.array(held)
    if made.dtype.kind not in "fiub":
        raise UsageError(f"holds {made.dtype}; real numbers were wanted")
    return made


def size(held: object) -> int:
    """How many numbers there are."""
    if isinstance(held, list):
        return sum(map(size, held))
    return held.size if isinstance(held, np.ndarray) else 1
