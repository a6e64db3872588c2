"""Figures 9 and 14 on DenseNets: layers up to f stay as they were after layers up to l were trained."""

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.reproduce.hierarchy.algorithm1 import STUCK
from benchmarks.reproduce.hierarchy.records import SOLVED, metric, middle, mse
from benchmarks.reproduce.pages import ENDED, IDENTIFIED, SEEDS, Records, by_task, grid, grouped
from benchmarks.reproduce.source_items import Judged, Made, spread
from paramid.records.record import Record
from paramid.words.naming import Name


@dataclass(frozen=True)
class Frozen:
    """A cell of the grid."""

    task: str
    trained: int  # l, 0 where nothing stays
    stay: int  # f
    records: Records

    @property
    def said(self) -> str:
        """As the paper's rows are."""
        if not self.trained:
            return "train all the layers"
        back = self.trained - self.stay
        return f"fix ≤ l{f' - {back}' if back else ''}, train the rest"


def cells(records: Records) -> list[Frozen]:
    """The grid by task, l and f."""
    groups = grouped((r for r in records if "graph" not in r.task), cell_of)
    return [Frozen(*key, mine) for key, mine in sorted(groups.items())]


def cell_of(record: Record) -> tuple[str, int, int]:
    """The task, l and f."""
    trained, stay = dict(Name.parse(record.method).options).get("freeze", "0-0").split("-")
    return record.task, int(trained), int(stay)


def text(records: Records) -> Iterator[str]:
    """The grid, and the graphs."""
    yield "Medians of the relative MSE. The layers up to l are trained together; then those up to f = l - j stay as"
    yield "they are, with their heads, and all above start anew. l = 2 is the lowest layer that is trained."
    yield ""
    head = ("task", "", "l", "seeds", "relative MSE", "S_2", "solved", "ended")
    yield from grid(head, (row(cell) for cell in cells(records)))
    yield ""
    yield "What layers see, `graph`: `input` {0, l - 1}, `full` all that the paper allows, `near` {l - 3, l - 1},"
    yield "`chain` {l - 1} alone, which has no skip."
    yield ""
    yield from by_task([r for r in records if "graph" in r.task], SEEDS, ("relative MSE", mse), IDENTIFIED, ENDED)


def row(cell: Frozen) -> tuple[str, ...]:
    """A cell in words."""
    two = middle([metric(r, "feature_error_2") for r in cell.records])
    solved = f"{sum(metric(r, 'feature_error_2') <= SOLVED for r in cell.records)}/{len(cell.records)}"
    trained = str(cell.trained) if cell.trained else "-"
    count = str(len(cell.records))
    return cell.task, cell.said, trained, count, mse(cell.records), two, solved, ENDED[1](cell.records)


def correction_is_needed(made: Made) -> Judged:
    """Whether the best net with layers that stay is far worse than the worst of those whose layers are all trained."""
    errors: dict[tuple[str, bool], list[float]] = {}
    for c in cells(made["bfc-freeze"]):
        errors.setdefault((c.task, bool(c.trained)), []).extend(metric(r, "error") for r in c.records)
    ratios = [min(found) / max(errors[task, False]) for (task, stays), found in errors.items() if stays]
    told = f"the least error with layers that stay is {spread(ratios, '.1e')} times the largest of full correction"
    return min(ratios) > STUCK, told


def deeper_is_better(made: Made) -> Judged:
    """Whether one layer less that stays leaves less, seed by seed at the same l."""
    error = {
        (c.task, c.trained, c.stay, r.seed): metric(r, "error")
        for c in cells(made["bfc-freeze"]) if c.trained for r in c.records
    }  # fmt: skip
    pairs = [(e, error[t, at, f + 1, seed]) for (t, at, f, seed), e in error.items() if (t, at, f + 1, seed) in error]
    right = sum(fewer < more for fewer, more in pairs)
    told = f"in {right} of {len(pairs)} pairs of runs of one seed one layer less that stays is better"
    return (right == len(pairs) or (None if 2 * right > len(pairs) else False)) if pairs else None, told


def any_graph(made: Made) -> Judged:
    """Whether the graphs of the class are learnt; one that densenet-lm does not learn decides nothing."""
    mine = [r for r in made["bfc-freeze"] if "graph" in r.task and r.method.startswith("densenet-lm")]
    class_ = [r for r in mine if "chain" not in r.task]
    chain = [r for r in mine if "chain" in r.task]
    right, alone = (sum(r.metrics.get("identified") == 1 for r in rs) for rs in (class_, chain))
    told = (
        f"densenet-lm identifies {right} of {len(class_)} nets of the class, {alone} of {len(chain)} without any skip"
    )
    return (True if class_ and right == len(class_) else None), told
