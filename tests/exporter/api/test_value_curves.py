"""Curves by segment value in a running monitor: which values have one, and what is said."""

import numpy as np
from scipy.special import expit

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import EventBatch, Group, Outcomes
from monitor.exporter.api.queries import Queries
from monitor.windows.value_scores import MOST_VALUES

DAY_MS, A_DAY, DAYS = 86_400_000, 3_000, 6


def explained(values):
    """The comparison of three days with the three before, of a model with so many values."""
    rng, monitor = np.random.default_rng(2), Monitor(Config(defaults={"segments": ["shop"]}))
    groups = tuple(Group("m", "", (f"s{number:02}",)) for number in range(values))
    for day in range(DAYS):
        actual = rng.random(A_DAY) < 0.4
        score = expit(rng.normal(0, 1, A_DAY) + 1.5 * actual)
        time = day * DAY_MS + np.sort(rng.integers(0, DAY_MS, A_DAY))
        outcomes = Outcomes(
            time=time,
            label_time=time,
            predicted_positive=score >= 0.6,
            actual_positive=actual,
            score=score,
            group=np.arange(A_DAY) % values,
        )
        monitor.apply(EventBatch(outcomes=outcomes, groups=groups, records=A_DAY))
    snapshot = monitor.snapshot()
    queries = Queries(lambda: snapshot, lambda read: read(monitor))
    return queries.explanation("m", "1970-01-01..1970-01-04", "1970-01-04..1970-01-07").diagnosis


def test_values_beyond_the_cap_have_no_curve_and_a_note_says_so():
    found = explained(MOST_VALUES + 2)
    curves = [part.curve for part in found.segments]
    assert sum(curve is not None for curve in curves) == MOST_VALUES
    assert any(
        note.startswith("ROC curves of some segment values are left out") for note in found.notes
    )
    assert all(sum(curve.cases) > 0 for curve in curves if curve is not None)


def test_nothing_is_said_where_all_values_have_one():
    found = explained(5)
    assert all(part.curve is not None for part in found.segments)
    assert not any(note.startswith("ROC curves") for note in found.notes)
