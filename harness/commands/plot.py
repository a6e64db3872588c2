"""A picture of records, as SVG, PDF or PNG: who buys what error at what cost, phase maps, profiles, growth, noise."""

import argparse
from pathlib import Path

from paramid.commands import DONE, Add
from paramid.commands.arguments import SOURCES, published_records, store, warn
from paramid.words.naming import UsageError

EXAMPLE = """paramid plot pareto --tasks shallow --out pareto.pdf
paramid plot pareto --tasks shallow:D=20,m=12 --by task --over seconds
paramid plot curves --tasks shallow:D=20,m=8 --over queries --out queries.svg
paramid plot scaling --methods spm spectral-norm --tasks shallow:D=20 --over m --out scaling.png
paramid plot phase --rows m --columns D
paramid plot profile --over seconds --records published
paramid plot noise --tasks shallow:D=10,m=5"""
TAKES = {
    "pareto": ("over", "by"), "curves": ("over",), "scaling": ("over",), "phase": ("rows", "columns"),
    "profile": ("over",), "noise": ("over",),
}  # fmt: skip
FORMATS = (".svg", ".pdf", ".png")


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    add("figure", choices=tuple(TAKES), metavar="FIGURE", help=", ".join(TAKES))
    store(add)
    add("--records", metavar="WHERE", help=f"published records instead of a store: {SOURCES}")
    add("--methods", nargs="+", default=(), metavar="M", help="only these (default: all but the controls)")
    add("--tasks", nargs="+", default=(), metavar="PREFIX", help="only these and the same with further options")
    add(
        "--over", metavar="X",
        help="seconds or queries; of scaling a task option (default: m), of noise the one that is σ (default: noise)",
    )  # fmt: skip
    add("--by", choices=("family", "task"), help="pareto: a panel for each (default: family)")
    add("--rows", metavar="OPTION", help="phase: the task option upwards (default: the one that varies most)")
    add("--columns", metavar="OPTION", help="phase: the task option across (default: the next one)")
    add("--out", type=Path, metavar="FILE", help="a name.svg, name.pdf or name.png (default: FIGURE.svg)")


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    from paramid.records.selection import chosen, newest
    from paramid.records.store import Store

    told = {name: value for name in ("over", "by", "rows", "columns") if (value := getattr(options, name)) is not None}
    for name in told:
        if name not in TAKES[options.figure]:
            raise UsageError(f"{options.figure} takes no --{name}")
    out = options.out or Path(f"{options.figure}.svg")
    if not out.absolute().parent.is_dir() or out.is_dir():
        raise UsageError(f"{out}: a file in a folder that exists was wanted")
    if out.suffix not in FORMATS:
        raise UsageError(f"{out}: a name that ends with {', '.join(FORMATS[:-1])} or {FORMATS[-1]} was wanted")
    from paramid.pictures.plot import KINDS
    from paramid.pictures.svg import reset, save

    reset()

    if options.records is None:
        held = Store.existing(options.store, warn).records()
    else:
        held = list(published_records(options.records).ranked.values())
    records = chosen(newest(held), options.methods, options.tasks)
    save(KINDS[options.figure](records, **told), out)
    print(f"wrote {out} from {len(records)} records")
    return DONE
