"""How every number is defined, and where it comes from."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from paramid.board.markup import escaped, link, marked, table, tag
from paramid.board.summary import Summary
from paramid.contracts import descriptions
from paramid.judging.metrics import METRICS
from paramid.records import agreement
from paramid.records.number_format import shown
from paramid.records.provenance import days, made_on
from paramid.records.record import Record
from paramid.statistics.intervals import CONFIDENCE, DRAWS
from paramid.statistics.ranking import CEILING
from paramid.statistics.sizes import family
from paramid.statistics.target_costs import TARGETS
from paramid.words.status import Status

METRICS_PAGE = "docs/metrics.md"
BOARD: dict[str, str] = {
    "a run": "one method before one teacher (a task and a seed), in a process of its own behind a wall; the harness "
    "counts its time, rows and memory and judges its claims. The newest record of a cell stands",
    "solved": "of a run: the judge calls its last claim `identified`, as its family defines it; of a task: more than "
    "half of a method's runs before it. Errors and costs beside it are medians over solved runs",
    "accepted": "of a task: not every run of it was declined",
    "board": "a family of tasks and a kind of access, the strongest that was counted for a method in that family; who "
    "asks for decisions alone has a board of its own, who declines the whole family has none",
    "times the best": "over the tasks that a method solved, the geometric mean of its median cost before each over the "
    "least one on the board",
    "times the limit": "rows for a parameter of the teacher, of which one is the least possible for one output; and "
    "under noise the error over the Cramér-Rao bound of the least certain parameter",
    "from": "ours: of this project, whatever it builds upon; else the paper. Where two rows of a paper's method stand "
    "on a board, the one without options is its default, and the other tuned",
    "cost": "`seconds` inside the method (judging excluded), or rows of the teacher: queries, samples, derivatives and "
    "moments together. Scores are by rows, which no machine changes",
    "target": f"`error` of a claim within {', '.join(f'{t:g}' for t in TARGETS)}",
    "reached": "the first claim within the target that the judge calls identified, at what it had cost. Claims stand "
    "where a run ended by itself or was cut off by its time or rows; a run that raised, crashed, gave up or was "
    "declined reached nothing",
    "not run": "a seed that others ran on the task counts as a failure, at the most that anybody spent on it",
    "expected cost": "Σ cost of all seeds, until the target or in whole where it was not reached, over the number of "
    "seeds that reached it (COCO's expected running time); infinite where none did",
    "profile": "ρ(τ): the share of (task, target) whose expected cost is at most τ times the best one on the board",
    "score": f"1 / log T ∫ ρ(τ) dτ/τ from 1 to T = {CEILING:g}: 1 if cheapest everywhere, 0 if nothing is reached",
    "intervals": f"{CONFIDENCE:.0%}: of shares Wilson's; of medians the bootstrap's; of scores and ranks from "
    f"{DRAWS:,} resamples of tasks and of seeds within them, the same for every method",
    "group": "a method stands below the head of a group only where its score was lower in at least 97.5 % of the "
    "resamples, or is 0; methods of one group cannot be told apart by these records",
    "win": "of two runs on one task, seed and budget, that of the one that was identified, or of two identified ones "
    "the cheaper; else a draw; declined runs are in no pair",
    "ahead": "more wins than losses, by an exact sign test at 5 % for all pairs of a matrix (Holm)",
    "size": "of a task: Σ n_(l-1) n_l over the layers that its name gives, or inputs times neurons. It orders the "
    "tasks of a family: the frontier is the largest that a method solved",
    "assisted": "is told what no method should know; ranked, and marked",
    "controls": "`truth` and `random` see the teacher; every task is run against them and they never rank",
    "median error": "over seeds; a seed without an error is infinitely bad",
    "verified, disputed": f"a run that was repeated and agreed, or did not: {agreement.TOLERANCES}. A method with a "
    "disputed run is kept out of the ranking",
}


def definitions(summary: Summary) -> str:
    """The page of definitions."""
    families = sorted({family(task) for task in summary.tasks})
    endings = [(f"<code>{s.key}</code>", escaped(s.value)) for s in Status]
    rows = [(f"<b>{escaped(name)}</b>", marked(told)) for name, told in BOARD.items()]
    metrics = [(f"<code>{escaped(name)}</code>", marked(told)) for name, told in METRICS.items()]
    own = [
        (f"<code>{escaped(name)}</code>", f"{escaped(f)}: {marked(told)}")
        for f in families
        for name, told in descriptions.metrics(f)
    ]
    return "".join(
        [
            tag("h1", "How every number is defined"),
            tag("p", "Errors and costs: lower is better. Shares, flags, scores and bits: higher is.", class_="lead"),
            tag("h2", "The board"),
            table("Words of the board", ("word", "meaning"), rows),
            tag("h2", "Metrics of a claim"),
            tag("p", f"With formulas, and what is compared modulo which symmetries: <code>{METRICS_PAGE}</code>."),
            table("Metrics", ("metric", "meaning"), [*metrics, *own]),
            tag("h2", "How a run can end"),
            table("Endings", ("status", "meaning"), endings),
        ]
    )


def provenance(summary: Summary) -> str:
    """The page of provenance."""
    runs: dict[tuple[str, ...], list[Record]] = defaultdict(list)
    for record in summary.records:
        runs[tuple(origin(record))].append(record)
    head = ("commit", "paramid", "machine", "threads", "software", "records", "finished")
    rows = [(*key, f"{len(ours):,}", days(ours)) for key, ours in sorted(runs.items())]
    parts = [
        tag("h1", "Provenance"),
        tag("p", f"{len(summary.records):,} records stand; each names its code, its machine and its limits.",
            class_="lead"),
        table("Where the records were made", head, rows),
        tag("h2", "Rebuild"),
        tag("p", "Any row: the command at its end, at the row's commit; a single run: "
                 "<code>paramid run METHOD TASK --seed SEED</code> with the same limits. "
                 "This site: <code>paramid board</code>, from the same records byte for byte. "
                 "A sample of it: <code>paramid audit</code>."),
        tag("p", f"Tolerances of a rerun: {marked(agreement.TOLERANCES)}."),
        _epochs(summary),
        tag("h2", "CPU and GPU"),
        _devices(summary),
        tag("h2", "Kept out"),
        _refused(summary),
    ]  # fmt: skip
    return "".join(parts)


def _epochs(summary: Summary) -> str:
    """Of which epochs what ranks is."""
    told = Counter(summary.epochs.values())
    words = "; ".join(f"{methods} methods in epoch {epoch}" for epoch, methods in sorted(told.items()))
    whole = words or "No epoch: every record is as whoever made it says"
    return tag("h2", "Epochs") + tag("p", f"{escaped(whole)}. What the marks mean: <code>docs/trust.md</code>.")


def origin(record: Record) -> Iterator[str]:
    """Where a record was made, as cells of a table."""
    facts = record.provenance
    loose = " (uncommitted changes)" if facts.get("dirty") else ""
    packages = facts.get("packages")
    software = {"Python": facts.get("python"), **(packages if isinstance(packages, dict) else {})}
    yield f"<code>{escaped(str(facts.get('commit') or 'unknown')[:10])}</code>{loose}"
    yield escaped(facts.get("paramid", "unknown"))
    yield escaped(f"{facts.get('cores', '?')} cores of {facts.get('cpu', 'unknown')}, {facts.get('system', '')}")
    yield str(record.threads)
    yield escaped(", ".join(f"{name} {version}" for name, version in software.items() if version))


def reading() -> str:
    """How the first page is to be read."""
    told = {
        "Solved": "the judge calls what was claimed identified: every neuron, sign, shift and outer weight. A task is "
        "solved by a method where more than half of its seeds are; tasks that it declines beforehand do not count.",
        "The limit": "×3 rows: three rows of the teacher for each of its parameters, where one is the least possible. "
        "×3 error: three times the Cramér-Rao bound that noise leaves.",
        "A group": "methods that these records cannot tell apart. A group ends where scores were lower in 97.5 % of "
        "2,000 resamples of tasks and seeds. Small pictures and numbers say more on hover.",
        "A failure": "is shown and counted: who gave up or crashed reached nothing, who ran out of time no more "
        "than it had claimed until then.",
    }
    items = [tag("div", tag("dt", escaped(word)), tag("dd", escaped(words))) for word, words in told.items()]
    return tag("h2", "How to read this", id="reading") + tag("dl", *items, class_="reading")


def _devices(summary: Summary) -> str:
    pairs = summary.pairs
    if not pairs:
        return tag("p", "No cell was run on both.")
    rows = [
        (escaped(p.method), escaped(p.task), *(shown(e) for e in p.errors),
         f"<b>disagree</b>: {escaped(p.problem)}" if p.problem else "agree")
        for p in pairs
    ]  # fmt: skip
    head = ("method", "task", "error on CPU", "error on GPU", "within tolerances")
    return table("Cells that were run on CPU and GPU", head, rows)


def _refused(summary: Summary) -> str:
    parts = []
    if summary.disputed:
        parts += [tag("p", f"Disputed methods, not ranked: {escaped(', '.join(sorted(summary.disputed)))}.")]
        told = Counter(reason for reason in summary.reasons.values() if reason)
        parts += [tag("ul", *(tag("li", escaped(reason)) for reason in sorted(told)))]
    if summary.refused:
        parts += [tag("p", f"{len(summary.refused)} published lines cannot be trusted:")]
        parts += [tag("ul", *(tag("li", tag("code", escaped(line))) for line in summary.refused[:100]))]
    return "".join(parts) or tag("p", "Nothing: every line carries its hash, and every method its ranking.")


def facts(summary: Summary) -> str:
    """The line below the title: how much, of when, from which code."""
    told = [
        f"{len(summary.entrants)} methods",
        f"{len(summary.tasks)} tasks",
        f"{len(summary.records):,} runs",
        *made_on(summary.records),
    ]
    if summary.refused:
        told.append(f"{len(summary.refused)} line{'s' if len(summary.refused) > 1 else ''} refused")
    if differing := sum(p.problem is not None for p in summary.pairs):
        told.append(f"{differing} cell{'s' if differing > 1 else ''} where CPU and GPU disagree")
    items = [tag("li", escaped(words)) for words in told]
    return tag("ul", *items, tag("li", link("provenance", "provenance.html")), class_="facts")
