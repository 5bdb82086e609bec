"""`finish` lets the labels of tables carry the time, as the end of a recorded file does."""

import json

from cli.commands import ran

from monitor import Monitor
from monitor.config import Config

DAY = 86_400
MODEL = {"label_timeout": "90d", "reference": {"first": "7d"}}
CONFIG = Config(models={"m": MODEL}, windows=["7d"])
TABLE = {
    "ts": [hour * 3_600 for hour in range(60 * 24)],
    "prediction": [int(hour % 10 < 2) for hour in range(60 * 24)],
    "label": [int(hour % 10 in (0, 5)) for hour in range(60 * 24)],
    "label_ts": [hour * 3_600 + (5 + hour * 7 % 20) * DAY for hour in range(60 * 24)],
}


def test_windows_and_verdict_are_those_of_the_recorded_file(capsys, tmp_path):
    monitor = Monitor(CONFIG)
    half = len(TABLE["ts"]) // 2
    for rows in (slice(None, half), slice(half, None)):
        monitor.feed({name: column[rows] for name, column in TABLE.items()})
    before = int(monitor.snapshot().windows[0].close[0])
    monitor.finish()
    window = monitor.snapshot().windows[0]
    path, config = tmp_path / "events.ndjson", tmp_path / "monitor.yaml"
    rows = [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]
    path.write_text("".join(f"{json.dumps({'type': 'outcome', **row})}\n" for row in rows))
    config.write_text(json.dumps({"models": {"m": MODEL}, "windows": ["7d"]}))
    found = json.loads(ran(capsys, "replay", path, "-c", config, "--json").out)["models"]["m"]
    assert monitor["m"].verdict.verdict == found["verdict"]
    outcomes = found["windows"]["7d"]["outcomes"]
    counts = monitor["m"]["7d"].counts
    assert {name: int(getattr(counts, name)) for name in outcomes} == outcomes
    assert int(window.close[0]) - before > 15 * DAY * 1_000


def test_it_changes_nothing_where_labels_have_no_time():
    monitor = Monitor(CONFIG)
    monitor.feed({name: column for name, column in TABLE.items() if name != "label_ts"})
    before = monitor.state()["times"]
    monitor.finish()
    assert monitor.state()["times"] == before
