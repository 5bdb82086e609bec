"""Labels that stopped are told at once, though windows end where nearly all labels have come."""

import json
from functools import cache

import numpy as np
import pytest
from cli.commands import ran
from exporter.page.pages import fed
from report.one_moment import DAY

from monitor.config import Config
from monitor.diagnosis.label_silence import labels_silent_since
from monitor.engine import Monitor
from monitor.exporter.api.queries import Queries
from monitor.exporter.api.status import status_answer
from monitor.exporter.page.formats import lacks_labels

STOPPED = 30
A_DAY = 480
LATE = "models:\n  m: {maturity: 9d}\nwindows: [1d, 7d]\n"


@cache
def stream(days, stopped=STOPPED, *, every=None):
    """Predictions and their labels: half within a day, nearly all within nine, until they stop.

    Where `every` is given, labels come in batches, all of them at one moment every so many days.
    """
    rng = np.random.default_rng(3)
    made = np.arange(int(days * A_DAY)) / A_DAY
    actual, luck = rng.random(len(made)) < 0.1, rng.random(len(made))
    flagged = luck < np.where(actual, 0.8, 0.03)
    came = made + 9 * rng.random(len(made)) ** 3
    if every is not None:
        came = (made // every + 1) * every
    records = [
        {"type": "prediction", "id": f"p{n}", "model": "m", "ts": at * DAY, "prediction": int(flag)}
        for n, (at, flag) in enumerate(zip(made.tolist(), flagged.tolist(), strict=True))
    ]
    records += [
        {"type": "label", "id": f"p{n}", "ts": at * DAY, "label": int(actual[n])}
        for n, at in enumerate(came.tolist())
        if at < min(days, stopped)
    ]
    return sorted(records, key=lambda one: one["ts"])


def shown(days, **others):
    """The monitor after some days, and the status of its model."""
    config = Config(models={"m": {"maturity": "9d"}}, windows=["1d", "7d"])
    monitor = fed(Monitor(config), stream(days, **others))
    (status,) = status_answer(monitor.snapshot(), limit=1).models
    return monitor, status


def test_headline_page_and_diagnose_say_since_when_no_label_came():
    monitor, status = shown(34)
    assert status.verdict_because == "steady"
    assert status.headline.startswith("No label since 31 January 1970. Precision ")
    assert lacks_labels(status)
    snapshot = monitor.snapshot()
    found = Queries(lambda: snapshot, lambda read: read(monitor)).explanation(None, None, None)
    assert found.answer.headline.startswith("No label since 31 January 1970. Precision ")


def test_replay_says_on_which_day_labels_stopped_before_a_window_shows_it(tmp_path, capsys):
    file, config = tmp_path / "events.ndjson", tmp_path / "monitor.yaml"
    file.write_text("".join(f"{json.dumps(one)}\n" for one in stream(34)))
    config.write_text(LATE)
    done = ran(capsys, "replay", str(file), "-c", str(config))
    assert "Judged: m: steady." in done.out
    assert "labels stopped on 1970-01-3" in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("days", "others"), [(31.5, {}), (29, {}), (34.9, {"stopped": 99, "every": 7})]
)
def test_a_short_silence_or_one_between_two_batches_is_usual(days, others):
    monitor, status = shown(days, **others)
    assert status.headline.startswith("Precision ")
    (model,) = monitor.snapshot().models
    assert labels_silent_since(model) is None
    assert not lacks_labels(status)


@pytest.mark.parametrize("days", [31, 32, 33, 34, 36])
def test_diagnose_trusts_labels_as_the_page_does_from_the_day_on_that_they_stopped(days):
    monitor, status = shown(days)
    snapshot = monitor.snapshot()
    found = Queries(lambda: snapshot, lambda read: read(monitor)).explanation(None, None, None)
    assert found.answer.verdict == status.verdict
