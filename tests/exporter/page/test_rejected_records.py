"""Page and API show which records of the last day are rejected."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from exporter.page.pages import plain

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import EventBatch
from monitor.events.reject_reasons import Rejection, RejectReason
from monitor.exporter.app import create_app
from monitor.report.rejected_lately import RejectedLately
from monitor.service.recent_rejections import RecentRejections
from monitor.web.server import BackgroundServer

RENAMED = Rejection(
    RejectReason.BAD_VALUE,
    "mail.ndjson:17",
    "prediction: must be 'card' or 'loan', got \"Card<b>\"; if it is a class, configure it",
    b"{}",
)
TEXT = "Of the 1,000 records of the last day "


def of(records: int, rejected: int) -> RejectedLately:
    recent = RecentRejections(ManualClock(1_782_864_000.0))
    recent.note(EventBatch(records=records, rejected=(RENAMED,) * rejected))
    return recent.last_day()


@contextmanager
def served(lately: RejectedLately | None, models: str) -> Iterator[str]:
    monitor = Monitor(Config(models={name: {} for name in models}))
    snapshot = monitor.snapshot()
    app = create_app(
        lambda: snapshot,
        ready=lambda: True,
        rejected_lately=None if lately is None else lambda: lately,
    )
    with BackgroundServer(app) as server:
        yield server.url


@pytest.mark.parametrize("models", ["a", "ab"])
def test_many_rejected_records_stand_out_on_every_page(models: str) -> None:
    with served(of(1_000, 170), models) as url:
        page = httpx.get(url).text
    assert page.count('<div class="fault"><p><strong>Records are rejected. </strong>') == 1
    assert f"{TEXT}170 (17 %) are rejected, and count nowhere." in plain(page)
    shown = "170 bad_value, the latest mail.ndjson:17: prediction: must be"
    assert shown in plain(page)
    assert "Card&lt;b&gt;" in page


@pytest.mark.parametrize("models", ["a", "ab"])
def test_a_few_rejected_records_are_behind_a_summary(models: str) -> None:
    with served(of(1_000, 3), models) as url:
        page = httpx.get(url).text
    assert f"<summary>{TEXT}3 (0.3 %) are rejected, and count nowhere.</summary>" in page
    assert "Records are rejected." not in page


@pytest.mark.parametrize("lately", [None, of(1_000, 0)])
def test_without_rejected_records_there_is_no_word_of_them(lately: RejectedLately | None) -> None:
    with served(lately, "ab") as url:
        page = httpx.get(url).text
        answer = httpx.get(f"{url}/api/v1/status").json()["rejected_lately"]
    assert "rejected" not in plain(page)
    assert answer == (None if lately is None else {"read": 1_000, "rejected": 0, "kinds": []})


def test_the_api_has_each_kind() -> None:
    with served(of(1_000, 170), "a") as url:
        found = httpx.get(f"{url}/api/v1/status").json()["rejected_lately"]
    assert (found["read"], found["rejected"]) == (1_000, 170)
    assert found["kinds"] == [
        {
            "feed": "mail.ndjson",
            "reason": "bad_value",
            "field": "prediction",
            "records": 170,
            "latest": "mail.ndjson:17",
            "detail": RENAMED.detail,
        }
    ]
