"""What predictions alone show: when, for how long, and when not."""

import numpy as np
import pytest
from same import differences, through_disk, without_memory
from watch.hourly import batch_of_counts
from watch.predicted import (
    DAY,
    HOUR,
    KNOWN,
    alarm_delay,
    batch,
    calls,
    monitor,
    predictions,
    usual,
)

from monitor.config.quantities import format_time
from monitor.drift.degenerate import Degeneracy
from monitor.engine import Monitor

FAULTS = {
    Degeneracy.ALWAYS_NEGATIVE: lambda size: calls(size, 0.0, 99),
    Degeneracy.ALWAYS_POSITIVE: lambda size: calls(size, 1.0, 99),
    Degeneracy.CONSTANT_SCORE: lambda size: np.full(size, 0.31),
}
FIRST_EVERY_DAY = [
    Degeneracy.ALWAYS_NEGATIVE,
    pytest.param(Degeneracy.ALWAYS_POSITIVE, marks=pytest.mark.slow),
    pytest.param(Degeneracy.CONSTANT_SCORE, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("kind", FAULTS)
def test_a_dead_model_is_found_within_the_hour(kind):
    found = usual(monitor(), KNOWN, a_day=24_000)
    hours, wrong = alarm_delay(found, lambda size, _: FAULTS[kind](size), a_day=24_000)
    assert hours <= 1
    assert wrong.kind is kind
    assert wrong.since == pytest.approx(KNOWN * DAY, abs=HOUR / 2)


def test_with_few_flagged_cases_silence_takes_longer_and_a_constant_score_does_not():
    """A silence needs some 20 expected flagged cases, which 56 a day bring in 9 hours."""
    hours, wrong = alarm_delay(
        usual(monitor(), KNOWN, a_day=720, share=0.08),
        lambda size, half: calls(size, 0.0, half),
        a_day=720,
    )
    assert wrong.kind is Degeneracy.ALWAYS_NEGATIVE
    assert 5 <= hours <= 14
    hours, wrong = alarm_delay(
        usual(monitor(), KNOWN, a_day=720, share=0.08),
        lambda size, _: np.full(size, 0.2),
        a_day=720,
    )
    assert wrong.kind is Degeneracy.CONSTANT_SCORE
    assert hours <= 3.5


@pytest.mark.parametrize(
    ("share", "kind"),
    [(0.02 * 12, Degeneracy.RATE_FAR_ABOVE), (0.02 / 12, Degeneracy.RATE_FAR_BELOW)],
)
def test_a_rate_twelve_times_another_is_found_with_how_far_it_lies(share, kind):
    found = usual(monitor(), KNOWN, a_day=24_000, share=0.02)
    usual(found, 1, a_day=24_000, share=share, first=KNOWN)
    wrong = predictions(found)
    assert wrong.kind is kind
    assert (3 < wrong.times <= 12) if kind is Degeneracy.RATE_FAR_ABOVE else wrong.times < 1 / 3


@pytest.mark.parametrize("scored", [True, False])
def test_labels_and_scores_are_not_needed(scored):
    found = usual(monitor(labelling="flagged_only"), KNOWN, scored=scored)
    assert predictions(found).known
    _, wrong = alarm_delay(
        found, lambda size, half: calls(size, 0.0, half), a_day=2_400, scored=scored
    )
    assert wrong.kind is Degeneracy.ALWAYS_NEGATIVE


def test_one_score_of_flagged_and_other_cases_alike_is_constant():
    """The class may come from elsewhere: then the flags look as ever."""
    found = usual(monitor(), KNOWN)
    for half in range(4):
        opens = KNOWN * DAY + half * HOUR // 2
        for part, flagged in enumerate((True, False)):
            start = opens + part * HOUR // 4
            size = (7, 43)[part]
            found.apply(batch(start, start + HOUR // 4, np.full(size, 0.4), flagged=flagged))
    assert predictions(found).kind is Degeneracy.CONSTANT_SCORE


def test_a_model_that_gives_most_cases_one_score_is_not_constant():
    def mostly_one(size, seed):
        scores = calls(size, 0.1, seed)
        return np.where(np.random.default_rng(seed + 1).random(size) < 0.9, 0.1, scores)

    found = monitor()
    for quarter in range(4 * KNOWN):
        opens = quarter * DAY // 4
        found.apply(batch(opens, opens + DAY // 4, mostly_one(600, quarter)))
    assert alarm_delay(found, mostly_one, a_day=2_400, hours=24) is None


def test_nothing_is_known_in_the_first_week():
    found = usual(monitor(), 7)
    assert not predictions(found).known
    assert alarm_delay(found, lambda *_: calls(50, 0.0, 1), a_day=2_400, first=7, hours=24) is None
    assert not predictions(found).known


def test_nothing_fires_on_a_stopped_feed_or_a_quiet_one():
    found = usual(monitor(), KNOWN)
    quiet = KNOWN * DAY + 4 * DAY
    found.apply(batch(quiet, quiet + HOUR, calls(5, 0.0, 3)))
    assert predictions(found).known
    assert predictions(found).kind is None


@pytest.mark.parametrize("kind", FIRST_EVERY_DAY)
def test_it_lasts_as_long_as_the_fault_and_ends_when_predictions_are_certainly_back(kind):
    found = usual(monitor(), KNOWN)
    alarm_delay(found, lambda size, _: FAULTS[kind](size), a_day=2_400)
    for day in range(KNOWN + 2, KNOWN + 40):
        found.apply(batch(day * DAY, (day + 1) * DAY, FAULTS[kind](2_400)))
        assert predictions(found).kind is kind
    back = KNOWN + 40
    found.apply(batch(back * DAY, back * DAY + HOUR // 2, FAULTS[kind](50)))
    stray = calls(1, 1.0 if kind is Degeneracy.ALWAYS_NEGATIVE else 0.0, 5)
    found.apply(batch(back * DAY + HOUR // 2, back * DAY + HOUR // 2 + 1, stray))
    found.apply(batch(back * DAY + HOUR, back * DAY + 2 * HOUR, FAULTS[kind](100)))
    assert predictions(found).kind is not None
    usual(found, 1, first=back + 1)
    assert predictions(found).kind is None
    assert predictions(found).known
    # The fault taught nothing: the same silence alarms as soon as the first time.
    usual(found, 20, first=back + 2)
    hours, _ = alarm_delay(found, lambda size, _: FAULTS[kind](size), a_day=2_400, first=back + 22)
    assert hours <= 4


def test_another_rate_becomes_the_usual_one_after_four_weeks():
    found = usual(monitor(), KNOWN, share=0.02)
    usual(found, 27, share=0.3, first=KNOWN)
    assert predictions(found).kind is Degeneracy.RATE_FAR_ABOVE
    usual(found, 3, share=0.3, first=KNOWN + 27)
    assert predictions(found).kind is None
    assert predictions(found).known
    usual(found, 2, share=0.3, first=KNOWN + 30)
    assert predictions(found).kind is None
    _, wrong = alarm_delay(
        found, lambda size, half: calls(size, 0.0, half), a_day=2_400, first=KNOWN + 32
    )
    assert wrong.kind is Degeneracy.ALWAYS_NEGATIVE


def hours_of_counts(days, rate, *, first=0, seed=0):
    """Hours of labelled counts at these flag rates of positives and negatives, 1 % positive."""
    rng, hours = np.random.default_rng([seed, first]), days * 24
    positive, negative = rng.poisson(10, hours), rng.poisson(990, hours)
    tp, fp = rng.binomial(positive, rate[0]), rng.binomial(negative, rate[1])
    times = first * DAY + np.arange(hours) * HOUR
    return times, np.stack([tp, fp, positive - tp, negative - fp], axis=1)


def with_counts(found, days, rate, *, first=0):
    times, cells = hours_of_counts(days, rate, first=first)
    for day in range(days):
        part = slice(24 * day, 24 * (day + 1))
        found.apply(batch_of_counts(times[part], {(): cells[part]}))
    return found


LOOSER = (0.96, 0.25)
"""A far lower threshold of the same curve as (.8, .03): recall and false positives rose."""


def test_labels_that_show_no_worse_model_take_the_alarm_back_and_a_worse_one_does_not():
    meant = monitor(maturity="1h", reference={"first": "7d"})
    with_counts(meant, 14, (0.8, 0.03))
    with_counts(meant, 6, LOOSER, first=14)
    assert predictions(meant).kind is Degeneracy.RATE_FAR_ABOVE
    with_counts(meant, 5, LOOSER, first=20)
    assert predictions(meant).kind is None

    worse = monitor(maturity="1h", reference={"first": "7d"})
    with_counts(worse, 14, (0.8, 0.03))
    with_counts(worse, 11, (0.5, 0.25), first=14)
    assert predictions(worse).kind is Degeneracy.RATE_FAR_ABOVE


def test_a_reference_window_after_the_change_takes_it_back():
    opens = 16 * DAY
    found = with_counts(monitor(maturity="1h", reference={"first": "7d"}), 14, (0.8, 0.03))
    with_counts(found, 5, (0.5, 0.25), first=14)
    assert predictions(found).kind is Degeneracy.RATE_FAR_ABOVE
    window = {"length": "3d", "end": format_time(opens + 3 * DAY)}
    renewed = monitor(maturity="1h", reference={"window": window})
    taken_up = Monitor(renewed.config, through_disk(found.state()))
    with_counts(taken_up, 1, (0.5, 0.25), first=19)
    assert predictions(taken_up).kind is None
    assert not predictions(taken_up).known


@pytest.mark.slow
def test_a_moving_reference_leaves_a_dead_model_its_alarm():
    found = monitor(maturity="1h", reference={"trailing": "3d"})
    with_counts(found, 14, (0.8, 0.03))
    with_counts(found, 35, (0.0, 0.0), first=14)
    assert predictions(found).kind is Degeneracy.ALWAYS_NEGATIVE


@pytest.mark.parametrize("kind", FIRST_EVERY_DAY)
def test_a_restart_at_any_time_changes_nothing(kind):
    whole, interrupted = monitor(), monitor()
    for quarter in range(4 * (KNOWN + 4)):
        dead = 4 * KNOWN <= quarter < 4 * (KNOWN + 2)
        scores = FAULTS[kind](600) if dead else calls(600, 0.125, quarter)
        part = batch(quarter * DAY // 4, (quarter + 1) * DAY // 4, scores)
        whole.apply(part)
        interrupted.apply(part)
        if quarter % 5 == 0 or dead:
            interrupted = Monitor(interrupted.config, through_disk(interrupted.state()))
        elif quarter < 4 * KNOWN:
            continue
        both = (without_memory(one.snapshot()) for one in (whole, interrupted))
        assert list(differences(*both)) == []
    assert list(differences(whole.state(), interrupted.state())) == []


def test_batches_of_any_size_find_the_same():
    parts = [usual_batch(quarter) for quarter in range(4 * (KNOWN + 1))]
    dead = batch(KNOWN * DAY + DAY, (KNOWN + 2) * DAY, calls(2_400, 0.0, 7))
    back = batch((KNOWN + 2) * DAY, (KNOWN + 5) * DAY, calls(7_200, 0.125, 8))
    small, large = monitor(), monitor()
    kinds = []
    for part in [*parts, dead, back]:
        large.apply(part)
        for rows in np.array_split(np.arange(part.records), 5):
            small.apply(taken(part, rows))
        assert list(differences(watched(small), watched(large))) == []
        kinds.append(predictions(small).kind)
    assert kinds[-2:] == [Degeneracy.ALWAYS_NEGATIVE, None]


def watched(found):
    """What is known of the predictions: alarms, when they began and ended, what is usual."""
    return found.state()["watch"]["predictions"]["models"]


def usual_batch(quarter):
    return batch(quarter * DAY // 4, (quarter + 1) * DAY // 4, calls(600, 0.125, quarter))


def taken(part, rows):
    return type(part)(
        predictions=part.predictions.take(rows), groups=part.groups, records=len(rows)
    )


def test_a_state_without_what_is_known_is_read_and_learns_it_from_the_hours():
    found = usual(monitor(), KNOWN)
    old = through_disk(found.state())
    old["watch"].pop("predictions")
    taken_up = Monitor(found.config, old)
    assert not predictions(taken_up).known
    usual(taken_up, 1, first=KNOWN)
    assert predictions(taken_up).known
    assert predictions(taken_up).kind is None


@pytest.mark.slow
def test_a_model_whose_predictions_arrive_late_is_watched_as_well():
    """They come three hours after those of another model, and it is watched by its own time."""
    found = monitor()
    for half in range(2 * 24 * (KNOWN + 2)):
        opens = half * HOUR // 2
        share = 0.125 if half < 2 * 24 * KNOWN else 0.0
        found.apply(batch(opens, opens + HOUR // 2, calls(50, 0.1, half), model="ahead"))
        late = opens - 3 * HOUR
        if late >= 0:
            found.apply(batch(late, late + HOUR // 2, calls(51, share, half), model="late"))
    assert predictions(found, "ahead").kind is None
    assert predictions(found, "late").kind is Degeneracy.ALWAYS_NEGATIVE


@pytest.mark.slow
def test_a_producer_that_runs_ahead_changes_nothing_for_another_model():
    """Its looks, its half-hours of scores and its alarm are those of the model alone."""
    alone, beside = monitor(), monitor()
    fast = monitor()
    for quarter in range(4 * (KNOWN + 2)):
        opens, ahead = quarter * DAY // 4, (quarter + 120) * DAY // 4
        dead = quarter >= 4 * KNOWN
        scores = np.full(600, 0.31) if dead else calls(600, 0.125, quarter)
        other = batch(ahead, ahead + DAY // 4, calls(900, 0.3, quarter), model="ahead")
        fast.apply(other)
        beside.apply(other)
        alone.apply(batch(opens, opens + DAY // 4, scores))
        beside.apply(batch(opens, opens + DAY // 4, scores))
    assert predictions(beside).kind is Degeneracy.CONSTANT_SCORE
    assert predictions(beside) == predictions(alone)
    assert predictions(beside, "ahead") == predictions(fast, "ahead")
    stretch = (KNOWN - 2) * DAY, (KNOWN + 2) * DAY
    assert scores_of(beside, *stretch) == scores_of(alone, *stretch)


def scores_of(found, opens, closes):
    return found.scores("m", opens, closes).total.tolist()


def test_a_model_without_a_time_is_not_looked_at_and_the_others_are():
    found = usual(monitor(), KNOWN)
    found.apply(batch(KNOWN * DAY, KNOWN * DAY + HOUR, calls(5, 0.2, 1), model="new"))
    usual(found, 1, first=KNOWN)
    assert "new" in found.models
    assert found.state()["watch"]["predictions"]["looks"].keys() == {"0"}
    assert predictions(found).known
    assert not predictions(found, "new").known
