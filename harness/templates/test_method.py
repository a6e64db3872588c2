"""`newcomer` finds what was planted, and says no where it cannot."""

from pathlib import Path

import paramid

paramid.add_plugin(Path(__file__).with_name("newcomer.py"))


def test_the_planted_network_is_found() -> None:
    record = paramid.run("newcomer", "shallow:D=5,m=1", seed=3, throw=True)
    assert record.metrics["identified"] == 1


def test_the_error_falls_with_the_square_of_the_step() -> None:
    coarse, fine = (
        paramid.run(f"newcomer:h={h}", "shallow:D=5,m=1", throw=True).metrics["weight_error"] for h in (1e-1, 1e-2)
    )
    assert 50 < coarse / fine < 200


def test_two_neurons_are_declined() -> None:
    assert paramid.run("newcomer", "shallow:D=5,m=2", throw=True).status is paramid.Status.DECLINED
