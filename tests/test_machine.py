"""Threads, and what a machine or its container grants."""

import math
from collections.abc import Mapping
from pathlib import Path

import pytest

from paramid.records import machine
from paramid.running import threads
from paramid.words.naming import UsageError

GROUPS = {
    "no quota": ("0::/a\n", {"cpu.max": "max 100000", "a/cpu.max": "max 100000"}, math.inf),
    "version 2, its own": ("0::/a/b\n", {"cpu.max": "max 100000", "a/b/cpu.max": "150000 100000"}, 1.5),
    "version 2, the least": ("0::/a/b\n", {"a/cpu.max": "50000 100000", "a/b/cpu.max": "400000 100000"}, 0.5),
    "version 2, in a container": ("0::/\n", {"cpu.max": "200000 100000"}, 2.0),
    "version 1": (
        "3:cpu,cpuacct:/a\n2:memory:/\n0::/\n",
        {"cpu,cpuacct/a/cpu.cfs_quota_us": "300000", "cpu,cpuacct/a/cpu.cfs_period_us": "100000"},
        3.0,
    ),
    "version 1, seen from inside its group": (
        "3:cpu,cpuacct:/docker/a\n", {"cpu/cpu.cfs_quota_us": "250000", "cpu/cpu.cfs_period_us": "100000"}, 2.5
    ),
    "version 1, unlimited": ("1:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, math.inf),
    "nonsense": ("hello\n0::/a\n", {"a/cpu.max": "many few"}, math.inf),
}  # fmt: skip


@pytest.mark.parametrize(("membership", "files", "wanted"), GROUPS.values(), ids=GROUPS)
def test_a_quota_of_a_container_is_seen(
    membership: str, files: Mapping[str, str], wanted: float, tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / "cgroup" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "cgroup" / name).write_text(f"{text}\n")
    (tmp_path / "membership").write_text(membership)
    assert machine.quota(tmp_path / "cgroup", tmp_path / "membership") == wanted


def test_where_there_are_no_groups_there_is_no_quota(tmp_path: Path) -> None:
    assert machine.quota(tmp_path, tmp_path / "nothing") == math.inf


def test_cores_are_whole_and_at_least_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for share, wanted in ((0.3, 1), (1.5, 1), (1e9, machine.cores())):
        monkeypatch.setattr(machine, "quota", lambda share=share: share)
        assert machine.cores() == wanted


@pytest.mark.parametrize(
    ("given", "said", "wanted"), [(None, "", 1), (None, "3", 3), (None, "4,2", 4), (None, "many", 1), (2, "3", 2)]
)
def test_threads_are_those_asked_for_else_what_the_environment_says(given: int | None, said: str, wanted: int) -> None:
    assert threads.chosen(given, {"OMP_NUM_THREADS": said}) == wanted


@pytest.mark.parametrize("bad", [0, -1, 1.5, "two"])
def test_other_numbers_of_threads_are_refused(bad: int) -> None:
    with pytest.raises(UsageError, match="a whole number from 1 was wanted"):
        threads.chosen(bad)


def test_several_threads_spin_for_a_short_while_unless_the_user_has_said_how() -> None:
    assert threads.pinned(2, {})["GOMP_SPINCOUNT"] == str(threads.SPIN)
    assert "GOMP_SPINCOUNT" not in threads.pinned(1, {})
    assert "GOMP_SPINCOUNT" not in threads.pinned(2, {"OMP_WAIT_POLICY": "ACTIVE"})
    assert threads.pinned(2, {"GOMP_SPINCOUNT": "7"})["GOMP_SPINCOUNT"] == "7"
    assert (
        threads.pinned(2, {"HOME": "/h", "OMP_NUM_THREADS": "9"}).items()
        >= {"HOME": "/h", "OMP_NUM_THREADS": "2"}.items()
    )
