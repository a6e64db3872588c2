"""Messages between supervisor, server and child: a JSON head and a body of bytes, both with their lengths in front."""

import json
import socket
import struct
from typing import Any

HEADER = struct.Struct("!QQ")
LONGEST = 2**26  # bytes of a head: far beyond any record


def send(channel: socket.socket, message: dict[str, Any], body: bytes = b"") -> None:
    """Write one message."""
    head = json.dumps(message).encode()
    channel.sendall(HEADER.pack(len(head), len(body)) + head + body)


def receive(channel: socket.socket) -> tuple[dict[str, Any], bytes]:
    """Read one message; EOFError at the end of the stream, ValueError for what is none."""
    head, body = HEADER.unpack(_exactly(channel, HEADER.size))
    if head > LONGEST:
        raise ValueError(f"a head of {head} bytes")
    return json.loads(_exactly(channel, head)), _exactly(channel, body)


def _exactly(channel: socket.socket, count: int) -> bytes:
    parts = []
    while count:
        part = channel.recv(min(count, 2**20))
        if not part:
            raise EOFError("the other end closed")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
