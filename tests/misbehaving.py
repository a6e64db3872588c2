"""Methods that misbehave, each in its own way: a plug-in of the tests."""

import copy
import ctypes
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch

from paramid import Access, Directions, Function, GiveUp, Network, Oracle, Run, Spec, Status

ENDINGS = {
    "well": Status.FINISHED,
    "nothing": Status.NO_ANSWER,
    "declines": Status.DECLINED,
    "raises": Status.RAISED,
    "gives_up": Status.GAVE_UP,
    "hangs": Status.TIMED_OUT,
    "dawdles": Status.TIMED_OUT,
    "segfaults": Status.CRASHED,
    "exits": Status.EXITED,
    "eats": Status.OUT_OF_MEMORY,
    "nan": Status.MALFORMED_CLAIM,
    "shape": Status.MALFORMED_CLAIM,
    "too_many": Status.MALFORMED_CLAIM,
    "no_claim": Status.MALFORMED_CLAIM,
    "undeclared": Status.RAISED,
    "greedy": Status.BUDGET_SPENT,
    "prints": Status.FINISHED,
    "quits": Status.EXITED,
    "forks": Status.EXITED,
    "flees": Status.FINISHED,
    "closes": Status.EXITED,
    "babbles": Status.EXITED,
    "killed": Status.CRASHED,
    "stops": Status.TIMED_OUT,
    "writes": Status.FINISHED,
    "litters": Status.FINISHED,
    "oversamples": Status.BUDGET_SPENT,
    "hoards": Status.OUT_OF_MEMORY,
    "numpy": Status.MALFORMED_CLAIM,
    "complex": Status.MALFORMED_CLAIM,
    "words": Status.MALFORMED_CLAIM,
    "bad_function": Status.MALFORMED_CLAIM,
    "returns": Status.RAISED,
    "recurses": Status.RAISED,
    "shuts_stdout": Status.FINISHED,
    "signals": Status.CRASHED,
    "surrogate": Status.RAISED,
    "wordless": Status.RAISED,
    "shouts": Status.RAISED,
    "interrupts": Status.EXITED,
    "floods": Status.MALFORMED_CLAIM,
    "trails_off": Status.TIMED_OUT,
    "copies": Status.RAISED,
    "diverges": Status.FINISHED,
    "imaginary": Status.MALFORMED_CLAIM,
    "stops_the_server": Status.FINISHED,
    "drips": Status.TIMED_OUT,
    "announces": Status.EXITED,
    "grandchildren": Status.FINISHED,
    "shares": Status.OUT_OF_MEMORY,
    "floods_questions": Status.TIMED_OUT,
    "digs": Status.FINISHED,
    "odd_shape": Status.EXITED,
    "too_large": Status.EXITED,
}


@dataclass(frozen=True)
class Misbehaving:
    """What it does is its option."""

    how: str = "well"
    version: ClassVar[int] = 1
    access: ClassVar = frozenset({Access.QUERIES, Access.SAMPLES})
    ENDINGS: ClassVar = ENDINGS

    def declines(self, spec: Spec) -> str | None:
        return "not today" if self.how == "declines" else None

    def identify(self, oracle: Oracle, run: Run) -> Iterator[object]:
        d, m = oracle.spec.inputs, oracle.spec.widths[0]
        rough = Network.shallow(run.sphere(m, d).T, run.normal(1, m)[0], oracle.spec.activation)
        if self.how != "nothing":
            yield rough
        yield from getattr(self, f"_{self.how}")(oracle, run, rough)

    def _well(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        yield rough

    def _nothing(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        return iter(())

    def _raises(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        raise RuntimeError("planned")

    def _gives_up(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        raise GiveUp("no use")

    def _hangs(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        time.sleep(3600)
        yield rough

    def _dawdles(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        while True:
            time.sleep(0.3)
            yield rough

    def _segfaults(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        ctypes.string_at(0)
        yield rough

    def _exits(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        os._exit(0)
        yield rough

    def _eats(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        yield torch.ones(100 * 2**30 // 8, dtype=torch.float64, device="cpu")

    def _nan(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        yield Directions(float("nan") * rough.weights[0])

    def _shape(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        yield Directions(rough.weights[0].T)

    def _too_many(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        yield Directions(torch.cat([rough.weights[0]] * 2, dim=1))

    def _no_claim(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        yield rough.weights

    def _undeclared(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        oracle.hessian(run.normal(1, oracle.spec.inputs))
        yield rough

    def _greedy(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        oracle.query(run.normal(10**6, oracle.spec.inputs))
        yield rough

    def _prints(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        for line in range(50_000):
            print("line", line, "." * 100)  # noqa: T201 -- what is tested
        yield rough

    def _quits(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        raise SystemExit(0)

    def _forks(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        if os.fork():
            os._exit(0)
        yield rough  # the child comes back into the harness

    def _flees(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        if not os.fork():
            os.setsid()
            if not os.fork():
                time.sleep(3600)
            os._exit(0)
        yield rough

    def _closes(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        os.closerange(3, 256)
        yield rough

    def _babbles(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, b"\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\0[]")
            except OSError:
                continue
        yield rough

    def _killed(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        os.kill(os.getpid(), signal.SIGKILL)
        yield rough

    def _stops(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        os.kill(os.getpid(), signal.SIGSTOP)
        yield rough

    def _writes(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        x, y = next(iter(oracle.sample(10)))
        oracle.query(x).zero_(), x.zero_(), y.zero_()
        object.__setattr__(oracle.spec, "inputs", 1)
        oracle.usage = oracle._usage = 0
        yield rough
        rough.weights[0].zero_()

    def _litters(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        tempfile.mkstemp()
        tempfile.mkdtemp()
        yield rough

    def _oversamples(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        oracle.sample(1_000_001)
        yield rough

    def _hoards(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        yield oracle.sample(10**6).tensors()[0].repeat(10**6, 1)

    def _numpy(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        yield Directions(rough.weights[0].numpy())

    def _complex(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        yield Directions(rough.weights[0] + 1j)

    def _words(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        yield Directions(rough.weights[0], stats={"confidence": "high"})

    def _bad_function(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        yield Function(lambda x: x / 0 if len(x) < 0 else [][0])

    def _returns(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        return rough.nothing_of_that_name

    def _shuts_stdout(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        sys.stdout.close()
        yield rough

    def _signals(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        os.kill(os.getpid(), signal.SIGRTMIN + 6)
        yield rough

    def _surrogate(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        raise RuntimeError("a file named \udcff\x1b[2J is not there")

    def _wordless(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        raise type("Wordless", (Exception,), {"__str__": lambda self: 1 / 0})

    def _shouts(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        raise RuntimeError("A" * 50_000_000)

    def _interrupts(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        raise KeyboardInterrupt("planned")

    def _floods(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        while True:
            yield rough

    def _trails_off(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        for descriptor in range(3, 64):
            with suppress(OSError):
                os.write(descriptor, b"\0\0\0")
        time.sleep(3600)
        yield rough

    def _copies(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        copy.deepcopy(oracle).query(run.normal(5, oracle.spec.inputs))
        yield rough

    def _diverges(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        yield Directions(1e300 * rough.weights[0])
        yield rough.with_layers([1e300 * w for w in rough.weights], rough.biases)

    def _imaginary(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        yield Function(lambda x: rough(x) * 1j)

    def _stops_the_server(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        if os.getppid() == 1:  # in a namespace of its own; elsewhere the tests beside this one would suffer
            os.kill(os.getppid(), signal.SIGSTOP)
        yield rough

    def _drips(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        for _ in range(1000):
            oracle._link.channel.sendall(b"\4")
            time.sleep(0.1)
        yield rough

    def _announces(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        from paramid.wall.frames import HEAD

        oracle._link.channel.sendall(HEAD.pack(4, 2 | 128, 0, 1, 2**40, 4, *(0,) * 6))
        while True:
            oracle._link.channel.sendall(bytes(2**20))

    def _grandchildren(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        for _ in range(50):
            if os.fork() == 0:
                os.setsid()
                os.fork()
                time.sleep(3600)
                os._exit(0)
        yield rough

    def _shares(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        import mmap

        held = [mmap.mmap(-1, 2**32) for _ in range(4)]
        yield held

    def _floods_questions(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        while True:
            with suppress(Exception):
                oracle.query(torch.full((1, oracle.spec.inputs), float("nan"), dtype=run.dtype))
        yield rough

    def _digs(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        os.chdir(tempfile.gettempdir())
        for _ in range(2000):
            Path("d").mkdir()
            os.chdir("d")
        yield rough

    def _odd_shape(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        from paramid.wall.frames import HEAD

        oracle._link.channel.sendall(HEAD.pack(4, 2 | 128, 0, 0, 2**63, 0, *(0,) * 6))
        time.sleep(3600)
        yield rough

    def _too_large(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        from paramid.wall.frames import Kind

        oracle._link.send(Kind.CLAIM, 3, text="Network", array=torch.zeros(0, dtype=run.dtype))
        for part in ("W0", "b0", "W1"):
            oracle._link.send(Kind.PART, text=part, array=torch.zeros(2**23, dtype=run.dtype))
        time.sleep(3600)
        yield rough

    def _kills_the_server(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(3600)
        yield rough

    def _recurses(self, oracle: Oracle, run: Run, rough: Network) -> Iterator[object]:
        yield from self._recurses(oracle, run, rough)


METHODS = {"misbehaving": Misbehaving}
