"""The command line. Everything it can do, `paramid` the package can do too."""

from __future__ import annotations

import argparse
import io
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import paramid
from paramid.commands import (
    DONE,
    FAILED,
    STOPPED,
    USAGE,
    check,
    compare,
    describe,
    identify,
    listing,
    new,
    plot,
    regress,
    run,
    show,
    table,
)
from paramid.commands.arguments import say
from paramid.commands.publishing import audit, board, epoch, publish, submit, verify
from paramid.contracts import plugins, registry
from paramid.contracts.plugins import PluginError
from paramid.records.store import StoreError
from paramid.running.crews.crew import CrewError
from paramid.words.naming import UsageError

COMMANDS: dict[str, ModuleType] = {
    "list": listing,
    "describe": describe,
    "run": run,
    "compare": compare,
    "identify": identify,
    "new": new,
    "check": check,
    "show": show,
    "table": table,
    "plot": plot,
    "regress": regress,
    "publish": publish,
    "board": board,
    "submit": submit,
    "verify": verify,
    "epoch": epoch,
    "audit": audit,
}


RECORDING = (run, compare, verify, audit)  # no code of a plug-in runs where records are made


def surveyed(file: str) -> None:
    """Register a plug-in that another process looks at."""
    from paramid.running.surveyor import survey

    survey(file)


def hide_from_plugins(options: argparse.Namespace) -> None:
    """The secret's file and the store's records are empty for a plug-in, as they are for its methods."""
    from paramid.records.frames import DEFAULT_STORE
    from paramid.records.store import Store
    from paramid.running.surveyor import hide

    secret, store = getattr(options, "secret", None), getattr(options, "store", None) or DEFAULT_STORE
    hide(*Store(store).private, *([Path(secret)] if secret else []))


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    parser = build_parser()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may not know every character of a table
    options = argparse.Namespace(stopped="")
    try:
        Path.cwd()
        options = parser.parse_args(words)
        if options.plugin and options.joins is surveyed:
            hide_from_plugins(options)
        for file in options.plugin or ():
            add_plugin(file, options.joins)
        code: int = options.command(options)
        if sys.stdout is not None:
            sys.stdout.flush()
    except UsageError as error:
        say(f"paramid: {error}")
        return USAGE
    except (StoreError, CrewError) as error:
        say(f"paramid: {error}")
        return FAILED
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one would end what ends the rest
        say(f"paramid: stopped{options.stopped and f'; {options.stopped}'}")
        return STOPPED
    except BrokenPipeError:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        return DONE
    except OSError as error:
        say(f"paramid: {error.filename or 'standard output'}: {error.strerror}")
        return FAILED
    return code


def add_plugin(file: str, join: Callable[[str], None]) -> None:
    """Register a plug-in; one that is broken is named, and the rest works."""
    try:
        join(file)
    except PluginError as error:
        registry.broken[file] = str(error)
        say(f"paramid: {error}; going on without it")


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
    common.add_argument("--version", action="version", version=f"paramid {paramid.__version__}")
    common.add_argument("--plugin", action="append", metavar="FILE.py", help="a file with METHODS and / or TASKS")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, module in COMMANDS.items():
        made = commands.add_parser(
            name,
            parents=[common],
            help=(module.__doc__ or "").partition("\n")[0],
            description=module.__doc__,
            epilog="\n  ".join(["examples:", *module.EXAMPLE.splitlines()]),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.arguments(made.add_argument)
        joins = surveyed if module in RECORDING else plugins.add_plugin
        made.set_defaults(command=module.act, stopped=getattr(module, "WHEN_STOPPED", ""), joins=joins)
    return parser
