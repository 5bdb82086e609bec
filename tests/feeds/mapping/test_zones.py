"""Times without a zone come to the same moment in whole columns as one by one."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.feeds.mapping.zones import aware, utc_microseconds

ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC")
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  # what a clock shows
MOMENTS = st.datetimes(datetime(1950, 1, 1), datetime(2100, 1, 1)).map(  # noqa: DTZ001
    lambda moment: moment.replace(fold=0)
)
"""Numbers and texts carry no fold."""


@given(st.sampled_from(ZONES), st.lists(MOMENTS, min_size=1, max_size=20))
def test_columns_and_single_times_agree(name, shown):
    zone = ZoneInfo(name)
    column = np.array([(moment - EPOCH) // timedelta(microseconds=1) for moment in shown])
    one_by_one = [
        (aware(moment, zone) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
        for moment in shown
    ]
    assert utc_microseconds(column, zone).tolist() == one_by_one


def test_a_moment_that_names_the_second_of_two_hours_is_the_second():
    shown = datetime(2026, 10, 25, 2, 30, fold=1)  # noqa: DTZ001
    found = aware(shown, ZoneInfo("Europe/Berlin"))
    assert found.astimezone(UTC).isoformat() == "2026-10-25T01:30:00+00:00"


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ("2026-10-25T02:30:00", "2026-10-25T00:30:00+00:00"),
        ("2026-03-29T02:30:00", "2026-03-29T01:30:00+00:00"),
        ("2026-03-29T03:00:00", "2026-03-29T01:00:00+00:00"),
    ],
)
def test_an_hour_shown_twice_is_the_first_and_one_skipped_is_before_the_skip(shown, expected):
    found = aware(datetime.fromisoformat(shown), ZoneInfo("Europe/Berlin"))
    assert found.astimezone(UTC).isoformat() == expected


def test_times_far_outside_the_years_do_not_fail():
    column = np.array([-(10**18), 10**18])
    assert utc_microseconds(column, ZoneInfo("Europe/Berlin")).shape == (2,)
