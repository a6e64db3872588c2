"""Where and with what a record was made."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path

import paramid
from paramid.contracts.registry import is_control
from paramid.records import machine
from paramid.records.record import Record

PACKAGES = ("torch", "numpy", "scipy", "pandas", "scikit-learn")


def collect(threads: int, workers: int) -> dict[str, object]:
    """The facts of a run, gathered once."""
    return {
        "paramid": paramid.__version__,
        **git(Path(__file__).resolve().parent),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": machine.cpu_model(),
        "cores": machine.cores(),
        "ram_mb": machine.ram_mb(),
        "dtype": "float64",
        "threads": threads,
        "workers": workers,
    }


def project_url() -> str:
    """Where the project lives, by the first of its package's addresses; empty where it names none."""
    try:
        named = metadata("paramid").get_all("Project-URL") or [""]
    except PackageNotFoundError:
        return ""
    return str(named[0]).partition(",")[2].strip().rstrip("/")


def git(folder: Path) -> dict[str, object]:
    """The commit of a checkout and whether it has uncommitted changes; unknown outside one."""
    commit = _git(folder, "rev-parse", "HEAD")
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "dirty": bool(changed) if commit else None}


def subjects(folder: Path, commits: Sequence[str]) -> dict[str, str]:
    """The first line of what each commit says, of those that the checkout around a folder has."""
    told = _git(folder, "log", "--no-walk", "--ignore-missing", "--format=%H%x09%s", *commits, "--") if commits else ""
    return {hash_: words for line in (told or "").splitlines() for hash_, _, words in (line.partition("\t"),)}


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def made_on(records: Sequence[Record]) -> list[str]:
    """Date, commit and hardware; how many of them where they are not one."""
    commits = sorted({str(r.provenance.get("commit") or "unknown")[:10] for r in records})
    machines = sorted(
        {f"{r.provenance.get('cores', '?')} cores of {r.provenance.get('cpu', 'unknown')}" for r in records}
    )
    if not records:
        return ["no record yet"]
    return [
        days(records),
        f"commit {commits[0]}" if len(commits) == 1 else f"{len(commits)} commits",
        machines[0] if len(machines) == 1 else f"{len(machines)} machines",
    ]


def kinds_of_machines(records: Sequence[Record]) -> list[str]:
    """Processors and threads within which seconds compare; those of the controls say nothing."""
    measured = (r for r in records if not is_control(r.method))
    return sorted({f"{r.provenance.get('cpu', 'unknown')} with {r.threads} threads" for r in measured})


def mixed_seconds(records: Sequence[Record]) -> str:
    """What is to be said beside seconds that come from several kinds of machines; nothing where it is one."""
    kinds = kinds_of_machines(records)
    return "" if len(kinds) < 2 else f"seconds come from {len(kinds)} kinds of machines and compare within one alone"


def days(records: Sequence[Record]) -> str:
    """The day on which records were made, or the first and the last."""
    known = sorted({str(r.provenance.get("finished", ""))[:10] for r in records} - {""})
    return "unknown" if not known else known[0] if len(known) == 1 else f"{known[0]} to {known[-1]}"
