"""Records as a table: the best of every task, and what is left out."""

import pytest

from paramid import tables
from paramid.cli import main


def row(task: str, method: str, error: float) -> tables.Row:
    return {"task": task, "method": method, "error": error}


def test_the_best_of_every_task_are_its_first_with_an_answer() -> None:
    made = [row("a", "spm", 0.1), row("a", "sgd", 0.2), row("b", "peel", float("nan")), row("b", "truth", 0.0)]
    made += [row("b", "sgd:lr=1", float("inf")), row("c", "spm", 0.3), row("c", "kernel", 0.4)]
    kept = [(r["task"], r["method"]) for r in tables.best(made, 1)]
    assert kept == [("a", "spm"), ("b", "sgd:lr=1"), ("c", "spm")]
    assert len(tables.best(made, 2)) == 5


def test_fewer_than_one_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "--best", "0"]) == 2
    assert "--best takes a whole number from 1, not 0" in capsys.readouterr().err
