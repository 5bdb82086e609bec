"""The bundled flights, replayed live: rarer delays page nobody, worse scores do."""

import gzip
import json
from datetime import UTC, datetime
from functools import cache

import numpy as np
import pytest
from scipy.stats import rankdata
from streams import FLIGHTS

from monitor.config import Config, load_config
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


@cache
def labelled_scores():
    """The day of each flight whose label came; its score and its label."""
    made, labels = {}, {}
    for event in map(json.loads, gzip.decompress(FLIGHTS.read_bytes()).splitlines()):
        if event["type"] == "prediction":
            made[event["id"]] = int(event["ts"] * 1000) // DAY, event["score"]
        else:
            labels[event["id"]] = event["label"]
    found = [(*made[name], label) for name, label in labels.items() if label is not None]
    rows = np.array(found)
    return rows[:, 0], rows[:, 1:]


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


def area_under_curve(first, end):
    """Probability that a late flight of some days had the higher score than a punctual one."""
    days, scores = labelled_scores()
    score, late = scores[(first // DAY <= days) & (end // DAY > days)].T
    ranks = rankdata(score)[late == 1].sum()
    positive, negative = (late == 1).sum(), (late == 0).sum()
    return (ranks - positive * (positive + 1) / 2) / (positive * negative)


@pytest.mark.slow
def test_a_live_replay_pages_where_the_scores_show_that_the_model_got_worse():
    monitor = Monitor(Config(defaults={"label_timeout": "2d"}))
    for batch in files.read([str(FLIGHTS)], Decoder(DecodeSettings.from_config(monitor.config))):
        for part in by_day(batch, monitor.watermark_ms):
            monitor.apply(part)
    (model,) = monitor.snapshot().models
    pages = [one.at for one in model.watched.detections if one.kind == "model_degraded"]
    before = area_under_curve(day("2013-03-01"), day("2013-03-29"))
    assert pages, "in the weeks from 14 September the area falls from .7 to under .6"
    for at in pages:
        assert area_under_curve(at - 14 * DAY, at) < before - 0.05


@pytest.mark.slow
def test_rarer_delays_page_nobody(september):
    watched, _ = september
    pages = [one.at for one in watched.detections if one.kind == "model_degraded"]
    assert not [at for at in pages if at < day("2013-09-17")]
    assert not watched.warming_up


@pytest.mark.slow
def test_no_window_of_early_september_is_laid_to_a_worse_model(september):
    _, said = september
    assert len({at for at, _, _ in said}) >= 25
    until = day("2013-09-17") // DAY
    assert not [name for at, name, verdict in said if verdict in DEGRADED and at < until]
