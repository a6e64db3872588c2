"""Times and memory of the hot kernels over sizes, so that growth is visible. Sizes are literal (see `cells`).

Every import of the project stands in `prepare`: a commit that lacks a kernel, or has it elsewhere, skips it.
`power` is what a kernel's time should grow with in its size, counted in products of numbers: see the module `growth`.
"""

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import torch

DEVICES = ("cpu", "cuda")
Call = Callable[[], object]


class Kernel(ABC):
    """One call of a kernel; the first of `params` are its sizes."""

    params: tuple[tuple[int, ...], tuple[str, ...]]
    param_names = ("size", "device")
    version = "2"
    timeout = 120
    rounds, repeat, warmup_time = 1, (1, 5, 1.0), 0.1
    power: float

    def setup(self, size: int, device: str) -> None:
        self.rest, self.device = ExitStack(), torch.device(device)  # torn down even where it is skipped
        if device == "cuda" and not torch.cuda.is_available():
            raise NotImplementedError("no such device here")
        torch.set_num_threads(1)
        try:
            from paramid import Run

            self.run = Run.seeded(0, device)
            self.kernel = self.prepare(size)
        except (ImportError, AttributeError) as error:
            raise NotImplementedError("this commit has no such kernel") from error

    def teardown(self, size: int, device: str) -> None:
        self.rest.close()

    @abstractmethod
    def prepare(self, size: int) -> Call:
        """The kernel with all that it needs; what has to be closed goes to `rest`."""

    def time_kernel(self, size: int, device: str) -> None:
        self.kernel()
        if device == "cuda":
            torch.cuda.synchronize()

    def peakmem_kernel(self, size: int, device: str) -> None:
        self.kernel()


class HessianStencil(Kernel):
    """Ten Hessians by differences, D inputs: 2D² points each, D products and a tanh for each of 50 neurons."""

    params, power = ((20, 40, 80), DEVICES), 2.5

    def prepare(self, size: int) -> Call:
        from paramid import task
        from paramid.methods.spans import hessians
        from paramid.oracle.counting import CountingOracle
        from paramid.words.spec import Access

        family, x = task(f"shallow:D={size},m=50"), self.run.normal(10, size)
        oracle = CountingOracle(family.draw(0), family.spec, access=frozenset(Access), seed=0, device=self.device)
        return lambda: hessians.sample_hessians(oracle, x, h=1e-2)


class Subspace(Kernel):
    """The span of 2D squares from 4D Hessians, and what is orthogonal to it.

    4D⁵ products for all D²/2 vectors, beside 16D⁴ and some 1300D³, slow ones, for the 4D singular vectors.
    """

    params, power = ((40, 60, 80), DEVICES), 4.5

    def prepare(self, size: int) -> Call:
        from paramid.methods.spans import subspace

        rows = self.run.normal(4 * size, size * (size + 1) // 2)
        return lambda: subspace.leading_span(rows, 2 * size, size)


class PowerStep(Kernel):
    """A step of the subspace power method from 200 starts: D² products for each of 2D matrices."""

    params, power = ((30, 60, 120), DEVICES), 3.0

    def prepare(self, size: int) -> Call:
        from paramid.methods.spans import power_ascent
        from paramid.methods.spans.subspace import Projector

        p, u = Projector(self.matrices(size), False), self.run.sphere(200, size)
        return lambda: power_ascent.ascend(p, u, step=2.0, steps=1, tol=0.0)

    def matrices(self, size: int) -> torch.Tensor:
        """2D orthonormal symmetric matrices."""
        from paramid.methods.spans import symmetric

        found = torch.linalg.qr(self.run.normal(size * (size + 1) // 2, 2 * size))[0]
        return symmetric.unpack(found.T, size)


class SphereStep(PowerStep):
    """A step of Levenberg-Marquardt on the sphere over the same: 2D² products for each matrix, and D³ for a step."""

    def prepare(self, size: int) -> Call:
        from paramid.methods.spans import sphere_descent
        from paramid.methods.spans.subspace import Projector

        p, u = Projector(self.matrices(size), False), self.run.sphere(200, size)
        return lambda: sphere_descent.descend(p, u, accept=0.0, hopeless=1.0, steps=1)


class HermiteMoments(Kernel):
    """Coefficients up to order 3 from 4000 samples, less a regression: products of D²/2 features with each other."""

    params, power = ((20, 30, 45), DEVICES), 4.0

    def prepare(self, size: int) -> Call:
        from paramid.methods.hermite import moment_estimates

        x = self.run.normal(4000, size)
        samples = [(x, torch.tanh(x.sum(1, keepdim=True)))]
        return lambda: moment_estimates.estimate(samples, (1, 2, 3), control=2)


class Jennrich(Kernel):
    """D terms of a tensor of order 3 in one try: least squares over its D³/6 entries, D² products each."""

    params, power = ((32, 48, 72), DEVICES), 5.0

    def prepare(self, size: int) -> Call:
        from paramid.methods.hermite import jennrich

        w = self.run.sphere(size, size)
        tensor = torch.einsum("ka,kb,kc->abc", w, w, w)
        return lambda: jennrich.jennrich(tensor, 1, size, self.run, tries=1)


class AssignmentJudge(Kernel):
    """Two unrelated networks of m neurons in 20 dimensions before the judge: m² distances, and who is whose."""

    params, power = ((200, 400, 800), DEVICES), 2.0

    def prepare(self, size: int) -> Call:
        from paramid import task
        from paramid.judging.aligned_networks import score_network

        family = task(f"shallow:D=20,m={size},known=false")
        one, other = family.draw(0).to(self.device, torch.float64), family.draw(1).to(self.device, torch.float64)
        return lambda: score_network(one, other)


class RefinementProduct(Kernel):
    """JᵀJ p of the joint refinement in 20 dimensions, as many points as neurons: m² pairs."""

    params, power = ((400, 800, 1600), DEVICES), 2.0

    def prepare(self, size: int) -> Call:
        from paramid import activation
        from paramid.methods.refinement.gradient_system import Pinned, System

        theta, p = self.run.normal(22, size), self.run.normal(22, size)
        system = System.at(self.run.normal(size, 20), theta, activation("tanh"), Pinned(False, False))
        return lambda: system.normal(p)


class CellOverhead(Kernel):
    """Cells of next to no work, one after the other, each in a process of its own."""

    params, power = ((4, 8, 16), ("cpu",)), 1.0

    def prepare(self, size: int) -> Call:
        from paramid.running.cell import plan_cell
        from paramid.running.supervisor import Supervisor

        supervisor = self.rest.enter_context(Supervisor(1))
        planned = plan_cell("truth", "shallow:D=2,m=1", seed=0, judge_inputs=1)
        supervisor.run(planned, "key", {})  # it has started
        return lambda: [supervisor.run(planned, "key", {}) for _ in range(size)]


class StoreRead(Kernel):
    """Every record of a store."""

    params, power = ((500, 1000, 2000), ("cpu",)), 1.0

    def prepare(self, size: int) -> Call:
        from paramid.records.record import Outcome, Record
        from paramid.records.store import Store
        from paramid.words.status import Status

        folder = self.rest.enter_context(tempfile.TemporaryDirectory())
        store = Store(Path(folder)).open()
        plain = {"method": "truth", "task": "shallow:D=2,m=1", "device": "cpu", "threads": 1, "budget": {}}
        for seed in range(size):
            store.add(Outcome(Record(key=f"{seed:06}", seed=seed, status=Status.DECLINED, **plain), b""))
        return store.records
