"""Teachers that nobody can know beforehand: their seeds are drawn from a secret, which is shown when all is over.

    (1)  drawn seed = HMAC-SHA256(secret, task, zero byte, seed), of which 62 bits are kept and the 63rd is 1.

A record holds the secret's hash. Who has the secret draws the same teachers again, from (1) alone.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from dataclasses import dataclass
from pathlib import Path

from paramid.words.naming import UsageError

LEAST = 32  # bytes


def kept() -> Path:
    """Where the secrets of epochs are: no method sees this folder, whatever it runs for."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111  there may be no home
    return Path(home) / "paramid" / "epochs"


def drawn_seed(secret: bytes, task: str, seed: int) -> int:
    """The seed (1) of a task, written as records write it."""
    digest = hmac.new(secret, f"{task}\0{seed}".encode(), hashlib.sha256).digest()
    return int.from_bytes(digest) >> 194 | 1 << 62


def fingerprint(secret: bytes) -> str:
    """What records hold of a secret."""
    return hashlib.sha256(secret).hexdigest()


@dataclass(frozen=True, repr=False)
class Secret:
    """A secret and the file that it came from, if any."""

    value: bytes
    file: Path | None = None

    @classmethod
    def given(cls, secret: bytes | str | Path | Secret) -> Secret:
        """The secret itself, or the file that holds it; a UsageError says what is wrong with it."""
        if isinstance(secret, Secret):
            return secret
        if isinstance(secret, bytes):
            value, file, name = secret, None, "the secret"
        else:
            file = Path(secret).resolve()
            name = f"the secret in {secret}"
            try:
                value = file.read_bytes()
            except OSError as error:
                raise UsageError(f"secret {secret}: {error.strerror}") from error
        if len(value) < LEAST:
            raise UsageError(f"{name} has {len(value)} bytes; at least {LEAST} were wanted")
        return cls(value, file)

    @property
    def fingerprint(self) -> str:
        """Its hash."""
        return fingerprint(self.value)

    def drawn_seed(self, task: str, seed: int) -> int:
        """The seed (1) of a task."""
        return drawn_seed(self.value, task, seed)
