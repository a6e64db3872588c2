"""Classes where names are wanted; and what values say of themselves."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
import torch

import paramid
from paramid import Access, Claim, Network, Oracle, Run, Spec, Status
from paramid.contracts import plugins, registry
from paramid.contracts.plugins import name_of
from paramid.methods.spm import SubspacePowerMethod
from paramid.tasks.shallow import Shallow
from paramid.words.naming import UsageError
from tests.records import made

MODULE = '''
from dataclasses import dataclass
from typing import ClassVar

import paramid
from paramid import Access, Network


@dataclass(frozen=True)
class PlainGuess:
    """A guess."""

    scale: float = 1.0
    version: ClassVar[int] = 1
    access: ClassVar = frozenset({Access.QUERIES})

    def declines(self, spec):
        return None

    def identify(self, oracle, run):
        yield Network.shallow(run.sphere(2, 3).T, oracle.query(run.normal(2, 3))[:, 0] * self.scale, "tanh")
'''


@dataclass(frozen=True)
class Here:
    """A guess of this test."""

    shift: float = 0.0
    version: ClassVar[int] = 1
    access: ClassVar[frozenset[Access]] = frozenset({Access.QUERIES})

    def declines(self, spec: Spec) -> str | None:
        return None

    def identify(self, oracle: Oracle, run: Run) -> Iterator[Claim]:
        yield Network.shallow(
            torch.eye(3, 2, dtype=run.dtype), oracle.query(run.normal(2, 3))[:, 0] + self.shift, "tanh"
        )


def test_a_registered_class_has_its_name_and_the_options_that_it_was_given() -> None:
    assert name_of("methods", SubspacePowerMethod) == "spm"
    assert name_of("methods", SubspacePowerMethod(derivatives="exact", step=1.5)) == "spm:derivatives=exact,step=1.5"
    assert name_of("tasks", Shallow(D=5, m=2)) == "shallow:D=5,m=2"
    assert name_of("tasks", "shallow") == "shallow"


def test_run_and_compare_take_classes(tmp_path: Path) -> None:
    record = paramid.run(SubspacePowerMethod(derivatives="exact"), Shallow(D=5, m=2))
    assert (record.method, record.status) == ("spm:derivatives=exact", Status.FINISHED)
    frame = paramid.compare([SubspacePowerMethod, "truth"], Shallow(D=5, m=2), store=tmp_path / "s")
    assert frame["method"].tolist() == ["spm", "truth"]


def test_a_class_of_any_module_reaches_other_processes(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MODULE)
    call = "paramid.run(mine.PlainGuess(scale=0.5), 'shallow:D=3,m=2')"
    code = f"import paramid, mine; r = {call}; print(r.method, r.status)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "plain-guess:scale=0.5 Status.FINISHED\n", done.stderr


def test_a_class_that_others_cannot_import_is_refused_but_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Here, "__module__", "__main__")
    with pytest.raises(UsageError, match="defined in __main__, where other processes cannot import it"):
        paramid.run(Here, "shallow:D=3,m=2")
    assert paramid.run(Here(shift=1.0), "shallow:D=3,m=2", throw=True).method == "here:shift=1.0"
    monkeypatch.undo()


@pytest.mark.parametrize(
    ("given", "wanted"), [(3, "a int was given as a method"), (str, "a str was given as a method"), (None, "NoneType")]
)
def test_what_is_no_class_of_a_method_is_named(given: object, wanted: str) -> None:
    with pytest.raises(UsageError, match=wanted):
        name_of("methods", given)


def test_a_class_called_as_another_is_refused() -> None:
    other = dataclass(frozen=True)(type("Spm", (Here,), {"__module__": __name__}))
    with pytest.raises(UsageError, match="Spm would be called spm, which is taken by paramid"):
        name_of("methods", other)
    assert plugins.joined(("methods", "spm"), ("tasks", "shallow")) == ()
    assert registry.names("methods")["spm"].endswith("SubspacePowerMethod")


def test_values_speak_of_themselves_in_a_line_and_dump_no_tensor() -> None:
    network = Shallow(D=30, m=20).draw(0)
    said = {
        repr(network): "Network(30-20-1, tanh, identity)",
        repr(paramid.Directions(torch.zeros(3, 2), stats={"a": 1.0})): "Directions(columns (3, 2))",
        repr(
            made(error=1e-5, key="1ae3e566")
        ): "Record(spm before shallow:D=5,m=2, seed 0: finished, identified, error 1.0e-05, 2.00 s; key 1ae3e566)",
        repr(paramid.Function(torch.tanh)): "Function()",
    }
    for came, wanted in said.items():
        assert came == wanted
    found = paramid.identify(network, inputs=30, neurons=20)
    assert len(repr(found).splitlines()) <= 8
    assert "tensor" not in repr(found)


@pytest.mark.parametrize("family", list(registry.BUILT_IN["tasks"]))
def test_no_teacher_dumps_its_tensors(family: str) -> None:
    assert len(repr(registry.task(family).draw(0))) < 200
