"""Somebody's file as a teacher: judged as any, in the key by its bytes, and shut to the method."""

import re
import textwrap
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import paramid
from paramid import Network, task
from paramid.cli import main
from paramid.contracts import registry
from paramid.running.cell import plan_cell
from paramid.tasks.plain_networks import plain
from paramid.wall import jail
from paramid.words.naming import UsageError

RNG = np.random.default_rng(8)
W, B = [RNG.normal(size=(5, 4)), RNG.normal(size=(4, 1))], [RNG.normal(size=4), RNG.normal(size=1)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save(W)
    return tmp_path


def save(weights: list[np.ndarray]) -> None:
    np.savez("net.npz", W0=weights[0], b0=B[0], W1=weights[1], b1=B[1])


def key(text: str) -> str:
    return plan_cell("sphere-lm", text).key()


def test_a_file_is_found_behind_the_wall_and_judged() -> None:
    record = paramid.run("sphere-lm", "file:path=net.npz")
    assert (record.status.key, record.metrics["exact"]) == ("finished", 1)
    assert re.fullmatch("file:path=net.npz,sha256=[0-9a-f]{16}", record.task)
    assert record.metrics["error"] < 1e-10


def test_a_changed_file_is_another_task() -> None:
    told, before = registry.canonical("tasks", "file:path=net.npz"), key("file:path=net.npz")
    assert (registry.canonical("tasks", told), key(told)) == (told, before)
    save([2 * W[0], W[1]])
    assert key("file:path=net.npz") != before
    with pytest.raises(UsageError, match="is another file: its SHA-256 begins with"):
        key(told)
    save(W)
    assert key("file:path=net.npz") == before


def test_a_file_that_changes_between_plan_and_draw_is_no_record_of_the_plan() -> None:
    cell = plan_cell("truth", "file:path=net.npz")
    save([2 * W[0], W[1]])
    with pytest.raises(UsageError, match="is another file"):
        registry.task(cell.task)


def test_nothing_of_the_file_is_in_the_spec() -> None:
    spec = task("file:path=net.npz,known=false,known_activation=false").spec
    assert (spec.inputs, spec.widths, spec.outputs, spec.activations) == (5, (None,), 1, ("unknown", "identity"))
    assert "net" not in str(spec)


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_a_file_that_tells_its_activations_is_believed() -> None:
    torch.manual_seed(0)
    made = nn.Sequential(nn.Linear(5, 3), nn.GELU(), nn.Linear(3, 2))
    torch.jit.save(torch.jit.script(made), "m.pt")
    family = task("file:path=m.pt,precision=float32")
    teacher, x = family.draw(0), torch.randn(20, 5, dtype=torch.float64)
    assert family.spec.activations == ("gelu", "identity")
    assert float((teacher(x) - made(x.float()).detach().double()).abs().max()) < 1e-6
    assert torch.equal(teacher(x).float().double(), teacher(x))
    assert 0 < float((teacher(x) - plain(teacher)(x)).abs().max()) < 1e-5


def test_a_guess_is_another_network_of_that_shape() -> None:
    family = task("file:path=net.npz")
    teacher, guess = family.draw(0), family.guess(0)
    assert guess.widths == teacher.widths
    assert family.judge(family.truth(guess, Network), teacher)["identified"] == 0
    assert family.judge(family.truth(family.draw(5), Network), teacher)["exact"] == 1


READS = """
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from paramid import Access, GiveUp, Network


@dataclass(frozen=True)
class Reads:
    "Looks into the file."

    version: ClassVar[int] = 1
    access: ClassVar = frozenset({{Access.QUERIES}})

    def declines(self, spec):
        return None

    def identify(self, oracle, run):
        yield Network.shallow(run.normal(5, 4), run.normal(1, 4)[0], "tanh")
        found = Path({path!r}).read_bytes()
        raise GiveUp(f"{{len(found)}} bytes")


METHODS = {{"reads": Reads}}
"""


def test_a_method_that_knows_the_path_finds_nothing_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if "mounts" not in jail.granted(str(folder / "scratch")):
        pytest.skip("this machine grants no mounts")
    Path("link.npz").symlink_to("net.npz")
    (folder / "reads.py").write_text(textwrap.dedent(READS).format(path=str(folder / "net.npz")))
    main(["run", "reads", "file:path=link.npz", "--plugin", "reads.py"])
    assert "0 bytes" in capsys.readouterr().out
    main(["run", "reads", "file", "--plugin", "reads.py"])
    assert f"{(folder / 'net.npz').stat().st_size} bytes" in capsys.readouterr().out  # another task hides nothing of it


BAD = [
    ("file:path=nowhere.npz", "nowhere.npz is no file"),
    ("file:path=text.pt", "text.pt is no file that torch.save"),
    ("file:path=net.npz,sha256=0", "is another file"),
    ("file:sha256=0", "of the example none was wanted"),
    ("file:path=net.npz,activation=tahn", "did you mean tanh"),
    ("file:path=net.npz,precision=float16", "float64 or float32 was wanted"),
]


@pytest.mark.parametrize(("text", "said"), BAD)
def test_errors_are_one_line(capsys: pytest.CaptureFixture[str], text: str, said: str) -> None:
    Path("text.pt").write_text("no module")
    assert main(["run", "sphere-lm", text]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert (captured.out, captured.err.count("\n")) == ("", 1)
