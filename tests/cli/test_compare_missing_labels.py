"""`compare` where labels are missing by the prediction: it compares nothing and says why."""

from collections import Counter

import pytest
from cli.commands import ran
from cli.comparing import DAY, compared
from cli.test_diagnose import written

from monitor.config import parse_config
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings


def live(feed):
    """Return the model of a monitor that has counted a feed, its versions apart."""
    monitor = Monitor(parse_config("models: {default: {segments: [version]}}", "a.yaml"))
    decoder = Decoder(DecodeSettings.from_config(monitor.config))
    monitor.apply(decoder.decode_lines(feed.read_bytes(), source="a", first_line=1))
    (model,) = monitor.snapshot().models
    return model


@pytest.mark.parametrize(
    ("side", "words"), [(1, "predicted positives get labels and"), (0, "predicted negatives get")]
)
def test_labels_of_one_predicted_class_compare_nothing(capsys, tmp_path, side, words):
    events = []
    for number in range(4_000):
        at, made = {"id": f"i{number}", "ts": DAY + number * 600}, number // 2 % 2
        events.append({"type": "prediction", "prediction": made, "version": "67"[number % 2], **at})
        if made == side:
            events.append({"type": "label", "label": int(number % 5 > 1), **at})
    feed = written(tmp_path / "a.ndjson", *events)
    done = ran(capsys, "compare", feed, "--fail-on", "worse")
    assert (done.code, done.out.startswith(f"Nothing is compared: of version '6', {words}")) == (
        0,
        True,
    )
    found = compared(capsys, feed)
    assert (found["verdict"], found["headline"]) == ("not_shown", done.out.strip())
    assert live(feed).versions_now.not_compared == found["headline"].partition(": ")[2].rstrip(".")


@pytest.mark.parametrize(
    ("labelled", "words"),
    [
        (
            {"6": (1, 1), "7": (1, 0.7)},
            "100 % of predicted positives and 70 % of predicted negatives",
        ),
        (
            {"6": (1, 1), "7": (0.7, 1)},
            "70 % of predicted positives and 100 % of predicted negatives",
        ),
        ({"6": (1, 0.7), "7": (1, 0.7)}, None),
    ],
)
def test_labels_missing_by_the_prediction_in_one_version_compare_nothing(
    capsys, tmp_path, labelled, words
):
    """The versions are alike; a share of a hundred of their predictions in turn has labels."""
    events, made = [], Counter()
    for number in range(20_000):
        at, version = {"id": f"i{number}", "ts": DAY + number * 120}, "67"[number % 2]
        turn = number // 2
        flagged, actual = int(turn % 10 < 3), int(turn % 100 < 25 or turn % 100 == 99)
        row = {"type": "prediction", "prediction": flagged, "version": version, **at}
        events.append(row)
        made[version, flagged] += 1
        if (made[version, flagged] * 37) % 100 < 100 * labelled[version][1 - flagged]:
            events.append({"type": "label", "label": actual, **at})
    feed = written(tmp_path / "a.ndjson", *events)
    found = compared(capsys, feed)
    assert ("class_ratio" in found) is (words is None)
    assert words is None or f"{words} of version '7'" in found["headline"]
    assert found["verdict"] == "not_shown"
    refused = found["headline"].partition(": ")[2].rstrip(".") if words else ""
    assert live(feed).versions_now.not_compared == refused
