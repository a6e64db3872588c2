"""Publications are appended, checked line by line, and what cannot be trusted is named."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from paramid.board.summary import Summary
from paramid.cli import main
from paramid.records.publications import published
from paramid.records.publications.door import Untrusted
from paramid.records.publications.lines import LONGEST, Verdict, canonical, digest, fingerprint, line, parse
from paramid.records.publications.published import publish, read
from paramid.records.record import Record, dump
from paramid.words.status import Status
from tests.records import made


def text(record: Record) -> str:
    return line("record", record)


def resealed(change: dict[str, object]) -> str:
    """A record that somebody changed and hashed anew."""
    inside = {**json.loads(text(made()))["record"], **change}
    return canonical({"schema": 1, "sha256": digest(inside), "record": inside})


def test_what_is_published_is_read_again(tmp_path: Path) -> None:
    records = [
        made(seed=s, metrics={"error": 1e-5, "bits": float("-inf"), "outer_error": float("inf")}) for s in (0, 1)
    ]
    path, count = publish(records, tmp_path / "records", "2026-11-18-abc")
    assert (path.name, count) == ("2026-11-18-abc.jsonl", 2)
    found = read(tmp_path / "records")
    assert list(found.records.values()) == records
    assert found.refused == ()
    assert [fingerprint(r) for r in records] == list(found.records)


def test_publishing_appends_and_never_touches_what_is_there(tmp_path: Path) -> None:
    first, _ = publish([made()], tmp_path, "day")
    before = first.read_bytes()
    assert publish([made()], tmp_path, "day") == (None, 0)
    second, count = publish([made(), made(seed=1)], tmp_path, "day")
    assert (second.name, count) == ("day-2.jsonl", 1)
    assert first.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["day-2.jsonl", "day.jsonl"]


def test_the_same_records_make_the_same_bytes(tmp_path: Path) -> None:
    records = [made(m, seed=s) for m in ("spm", "sgd") for s in range(3)]
    one, two = (publish(r, tmp_path / n, "x")[0] for n, r in (("a", records), ("b", records[::-1])))
    assert one.read_bytes() == two.read_bytes()


BAD = {
    "tampered: the hash of its record": text(made()).replace('"error":1e-05', '"error":1e-15'),
    "schema is 2; 1, which this version reads": text(made()).replace('"schema":1,"sha256"', '"schema":2,"sha256"'),
    "NaN is no JSON number": text(made()).replace('"seconds":2.0', '"seconds":NaN'),
    "Infinity is no JSON number": text(made()).replace('"seconds":2.0', '"seconds":Infinity'),
    "damaged": text(made())[:200],
    "an object with a schema was wanted": "[1, 2]",
    "schema, sha256 and one of record, self-reported, entry, verdict": '{"schema": 1, "sha256": "x"}',
    "no record: schema is 9; 1 was wanted": resealed({"schema": 9}),
    "no record: status is 'perhaps'; finished or": resealed({"status": "perhaps"}),
    "error is nan; a number from 0": resealed({"metrics": {"error": "NaN"}}),
    "error is -1.0; a number from 0": resealed({"metrics": {"error": -1}}),
    "seconds is -1": resealed({"seconds": -1}),
    "queries is 'many'": resealed({"queries": "many"}),
    "seed is '0'; a whole number from 0 to 9.22": resealed({"seed": "0"}),
    "no record: no derivatives, metrics, moments": resealed({"claims": [{"kind": "Network"}]}),
    "not in the order of their seconds": resealed({"claims": json.loads(text(made()))["record"]["claims"][::-1]}),
}


@pytest.mark.parametrize("wanted", BAD)
def test_a_line_that_cannot_be_trusted_is_named(wanted: str) -> None:
    with pytest.raises(Untrusted) as error:
        parse(BAD[wanted])
    assert wanted in str(error.value)


def test_the_rest_stands_and_stays_in_the_ranking(tmp_path: Path) -> None:
    lines = [text(made("honest")), *(bad.strip() + "\n" for bad in BAD.values()), text(made("honest")), "\x00\xff\n"]
    (tmp_path / "a.jsonl").write_bytes("".join(lines).encode("latin-1", "replace"))
    found = read(tmp_path)
    assert [r.method for r in found.records.values()] == ["honest"]
    assert len(found.refused) == len(lines) - 1
    assert found.refused[0].startswith("a.jsonl:2: tampered")
    assert found.refused[-2] == f"a.jsonl:{len(lines) - 1}: a duplicate of an earlier line"
    assert list(Summary(found.records.values(), (), found.refused).entrants) == ["honest"]


def test_a_long_line_and_a_deep_one_are_refused() -> None:
    for hostile, wanted in (("x" * (LONGEST + 1), "characters"), ("[" * 100_000, "damaged")):
        with pytest.raises(Untrusted, match=wanted):
            parse(hostile)


def test_a_verdict_is_a_line_of_its_own(tmp_path: Path) -> None:
    record = made()
    verdict = Verdict(fingerprint(record), "disputed", "r")
    published.append([text(record), line("verdict", verdict)], tmp_path, "a")
    found = read(tmp_path)
    summary = Summary(found.records.values(), found.verdicts)
    assert summary.disputed == {"spm"}
    assert summary.tables == {}
    with pytest.raises(Untrusted, match="verdict is 'perhaps'; verified or disputed"):
        parse(line("verdict", replace(verdict, verdict="perhaps")))


def test_a_verdict_names_a_line_that_an_earlier_version_wrote(tmp_path: Path) -> None:
    told = made().to_json()
    del told["cpu_seconds"]  # as it was before there was one
    known = digest(told)
    (tmp_path / "a.jsonl").write_text(
        canonical({"schema": 1, "sha256": known, "record": told}) + "\n" + line("verdict", Verdict(known, "disputed"))
    )
    found = read(tmp_path)
    assert Summary(found.records, found.verdicts).disputed == {"spm"}


def test_what_a_submitter_reports_again_in_the_next_epoch_is_no_fault(tmp_path: Path) -> None:
    for _ in range(2):
        published.append([line("self-reported", made())], tmp_path, "a")
    found = read(tmp_path)
    assert (len(found.self_reported), found.refused) == (1, ())


@pytest.fixture
def store(tmp_path: Path) -> Path:
    cells = tmp_path / "store" / "cells"
    cells.mkdir(parents=True)
    for r in (made("spm"), made("sgd", access="samples"), made("spm", status=Status.TIMED_OUT, seed=1)):
        (cells / f"{r.key}-1.json").write_text(dump(r.to_json()))
    return cells.parent


def test_the_commands_publish_and_read(tmp_path: Path, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    to = tmp_path / "records"
    assert main(["publish", "--store", str(store), "--to", str(to), "--methods", "spm"]) == 0
    assert "2 records" in capsys.readouterr().out
    assert main(["publish", "--store", str(store), "--to", str(to)]) == 0
    assert "1 records" in capsys.readouterr().out
    assert main(["publish", "--store", str(store), "--to", str(to)]) == 0
    assert "nothing new" in capsys.readouterr().out
    with next(to.iterdir()).open("a") as file:
        file.write("{}\n")
    tables = []
    for words in (["--store", str(store)], ["--records", str(to)]):
        assert main(["table", "--format", "markdown", *words]) == 0
        tables.append(capsys.readouterr())
    assert sorted(tables[0].out.splitlines()) == sorted(tables[1].out.splitlines())
    assert "no published line" in tables[1].err


def test_what_no_reader_would_take_is_not_published(
    tmp_path: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = made("spm", seed=7, metrics={"error": float("nan")})
    (store / "cells" / f"{bad.key}-1.json").write_text(dump(bad.to_json()))
    assert main(["publish", "--store", str(store), "--to", str(tmp_path / "records")]) == 0
    assert "seed 7 stays out: no record: error is nan" in capsys.readouterr().err
    assert read(tmp_path / "records").refused == ()


def test_records_that_are_not_there_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("table", "board"):
        assert main([command, "--records", str(tmp_path / "none")]) == 2
        assert "no published records at" in capsys.readouterr().err
