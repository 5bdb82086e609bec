"""The blocks of time behind the errors of a window, where panes are longer than an hour."""

from __future__ import annotations

import json

import numpy as np
import pytest

from monitor.clock import DAY_MS, HOUR_MS
from monitor.config import Config
from monitor.drift import Judgement
from monitor.engine import Monitor
from monitor.events.catalogue import Catalogue
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.watch.judged_counts import block_length
from monitor.windows import Windows

WINDOWS = ["1d", "7d", "28d"]


def configured(pane: str) -> Config:
    model = {"label_timeout": "1h", "maturity": "0s", "reference": {"first": "14d"}}
    return Config(models={"m": model}, pane=pane, windows=WINDOWS)


def judged(pane: str) -> Judgement:
    """The 7d window after 25 days of counts that scatter, four times a day."""
    rng, lines = np.random.default_rng(5), []
    for part in range(25 * 4):
        cells = rng.poisson([900, 100, 100, 8_000]) * rng.uniform(0.7, 1.3, 4)
        counts = dict(zip(("tp", "fp", "fn", "tn"), cells.astype(int).tolist(), strict=True))
        lines.append(json.dumps({"type": "counts", "model": "m", "ts": part * 21_600, **counts}))
    config = configured(pane)
    monitor, decoder = Monitor(config), Decoder(DecodeSettings.from_config(config))
    for day in range(25):
        text = "\n".join(lines[4 * day : 4 * day + 4])
        monitor.apply(decoder.decode_lines(f"{text}\n".encode(), source="counts"))
    (model,) = monitor.snapshot().models
    found = model.watched.verdicts["7d"].judgement
    assert found is not None
    return found


def test_a_week_is_as_certain_by_panes_of_six_hours_as_by_the_hour() -> None:
    hours, quarters = judged("1h"), judged("6h")
    for name, error in hours.standard_error.items():
        assert quarters.standard_error[name] == pytest.approx(error, rel=0.1)


@pytest.mark.parametrize(
    ("pane", "week", "month"),
    [
        ("1m", HOUR_MS, DAY_MS),
        ("40m", 2 * HOUR_MS // 3, DAY_MS),
        ("6h", DAY_MS // 4, DAY_MS),
        ("1d", DAY_MS, DAY_MS),
    ],
)
def test_blocks_are_hours_or_days_or_longer_panes(pane: str, week: int, month: int) -> None:
    config = configured(pane)
    windows = Windows(config, Catalogue(config))
    assert block_length(windows, "7d", 40 * DAY_MS, 0) == week
    assert block_length(windows, "28d", 40 * DAY_MS, 0) == month
