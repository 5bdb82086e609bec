"""Labels that are missing in one place more than elsewhere are named."""

from bisect import bisect_left

import numpy as np
import pytest
from labelled import DAY
from prometheus_client import CollectorRegistry
from streams import flights, in_batches

from monitor.cli.replay_text import replay_text
from monitor.config import Config
from monitor.config.quantities import parse_time
from monitor.engine import Monitor
from monitor.labels.missing import concentrations, in_score_ranges
from monitor.labels.sampled_labels import effective_labels
from monitor.metrics.histogram import ScoreHistogram
from monitor.prometheus.collector import SnapshotCollector
from monitor.report.replay_json import replay_answer

SEGMENTS = ("origin", "carrier", "part_of_day")


def test_only_what_sticks_out_is_named():
    made = np.full(20, 1000)
    labelled = np.full(20, 980)
    assert concentrations("k", [str(i) for i in range(20)], labelled, made) == ()
    labelled[3] = 900
    (found,) = concentrations("k", [str(i) for i in range(20)], labelled, made)
    assert (found.value, found.missing) == ("3", 100)
    assert found.share == pytest.approx(0.1)
    assert found.elsewhere == pytest.approx(0.02)


def test_nothing_is_named_by_chance_however_many_values_there_are():
    rng = np.random.default_rng(1)
    made = np.full(200, 500)
    named = [
        bool(concentrations("k", [""] * 200, rng.binomial(made, 0.9), made)) for _ in range(200)
    ]
    assert sum(named) <= 6


@pytest.mark.parametrize("made", [[], [0, 0], [10, 0], [100]])
def test_too_little_to_compare_names_nothing(made):
    made = np.array(made, dtype=np.int64)
    assert concentrations("k", [str(i) for i in range(len(made))], made * 0, made) == ()


def test_ranges_of_the_score_are_named():
    positive, negative, unlabelled = (np.zeros(1000, np.int64) for _ in range(3))
    negative[:] = 100
    unlabelled[:] = 1
    unlabelled[910:960] = 30
    scores = ScoreHistogram(positive=positive, negative=negative, unlabelled=unlabelled)
    assert [found.value for found in in_score_ranges(scores)] == ["0.9..1"]


def coverage_series(snapshot, window):
    """`classifier_label_coverage_ratio` of a window as it is scraped, by what was predicted."""
    registry = CollectorRegistry()
    registry.register(SnapshotCollector(lambda: snapshot))
    (family,) = (f for f in registry.collect() if f.name == "classifier_label_coverage_ratio")
    return {
        sample.labels["predicted"]: sample.value
        for sample in family.samples
        if sample.labels["window"] == window and not sample.labels.get("segment")
    }


@pytest.mark.slow
def test_cancelled_flights_have_no_label_and_the_segments_are_named():
    ends = {6: "2013-07-01", 10: "2013-11-01"}
    config = Config(
        defaults={"label_timeout": None, "maturity": "12h", "segments": SEGMENTS},
        windows=["1d", "30d", "31d"],
    )
    monitor, shares, found, events = Monitor(config), {}, {}, flights()
    for month, end in ends.items():
        moment = parse_time(end) + DAY // 2
        came = bisect_left(events, moment, key=lambda event: event["ts"] * 1000)
        for batch in in_batches(events[:came], 1500, SEGMENTS):
            monitor.apply(batch)
        del events[:came]
        snapshot, number = monitor.snapshot(moment), 1 if month == 6 else 2
        window = snapshot.windows[number]
        assert window.close[0] == parse_time(end)
        covered = coverage_series(snapshot, window.name)
        flagged, passed = int(window.predicted_positive[0]), int(window.predicted_negative[0])
        labelled = covered["positive"] * flagged + covered["negative"] * passed
        shares[month], found[month] = 1 - labelled / (flagged + passed), snapshot
    assert shares[10] == pytest.approx(0.009, abs=0.003)
    assert shares[6] == pytest.approx(0.041, abs=0.005)
    named = found[6].models[0].watched.missing_labels
    assert named
    assert {one.segment for one in named} <= {*SEGMENTS, "score"}
    assert all(one.share >= 1.5 * one.elsewhere for one in named)
    report = replay_text(found[6])
    assert f"labels missing in {named[0].segment} {named[0].value}: " in report
    (model,) = replay_answer(found[6]).models.values()
    assert [one.value for one in model.labels_missing_in] == [one.value for one in named]


@pytest.mark.parametrize("tied_to_the_class", [True, False])
def test_weighted_shares_are_covered_by_their_effective_number_of_labels(tied_to_the_class):
    rng, covered, share = np.random.default_rng(3), [], 0.02
    for _ in range(600):
        positive = rng.random(20_000) < share
        high = rng.random(20_000) < np.where(positive & tied_to_the_class, 0.8, 0.1)
        probability = np.where(high, 0.5, 0.05)
        asked = rng.random(20_000) < probability
        weight = np.rint(256 / probability[asked])
        square = np.rint(256 / probability[asked] ** 2)
        is_positive = positive[asked]
        sums = [0, 0, weight[is_positive].sum(), weight[~is_positive].sum()]
        squares = [0, 0, square[is_positive].sum(), square[~is_positive].sum()]
        cells = effective_labels(np.array([*sums, *squares]).astype(np.int64))
        number = cells[2:].sum()
        estimate = (cells[2] + 0.5) / (number + 1)
        error = np.sqrt(estimate * (1 - estimate) / number)
        covered.append(abs(estimate - share) < 1.96 * error)
    assert np.mean(covered) >= 0.94
