"""Frames between a method's process and its warden: a head of numbers, a short text, at most one array of float64.

    kind | number of dimensions | bytes of text | a number | the dimensions

Every length stands in the head and is checked before anything is made of it; there is no code and no pickle. A small
array follows its head through the socket. A large one goes through shared memory, a piece at a time: each piece is
announced by a byte and answered by one when it has been copied, so that it cannot change under who looks at it.
"""

from __future__ import annotations

import math
import mmap
import os
import socket
import struct
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum

import torch
from torch import Tensor

from paramid.words import memory_limits

HEAD = struct.Struct("!BBxxIq8Q")
INLINE = 2**15  # bytes of an array that goes through the socket
LONGEST = 2**16  # bytes of a text
PATIENCE, PACE = 10.0, 2e7  # seconds, and bytes a second, within which a frame that has begun must be there
SPIN = 5e-4  # seconds of waiting awake, other processes first
SEALS, ADD_SEALS = 1 | 2 | 4, 1033  # no further seals, no shrinking, no growing: a map of it stays whole
DOUBLE = 8


class Kind(IntEnum):
    """What a frame is; those of the method first, those of the warden after them."""

    READY = 1
    STARTED = 2
    DECLINED = 3
    QUERY = 4
    GRADIENT = 5
    HESSIAN = 6
    SAMPLE = 7
    CHUNK = 8
    MOMENTS = 9
    LABEL = 10
    CLAIM = 11
    PART = 12
    OUTPUT = 13
    FAILED = 14
    ENDED = 15
    DECISION = 16
    JOB = 32
    VALUES = 33
    REFUSED = 34
    EVALUATE = 35
    GO_ON = 36


class Violation(Exception):
    """A frame that no honest process sends."""


class Stalled(Exception):
    """A frame that was begun and not ended in time."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame; without an array its `sizes` are free numbers."""

    kind: Kind
    number: int = 0
    sizes: tuple[int, ...] = ()
    text: str = ""
    array: Tensor | None = None

    @property
    def content(self) -> Tensor:
        """The array of a frame that must have one."""
        if self.array is None:
            raise Violation(f"{self.kind.name} came without an array")
        return self.array


@dataclass(frozen=True, slots=True)
class Head:
    """What a frame says of itself before it is there."""

    kind: Kind
    number: int
    sizes: tuple[int, ...]
    text: int
    holds: bool

    @property
    def bytes(self) -> int:
        """Of its array."""
        return DOUBLE * math.prod(self.sizes) if self.holds else 0


give_way: Callable[[], object] = getattr(os, "sched_yield", lambda: time.sleep(0))
Wait = Callable[[float | None, bool], None]  # until a moment, for reading or for writing; raises what ends the waiting


class Link:
    """One end of the connection. `most` bounds the doubles of an array that comes in."""

    def __init__(self, channel: socket.socket, most: int | None = None, wait: Wait | None = None) -> None:
        self.channel, self.most, self._wait = channel, most, wait
        channel.setblocking(wait is None)
        self._out: Tensor | None = None
        self._in: Tensor | None = None
        self._head = bytearray(HEAD.size)
        self._ahead = memoryview(bytearray(2 * INLINE))  # bytes that have come and are not used yet
        self._first = self._last = 0
        self._unsettled = False

    def share(self, doubles: int) -> None:
        """Make shared memory, one map each way, and hand it to the other end, where this system has such."""
        if sys.platform != "linux":
            return
        maps = [_sealed(name, DOUBLE * doubles) for name in ("in", "out")]
        socket.send_fds(self.channel, [b"m"], maps)
        self._in, self._out = map(_mapped, maps)

    def shared(self) -> None:
        """Take the shared memory that the other end has made."""
        if sys.platform != "linux":
            return
        _, maps, _, _ = socket.recv_fds(self.channel, 1, 2)
        self._out, self._in = map(_mapped, maps)

    def send(
        self, kind: Kind, number: int = 0, *, sizes: Sequence[int] = (), text: str = "", array: Tensor | None = None
    ) -> None:
        """Write one frame."""
        words = text.encode("utf-8", "replace")[:LONGEST]
        if array is None:
            return self._write(_packed(kind, number, sizes, words, False))
        head = _packed(kind, number, array.shape, words, True)
        count = DOUBLE * array.numel()
        if count <= INLINE or self._out is None:
            plain = array.detach().to(device="cpu", dtype=torch.float64).contiguous()
            return self._write(head, plain.numpy().reshape(-1).data.cast("B") if count else b"")
        return self._write_pieces(head, array.detach())

    def _write_pieces(self, head: bytes, array: Tensor) -> None:
        assert self._out is not None
        room = len(self._out)
        pieces = (array,) if array.numel() <= room else array.reshape(-1).split(room)
        for number, piece in enumerate(pieces):
            self._settle()
            self._out[: piece.numel()].view(piece.shape).copy_(piece)
            self._write(b"p" if number else head)
            self._unsettled = True

    def _settle(self) -> None:
        """The last piece has been copied by the other end: it says so before anything else."""
        if self._unsettled:
            self._read(answer := bytearray(1), None)
            self._unsettled = False
            if answer != b"k":
                raise Violation("a piece was not acknowledged")

    def receive(self, allowed: frozenset[Kind] | None = None) -> Frame:
        """Read one frame."""
        self._settle()
        self._read(self._head, None)
        head = self._understood(allowed)
        until = time.monotonic() + PATIENCE + head.bytes / PACE
        words = ""
        if head.text:
            self._read(text := bytearray(head.text), until)
            words = text.decode("utf-8", "replace")
        array = self._array(head, until) if head.holds else None
        return Frame(head.kind, head.number, head.sizes, words, array)

    def _understood(self, allowed: frozenset[Kind] | None) -> Head:
        code, dimensions, text, number, *sizes = HEAD.unpack(self._head)
        holds, dimensions = bool(dimensions & 128), dimensions & 127
        if dimensions > len(sizes) or text > LONGEST:
            raise Violation(f"a head of {dimensions} dimensions and {text} bytes of text")
        with suppress(ValueError):
            head = Head(Kind(code), number, tuple(sizes[:dimensions]), text, holds)
            if allowed is None or head.kind in allowed:
                if self.most is not None and head.bytes > DOUBLE * self.most:
                    raise Violation(f"an array of {head.sizes}; at most {self.most:,} numbers were expected")
                return head
        raise Violation(f"a frame of kind {code}")

    def _array(self, head: Head, until: float) -> Tensor:
        try:
            made = torch.empty(head.sizes, dtype=torch.float64, device="cpu")
        except (RuntimeError, TypeError, ValueError, OverflowError, MemoryError) as error:
            if self.most is not None:
                raise Violation(f"an array of {head.sizes}") from error
            self._pass_over(head, until)  # an answer that a method has no room for: it may go on with less
            raise MemoryError(f"no room for an answer of {head.sizes}") from error
        if not made.numel():
            return made
        if head.bytes <= INLINE or self._in is None:
            self._read(made.view(-1).numpy().data.cast("B"), until)
            return made
        marker = bytearray(1)
        for number, piece in enumerate(made.view(-1).split(len(self._in))):
            if number:
                self._read(marker, until)
                if marker != b"p":
                    raise Violation("a piece was not announced")
            piece.copy_(self._in[: len(piece)])
            self._write(b"k")
        return made

    def _pass_over(self, head: Head, until: float) -> None:
        """Take an array that there is no room for."""
        if head.bytes <= INLINE or self._in is None:
            self._read(bytearray(head.bytes), until)
            return
        for number in range(0, head.bytes, DOUBLE * len(self._in)):
            if number:
                self._read(bytearray(1), until)
            self._write(b"k")

    def _read(self, into: bytearray | memoryview, until: float | None) -> None:
        """Fill a buffer; once a byte of a frame is there, the rest must follow by `until`."""
        at, wanted = 0, len(into)
        while at < wanted:
            if self._first == self._last:
                self._receive_some(until)
            count = min(wanted - at, self._last - self._first)
            into[at : at + count] = self._ahead[self._first : self._first + count]
            at, self._first = at + count, self._first + count
            until = time.monotonic() + PATIENCE if until is None else until

    def _receive_some(self, until: float | None) -> None:
        """Take what is there, or wait for it: at first awake, as answers come sooner than a sleeper wakes."""
        spun = time.monotonic() + SPIN
        while True:
            try:
                count = self.channel.recv_into(self._ahead, 0, socket.MSG_DONTWAIT)
            except BlockingIOError:
                if time.monotonic() < spun:
                    give_way()
                    continue
                if self._wait is not None:
                    self._wait(until, False)
                    continue
                count = self.channel.recv_into(self._ahead)
            if not count:
                raise EOFError("the other end closed")
            self._first, self._last = 0, count
            return

    def _write(self, *parts: bytes | memoryview) -> None:
        left = [memoryview(part) for part in parts if len(part)]
        until = time.monotonic() + PATIENCE + sum(map(len, left)) / PACE
        while left:
            try:
                count = self.channel.sendmsg(left)
            except BlockingIOError:
                assert self._wait is not None
                self._wait(until, True)
                continue
            while left and count >= len(left[0]):
                count -= len(left.pop(0))
            if left:
                left[0] = left[0][count:]


def room(piece: int) -> int:
    """The doubles of the shared memory: a chunk, or one row of what is granted where that is larger."""
    return max(memory_limits.CHUNK, piece)


def _packed(kind: Kind, number: int, sizes: Sequence[int], text: bytes, holds: bool) -> bytes:
    padded = (*sizes, *(0,) * (8 - len(sizes)))
    return HEAD.pack(kind, len(sizes) | 128 * holds, len(text), number, *padded) + text


def _sealed(name: str, size: int) -> int:
    import fcntl

    made = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(made, size)
    fcntl.fcntl(made, ADD_SEALS, SEALS)
    return made


def _mapped(descriptor: int) -> Tensor:
    size = os.fstat(descriptor).st_size
    shared = mmap.mmap(descriptor, size)
    os.close(descriptor)
    return torch.frombuffer(shared, dtype=torch.float64)
