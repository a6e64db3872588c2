"""The numbers that Soltanolkotabi, Javanmard & Lee print (arXiv:1707.04926, §3), and what their figures are over."""

from collections.abc import Mapping
from dataclasses import dataclass

SAMPLES = 100  # n of every figure
STARTS = 10  # "For each value of W* we carry out 10 trials"
EXPERIMENTS = 10  # "For each value of (n, k, d) we carry out 10 experiments"
ENOUGH = 1.5  # "even for randomly labeled data when kd > 1.5 n": Figure 4


@dataclass(frozen=True)
class Panel:
    """A panel of Figures 2 and 3: its axis, what else the task's name says, and what the paper reads off."""

    title: str
    axis: str
    others: Mapping[str, str]
    crossing: float  # of 1/2, by a logistic fit
    always: float | None = None  # from where on every start finds a global minimum

    @property
    def name(self) -> str:
        """Figure and letter."""
        return self.title.partition(":")[0]

    def weights(self, x: float) -> float:
        """The weights kD at a place of the axis."""
        return x * float(self.others["k" if self.axis == "D" else "D"])


PANELS = (
    Panel("Figure 2a: softplus, D = 10", "k", {"D": "10", "activation": "softplus"}, 11.40, 13),
    Panel("Figure 2b: softplus, k = 10", "D", {"k": "10", "activation": "softplus"}, 10.70, 12),
    Panel("Figure 3a: squares, D = 20 as in its text", "k", {"D": "20"}, 5.5),
    Panel("Figure 3b: squares, k = 5 as in its text", "D", {"k": "5"}, 25.40),
)
CAPTIONED = (  # the caption of Figure 3 says D = 10 and k = 10
    Panel("Figure 3a: squares, D = 10 as captioned", "k", {"D": "10"}, 5.5),
    Panel("Figure 3b: squares, k = 10 as captioned", "D", {"k": "10"}, 25.40),
)
RANDOM: Mapping[str, Mapping[str, str]] = {
    "Figure 4a: softplus, D = 10": {"D": "10", "activation": "softplus"},
    "Figure 4b: squares, D = 20": {"D": "20"},
}
