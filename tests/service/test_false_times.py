"""A running monitor sets aside what is dated a day ahead of its clock, and says whose it is."""

import json

import pytest
from service.test_service_intake import Running as Posted
from service.test_service_loop import Running

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.service.false_times import FalseTimes
from monitor.snapshot import Snapshot

DAY = 86_400
NOW = 1_700_000_000
MODELS = {
    name: {
        "label_timeout": "10d",
        "segments": ["version"],
        "shadow_versions": ["*-shadow"],
    }
    for name in ("fraud", "spam")
}


def lines(events):
    return "".join(json.dumps(event) + "\n" for event in events)


def prediction(number, ts, **more):
    event = {"type": "prediction", "model": "fraud", "id": f"p{number}", "ts": ts, "prediction": 1}
    return event | more


def stream(count=2_000):
    """Predictions of the last 20 days, and their labels, in the order of time."""
    made = [prediction(i, NOW - 20 * DAY + i * 400) for i in range(count)]
    labels = [
        {"type": "label", "id": one["id"], "ts": one["ts"] + 5 * DAY, "label": 1} for one in made
    ]
    return sorted([*made, *labels], key=lambda event: event["ts"])


def books(snapshot: Snapshot):
    model = snapshot.models[0]
    return model.matched, model.expired, model.watermark_ms


@pytest.fixture
def path(tmp_path):
    return tmp_path / "events.ndjson"


def followed(path, events):
    """A monitor that has read a followed file at `NOW`."""
    path.write_text(lines(events))
    running = Running({"type": "file", "path": str(path), "follow": True}, models=MODELS)
    running.clock.sleep(NOW)
    running.turns(seconds=3)
    for source in running.sources:
        source.close()
    return running


@pytest.mark.parametrize("shadow", [{}, {"version": "2-shadow"}])
@pytest.mark.parametrize("count", [90, 400])
def test_a_model_of_a_followed_file_loses_nothing_to_false_times(path, count, shadow):
    events = stream()
    far = [prediction(90_000 + i, NOW + 365 * DAY + i, **shadow) for i in range(count)]
    running, clean = followed(path, [*events[:700], *far, *events[700:]]), followed(path, events)
    matched, expired, time = books(clean.snapshot)
    assert (matched, expired) == (2_000, 0)
    assert books(running.snapshot) == (matched, expired, time)
    assert running.snapshot.models[0].aside == (0, count)
    cautions = [line for line in running.reported if line.startswith("CAUTION: fraud: ")]
    assert [line.partition("; ")[0] for line in cautions] == [
        f"CAUTION: fraud: {count} events of {path} dated more than a day ahead of the clock"
    ]
    assert not [line for line in clean.reported if "ahead of the clock" in line]


def test_each_model_and_feed_has_one_line():
    config, said = Config(models=MODELS), []
    decoder = Decoder(DecodeSettings.from_config(config))

    def batch(*models, ahead=2 * DAY):
        events = [prediction(i, NOW + ahead) | {"model": name} for i, name in enumerate(models)]
        return decoder.decode_lines(lines(events).encode(), source="a").arrived([(0, NOW * 1000)])

    times = FalseTimes(said.append)
    times.note("a.ndjson", batch("fraud", ahead=DAY))
    assert not said
    times.note("a.ndjson", batch("fraud", "spam", "fraud"))
    times.note("a.ndjson", batch("fraud", "spam"))
    times.note("kafka claims", batch("fraud"))
    assert [line.partition(" dated ")[0] for line in said] == [
        "CAUTION: fraud: 2 events of a.ndjson",
        "CAUTION: spam: 1 event of a.ndjson",
        "CAUTION: fraud: 1 event of kafka claims",
    ]


def test_what_the_journal_has_is_judged_as_at_its_arrival(tmp_path):
    early = [prediction(i, NOW - 100 + i) for i in range(100)]
    ahead = [prediction(500 + i, NOW + 3_000 + i) for i in range(5)]
    running = Posted(tmp_path)
    running.until_ready()
    for events in (early, ahead):
        assert running.post(lines(events).encode()).status_code == 200
    before = running.counted()
    running.pushed.close()
    again = Posted(tmp_path)
    assert isinstance(again.clock, ManualClock)
    again.clock.sleep(2 * DAY)
    after = again.until_ready().counted()
    again.pushed.close()
    assert before.models[0].aside == (5, 5)
    assert after.models[0].aside == (5, 5)
    assert after.models[0].watermark_ms == before.models[0].watermark_ms == (NOW - 3) * 1000
