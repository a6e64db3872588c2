"""Kernels in sequence, without correction and with it after: what the suites say of `densenet-als`."""

from benchmarks.reproduce.hierarchy import algorithm1
from benchmarks.reproduce.hierarchy.records import ALTERNATING, GAP, GAPS, option_of, stage
from benchmarks.reproduce.hierarchy.verdicts import on
from benchmarks.reproduce.source_items import Judged, Made, every, spread


def refitting_alone_is_stuck(made: Made) -> Judged:
    """§3: sequential kernels without correction leave more than with it, run by run."""
    mine = [r for r in made["bfc"] if r.method == GAP]
    left = [stage(r, "error", 1) for r in mine]
    ratios = [e / after for r, e in zip(mine, left, strict=True) if (after := stage(r, "error", 4))]
    told = f"{spread(left, '.1e')} of Var y are left, {spread(ratios, '.1e')} times what three corrections leave"
    return min(ratios) > 1, f"{told}; {len(mine)} runs"


def kernels_in_turn(made: Made) -> Judged:
    """§3: kernels first and correction after "may not work": refuted where they always do, here; never shown here."""
    right = turns(made)
    told = "; ".join(f"{sum(each)} of {len(each)} {name}" for name, each in right.items())
    always = all(all(each) for name, each in right.items() if name.endswith("with a gap"))
    return (False if right and always else None), f"densenet-als does exactly that: identified {told}"


def turns_work(made: Made) -> Judged:
    """Ours: at which depths they do, where there is a gap."""
    right = {name: each for name, each in turns(made).items() if name.endswith("with a gap")}
    shallow = {name: each for name, each in right.items() if "L = 3" in name or "L = 4" in name}
    told = "; ".join(f"{sum(each)} of {len(each)} {name}" for name, each in shallow.items())
    return (every([all(each) for each in shallow.values()]) if shallow else None), told


def turns(made: Made) -> dict[str, list[bool]]:
    """Which nets `densenet-als` identifies, by depth, with a gap and without, and (1.2) and §6.1."""
    right: dict[str, list[bool]] = {}
    mine = [*on(made["bfc"], "densenet-als"), *(r for r in made["bfc"] if r.method == ALTERNATING)]
    for r in mine:
        depth = 1 + len(option_of(r.task, "ks", "4-2").split("-"))
        gapped = "with a gap" if option_of(r.task, "alphas", "") != GAPS[1] else "without one"
        right.setdefault(f"at L = {depth} {gapped}", []).append(r.metrics.get("identified") == 1)
    for name, toy in algorithm1.TOYS.items():
        for r in (r for r in made.get("bfc-algorithm1", ()) if r.method == "densenet-als" and toy in r.task):
            right.setdefault(f"of {name}, with a gap", []).append(r.metrics.get("identified") == 1)
    return right
