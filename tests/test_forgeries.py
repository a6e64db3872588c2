"""Forged bundles: none changes a rank, none crashes anything, and of each is said in a line what is wrong with it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from paramid.board import site
from paramid.board.summary import Summary
from paramid.cli import main
from paramid.records.publications import bundles, epochs, lines, reports
from paramid.records.publications.bundles import Bundle, unpack
from paramid.records.publications.epochs import Epoch, Standing
from paramid.records.publications.published import read
from paramid.records.record import Record
from paramid.running.verification import reruns
from paramid.running.verification.submissions import Submission
from paramid.words.secrets import Secret
from tests.forgeries import BELIEVED, METHOD, REFUSED, honest

EPOCH = Epoch(name="e", suite="smoke", version=1, seeds=None, opened="2026-11-20", commitment="0" * 64)
SECRET = Secret(b"s" * 32)


def found(secret: str) -> list[Record]:
    """What the maintainers' run gives: a method whose error is 1e-5, and one that is better."""
    ours = honest() + honest(method="sphere-lm", error=1e-15)
    return [replace(r, secret=secret) for r in ours]


def entered(bundle: Bundle, folder: Path) -> Standing:
    """What ranks when the maintainers have run a bundle's methods, and two of their own."""
    both = {name: {"version": 1, "source": "1" * 64} for name in (METHOD, "sphere-lm")}
    told = replace(bundle, manifest={**bundle.manifest, "methods": both})
    epoch = replace(EPOCH, commitment=SECRET.fingerprint)
    frozen = epochs.frozen(both)
    drawn = epoch.drawn(SECRET.value, frozen)
    Submission(epoch, told, frozen, drawn, None).publish(found(drawn.fingerprint), folder, "x")  # type: ignore[arg-type]
    return epochs.standing(read(folder), {"e": epoch})


def ranks(stands: Standing) -> list[str]:
    """The methods in their order, with the page that says so."""
    summary = Summary(stands.ranked.values(), (), stands.notes, {}, stands.reported.values())
    assert "index.html" in site.build(summary)
    return [f"{row.method} {row.standing.score}" for row in summary.tables["shallow"]["queries"].rows]


@pytest.fixture(scope="module")
def as_it_is(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    folder = tmp_path_factory.mktemp("records")
    return ranks(entered(Bundle({}, {}, ()), folder))


def test_there_are_forgeries_enough() -> None:
    assert len(REFUSED) + len(BELIEVED) >= 40


@pytest.mark.parametrize("wanted", REFUSED)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_forged_bundle_is_refused_by_name(wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "b.zip"
    path.write_bytes(REFUSED[wanted]())
    assert main(["verify", str(path)]) in (1, 2)
    said = capsys.readouterr()
    assert wanted in said.err
    assert "Traceback" not in said.err
    assert max(map(len, said.err.splitlines())) < 400
    assert len(said.err.splitlines()) <= 101
    assert said.out in ("", f"refused: b.zip, {said.out.rpartition(', ')[2]}")


@pytest.mark.parametrize("name", BELIEVED)
def test_what_reads_as_honest_never_ranks(name: str, tmp_path: Path, as_it_is: list[str]) -> None:
    path = tmp_path / "b.zip"
    path.write_bytes(bundles.pack(BELIEVED[name], {"cpu": "x"}))
    bundle = unpack(path)
    assert [*bundles.problems(bundle), *reruns.unmade(bundle.records.values())] == []
    stands = entered(bundle, tmp_path / "records")
    assert ranks(stands) == as_it_is
    assert set(stands.reported) == set(bundle.records)
    assert not set(stands.reported) & set(stands.ranked)


def test_a_report_whose_errors_were_forged_is_named() -> None:
    told = {name: [str(r) for r in reports.compared(BELIEVED[name], found("x"))] for name in BELIEVED}
    for name, rows in told.items():
        forged = any(word in name for word in ("errors", "perfect", "GPU", "time limit", "nobody"))
        assert any("differs: errors" in row for row in rows) == forged, (name, rows)


def test_records_that_were_taken_out_of_an_entry_or_put_into_it_undo_it(tmp_path: Path) -> None:
    entered(Bundle({}, {}, ()), tmp_path)
    (file,) = tmp_path.iterdir()
    held = file.read_text().splitlines(keepends=True)
    known = {"e": replace(EPOCH, commitment=SECRET.fingerprint)}
    for forged in (held[:-1], [*held, held[1].replace("e-05", "e-06")], held[1:]):
        file.write_text("".join(forged))
        stands = epochs.standing(read(tmp_path), known)
        assert len(stands.ranked) in (0, len(held) - 1)
        assert (len(stands.ranked) == 0) == bool(stands.notes)


def test_an_entry_of_no_record_takes_nobodys_place(tmp_path: Path) -> None:
    entered(Bundle({}, {}, ()), tmp_path)
    known = {"e": replace(EPOCH, commitment=SECRET.fingerprint)}
    (real,) = read(tmp_path).entries
    empty = replace(real, secret="2" * 64, count=0, records=lines.of_records(()))
    (tmp_path / "a.jsonl").write_text(lines.line("entry", empty))  # read before the other
    stands = epochs.standing(read(tmp_path), known)
    assert len(stands.ranked) == 16
    assert "does not stand: it has no record of" in stands.notes[0]


def test_an_entry_stands_before_its_own_epoch_alone(tmp_path: Path) -> None:
    entered(Bundle({}, {}, ()), tmp_path)
    epoch = replace(EPOCH, commitment=SECRET.fingerprint)
    told = {
        "there is no such epoch": {},
        "of another secret, suite or version": {"e": replace(epoch, version=2)},
        "were not drawn from the epoch's secret": {"e": replace(epoch, closed="2026", secret=(b"t" * 32).hex())},
    }
    for words, known in told.items():
        stands = epochs.standing(read(tmp_path), known)
        assert stands.ranked == {}
        assert words in stands.notes[0]
    closed = {"e": replace(epoch, closed="2026", secret=SECRET.value.hex())}
    assert len(epochs.standing(read(tmp_path), closed).ranked) == 16
