"""Independent random streams of one seed: the teacher's, the samples', the method's and the judge's never meet.

All draws are made by a CPU generator and then moved, so that a cell sees the same numbers on every device.

A seed that people write is small, and whoever knows it draws the same teacher. One that was drawn from a secret
(`words.secrets`) has 63 bits, and of it a stream shows nothing: each is a hash of the seed and its name, which fills
the generator's whole state, because `manual_seed` looks at 32 bits, few enough to try them all.
"""

from __future__ import annotations

import hashlib
import math
import zlib
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from paramid.words.spec import Spec


SMALL = 2**32  # seeds from here on are drawn ones
WORDS, AT = 624, 24  # of a Mersenne Twister's state, and the byte where they begin in what torch calls its own


def generator(seed: int, *path: str | int) -> torch.Generator:
    """A CPU generator for one named stream of `seed`, e.g. `generator(0, "samples", 3)`."""
    made = torch.Generator(device="cpu").manual_seed(number(seed, *path))
    if seed < SMALL:
        return made
    state = made.get_state().numpy()
    words = np.frombuffer(_hashed(seed, path, 4 * WORDS), dtype=np.uint32)
    state[AT : AT + 8 * WORDS] = words.astype(np.uint64).view(np.uint8)
    return made.set_state(torch.from_numpy(state))


class Normals:
    """Standard normals of one named stream of `seed`, drawn as they are wanted.

    Who sees some of them must not know the next: of a drawn seed each draw is a hash of its own, as two hundred numbers
    of a Mersenne Twister tell all that follow.
    """

    def __init__(self, seed: int, *path: str | int) -> None:
        self._seed, self._path, self._draws = seed, path, 0
        self._source = generator(seed, *path) if seed < SMALL else None

    def __call__(self, shape: torch.Size, dtype: torch.dtype) -> Tensor:
        """The next of them, on the CPU."""
        if self._source is not None:
            return torch.randn(shape, generator=self._source, device="cpu", dtype=dtype)
        self._draws += 1
        words = np.frombuffer(_hashed(self._seed, (*self._path, self._draws), 8 * shape.numel()), dtype=np.uint64)
        uniform = ((words >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53
        return torch.special.ndtri(torch.from_numpy(uniform)).view(shape).to(dtype)


def number(seed: int, *path: str | int) -> int:
    """63 bits for one named stream of `seed`: all that is told of it to who may not know the seed."""
    if seed < 0:
        raise ValueError(f"seed is {seed}; a whole number from 0 was wanted")
    if seed >= SMALL:
        return int.from_bytes(_hashed(seed, path, 8)) >> 1
    names = tuple(zlib.crc32(str(part).encode()) for part in path)
    return int(np.random.SeedSequence(entropy=seed, spawn_key=names).generate_state(1, np.uint64)[0]) >> 1


def _hashed(seed: int, path: tuple[str | int, ...], count: int) -> bytes:
    return hashlib.shake_256(repr((seed, *map(str, path))).encode()).digest(count)


def normal(rows: int, columns: int, source: torch.Generator, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Standard normal rows."""
    return torch.randn(rows, columns, generator=source, device="cpu", dtype=dtype).to(device)


def inputs(spec: Spec, rows: int, source: torch.Generator, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Rows of the spec's input law: standard normal, conditioned on ±within where that is given."""
    if spec.within is None:
        return normal(rows, spec.inputs, source, device, dtype)
    uniform = torch.rand(rows, spec.inputs, generator=source, device="cpu", dtype=torch.float64)
    reach = math.erf(spec.within / math.sqrt(2))  # P(|x| ≤ within)
    x = torch.special.ndtri((1 + reach * (2 * uniform - 1)) / 2)
    return x.clamp(-spec.within, spec.within).to(device=device, dtype=dtype)


def unit_columns(rows: int, columns: int, source: torch.Generator, dtype: torch.dtype) -> Tensor:
    """Columns uniform on the unit sphere, on the CPU."""
    w = torch.randn(rows, columns, generator=source, device="cpu", dtype=dtype)
    return w / w.norm(dim=0)


def shifts(law: str, scale: float, count: int, source: torch.Generator, dtype: torch.dtype) -> Tensor:
    """Shifts of a named law: uniform in ±scale, or normal with standard deviation `scale`; on the CPU."""
    if law == "uniform":
        return scale * (2 * torch.rand(count, generator=source, device="cpu", dtype=dtype) - 1)
    if law == "normal":
        return scale * torch.randn(count, generator=source, device="cpu", dtype=dtype)
    raise ValueError(f"unknown shift law {law!r}; there are uniform, normal")
