"""How large a file and what is in it may be: an eighth of the memory there is, looked at before it is taken."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Sequence
from io import BytesIO

from paramid.words.memory_limits import DOUBLE, gigabytes, room
from paramid.words.naming import UsageError

SHARE = 8  # of the memory
MOST_LAYERS = 1000


def check_bytes(count: int, what: str) -> None:
    """A UsageError where so many bytes are too many."""
    if count > (most := room() // SHARE):
        raise UsageError(f"{what} has {gigabytes(count)}; at most {gigabytes(most)}, an eighth of the memory, are read")


def check_shape(shape: Sequence[int], what: str) -> None:
    """A UsageError where an array of that shape is none, or too large as doubles."""
    if any(size < 0 for size in shape):
        raise UsageError(f"{what} has shape {tuple(shape)}; sizes from 0 were wanted")
    check_bytes(DOUBLE * math.prod(shape), f"{what} of shape {tuple(shape)}")


def checked_zip(payload: bytes) -> zipfile.ZipFile:
    """An archive whose members, unpacked, are not too large."""
    archive = zipfile.ZipFile(BytesIO(payload))
    check_bytes(sum(member.file_size for member in archive.infolist()), "the archive, unpacked,")
    return archive
