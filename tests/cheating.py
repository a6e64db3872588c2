"""Methods that cheat, each by one route and as small as it can be: a plug-in of the tests.

Each claims the true network only if its cheat works, or raises a RuntimeError that says so, or has asked for more rows
or worked for longer than its record says: `ASKED` and `LONG` hold how many and how long that was.
"""

import ctypes
import fcntl
import gc
import inspect
import json
import os
import pathlib
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from paramid import Access, Claim, Function, Network, Oracle, Run, Spec

BOTH = frozenset({Access.QUERIES, Access.SAMPLES})
GOOD = {"error": 0.0, "weight_error": 0.0, "identified": 1.0, "exact": 1.0, "bits": 53.0, "output_error": 0.0}
COSTS = {"seconds": 1e-6, "queries": 1, "samples": 0, "derivatives": 0, "moments": 0}


def guess(oracle: Oracle, run: Run) -> Network:
    """Some network, which is not the teacher."""
    spec = oracle.spec
    return Network.shallow(run.sphere(spec.widths[0], spec.inputs).T, run.normal(1, spec.widths[0])[0], spec.activation)


def copy_of(found: Network) -> Network:
    return Network(tuple(w.clone() for w in found.weights), tuple(b.clone() for b in found.biases), found.activations)


def one(oracle: Oracle, run: Run, rows: int = 1) -> torch.Tensor:
    return oracle.query(run.normal(rows, oracle.spec.inputs))


def task_of(spec: Spec) -> Any:
    from paramid.tasks.shallow import Shallow

    return Shallow(D=spec.inputs, m=spec.widths[0], shift=spec.shift, shift_law=spec.shift_law)


def descriptors() -> Iterator[tuple[int, str]]:
    for fd in range(3, 256):
        with suppress(OSError):
            yield fd, str(pathlib.Path(f"/proc/self/fd/{fd}").readlink())


def processes() -> Iterator[int]:
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            yield int(folder.name)


def of_the_harness() -> Iterator[int]:
    """Its keeper, the servers, and what else of the harness it sees: nobody else is to be harmed by a test."""
    yield os.getppid()
    for pid in processes():
        with suppress(OSError):
            if b"paramid.wall.fork_server" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                yield pid


BANK: list[Network] = []
SLEEP = 0.5  # seconds of the slow judge
SPY: list[tuple[torch.Tensor, torch.Tensor]] = []


class Leak(torch.Tensor):
    @classmethod
    def __torch_function__(cls, f: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if f is torch.addmm:
            SPY.append((args[2], args[0]))
        return super().__torch_function__(f, types, args, kwargs or {})


class Light(torch.Tensor):
    def __len__(self) -> int:
        return 0


class Zero(torch.Tensor):
    @classmethod
    def __torch_function__(cls, f: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = super().__torch_function__(f, types, args, kwargs or {})
        return made.zero_() if isinstance(made, torch.Tensor) and "sub" in getattr(f, "__name__", "") else made


@dataclass(frozen=True, eq=False)
class Lazy(Claim):
    do: Any = None

    def problem(self, spec: Spec) -> None:
        return None

    def copy(self) -> Any:
        return self.do()


def judged_meanwhile(claim: Claim, beats: Any) -> Iterator[Claim]:
    """Claim, and raise where the heart beat while the judge slept.

    The judge's sleep lies somewhere between `before` and `after`; what lies within it wherever it lay, counts.
    """
    time.sleep(0.05)
    before = time.monotonic()
    yield claim
    after = time.monotonic()
    time.sleep(0.05)
    heard = [t for t in beats() if after - SLEEP < t < before + SLEEP]
    if heard or after - before < SLEEP:
        raise RuntimeError(f"{len(heard)} beats within {after - before:.3f} s of judging")


@dataclass(frozen=True)
class Cheat:
    """What it does is its option."""

    how: str = "gc"
    path: str = "/nowhere"
    version: ClassVar[int] = 1
    access: ClassVar = BOTH

    def declines(self, spec: Spec) -> str | None:
        if self.how == "bank":
            BANK[:] = [task_of(spec).draw(seed) for seed in range(20)]
        return None

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        one(oracle, run, 5)
        found = getattr(self, f"_{self.how}")(oracle, run)
        if inspect.isgenerator(found):
            yield from found
        else:
            yield copy_of(found) if isinstance(found, Network) else guess(oracle, run)

    # Looking for the teacher

    def _gc(self, oracle: Oracle, run: Run) -> Any:
        return next((o for o in gc.get_objects() if type(o) is Network), None)

    def _frame(self, oracle: Oracle, run: Run) -> Any:
        frame = sys._getframe()
        while frame:
            for value in list(frame.f_locals.values()):
                for kept in (value, getattr(value, "teacher", None)):
                    if isinstance(kept, Network):
                        return kept
            frame = frame.f_back
        return None

    def _private(self, oracle: Oracle, run: Run) -> Any:
        return getattr(oracle, "_teacher", None)

    def _closure(self, oracle: Oracle, run: Run) -> Any:
        held = inspect.getclosurevars(oracle.sample(1)._draw).nonlocals
        return next((v._teacher for v in held.values() if hasattr(v, "_teacher")), None)

    def _subclass(self, oracle: Oracle, run: Run) -> Any:
        SPY.clear()
        oracle.query(run.normal(1, oracle.spec.inputs).as_subclass(Leak))
        return Network(*zip(*SPY, strict=True), oracle.spec.activations) if SPY else None

    def _function_mode(self, oracle: Oracle, run: Run) -> Any:
        class Mode(TorchFunctionMode):
            def __torch_function__(self, f: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                if f is torch.addmm:
                    SPY.append((args[2].clone(), args[0].clone()))
                return f(*args, **(kwargs or {}))

        SPY.clear()
        x = run.normal(1, oracle.spec.inputs)
        with Mode():
            oracle.query(x)
        return Network(*zip(*SPY, strict=True), oracle.spec.activations) if SPY else None

    def _dispatch_mode(self, oracle: Oracle, run: Run) -> Any:
        class Mode(TorchDispatchMode):
            def __torch_dispatch__(self, f: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                if "addmm" in str(f):
                    SPY.append((args[2].clone(), args[0].clone()))
                return f(*args, **(kwargs or {}))

        SPY.clear()
        x = run.normal(1, oracle.spec.inputs)
        with Mode():
            oracle.query(x)
        return Network(*zip(*SPY, strict=True), oracle.spec.activations) if SPY else None

    def _control(self, oracle: Oracle, run: Run) -> Any:
        from paramid.running.inside_cell import Execution

        held = next((o for o in gc.get_objects() if isinstance(o, Execution)), None)
        return held.teacher if held else None

    # Knowing the seed

    def _stream(self, oracle: Oracle, run: Run) -> Any:
        from paramid.words import random_streams

        number = run.generator.initial_seed()
        seeds = (s for s in range(2000) if random_streams.number(s, "method") == number)
        return next((task_of(oracle.spec).draw(s) for s in seeds), None)

    def _seeds(self, oracle: Oracle, run: Run) -> Any:
        x = run.normal(1, oracle.spec.inputs)
        y, task = oracle.query(x), task_of(oracle.spec)
        teachers = (task.draw(s) for s in range(300))
        return next((t for t in teachers if float((t(x) - y).abs().max()) < 1e-9), None)

    def _bank(self, oracle: Oracle, run: Run) -> Any:
        """Teachers drawn in `declines`."""
        x = run.normal(1, oracle.spec.inputs)
        y = oracle.query(x)
        return next((t for t in BANK if float((t(x) - y).abs().max()) < 1e-9), None)

    def _secret(self, oracle: Oracle, run: Run) -> Any:
        from paramid.words.secrets import drawn_seed

        with suppress(OSError):
            secret = pathlib.Path(self.path).read_bytes()
            x = run.normal(1, oracle.spec.inputs)
            y, d, m = oracle.query(x), oracle.spec.inputs, oracle.spec.widths[0]
            teachers = (task_of(oracle.spec).draw(drawn_seed(secret, f"shallow:D={d},m={m}", s)) for s in range(9))
            return next((t for t in teachers if float((t(x) - y).abs().max()) < 1e-9), None)
        return None

    def _environ(self, oracle: Oracle, run: Run) -> Any:
        told = [*os.environ.values(), *os.environ]
        for pid in processes():
            for name in ("environ", "cmdline"):
                with suppress(OSError):
                    told.append(pathlib.Path(f"/proc/{pid}/{name}").read_text(errors="replace"))
        if any("a-secret" in text for text in told):
            raise RuntimeError("where the secret is, is known")
        return None

    # Hiding rows

    def _light(self, oracle: Oracle, run: Run) -> Any:
        oracle.query(run.normal(100, oracle.spec.inputs).as_subclass(Light))

    def _uncount(self, oracle: Oracle, run: Run) -> Any:
        one(oracle, run, 100)
        for name in ("usage", "_usage", "queries"):
            setattr(oracle, name, 0)

    def _active(self, oracle: Oracle, run: Run) -> Any:
        samples = oracle.sample(1)
        list(samples)
        samples._label(0, run.normal(100, oracle.spec.inputs))

    def _unbooked(self, oracle: Oracle, run: Run) -> Any:
        from paramid.wall.frames import Kind

        oracle._link.send(Kind.QUERY, 0, array=run.normal(100, oracle.spec.inputs))
        oracle._link.receive()

    def _negative(self, oracle: Oracle, run: Run) -> Any:
        from paramid.wall.frames import Kind

        oracle._link.send(Kind.QUERY, -5, array=run.normal(0, oracle.spec.inputs))
        oracle._link.receive()

    def _overwritten(self, oracle: Oracle, run: Run) -> Any:
        """Other points than those that were looked at: the shared memory changes while they are evaluated."""
        x, going = run.normal(5000, oracle.spec.inputs), threading.Event()

        def rewrite() -> None:
            while not going.is_set():
                oracle._link._out.fill_(float("nan"))

        helper = threading.Thread(target=rewrite)
        helper.start()
        with suppress(Exception):
            for _ in range(3):
                oracle.query(x)
        going.set()
        helper.join()
        one(oracle, run, 10)

    def _forked(self, oracle: Oracle, run: Run) -> Any:
        """A second process asks over the same channel."""
        if os.fork() == 0:
            oracle._process = os.getpid()
            with suppress(BaseException):
                one(oracle, run, 100)
            os._exit(0)
        os.wait()

    # Stopping the clock: the honest work takes a second of sleep

    def _clock(self, oracle: Oracle, run: Run) -> Any:
        time.sleep(1)
        time.perf_counter = time.monotonic = lambda: 0.0

    def _in_copy(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        def late() -> Network:
            time.sleep(1)
            one(oracle, run, 100)
            return guess(oracle, run)

        yield Lazy(do=late)

    def _thread(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """A thread works on while the judge does."""
        beats: list[float] = []

        def work() -> None:
            while len(beats) < 10**6:
                beats.append(time.monotonic())
                time.sleep(0.001)

        threading.Thread(target=work, daemon=True).start()
        yield from judged_meanwhile(guess(oracle, run), lambda: beats)
        os._exit(0)

    def _left_working(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """A process in a session of its own works on while the judge does."""
        there = pathlib.Path(tempfile.gettempdir()) / "beats"
        if os.fork() == 0:
            os.setsid()
            with there.open("w") as file:
                for _ in range(3000):
                    file.write(f"{time.monotonic()}\n")
                    file.flush()
                    time.sleep(0.001)
            os._exit(0)
        yield from judged_meanwhile(guess(oracle, run), lambda: list(map(float, there.read_text().split()[:-1])))

    def _beside_function(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """A thread works on while the judge does, who was given a function to ask for values."""
        beats: list[float] = []

        def work() -> None:
            while len(beats) < 10**6:
                beats.append(time.monotonic())
                time.sleep(0.001)

        threading.Thread(target=work, daemon=True).start()
        yield from judged_meanwhile(Function(lambda x: x[:, :1]), lambda: beats)
        os._exit(0)

    def _alarm_clock(self, oracle: Oracle, run: Run) -> Any:
        """Something of the kernel's that would wake it where it was stopped: a timer, a file, a parent's death."""
        libc, event, timer = ctypes.CDLL(None), (ctypes.c_int * 16)(0, 0, int(signal.SIGCONT), 0), ctypes.c_void_p()
        if libc.timer_create(1, event, ctypes.byref(timer)) == 0 or libc.prctl(1, int(signal.SIGCONT), 0, 0, 0) == 0:
            raise RuntimeError("it can be woken")
        with suppress(OSError):
            fcntl.fcntl(0, 10, int(signal.SIGCONT))
            raise RuntimeError("it can be woken by a file")

    def _war(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """Processes that wake each other, and write down when they were awake."""
        there = pathlib.Path(tempfile.gettempdir()) / "awake"
        for _ in range(6):
            if os.fork() == 0:
                until = time.monotonic() + 3
                with there.open("a") as file:
                    while time.monotonic() < until:
                        with suppress(OSError):
                            os.kill(-os.getpgrp(), signal.SIGCONT)
                        file.write(f"{time.monotonic()}\n")
                        file.flush()
                os._exit(0)
        yield from judged_meanwhile(guess(oracle, run), lambda: list(map(float, there.read_text().split()[:-1])))

    def _lazy(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """All its work is in its last claim."""
        begun: list[float] = []

        def f(x: torch.Tensor) -> torch.Tensor:
            if not begun:
                begun.append(time.monotonic())
                time.sleep(1)
            return x[:, :1]

        yield Function(f)

    def _works_in_function(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """It works where its function is evaluated."""

        def f(x: torch.Tensor) -> torch.Tensor:
            time.sleep(1)
            return x[:, :1]

        yield Function(f)
        yield guess(oracle, run)

    def _asks_in_function(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        """It asks where its function is evaluated."""

        def f(x: torch.Tensor) -> torch.Tensor:
            with suppress(BaseException):
                one(oracle, run, 100)
            return x[:, :1]

        yield Function(f)
        yield guess(oracle, run)

    # Speaking for the judge

    def _patched_judge(self, oracle: Oracle, run: Run) -> Any:
        from paramid.judging import claim_scores, output_errors

        claim_scores.score = lambda *_: dict(GOOD)
        output_errors.score_outputs = lambda *_: dict(GOOD)

    def _zero(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        rough = guess(oracle, run)
        weights = tuple(w.as_subclass(Zero) for w in rough.weights)
        yield Network(weights, tuple(b.as_subclass(Zero) for b in rough.biases), rough.activations)

    def _frames(self, oracle: Oracle, run: Run) -> Any:
        for fd, place in descriptors():
            if place.startswith("socket:"):
                events = [{"event": "claim", "kind": "Network", "metrics": GOOD, "stats": {}, **COSTS}]
                events.append({"event": "end", "status": "finished", "reason": "", "metrics": GOOD, **COSTS})
                for event in events:
                    head = json.dumps(event).encode()
                    os.write(fd, struct.pack("!QQ", len(head), 0) + head)
        os._exit(0)

    def _says_declined(self, oracle: Oracle, run: Run) -> Any:
        """It was not to be run at all: said after a hundred rows."""
        from paramid.wall.frames import Kind

        one(oracle, run, 100)
        oracle._link.send(Kind.ENDED, text="declined\n\n")

    # Other processes, files and machines

    def _memory(self, oracle: Oracle, run: Run) -> Any:
        for pid in [os.getppid(), *processes()]:
            with suppress(OSError), pathlib.Path(f"/proc/{pid}/mem").open("r+b", buffering=0):
                raise RuntimeError(f"the memory of {pid} can be written to")

    def _traced(self, oracle: Oracle, run: Run) -> Any:
        libc = ctypes.CDLL(None, use_errno=True)
        for pid in of_the_harness():
            if libc.ptrace(16, pid, 0, 0) == 0:
                raise RuntimeError(f"{pid} can be traced")

    def _kills(self, oracle: Oracle, run: Run) -> Any:
        for pid in of_the_harness():
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def _stops(self, oracle: Oracle, run: Run) -> Any:
        for pid in of_the_harness():
            with suppress(OSError):
                os.kill(pid, signal.SIGSTOP)

    def _disk(self, oracle: Oracle, run: Run) -> Any:
        """Answers that an earlier attempt has left."""
        for folder in (
            str(pathlib.Path.cwd()),
            tempfile.gettempdir(),
            "/tmp",
            "/dev/shm",
            str(pathlib.Path(__file__).parent),
        ):
            kept = pathlib.Path(folder) / "an-answer-kept"
            if kept.exists():
                raise RuntimeError(f"{kept} is still there")
            with suppress(OSError):
                kept.write_text("all that was found")

    def _plants(self, oracle: Oracle, run: Run) -> Any:
        for file in pathlib.Path(self.path).glob("store/*/*"):
            with suppress(OSError):
                file.write_text("mine")
                raise RuntimeError(f"{file} can be written to")

    def _others_claims(self, oracle: Oracle, run: Run) -> Any:
        import numpy as np

        for file in pathlib.Path(self.path).glob("store/claims/*.npz"):
            with np.load(file) as stored:
                kept = {name: torch.from_numpy(stored[name]) for name in stored.files}
            if "b1" in kept and kept["W0"].shape == (oracle.spec.inputs, oracle.spec.widths[0]):
                return Network.restore(kept, oracle.spec)
        return None

    def _calls_home(self, oracle: Oracle, run: Run) -> Any:
        with suppress(OSError), socket.create_connection(("127.0.0.1", int(self.path)), 2):
            raise RuntimeError("a helper on the network answered")

    def _siblings_socket(self, oracle: Oracle, run: Run) -> Any:
        """Cells that meet under an abstract name could share what they ask."""
        with socket.socket(socket.AF_UNIX) as meeting, suppress(OSError):
            meeting.connect(f"\0a-meeting-at-{self.path}")
            raise RuntimeError("another process answered")

    def _door(self, oracle: Oracle, run: Run) -> Any:
        """A program that answers at a socket in the file system."""
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            with suppress(OSError), socket.socket(socket.AF_UNIX, kind) as asking:
                asking.connect(self.path)
                raise RuntimeError("another program answered")
            with suppress(OSError):
                ours, _ = socket.socketpair(socket.AF_UNIX, kind)
                ours.connect(self.path)
                raise RuntimeError("another program answered")

    def _devices(self, oracle: Oracle, run: Run) -> Any:
        """The disk below the files."""
        for place in pathlib.Path("/dev").iterdir():
            with suppress(OSError):
                if place.is_block_device():
                    place.open("rb").close()
                    raise RuntimeError(f"{place} can be read")

    def _terminal(self, oracle: Oracle, run: Run) -> Any:
        """A terminal by which it could talk to another process."""
        with suppress(OSError):
            os.openpty()
            raise RuntimeError("there are terminals")

    def _locks(self, oracle: Oracle, run: Run) -> Any:
        """A lock that every other command would wait for."""
        with suppress(OSError):
            lock = pathlib.Path(self.path) / "store" / "lock"
            if lock.is_file():
                lock.open().close()
                raise RuntimeError("the store's lock can be opened")

    def _letters(self, oracle: Oracle, run: Run) -> Any:
        """A lock on a file that all cells see, by which one could tell another what it found."""
        with open(torch.__file__) as file:  # noqa: PTH123
            for lock in (fcntl.flock, fcntl.lockf):
                with suppress(OSError):
                    lock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    raise RuntimeError("files can be locked")

    def _pages(self, oracle: Oracle, run: Run) -> Any:
        """What the machine keeps in memory of a file that all cells see, dropped by one and looked at by another."""
        with open(torch.__file__, "rb") as file:  # noqa: PTH123
            for look in (
                lambda: os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED),
                lambda: os.preadv(file.fileno(), [bytearray(1)], 0, os.RWF_NOWAIT),
            ):
                with suppress(OSError):
                    look()
                    raise RuntimeError("pages of files can be dropped or looked for")

    def _escapes(self, oracle: Oracle, run: Run) -> Any:
        """Namespaces of its own, in which it may do anything, and mounts taken away."""
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(0x10000000 | 0x20000) == 0 and libc.umount2(b"/dev/shm", 2) == 0:
            raise RuntimeError("a mount of the jail can be taken away")


HOW = [name[1:] for name in vars(Cheat) if name.startswith("_") and not name.startswith("__")]
ASKED = {"light": 105, "uncount": 105, "in_copy": 5, "overwritten": 15, "says_declined": 105, "at-import": 0}  # or 5
LONG = {"clock": 1.0, "in_copy": 1.0, "works_in_function": 1.0, "lazy": 1.0}  # seconds that it works for
STOPPED_BY = {  # the wall without which a cheat works; all others are stopped by the two processes
    "secret": "mounts",
    "environ": "pids",
    "memory": "privileges",
    "traced": "privileges",
    "kills": "pids",
    "stops": "pids",
    "disk": "disk",
    "plants": "disk",
    "others_claims": "mounts",
    "calls_home": "network",
    "siblings_socket": "network",
    "escapes": "user",
    "door": "calls",
    "devices": "disk",
    "terminal": "disk",
    "locks": "mounts",
    "letters": "calls",
    "pages": "calls",
    "alarm_clock": "calls",
}
METHODS = {"cheat": Cheat}
