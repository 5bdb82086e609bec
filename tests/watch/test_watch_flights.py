"""The bundled flights, replayed live: rarer delays page nobody, worse scores do."""

from datetime import UTC, datetime

import numpy as np
import pytest
from streams import FLIGHTS

from monitor.config import load_config
from monitor.drift.verdict import DEGRADED
from monitor.engine import Monitor
from monitor.events.batches import in_parts
from monitor.events.columns import KINDS
from monitor.feeds import files
from monitor.feeds.decode import Decoder, DecodeSettings

DAY = 86_400_000


def day(text):
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def by_day(batch, since):
    """Parts of a batch in order of time, each a day from a moment on; None: its first event."""
    times = {kind: getattr(batch, kind).time for kind in KINDS}
    start = min(int(time.min()) for time in times.values() if len(time)) if since is None else since
    return in_parts(batch, {kind: np.maximum(t - start, 0) // DAY for kind, t in times.items()})


@pytest.fixture(scope="module")
def september():
    """Detections of the whole stream, and the verdicts of each day of September."""
    config = load_config("config/flights.yaml", environ={})
    monitor, said, last = Monitor(config), [], 0
    for batch in files.read([str(FLIGHTS)], Decoder(DecodeSettings.from_config(config))):
        for part in by_day(batch, monitor.watermark_ms):
            monitor.apply(part)
            now = monitor.watermark_ms or 0
            if now // DAY != last and day("2013-09-01") <= now < day("2013-10-03"):
                last = now // DAY
                verdicts = monitor.snapshot().models[0].watched.verdicts
                said += [(last, name, found.verdict) for name, found in verdicts.items()]
    return monitor.snapshot().models[0].watched, said


def test_a_live_replay_pages_only_where_the_scores_agree_that_the_model_got_worse(september):
    """In the weeks from 14 September the area under the ROC curve is .60 and .57, before .74."""
    watched, _ = september
    pages = [found.at for found in watched.detections if found.kind == "model_degraded"]
    assert not [at for at in pages if day("2013-08-31") <= at < day("2013-09-17")]
    assert not watched.warming_up


def test_no_window_of_early_september_is_laid_to_a_worse_model(september):
    _, said = september
    assert len({at for at, _, _ in said}) >= 25
    until = day("2013-09-17") // DAY
    assert not [name for at, name, verdict in said if verdict in DEGRADED and at < until]
