"""Options are what they may be, None passes, and a message names what came and what was wanted."""

from dataclasses import dataclass

import pytest

from paramid.words.options import among, at_least, positive


@dataclass(frozen=True)
class Configured:
    rule: str | None = "one"
    count: int | None = 3
    rate: float = 0.5
    flag: bool = False


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (lambda c: among(c, rule=("two", "three")), "rule is 'one'; two or three was wanted"),
        (lambda c: at_least(c, rate=0, count=4), "count is 3; at least 4 was wanted"),
        (lambda c: positive(Configured(count=0)), "count is 0; a positive number was wanted"),
        (lambda c: positive(Configured(rate=float("nan")), "rate"), "rate is nan; a positive number was wanted"),
        (lambda c: at_least(Configured(rate=float("nan")), rate=0), "rate is nan; at least 0 was wanted"),
    ],
)
def test_the_first_that_came_otherwise_is_named(check: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        check(Configured())


def test_what_may_be_left_open_passes() -> None:
    open_ones = Configured(rule=None, count=None)
    among(open_ones, rule=("two",))
    at_least(open_ones, count=4)
    positive(open_ones)
