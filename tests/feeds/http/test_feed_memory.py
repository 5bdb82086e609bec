"""What requests that wait hold in memory, and how many are decoded at a time."""

import asyncio
import json
from threading import Barrier, BrokenBarrierError

from monitor.events.columns import KINDS
from monitor.feeds.decode import DecodeSettings, ModelFields
from monitor.feeds.http.offload import INLINE_BYTES, THREADS, offload

SEGMENTS = DecodeSettings(default=ModelFields(segments=("country", "channel")))


def predictions(count):
    made = {"type": "prediction", "ts": 1_700_000_000, "model": "m", "prediction": 1}
    return b"".join(
        json.dumps(
            {**made, "id": f"p{n}", "segment": {"country": f"c{n % 7}", "channel": f"h{n}"}}
        ).encode()
        + b"\n"
        for n in range(count)
    )


def test_events_that_wait_hold_no_larger_arrays_than_their_own(make_feed):
    feed = make_feed(decoding=SEGMENTS)
    assert feed.post(predictions(100)).status_code == 200
    (posted,) = feed.intake.posted
    for kind in KINDS:
        columns = getattr(posted.batch, kind)
        assert all(getattr(columns, name).base is None for name in columns.names())


def test_groups_of_different_requests_share_their_names(make_feed):
    feed = make_feed(decoding=SEGMENTS)
    for count in (50, 100):
        assert feed.post(predictions(count)).status_code == 200
    groups = [group for posted in feed.intake.posted for group in posted.batch.groups]
    assert len(groups) == 150
    assert len({id(group.model) for group in groups}) == 1
    assert len({id(group.values[0]) for group in groups}) == 7


def test_few_large_bodies_are_processed_at_a_time():
    meeting = Barrier(THREADS + 1)

    def meets():
        try:
            meeting.wait(0.5)
        except BrokenBarrierError:
            return False
        return True

    async def all_of_them():
        work = (offload(INLINE_BYTES + 1, meets) for _ in range(THREADS + 1))
        return await asyncio.gather(*work)

    assert asyncio.run(all_of_them()) == [False] * (THREADS + 1)
