"""An estimate is a number where it is defined, and no number where it is not."""

import math
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.diagnosis import Estimated

NUMBERS = st.floats(-10, 10) | st.integers(-3, 3) | st.booleans()
COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
ORDERS = COMPARISONS[:4]
UNDEFINED = [
    Estimated(estimate=math.nan, lower=math.nan, upper=math.nan),
    Estimated(estimate=math.inf, lower=3.0, upper=math.inf),
]


def of(estimate):
    return Estimated(estimate=estimate, lower=estimate - 1, upper=estimate + 1)


@given(st.floats(-10, 10), NUMBERS)
def test_it_compares_as_its_number_does(estimate, other):
    for compare in COMPARISONS:
        wanted = compare(estimate, other)
        assert compare(of(estimate), other) is wanted
        assert compare(other, of(estimate)) is compare(other, estimate)
        assert compare(of(estimate), np.float64(other)) == wanted
        assert compare(np.float64(other), of(estimate)) == compare(other, estimate)
    if estimate == other:
        assert hash(of(estimate)) == hash(other)


@given(st.floats(-10, 10), st.floats(-10, 10))
def test_estimates_are_ordered_by_their_numbers(one, other):
    for compare in ORDERS:
        assert compare(of(one), of(other)) is compare(one, other)
    assert sorted([of(one), of(other)]) == [of(min(one, other)), of(max(one, other))]


def test_estimates_are_equal_where_their_intervals_are():
    assert of(0.5) == of(0.5)
    assert of(0.5) != Estimated(estimate=0.5, lower=0.1, upper=0.9)
    assert {of(0.5), of(0.5)} == {of(0.5)}


@given(st.floats(-10, 10), st.integers(0, 5))
def test_it_rounds_formats_and_converts_as_its_number_does(estimate, digits):
    found = of(estimate)
    assert (round(found, digits), round(found)) == (round(estimate, digits), round(estimate))
    spec = f"+9.{digits}f"
    assert (f"{found:{spec}}", f"{found:.1%}") == (f"{estimate:{spec}}", f"{estimate:.1%}")
    assert float(found) == estimate
    assert math.floor(100 * float(found)) == math.floor(100 * estimate)
    assert f"{found}" == repr(found)


@pytest.mark.parametrize("undefined", UNDEFINED)
@pytest.mark.parametrize("other", [0.5, 1, np.float64(0.5), of(0.5)])
@pytest.mark.parametrize("compare", ORDERS)
def test_what_is_undefined_never_compares(undefined, other, compare):
    for sides in ((undefined, other), (other, undefined)):
        with pytest.raises(ValueError, match="estimate: is undefined or refused"):
            compare(*sides)


@pytest.mark.parametrize("undefined", UNDEFINED)
@pytest.mark.parametrize(
    "use", [float, round, lambda e: round(e, 3), lambda e: e == 0.5, math.sqrt]
)
def test_what_is_undefined_is_no_number(undefined, use):
    assert not undefined.is_defined
    with pytest.raises(ValueError, match="ask is_defined first"):
        use(undefined)


def test_what_is_undefined_can_be_printed():
    assert f"{UNDEFINED[0]:.3f}" == "nan"
    assert f"{UNDEFINED[0]}" == "Estimate(undefined)"
    assert UNDEFINED[0] == UNDEFINED[0]


@pytest.mark.parametrize("other", ["0.5", None, [0.5], 1j])
def test_it_is_not_ordered_with_what_is_no_number(other):
    assert of(0.5) != other
    with pytest.raises(TypeError):
        _ = of(0.5) < other
