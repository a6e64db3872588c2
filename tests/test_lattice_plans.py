"""The way with fewest values is taken among those that tell the neurons apart, and what none can tell is declined."""

from dataclasses import replace

import pytest

from paramid import Spec
from paramid.methods.spans import lattice_plans
from paramid.methods.spans.lattice_plans import Plan
from paramid.tasks.shallow import Shallow


@pytest.mark.parametrize(
    ("inputs", "m", "plan"),
    [
        (20, 160, Plan(3, 6, 10, 1)),
        (30, 360, Plan(3, 6, 13, 1)),
        (50, 1000, Plan(3, 6, 19, 1)),
        (10, 185, Plan(3, 6, 10, 1)),
        (10, 195, Plan(3, 6, 10, 1)),
        (10, 550, Plan(4, 7, 10, 3)),
        (10, 705, Plan(4, 7, 10, 4)),
        (50, 10, Plan(2, 4, 9, 1)),
        (1, 1, Plan(4, 7, 1, 1)),
    ],
)
def test_the_cheapest_way_is_taken(inputs: int, m: int, plan: Plan) -> None:
    assert lattice_plans.plan_for(inputs, m) == plan
    assert plan.fits
    assert m <= plan.bound


@pytest.mark.parametrize("inputs", range(1, 13))
def test_there_is_a_way_up_to_the_bound_and_none_beyond(inputs: int) -> None:
    bound = lattice_plans.most_neurons(inputs).bound
    assert lattice_plans.plan_for(inputs, bound) is not None
    assert lattice_plans.plan_for(inputs, bound + 1) is None
    assert bound == max(1, inputs * (inputs + 1) * (inputs + 2) * (inputs + 3) // 24 - inputs)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"widths": (120,)}, None),
        ({"widths": (121,)}, "121 neurons exceed C(6+3,4)-6 = 120, the most that tensors of order 4"),
        ({"widths": (None,)}, None),
        ({"noise": 1e-9}, "noise 1e-09 drowns differences of order four"),
        ({"precision": "float32"}, "drowns differences"),
        ({"outer": "free"}, "need outer weights 1"),
        ({"norms": "free"}, "need outer weights 1, unit weight vectors"),
        ({"output_bias": "free"}, "no output bias"),
        ({"activations": ("softplus", "identity")}, "tell no signs of softplus"),
        ({"activations": ("erf", "identity")}, None),
    ],
)
def test_what_it_is_not_for_is_said(changes: dict[str, object], reason: str | None) -> None:
    spec: Spec = replace(Shallow(D=6, m=20).spec, **changes)
    said = lattice_plans.declines(spec)
    assert said is None if reason is None else reason in str(said)


@pytest.mark.parametrize("inputs", [1, 6, 20, 60])
def test_where_m_is_not_told_there_is_ever_more_room(inputs: int) -> None:
    rooms = [plan.room(inputs) for plan in lattice_plans.ladder(inputs)]
    assert rooms == sorted(rooms)
    assert all(plan.fits and plan.room(inputs) <= plan.bound for plan in lattice_plans.ladder(inputs))
    assert inputs > 6 or rooms[-1] >= 0.9 * lattice_plans.most_neurons(inputs).bound - 1
