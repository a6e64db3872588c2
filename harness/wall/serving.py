"""The warden's end: a method behind the wall as an iterator of claims, whose questions are answered on the way."""

from __future__ import annotations

import math
import select
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from torch import Tensor

from paramid.contracts.error_statuses import killed_by, one_line
from paramid.oracle import points
from paramid.oracle.counting import CountingOracle
from paramid.oracle.counting import Kind as Asked
from paramid.wall import frames
from paramid.wall.custody import Custody, Left
from paramid.wall.frames import Frame, Kind, Link, Stalled, Violation
from paramid.wall.method_process import LONGEST_NAME, MOST_WORDS, SEPARATOR, Job
from paramid.wall.proxy import REFUSALS
from paramid.words import memory_limits
from paramid.words.claims import Claim, Function
from paramid.words.spec import Access, Spec
from paramid.words.status import Status

ROWS: Mapping[Kind, Asked] = {
    **{Kind.QUERY: "query", Kind.DECISION: "decision"},
    **{Kind.GRADIENT: "gradient", Kind.HESSIAN: "hessian"},
}
QUESTIONS = frozenset({*ROWS, Kind.SAMPLE, Kind.CHUNK, Kind.MOMENTS, Kind.LABEL, Kind.CLAIM, Kind.ENDED})
OUTPUTS = frozenset({Kind.OUTPUT, Kind.FAILED})
MOST_PARTS, MOST_ROWS = 1000, 2**53
LOOK = 0.2  # seconds after which what was spent is told, and orders are looked for, while frames keep coming
STARTING, LEAVING = 60.0, 2.0  # seconds for a process to come up, and to be reported as gone
ITS_OWN = frozenset(  # the endings that a method may say of itself
    {Status.FINISHED, Status.GAVE_UP, Status.BUDGET_SPENT, Status.RAISED, Status.MALFORMED_CLAIM, Status.OUT_OF_MEMORY}
)


class Ended(BaseException):
    """How a method ended: a status, a reason, a traceback. No `except Exception` of a judge's may swallow it."""

    def __init__(self, status: Status, reason: str = "", trace: str = "") -> None:
        super().__init__(reason)
        self.status, self.reason, self.trace = status, reason, trace


class Orders(Protocol):
    """What the supervisor may say in between."""

    def fileno(self) -> int:
        """For `poll`."""
        ...

    def read(self) -> None:
        """Raise `Ended` where the cell is to end."""
        ...


class BehindTheWall:
    """One method in a process of its own. `until`, a moment of `time.monotonic`, is when its time is up."""

    def __init__(self, link: socket.socket, keeper: socket.socket, orders: Orders) -> None:
        self.custody, self.orders, self.until = Custody(keeper), orders, math.inf
        self._kinds: dict[str, type[Claim]] = {}
        self._channel, self._link = link, Link(link, 0, self._wait)  # no array is expected before the oracle is there
        self._poll = select.poll()
        for source in (link, self.custody, orders):
            self._poll.register(source, select.POLLIN)
        self._writing, self._looked = False, 0.0
        self.tell: Callable[[], object] = lambda: None
        self._owed = dict.fromkeys(ROWS, 0)  # rows that are counted and not yet shown

    # Waiting

    def _wait(self, until: float | None, writing: bool) -> None:
        """Wait for the link; raise what ends the waiting."""
        if writing is not self._writing:
            self._poll.modify(self._channel, select.POLLOUT if writing else select.POLLIN)
            self._writing = writing
        while True:
            now, end = time.monotonic(), self.until if until is None else min(self.until, until)
            if now >= end:
                if end == self.until:
                    raise Ended(Status.TIMED_OUT)
                raise Stalled("stopped in the middle of a message")
            ready = dict(self._poll.poll(None if end == math.inf else 1000 * (end - now)))
            if self.orders.fileno() in ready:
                self.orders.read()
            if self._channel.fileno() in ready:
                return
            if self.custody.fileno() in ready:
                self.custody.news()
                if self.custody.ended:
                    self._poll.unregister(self.custody)
                    self._drained()

    def _drained(self) -> None:
        """The process has ended: what it had sent before is still to be read, and after it there is nothing."""
        if not select.select([self._channel], [], [], 0)[0]:
            raise EOFError

    # The walk of a method

    def ready(self) -> None:
        """Wait for the process to come up; its time begins when this returns."""
        self.until = time.monotonic() + STARTING
        try:
            self._receive(frozenset({Kind.READY}))
        except (Violation, Stalled, EOFError, OSError) as error:
            raise Ended(Status.CRASHED, f"its process could not be started: {error}") from None
        self.until = math.inf

    def start(self, job: Job) -> frozenset[Access]:
        """Tell the method what it may know; the access that it declares."""
        with self._honest():
            self._link.share(frames.room(_largest_row(job)))
            self._link.send(Kind.JOB, text=job.to_json())
            answer = self._receive(frozenset({Kind.STARTED, Kind.DECLINED, Kind.ENDED}))
            if answer.kind is Kind.ENDED:
                raise _said(answer)
            if answer.kind is Kind.DECLINED:
                raise Ended(Status.DECLINED, one_line(answer.text))
            try:
                access = frozenset(map(Access, filter(None, answer.text.split(SEPARATOR))))
            except ValueError as error:
                raise Violation(str(error)) from None
            if access - job.access:
                raise Violation("it started with an access that was not granted")
            return access

    def claims(self, oracle: CountingOracle, spec: Spec, kinds: tuple[type[Claim], ...]) -> Iterator[Claim]:
        """Answer questions until there is a claim of these kinds, or a function; it is judged while the process stands.

        A function works in the process itself, which goes on while it is asked for values, and then alone.
        """
        self._kinds, self._link.most = {kind.__name__: kind for kind in kinds}, _most(spec)
        while True:
            with self._honest():
                frame = self._receive(QUESTIONS)
                if frame.kind is Kind.ENDED:
                    said = _said(frame)
                    if said.status is Status.FINISHED:
                        return
                    raise said
                if frame.kind is not Kind.CLAIM:
                    self._answer(frame, oracle)
                    continue
                claim = self._claimed(frame, spec)
                self._stand()
            yield claim
            with self._honest():
                self._go_on()
                self._link.send(Kind.GO_ON)

    def close(self) -> Left:
        """End the method's process, whatever it does."""
        left = self.custody.end()
        self._channel.close()
        return left

    # Questions

    def _receive(self, allowed: frozenset[Kind]) -> Frame:
        frame = self._link.receive(allowed)
        if (now := time.monotonic()) >= self.until:  # frames that keep coming never wait
            raise Ended(Status.TIMED_OUT)
        if now - self._looked > LOOK or frame.kind is Kind.MOMENTS:
            self._looked = now
            self.tell()
            if self.orders.fileno() in dict(self._poll.poll(0)):
                self.orders.read()
        return frame

    def _answer(self, frame: Frame, oracle: CountingOracle) -> None:
        try:
            self._ask(frame, oracle)
        except (Violation, Stalled, Ended, EOFError, ConnectionError):
            raise
        except Exception as error:  # a refusal, or an error of the teacher's own
            code = next((c for c, kind in enumerate(REFUSALS) if c and isinstance(error, kind)), 0)
            self._link.send(Kind.REFUSED, code, text=str(error))

    def _ask(self, frame: Frame, oracle: CountingOracle) -> None:
        if frame.kind in ROWS:
            return self._link.send(Kind.VALUES, array=self._rows(frame, oracle))
        if frame.kind is Kind.SAMPLE:
            return self._link.send(Kind.VALUES, oracle.grant(frame.number))
        if frame.kind is Kind.CHUNK:
            return self._chunk(frame, oracle)
        if frame.kind is Kind.MOMENTS:
            return self._link.send(Kind.VALUES, array=oracle.moments(frame.number))
        return self._link.send(Kind.VALUES, array=oracle.label(frame.content))

    def _rows(self, frame: Frame, oracle: CountingOracle) -> Tensor:
        """The first frame of many says how many rows they are: all are counted before one is shown."""
        kind = ROWS[frame.kind]
        if not 0 <= frame.number <= MOST_ROWS:
            raise Violation(f"{frame.number} rows")
        oracle.admit(kind)
        x = oracle.checked(frame.content)
        oracle.book(kind, frame.number)
        self._owed[frame.kind] += frame.number - len(x)
        if self._owed[frame.kind] < 0:
            raise Violation("rows that were not counted")
        if len(x) > points.at_once(oracle.spec, kind):
            raise Violation(f"a chunk of {len(x)} rows")
        return oracle.answer(kind, x)

    def _chunk(self, frame: Frame, oracle: CountingOracle) -> None:
        """The inputs of a chunk of samples and, where they are asked for, its values, counted once."""
        index, labelled = frame.sizes if len(frame.sizes) == 2 else (-1, 0)
        if not oracle.has_chunk(frame.number, index):
            raise Violation("a chunk of samples that were not granted")
        x = oracle.inputs(frame.number, index)
        self._link.send(Kind.VALUES, int(bool(labelled)), array=x)
        if labelled:
            self._link.send(Kind.VALUES, array=oracle.label_chunk(frame.number, index, x))

    # Claims

    def _claimed(self, frame: Frame, spec: Spec) -> Claim:
        """The claim that a frame announces, made anew from its tensors."""
        name, *names = frame.text.split(SEPARATOR)
        if not 0 <= frame.number <= MOST_PARTS or frame.content.shape != (len(names),):
            raise Violation(f"a claim of {frame.number} parts and {len(names)} words")
        if len(names) > MOST_WORDS:
            raise Violation(f"a claim of {len(names)} words")
        stats = dict(zip((one_line(n)[:LONGEST_NAME] for n in names), frame.content.tolist(), strict=True))
        arrays, left = {}, self._link.most or 0
        for _ in range(frame.number):
            part = self._receive(frozenset({Kind.PART}))
            if (left := left - part.content.numel()) < 0:
                raise Violation(f"a claim of more than {self._link.most:,} numbers")
            arrays[part.text] = part.content.T if part.number else part.content  # as it lay in memory
        if name == Function.__name__ and not arrays:
            return Function(self._evaluated, stats=stats)
        if name not in self._kinds:
            wanted = ", ".join([*self._kinds, Function.__name__])
            raise Ended(Status.MALFORMED_CLAIM, f"claimed a {name[:LONGEST_NAME]}; this task can judge {wanted}")
        try:
            claim = self._kinds[name].restore(arrays, spec)
        except Exception as error:
            raise Ended(Status.MALFORMED_CLAIM, f"{name}: {type(error).__name__}: {error}") from error
        object.__setattr__(claim, "stats", stats)
        return claim

    def _evaluated(self, x: Tensor) -> Tensor:
        """The values of a claimed function, where it lives; questions are not answered meanwhile."""
        with self._honest():
            self._go_on()
            self._link.send(Kind.EVALUATE, array=x)
            answer = self._receive(OUTPUTS)
            self._stand()
        if answer.kind is Kind.FAILED:
            raise Ended(Status.MALFORMED_CLAIM, one_line(f"the claimed function {answer.text}"))
        return answer.content

    def _stand(self) -> None:
        """Have the process stand still."""
        if not self.custody.stop():
            raise Ended(Status.EXITED, "would not stand still while it was judged")

    def _go_on(self) -> None:
        """Have it go on."""
        if not self.custody.go_on():
            raise EOFError

    # What is no frame

    @contextmanager
    def _honest(self) -> Iterator[None]:
        """Whatever the other side does instead of answering is an ending."""
        try:
            yield
        except Violation as error:
            raise Ended(Status.EXITED, f"wrote into the harness' channel: {error}") from None
        except Stalled as error:
            raise Ended(Status.EXITED, str(error)) from None
        except (EOFError, ConnectionError):
            raise self._left() from None

    def _left(self) -> Ended:
        """How a process ended that says nothing more."""
        patience = time.monotonic() + LEAVING
        while not self.custody.ended and (left := patience - time.monotonic()) > 0:
            if select.select([self.custody], [], [], left)[0]:
                self.custody.news()
        left_with = self.custody.left
        if left_with.lost and self.custody.ended:
            return Ended(Status.CRASHED, "its keeper was killed while it ran")
        if left_with.awoke:
            return Ended(Status.EXITED, "worked while it was to stand still")
        if left_with.out_of_memory:
            return Ended(Status.OUT_OF_MEMORY, "the kernel ended it at its memory limit")
        if left_with.code is None:
            return Ended(Status.EXITED, "closed the harness' channel")
        if left_with.code < 0:
            return Ended(Status.CRASHED, killed_by(-left_with.code))
        return Ended(Status.EXITED, f"the process left with code {left_with.code}")


def _said(frame: Frame) -> Ended:
    """What a method says of its own end."""
    status, _, rest = frame.text.partition(SEPARATOR)
    reason, _, trace = rest.partition(SEPARATOR)
    try:
        named = Status.named(status)
    except ValueError as error:
        raise Violation(str(error)) from None
    if named not in ITS_OWN:
        raise Violation(f"it said of itself that it {named.key}")
    return Ended(named, one_line(reason), trace)


def _largest_row(job: Job) -> int:
    """The doubles of one row of the largest kind that is granted."""
    spec = job.spec
    derivatives = spec.outputs * spec.inputs**2 if Access.DERIVATIVES in job.access else 0
    return max(spec.inputs, spec.outputs, derivatives)


def _most(spec: Spec) -> int:
    """The doubles of the largest array that a method may send: a span of matrices, or points, or a wide layer."""
    widest = max(spec.inputs * (spec.inputs + 1) // 2, spec.outputs, *(w or 1 for w in spec.widths), 1)
    room = memory_limits.room() // (memory_limits.DOUBLE * 32)
    return max(memory_limits.CHUNK, min(max(2**24, 4 * widest**2), room))
