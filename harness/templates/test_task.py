"""The truth of `newcomer` scores zero, a guess does not, and a seed is a teacher."""

from pathlib import Path

import torch

import paramid

paramid.add_plugin(Path(__file__).with_name("newcomer.py"))


def test_the_truth_is_exact_and_a_guess_is_not() -> None:
    truth, guess = (paramid.run(control, "newcomer", throw=True).metrics for control in ("truth", "random"))
    assert truth["exact"] == 1
    assert guess["identified"] == 0


def test_a_seed_is_a_teacher() -> None:
    x = torch.ones(1, 10, dtype=torch.float64)
    first, again, other = (paramid.task("newcomer").draw(seed)(x) for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
