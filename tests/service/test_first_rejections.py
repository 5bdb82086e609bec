"""A running monitor names the first rejected record of each kind."""

from pathlib import Path

import pytest

from monitor.events.reject_reasons import Rejection, RejectReason
from monitor.service.first_rejections import FirstRejections

PATH = Path("state/dead-letter.ndjson")


class Stored(list):
    write = list.extend


@pytest.fixture
def said():
    return []


@pytest.fixture
def stored():
    return Stored()


@pytest.fixture
def rejections(stored, said):
    return FirstRejections(stored, PATH, said.append)


def rejection(position, detail="label: must be 0 or 1, got 7", reason=RejectReason.BAD_VALUE):
    return Rejection(reason, position, detail, b"{}")


def test_all_are_stored_and_the_first_of_each_reason_and_field_is_named(rejections, stored, said):
    first, other = rejection("a.csv:7"), rejection("a.csv:9", "score: must be a number, got 2")
    rejections.write([first, rejection("a.csv:8"), other])
    rejections.write([rejection("a.csv:12")])
    assert len(stored) == 4
    ends = "; this record and further ones are in state/dead-letter.ndjson"
    assert said == [
        f"a.csv:7: bad_value: label: must be 0 or 1, got 7{ends}",
        f"a.csv:9: bad_value: score: must be a number, got 2{ends}",
    ]


@pytest.mark.parametrize(
    ("one", "again", "other"),
    [
        ("sql claims@2026-07-03 00:00:02", "sql claims@2026-07-04 00:10:02", "sql labels@7"),
        ("7", "7:3", "8"),
        ("a:7:b@1", "a:7:b@x:2", "a:7@1"),
        ("claims[0]@100", "claims[0]@7", "claims[1]@100"),
        ("127.0.0.1:9109/v1/events:1", "127.0.0.1:9109/v1/events:2", "127.0.0.1:9110/v1/events:1"),
    ],
)
def test_each_feed_has_its_own_first(rejections, said, one, again, other):
    rejections.write([rejection(one), rejection(again), rejection(other)])
    assert [line.partition(": bad_value")[0] for line in said] == [one, other]


def test_records_cannot_forge_lines_and_not_fill_the_log(rejections, said):
    rejections.write([rejection(f"{n}.csv:1", f"label: got \n{n}") for n in range(900)])
    assert len(said) == 50
    assert not any("\n" in line for line in said)
