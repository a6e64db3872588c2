"""A method and a family of teachers from somebody else's package."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from paramid import Access, Claim, Network, Oracle, Run, Spec, Task


@dataclass(frozen=True)
class SampleGuess:
    """Guesses from the laws of the teacher."""

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.QUERIES})

    def declines(self, spec: Spec) -> str | None:
        return None if spec.shallow and spec.widths[0] else "needs one hidden layer of known width"

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        w = run.sphere(oracle.spec.widths[0], oracle.spec.inputs).T
        oracle.query(w.T)
        yield Network.shallow(w, 0 * w[0], oracle.spec.activation)


@dataclass(frozen=True)
class SampleFamily(Task):
    """One neuron without a shift."""

    D: int = 4
    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.QUERIES})

    @property
    def spec(self) -> Spec:
        return Spec(
            inputs=self.D, widths=(1,), activations=("tanh", "identity"), norms="unit", outer="ones", output_bias="zero"
        )

    @property
    def kinds(self) -> tuple[type[Claim], ...]:
        return (Network,)

    def draw(self, seed: int) -> Network:
        run = Run.teacher(seed)
        w = run.sphere(1, self.D).T
        return Network.shallow(w, 0 * w[0], "tanh")

    def truth(self, teacher: Network, kind: type[Claim]) -> Claim:
        return teacher
