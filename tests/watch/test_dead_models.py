"""Models that die before there is enough for a detector, and those that were never alive."""

import numpy as np
import pytest
from watch.hourly import DAY, HOUR, batch_of_counts, rates, stream

from monitor.config import Config
from monitor.drift.verdict import DEGRADED
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer

DIES, DAYS, PER_HOUR = 22, 27, 30
DEAD = {"flags nothing": (0.0, 0.0), "flags everything": (1.0, 1.0), "at random": (0.2, 0.2)}


def fed(hourly, seed=0, reference=None, per_hour=PER_HOUR):
    model = {"label_timeout": "2d", "maturity": "0s"}
    model |= {} if reference is None else {"reference": reference}
    monitor = Monitor(Config(models={"m": model}, windows=["1d", "7d"]))
    cells = stream(per_hour, hourly, seed)
    hours = np.arange(len(cells), dtype=np.int64) * HOUR
    for first in range(0, len(cells), 24):
        part = slice(first, first + 24)
        monitor.apply(batch_of_counts(hours[part], {(): cells[part]}))
    return monitor


@pytest.mark.parametrize("kind", DEAD)
def test_a_model_that_dies_against_a_provisional_reference_pages_within_two_days(kind):
    hourly = rates(24 * DAYS, prevalence=0.08)
    hourly[24 * DIES :, 1:] = DEAD[kind]
    watched = fed(hourly).snapshot().models[0].watched
    reference = watched.reference
    assert reference.closes - reference.opens < 28 * DAY, "it is provisional"
    (page,) = [one.at for one in watched.detections if one.kind == "model_degraded"]
    assert 0 < page - DIES * DAY <= 2 * DAY
    assert watched.degradation_detected


@pytest.mark.parametrize("kind", [*DEAD, "as ever"])
def test_a_provisional_reference_of_few_outcomes_pages_the_dead_alone(kind):
    hourly = rates(24 * 34, prevalence=0.1)
    if kind in DEAD:
        hourly[24 * 19 :, 1:] = DEAD[kind]
    watched = fed(hourly, seed=1, per_hour=1).snapshot().models[0].watched
    assert watched.reference.closes - watched.reference.opens < 28 * DAY, "it is provisional"
    assert watched.reference.counts.actual_positive < 100
    pages = [one.at for one in watched.detections]
    assert [19 * DAY < at <= 33 * DAY for at in pages] == [True] * (kind in DEAD)


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_a_model_that_is_as_ever_is_not_taken_for_dead(seed):
    watched = fed(rates(24 * 40, prevalence=0.02, recall=0.3), seed).snapshot().models[0].watched
    assert watched.detections == ()


def test_a_day_on_which_both_rates_fall_among_days_that_scatter_pages_nobody():
    """TPR - FPR is gone, as of a dead model; the odds ratio fell no more than days scatter."""
    days, bad, rng = 40, 37, np.random.default_rng(11)
    deviation = 0.5 * rng.standard_normal((days, 2))
    deviation[bad:] = 0
    level = np.array([0.9, -0.57]) + deviation
    level[bad] = [-1.9, -2.1]
    hourly = rates(24 * days, prevalence=0.3)
    hourly[:, 1:] = np.repeat(1 / (1 + np.exp(-level)), 24, axis=0)
    watched = fed(hourly, 4, {"first": "28d"}).snapshot().models[0].watched
    assert watched.detections == ()


@pytest.mark.parametrize("kind", DEAD)
def test_nothing_is_known_of_a_model_that_was_dead_in_its_reference(kind):
    hourly = rates(24 * 45, prevalence=0.08)
    hourly[:, 1:] = DEAD[kind]
    snapshot = fed(hourly).snapshot()
    (status,) = status_answer(snapshot, limit=1).models
    assert status.verdict == "insufficient_evidence"
    assert status.verdict_because == "no_reference"
    assert status.worse.answer == "unknown"
    assert "in the reference the model does not tell the classes apart (recall" in status.worse.text
    assert not snapshot.models[0].watched.degradation_detected
    because = {name: window.verdict_because for name, window in status.windows.items()}
    assert because == {"1d": "no_reference", "7d": "no_reference"}


@pytest.mark.slow
def test_a_coin_among_few_cases_is_found_within_days_and_stays_degraded():
    dies, days = 42, 56
    hourly = rates(24 * days, prevalence=0.2, recall=0.71, fpr=0.36)
    hourly[24 * dies :, 1:] = 0.5
    model = {"label_timeout": "2d", "maturity": "0s", "reference": {"first": "28d"}}
    monitor = Monitor(Config(models={"m": model}, windows=["1d", "7d"]))
    cells, looks = stream(8, hourly, 3), []
    for first, end in [(0, dies), *((day, day + 1) for day in range(dies, days))]:
        hours = np.arange(24 * first, 24 * end, dtype=np.int64)
        monitor.apply(batch_of_counts(hours * HOUR, {(): cells[hours]}))
        looks.append(monitor.snapshot().models[0].watched)
    pages = np.array([one.degradation_detected for one in looks])
    found = int(pages.argmax())
    assert 0 < found <= 4
    assert pages[found:].all()
    for one in looks[found:]:
        windows = [one.verdicts[name].judgement for name in ("1d", "7d")]
        assert any(seen.dead and seen.verdict in DEGRADED for seen in windows)


@pytest.mark.parametrize(("prevalence", "pages"), [(0.0002, False), (0.01, True)])
def test_a_reference_of_few_positives_pages_nobody(prevalence, pages):
    hourly = rates(24 * 50, prevalence=prevalence, fpr=0.1)
    hourly[24 * 40 :, 0] = 0.05
    hourly[24 * 40 :, 1:] = 0.0
    watched = fed(hourly, 2).snapshot().models[0].watched
    assert watched.reference.counts.actual_positive == pytest.approx(28 * 720 * prevalence, rel=0.9)
    assert (watched.detections != ()) is pages
    assert watched.predictions.kind is not None
