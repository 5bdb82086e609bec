"""Columns made all at once are those that each value gives by itself."""

from datetime import UTC, datetime, timedelta, timezone
from math import nan

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from monitor.feeds.decode.field_columns import (
    LEFT_OUT,
    classes,
    millisecond,
    milliseconds,
    optional_numbers,
    seconds_of,
)

ZONE = timezone(timedelta(hours=-3))
numbers = st.floats(allow_nan=False, allow_infinity=False)
moments = st.datetimes(
    datetime(1900, 1, 1),  # noqa: DTZ001 - Hypothesis adds the zone
    datetime(2200, 1, 1),  # noqa: DTZ001
    timezones=st.sampled_from([UTC, ZONE]),
)
marks = st.sampled_from([0, 1, False, True])


def maybe(values):
    """A list with and without None."""
    return st.one_of(st.lists(values), st.lists(st.one_of(values, st.none())))


def assert_column(found, expected, dtype):
    """Equal bit for bit, of this type, and its own to write to."""
    assert found.dtype == dtype
    assert found.flags.writeable
    assert found.tobytes() == np.array(expected, dtype).tobytes()


@given(st.one_of(st.lists(numbers), st.lists(st.one_of(numbers, moments))))
def test_seconds_are_those_of_each_number_and_each_time(values):
    expected = [v.timestamp() if isinstance(v, datetime) else v for v in values]
    assert_column(seconds_of(values), expected, np.float64)


@given(maybe(numbers))
def test_numbers_are_as_given_and_nan_for_none(values):
    expected = [nan if value is None else value for value in values]
    assert_column(optional_numbers(values), expected, np.float64)


@given(maybe(marks))
def test_classes_are_0_and_1_however_they_are_written(values):
    expected = [LEFT_OUT if value is None else int(value) for value in values]
    assert_column(classes(values), expected, np.int64)


@given(
    st.one_of(st.floats(-9e9, 9e9), st.integers(-(9 * 10**15), 9 * 10**15).map(lambda n: n / 1e6))
)
def test_one_time_in_milliseconds_is_that_of_a_column(seconds):
    assert millisecond(seconds) == milliseconds(np.array([seconds]))[0]
