"""Figures 9 and 14 on DenseNets: layers up to f stay as they were after layers up to l were trained."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from benchmarks.reproduce.hierarchy.records import SOLVED, known, metric, middle, mse
from benchmarks.reproduce.pages import ENDED, IDENTIFIED, SEEDS, Records, by_task, grid, grouped
from benchmarks.reproduce.source_items import Judged, Made
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
    """Whether every net with layers that stay is worse than one whose layers are all trained."""
    error = medians(made)
    ratios = [e / full for (task, at, _), e in error.items() if at and (full := error.get((task, 0, 0)))]
    return min(ratios) > 1, f"the error is {min(ratios):.1e} times that of full correction, at least"


def deeper_is_better(made: Made) -> Judged:
    """Whether fewer layers that stay leave less, at the same l."""
    error = medians(made)
    pairs = [(e, error[t, at, f + 1]) for (t, at, f), e in error.items() if at and (t, at, f + 1) in error]
    right = sum(fewer < more for fewer, more in pairs)
    told = f"in {right} of {len(pairs)} pairs of cells one layer less that stays is better"
    return right == len(pairs) if pairs else None, told


def medians(made: Made) -> dict[tuple[str, int, int], float]:
    """The median error by task, l and f."""
    every = {
        (c.task, c.trained, c.stay): known(metric(r, "error") for r in c.records) for c in cells(made["bfc-freeze"])
    }
    return {key: median(errors) for key, errors in every.items() if errors}


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
