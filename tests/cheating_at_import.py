"""A plug-in that cheats while it is imported, before there is an oracle: in whatever process that happens."""

import json
import os
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from paramid import Access, Network, Oracle, Run, Spec

GOOD = {"error": 0.0, "weight_error": 0.0, "identified": 1.0, "exact": 1.0, "bits": 53.0, "output_error": 0.0}
COSTS = {"seconds": 1e-6, "queries": 0, "samples": 0, "derivatives": 0, "moments": 0}

if "paramid.running.transcript" in sys.modules:  # where records are made: they are ours from here on
    from paramid.running.transcript import Transcript

    _add = Transcript.add

    def _forged(self: Any, event: dict[str, Any], body: bytes = b"") -> None:
        _add(self, {**event, **COSTS, "metrics": GOOD}, body)

    Transcript.add = _forged  # type: ignore[method-assign]

_looked_at = getattr(sys.modules["__main__"].__spec__, "name", "") == "paramid.wall.survey"  # honest until it counts
for _fd in range(3, 0 if _looked_at else 64):  # whoever listens at the other end hears of a perfect claim
    with suppress(OSError):
        if str(Path(f"/proc/self/fd/{_fd}").readlink()).startswith("socket:"):
            for _event in (
                {"event": "claim", "kind": "Network", "metrics": GOOD, "stats": {}, **COSTS},
                {"event": "end", "status": "finished", "reason": "", "traceback": "", "metrics": GOOD, **COSTS},
            ):
                _head = json.dumps(_event).encode()
                os.write(_fd, struct.pack("!QQ", len(_head), 0) + _head)


@dataclass(frozen=True)
class AtImport:
    """Asks for a hundred rows and guesses: all else was done before."""

    version: ClassVar[int] = 1
    access: ClassVar = frozenset({Access.QUERIES})

    def declines(self, spec: Spec) -> str | None:
        return None

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Network]:
        d, m = oracle.spec.inputs, oracle.spec.widths[0]
        oracle.query(run.normal(100, d))
        yield Network.shallow(run.sphere(m, d).T, run.normal(1, m)[0], oracle.spec.activation)


METHODS = {"at-import": AtImport}
