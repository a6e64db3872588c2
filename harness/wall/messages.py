"""Messages among the harness' own processes: a JSON head and a body of bytes, both with their lengths in front."""

import json
import socket
import struct
import time
from typing import Any

HEADER = struct.Struct("!QQ")
LONGEST, LARGEST = 2**26, 2**33  # bytes of a head, far beyond any record, and of a body, a claim's arrays
PATIENCE, PACE = 10.0, 2e7  # seconds, and bytes a second, within which a message that has begun must be there


def send(channel: socket.socket, message: dict[str, Any], body: bytes = b"") -> None:
    """Write one message."""
    head = json.dumps(message).encode()
    channel.sendall(HEADER.pack(len(head), len(body)) + head)
    channel.sendall(body)


def receive(channel: socket.socket, *, most: int | None = None) -> tuple[dict[str, Any], bytes]:
    """Read one message; EOFError at the stream's end, ValueError for what is none, TimeoutError for half of one."""
    before, until = channel.gettimeout(), None
    try:
        first = _exactly(channel, 1, until)
        until = time.monotonic() + PATIENCE
        head, body = HEADER.unpack(first + _exactly(channel, HEADER.size - 1, until))
        if head > LONGEST or body > LARGEST or (most is not None and head + body > most):
            raise ValueError(f"a head of {head} bytes and a body of {body}")
        until += (head + body) / PACE
        return json.loads(_exactly(channel, head, until)), _exactly(channel, body, until)
    finally:
        channel.settimeout(before)


def _exactly(channel: socket.socket, count: int, until: float | None) -> bytes:
    parts = []
    while count:
        if until is not None:
            if (left := until - time.monotonic()) <= 0:
                raise TimeoutError("a message stopped in its middle")
            channel.settimeout(left)
        part = channel.recv(min(count, 2**20))
        if not part:
            raise EOFError("the other end closed")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
