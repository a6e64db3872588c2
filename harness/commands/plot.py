"""An SVG of the store's records: a phase map, error over time or queries, time over m."""

import argparse
from pathlib import Path

from paramid.commands import DONE, Add
from paramid.commands.arguments import store, warn
from paramid.words.naming import UsageError

EXAMPLE = "paramid plot scaling --methods spm spectral-norm --tasks shallow:D=20 --over m --out scaling.svg"


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    add("figure", choices=("phase", "curves", "scaling"), metavar="FIGURE", help="phase, curves or scaling")
    store(add)
    add("--methods", nargs="+", default=(), metavar="M", help="only these (default: all but the controls)")
    add("--tasks", nargs="+", default=(), metavar="PREFIX", help="only these and the same with further options")
    add("--rows", metavar="OPTION", help="phase: the task option upwards (default: the one that varies most)")
    add("--columns", metavar="OPTION", help="phase: the task option across (default: the next one)")
    add("--over", metavar="X", help="curves: seconds or queries; scaling: a task option (default: m)")
    add("--out", type=Path, metavar="FILE.svg", help="default: FIGURE.svg")


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    from paramid.pictures.curves import curves
    from paramid.pictures.phase_map import phase_map
    from paramid.pictures.scaling import scaling
    from paramid.records.selection import chosen, newest
    from paramid.records.store import Store

    for name in ("over",) if options.figure == "phase" else ("rows", "columns"):
        if getattr(options, name) is not None:
            raise UsageError(f"{options.figure} takes no --{name}")
    out = options.out or Path(f"{options.figure}.svg")
    if not out.absolute().parent.is_dir() or out.is_dir():
        raise UsageError(f"{out}: a file in a folder that exists was wanted")
    if out.suffix not in ("", ".svg"):
        raise UsageError(f"{out}: what is drawn is SVG; a name.svg was wanted")
    records = chosen(newest(Store.existing(options.store, warn).records()), options.methods, options.tasks)
    if options.figure == "phase":
        drawn = phase_map(records, options.rows, options.columns)
    elif options.figure == "curves":
        drawn = curves(records, options.over or "seconds")
    else:
        drawn = scaling(records, options.over or "m")
    out.write_text(drawn, encoding="utf-8")
    print(f"wrote {out} from {len(records)} records")
    return DONE
