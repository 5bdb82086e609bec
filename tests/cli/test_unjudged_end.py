"""`replay` names the predictions that no verdict judges yet, since labels take long."""

import json

import httpx
import pytest
from cli.commands import ran
from exporter.page.pages import fed, served

from monitor.config import parse_config
from monitor.engine import Monitor

DAY = 86_400
CONFIG = "models: {{m: {{maturity: {age}, reference: {{first: 7d}}}}}}\nwindows: [7d]\n"


def made(hour):
    """A prediction an hour over 60 days: of each ten, two are flagged, and four since day 40."""
    flagged = hour % 10 < (4 if hour >= 40 * 24 else 2)
    event = {"type": "prediction", "id": str(hour), "ts": hour * 3_600, "prediction": int(flagged)}
    yield event
    if hour < 35 * 24:
        yield {"type": "label", "id": str(hour), "ts": hour * 3_600 + DAY, "label": int(flagged)}


EVENTS = sorted((one for hour in range(60 * 24) for one in made(hour)), key=lambda e: e["ts"])


@pytest.fixture
def printed(capsys, tmp_path):
    path, config = tmp_path / "events.ndjson", tmp_path / "monitor.yaml"
    path.write_text("".join(f"{json.dumps(event)}\n" for event in EVENTS))

    def of(command, age, *options):
        config.write_text(CONFIG.format(age=age))
        return " ".join(ran(capsys, command, path, "-c", config, *options).out.split())

    return of


def test_predictions_behind_the_windows_have_their_number_labels_and_share_of_flagged(printed):
    assert (
        "m: no verdict is on the last 30.1 days yet, as labels take so long: of 723 predictions "
        "since 1970-01-30, 123 have a label, and .332 are flagged (.199 in the 28d before). Next:"
    ) in printed("replay", "30d")


def test_diagnose_says_the_same_in_the_terminal_and_the_api(printed):
    note = (
        "No verdict is on the last 30.1 days yet, as labels take so long: of 723 predictions since "
        "1970-01-30, 123 have a label, and .332 are flagged (.199 in the 28d before)."
    )
    assert f"- {note}" in printed("diagnose", "30d")
    monitor = fed(Monitor(parse_config(CONFIG.format(age="30d"), "monitor.yaml")), EVENTS)
    with served(monitor) as address:
        found = httpx.get(f"{address}/api/v1/diagnosis?model=m").json()
    assert note in found["notes"]


def test_diagnose_names_nothing_where_a_range_is_asked_for_or_reaches_as_far(printed):
    ranges = "--before", "1970-01-01..1970-01-08", "--after", "1970-01-20..1970-01-27"
    assert "No verdict is on" not in printed("diagnose", "30d", *ranges)
    assert "No verdict is on" not in printed("diagnose", "5d")


def test_nothing_is_named_where_the_windows_reach_as_far(printed):
    assert "no verdict is on" not in printed("replay", "5d")


def test_a_share_of_flagged_cases_that_certainly_changed_is_in_the_headline_and_the_advice(
    capsys, tmp_path
):
    path, config = tmp_path / "events.ndjson", tmp_path / "monitor.yaml"
    config.write_text(CONFIG.format(age="40d"))
    events = [
        {"type": "outcome", "id": str(hour), "ts": hour * 3_600, "label": int(hour % 10 < 2)}
        | {"prediction": int(hour % 10 < (1 if hour >= 60 * 24 else 3))}
        for hour in range(100 * 24 + 3)
    ]
    path.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    changed = (
        "Since 1970-03-02, which no verdict is on yet, the share of flagged cases fell from .299 "
        "to .101."
    )
    look = "see whether the threshold, the scores, or what reaches the model changed"
    diagnosed = " ".join(ran(capsys, "diagnose", path, "-c", config).out.split())
    assert changed in diagnosed
    advice = f"- Of the predictions since 1970-03-02, {look}; a shorter maturity judges them."
    assert advice in diagnosed
    assert "- Nothing." not in diagnosed
    replayed = " ".join(ran(capsys, "replay", path, "-c", config).out.split())
    assert "in the 28d before), certainly fewer. Of the predictions since" in replayed
