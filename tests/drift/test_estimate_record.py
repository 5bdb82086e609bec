"""The record of estimates, against a batch recount and on made-up rates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.drift.checked_estimate import LABELS_ALONE, CheckedEstimate, Withheld
from monitor.drift.estimate_record import FEWEST, LEAST_COVERAGE, MOST, EstimateRecord

NAMES = ("label_shift", "label_shift_by_segment")


def played(rows, delay=1, overlap=1, record=None):
    """Estimates of each day; each row is (last mature, filled, shifts…, truth)."""
    record = record or EstimateRecord(NAMES)
    found = []
    for day, row in enumerate(rows):
        for past in record.awaited:
            if past <= day - delay:
                record.learn(past, rows[past][-1])
        found.append(record.estimate(day, row[0], row[1], row[2:-1], overlap=overlap))
    return found


def worlds(seed, days=300, *, shift_error, scatter=0.08):
    """Rates that scatter between days; the first shift errs by so much, the second is noise."""
    rng = np.random.default_rng(seed)
    truth = 0.4 + rng.normal(0, scatter, days)
    last = np.concatenate([[0.4], truth[:-1]])
    shift = truth + rng.normal(0, shift_error, days)
    return np.stack([last, last, shift, rng.uniform(0, 1, days), truth], axis=1).clip(0, 1)


def errors(rows, found):
    """Root mean square errors: last mature, published; and the coverage of the intervals."""
    shown = [at for at, one in enumerate(found) if one.withheld is None]
    truth = rows[shown, -1]
    published = np.array([found[at].estimate for at in shown])
    lower, upper = (np.array([getattr(found[at], e) for at in shown]) for e in ("lower", "upper"))
    covered = float(((lower <= truth) & (truth <= upper)).mean())
    return (
        float(np.sqrt(((rows[shown, 0] - truth) ** 2).mean())),
        float(np.sqrt(((published - truth) ** 2).mean())),
        covered,
    )


@pytest.mark.parametrize(("shift_error", "most"), [(0.005, 0.25), (0.08, 0.8), (0.4, 1.0)], ids=str)
def test_a_shift_weighs_as_much_as_its_past_supports(shift_error, most):
    rows = worlds(1, shift_error=shift_error)
    last, published, covered = errors(rows, played(rows))
    assert published <= most * last
    assert covered >= LEAST_COVERAGE


def test_a_biased_shift_is_not_taken():
    rows = worlds(2, shift_error=0.01)
    rows[:, 2] = 0.95
    found = played(rows)
    last, published, _ = errors(rows, found)
    assert published <= 1.01 * last
    assert found[-1].method == LABELS_ALONE


def test_a_shift_that_stops_holding_loses_its_weight():
    rows = worlds(3, days=400, shift_error=0.005)
    rows[200:, 2] = 0.9
    found = played(rows)
    assert found[199].method == "label_shift"
    assert found[199].weight > 0.8
    assert found[-1].weight < 0.2


def test_nothing_is_published_until_enough_estimates_have_met_their_labels():
    found = played(worlds(4, shift_error=0.01), delay=3)
    first = next(at for at, one in enumerate(found) if one.withheld is None)
    assert first == FEWEST + 2
    assert found[0].comparisons == 0
    assert {one.withheld for one in found[:first]} == {Withheld.RECORD_TOO_SHORT}
    assert all(np.isnan(one.estimate) for one in found[:first])


def test_overlapping_windows_need_a_longer_record_and_get_wider_intervals():
    rows = worlds(5, shift_error=0.05)
    alone, together = (played(rows, overlap=overlap) for overlap in (1, 20))
    short = [
        sum(one.withheld is Withheld.RECORD_TOO_SHORT for one in found)
        for found in (alone, together)
    ]
    assert short == [FEWEST, 60]
    widths = [found[61].upper - found[61].lower for found in (alone, together)]
    assert widths[0] < widths[1]


def test_an_estimate_without_a_mature_window_is_withheld_and_not_awaited():
    record = EstimateRecord(NAMES)
    found = record.estimate(0, np.nan, np.nan, [0.3, 0.3], overlap=1)
    assert found == CheckedEstimate(withheld=Withheld.NO_MATURE_WINDOW)
    assert record.awaited == []


def test_a_truth_that_is_unknown_teaches_nothing():
    record = EstimateRecord(NAMES)
    before = record.state()
    record.estimate(0, 0.3, 0.3, [0.2, np.nan], overlap=1)
    record.learn(0, np.nan)
    after = record.state()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_intervals_that_miss_too_often_withhold_the_estimate():
    rng = np.random.default_rng(6)
    rows = worlds(6, days=120, shift_error=0.01)
    rows[60:, -1] = rng.choice([0.0, 1.0], 60)
    assert Withheld.INTERVALS_MISSED in {one.withheld for one in played(rows)[60:]}


def test_the_first_move_of_the_predictions_widens_the_interval_to_where_they_point():
    rng = np.random.default_rng(8)
    truth = 0.4 + rng.normal(0, 0.01, 80)
    truth[60:] -= 0.2
    labels = np.where(np.arange(80) < 65, 0.4, 0.2)
    shift = truth + rng.normal(0, 0.01, 80)
    rows = np.stack([labels, labels, shift, np.full(80, np.nan), truth], axis=1)
    found = played(rows, delay=5)
    moved = [at for at in range(25, 80) if found[at].moved_further]
    assert set(range(60, 65)) <= set(moved)
    assert len(moved) < 9
    for at in range(60, 65):
        assert found[at].lower <= truth[at] <= found[at].upper
        assert found[at].upper - found[at].lower > 2 * (found[50].upper - found[50].lower)


def test_an_interval_that_holds_over_two_thirds_of_all_values_is_not_published():
    rng = np.random.default_rng(9)
    truth = rng.uniform(0, 1, 60)
    rows = np.stack([np.full(60, 0.5)] * 2 + [np.full(60, np.nan)] * 2 + [truth], axis=1)
    found = played(rows)
    assert {one.withheld for one in found[FEWEST:]} == {Withheld.INTERVAL_TOO_WIDE}
    assert all(np.isnan(one.estimate) for one in found)


def test_a_state_without_distances_of_shifts_is_read():
    record = EstimateRecord(NAMES)
    played(worlds(7, days=40, shift_error=0.05), record=record)
    state = record.state()
    del state["distances"]
    found = EstimateRecord(NAMES).restored(state).estimate(40, 0.4, 0.4, [0.9, 0.1], overlap=1)
    assert found.withheld is None
    assert not found.moved_further


def test_the_record_is_bounded():
    record = EstimateRecord(NAMES)
    rows = worlds(7, days=MOST + 50, shift_error=0.05)
    found = played(rows, record=record)
    assert found[-1].comparisons == MOST
    assert len(record.state()["pending"]) == 1


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(0, 79), st.integers(1, 9))
def test_a_restored_record_goes_on_as_if_it_had_not_stopped(seed, at, delay):
    rows = worlds(seed, days=80, shift_error=0.05)
    whole = played(rows, delay)
    record = EstimateRecord(NAMES)
    for day, row in enumerate(rows):
        if day == at:
            record = EstimateRecord(NAMES).restored(record.state())
        for past in [p for p in record.awaited if p <= day - delay]:
            record.learn(past, rows[past][-1])
        found = record.estimate(day, row[0], row[1], row[2:-1], overlap=1)
        assert CheckedEstimate.restored(found.state()).state() == pytest.approx(
            whole[day].state(), nan_ok=True
        )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.floats(0, 0.4))
def test_what_is_published_lies_between_what_it_rests_on(seed, shift_error):
    rows = worlds(seed, days=100, shift_error=shift_error)
    for row, one in zip(rows, played(rows), strict=True):
        if one.withheld is None:
            assert min(row[:-1]) - 1e-12 <= one.estimate <= max(row[:-1]) + 1e-12
            assert 0 <= one.lower <= one.estimate <= one.upper <= 1


def test_the_weight_is_the_slope_of_a_fading_ridge_regression():
    rows = worlds(8, days=60, shift_error=0.05)
    found = played(rows)[-1]
    past = rows[:59]
    faded = 0.5 ** ((58 - np.arange(59)) / 60)
    x, y = past[:, 2] - past[:, 0], past[:, -1] - past[:, 0]
    slope = (faded * x * y).sum() / ((faded * x * x).sum() * (1 + 10 / faded.sum()))
    assert found.method == "label_shift"
    assert found.weight == pytest.approx(slope, rel=1e-12)
    errors = np.abs(past[:, 0] - past[:, -1])
    assert found.median_error < np.median(errors)
