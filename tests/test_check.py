"""`paramid check` passes what keeps the contract, and names what does not."""

from dataclasses import dataclass
from pathlib import Path

import pytest

import paramid
from paramid.authoring import check
from paramid.authoring.probes import probe
from paramid.cli import main
from paramid.contracts import plugins, registry
from paramid.words.naming import UsageError

HERE = Path(__file__).parent
plugins.add_plugin(HERE / "defective.py")
Defective = registry.load(registry.target("methods", "defective"))
TASK = "shallow:D=6,m=3,N=40"
DEFECTS = {
    "global_seed": ("random", "changes the global random state"),
    "global_draw": ("state", "claim 1 differs"),
    "float32_leak": ("dtype", "W0 has no digit beyond float32's"),
    "float32_claim": ("dtype", "Network.W0 is torch.float32"),
    "float32_default": ("dtype", "under another default dtype: some tensor is float32"),
    "float32_points": ("dtype", "points came as torch.float32"),
    "undeclared_access": ("access", "derivatives were asked for"),
    "mutated_input": ("inputs", "wrote into a tensor"),
    "mutated_samples": ("inputs", "wrote into a tensor"),
    "mutated_spec": ("inputs", "wrote into the spec"),
    "hidden_state": ("state", "something is remembered from run to run"),
    "off_by_one": ("counts", "says 0 queries; 1 were counted"),
    "oversampling": ("counts", "42 samples asked, 40 granted"),
    "cooked_books": ("counts", "the oracle counted 1 rows of values, the teacher gave 2"),
    "nan_claim": ("claims", "b0 holds 3 non-finite values"),
    "default_device": ("device", "a tensor lands on torch's default device"),
    "no_generator": ("generator", "identify gave a list"),
}


@pytest.mark.parametrize("how", DEFECTS)
def test_a_planted_defect_is_named(how: str) -> None:
    findings, _ = probe(f"defective:how={how}", TASK, whole=True)
    wanted, words = DEFECTS[how]
    assert words in " ".join(f.problem for f in findings if f.probe == wanted)


def test_without_a_defect_nothing_is_named() -> None:
    findings, digests = probe("defective", TASK, whole=True)
    assert not [f for f in findings if f.problem]
    assert len(digests) == 1


def test_no_reason_is_named() -> None:
    problems = [f for f in check._declines(registry.method("defective:how=no_reason")) if f.problem]
    assert problems[0].problem == "gave ''; None or a reason was wanted"


@pytest.mark.parametrize(
    ("how", "probed", "words"),
    [
        ("non_determinism", "repeats", "draws from something that is not `run`"),
        ("segfault", "sizes", "crashed: killed by signal 11"),
        ("hang", "sizes", "timed_out: stopped after"),
    ],
)
def test_what_takes_two_processes(how: str, probed: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "DEADLINE", 1.0 if how == "hang" else 60.0)
    with check.Supervisor(1) as server:
        findings = check._probed_twice(server, f"defective:how={how}", TASK, whole=True)
    problems = {f.probe: f.problem for f in findings if f.problem}
    assert set(problems) == {probed}
    assert words in problems[probed]


def test_a_slow_import_is_named(tmp_path: Path) -> None:
    source = (HERE / "defective.py").read_text().replace('"defective"', '"sluggish"')
    slow = tmp_path / "sluggish.py"
    slow.write_text(f"{source}\nimport sys, time\ntime.sleep(getattr(sys.modules['__main__'], 'torchs', 0))\n")
    plugins.add_plugin(slow)
    assert "every cell would pay it" in check._import("sluggish").problem


@pytest.mark.parametrize("form", ["mutable", "bare"])
def test_a_class_is_looked_at_here(form: str) -> None:
    parts = {name: getattr(Defective, name) for name in ("access", "version", "declines", "identify", "claims")}
    made = dataclass(frozen=form == "bare")(
        type("Loose", (), {"how": "none", "__annotations__": {"how": str}, **parts})
    )
    if form == "mutable":
        made.__doc__ = "Says what it does."
    checked = paramid.check(made)
    assert {f.probe for f in checked.problems} == {"form"}
    assert "FAIL" in str(checked)


def test_a_class_is_checked_and_not_what_has_its_name() -> None:
    parts = {name: getattr(Defective, name) for name in ("access", "version", "identify", "claims")}
    broken = {"how": "none", "__annotations__": {"how": str}, "declines": lambda self, spec: "", **parts}
    checked = paramid.check(dataclass(frozen=True)(type("Sgd", (), broken)))
    assert "declines" in {f.probe for f in checked.problems}
    assert type(registry.method("sgd")).__name__ != "Sgd"


def test_a_control_is_not_checked() -> None:
    with pytest.raises(UsageError, match="truth is a control"):
        paramid.check("truth")


def test_the_command_prints_every_probe_and_the_costs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "defective"]) == 0
    said = capsys.readouterr()
    assert [line.split()[0] for line in said.out.splitlines()[: len(check.PROBES)]] == list(check.PROBES)
    assert "smoke: shallow:D=6,m=3 finished" in said.out
    assert said.out.endswith("defective: keeps the contract\n")
    assert "paramid: defective before shallow:D=6,m=3\n" in said.err
    assert main(["check", "defective:how=nan_claim"]) == 1
    assert "problems\n" in capsys.readouterr().out


SUBCLASS = '''
from tests.defective import Defective


class Bare(Defective):
    """A subclass without a decorator of its own, of which every run raises."""

    def identify(self, oracle, run):
        raise RuntimeError("planned")


METHODS = {"bare-subclass": Bare}
'''


def test_a_subclass_without_a_decorator_and_a_run_that_raises_are_findings(tmp_path: Path) -> None:
    (tmp_path / "bare_subclass.py").write_text(SUBCLASS)
    paramid.add_plugin(tmp_path / "bare_subclass.py")
    checked = paramid.check("bare-subclass")
    assert any("is no frozen dataclass" in f.problem for f in checked.findings if f.probe == "form")
    assert not {f.probe for f in checked.findings} & {"generator", "claims", "counts", "repeats"}
    assert repr(checked).startswith("Checked(bare-subclass: ")


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("gc", "looks for what its process never holds"),
        ("frame", "looks for what its process never holds"),
        ("private", "asks for `oracle._teacher`"),
        ("calls_home,path=9", "uses the network"),
        ("left_working", "starts processes"),
    ],
)
def test_what_a_wall_would_stop_is_a_warning(how: str, told: str) -> None:
    plugins.add_plugin(Path(__file__).with_name("cheating.py"))
    findings, _ = probe(f"cheat:how={how}", "shallow:D=6,m=3", whole=False)
    (wall, *_) = (f for f in findings if f.probe == "wall")
    assert told in wall.warning
    assert not wall.problem
    assert "warn" in str(check.Checked("cheat", (wall,)))
