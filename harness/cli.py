"""The command line. Everything it can do, `paramid` the package can do too."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import paramid
from paramid import plans, registry, tables
from paramid.naming import UsageError
from paramid.status import BROKEN, Status
from paramid.store import StoreError

DONE, FAILED, USAGE, STOPPED = 0, 1, 2, 130


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    parser = build_parser()
    try:
        options = parser.parse_args(words)
        for file in options.plugin or ():
            add_plugin(file)
        code: int = options.command(options)
    except UsageError as error:
        print(f"paramid: {error}", file=sys.stderr)
        return USAGE
    except StoreError as error:
        print(f"paramid: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("paramid: stopped; the same command goes on from here", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        return DONE
    return code


def add_plugin(file: str) -> None:
    """Register a plug-in; one that is broken is named, and the rest works."""
    try:
        registry.add_plugin(file)
    except registry.PluginError as error:
        print(f"paramid: {error}; going on without it", file=sys.stderr)


class Parser(argparse.ArgumentParser):
    """Errors in one line, as everywhere else."""

    def error(self, message: str) -> NoReturn:
        """Say what was wrong and leave with 2."""
        raise UsageError(f"{message} (see `{self.prog} --help`)")


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = Parser(
        prog="paramid",
        description="Who can recover a network's weights, how exactly, and at what cost.",
        epilog="Methods and tasks are written name:option=value,option=value, such as shallow:D=20,m=40.",
    )
    parser.add_argument("--version", action="version", version=f"paramid {paramid.__version__}")
    common = Parser(add_help=False)
    common.add_argument("--plugin", action="append", metavar="FILE.py", help="a file with METHODS and / or TASKS")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, action: object, about: str, example: str) -> argparse.ArgumentParser:
        made = commands.add_parser(
            name,
            parents=[common],
            help=about,
            description=about,
            epilog=f"example:\n  {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        made.set_defaults(command=action)
        return made

    add = command("list", list_command, "what there is, and what each needs", "paramid list methods").add_argument
    add("what", nargs="?", choices=("methods", "tasks", "suites"), help="only these")
    pairs = commands.choices["list"].add_argument
    pairs("--pairs", action="store_true", help="which method accepts which task, at default options")

    add = command(
        "run", run_command, "one method before one teacher", "paramid run spm shallow:D=20,m=36 --seed 0"
    ).add_argument
    add("method", metavar="METHOD")
    add("task", metavar="TASK")
    add("--seed", type=int, default=0)
    _limits(add)
    add("--json", action="store_true", help="one JSON object and nothing else on stdout")
    add("--claim", type=Path, metavar="FILE.npz", help="write the last claim's arrays")
    add("--store", type=Path, metavar="DIR", help="also keep the record there")

    add = command(
        "compare",
        compare_command,
        "many methods before many teachers; what the store holds is not run again",
        "paramid compare --methods spm spectral-norm --tasks shallow:D=10,m=5 --seeds 2",
    ).add_argument
    add("--suite", metavar="NAME", help="a named list of cells (see `paramid list suites`)")
    add("--methods", nargs="+", default=(), metavar="M", help="with --suite: beside the suite's own")
    add("--tasks", nargs="+", default=(), metavar="T")
    add("--seeds", type=int, default=1, metavar="N", help="seeds 0 … N-1 of a grid")
    add("--workers", type=int, metavar="N", help="cells at once (default: one a core)")
    add("--retry", action="append", default=[], metavar="STATUS", help="run cells again that ended so")
    add("--fresh", action="store_true", help="run every cell again")
    _limits(add)
    _store(add)
    _format(add)

    add = command(
        "new",
        new_command,
        "a method or a task in a file that runs, with its test",
        "paramid new method random-restarts",
    ).add_argument
    add("kind", choices=("method", "task"))
    add("name", metavar="NAME", help="lower-case words joined by dashes")
    add("--dir", type=Path, default=Path(), metavar="DIR", help="where to write (default: here)")

    add = command(
        "check", check_command, "whether a method keeps its contract", "paramid check spectral-norm"
    ).add_argument
    add("method", metavar="METHOD")

    add = command("show", show_command, "one record whole", "paramid show 3f2a").add_argument
    add("key", metavar="KEY", help="a record's key or its first letters")
    _store(add)

    add = command(
        "table", table_command, "the store's records as a table", "paramid table --format markdown"
    ).add_argument
    _store(add)
    _format(add)

    add = command(
        "plot",
        plot_command,
        "an SVG of the store's records: a phase map, error over time or queries, time over m",
        "paramid plot scaling --methods spm spectral-norm --tasks shallow:D=20 --over m --out scaling.svg",
    ).add_argument
    add("figure", choices=("phase", "curves", "scaling"), metavar="FIGURE", help="phase, curves or scaling")
    _store(add)
    add("--methods", nargs="+", default=(), metavar="M", help="only these (default: all but the controls)")
    add("--tasks", nargs="+", default=(), metavar="PREFIX", help="only these and the same with further options")
    add("--rows", metavar="OPTION", help="phase: the task option upwards (default: the one that varies most)")
    add("--columns", metavar="OPTION", help="phase: the task option across (default: the next one)")
    add("--over", metavar="X", help="curves: seconds or queries; scaling: a task option (default: m)")
    add("--out", type=Path, metavar="FILE.svg", help="default: FIGURE.svg")
    return parser


def _limits(add: object) -> None:
    assert callable(add)
    add("--device", choices=("cpu", "cuda", "auto"), default="cpu")
    add("--time-limit", type=float, metavar="S", help="seconds a method may work (judging excluded)")
    add("--query-limit", type=int, metavar="N", help="rows a method may query")
    add("--memory-limit", type=float, metavar="MB", help="memory of a cell's process")


def _store(add: object) -> None:
    assert callable(add)
    add("--store", type=Path, default=Path("paramid-store"), metavar="DIR", help="default: ./paramid-store")


def _format(add: object) -> None:
    assert callable(add)
    add("--format", choices=("text", "markdown", "csv", "json"), default="text")


def list_command(options: argparse.Namespace) -> int:
    """`paramid list`."""
    if options.pairs:
        return list_pairs()
    for group in ("methods", "tasks"):
        if options.what in (None, group):
            print(f"{group}:")
            listed = registry.entries(group)
            for entry in listed:
                needs = f"  [{', '.join(entry.access)}]" if entry.access else ""
                print(f"  {entry.name:<{max(len(e.name) for e in listed)}}  {entry.doc}{needs}")
    if options.what in (None, "suites"):
        print("suites:")
        for name, suite in plans.suites().items():
            print(f"  {name}  (version {suite.version}) {suite.about}")
    return DONE


def list_pairs() -> int:
    """Every method before every task, at default options."""
    from paramid.cells import declined
    from paramid.controls import Control

    for task in registry.names("tasks"):
        for name in registry.names("methods"):
            method = registry.method(name)
            reason = None if isinstance(method, Control) else declined(method, registry.task(task))
            print(f"{name:<16} {task:<16} {f'declines: {reason}' if reason else 'accepts'}")
    return DONE


def run_command(options: argparse.Namespace) -> int:
    """`paramid run`."""
    from paramid.record import dump
    from paramid.runner import outcome

    if options.claim is not None and not options.claim.absolute().parent.is_dir():
        raise UsageError(f"{options.claim}: no such folder")
    limits = {name: getattr(options, name) for name in ("time_limit", "query_limit", "memory_limit")}
    made = outcome(options.method, options.task, options.seed, device=options.device, store=options.store, **limits)
    if options.claim is not None and made.claim:
        options.claim.write_bytes(made.claim)
    if options.json:
        print(dump(made.record.to_json()))
    else:
        print(describe(made.record), end="")
    if made.record.status is Status.INTERRUPTED:
        return STOPPED
    return DONE if made.record.answered else FAILED


def describe(record: paramid.Record) -> str:
    """A record for a person."""
    status = f"{record.status.key}: {record.status.value}"
    lines = [
        f"{record.method} before {record.task}, seed {record.seed}, {record.device}, {record.threads} threads",
        f"{status}{f' -- {record.reason}' if record.reason else ''}",
        *(f"teacher: {told}" for told in record.obstacles),
    ]
    for number, claim in enumerate(record.claims, 1):
        told = ", ".join(f"{name} {value:.3g}" for name, value in claim.metrics.items() if name != "excess" or value)
        spent = f"{claim.seconds:.2f} s, {claim.queries:,} queries, {claim.samples:,} samples"
        lines.append(f"{number:>4} {claim.kind} after {spent}: {told}")
    costs = ", ".join(f"{getattr(record, n):,} {n}" for n in ("queries", "samples", "derivatives", "moments"))
    lines.append(f"cost: {record.seconds:.2f} s, {costs}, peak {record.peak_mb:.0f} MB")
    for name in ("error", "identified", "exact", "output_error", "output_error_relative"):
        if name in record.metrics:
            lines.append(f"{name:>22} {record.metrics[name]:.3g}")
    lines += [f"said by the method: {', '.join(f'{k} {v:g}' for k, v in record.stats.items())}"] if record.stats else []
    lines += [record.traceback.rstrip()] if record.traceback else []
    lines += ["printed:", record.printed.rstrip()] if record.printed else []
    return "\n".join([*lines, f"key {record.key}"]) + "\n"


def compare_command(options: argparse.Namespace) -> int:
    """`paramid compare`."""
    from paramid.progress import Lines
    from paramid.runner import Session

    if options.seeds < 1 or (options.workers is not None and options.workers < 1):
        raise UsageError("--seeds and --workers take whole numbers from 1")
    session = Session.planned(
        options.methods,
        options.tasks,
        range(options.seeds),
        suite=options.suite,
        store=options.store,
        workers=options.workers,
        retry=[_status(word) for word in options.retry],
        fresh=options.fresh,
        **{n: getattr(options, n) for n in ("device", "time_limit", "query_limit", "memory_limit")},
    )
    session.play(Lines())
    records = session.results()
    for note in dict.fromkeys(session.notes):
        print(f"paramid: {note}", file=sys.stderr)
    print(tables.render(tables.rows(records), options.format), end="")
    whole = len(records) == len(session.cells)
    return DONE if whole and not any(r.status in BROKEN for r in records) else FAILED


def _status(word: str) -> Status:
    try:
        return Status.named(word.replace("-", "_"))
    except ValueError as error:
        raise UsageError(str(error)) from error


def _warn(note: str) -> None:
    print(f"paramid: {note}", file=sys.stderr)


def new_command(options: argparse.Namespace) -> int:
    """`paramid new`."""
    from paramid.authoring import new

    file, test = new(options.kind, options.name, options.dir)
    print(f"wrote {file} and {test}; next:")
    if options.kind == "method":
        print(f"  paramid run {options.name} shallow:D=5,m=1 --plugin {file}")
        print(f"  paramid check {options.name} --plugin {file}")
    else:
        print(f"  paramid run truth {options.name} --plugin {file}")
    print(f"  python -m pytest {test}")
    return DONE


def check_command(options: argparse.Namespace) -> int:
    """`paramid check`."""
    from paramid.checking import check

    checked = check(options.method, tell=lambda line: print(f"paramid: {line}", file=sys.stderr))
    print(checked)
    return FAILED if checked.problems else DONE


def show_command(options: argparse.Namespace) -> int:
    """`paramid show`."""
    from paramid.store import Store

    found = Store.existing(options.store, _warn).matching(options.key)
    if len(found) != 1:
        known = ", ".join(r.key for r in found[:5])
        raise UsageError(f"{options.key!r} fits {len(found)} records{f' ({known} …)' if found else ''}; one was wanted")
    print(describe(found[0]), end="")
    print(f"provenance: {', '.join(f'{k} {v}' for k, v in found[0].provenance.items())}")
    return DONE


def table_command(options: argparse.Namespace) -> int:
    """`paramid table`."""
    from paramid.store import Store, newest

    records = newest(Store.existing(options.store, _warn).records())
    print(tables.render(tables.rows(records), options.format), end="")
    return DONE


def plot_command(options: argparse.Namespace) -> int:
    """`paramid plot`."""
    from paramid.figures import curves, scaling
    from paramid.phase_map import phase_map
    from paramid.selection import chosen
    from paramid.store import Store, newest

    for name in ("over",) if options.figure == "phase" else ("rows", "columns"):
        if getattr(options, name) is not None:
            raise UsageError(f"{options.figure} takes no --{name}")
    out = options.out or Path(f"{options.figure}.svg")
    if not out.absolute().parent.is_dir() or out.is_dir():
        raise UsageError(f"{out}: a file in a folder that exists was wanted")
    records = chosen(newest(Store.existing(options.store, _warn).records()), options.methods, options.tasks)
    if options.figure == "phase":
        drawn = phase_map(records, options.rows, options.columns)
    elif options.figure == "curves":
        drawn = curves(records, options.over or "seconds")
    else:
        drawn = scaling(records, options.over or "m")
    out.write_text(drawn, encoding="utf-8")
    print(f"wrote {out} from {len(records)} records")
    return DONE
