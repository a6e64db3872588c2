"""What can be filtered on the first page; shown where scripts run."""

from __future__ import annotations

from paramid.board.markup import escaped, tag
from paramid.board.summary import SIZES, Summary, family, size
from paramid.statistics.target_costs import KINDS


def filter_form(summary: Summary) -> str:
    """The filter form."""
    kinds = {kind: words for kind, words in KINDS.items() if kind in summary.boards}
    sizes = {size(task) for task in summary.tasks}
    chosen = {
        "access": ("Access", kinds),
        "family": ("Family", {f: f for f in sorted({family(t) for t in summary.tasks})}),
        "size": ("Inputs D", {w: w for w in (*SIZES, "unknown") if w in sizes}),
        "device": ("Device", {d: d for d in sorted({r.device for r in summary.records})}),
    }
    fields = [_select(name, label, {"": "all", **values}) for name, (label, values) in chosen.items()]
    cost = _select("cost", "Cost", {"seconds": "seconds", "queries": "rows of the teacher"})
    return tag(
        "form",
        *fields,
        cost,
        tag("button", "Reset", type="reset"),
        tag("output", id="state", aria_live="polite"),
        id="filters",
        hidden=True,
        aria_label="Filters",
    )


def _select(name: str, label: str, values: dict[str, str]) -> str:
    options = "".join(tag("option", escaped(words), value=value) for value, words in values.items())
    return tag("label", tag("span", label), tag("select", options, name=name))
