"""A running monitor counts the records of the last day that are rejected."""

from __future__ import annotations

import pytest

from monitor.clock import ManualClock
from monitor.events.columns import EventBatch
from monitor.events.reject_reasons import Rejection, RejectReason
from monitor.report.rejected_lately import RejectedKind, RejectedLately, rejected_text
from monitor.service.recent_rejections import RecentRejections

HOUR = 3600
BAD = RejectReason.BAD_VALUE


def rejection(
    position: str, detail: str = "label: must be 0 or 1, got 7", reason: RejectReason = BAD
) -> Rejection:
    return Rejection(reason, position, detail, b"{}")


def batch(records: int, *rejected: Rejection) -> EventBatch:
    return EventBatch(records=records, rejected=rejected)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_782_864_000.0)


@pytest.fixture
def recent(clock: ManualClock) -> RecentRejections:
    return RecentRejections(clock)


def test_records_are_counted_by_feed_reason_and_field_with_the_latest(
    recent: RecentRejections,
) -> None:
    torn = rejection("b.csv:3", "record: is torn", RejectReason.MALFORMED)
    recent.note(batch(10, rejection("a.csv:7"), torn, rejection("b.csv:4")))
    recent.note(batch(5, rejection("a.csv:9", "label: must be 0 or 1, got 8")))
    assert recent.last_day() == RejectedLately(
        read=15,
        rejected=4,
        kinds=(
            RejectedKind(
                feed="a.csv",
                reason=BAD,
                field="label",
                records=2,
                latest="a.csv:9",
                detail="label: must be 0 or 1, got 8",
            ),
            RejectedKind(
                feed="b.csv",
                reason=RejectReason.MALFORMED,
                field="record",
                records=1,
                latest="b.csv:3",
                detail="",
            ),
            RejectedKind(
                feed="b.csv",
                reason=BAD,
                field="label",
                records=1,
                latest="b.csv:4",
                detail="label: must be 0 or 1, got 7",
            ),
        ),
    )


@pytest.mark.parametrize("field", ["id", "record", "row", "segment", "version", "source"])
def test_values_of_fields_that_may_identify_a_person_are_left_out(
    recent: RecentRejections, field: str
) -> None:
    recent.note(batch(1, rejection("a.csv:7", f"{field}: must be text, got 'ada@example.org'")))
    (kind,) = recent.last_day().kinds
    assert (kind.field, kind.detail) == (field, "")


def test_what_is_a_day_old_is_left_out(recent: RecentRejections, clock: ManualClock) -> None:
    recent.note(batch(100, rejection("a.csv:7")))
    clock.sleep(23 * HOUR)
    recent.note(batch(10, rejection("a.csv:8"), rejection("a.csv:9")))
    assert (recent.last_day().read, recent.last_day().rejected) == (110, 3)
    clock.sleep(HOUR)
    found = recent.last_day()
    assert (found.read, found.rejected, found.kinds[0].latest) == (10, 2, "a.csv:9")
    clock.sleep(30 * HOUR)
    assert recent.last_day() == RejectedLately(read=0, rejected=0, kinds=())


def test_a_clock_that_goes_back_loses_nothing(recent: RecentRejections, clock: ManualClock) -> None:
    recent.note(batch(100, rejection("a.csv:7")))
    clock.sleep(-3 * HOUR)
    recent.note(batch(10, rejection("a.csv:8")))
    assert (recent.last_day().read, recent.last_day().rejected) == (110, 2)


def test_kinds_are_bounded_and_none_is_lost(recent: RecentRejections) -> None:
    recent.note(batch(1_000, *(rejection(f"{number}.csv:7") for number in range(1_000))))
    found = recent.last_day()
    assert (found.read, found.rejected, len(found.kinds)) == (1_000, 1_000, 10)
    assert (found.kinds[0].feed, found.kinds[0].records) == ("other feeds", 950)


@pytest.mark.parametrize(
    ("read", "rejected", "needs"), [(1_000, 20, True), (10, 10, False), (3_000, 29, False)]
)
def test_more_than_a_few_need_attention(read: int, rejected: int, *, needs: bool) -> None:
    assert RejectedLately(read=read, rejected=rejected, kinds=()).needs_attention is needs


def test_the_share_is_never_nothing() -> None:
    found = RejectedLately(read=1_000_000, rejected=1, kinds=())
    assert "1,000,000 records of the last day 1 (0.01 %) is rejected" in rejected_text(found)
