"""The scatter of days that a diagnosis takes: of all days of the model for two ranges."""

import json

import numpy as np
import pytest
from cli.commands import ran
from scipy.special import expit, logit

from monitor.config import Labelling
from monitor.counts import ConfusionCounts
from monitor.diagnosis.model_scatter import DayCounts, ScatterDays, scatter_of_days
from monitor.diagnosis.time_ranges import TimeRange
from monitor.drift import Status, judge
from monitor.drift.day_scatter import DayScatter
from monitor.labels.regime import LabelRegime

DAY = 86_400_000
HOUR = DAY // 24
RANGES = ("--before", "1970-01-08..1970-01-15", "--after", "1970-02-05..1970-02-12")
SENTENCE = "The scatter of days is that of all days from 1970-01-01 to 1970-02-1"


def days_of(rng, days, scatter):
    """Two thousand outcomes a day, whose recall and false positives differ by day: (days, 6)."""
    positive = rng.binomial(2_000, 0.1, days)
    recall, false = (expit(logit(usual) + scatter * rng.normal(size=days)) for usual in (0.8, 0.05))
    tp, fp = rng.binomial(positive, recall), rng.binomial(2_000 - positive, false)
    cells = np.stack([tp, fp, positive - tp, 2_000 - positive - fp], axis=1)
    return np.concatenate([cells, (tp + fp)[:, None], (2_000 - tp - fp)[:, None]], axis=1)


def test_two_days_of_a_healthy_model_rarely_differ_certainly_by_all_its_days():
    """By these two days alone, in a fifth of models they show another skill."""
    rng, certain = np.random.default_rng(7), {"all": 0, "both": 0}
    for _ in range(200):
        cells = days_of(rng, 84, 0.5)
        counts = ConfusionCounts.from_cells(cells[:, :4])
        before, after = counts[np.arange(40, 41)], counts[np.arange(60, 61)]
        every = scatter_of_days(DayCounts(np.arange(84) * DAY, cells), LabelRegime(), ())
        scatters = {"all": every.scatter, "both": DayScatter.learn([before, after])}
        for name, scatter in scatters.items():
            found = judge(before, after, between=scatter.between(1, 1))
            certain[name] += found.status["log_likelihood_ratio"] is Status.CHANGED
    assert certain["all"] <= 6
    assert certain["both"] >= 20


def test_it_is_of_the_days_whose_labels_have_come():
    cells = days_of(np.random.default_rng(1), 40, 0.2)
    days = DayCounts(np.arange(40) * DAY, cells)
    cells[30:, :4] = 0
    found = scatter_of_days(days.until(35 * DAY + HOUR), LabelRegime(Labelling.COMPLETE), ())
    assert found.days == ScatterDays("days", 0, 30 * DAY)
    assert scatter_of_days(days.until(DAY), LabelRegime(), ()) is None


def test_a_change_between_the_ranges_is_no_scatter():
    cells = days_of(np.random.default_rng(5), 35, 0.1)
    cells[28:, 2] += cells[28:, 0] // 4
    cells[28:, 0] -= cells[28:, 0] // 4
    days = DayCounts(np.arange(35) * DAY, cells)
    ranges = [TimeRange(0, 28 * DAY), TimeRange(28 * DAY, 35 * DAY)]
    apart, mixed = (scatter_of_days(days, LabelRegime(), one) for one in (ranges, ()))
    assert apart.scatter.variance[1] < 0.04
    assert mixed.days == apart.days == ScatterDays("days", 0, 35 * DAY)


def test_days_with_faulty_labels_are_left_out():
    """Positives whose labels are lost look like a class ratio that scatters."""
    cells = days_of(np.random.default_rng(5), 84, 0.1)
    cells[35:49:2, 0:4:2] //= 4
    days = DayCounts(np.arange(84) * DAY, cells)
    ranges = [TimeRange(0, 14 * DAY), TimeRange(70 * DAY, 84 * DAY)]
    found = scatter_of_days(days, LabelRegime(Labelling.COMPLETE), ranges)
    unaware = scatter_of_days(days, LabelRegime(Labelling.COMPLETE), ())
    assert (found.days.faulty, unaware.days.faulty) == (14, 0)
    assert found.scatter.variance[0] < unaware.scatter.variance[0] / 3


def test_no_days_are_left_out_where_the_first_range_has_faulty_labels():
    cells = days_of(np.random.default_rng(5), 84, 0.1)
    cells[:14, 2:4] = 0
    days = DayCounts(np.arange(84) * DAY, cells)
    ranges = [TimeRange(0, 14 * DAY), TimeRange(70 * DAY, 84 * DAY)]
    assert scatter_of_days(days, LabelRegime(Labelling.COMPLETE), ranges).days.faulty == 0


def test_healthy_days_are_rarely_left_out():
    rng, left_out = np.random.default_rng(8), 0
    ranges = [TimeRange(28 * DAY, 56 * DAY), TimeRange(70 * DAY, 84 * DAY)]
    for _ in range(100):
        cells = days_of(rng, 84, 0.2)
        cells[:, :4] = rng.binomial(cells[:, :4], 0.9)
        days = DayCounts(np.arange(84) * DAY, cells)
        left_out += scatter_of_days(days, LabelRegime(Labelling.COMPLETE), ranges).days.faulty
    assert left_out <= 42  # of 4,200


def test_hours_are_summed_to_days():
    opens, cells = np.arange(20, 60) * HOUR, np.ones((40, 6), dtype=np.int64)
    cells[4:28] = 0
    found = DayCounts.of_hours(opens, cells)
    assert found.opens.tolist() == [0, DAY, 2 * DAY]
    assert found.cells[:, 0].tolist() == [4, 0, 12]
    assert found.until(3 * DAY).opens.tolist() == [0, 2 * DAY]


@pytest.fixture
def events(tmp_path):
    rng, rows = np.random.default_rng(3), []
    for day, cells in enumerate(days_of(rng, 44, 0.3) // 20):
        for place, (called, label) in enumerate([(1, 1), (1, 0), (0, 1), (0, 0)]):
            for case in range(cells[place]):
                ts = day * DAY // 1000 + 40_000 + 600 * place + case
                rows.append({"ts": ts, "prediction": called, "label": label, "label_ts": ts + 60})
    path = tmp_path / "events.ndjson"
    rows.sort(key=lambda row: row["ts"])
    path.write_text("".join(f"{json.dumps({'type': 'outcome', **row})}\n" for row in rows))
    return path


def test_two_ranges_show_the_same_whatever_reference_is_configured(events, tmp_path, capsys):
    config = tmp_path / "monitor.yaml"
    window = "{length: 7d, end: 1970-01-25T00:00:00Z}"
    config.write_text(f"models: {{default: {{reference: {{window: {window}}}}}}}\n")
    plain = ran(capsys, "diagnose", events, *RANGES).out
    assert SENTENCE in " ".join(plain.split())
    assert ran(capsys, "diagnose", events, "-c", config, *RANGES).out == plain
    found = json.loads(ran(capsys, "diagnose", events, *RANGES, "--json").out)
    assert found["scatter_of_days"].startswith(SENTENCE)
    with_reference = ran(capsys, "diagnose", events, "-c", config, *RANGES[2:]).out
    assert "is that of the reference's days and those since." in " ".join(with_reference.split())
