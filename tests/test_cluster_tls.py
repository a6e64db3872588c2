"""A cluster by TLS: certificates of Dask's configuration, and what is sent of a secret."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed")
import dask
import distributed.comm.tcp

from paramid.cli import main
from paramid.records.store import Store
from paramid.words.secrets import drawn_seed
from tests.test_cluster import TASK, cluster, known

pytestmark = [
    pytest.mark.filterwarnings("ignore:::distributed", "ignore:::tornado", "ignore::ResourceWarning"),
    pytest.mark.skipif(shutil.which("openssl") is None, reason="makes certificates with openssl"),
]

SECRET = bytes(range(100, 132))
ROLES = ("scheduler", "worker", "client")


def certified(folder: Path) -> dict[str, str]:
    """Dask's configuration for a certificate that is its own authority, made in a folder."""
    folder.mkdir()
    key, made = folder / "key.pem", folder / "certificate.pem"
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=paramid"
    subprocess.run([*words.split(), "-keyout", key, "-out", made], check=True, capture_output=True)
    each = {f"{role}.{what}": path for role in ROLES for what, path in (("key", key), ("cert", made))}
    return {f"distributed.comm.tls.{name}": str(path) for name, path in {"ca-file": made, **each}.items()}


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Certificates that scheduler, workers and command have."""
    made = certified(tmp_path / "ours")
    with dask.config.set(made):
        yield made


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "secret"
    file.write_bytes(SECRET)
    return file


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> bytearray:
    """All that anybody of this process sends anybody, before it is encrypted."""
    sent, framed = bytearray(), distributed.comm.tcp.to_frames

    async def to_frames(*given: Any, **options: Any) -> Any:
        frames = await framed(*given, **options)
        for frame in frames:
            sent.extend(frame)
        return frames

    monkeypatch.setattr(distributed.comm.tcp, "to_frames", to_frames)
    return sent


def compared(store: Path, *words: object) -> int:
    given = ["compare", "--methods", "truth", "--tasks", TASK, "--seeds", "2"]
    return main([*given, "--store", str(store), *map(str, words)])


@pytest.mark.usefixtures("ours")
def test_cells_of_a_secret_are_sent_with_their_own_seeds(tmp_path: Path, secret: Path, sent: bytearray) -> None:
    with cluster("one", protocol="tls://") as here:
        assert here.address.startswith("tls://")
        assert compared(tmp_path / "a", "--cluster", here.address, "--secret", secret) == 0
        seeds = [drawn_seed(SECRET, TASK, seed).to_bytes(8, "little") for seed in range(3)]
        assert [seed in sent for seed in seeds] == [True, True, False]
        for form in (SECRET, SECRET.hex().encode(), repr(SECRET).encode(), base64.b64encode(SECRET), SECRET[:8]):
            assert form not in sent
    assert compared(tmp_path / "b", "--secret", secret) == 0
    there, here_too = (known(Store(tmp_path / name).records()) for name in "ab")
    assert there == here_too
    assert len(there) == 2


def test_teachers_of_a_secret_go_to_no_scheduler_without_tls(
    tmp_path: Path, secret: Path, sent: bytearray, capsys: pytest.CaptureFixture[str]
) -> None:
    with cluster() as here:
        file = tmp_path / "scheduler.json"
        file.write_text(json.dumps({"address": here.address}))
        before = bytes(sent)
        for where in (here.address, file, "local"):
            assert compared(tmp_path / "a", "--cluster", where, "--secret", secret) == 2
        assert sent == before
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("paramid:")]
    assert ["are sent over TLS alone" in line for line in said] == [True] * 3
    assert said[2].endswith("without --cluster the same cells run here")


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("plain", ["itself", "scheduler"])
def test_no_worker_without_tls_has_cells_of_a_secret(
    tmp_path: Path, secret: Path, sent: bytearray, capsys: pytest.CaptureFixture[str], plain: str
) -> None:
    both = {"host": ["tls://127.0.0.1", "tcp://127.0.0.1"], "port": [0, 0], "protocol": None}
    with cluster(scheduler_kwargs=both) as here:
        tls, tcp = here.addresses
        if plain == "itself":
            here.join("open", at=tls, protocol="tcp://")
        else:
            here.join("open", at=tcp, protocol="tls://")
        assert compared(tmp_path / "a", "--cluster", tls, "--secret", secret) == 2
        assert compared(tmp_path / "a", "--cluster", tls) == 0
    assert "is left out: teachers drawn from a secret are sent over tls:// alone" in capsys.readouterr().err
    assert not any(drawn_seed(SECRET, TASK, seed).to_bytes(8, "little") in sent for seed in range(2))


@pytest.mark.parametrize(
    ("wrong", "change"),
    [
        ("ca-file", lambda others: others),
        ("client", lambda others: others),
        ("client", lambda others: dict.fromkeys(others, "/nowhere")),
        ("", lambda others: dict.fromkeys(others)),
    ],
    ids=["another authority", "another certificate", "no file", "nothing said"],
)
def test_a_wrong_certificate_ends_in_a_line(
    tmp_path: Path,
    ours: dict[str, str],
    capsys: pytest.CaptureFixture[str],
    wrong: str,
    change: Callable[[dict[str, str]], dict[str, str]],
) -> None:
    changed = change(certified(tmp_path / "others"))
    given = {name: changed[name] for name in ours if name.startswith(f"distributed.comm.tls.{wrong}")}
    with cluster(protocol="tls://") as here, dask.config.set(given):
        assert compared(tmp_path / "a", "--cluster", here.address) == 2
    planned, said = capsys.readouterr().err.splitlines()
    assert planned == "2 cells"
    assert said.startswith(f"paramid: no Dask scheduler at {here.address}, by the certificates of Dask's config")
