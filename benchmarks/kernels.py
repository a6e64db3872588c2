"""Times of the hot kernels over two sizes each, so that growth is visible. Sizes are literal (see `cells`)."""

import torch

from paramid import Network, Run, judging, task
from paramid.methods.refinement.backprop import loss_gradient
from paramid.methods.spans import hessians, power_ascent, spectral_ascent, subspace
from paramid.oracle import CountingOracle
from paramid.spec import Access

CPU = torch.device("cpu")


class Kernel:
    """A teacher, its oracle and a stream; `shape` holds its sizes."""

    params = ("D=10,m=20", "D=20,m=160")
    param_names = ("shape",)
    version = "1"
    timeout = 120

    def setup(self, shape: str) -> None:
        torch.set_num_threads(1)
        self.family = task(f"shallow:{shape}")
        self.d, self.m = self.family.spec.inputs, self.family.spec.widths[0]
        self.teacher: Network = self.family.draw(0)
        self.run = Run.seeded(0)
        self.oracle = CountingOracle(self.teacher, self.family.spec, access=frozenset(Access), seed=0, device=CPU)
        self.prepare()

    def prepare(self) -> None:
        """What the kernel needs besides."""


class HessianStencil(Kernel):
    """Ten Hessians by finite differences."""

    def prepare(self) -> None:
        self.x = self.run.normal(10, self.d)

    def time_thesis(self, shape: str) -> None:
        hessians.sample_hessians(self.oracle, self.x, h=1e-2)

    def time_symmetric(self, shape: str) -> None:
        hessians.sample_hessians(self.oracle, self.x, h=1e-2, stencil="symmetric")


class Directions(Kernel):
    """The span of exact Hessians, and one step of either ascent from 100 starts."""

    def prepare(self) -> None:
        self.rows = hessians.exact_hessians(self.oracle, self.run.normal(2 * self.m, self.d))
        self.span = subspace.leading_span(self.rows, self.m, self.d)
        self.u, self.c = self.run.sphere(100, self.d), self.run.normal(100, self.m)

    def time_subspace(self, shape: str) -> None:
        subspace.leading_span(self.rows, self.m, self.d)

    def time_power_step(self, shape: str) -> None:
        power_ascent.ascend(self.span.projector(), self.u, step=2.0, steps=1, tol=0.0)

    def time_spectral_step(self, shape: str) -> None:
        spectral_ascent.ascend(self.span.basis, self.d, self.c, step=10.0, steps=1, tol=0.0)


class Training(Kernel):
    """One gradient over a batch of 64."""

    def prepare(self) -> None:
        self.x = self.run.normal(64, self.d)
        self.y = self.teacher(self.x)

    def time_loss_gradient(self, shape: str) -> None:
        loss_gradient(self.teacher, self.x, self.y)


class Judge(Kernel):
    """Two unrelated networks before the judge."""

    def prepare(self) -> None:
        self.other = self.family.draw(1)

    def time_score_network(self, shape: str) -> None:
        judging.score_network(self.teacher, self.other)
