from functools import partial

import numpy as np
import pytest
from same import through_disk
from watch.hourly import DAY, HOUR, batch_of_counts, rates, stream

from monitor.config import Config
from monitor.drift import Verdict
from monitor.engine import Monitor
from monitor.errors import UsageError

DAYS, CHANGE = 24, 24 * 14
"""Length of a stream, and the hour of its change, where a week is reference enough."""
LONG, LATER = 44, 24 * 36
"""As above, where only a month shows that nothing else changed."""
WEEK, MONTH = {"first": "7d"}, {"first": "28d"}


def fed(cells_by_group, segments=(), *, monitor=None, done=0, **settings):
    """A monitor that has taken hours of counts, a group each; all but the first `done` hours."""
    config = Config(
        defaults={
            "label_timeout": "2d",
            "maturity": "0s",
            "segments": segments,
            "reference": WEEK,
            **settings,
        },
        windows=["1d", "7d"],
    )
    monitor = monitor or Monitor(config)
    hours = np.arange(len(next(iter(cells_by_group.values()))), dtype=np.int64) * HOUR
    for group, cells in cells_by_group.items():
        assert len(cells) == len(hours), group
    for start in range(done, len(hours), 24):
        day = slice(start, start + 24)
        monitor.apply(
            batch_of_counts(hours[day], {k: cells[day] for k, cells in cells_by_group.items()})
        )
    return monitor


def watched(monitor):
    return monitor.snapshot().models[0].watched


def changed(at=CHANGE, days=DAYS, **after):
    return np.concatenate([rates(at), rates(24 * days - at, **after)])


@pytest.mark.parametrize(
    ("after", "verdict", "kinds"),
    [
        ({}, Verdict.NO_CHANGE, set()),
        ({"prevalence": 0.05}, Verdict.PREVALENCE_SHIFT, {"prevalence_shift"}),
        ({"recall": 0.6}, Verdict.MODEL_DEGRADED, {"model_degraded"}),
        ({"fpr": 0.1}, Verdict.MODEL_DEGRADED, {"model_degraded"}),
        ({"recall": 0.9, "fpr": 0.05}, Verdict.MODEL_IMPROVED, set()),
        (
            {"prevalence": 0.2, "recall": 0.6},
            Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED,
            {"prevalence_shift", "model_degraded"},
        ),
    ],
)
def test_each_kind_of_change_gets_its_verdict_and_its_detection(after, verdict, kinds):
    cells = stream(2000, changed(LATER, LONG, **after))
    found = watched(fed({(): cells}, reference=MONTH))
    assert found.verdicts["7d"].verdict == verdict
    assert {detected.kind for detected in found.detections} == kinds
    assert found.degradation_detected == ("model_degraded" in kinds)
    assert all(LATER * HOUR < d.at < (LATER + 48) * HOUR for d in found.detections)


def test_a_daily_rhythm_of_prevalence_pages_nobody():
    hours = np.arange(24 * 52)
    breathing = rates(len(hours))
    breathing[:, 0] = 0.1 * (1 + 0.5 * np.sin(2 * np.pi * hours / 24))
    found = watched(fed({(): stream(2000, breathing)}, reference=MONTH))
    assert found.detections == ()
    assert found.verdicts["7d"].verdict == Verdict.NO_CHANGE


def test_a_change_of_mix_alone_does_not_page():
    easy, hard = rates(24 * LONG, recall=0.9), rates(24 * LONG, recall=0.5)
    share = np.where(np.arange(24 * LONG) < LATER, 0.3, 0.7)
    cells = {
        ("easy",): stream((2000 * (1 - share)).astype(int), easy, 1),
        ("hard",): stream((2000 * share).astype(int), hard, 2),
    }
    within = watched(fed(cells, segments=["kind"], reference=MONTH))
    assert "model_degraded" not in {d.kind for d in within.detections}
    assert within.verdicts["7d"].verdict == Verdict.NO_CHANGE
    whole = watched(fed({(): sum(cells.values())}, reference=MONTH))
    assert "model_degraded" in {d.kind for d in whole.detections}
    assert whole.verdicts["7d"].verdict == Verdict.MODEL_DEGRADED


def test_a_fall_inside_the_segments_is_laid_to_the_model():
    fallen = changed(LATER, LONG, recall=0.6)
    cells = {("a",): stream(1000, fallen, 1), ("b",): stream(1000, fallen, 2)}
    found = watched(fed(cells, segments=["kind"], reference=MONTH))
    assert found.verdicts["7d"].verdict == Verdict.MODEL_DEGRADED
    assert "model_degraded" in {d.kind for d in found.detections}


def test_segments_that_come_up_later_are_followed():
    old, new = stream(1500, rates(24 * DAYS), 3), stream(500, rates(24 * DAYS), 4)
    new[:CHANGE] = 0
    found = watched(fed({("old",): old, ("new",): new}, segments=["kind"]))
    assert not found.degradation_detected
    assert found.evidence < 1


@pytest.mark.slow
def test_the_reference_is_extended_while_it_has_too_few_outcomes():
    few = watched(fed({(): stream(60, rates(24 * DAYS))}))
    many = watched(fed({(): stream(2000, rates(24 * DAYS))}))
    assert many.reference.closes - many.reference.opens == 7 * DAY
    assert few.reference.closes - few.reference.opens > 7 * DAY
    assert few.reference.counts.actual_positive >= 1000


def test_a_week_stands_in_until_four_weeks_and_a_window_are_known():
    short, long = (
        watched(fed({(): stream(2000, rates(24 * n))}, reference=MONTH)) for n in (34, 36)
    )
    assert (short.reference.closes, short.reference.version) == (7 * DAY, 1)
    assert (long.reference.closes, long.reference.version) == (28 * DAY, 2)


@pytest.mark.slow
def test_a_model_that_moved_in_its_third_week_is_not_taken_for_normal():
    cells = np.concatenate([rates(24 * 15), rates(24 * 37, recall=0.4)])
    found = watched(fed({(): stream(2000, cells)}, reference=MONTH))
    assert found.reference.closes == 7 * DAY
    assert found.degradation_detected
    assert [15 < d.at / DAY < 20 for d in found.detections if d.kind == "model_degraded"] == [True]


def test_a_small_model_is_watched_by_days_while_detectors_by_pane_warm_up():
    fallen = np.concatenate([rates(24 * 40), rates(24 * 12, recall=0.2)])
    found = watched(fed({(): stream(10, fallen)}))
    assert found.warming_up
    assert [d.kind for d in found.detections] == ["model_degraded"]
    assert found.detections[0].at < 48 * DAY


def test_one_lasting_degradation_is_one_page_that_ends_once_the_model_is_back():
    fallen = np.concatenate([changed(recall=0.6), rates(24 * 32, recall=0.6)])
    cells = stream(2000, np.concatenate([fallen, rates(24 * 10)]))
    monitor = fed({(): cells[: len(fallen)]})
    lasting = watched(monitor)
    assert [d.kind for d in lasting.detections] == ["model_degraded"]
    assert lasting.degradation_detected
    back = watched(fed({(): cells}, monitor=monitor, done=len(fallen)))
    assert [d.kind for d in back.detections] == ["model_degraded"]
    assert not back.degradation_detected


def test_windows_that_reach_into_the_reference_are_not_judged():
    found = watched(fed({(): stream(2000, rates(24 * 9))}))
    assert found.verdicts["1d"].judgement is not None
    assert found.verdicts["7d"].verdict == Verdict.INSUFFICIENT_EVIDENCE
    assert found.verdicts["7d"].judgement is None


def test_a_given_reference_needs_no_days_of_its_own():
    reference = {"counts": {"tp": 80_000, "fp": 45_000, "fn": 20_000, "tn": 855_000}}
    found = watched(fed({(): stream(5000, rates(24 * 10, recall=0.5))}, reference=reference))
    assert found.reference.opens is None
    assert found.verdicts["7d"].verdict == Verdict.MODEL_DEGRADED
    assert [d.kind for d in found.detections] == ["model_degraded"]


def test_a_dated_reference_is_that_stretch_of_time():
    reference = {"window": {"length": "3d", "end": "1970-01-06T00:00:00Z"}}
    found = watched(fed({(): stream(2000, rates(24 * 8))}, reference=reference))
    assert (found.reference.opens, found.reference.closes) == (2 * DAY, 5 * DAY)


def test_a_reference_keeps_its_version_while_it_stands():
    assert watched(fed({(): stream(200, rates(24 * 20))})).reference.version == 1


def test_a_trailing_reference_moves_on():
    found = watched(fed({(): stream(2000, rates(24 * 30))}, reference={"trailing": "7d"}))
    assert found.reference.closes > 20 * DAY
    assert found.reference.closes - found.reference.opens == 7 * DAY
    assert found.reference.version == 1 + (found.reference.closes - 7 * DAY) // (7 * DAY)


def test_detection_ends_when_the_longest_window_has_passed_without_alarm():
    cells = np.concatenate([rates(CHANGE), rates(24, recall=0.4), rates(24 * DAYS - CHANGE - 24)])
    monitor = fed({(): stream(2000, cells)})
    found = watched(monitor)
    assert [d.kind for d in found.detections] == ["model_degraded"]
    assert not found.degradation_detected


def test_without_anything_watched_says_so():
    found = watched(Monitor(Config(models={"m": {}})))
    assert found.reference is None
    assert found.warming_up
    assert found.verdicts == {}


def test_the_live_class_ratio_follows_at_once_beside_what_the_hour_expects():
    daily = rates(24 * DAYS)
    daily[:, 0] = 0.1 + 0.05 * np.sin(2 * np.pi * np.arange(24 * DAYS) / 24)
    daily[-48:, 0] *= 0.5
    found = watched(fed({(): stream(2000, daily)}, reference={"first": "14d"}))
    live, usual = found.live_class_ratio, daily[-4, 0] * 2  # of the last pane below the watermark
    assert live.lower < live.estimate < live.upper
    assert float(live.upper) < 0.09
    assert found.expected_class_ratio == pytest.approx(usual / (1 - usual), rel=0.2)


def test_an_empty_stretch_lets_old_outcomes_count_less():
    from monitor.watch.live_ratio import LiveRatio  # noqa: PLC0415  # of this test alone

    monitor = fed({(): stream(2000, rates(24 * DAYS))})
    hours = np.array([24 * DAYS + 100, 24 * DAYS + 102]) * HOUR
    monitor.apply(batch_of_counts(hours, {(): np.array([[90, 0, 0, 10], [10, 0, 0, 90]])}))
    windows = monitor._windows
    edition = partial(windows.history_edition, 0)
    ratio = LiveRatio(monitor._watch._references.found(0), windows, 2 * HOUR, edition)
    now = ratio.now(0, int(hours[1]) + 5 * HOUR)
    assert float(now.ratio.estimate) == pytest.approx((45 + 10) / (5 + 90))
    at_its_end = ratio.now(0, int(hours[1]) + HOUR)
    assert at_its_end.ratio == now.ratio
    before_its_end = ratio.now(0, int(hours[1]) + HOUR - 1)
    assert float(before_its_end.ratio.estimate) == pytest.approx(90 / 10)
    log_ratio, _ = ratio.profile.expected(hours[1] / 1000)
    assert now.expected == pytest.approx(float(np.exp(log_ratio)))
    assert np.isnan(ratio.now(0, int(hours[0]) - 90 * DAY).expected)


def test_the_live_class_ratio_depends_neither_on_order_nor_on_batches():
    hours = np.arange(24 * 15)
    cells = stream(200, np.concatenate([rates(24 * 9), rates(24 * 6, prevalence=0.2)]))
    found = []
    for order, size in ((hours, len(hours)), (hours, 5), (hours.reshape(-1, 8).T.ravel(), 7)):
        monitor = Monitor(
            Config(defaults={"label_timeout": "2d", "maturity": "0s"}, windows=["1d"])
        )
        for start in range(0, len(order), size):
            some = order[start : start + size]
            monitor.apply(batch_of_counts(some * HOUR, {(): cells[some]}))
        (model,) = monitor.snapshot().models
        live = model.watched.live_class_ratio
        found.append((float(live.lower), float(live.estimate), float(live.upper)))
    assert found[0] == found[1] == found[2]
    assert found[0][1] == pytest.approx(0.25, rel=0.2)


@pytest.mark.parametrize("name", ["ADWIN", pytest.param("PageHinkley", marks=pytest.mark.slow)])
def test_rivers_detectors_can_stand_in_for_ours(name):
    river = {"name": name, "options": {"threshold": 40.0} if name == "PageHinkley" else {}}
    cells = {(): stream(200, changed(recall=0.4))}
    found = watched(fed(cells, river_detector=river))
    assert "model_degraded" in {d.kind for d in found.detections}
    assert not found.warming_up


def test_river_pages_no_prevalence_where_it_holds_still_itself():
    river = {"name": "ADWIN"}
    rarer = watched(fed({(): stream(200, changed(prevalence=0.05))}, river_detector=river))
    assert not [d for d in rarer.detections if d.kind == "model_degraded"]


@pytest.mark.parametrize(
    ("river", "says"),
    [
        ({"name": "Crystal"}, "no detector 'Crystal'"),
        ({"name": "ADWIN", "options": {"nonsense": 1}}, "ADWIN cannot be made"),
    ],
)
def test_a_river_detector_that_cannot_be_is_known_before_the_first_event(river, says):
    with pytest.raises(UsageError, match=says):
        Monitor(Config(defaults={"river_detector": river}))


@pytest.mark.slow
def test_a_reference_longer_than_every_window_is_read_whole():
    cells = stream(200, rates(24 * 60))
    window = {"length": "40d", "end": "1970-02-20"}
    found = fed({(): cells}, reference={"window": window}).snapshot().models[0].watched.reference
    assert found.counts.cells.tolist() == cells[24 * 10 : 24 * 50].sum(axis=0).tolist()


@pytest.mark.slow
def test_a_slow_decay_is_found_though_the_reference_trails():
    recall = 0.8 - 0.2 * np.clip((np.arange(24 * 100) - 24 * 30) / (24 * 60), 0, 1)
    decaying = rates(len(recall))
    decaying[:, 1] = recall
    cells = stream(400, decaying)
    found = watched(fed({(): cells}, reference={"trailing": "7d"}))
    assert found.reference.source == "trailing"
    assert found.degradation_detected
    assert found.verdicts["7d"].verdict == Verdict.MODEL_DEGRADED
    assert [d.kind for d in found.detections] == ["model_degraded"]


def retrained(better, then, *, days=150):
    """Recall .6 for 40 days, then `better` for 80 days, then `then`."""
    return np.concatenate(
        [rates(24 * 40, recall=0.6), rates(24 * 80, recall=better), rates(24 * days, recall=then)]
    )[: 24 * days]


@pytest.mark.slow
@pytest.mark.parametrize("reference", [{"first": "28d"}, {"trailing": "7d"}])
def test_a_retraining_for_the_better_renews_the_level_so_that_losing_it_again_pages(reference):
    found = watched(fed({(): stream(2000, retrained(0.8, 0.6))}, reference=reference))
    pages = [one.at for one in found.detections if one.kind == "model_degraded"]
    assert len(pages) == 1
    assert 120 * DAY < pages[0] < 125 * DAY
    assert found.degradation_detected
    assert found.verdicts["7d"].verdict == Verdict.MODEL_DEGRADED


@pytest.mark.slow
def test_a_given_reference_is_never_renewed():
    given = {"counts": {"tp": 6_000, "fp": 4_500, "fn": 4_000, "tn": 85_500}}
    found = watched(fed({(): stream(2000, retrained(0.8, 0.6))}, reference=given))
    assert not found.detections


@pytest.mark.slow
@pytest.mark.parametrize("reference", [{"first": "28d"}, {"trailing": "7d"}])
def test_a_fall_and_a_recovery_renew_nothing(reference):
    fallen = np.concatenate(
        [rates(24 * 40), rates(24 * 60, recall=0.6), rates(24 * 60), rates(24 * 20, recall=0.6)]
    )
    found = watched(fed({(): stream(2000, fallen)}, reference=reference))
    pages = [one.at // DAY for one in found.detections if one.kind == "model_degraded"]
    assert len(pages) == 2
    assert pages[0] - 40 <= 3
    assert pages[1] - 160 <= 3


@pytest.mark.slow
def test_a_better_level_of_less_than_four_weeks_renews_nothing():
    brief = np.concatenate(
        [rates(24 * 40, recall=0.6), rates(24 * 25, recall=0.8), rates(24 * 60, recall=0.6)]
    )
    assert not watched(fed({(): stream(2000, brief)}, reference=MONTH)).detections


def at_another_threshold(then, *, days=56):
    """Recall .8 and FPR .05 for 28 days, .7 and .03 for `days`, then other rates for 20."""
    return np.concatenate(
        [rates(24 * 28), rates(24 * days, recall=0.7, fpr=0.03), rates(24 * 20, **then)]
    )


@pytest.mark.slow
def test_a_model_that_gets_worse_at_another_threshold_pages():
    fallen = at_another_threshold({"recall": 0.6, "fpr": 0.03})
    found = watched(fed({(): stream(2000, fallen)}, reference=MONTH))
    assert [one.at // DAY - 84 for one in found.detections] in ([1], [2], [3])
    assert found.verdicts["7d"].verdict == Verdict.MODEL_DEGRADED


@pytest.mark.slow
def test_a_threshold_that_is_set_back_after_weeks_pages_nobody():
    found = watched(fed({(): stream(2000, at_another_threshold({}))}, reference=MONTH))
    assert not found.detections
    assert found.verdicts["7d"].verdict == Verdict.NO_CHANGE


@pytest.mark.slow
def test_what_the_level_lost_is_part_of_the_state():
    rates_now = {"recall": 0.69, "fpr": 0.03}
    moved = np.concatenate([rates(24 * 28), rates(24 * 42, **rates_now)])
    monitor = fed({(): stream(2000, moved)}, reference=MONTH)
    state = monitor.state()
    (watching,) = state["watch"]["watching"].values()
    assert -0.1 < watching["lost"] < -0.02
    restored = Monitor(monitor.config, through_disk(state)).state()
    assert [one["lost"] for one in restored["watch"]["watching"].values()] == [watching["lost"]]
