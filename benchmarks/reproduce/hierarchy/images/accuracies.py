"""Numbers of records of the suite `images`: accuracies and correlations by seed, their differences and intervals.

What is compared is compared seed by seed, on the same images shown and held out:

    (1)  m ± t s / √n,   m and s mean and deviation over n seeds, t the 97.5 % quantile of Student's law of n - 1.
"""

import math
from collections.abc import Mapping
from statistics import mean, stdev

from scipy.stats import t as student

from benchmarks.reproduce.pages import Records

SUITE, TASK, SHUFFLED = "images", "images", "images:labels=shuffled"
DEPTHS, BELOW = (1, 2, 3, 4), (1, 2, 3)  # of nets, and of their lower parts
LAYERWISE, STAGED, SCRATCH = "convnet:depths=1-2-3-4,freeze=0-1-2-3", "convnet:depths=1-2-3-4", "convnet"
DETACHED, EVERYWHERE = "convnet:heads=all,backward=false", "convnet:heads=all"
RELU = "convnet:activation=relu"
Seeds = Mapping[int, float]


def frozen(layer: int, kept: int) -> str:
    """The cell that trains the lowest `layer` layers alone, then all but the lowest `kept`."""
    return f"convnet:depths={layer}-4,freeze=0-{kept}"


def corrected(layer: int) -> str:
    """The cell that trains all, then a head on the lowest layers alone, then new layers on them."""
    return f"convnet:depths=4-{layer}-4,freeze=0-{layer}-{layer}"


def accuracies(records: Records, method: str, at: int = -1) -> Seeds:
    """By seed, of the claim number `at`."""
    mine = [r for r in records if (r.method, r.task) == (method, TASK)]
    reached = {r.seed: r.claims[at].metrics for r in mine if -1 <= at < len(r.claims) and r.claims}
    return {seed: metrics["accuracy"] for seed, metrics in reached.items() if "accuracy" in metrics}


def correlations(records: Records, method: str, name: str, *layers: int) -> Seeds:
    """By seed, the mean over these layers of what a method said last of their weights."""
    mine = [r for r in records if (r.method, r.task) == (method, TASK) and f"{name}_{layers[-1]}" in r.stats]
    return {r.seed: mean(r.stats[f"{name}_{layer}"] for layer in layers) for r in mine}


def kept(records: Records, layer: int) -> Seeds:
    """Of the lowest layers trained alone, with what they are when all were trained on from there."""
    return correlations(records, frozen(layer, 0), "kept", *range(1, layer + 1))


def drawn(records: Records, layer: int) -> Seeds:
    """Of the lowest layers trained alone, with the random weights that they had at first."""
    return correlations(records, frozen(layer, layer), "drawn", *range(1, layer + 1))


def gains(after: Seeds, before: Seeds) -> Seeds:
    """How much more, seed by seed."""
    return {seed: after[seed] - before[seed] for seed in after.keys() & before.keys()}


def interval(values: Seeds) -> tuple[float, float, float]:
    """(1): the mean, and its least and largest; a ValueError where there are less than two."""
    if (count := len(values)) < 2:
        raise ValueError(f"{count} seeds")
    middle = mean(values.values())
    reach = float(student.ppf(0.975, count - 1)) * stdev(values.values()) / math.sqrt(count)
    return middle, middle - reach, middle + reach


def told(values: Seeds, form: str = ".1f", scale: float = 100.0) -> str:
    """The mean and its interval, in per cent."""
    try:
        middle, least, _ = interval(values)
    except ValueError:
        return format(scale * mean(values.values()), form) if values else "-"
    return f"{scale * middle:{form}} ± {scale * (middle - least):{form}}"


def share(values: Seeds) -> str:
    """A mean of cosines and its interval."""
    return told(values, ".3f", 1.0)


def seeds(*columns: Seeds) -> str:
    """How many seeds the columns of a row have."""
    counts = sorted({len(values) for values in columns if values})
    return " to ".join(map(str, dict.fromkeys((counts[0], counts[-1])))) if counts else "0"
