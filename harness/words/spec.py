"""What a method is told in public about the teacher before it."""

from dataclasses import dataclass
from enum import Enum
from numbers import Real
from typing import ClassVar

SINGLE = 2e-7  # of values rounded to float32
UNKNOWN = "unknown"  # an activation of hidden layers that is to be found out


class Access(Enum):
    """The kinds of access to a teacher; each is granted by the task, declared by the method and counted apart."""

    QUERIES = "queries"
    DECISIONS = "decisions"  # which output is largest, or whether the only one is positive; counted with the queries
    SAMPLES = "samples"
    DERIVATIVES = "derivatives"
    MOMENTS = "moments"
    LABELS = "labels"  # an assistance and no observation: methods that use it are no rivals of those that do not


@dataclass(frozen=True, kw_only=True)
class Spec:
    """All that a method is told about a teacher; a family may extend it with what its methods need.

    `widths` are the hidden layers only, None where the width is to be found out. `activations` name every layer,
    the output layer included; those of hidden layers may be `UNKNOWN`. `outer`, `norms` and `output_bias` say which
    parameters are pinned and which are free.
    """

    inputs: int
    widths: tuple[int | None, ...]
    outputs: int = 1
    activations: tuple[str, ...]
    input_law: str = "normal"
    outer: str = "free"  # "ones": every outer weight is 1; "unit": their squares sum to 1 where norms are 1
    norms: str = "free"  # "unit": every incoming weight vector has length 1
    output_bias: str = "free"  # "zero"
    shift_law: str = "uniform"  # or "normal"
    shift: float = 0.5  # half-width of the uniform, standard deviation of the normal law
    highest_shift: float | None = None  # where given, no shift is above it
    samples: int | None = None  # rows granted; None: as many as asked
    noise: float = 0.0  # standard deviation added to every value
    precision: str = "float64"  # "float32": every value is rounded to it
    precision_wanted: float | None = None  # under noise: the error of a parameter that rows are to be spent for
    within: float | None = None  # where given, every coordinate of a sample is conditioned on ±within
    link: str = "identity"  # "log-odds": values are logarithms of ratios of probabilities, with the rounding of these

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "outer": ("ones", "unit", "free"),
        "norms": ("unit", "free"),
        "output_bias": ("zero", "free"),
        "precision": ("float64", "float32"),
        "link": ("identity", "log-odds"),
    }

    def __post_init__(self) -> None:
        for name, choices in self.CHOICES.items():
            if (value := getattr(self, name)) not in choices:
                raise ValueError(f"{name} is {value!r}; {' or '.join(choices)} was wanted")
        for name in ("inputs", "outputs"):
            if not getattr(self, name) >= 1:
                raise ValueError(f"{name} is {getattr(self, name)}; at least 1 was wanted")
        if any(width is not None and width < 1 for width in self.widths):
            raise ValueError(f"widths are {self.widths}; at least 1 neuron each, or None, was wanted")
        for name in ("shift", "noise"):
            value = getattr(self, name)
            if not (isinstance(value, Real) and 0 <= float(value) < float("inf")):
                raise ValueError(f"{name} is {value!r}; a finite number from 0 was wanted")

    @property
    def activation(self) -> str:
        """The activation of the first layer."""
        return self.activations[0]

    @property
    def resolution(self) -> float:
        """σ of a value as far as this tells: noise, or what float32 leaves of numbers from 1 to 10."""
        return max(self.noise, SINGLE if self.precision == "float32" else 0.0)

    @property
    def shallow(self) -> bool:
        """One hidden layer below a linear output."""
        return len(self.widths) == 1 and self.activations[1:] == ("identity",)


@dataclass(frozen=True, kw_only=True)
class ThresholdSpec(Spec):
    """Units u(⟨w_i, x⟩ - t) under a polynomial of as many variables: u, t and its rate are told, the polynomial is not.

    Where the polynomial is linear and the units are activations, `activations` say so and the teacher is a network.
    """

    unit: str  # "step", "relu", "sigmoid", "exponential", "abs" or "cosh"
    threshold: float
    rate: float = 1.0  # of "exponential" and "cosh"
    weights: str = "unit"  # "orthonormal"; "blocks", "uneven": indicators of disjoint blocks of inputs


@dataclass(frozen=True, kw_only=True)
class LearnerSpec(Spec):
    """What a learner is told whose width is its own: the teacher may have fewer neurons, or more.

    There are `instances` teachers over the same inputs, an output each; `widths` are the learners' neurons together, in
    equal blocks. `sharpness` b means φ(z) = g(b z) / b for softplus.
    """

    instances: int = 1
    sharpness: float = 1.0


@dataclass(frozen=True, kw_only=True)
class HierarchySpec(Spec):
    """A quadratic DenseNet (`words.densenet`) whose `widths` are those of its features S_2, …, S_L.

    Layer l sees the layers `links[l - 2]`, of which 0 is x and 1 is x² - 1, and adds `alphas[l - 2]` ‖S_l‖².
    """

    links: tuple[tuple[int, ...], ...]
    alphas: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class ImageSpec(Spec):
    """Images of side × side grey pixels, row by row, and their classes: output c is 1 for an image of class c, else 0.

    Samples are the images that are shown, each once; what is claimed is judged on others.
    """

    side: int
