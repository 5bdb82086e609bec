"""Estimates ahead of the labels, through the engine and beside recounts."""

from itertools import pairwise

import numpy as np
import pytest
from same import through_disk
from watch.hourly import DAY, HOUR, batch_of_counts, rates, stream

from monitor.config import Config
from monitor.counts import ConfusionCounts
from monitor.drift.checked_estimate import CheckedEstimate, Withheld
from monitor.drift.estimate_record import FEWEST
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer
from monitor.exporter.page.prediction_parts import prediction_rows
from monitor.verdicts import ESTIMATE_METHODS, LABEL_SHIFT

DAYS, AGE = 76, 3
LONG = 90


def config(**settings):
    defaults = {"label_timeout": "4d", "maturity": f"{AGE}d", "reference": {"first": "7d"}}
    return Config(defaults={**defaults, **settings}, windows=["6h", "1d", "7d", "36h"])


def shifting(days=DAYS, seed=3):
    """Counts by the hour whose prevalence alone changes, by the day."""
    rng = np.random.default_rng(seed)
    hours = rates(24 * days)
    hours[:, 0] = np.repeat(rng.uniform(0.03, 0.3, days), 24)
    return stream(400, hours, seed)


def batches(cells, first=0):
    for start in range(24 * first, len(cells), 24):
        times = np.arange(start, start + 24, dtype=np.int64) * HOUR
        yield batch_of_counts(times, {(): cells[start : start + 24]})


def nowcasts(monitor):
    return {n: one.nowcast for n, one in monitor.snapshot().models[0].watched.verdicts.items()}


def nowcast(monitor):
    """The estimates of the 1d window; None before there are any."""
    return nowcasts(monitor).get("1d")


@pytest.fixture(scope="module")
def shifted():
    cells = shifting()
    monitor = Monitor(config())
    found = {}
    for day, batch in enumerate(batches(cells)):
        monitor.apply(batch)
        verdicts = monitor.snapshot().models[0].watched.verdicts
        if verdicts:
            found[day] = {name: one.nowcast for name, one in verdicts.items()}
    return cells, monitor, found


def rate(cells, first, end):
    """Prevalence and precision of the days [first, end)."""
    tp, fp, fn, tn = cells[24 * first : 24 * end].sum(axis=0).tolist()
    return (tp + fn) / (tp + fp + fn + tn), tp / (tp + fp)


@pytest.mark.parametrize(("window", "length"), [("1d", 1), ("7d", 7)])
def test_where_label_shift_holds_estimates_halve_the_error_of_the_last_mature_window(
    shifted, window, length
):
    cells, _, found = shifted
    errors = {"last mature": [], "estimate": []}
    covered = []
    for day, windows in found.items():
        estimates = windows[window]
        if estimates is None or estimates.prevalence.withheld:
            continue
        truth = rate(cells, day - length, day)
        last = rate(cells, day - AGE - length, day - AGE)
        errors["last mature"].append(last[0] - truth[0])
        errors["estimate"].append(estimates.prevalence.estimate - truth[0])
        covered.append(estimates.prevalence.lower <= truth[0] <= estimates.prevalence.upper)
    last, ours = (float(np.sqrt(np.mean(np.square(errors[name])))) for name in errors)
    assert len(covered) > 30
    assert ours < 0.5 * last
    assert np.mean(covered) >= 0.93
    assert found[DAYS - 1][window].prevalence.method == LABEL_SHIFT


def test_the_record_counts_the_estimates_whose_labels_have_come(shifted):
    _, _, found = shifted
    first = min(day for day, windows in found.items() if windows["1d"] is not None)
    for day, windows in found.items():
        if windows["1d"] is None:
            continue
        record = windows["1d"].prevalence
        assert record.comparisons == record.days == max(0, day - first - AGE + 1)
        assert (record.withheld is Withheld.RECORD_TOO_SHORT) == (record.comparisons < FEWEST)


def after(last_days):
    """The estimates of the 1d window when the last days follow on days as usual."""
    monitor = Monitor(config())
    for batch in batches(np.concatenate([shifting(40), *last_days])):
        monitor.apply(batch)
    return nowcast(monitor)


def test_precision_is_not_estimated_of_a_stretch_in_which_no_case_is_flagged():
    quiet = np.tile([0, 0, 0, 1], (24, 1))
    busy = shifting(41)[-24:]
    assert after([busy, busy]).precision.withheld is None
    found = after([quiet, busy])
    assert found.precision.withheld is Withheld.NOTHING_FLAGGED
    assert np.isnan([found.precision.estimate, found.precision.lower, found.precision.upper]).all()
    assert found.prevalence.withheld is None
    state = through_disk(found.precision.state())
    assert CheckedEstimate.restored(state).withheld is Withheld.NOTHING_FLAGGED


def test_nothing_is_estimated_from_predictions_of_a_dead_model():
    dead = shifting(42)[-48:]
    dead[:, 2:] += dead[:, :2]
    dead[:, :2] = 0
    found = after([dead])
    assert {one.withheld for one in (found.prevalence, found.precision)} == {Withheld.MODEL_DEAD}
    assert np.isnan([found.prevalence.estimate, found.precision.estimate]).all()


@pytest.mark.parametrize(("maturity", "published_until"), [("6h", 6), ("3d", 24)])
def test_an_estimate_is_published_while_it_reaches_further_than_the_mature_labels(
    maturity, published_until
):
    cells = shifting(71)
    monitor, seen = Monitor(config(maturity=maturity)), set()
    for batch in batches(cells[: 24 * 70]):
        monitor.apply(batch)
    for hour in range(70 * 24, 71 * 24):
        times = np.arange(hour, hour + 1, dtype=np.int64) * HOUR
        monitor.apply(batch_of_counts(times, {(): cells[hour : hour + 1]}))
        snapshot = monitor.snapshot()
        found, since_midnight = nowcast(monitor), snapshot.now_ms % DAY
        window = next(one for one in snapshot.windows if one.name == "1d")
        further = since_midnight < published_until * HOUR
        assert found.close == snapshot.now_ms - since_midnight
        assert bool(found.close > window.close[snapshot.models[0].row]) is further
        seen.add(further)
        for one in (found.prevalence, found.precision):
            why = None if further else Withheld.LABELS_REACH_AS_FAR
            assert one.withheld is why
            assert np.isfinite(one.estimate) == further
            assert one.is_supported
    assert seen == {True, published_until == 24}


def test_windows_that_are_not_whole_days_long_have_no_estimate(shifted):
    _, _, found = shifted
    assert {found[DAYS - 1][name] for name in ("6h", "36h")} == {None}


def test_what_is_estimated_stands_until_the_next_day_begins():
    cells, monitor, seen = shifting(43), Monitor(config()), []
    for batch in batches(cells[: 24 * 40]):
        monitor.apply(batch)
    for opens in range(40 * 24, 43 * 24, 4):
        times = np.arange(opens, opens + 4, dtype=np.int64) * HOUR
        monitor.apply(batch_of_counts(times, {(): cells[opens : opens + 4]}))
        seen.append((monitor.snapshot().watermark_ms // DAY, nowcasts(monitor)["7d"]))
    pairs = list(pairwise(seen))
    assert {(a[0] == b[0]) is (a[1] == b[1]) for a, b in pairs} == {True}
    assert len({day for day, _ in seen}) > 2


def test_a_restored_monitor_goes_on_with_the_same_record(shifted):
    cells, whole, _ = shifted
    monitor = Monitor(config())
    for batch in batches(cells[: 24 * 50]):
        monitor.apply(batch)
    restored = Monitor(config(), state=through_disk(monitor.state()))
    assert nowcasts(restored) == nowcasts(monitor)
    for batch in batches(cells, 50):
        restored.apply(batch)
    assert nowcasts(restored) == nowcasts(whole)


@pytest.mark.slow
def test_a_model_that_changed_with_prevalence_falls_back_on_its_labels():
    """Recall falls where positives are rarer: label shift errs, and loses its weight."""
    rng = np.random.default_rng(5)
    hours = rates(24 * LONG)
    hours[:, 0] = np.repeat(rng.uniform(0.05, 0.3, LONG), 24)
    hours[24 * 7 :, 1] = 0.9 - 2.5 * np.abs(hours[24 * 7 :, 0] - 0.1)
    hours[24 * 7 :, 2] = np.repeat(rng.uniform(0.02, 0.25, LONG), 24)[24 * 7 :]
    cells = stream(400, hours, 5)
    monitor = Monitor(config())
    errors = {"last mature": [], "label shift": [], "estimate": []}
    reference = ConfusionCounts.from_cells(cells[: 24 * 7].sum(axis=0))
    recall = float(reference.tp / reference.actual_positive)
    false = float(reference.fp / reference.actual_negative)
    for day, batch in enumerate(batches(cells)):
        monitor.apply(batch)
        verdicts = monitor.snapshot().models[0].watched.verdicts
        found = verdicts["1d"].nowcast if verdicts else None
        if found is None or found.prevalence.withheld:
            continue
        truth = rate(cells, day - 1, day)[0]
        called = cells[24 * (day - 1) : 24 * day].sum(axis=0)
        shift = (called[:2].sum() / called.sum() - false) / (recall - false)
        errors["last mature"].append(rate(cells, day - AGE - 1, day - AGE)[0] - truth)
        errors["label shift"].append(float(np.clip(shift, 0, 1)) - truth)
        errors["estimate"].append(found.prevalence.estimate - truth)
    last, shift, ours = (float(np.sqrt(np.mean(np.square(e)))) for e in errors.values())
    assert len(errors["estimate"]) > 30
    assert ours <= min(last, shift)


@pytest.mark.slow
def test_lost_labels_withhold_the_estimates_and_teach_nothing():
    monitor, comparisons = Monitor(config()), []
    for day, batch in enumerate(batches(shifting(LONG))):
        if day >= 70:
            batch.counts.cells[:, :2] = 0  # flagged cases get no labels any more
        monitor.apply(batch)
        comparisons.append(found.precision.comparisons if (found := nowcast(monitor)) else 0)
    assert found.precision.withheld is Withheld.LABELS_NOT_TRUSTWORTHY
    assert np.isnan([found.precision.estimate, found.prevalence.upper]).all()
    assert comparisons[70 + AGE] > comparisons[60]
    assert comparisons[-1] == comparisons[70 + AGE]


def test_labels_that_are_a_sample_have_no_estimate():
    monitor = Monitor(config(labelling="sampled"))
    for batch in batches(shifting(40)):
        monitor.apply(batch)
    assert set(nowcasts(monitor).values()) == {None}


def test_api_and_page_say_where_an_estimate_ends_and_what_it_rests_on(shifted):
    _, monitor, _ = shifted
    (model,) = status_answer(monitor.snapshot(), limit=1).models
    window = model.windows["1d"]
    assert window.nowcast.close == f"{np.datetime64(DAYS - 1, 'D')}T00:00:00Z"
    for rate in (window.nowcast.prevalence, window.nowcast.precision):
        off = f"off by {100 * rate.median_error:.1f} points in the median"
        assert rate.rests_on.endswith(f"over the last {rate.days} days such estimates were {off}")
    rows = "".join(str(row) for row in prediction_rows(model, [*model.windows.values()]))
    assert "Estimated precision" in rows
    assert f"Up to the start of {np.datetime64(DAYS - 1, 'D')}, before its labels." in rows


def test_estimates_rest_on_one_of_the_documented_methods(shifted):
    _, _, found = shifted
    seen = {
        one.method
        for windows in found.values()
        for n in ("1d", "7d")
        if windows[n] is not None
        for one in (windows[n].prevalence, windows[n].precision)
    }
    assert seen <= set(ESTIMATE_METHODS)
    assert len(seen) > 1
