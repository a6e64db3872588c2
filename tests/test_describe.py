"""`paramid describe` and `paramid list --pairs`: everything registered is told in full."""

import re
import sys
from dataclasses import dataclass
from typing import ClassVar

import pytest

from paramid.cli import main
from paramid.contracts import option_docs, registry
from paramid.contracts.descriptions import meanings as metrics
from paramid.running import suites

EVERY = [(group, name) for group in ("methods", "tasks") for name in registry.BUILT_IN[group]]


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(("group", "name"), EVERY)
def test_every_option_says_what_it_is(group: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "describe", name)
    assert f"{group[:-1]} {name}: " in out
    assert re.search(rf"\nexample: paramid (run|list --pairs --method) {name if group == 'methods' else ''}", out)
    for option in option_docs.options(group, name):
        assert option.meaning, option.name
        assert f"\n  {option.name}={option.default}  ({option.kind}" in out


def test_every_suite_and_metric_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    for suite in suites.suites():
        assert f"suite {suite}, version" in said(capsys, "describe", suite)
    for metric in metrics():
        assert said(capsys, "describe", metric).startswith(metric)
    assert "of layer 2 alone" in said(capsys, "describe", "weight_error_2")


@dataclass(frozen=True)
class Base:
    step: float = 1.0  # of the base

    def __post_init__(self) -> None:
        if self.step <= 0:
            raise ValueError(f"step is {self.step}; a positive number was wanted")


@dataclass(frozen=True)
class Mine(Base):
    """Somebody's method."""

    kind: str = "a"
    widths: tuple[int, ...] = (3, 2)  # of the layers  # and more
    most: int | None = None  # of all
    access: ClassVar[frozenset[object]] = frozenset()
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind not in ("a", "b"):
            raise ValueError(f"kind is {self.kind!r}; a or b was wanted")


def test_options_are_read_from_the_class_and_its_bases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "target", lambda *_: "mine")
    monkeypatch.setattr(registry, "load", lambda _: Mine)
    told = option_docs.options.__wrapped__("methods", "mine")
    assert [(o.name, o.kind, o.default, o.allowed, o.meaning) for o in told] == [
        ("step", "number", "1.0", "a positive number", "of the base"),
        ("kind", "text", "a", "a or b", ""),
        ("widths", "whole numbers joined by dashes", "3-2", "", "of the layers  # and more"),
        ("most", "whole number or none", "None", "", "of all"),
    ]


def test_what_is_nothing_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for name, wanted in (("qick", "did you mean quick?"), ("zzzz", "`paramid list` names what there is")):
        assert main(["describe", name]) == 2
        assert wanted in capsys.readouterr().err


@pytest.mark.parametrize("name", ["shallow", "spm"])
def test_no_word_is_broken_by_a_narrow_terminal(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    out = said(capsys, "describe", name).partition("published results")[0]
    assert max(map(len, out.splitlines())) <= 60


def test_pairs_are_a_matrix_or_a_column_with_reasons(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    head, *rows, foot = said(capsys, "list", "--pairs").splitlines()
    assert head.split() == list(registry.names("tasks"))
    assert [row.split()[0] for row in rows] == list(registry.names("methods"))
    assert next(row.split() for row in rows if row.startswith("spm "))[1:7] == ["yes", *["-"] * 5]
    assert foot.startswith("yes: accepts")
    monkeypatch.setenv("COLUMNS", "50")
    with monkeypatch.context() as narrow:
        narrow.setattr(sys.stdout, "isatty", lambda: True)
        blocks = said(capsys, "list", "--pairs").splitlines()
    assert len(blocks) > 2 * len(rows)
    assert max(map(len, blocks[:-1])) <= 50
    column = said(capsys, "list", "--pairs", "--task", "shallow:D=5,m=11")
    assert "spm                    declines: 11 neurons exceed D(D-1)/2 = 10" in column
    assert said(capsys, "list", "--pairs", "--method", "peel", "--task", "shallow").count("\n") == 1
    assert main(["list", "--method", "peel"]) == 2
