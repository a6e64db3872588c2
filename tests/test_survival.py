"""A comparison survives everything at once: misbehaving methods, two commands on one store, a kill, a full disk."""

import gc
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pytest

from paramid import Status
from paramid.contracts import plugins, registry
from paramid.records.store import Store
from paramid.running.compare import Comparison
from paramid.running.progress import Progress

PLUGIN = Path(__file__).with_name("misbehaving.py")
plugins.add_plugin(PLUGIN)
ENDINGS = registry.load(registry.target("methods", "misbehaving")).ENDINGS
GOOD = ("spm:refine=none", "spectral-norm:refine=none", "truth", "random")
TASK = "shallow:D=4,m=2,N=1000000"
ROUNDS = int(os.environ.get("PARAMID_ROUNDS", "1"))  # of cells of every kind
SECONDS = float(os.environ.get("PARAMID_SECONDS", "20"))  # that two commands write one store, with -m kills
PATIENT = ("floods", "grandchildren")
LIMITS = {"time_limit": 2.0, "query_limit": 1000, "memory_limit": 4000.0}


def planned(store: Path, count: int) -> list[Comparison]:
    """Of every kind so many; a thousand claims, or a hundred processes, take their time."""
    quick = [f"misbehaving:how={how}" for how in ENDINGS if how not in PATIENT] + list(GOOD)
    seeds = range(-(-count // len(ENDINGS)))
    patient = {**LIMITS, "time_limit": 60.0}
    return [
        Comparison.planned(methods, [TASK], seeds, store=store, workers=2, **limits)
        for methods, limits in ((quick, LIMITS), ([f"misbehaving:how={how}" for how in PATIENT], patient))
    ]


def resident_mb() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def children() -> set[str]:
    return set("".join(p.read_text() for p in Path("/proc/self/task").glob("*/children")).split())


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("count", [len(ENDINGS), pytest.param(200, marks=pytest.mark.kills)])
def test_cells_of_every_kind(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"  # of its own: tests beside this one have their servers' folders in the common one
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    beside = children()  # of tests before this one
    for comparison in planned(tmp_path / "warm", 1):
        comparison.run_missing(Progress())
    before = resident_mb()
    for number in range(ROUNDS):
        comparisons = planned(tmp_path / str(number), count)
        for comparison in comparisons:
            comparison.run_missing(Progress())
        records = [record for comparison in comparisons for record in comparison.results()]
        assert len(records) == sum(len(comparison.cells) for comparison in comparisons) >= count
        for record in records:
            how = record.method.partition("how=")[2]
            assert record.status is ENDINGS.get(how, Status.FINISHED), record
    assert resident_mb() < before + 10 + count / 20
    assert children() <= beside
    assert not list(scratch.iterdir())


def command(store: Path) -> list[str]:
    words = [sys.executable, "-m", "paramid", "compare", "--methods", "misbehaving", "truth", "random"]
    tasks = [f"shallow:D={d},m=2" for d in range(2, 22)]
    return [*words, "--plugin", str(PLUGIN), "--tasks", *tasks, "--seeds", "40", "--store", str(store)]


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [5, pytest.param(SECONDS, marks=pytest.mark.kills)])
def test_two_commands_write_one_store_and_one_is_killed_at_random(seconds: float, tmp_path: Path) -> None:
    chance, store, ends = random.Random(0), tmp_path / "store", time.monotonic() + seconds
    steady, kills = None, 0
    while time.monotonic() < ends:
        if steady is None or steady.poll() is not None:
            steady = subprocess.Popen(command(store), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        other = subprocess.Popen(command(store), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(4, 12))
        kills += other.poll() is None
        other.kill()
        other.wait()
    assert kills >= 1
    while steady.poll() is None and len(list((store / "cells").glob("[!.]*"))) <= kills:
        time.sleep(0.1)
    steady.send_signal(signal.SIGINT)
    assert steady.wait(timeout=300) in (0, 130)
    seen = {path.name for path in (store / "cells").glob("[!.]*")}  # what was killed while writing leaves a .tmp
    whole = Store.existing(store)
    records = whole.records()
    assert len(records) == len(seen) > kills  # how many more is the machine's affair
    assert max(Counter(name.rpartition("-")[0] for name in seen).values()) == 1
    assert all(r.answered for r in records)
    held = {path.stem for path in (store / "claims").iterdir()}
    assert {f"{r.key}-1" for r in records} <= held


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="limits the size of files")
def test_a_full_disk_is_a_clear_end_and_the_same_command_completes(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "paramid", "compare", "--methods", "truth", "random", "--tasks", "shallow:D=30,m=40"]
    words += ["--seeds", "3", "--store", str(tmp_path / "s")]
    limited = ["bash", "-c", 'ulimit -f 8; trap "" XFSZ; exec "$@"', "bash", *words]
    full = subprocess.run(limited, capture_output=True, text=True)
    assert full.returncode == 1
    assert full.stderr.splitlines()[-1].startswith("paramid: the store ")
    assert "File too large; what it holds is safe, and the same command goes on from there" in full.stderr
    assert "Traceback" not in full.stderr
    assert not list((tmp_path / "s").rglob("*.tmp"))
    again = subprocess.run(words, capture_output=True, text=True)
    assert again.returncode == 0
    assert len(list((tmp_path / "s" / "cells").iterdir())) == 6
    assert len(list((tmp_path / "s" / "claims").iterdir())) == 6
