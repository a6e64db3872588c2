"""Names as people write them come back as they were meant, or with one line that says what was wanted."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramid.words.naming import Name, UsageError, configure, describe, read, settings, suggestion, write


@dataclass(frozen=True)
class Options:
    D: int = 20
    neurons: int | None = None
    step: float = 2.0
    tol: float | None = 1e-3
    law: str = "uniform"
    file: str | None = None
    fast: bool = False
    widths: tuple[int, ...] = (50, 25)
    derived: int = field(default=0, init=False)
    version: ClassVar[int] = 3

    def __post_init__(self) -> None:
        if self.D < 1:
            raise ValueError(f"D is {self.D}; at least 1 was wanted")
        object.__setattr__(self, "derived", 2 * self.D)


@dataclass(frozen=True)
class Bare:
    """Nothing to configure."""


finite = st.floats(allow_nan=False)
words = st.text("abcdefgXYZ_019./=:- ", min_size=1).map(str.strip).filter(lambda t: t and t.lower() != "none")
options = st.builds(
    Options,
    D=st.integers(1),
    neurons=st.none() | st.integers(),
    step=finite,
    tol=st.none() | finite,
    law=words,
    file=st.none() | words,
    fast=st.booleans(),
    widths=st.lists(st.integers(0), min_size=1).map(tuple),
)


def parsed(text: str, cls: type = Options) -> Any:
    return configure(cls, Name.parse(text))


def whole(instance: object) -> str:
    """The text of an instance with every option in it."""
    return describe(instance, Name("base", tuple(settings(instance).items())))


@given(given_as=options)
def test_a_described_instance_is_parsed_back(given_as: Options) -> None:
    text = whole(given_as)
    assert parsed(text) == given_as
    assert whole(parsed(text)) == text == str(Name.parse(text))


@given(given_as=options)
def test_every_setting_is_read_back(given_as: Options) -> None:
    text = settings(given_as)
    assert list(text) == [*Options.__annotations__][:-2]  # neither what is derived nor the class variable
    for name, kind in (("D", int), ("step", float), ("tol", float | None), ("fast", bool), ("widths", tuple[int, ...])):
        assert read(text[name], kind, name) == getattr(given_as, name)


@given(data=st.data(), given_as=options)
def test_the_order_of_options_does_not_matter(data: Any, given_as: Options) -> None:
    base, _, rest = whole(given_as).partition(":")
    if rest:
        order = data.draw(st.permutations(rest.split(",")))
        assert parsed(f"{base}:{','.join(order)}") == given_as


def test_what_was_given_is_described_in_the_order_of_the_fields() -> None:
    given = Name.parse("base:widths=05,fast=TRUE")
    assert describe(configure(Options, given), given) == "base:fast=true,widths=5"
    assert describe(Options(), Name("base")) == "base"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x", Options()),
        ("  x  ", Options()),
        ("x:", Options()),
        ("x: D = 3 , fast = TRUE ", Options(D=3, fast=True)),
        ("x:D=1e3", Options(D=1000)),
        ("x:D=+7", Options(D=7)),
        ("x:neurons=12", Options(neurons=12)),
        ("x:neurons=None", Options(neurons=None)),
        ("x:tol=none", Options(tol=None)),
        ("x:tol=1e-9,step=3", Options(tol=1e-9, step=3.0)),
        ("x:file=none", Options(file=None)),
        ("x:file=a=b.txt", Options(file="a=b.txt")),
        ("x:law=7", Options(law="7")),
        ("x:widths=50-25-10", Options(widths=(50, 25, 10))),
        ("x:widths=9", Options(widths=(9,))),
    ],
)
def test_people_write_in_many_ways(text: str, wanted: Options) -> None:
    assert parsed(text) == wanted


def test_numbers_keep_their_type() -> None:
    assert isinstance(parsed("x:D=1e3").D, int)
    assert isinstance(parsed("x:step=3").step, float)
    assert parsed("x:D=123456789012345678901").D == 123456789012345678901


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x:D", "'x:D': 'D' is not option=value"),
        ("x:D=", "'D=' is not option=value"),
        ("x:=3", "'=3' is not option=value"),
        ("x:D=3,", "'' is not option=value"),
        ("x:D=3,,fast=true", "'' is not option=value"),
        ("x:D=3,D=4", "'x:D=3,D=4' gives an option twice"),
        ("x:D=three", "x:D is 'three'; int was wanted"),
        ("x:D=2.5", "x:D is '2.5'; int was wanted"),
        ("x:D=inf", "int was wanted"),
        ("x:D=nan", "int was wanted"),
        ("x:D=--3", "int was wanted"),
        ("x:D=²", "int was wanted"),
        ("x:D=none", "int was wanted"),
        ("x:D=1\n2", r"x:D is '1\\n2'; int was wanted"),
        ("x:neurons=many", "x:neurons is 'many'; int or none was wanted"),
        ("x:step=", "is not option=value"),
        ("x:step=1..2", "x:step is '1..2'; float was wanted"),
        ("x:step=none", "float was wanted"),
        ("x:tol=tiny", "float or none was wanted"),
        ("x:fast=1", "x:fast is '1'; bool was wanted"),
        ("x:fast=yes", "bool was wanted"),
        ("x:widths=5-x", "x:widths is '5-x'; tuple was wanted"),
        ("x:widths=5--3", "tuple was wanted"),
        ("x:widths=5-2.5", "tuple was wanted"),
        ("x:D=0", "x:D=0: D is 0; at least 1 was wanted"),
        ("x:neuron=3", "x has no option 'neuron'; did you mean neurons?"),
        ("x:width=3", "x has no option 'width'; did you mean widths?"),
        ("x:stepp=3", "did you mean step?"),
        ("x:q=3", "it has D=20, neurons=None, step=2.0, tol=0.001, law=uniform, file=None, fast=false, widths=50-25$"),
        ("x:derived=3", "has no option 'derived'"),
        ("x:version=3", "has no option 'version'"),
    ],
)
def test_what_cannot_be_meant_is_one_line(text: str, wanted: str) -> None:
    with pytest.raises(UsageError, match=wanted) as said:
        parsed(text)
    assert "\n" not in str(said.value)
    assert isinstance(said.value, ValueError)


def test_where_there_are_no_options_none_is_taken() -> None:
    with pytest.raises(UsageError, match="x has no option 'D'; it has none"):
        parsed("x:D=3", Bare)


@given(name=st.sampled_from(["smp", "sgdd", "hesian", "zzz", ""]))
def test_near_names_are_suggested_or_all_told(name: str) -> None:
    said = suggestion(name, ["spm", "sgd", "hessian"])
    near = {"smp": "spm", "sgdd": "sgd", "hesian": "hessian"}.get(name)
    assert said.startswith(f"did you mean {near}") if near else said == "there are hessian, sgd, spm"


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "true"), (None, "None"), (3, "3"), (2.0, "2.0"), (1e-30, "1e-30"), ((1, 2), "1-2"), ("a", "a")],
)
def test_values_are_written_as_people_would(value: object, text: str) -> None:
    assert write(value) == text
