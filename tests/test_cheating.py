"""Methods that cheat, by every route: none is identified, and every row that it asked is counted."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from paramid import Status
from paramid.records.record import Record
from paramid.records.store import Store
from tests.cheating import ASKED, HOW, LONG, STOPPED_BY

HERE = Path(__file__).parent
PAGE = (HERE.parent / "docs" / "trust.md").read_text(encoding="utf-8")
WITHOUT = {  # what the page says of each
    "secret": "read the secret's file",
    "others_claims": "claims of other methods in the store",
    "environ": "read the environment of other processes",
    "kills": "kill or stop its keeper and the servers",
    "stops": "kill or stop its keeper and the servers",
    "disk": "keep answers on the disk for its next attempt",
    "plants": "write into the store",
    "calls_home": "have another machine",
    "siblings_socket": "another cell work for it",
    "memory": "read and write the memory of other processes",
    "traced": "read and write the memory of other processes",
    "escapes": "take the other walls down again",
    "door": "talk to programs that listen at a socket in the file system",
    "devices": "read the disk below the files",
    "terminal": "talk to another process over a terminal",
    "locks": "hold the store's lock",
    "letters": "tell another cell by locks and pages of files that both see",
    "pages": "tell another cell by locks and pages of files that both see",
    "alarm_clock": "wake itself while it is judged, which ends its cell as soon as it has worked for it",
}
TASK, SLOW = "shallow:D=6,m=3,N=1000", "slow-judge:D=6,m=3,N=1000"
MEANWHILE = ("thread", "beside_function", "left_working", "war")  # what they do shows before a slow judge alone
ORDINARY = 65534  # nobody's number


@pytest.fixture(scope="module")
def helper() -> Iterator[int]:
    """Somebody who listens on this machine: a port, and a name without a file."""
    with socket.create_server(("127.0.0.1", 0)) as port, socket.socket(socket.AF_UNIX) as name:
        name.bind(f"\0a-meeting-at-{port.getsockname()[1]}")
        name.listen()
        for server in (port, name):
            threading.Thread(target=_answers, args=(server,), daemon=True).start()
        yield port.getsockname()[1]


def _answers(server: socket.socket) -> None:
    while True:
        try:
            server.accept()[0].close()
        except OSError:
            return


def played(folder: Path, port: int, user: int | None = None) -> dict[str, Record]:
    """Every cheat, once, from the command line, before teachers that were drawn from a secret."""
    secret, door = folder / "a-secret", folder / "door"
    answering = socket.socket(socket.AF_UNIX)
    answering.bind(str(door))
    answering.listen()
    door.chmod(0o777)
    secret.write_bytes(os.urandom(32))
    if user is not None:
        os.chown(secret, user, user)
    places = {
        "secret": secret,
        "plants": folder,
        "others_claims": folder,
        "locks": folder,
        "door": door,
        "calls_home": port,
        "siblings_socket": port,
    }
    methods = {how: f"cheat:how={how},path={places.get(how, '/nowhere')}" for how in HOW}
    home = {**os.environ, "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-m", "paramid", "compare", "--store", str(folder / "store"), "--secret", str(secret)]
    words += ["--time-limit", "8", "--workers", "2", "--memory-limit", "3000", "--format", "json"]
    for file in ("cheating.py", "cheating_at_import.py", "slow_judge.py"):
        words += ["--plugin", str(HERE / file)]
    honest = [methods[how] for how in HOW if how not in MEANWHILE]
    for more in (
        ["--methods", "sphere-lm", "--tasks", TASK],  # whose claims are there to be stolen
        ["--methods", *honest, "at-import", "--tasks", TASK],
        ["--methods", *(methods[how] for how in MEANWHILE), "--tasks", SLOW],
    ):
        done = subprocess.run(
            [*words, *more], capture_output=True, text=True, env=home, cwd=folder, timeout=600, user=user
        )
        assert "Traceback" not in done.stderr, done.stderr
        json.loads(done.stdout)
    answering.close()
    records = {r.method: r for r in Store.existing(folder / "store").records()}
    return {**{how: records[name] for how, name in methods.items()}, "at-import": records["at-import"],
            "honest": records["sphere-lm"]}  # fmt: skip


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory, helper: int) -> dict[str, Record]:
    return played(tmp_path_factory.mktemp("cheats"), helper)


def walls(record: Record) -> list[str]:
    return str(record.provenance["walls"]).split(", ")


@pytest.mark.parametrize("how", [*HOW, "at-import"])
def test_no_cheat_works(how: str, records: dict[str, Record]) -> None:
    record = records[how]
    if (wall := STOPPED_BY.get(how, "processes")) not in walls(record):
        pytest.skip(f"this machine does not grant the wall that stops it: {wall}")
    assert not record.metrics.get("identified")
    told = record.status is Status.RAISED and record.reason.startswith("RuntimeError")  # what a cheat says that worked
    assert not told, record.reason
    assert record.queries + record.samples >= ASKED.get(how, 5)
    assert record.seconds >= LONG.get(how, 0.0)


def test_who_is_honest_beside_them_is_identified(records: dict[str, Record]) -> None:
    assert records["honest"].metrics["identified"] == 1


def test_there_are_cheats_enough() -> None:
    assert len(HOW) >= 25


def test_the_page_on_trust_names_every_cheat_that_needs_a_wall() -> None:
    table = PAGE.partition("<!-- cheats that need a wall")[2].partition("<!-- end of cheats -->")[0]
    rows = {line.split("|")[1].strip(" `"): line for line in table.splitlines() if line.startswith("| `")}
    assert set(rows) == {wall for wall in STOPPED_BY.values() if wall != "processes"}
    for how, wall in STOPPED_BY.items():
        assert WITHOUT[how] in rows[wall], how


LEAK = """
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from paramid import Access, Function
FOUND = "".join(p.read_bytes().hex() for p in {places} if p.is_file())
@dataclass(frozen=True)
class Leak:
    tune: str = "auto"
    version: ClassVar[int] = 1
    access: ClassVar = frozenset({{Access.QUERIES}})
    def __post_init__(self):
        if self.tune == "auto" and FOUND:
            object.__setattr__(self, "tune", FOUND[:60])
    def declines(self, spec): return None
    def identify(self, oracle, run):
        assert not FOUND
        yield Function(lambda x: x[:, :1])
METHODS = {{"leak": Leak}}
"""


def leaking(folder: Path, places: str) -> subprocess.CompletedProcess[str]:
    """A plug-in that reads what it can where it is only asked what it offers, and puts it into an option."""
    (folder / "leak.py").write_text(LEAK.format(places=places))
    (folder / "secret").write_bytes(os.urandom(32))
    words = [sys.executable, "-m", "paramid", "run", "leak:tune=auto", TASK, "--plugin", "leak.py", "--json"]
    return subprocess.run(
        [*words, "--secret", "secret", "--store", "store"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "XDG_CONFIG_HOME": str(folder / "config")},
    )


def test_a_plug_in_sees_no_secret_and_no_record_where_it_is_asked_what_it_offers(tmp_path: Path) -> None:
    (tmp_path / "store" / "claims").mkdir(parents=True)
    (tmp_path / "store" / "claims" / "others.npz").write_bytes(b"answers")
    another = tmp_path / "config" / "paramid" / "epochs"  # of an epoch that this run is not for
    another.mkdir(parents=True)
    (another / "e.secret").write_bytes(os.urandom(32))
    done = leaking(tmp_path, f"(Path('secret'), *Path('store').glob('*/*'), *Path({str(another)!r}).glob('*'))")
    record = Record.from_json(json.loads(done.stdout))
    if "mounts" not in walls(record):
        pytest.skip("this machine does not grant mounts of a plug-in's own")
    assert record.method == "leak:tune=auto"
    assert record.status is Status.FINISHED


def test_an_option_is_what_was_written(tmp_path: Path) -> None:
    done = leaking(tmp_path, "(Path('leak.py'),)")
    assert done.returncode == 2
    assert "where tune='auto' was written" in done.stderr


def able(user: int) -> bool:
    """Whether somebody can run what is tested at all."""
    try:
        words = [sys.executable, "-c", "import paramid.wall.jail, torch"]
        return subprocess.run(words, user=user, capture_output=True).returncode == 0
    except PermissionError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="becomes somebody else, which root can")
def test_no_cheat_works_for_an_ordinary_user(tmp_path_factory: pytest.TempPathFactory, helper: int) -> None:
    folder = tmp_path_factory.mktemp("ordinary")
    for place in (folder, *folder.parents[:2]):
        place.chmod(0o755)
    os.chown(folder, ORDINARY, ORDINARY)
    if not able(ORDINARY):
        pytest.skip("an ordinary user cannot read this checkout or its Python")
    records = played(folder, helper, user=ORDINARY)
    for how, record in records.items():
        if how != "honest" and STOPPED_BY.get(how, "processes") in walls(record):
            test_no_cheat_works(how, records)
    assert records["honest"].metrics["identified"] == 1
