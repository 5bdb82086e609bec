"""Where scores come, the reference's ROC curve settles what two rates leave open, live."""

import numpy as np
import pytest
from same import differences, through_disk

from monitor.config import Config
from monitor.drift import Verdict
from monitor.engine import Monitor
from monitor.events.columns import EventBatch, Group, Outcomes

DAY = 86_400_000
DAYS, CHANGE = 22, 12
GAP, CUT = 2.2, 1.7
PER_DAY = 6_000


def scored(rng, gap, cut, size, shift=0.0):
    """Binormal scores in [0, 1] (normal ones through the logistic), and what came of them."""
    actual = rng.random(size) < 0.1
    normal = rng.normal(size=size) + np.where(actual, gap, 0.0) + shift
    return actual, normal >= cut, 1 / (1 + np.exp(-(normal - 1.0)))


def configured(segments=()):
    return Config(
        defaults={
            "label_timeout": "2d",
            "maturity": "0s",
            "segments": segments,
            "reference": {"first": "10d"},
        },
        windows=["7d"],
    )


def fed(after, **how):
    """What is watched of the model of `monitor_of`."""
    return monitor_of(after, **how).snapshot().models[0].watched


def monitor_of(after, *, with_scores=True, hard=(0.0, 0.0), segments=(), seed=0):
    """A monitor that has taken three weeks of scored outcomes, another model from day 12 on.

    `hard` are the shares of a segment whose classes lie closer together.
    """
    monitor, rng = Monitor(configured(segments)), np.random.default_rng(seed)
    for day in range(DAYS):
        gap, cut = (GAP, CUT) if day < CHANGE else after
        group = (rng.random(PER_DAY) < hard[day >= CHANGE]).astype(np.int64)
        actual, predicted, score = scored(rng, gap - 0.8 * group, cut, PER_DAY)
        time = day * DAY + np.sort(rng.integers(0, DAY, PER_DAY))
        monitor.apply(
            EventBatch(
                outcomes=Outcomes(
                    time=time,
                    label_time=time,
                    predicted_positive=predicted,
                    actual_positive=actual,
                    score=score if with_scores else np.full(PER_DAY, np.nan),
                    group=group if segments else np.zeros(PER_DAY, dtype=np.int64),
                ),
                groups=(
                    tuple(Group("m", "", (kind,)) for kind in ("easy", "hard"))
                    if segments
                    else (Group("m"),)
                ),
                records=PER_DAY,
            )
        )
    return monitor


WORSE = (1.9, 2.2)
"""A worse model behind a higher threshold: recall and false positives both fall, LR+ rises."""


def test_without_scores_two_rates_that_fell_leave_it_open():
    found = fed(WORSE, with_scores=False)
    assert found.verdicts["7d"].verdict is Verdict.OPERATING_POINT_MOVED


def test_with_scores_a_point_below_the_references_curve_is_a_worse_model():
    found = fed(WORSE).verdicts["7d"]
    assert found.verdict is Verdict.MODEL_DEGRADED
    assert found.judgement.below_reference_curve


@pytest.mark.parametrize("cut", [1.2, 2.2])
def test_a_slide_of_the_threshold_stays_a_slide(cut):
    found = fed((GAP, cut)).verdicts["7d"]
    assert found.verdict is Verdict.THRESHOLD_MOVED
    assert not found.judgement.below_reference_curve


def test_a_slide_beside_a_change_of_mix_is_no_worse_model_within_the_segments():
    found = fed((GAP, 2.2), hard=(0.2, 0.5), segments=("kind",)).verdicts["7d"]
    assert found.verdict is Verdict.THRESHOLD_MOVED
    blind = fed((GAP, 2.2), hard=(0.2, 0.5)).verdicts["7d"]
    assert blind.verdict is Verdict.MODEL_DEGRADED


def test_a_worse_model_is_found_within_the_segments_too():
    found = fed(WORSE, hard=(0.3, 0.3), segments=("kind",)).verdicts["7d"]
    assert found.verdict is Verdict.MODEL_DEGRADED


def test_scores_of_a_reference_take_few_bytes_and_those_of_older_states_are_read():
    state = monitor_of((GAP, CUT)).state()
    narrow, older = state["watch"]["references"]["0"], through_disk(state)
    wide = older["watch"]["references"]["0"]
    for name in ("scores", "scores_by_day"):
        assert sum(table.nbytes for table in narrow[name]) <= sum(t.size for t in narrow[name]) * 4
        wide[name] = [table.astype(np.int64) for table in wide[name]]
    assert narrow["scores_by_day"][0].dtype == np.uint8
    for stored in (through_disk(state), older):
        assert not [*differences(Monitor(configured(), stored).state(), state)]
