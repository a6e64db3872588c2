"""Algorithm 1 over seeds: what it claims, what it gives up, and the paper's own examples."""

from collections.abc import Iterator

from benchmarks.reproduce.hierarchy.records import SEEDS, gain, metric, middle
from benchmarks.reproduce.pages import ENDED, SECONDS, Column, Records, by_task
from benchmarks.reproduce.source_items import Judged, Made, spread
from paramid.records.record import Record

NAME = "densenet-algorithm1"
OFF = 0.1  # of the features of a layer, squared and relative
TOYS = ("toy-1.2", "toy-6.1")


def worst(record: Record) -> float:
    """The largest error of the features of a layer."""
    return max([v for n, v in record.metrics.items() if n.startswith("feature_error")], default=float("inf"))


def wrong(records: Records) -> Records:
    """Those that are finished, and off."""
    return [r for r in records if r.method.startswith(NAME) and r.status.key == "finished" and not worst(r) <= OFF]


COLUMNS: tuple[Column, ...] = (
    SEEDS,
    ("relative MSE", lambda rs: middle([metric(r, "error") for r in rs])),
    ("worst", lambda rs: middle([worst(r) for r in rs if r.status.key == "finished"])),
    ("off", lambda rs: f"{len([r for r in rs if r.status.key == 'finished' and not worst(r) <= OFF])}/{len(rs)}"),
    ("gain", lambda rs: middle([gain(r)[2] for r in rs])),
    SECONDS,
    ENDED,
)


def text(records: Records) -> Iterator[str]:
    """The seeds, SGD, and the examples."""
    yield "`worst`: the median over finished runs of the largest error of a layer's features; `off`: finished with one"
    yield f"above {OFF:g}; `gain`: how many times the error of S_2 fell after it was first there."
    yield ""
    mine = [r for r in records if not any(toy in r.task for toy in TOYS)]
    yield from by_task(mine, *COLUMNS)
    yield ""
    yield "The paper's examples, (1.2) and that of §6.1, over x² - 1 where it writes x², |x| ≤ 2.5, D = 4; α = 0.1 as"
    yield "printed in (1.2), and 0.01 for §6.1's o(1). The weights of (1.2) have a singular value √2: κ = 2 there."
    yield ""
    yield from by_task([r for r in records if any(toy in r.task for toy in TOYS)], *COLUMNS)


def honest(made: Made) -> Judged:
    """Whether no finished run is off."""
    mine = [r for r in made["bfc-algorithm1"] if r.method.startswith(NAME)]
    ended = [r for r in mine if r.status.key == "finished"]
    told = f"{len(ended)} of {len(mine)} runs finish, {len(wrong(mine))} with features off by more than {OFF:g}"
    return (not wrong(mine) and len(ended) > len(mine) / 2) if mine else None, told


def by_sgd(made: Made) -> Judged:
    """Whether plain SGD is enough."""
    mine = [r for r in made["bfc-algorithm1"] if "optimizer=sgd" in r.method]
    ended = [r for r in mine if r.status.key == "finished"]
    errors = f", errors {spread(map(worst, ended), '.1e')}" if ended else ""
    told = f"{len(ended)} of {len(mine)} runs by plain SGD finish{errors}"
    return len(ended) == len(mine) if mine else None, told


def corrected(made: Made) -> Judged:
    """Whether Algorithm 1 corrects S_2 backwards."""
    mine = [r for r in made["bfc-algorithm1"] if r.method == NAME and r.status.key == "finished"]
    gains = sorted(g for r in mine if (g := gain(r)[2]) > 0)
    if not gains:
        return None, ""
    told = f"the error of S_2 fell {gains[0]:.0f} to {gains[-1]:.1e} times over {len(gains)} finished runs"
    return gains[0] > 1, told


def examples(made: Made) -> Judged:
    """Whether layer by layer is stuck at the paper's examples, and training together is not."""
    mine = [r for r in made["bfc-algorithm1"] if any(toy in r.task for toy in TOYS)]
    strict = [metric(r, "feature_error_2") for r in mine if r.method == "densenet-layerwise"]
    joint = [metric(r, "feature_error_2") for r in mine if r.method == "densenet-lm"]
    told = f"errors of S_2 of {spread(strict, '.1e')} layer by layer, {spread(joint, '.1e')} by densenet-lm"
    return min(strict) > 1e3 * max(joint), told
