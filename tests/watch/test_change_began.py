"""A model that is called worse says since when, and with which version, whoever calls it so."""

from types import SimpleNamespace

import numpy as np
import pytest
from exporter.page.pages import counts, fed

from monitor.clock import DAY_MS, HOUR_MS
from monitor.config import Config
from monitor.counts import ConfusionCounts
from monitor.drift import Verdict
from monitor.drift.change_news import ChangeBegan
from monitor.drift.dispersion import Dispersion
from monitor.drift.verdict import MOVED_RATES
from monitor.engine import Monitor
from monitor.events.columns import EventBatch, Group, Outcomes
from monitor.exporter.api.selection import EVERY_MODEL
from monitor.exporter.api.status import status_answer
from monitor.report.version_news_words import beginning_text
from monitor.watch.change_hours import before_change, when_rates_changed
from monitor.windows.history import History

BEGAN = 20
"""Day on which version 7 begins."""
SOUND = (2.2, 1.7)
"""Distance of the classes, and the threshold, of version 6."""
VERSIONS = (Group("m", "6", ("6",)), Group("m", "7", ("7",)))


def monitored(worse, *, a_day, days, windows, share=1.0, scores=False, seed=1):
    """Return a monitor of binormal scores, of which version 7 has others from day 20 on."""
    config = Config(
        defaults={
            "segments": ["version"],
            "label_timeout": "2d",
            "maturity": "0s",
            "reference": {"first": "14d"},
        },
        windows=windows,
    )
    monitor, rng = Monitor(config), np.random.default_rng(seed)
    for day in range(days):
        new = (rng.random(a_day) < share) & (day >= BEGAN)
        gap, cut = np.where(new, [[one] for one in worse], [[one] for one in SOUND])
        actual = rng.random(a_day) < 0.1
        normal = rng.normal(size=a_day) + np.where(actual, gap, 0.0)
        time = day * DAY_MS + np.sort(rng.integers(0, DAY_MS, a_day))
        outcomes = Outcomes(
            time=time,
            label_time=time,
            predicted_positive=normal >= cut,
            actual_positive=actual,
            score=1 / (1 + np.exp(1 - normal)) if scores else np.full(a_day, np.nan),
            group=new.astype(np.int64),
        )
        monitor.apply(EventBatch(outcomes=outcomes, groups=VERSIONS, records=a_day))
    return monitor


def watched_of(monitor):
    return monitor.snapshot().models[0].watched


def status_of(monitor):
    return status_answer(monitor.snapshot(), EVERY_MODEL, limit=1).models[0]


def assert_began_with_version_7(monitor):
    found = watched_of(monitor)
    assert found.began.earliest - HOUR_MS <= BEGAN * DAY_MS <= found.began.latest
    assert (found.new_version.name, found.new_version.began_change) == ("7", True)
    assert status_of(monitor).headline.startswith("Since version 7 (")


def test_the_interval_of_a_full_swap_holds_its_first_minute():
    monitor = monitored((0.2, 1.7), a_day=20_000, days=24, windows=["1d"])
    began, new = watched_of(monitor).began, watched_of(monitor).new_version
    assert began.earliest == BEGAN * DAY_MS < new.first < began.latest
    assert began.latest == began.earliest + HOUR_MS
    assert new.began_change
    assert (
        beginning_text(began)
        == "recall or false positives, about 1970-01-21 00:00 UTC, to the hour"
    )


def test_a_page_without_a_verdict_on_its_window_says_since_when():
    monitor = monitored((1.6, 1.7), a_day=900, days=32, windows=["1d"])
    found = watched_of(monitor)
    assert found.degradation_detected
    assert found.verdicts["1d"].verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert_began_with_version_7(monitor)
    headline = status_of(monitor).headline
    assert headline.endswith(": the model got worse, and has not certainly recovered.")


def test_a_worse_canary_whose_cause_is_open_says_since_when():
    monitor = monitored((1.2, 1.7), a_day=2_500, days=36, windows=["1d", "7d"], share=0.2)
    assert not MOVED_RATES & {one.verdict for one in watched_of(monitor).verdicts.values()}
    assert_began_with_version_7(monitor)
    assert (
        "? Open. Version 7 is worse than 6 over the same time: recall"
        in status_of(monitor).headline
    )


def test_scores_that_separate_worse_behind_a_lower_threshold_say_since_when():
    monitor = monitored((1.8, 1.2), a_day=2_000, days=28, windows=["1d", "7d"], scores=True)
    found = watched_of(monitor).verdicts["7d"]
    assert found.verdict is Verdict.MODEL_DEGRADED
    assert found.judgement.below_reference_curve
    assert_began_with_version_7(monitor)


def test_a_threshold_that_slid_along_the_curve_says_since_when():
    monitor = monitored((2.2, 1.3), a_day=3_000, days=28, windows=["1d", "7d"], scores=True)
    assert watched_of(monitor).verdicts["7d"].verdict is Verdict.THRESHOLD_MOVED
    assert_began_with_version_7(monitor)


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_an_equal_version_began_no_change(seed):
    monitor = monitored(SOUND, a_day=2_000, days=30, windows=["1d", "7d"], share=0.2, seed=seed)
    assert watched_of(monitor).began is None
    assert "Since version" not in status_of(monitor).headline


@pytest.mark.slow
def test_a_slide_over_weeks_began_with_its_trend():
    monitor = Monitor(
        Config(
            defaults={"label_timeout": "2d", "maturity": "0s", "reference": {"first": "14d"}},
            windows=["1d", "7d"],
        )
    )
    rng, a_day, bend = np.random.default_rng(2), 4_000, 30
    for day in range(71):
        actual = rng.random(a_day) < 0.2
        recall = 0.8 - 0.008 * max(day - bend, 0)
        time = day * DAY_MS + np.sort(rng.integers(0, DAY_MS, a_day))
        flagged = rng.random(a_day) < np.where(actual, recall, 0.1)
        outcomes = Outcomes(
            time=time,
            label_time=time,
            predicted_positive=flagged,
            actual_positive=actual,
            score=np.full(a_day, np.nan),
            group=np.zeros(a_day, dtype=np.int64),
        )
        monitor.apply(EventBatch(outcomes=outcomes, groups=(Group("m"),), records=a_day))
    found = watched_of(monitor)
    assert found.trend.shape == "slope"
    assert found.began.earliest <= bend * DAY_MS <= found.began.latest
    assert found.began.at == round(found.trend.since) * DAY_MS


@pytest.mark.parametrize("worse_from", [0, 20])
def test_a_model_that_was_never_like_given_counts_has_no_moment_of_a_change(worse_from):
    """A held-out test set has no time: rates that differ from the first hour on did not change."""
    usual, worse = (40, 20, 10, 430), (20, 40, 30, 410)
    given = {name: 20 * cell for name, cell in zip(("tp", "fp", "fn", "tn"), usual, strict=True)}
    settings = {"maturity": "1h", "reference": {"counts": given}}
    records = [
        counts("m", (day * 24 + hour) * 3_600, [*cells, cells[0] + cells[1], cells[2] + cells[3]])
        for day in range(30)
        for hour in range(0, 24, 6)
        for cells in [worse if day >= worse_from else usual]
    ]
    monitor = fed(Monitor(Config(models={"m": settings}, windows=["1d", "7d"])), records)
    (model,) = status_answer(monitor.snapshot(), EVERY_MODEL, limit=1).models
    assert model.worse.answer == "yes"
    if worse_from:
        began = model.change_began
        assert "1970-01-20" <= began.earliest <= "1970-01-21T00:00:00Z" <= began.latest
    else:
        assert model.change_began is None


@pytest.mark.parametrize("empty", [0, 9])
@pytest.mark.parametrize("worse_from", [0, 100])
def test_hours_before_the_first_outcome_are_no_moment_before_a_change(empty, worse_from):
    usual, worse = [40, 20, 10, 430], [20, 40, 30, 410]
    hours = [[0] * 4] * empty + [worse if n >= worse_from else usual for n in range(200)]
    cells = np.array([[*one, one[0] + one[1], one[2] + one[3]] for one in hours])
    history = History(np.arange(len(hours)) * HOUR_MS, cells)
    given = ConfusionCounts.from_cells(np.array(usual) * 20)
    even = Dispersion(class_ratio=1.0, recall=1.0, false_positive_rate=1.0)
    began = when_rates_changed(history, given, (0, len(hours) * HOUR_MS), even)
    if worse_from:
        assert began.earliest <= (empty + worse_from) * HOUR_MS <= began.latest
    else:
        assert began is None


def test_a_model_that_got_better_says_since_when_once_its_level_is_renewed():
    """The level is from after the step then, and tells nothing of it."""
    monitor = Monitor(
        Config(
            defaults={"label_timeout": "2d", "maturity": "0s", "reference": {"first": "14d"}},
            windows=["1d", "7d"],
        )
    )
    rng, a_day, better = np.random.default_rng(6), 2_000, 20
    for day in range(52):
        actual = rng.random(a_day) < 0.2
        flagged = rng.random(a_day) < np.where(actual, 0.8 if day >= better else 0.5, 0.05)
        time = day * DAY_MS + np.sort(rng.integers(0, DAY_MS, a_day))
        outcomes = Outcomes(
            time=time,
            label_time=time,
            predicted_positive=flagged,
            actual_positive=actual,
            score=np.full(a_day, np.nan),
            group=np.zeros(a_day, dtype=np.int64),
        )
        monitor.apply(EventBatch(outcomes=outcomes, groups=(Group("m"),), records=a_day))
    found = watched_of(monitor)
    assert found.trend.shape == "step"
    assert found.level is None or found.level.opens > better * DAY_MS
    assert abs(found.began.at - better * DAY_MS) <= DAY_MS
    assert found.began.earliest <= better * DAY_MS <= found.began.latest


@pytest.mark.parametrize(
    ("level", "reference", "degraded", "found"),
    [
        (14, 14, False, "level"),
        (49, 14, False, "judge"),
        (49, 45, False, 20),
        (49, 14, True, "level"),
        (49, None, False, "judge"),
    ],
)
def test_a_step_for_the_better_follows_what_closed_before_it(level, reference, degraded, found):
    ends = {"level": level, "judge": reference}
    watching = SimpleNamespace(
        **{
            name: SimpleNamespace(
                reference=SimpleNamespace(closes=None if d is None else d * DAY_MS)
            )
            for name, d in ends.items()
        }
    )
    trend = SimpleNamespace(shape="step", since=20.2, earliest=19.0, latest=21.0)
    before = before_change(watching, trend, degraded=degraded)
    if isinstance(found, str):
        assert before is getattr(watching, found)
    else:
        assert before == ChangeBegan(20 * DAY_MS, 19 * DAY_MS, 21 * DAY_MS)
