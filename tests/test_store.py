"""The store loses nothing, doubles nothing, and names what it cannot read."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import paramid
from paramid import Status
from paramid.records.record import Outcome, Record, dump
from paramid.records.selection import newest
from paramid.records.store import NODE, Store, StoreError
from paramid.running.inside_cell import pack


def record(key: str = "a1", **changes: object) -> Record:
    plain = Record(
        key=key, method="spm", task="shallow", seed=0, device="cpu", threads=1, budget={}, status=Status.FINISHED
    )
    return replace(plain, **changes)


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def store(tmp_path: Path, notes: list[str]) -> Store:
    return Store(tmp_path / "store", notes.append).open()


def test_what_is_added_is_found(store: Store) -> None:
    made = record(metrics={"error": float("inf"), "bits": float("nan")})
    store.add(Outcome(made))
    found = store.find("a1")
    assert found is not None
    assert found.metrics["error"] == float("inf")
    assert np.isnan(found.metrics["bits"])
    assert store.find("a2") is None


def test_a_second_attempt_stands_beside_the_first(store: Store) -> None:
    for status in (Status.TIMED_OUT, Status.FINISHED):
        store.add(Outcome(record(status=status)))
    assert store.find("a1").status is Status.FINISHED
    assert len(list((store.folder / "cells").iterdir())) == 2
    assert [r.status for r in store.records()] == [Status.FINISHED]


def test_claims_are_kept_as_arrays(store: Store) -> None:
    network = paramid.task("shallow:D=3,m=2").draw(0)
    store.add(Outcome(record(), pack(network.arrays())))
    with np.load(store.folder / "claims" / "a1-1.npz") as arrays:
        assert {n: arrays[n].shape for n in arrays.files} == {"W0": (3, 2), "b0": (2,), "W1": (2, 1), "b1": (1,)}


DAMAGES = {
    "truncated": lambda text: text[: len(text) // 2],
    "empty": lambda text: "",
    "foreign": lambda text: '{"a": 1}',
    "a list": lambda text: "[1, 2]",
    "binary": lambda text: "\x00\x01" * 50,
    "deep": lambda text: "[" * 100_000,
    "of no schema": lambda text: text.replace('"schema": 1', '"schema": "one"'),
    "of another key": lambda text: text.replace('"key": "a1"', '"key": "b7"'),
    "without a status": lambda text: text.replace('"status"', '"stats_"'),
    "of an unknown status": lambda text: text.replace('"finished"', '"perhaps"'),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_record_is_named_and_set_aside(damage: str, store: Store, notes: list[str]) -> None:
    store.add(Outcome(record()))
    store.add(Outcome(record("good")))
    path = store.folder / "cells" / "a1-1.json"
    path.write_text(DAMAGES[damage](path.read_text()))
    assert [r.key for r in store.records()] == ["good"]
    assert store.find("a1") is None
    assert "a1-1.json" in notes[0]
    assert path.with_suffix(".damaged").exists()
    store.add(Outcome(record()))
    assert store.find("a1") is not None
    assert (store.folder / "cells" / "a1-2.json").exists()


def test_no_file_is_ever_replaced(store: Store) -> None:
    path = store.folder / "cells" / "x-1.json"
    assert store._write(path, b"first")
    assert not store._write(path, b"second")
    assert path.read_bytes() == b"first"
    assert not list(store.folder.rglob("*.tmp"))


def test_half_written_files_of_the_dead_are_swept(store: Store) -> None:
    dead, mine = (store.folder / "cells" / f".{pid}.abc.tmp" for pid in (2**22 + 1, 1))
    for path in (dead, mine):
        path.write_text("half")
    store.open()
    assert (dead.exists(), mine.exists()) == (False, True)


def test_half_written_files_of_other_machines_are_left(store: Store) -> None:
    here, there = (store.folder / "cells" / f".{2**22 + 1}@{node}.abc.tmp" for node in (NODE, f"{NODE}-other"))
    for path in (here, there):
        path.write_text("half")
    store.open()
    assert (here.exists(), there.exists()) == (False, True)


def test_the_newest_of_a_cell_is_the_one_made_last() -> None:
    old, new = (record(f"k{n}", provenance={"finished": f"2026-01-0{n}"}) for n in (1, 2))
    assert [r.key for r in newest([new, old])] == ["k2"]
    assert len(newest([old, replace(new, seed=1)])) == 2


def test_json_is_strict() -> None:
    text = dump({"a": float("nan"), "b": [float("inf"), -float("inf")], "c": 1.5})
    assert json.loads(text) == {"a": "NaN", "b": ["Infinity", "-Infinity"], "c": 1.5}


def test_a_missing_store_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no store at"):
        Store.existing(tmp_path / "nowhere")


def test_a_newer_schema_is_named_and_left_as_it_is(store: Store, notes: list[str]) -> None:
    store.add(Outcome(record()))
    path = store.folder / "cells" / "a1-1.json"
    newer = path.read_text().replace('"schema": 1', '"schema": 99')
    path.write_text(newer)
    assert store.find("a1") is None
    assert "has schema 99, this version reads 1; left as it is" in notes[0]
    store.add(Outcome(record()))
    assert path.read_text() == newer
    assert [r.key for r in store.records()] == ["a1"]


def test_a_claim_without_its_record_keeps_its_number(store: Store) -> None:
    network = paramid.task("shallow:D=3,m=2").draw(0)
    (store.folder / "claims" / "a1-1.npz").write_bytes(b"of a command that was killed")
    store.add(Outcome(record(), pack(network.arrays())))
    assert (store.folder / "cells" / "a1-2.json").exists()
    assert (store.folder / "claims" / "a1-1.npz").read_bytes() == b"of a command that was killed"


def test_what_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot be written: Not a directory$"):
        Store(tmp_path / "file" / "store").open()


def test_a_cell_is_worked_on_by_one_command(store: Store) -> None:
    code = (
        "import sys; from paramid.records.store import Store\n"
        "with Store(sys.argv[1]).open().alone(sys.argv[2]) as alone: print(alone)"
    )

    def elsewhere(key: str) -> str:
        done = subprocess.run([sys.executable, "-c", code, str(store.folder), key], capture_output=True, text=True)
        return done.stdout.strip()

    with store.alone("a1") as alone:
        assert alone
        assert (elsewhere("a1"), elsewhere("a2")) == ("False", "True")
    assert elsewhere("a1") == "True"


def test_a_store_that_became_unwritable_says_that_what_it_holds_is_safe(store: Store) -> None:
    (store.folder / "runs").rmdir()
    (store.folder / "runs").write_text("")
    with pytest.raises(StoreError, match="what it holds is safe, and the same command goes on from there"):
        store.start_run({"started": "2026-11-18"})
