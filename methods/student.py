"""`student`: teacher and student trained to machine precision by second-order steps, from many random starts.

    1. random starts, side by side                                               (starts)
    2. all samples at once: a first descent into a basin                         (first_descent)
    3. from there second-order steps to the rounding of the values               (marquardt, quasi_newton)
    4. of wider students, whatever occurs twice or sends nothing on is merged    (copies)
    5. what is told is pinned, all samples are fitted, those held back explained (acceptance)

    (1)  J = 1/N Σ_i ‖f̂(x_i) - f(x_i)‖² over θ,   ended at J ≤ 2e-32 of the mean square of the values,

or where nothing is gained any more. Starts go on until one is believed or all are spent; ends that are none are local
minima, and most starts of the teacher's own width lead there. Where samples are fewer than parameters every start fits
them and none is believed.

As published: full batch in float64, Glorot starts with shifts 0, two phases, the second from the best point of the
first, (1), the limit 1000 for |θ|²/2P, independent restarts of which the least loss wins. `descent=flow` is their first
phase: the gradient flow by an implicit Runge-Kutta rule of order 5.

Changes: Levenberg-Marquardt takes the place of Newton and BFGS (`optimizer=bfgs` and `lbfgs` are theirs) and some steps
of Adam that of the flow, some twenty times quicker; a student beyond the limit ends instead of being pushed back; outer
weights and output biases that are told are not trained (`told=false` trains them); 10 samples a parameter at most in 2
and 3; 4 and 5.

References: Brea, Martinelli, Şimşek & Gerstner, MLPGradientFlow: going with the flow of multilayer perceptrons (and
finding minima fast and accurately), arXiv:2301.10638.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import torch

from paramid import Access, GiveUp, Network, Oracle, Run, Spec
from paramid.limits.information import ALL, free_of
from paramid.methods.students import acceptance, buildable, copies, first_descent, marquardt, quasi_newton, starts
from paramid.methods.students.acceptance import Pairs
from paramid.methods.students.marquardt import Ended
from paramid.methods.students.stacked import Shape
from paramid.words.options import among, at_least, positive

CHOICES = {"descent": ("adam", "flow", "none"), "optimizer": ("lm", "lbfgs", "bfgs")}
ROWS, NOISY_ROWS = 10, 1000  # samples a parameter, where any number is granted
SEARCHED = 10  # samples a parameter that starts are trained on: the best is fitted to all
TOGETHER, WORK = 20, 2**32  # students side by side, and products of a step of all of them


@dataclass(frozen=True)
class Student:
    """Second-order training to machine precision from many starts (Brea et al. 2023), fitted where they fit."""

    starts: int = 100  # random starts, at most
    rho: float = 1.0  # width of students over the teacher's; what is too much is merged in the end
    descent: str = "adam"  # first phase; adam: full steps of it; flow: the gradient flow; none
    descent_steps: int = 300  # of the first phase
    optimizer: str = "lm"  # second phase; lm: Levenberg-Marquardt; lbfgs, bfgs: one student after the other
    steps: int = 300  # of the second phase, a student
    told: bool = True  # whether outer weights and output biases that are told stay as they are told, with rho=1
    N: int | None = None  # samples, a tenth held back; default: 10 a parameter, under noise what is granted, or 1000

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.SAMPLES})

    def __post_init__(self) -> None:
        among(self, **CHOICES)
        positive(self, "starts", "descent_steps", "steps", "N")
        at_least(self, rho=1)

    def declines(self, spec: Spec) -> str | None:
        """Whatever it can build, where weights show."""
        if None in spec.widths:
            return "needs to know the number of neurons"
        return buildable.refusal(spec) or buildable.too_large(self.shape(spec))

    def shape(self, spec: Spec) -> Shape:
        """That of the students."""
        return buildable.shape(spec, self.rho)

    def wanted(self, spec: Spec) -> int:
        """How many samples are asked for."""
        each = -(-self.shape(spec).parameters // spec.outputs)
        return self.N or (spec.samples or NOISY_ROWS * each if spec.resolution else ROWS * each)

    def trains(self, spec: Spec) -> tuple[str, ...]:
        """What is trained besides weights and shifts."""
        return free_of(spec) if self.told and self.rho == 1 else ALL

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Network]:
        """Stages 1 to 5, for so many students at a time."""
        spec, shape = oracle.spec, self.shape(oracle.spec)
        pairs = acceptance.drawn(oracle, self.wanted(spec))
        together = max(1, min(TOGETHER, WORK // (SEARCHED * shape.parameters**3)))
        least, why = torch.inf, ""
        for done in range(0, self.starts, together):
            ended = self.trained(shape, min(together, self.starts - done), pairs, spec, run)
            if not float(ended.loss.min()) < least:
                continue
            least, best = float(ended.loss.min()), shape.network(ended.theta[ended.loss.argmin()])
            narrow = copies.merged(best) if self.rho > 1 else best
            yield replace(copies.cut(narrow, spec), stats={"loss": least, "starts": done + together})
            try:
                copies.require(narrow, spec)
                yield acceptance.finished(narrow, pairs, spec)
                return
            except GiveUp as error:
                why = str(error)
            if pairs.y.numel() <= (count := len(shape.free(self.trains(spec), pairs.y))):
                raise GiveUp(f"{pairs.y.numel()} values do not tell {count} parameters: {why}")
        raise GiveUp(f"the best of {self.starts} starts: {why}")

    def trained(self, shape: Shape, students: int, pairs: Pairs, spec: Spec, run: Run) -> Ended:
        """Stages 1 to 3."""
        kinds = self.trains(spec)
        theta = starts.drawn(shape, students, "glorot", run)
        if "outer" not in kinds:
            shape.layers(theta)[-1][:, :-1] = 1
        rows = SEARCHED * -(-shape.parameters // spec.outputs)
        x, y, free = pairs.x[:rows], pairs.y[:rows], shape.free(kinds, theta)
        if self.descent != "none":
            first = first_descent.adam if self.descent == "adam" else first_descent.flow
            theta = first(shape, theta, x, y, free=free, steps=self.descent_steps)
        second = marquardt.descend if self.optimizer == "lm" else partial(quasi_newton.descend, name=self.optimizer)
        return second(shape, theta, x, y, free=free, steps=self.steps)
