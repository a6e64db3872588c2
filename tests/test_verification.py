"""Bundles are believed in nothing, and what a rerun contradicts is disputed."""

import io
import json
import stat
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from paramid.cli import main
from paramid.records import agreement, keys
from paramid.records.publications import bundles
from paramid.records.publications.bundles import Refused, pack, unpack
from paramid.records.record import Record
from paramid.running.cell import Cell, plan_cell
from paramid.running.verification import reruns
from paramid.running.verification.reruns import verify
from paramid.words.status import Status
from tests.records import declined, failed, made

TASK = "shallow:D=5,m=2"


def real(seed: int = 0, error: float = 1e-5, method: str = "spm", **told: object) -> Record:
    """A record with the key that its cell has here."""
    cell = plan_cell(method, TASK, seed=seed, time_limit=30.0)
    return made(method, TASK, seed, error, key=cell.key(), budget=cell.budget, **told)


def silent(_: str) -> None:
    """Nobody listens."""


def held(*records: Record) -> dict[str, Record]:
    return {f"{i:02}": r for i, r in enumerate(records)}


AGREEING = {
    "the same": (made(), made()),
    "another time and machine": (made(), made(seconds=90.0, threads=8)),
    "within a factor of ten": (made(error=1e-5), made(error=9e-5)),
    "both at rounding": (made(error=1e-16), made(error=9e-13)),
    "both declined": (declined(), declined(reason="other words")),
}
DIFFERING = {
    "recorded error 1e-5, found 1.1e-3": (made(error=1e-5), made(error=1.1e-3)),
    "recorded finished, found gave_up": (made(), failed(Status.GAVE_UP)),
    "recorded 1,000 queries, found 1,001": (made(rows=1000), made(rows=1001)),
    "recorded identified, found not": (made(error=9e-3), made(error=2e-2)),
}


@pytest.mark.parametrize("pair", AGREEING)
def test_what_agrees_within_the_tolerances(pair: str) -> None:
    assert agreement.disagreement(*AGREEING[pair]) is None


@pytest.mark.parametrize("wanted", DIFFERING)
def test_what_differs_is_said(wanted: str) -> None:
    assert agreement.disagreement(*DIFFERING[wanted]) == wanted


def test_devices_may_count_other_rows_and_machines_run_out_of_time() -> None:
    assert agreement.disagreement(made(), made(device="cuda", rows=7)) is None
    assert not agreement.comparable(made(), failed(Status.TIMED_OUT))


def test_a_sample_takes_its_share_of_every_method() -> None:
    records = held(*(made(m, seed=s) for m in ("a", "b") for s in range(20)), made("c"), declined(method="c", seed=1))
    drawn = reruns.sample(records, 0.1)
    assert [records[d].method for d in drawn].count("a") == 2
    assert [records[d].status for d in drawn if records[d].method == "c"] == [Status.FINISHED]
    assert drawn == reruns.sample(records, 0.1)
    assert drawn != reruns.sample(records, 0.1, salt="another day")


def test_claims_that_reproduce_are_verified_and_those_that_do_not_dispute_their_method() -> None:
    records = held(*(real(seed=s) for s in range(4)), real(method="spectral-norm"))

    def rerun(cell: Cell, threads: int) -> Record:
        return real(cell.seed, 1e-1 if cell.method == "spectral-norm" else 2e-5, cell.method)

    told: list[str] = []
    found = verify(records, 0.5, tell=told.append, rerun=rerun)
    assert (
        told[0] == "3 cells to run again: 0:00:06 by their records, at most 0:01:30 by their limits, judging excluded"
    )
    assert [line.partition(", seed")[0] for line in told[1::2]] == [
        f"[1/3] spm before {TASK}", f"[3/3] spectral-norm before {TASK}",
    ]  # fmt: skip
    assert found.disputed == {"spectral-norm"}
    assert found.counts() == {"verified": 2, "unverified": 2, "disputed": 1}
    assert "disputed    spectral-norm" in found.table()
    assert "recorded identified, found not" in found.table()
    assert len(found.lines()) == 3


def test_what_other_code_made_is_disputed_in_a_bundle_and_run_again_in_an_audit() -> None:
    records = held(replace(real(), key="0" * 24))

    def never(cell: Cell, threads: int) -> Record:
        raise AssertionError("it was run")

    assert verify(records, tell=silent, rerun=never).counts()["disputed"] == 1
    same = verify(records, tell=silent, strict=False, rerun=lambda cell, threads: real(error=2e-5))
    assert same.counts() == {"verified": 1, "unverified": 0, "disputed": 0}
    changed = verify(records, tell=silent, strict=False, rerun=lambda cell, threads: real(error=2e-2))
    assert changed.counts() == {"verified": 0, "unverified": 1, "disputed": 0}
    assert "other code made it: recorded" in changed.table()


def test_what_a_machine_decides_is_left_open() -> None:
    records = held(real(status=Status.TIMED_OUT))
    found = verify(records, tell=silent, rerun=lambda cell, threads: real())
    assert found.counts() == {"verified": 0, "unverified": 1, "disputed": 0}
    assert "machines decide that" in found.table()


def test_a_bundle_is_the_same_bytes_and_comes_back(tmp_path: Path) -> None:
    records = [real(seed=s) for s in range(3)]
    packed = pack(records, {"cpu": "x"})
    assert packed == pack(records[::-1], {"cpu": "x"})
    (tmp_path / "b.zip").write_bytes(packed)
    bundle = unpack(tmp_path / "b.zip")
    assert list(bundle.records.values()) == records
    assert bundle.manifest["methods"]["spm"]["source"] == keys.identity("methods", "spm")["source"]
    assert bundles.problems(bundle) == []


def zipped(path: Path, *entries: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made_zip:
        for name, content in entries:
            made_zip.writestr(name, content)
    return path


def linked(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return entry


MANIFEST = b'{"schema": 1, "methods": {}, "tasks": {}, "environment": {}}'
HOSTILE = {
    "climbs out of the bundle": [("../records.jsonl", b"")],
    "'a\\\\..\\\\..\\\\b' climbs out": [("a\\..\\..\\b", b"")],
    "is an absolute path": [("/etc/passwd", b"")],
    "'C:/x' is an absolute path": [("C:/x", b"")],
    "is a link": [(linked("records.jsonl"), b"/etc/passwd")],
    "manifest.json and records.jsonl were wanted": [("other", b"")],
    "holds manifest.json, manifest.json": [("manifest.json", MANIFEST), ("manifest.json", MANIFEST)],
    "at most 1,048,576 were wanted": [("manifest.json", b" " * (2**20 + 1)), ("records.jsonl", b"")],
    "has schema 2; this version reads 1": [("manifest.json", b'{"schema": 2}'), ("records.jsonl", b"")],
    "no environment, methods, tasks": [("manifest.json", b'{"schema": 1}'), ("records.jsonl", b"")],
    "is damaged": [("manifest.json", b'{"schema": NaN}'), ("records.jsonl", b"")],
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("wanted", HOSTILE)
def test_a_hostile_bundle_is_refused(wanted: str, tmp_path: Path) -> None:
    with pytest.raises(Refused) as error:
        unpack(zipped(tmp_path / "b.zip", *HOSTILE[wanted]))
    assert wanted in str(error.value)


def test_a_bomb_whose_head_lies_is_refused(tmp_path: Path) -> None:
    bomb = zipped(tmp_path / "b.zip", ("manifest.json", b" " * 2**22), ("records.jsonl", b""))
    content = bomb.read_bytes().replace((2**22).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    bomb.write_bytes(content)
    with pytest.raises(Refused):
        unpack(bomb)


@pytest.mark.parametrize("content", [b"", b"no zip at all", b"PK\x03\x04" + b"\x00" * 50])
def test_what_is_no_bundle_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "b.zip").write_bytes(content)
    with pytest.raises(Refused, match="is no bundle"):
        unpack(tmp_path / "b.zip")


def test_tampered_lines_and_other_code_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "b.zip"
    with zipfile.ZipFile(io.BytesIO(pack([real(), real(seed=1)], {}))) as opened:
        texts = {name: opened.read(name).decode() for name in opened.namelist()}
    manifest = json.loads(texts["manifest.json"])
    manifest["methods"]["spm"]["source"] = "0" * 64
    records = texts["records.jsonl"].replace('"error":1e-05', '"error":1e-15', 1)
    zipped(path, ("manifest.json", json.dumps(manifest).encode()), ("records.jsonl", records.encode()))
    assert main(["verify", str(path)]) == 1
    said = capsys.readouterr()
    assert "records.jsonl:1: tampered" in said.err
    assert "spm: the code here is not the code that made its records" in said.err
    assert said.out == "refused: b.zip, 2 problems\n"


@pytest.mark.slow
def test_a_method_is_submitted_and_verified_and_a_liar_disputed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, bundle = (str(tmp_path / name) for name in ("store", "spm.zip"))
    compare = ["compare", "--methods", "spm", "--tasks", TASK, "--seeds", "2", "--workers", "1", "--store", store]
    assert main(compare) == 0
    assert main(["submit", "spm", "--store", store, "--out", bundle]) == 0
    assert main(["verify", bundle, "--sample", "0.5", "--salt", "s"]) == 0
    came = capsys.readouterr()
    assert "1 verified, 1 unverified, 0 disputed" in came.out
    assert "the sample is drawn from --salt s" in came.err
    lines = [line for line in f"{came.out}{came.err}".splitlines() if "seed" in line]
    assert len(set(lines)) == len(lines)
    lies = [lying(r) for r in unpack(Path(bundle)).records.values()]
    Path(bundle).write_bytes(pack(lies, {}))
    assert main(["verify", bundle, "--sample", "0.5"]) == 1
    assert "disputed: spm\n" in capsys.readouterr().out


def lying(record: Record) -> Record:
    """The same with a better error, wherever it is told."""
    *before, last = record.claims
    last = replace(last, metrics={**last.metrics, "error": 1e-15})
    return replace(record, metrics={**record.metrics, "error": 1e-15}, claims=(*before, last))
