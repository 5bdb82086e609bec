"""`replay` names the predictions that no verdict judges yet, since labels take long."""

import json

import pytest
from cli.commands import ran

DAY = 86_400
CONFIG = "models: {{m: {{maturity: {age}, reference: {{first: 7d}}}}}}\nwindows: [7d]\n"


def made(hour):
    """A prediction an hour over 60 days: of each ten, two are flagged, and four since day 40."""
    flagged = hour % 10 < (4 if hour >= 40 * 24 else 2)
    event = {"type": "prediction", "id": str(hour), "ts": hour * 3_600, "prediction": int(flagged)}
    yield event
    if hour < 35 * 24:
        yield {"type": "label", "id": str(hour), "ts": hour * 3_600 + DAY, "label": int(flagged)}


@pytest.fixture
def replayed(capsys, tmp_path):
    path, config = tmp_path / "events.ndjson", tmp_path / "monitor.yaml"
    events = sorted((one for hour in range(60 * 24) for one in made(hour)), key=lambda e: e["ts"])
    path.write_text("".join(f"{json.dumps(event)}\n" for event in events))

    def replay(age):
        config.write_text(CONFIG.format(age=age))
        return " ".join(ran(capsys, "replay", path, "-c", config).out.split())

    return replay


def test_predictions_behind_the_windows_have_their_number_labels_and_share_of_flagged(replayed):
    assert (
        "m: no verdict is on the last 30.1 days yet, as labels take so long: of 723 predictions "
        "since 1970-01-30, 123 have a label, and .332 are flagged (.201 before). Next:"
    ) in replayed("30d")


def test_a_table_in_which_all_have_a_label_is_judged_without_the_time_of_the_label(
    capsys, tmp_path
):
    path = tmp_path / "events.ndjson"
    events = [
        {"type": "outcome", "id": str(hour), "ts": hour * 3_600, "prediction": hour % 10 < 2}
        | {"label": hour % 10 < 1, "label_ts": (hour + 24 * (10 + hour * 7 % 40)) * 3_600}
        for hour in range(60 * 24)
    ]
    path.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    found = " ".join(ran(capsys, "replay", path).out.split())
    assert "all have a label, and .199 are flagged (.231 before). Labels in the" in found
    assert (
        "leave out the time of the label (label_ts, and maturity where it is configured)" in found
    )
    for event in events:
        del event["label_ts"]
    path.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    without = " ".join(ran(capsys, "replay", path).out.split())
    assert "Judged: default: steady" in without
    assert "no verdict is on" not in without


def test_nothing_is_named_where_the_windows_reach_as_far(replayed):
    assert "no verdict is on" not in replayed("5d")
