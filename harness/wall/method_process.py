"""What runs in a method's process: it is told what it may know, works, and sends what it claims.

Nothing of the teacher, its seed, a secret, the books or the judge has ever been in this process. What it sends is
looked at by the warden again: nobody trusts this side.
"""

from __future__ import annotations

import inspect
import json
import os
import socket
import sys
import traceback
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any, cast

import torch
from torch import Tensor

from paramid.contracts import plugins, registry
from paramid.contracts.error_statuses import ending, one_line, trace_of
from paramid.contracts.method import GiveUp, Method, Run, declined
from paramid.oracle.protocol import BudgetSpent
from paramid.wall.frames import Frame, Kind, Link
from paramid.wall.proxy import ProxyOracle
from paramid.words.claims import Claim, Function, presented
from paramid.words.spec import Access, Spec
from paramid.words.status import Status

SEPARATOR = "\n"  # between the kind of a claim and the names of its words
LONGEST_NAME, MOST_WORDS = 80, 200


@dataclass(frozen=True)
class Job:
    """All that a method's process is told."""

    method: str
    plugins: tuple[plugins.Joined, ...]
    spec: Spec
    granted: tuple[str, ...]  # kinds of access
    stream: int  # the number of the method's random stream
    device: str

    @property
    def access(self) -> frozenset[Access]:
        """What the task grants."""
        return frozenset(map(Access, self.granted))

    def to_json(self) -> str:
        """Plain text: no code crosses, in either direction."""
        cls = type(self.spec)
        return json.dumps({**asdict(self), "spec": asdict(self.spec), "class": f"{cls.__module__}:{cls.__qualname__}"})

    @classmethod
    def from_json(cls, text: str) -> Job:
        """The job that `to_json` wrote."""
        plain = json.loads(text)
        joined = tuple(p if isinstance(p, str) else tuple(p) for p in plain["plugins"])
        plugins.join(joined)
        module, _, name = plain.pop("class").partition(":")
        spec = getattr(import_module(module), name)(**tupled(plain.pop("spec")))
        return cls(**{**plain, "plugins": joined, "granted": tuple(plain["granted"]), "spec": spec})


def tupled(value: Any) -> Any:
    """Lists as the tuples that they were before they were written."""
    if isinstance(value, dict):
        return {name: tupled(v) for name, v in value.items()}
    return tuple(map(tupled, value)) if isinstance(value, list) else value


def work(channel: socket.socket, threads: int) -> int:
    """The whole life of a method's process; its exit code."""
    link = Link(channel)
    try:
        torch.set_num_threads(threads)
        link.send(Kind.READY)
        link.shared()
        job = link.receive(frozenset({Kind.JOB}))
        MethodProcess(link).run(job.text)
        code = 0
    except BaseException:  # what a method leaves with, such as SystemExit, is among the last lines it printed
        code = 1
        with suppress(BaseException):
            traceback.print_exc()
    with suppress(BaseException):  # the method may have closed or replaced them
        sys.stdout.flush()
        sys.stderr.flush()
    return code


class MethodProcess:
    """A method and its end of the link."""

    def __init__(self, link: Link) -> None:
        self.link, self.process = link, os.getpid()

    def run(self, text: str) -> None:
        """Import and configure the method, ask whether it will, and let it."""
        try:
            job = Job.from_json(text)
            method = cast("Method", registry.method(job.method))
            reason = declined(method, job)
            if reason is not None:
                return self.link.send(Kind.DECLINED, text=one_line(reason))
            self.link.send(Kind.STARTED, text=SEPARATOR.join(sorted(kind.value for kind in method.access)))
            device = torch.device(job.device)
            run = Run.streamed(job.stream, device)
            claims = method.identify(ProxyOracle(self.link, job.spec, device, run.dtype), run)
            if not inspect.isgenerator(claims):
                told = f"identify gave a {type(claims).__name__}; a generator of claims was wanted"
                return self.end(Status.MALFORMED_CLAIM, told)
            return self.end(*self.claims(claims, job.spec, device))
        except Exception as error:
            self.alone()
            trace = "" if isinstance(error, GiveUp | BudgetSpent) else trace_of(error)
            return self.end(*ending(error), trace)

    def alone(self) -> None:
        """A fork of the method's making that came back from it goes no further."""
        if os.getpid() != self.process:
            os._exit(1)

    def end(self, status: Status, reason: str = "", trace: str = "") -> None:
        """The last words."""
        self.link.send(Kind.ENDED, text=SEPARATOR.join((status.key, reason, trace)))

    def claims(self, claims: Iterator[object], spec: Spec, device: torch.device) -> tuple[Status, str]:
        """Send every claim; of a function, the values that are asked for."""
        for claim in claims:
            self.alone()
            try:
                mine, stats = presented(claim, spec)
            except ValueError as error:
                return Status.MALFORMED_CLAIM, one_line(str(error))
            self.send_claim(mine, stats, spec)
            while (order := self.link.receive(ORDERS)).kind is Kind.EVALUATE:
                self.evaluate(mine, order, device)
        self.alone()
        return Status.FINISHED, ""

    def send_claim(self, claim: Claim, stats: dict[str, float], spec: Spec) -> None:
        """The kind, the method's own words, and the tensors one by one."""
        arrays = claim.stored(spec)
        name = type(claim).__name__ if arrays else Function.__name__
        stats = dict(list(stats.items())[:MOST_WORDS])
        names = [" ".join(word.split())[:LONGEST_NAME] for word in stats]
        self.link.send(
            Kind.CLAIM,
            len(arrays),
            text=SEPARATOR.join([name, *names]),
            array=torch.tensor(list(stats.values()), dtype=torch.float64, device="cpu"),
        )
        for part, value in arrays.items():
            turned = value.ndim == 2 and not value.is_contiguous() and value.T.is_contiguous()
            self.link.send(Kind.PART, int(turned), text=part, array=value.T if turned else value)

    def evaluate(self, claim: Claim, order: Frame, device: torch.device) -> None:
        """The values of a claimed function."""
        assert isinstance(claim, Function)
        try:
            with torch.no_grad():
                y: object = claim(order.content.to(device))
            if not isinstance(y, Tensor):  # whatever its annotation says
                raise Unfit(f"gave a {type(y).__name__} for {len(order.content)} rows")
            if not y.is_floating_point() or y.layout is not torch.strided or y.is_meta:
                raise Unfit(f"gave {y.dtype} values, {y.layout}; real numbers were wanted")
            y = y.detach().to(device="cpu", dtype=torch.float64)
        except Unfit as error:
            return self.link.send(Kind.FAILED, text=str(error))
        except Exception as error:
            return self.link.send(Kind.FAILED, text=f"raised {'; '.join(ending(error)[1:])}")
        return self.link.send(Kind.OUTPUT, array=y)


class Unfit(Exception):
    """What a claimed function gave that are no values."""


ORDERS = frozenset({Kind.EVALUATE, Kind.GO_ON})
