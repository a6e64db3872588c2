"""Epochs: teachers drawn from a secret whose hash is published first, so that nobody can choose them.

`open` makes the secret, keeps it outside the repository, and writes its hash; `close` shows it, and anybody can draw
the same teachers again (`paramid audit`); `list` names what there is. The files are committed as they are written.
"""

import argparse
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from paramid.commands import DONE, Add
from paramid.commands.arguments import warn
from paramid.words.naming import UsageError

EXAMPLE = """paramid epoch list
paramid epoch open 2026-12 --suite smoke --epochs my-epochs --secret my-secret
paramid epoch close 2026-12 --epochs my-epochs --secret my-secret"""


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    add("action", choices=("open", "close", "list"))
    add("name", nargs="?", metavar="NAME", help="such as 2026-12")
    add("--suite", default="standard", metavar="NAME", help="whose tasks it draws (default: standard)")
    add("--seeds", type=int, metavar="K", help="fresh seeds of every task (default: as many as the suite says)")
    epochs_folder(add)
    secret_file(add)


def epochs_folder(add: Add) -> None:
    """Where epochs are."""
    add("--epochs", type=Path, metavar="DIR", help="default: leaderboard/epochs")


def secret_file(add: Add) -> None:
    """Where an epoch's secret is kept."""
    add(
        "--secret", type=Path, metavar="FILE",
        help="the epoch's secret (default: ~/.config/paramid/epochs/NAME.secret)",
    )  # fmt: skip


def where(options: argparse.Namespace) -> Path:
    """The folder of epochs: the one given, the current checkout's, or that of what came with paramid."""
    from paramid.records.publications import epochs, published

    if options.epochs is not None:
        return Path(options.epochs)
    here = published.FOLDER.parent / "epochs"
    return here if published.FOLDER.parent.is_dir() else epochs.folder(published.whereabouts(published.OWN))


def kept_secret(name: str) -> Path:
    """Where the secret of an epoch is kept where nobody says otherwise."""
    from paramid.words.secrets import kept

    return kept() / f"{name}.secret"


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    folder = where(options)
    if options.action == "list":
        return _list(folder)
    if options.name is None:
        raise UsageError(f"epoch {options.action}: a name such as 2026-12 was wanted")
    secret = options.secret or kept_secret(options.name)
    return _open(options, folder, secret) if options.action == "open" else _close(options.name, folder, secret)


def _list(folder: Path) -> int:
    from paramid.records.publications import epochs

    known, refused = epochs.read(folder)
    for note in refused:
        warn(note)
    for epoch in sorted(known.values(), key=lambda e: e.opened):
        state = f"closed {epoch.closed[:10]}" if epoch.closed else "open"
        print(f"{epoch.name}  {epoch.suite} version {epoch.version}  opened {epoch.opened[:10]}  {state}  "
              f"{epoch.commitment[:12]}…")  # fmt: skip
    if not known:
        print(f"no epoch in {folder}")
    return DONE


def _open(options: argparse.Namespace, folder: Path, secret: Path) -> int:
    from paramid.records.publications import epochs, lines
    from paramid.records.publications.door import Untrusted
    from paramid.running import suites
    from paramid.words.secrets import LEAST, Secret

    try:
        lines.EPOCH(options.name, "the name")
    except Untrusted as error:
        raise UsageError(f"{error}: letters, digits, dots and dashes") from error
    if options.seeds is not None and options.seeds < 1:
        raise UsageError(f"--seeds is {options.seeds}; a whole number from 1 was wanted")
    if (folder / f"{options.name}.json").exists():
        raise UsageError(f"epoch {options.name} is in {folder} already")
    if (inside := _repository(secret)) is not None:
        raise UsageError(f"the secret would be in the repository {inside}; a --secret outside of any was wanted")
    if options.suite not in suites.suites():
        raise UsageError(f"suite {options.suite!r}; one that everybody has was wanted: `paramid list suites`")
    suite = suites.suite(options.suite)
    if not secret.exists():
        secret.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(os.urandom(LEAST))
    commitment = Secret.given(secret).fingerprint
    if used := [e.name for e in epochs.read(folder)[0].values() if e.commitment == commitment]:
        raise UsageError(
            f"{secret} is the secret of epoch {used[0]}; another was wanted, or a file that is not there yet"
        )
    epoch = epochs.Epoch(
        name=options.name,
        suite=suite.name,
        version=suite.version,
        seeds=options.seeds,
        opened=_now(),
        commitment=commitment,
    )
    path = epochs.write(epoch, folder)
    print(
        f"wrote {path}: commit it before anybody submits; the secret is in {secret}, for nobody's eyes until it closes"
    )
    return DONE


def _close(name: str, folder: Path, secret: Path) -> int:
    from paramid.records.publications import epochs
    from paramid.words.secrets import Secret

    epoch, value = epochs.existing(name, folder), Secret.given(secret)
    if epoch.closed:
        raise UsageError(f"epoch {name} was closed on {epoch.closed[:10]}")
    if problem := epochs.changed(epoch, folder):
        raise UsageError(problem)
    if value.fingerprint != epoch.commitment:
        raise UsageError(f"{secret} is not the secret that epoch {name} was opened with")
    path = epochs.write(replace(epoch, closed=_now(), secret=value.value.hex()), folder)
    print(f"wrote {path}: the secret is shown; `paramid audit` draws its teachers again")
    return DONE


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _repository(file: Path) -> Path | None:
    """The git repository that a file would be in."""
    return next((above for above in file.resolve().parents if (above / ".git").exists()), None)
