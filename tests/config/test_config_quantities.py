"""Durations, sizes, addresses and times as people write them."""

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.config.quantities import (
    DURATION_PATTERN,
    LONGEST_MS,
    SIZE_PATTERN,
    format_duration,
    format_size,
    format_time,
    parse_address,
    parse_duration,
    parse_size,
    parse_time,
)

UNITS = ("w", "d", "h", "m", "s", "ms")


@given(st.integers(0, LONGEST_MS))
def test_a_duration_is_read_as_it_was_written(milliseconds: int) -> None:
    text = format_duration(milliseconds)
    assert parse_duration(text) == milliseconds
    assert re.search(DURATION_PATTERN, text)


@given(
    st.tuples(*(st.sampled_from(["", f"0{unit}", f"59{unit}"]) for unit in UNITS))
    .map("".join)
    .filter(bool)
)
def test_a_duration_written_again_is_as_long(text: str) -> None:
    milliseconds = parse_duration(text)
    assert parse_duration(format_duration(milliseconds)) == milliseconds


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("0", 0),
        ("0s", 0),
        ("500ms", 500),
        ("30s", 30_000),
        ("5m", 300_000),
        ("1h30m", 5_400_000),
        ("90m", 5_400_000),
        ("14d", 1_209_600_000),
        ("2w", 1_209_600_000),
        ("1d12h", 129_600_000),
        ("1m1ms", 60_001),
        ("007d", 604_800_000),
    ],
)
def test_durations(text: str, milliseconds: int) -> None:
    assert parse_duration(text) == milliseconds


@pytest.mark.parametrize(
    "text",
    ["", "5", "-5m", "+5m", "1.5h", "5 m", " 5m", "5m\n", "5M", "30m1h", "1h1h", "1y", "m", "٣m"],
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be a duration; write it like"):
        parse_duration(text)


def test_a_duration_of_more_than_a_century_is_refused() -> None:
    assert parse_duration("36500d") == LONGEST_MS
    with pytest.raises(ValueError, match="is too long"):
        parse_duration("36500d1ms")
    with pytest.raises(ValueError, match="at most 36500d"):
        parse_duration("9" * 5000 + "d")


@given(st.integers(0, 1 << 50))
def test_a_size_is_read_as_it_was_written(size: int) -> None:
    assert parse_size(format_size(size)) == size
    assert re.search(SIZE_PATTERN, format_size(size))


@pytest.mark.parametrize("text", ["", "64", "64MB", "64mib", "1.5GiB", "-1B", "64 MiB", "64MiB\n"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be a size"):
        parse_size(text)


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:9108", "127.0.0.1", 9108),
        ("localhost:0", "localhost", 0),
        ("[::]:65535", "::", 65535),
        ("kafka-1.example.org:9092", "kafka-1.example.org", 9092),
    ],
)
def test_addresses(text: str, host: str, port: int) -> None:
    assert parse_address(text) == (host, port)


@pytest.mark.parametrize(
    "text",
    ["", "9108", ":9108", "localhost", "localhost:", "::1:9108", "a b:1", "http://a:1", "a:1\n"],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be an address with a port"):
        parse_address(text)


@given(st.datetimes(datetime(1900, 1, 1), datetime(2199, 12, 31)))  # noqa: DTZ001 zone follows
def test_a_time_is_read_as_it_was_written(naive: datetime) -> None:
    time = naive.replace(tzinfo=UTC, microsecond=naive.microsecond // 1000 * 1000)
    milliseconds = parse_time(time.isoformat())
    assert milliseconds == round(time.timestamp() * 1000)
    assert parse_time(format_time(milliseconds)) == milliseconds


@pytest.mark.parametrize(
    "text",
    ["2026-11-01T01:00:00+01:00", "2026-11-01 00:00:00Z", "2026-11-01", "2026-11-01T00:00Z"],
)
def test_times_of_one_moment(text: str) -> None:
    assert parse_time(text) == parse_time("2026-11-01T00:00:00Z")


@pytest.mark.parametrize("text", ["2026-11-01T00:00:00", "2026-11-01 00:00"])
def test_a_time_without_its_zone_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must name its time zone"):
        parse_time(text)


@pytest.mark.parametrize("text", ["1899-12-31T23:59:59Z", "2200-01-01"])
def test_a_time_outside_the_range_of_events_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="years 1900 to 2199"):
        parse_time(text)
