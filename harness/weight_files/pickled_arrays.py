"""Pickles of arrays, and of nothing else: no code of a file is run, and none of numpy either.

(1)  Every opcode is looked at first: those that lists, numbers and arrays need, and places that the file can fill.
(2)  The names that a pickle may say are those of numpy's arrays. Each stands for an object of ours that only keeps
     what it is given; arrays are made of that afterwards, of plain numbers, by their bytes.
"""

from __future__ import annotations

import math
import pickle
import pickletools
from dataclasses import dataclass, field
from io import BytesIO
from typing import NoReturn

import numpy as np

from paramid.weight_files.limits import check_shape
from paramid.words.naming import UsageError

OPCODES = frozenset(
    (
        *("PROTO", "FRAME", "STOP", "MARK", "POP", "POP_MARK", "NONE", "NEWTRUE", "NEWFALSE"),
        *("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT"),
        *("BINUNICODE", "SHORT_BINUNICODE", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8"),
        *("EMPTY_LIST", "APPEND", "APPENDS", "LIST", "EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"),
        *("MEMOIZE", "BINPUT", "LONG_BINPUT", "BINGET", "LONG_BINGET"),
        *("GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD"),
    )
)
CORE = ("numpy.core.multiarray", "numpy._core.multiarray", "numpy.core.numeric", "numpy._core.numeric")
KINDS = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1")
DEEPEST = 4  # [weights or biases][layer][row][entry]


@dataclass
class Held:
    """What a pickle made: a word for one of numpy's makers, its arguments, and its state."""

    maker: str
    arguments: tuple[object, ...] = ()
    state: tuple[object, ...] = field(default=())

    def __setstate__(self, state: object) -> None:
        """Keep it."""
        self.state = state if isinstance(state, tuple) else ()


@dataclass(frozen=True)
class Maker:
    """Stands for a function or class of numpy: what it is called with is kept."""

    name: str

    def __call__(self, *arguments: object) -> Held:
        """What would have been made."""
        return Held(self.name, arguments)

    def __setstate__(self, state: object) -> NoReturn:
        """Names have no state to set."""
        raise pickle.UnpicklingError("a name was given a state")


class Unpickler(pickle.Unpickler):
    """An unpickler that knows (2)."""

    def find_class(self, module: str, name: str) -> Maker:
        """Our stand-in for one of numpy's names."""
        known = (module in CORE and name in ("_reconstruct", "scalar")) or (module, name) in (
            ("numpy", "ndarray"),
            ("numpy", "dtype"),
        )
        if not known:
            raise UsageError(f"is a pickle that names {module}.{name}; arrays of numbers alone are unpickled")
        return Maker(name)


def unpickled(payload: bytes) -> object:
    """Lists, numbers and arrays of a pickle."""
    for opcode, argument, _ in pickletools.genops(payload):  # (1)
        if opcode.name not in OPCODES:
            raise UsageError(f"is a pickle with {opcode.name}; arrays of numbers have none")
        if opcode.name == "LONG_BINPUT" and int(argument or 0) > len(payload):
            raise UsageError("is a pickle of more places than bytes")
    return Parts(len(payload)).plain(Unpickler(BytesIO(payload)).load(), DEEPEST)


class Parts:
    """Nested lists of arrays and numbers, no more of them than the file has bytes: a list may hold itself."""

    def __init__(self, most: int) -> None:
        self.left = most

    def plain(self, held: object, deep: int) -> object:
        """What was unpickled, without any of ours."""
        self.left -= 1
        if self.left < 0 or (not deep and isinstance(held, list | tuple)):
            raise UsageError("is a pickle of lists in lists in lists; [weights, biases] was wanted")
        if isinstance(held, Held):
            return self.array(held, deep)
        if isinstance(held, list | tuple):
            return [self.plain(part, deep - 1) for part in held]
        if isinstance(held, int | float):
            return held
        raise UsageError(f"is a pickle that holds a {type(held).__name__}; arrays of numbers were wanted")

    def array(self, held: Held, deep: int) -> object:
        """An array of numbers, or lists of what an object array holds."""
        if held.maker == "scalar" and len(held.arguments) == 2:
            return of_bytes((), held.arguments[0], False, held.arguments[1])
        if held.maker != "_reconstruct" or len(held.state) != 5:
            raise UsageError(f"is a pickle that holds a {held.maker} without numbers")
        _, shape, kind, fortran, data = held.state
        if not isinstance(shape, tuple) or not all(type(n) is int for n in shape):
            raise UsageError("is a pickle of an array without a shape")
        check_shape(shape, "an array")
        if not isinstance(data, list):
            return of_bytes(shape, kind, bool(fortran), data)
        if len(data) != math.prod(shape):
            raise UsageError(f"is a pickle of an array of shape {shape} that holds {len(data)} objects")
        return self.nested(data, shape, deep)

    def nested(self, data: list[object], shape: tuple[int, ...], deep: int) -> object:
        """What an object array of that shape holds, in lists."""
        if not shape or not deep:
            return self.plain(data if shape else data[0], deep)
        step = len(data) // max(1, shape[0])
        return [self.nested(data[i * step : (i + 1) * step], shape[1:], deep - 1) for i in range(shape[0])]


def of_bytes(shape: tuple[int, ...], kind: object, fortran: bool, data: object) -> np.ndarray:
    """Plain numbers."""
    code = kind.arguments[0] if isinstance(kind, Held) and kind.arguments else None
    order = kind.state[1] if isinstance(kind, Held) and len(kind.state) > 1 else "|"
    if code not in KINDS or order not in ("<", ">", "=", "|") or not isinstance(data, bytes):
        raise UsageError("is a pickle of an array of something else than real numbers")
    numbers = np.dtype(f"{order}{code}")
    if len(data) != numbers.itemsize * math.prod(shape):
        raise UsageError(f"is a pickle of an array of shape {shape} in {len(data)} bytes")
    return np.frombuffer(data, numbers).reshape(shape, order="F" if fortran else "C")
