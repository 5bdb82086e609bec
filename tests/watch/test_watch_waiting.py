"""What it costs to go on to the next pane while a reference is looked for, in cells read."""

import numpy as np
import pytest
from watch.hourly import DAY, HOUR, batch_of_counts, rates, stream

from monitor.config import Config
from monitor.engine import Monitor
from monitor.windows.panes import PaneRing

VALUES = 30
DAYS = 34
FIRST, LONGEST = 7 * DAY, 28 * DAY


@pytest.fixture
def read(monkeypatch):
    """Panes times rows that any ring was asked for, in order."""
    asked = []
    for name in ("table", "sum"):
        original = getattr(PaneRing, name)

        def counted(ring, start, end, rows, original=original):
            asked.append((end - start) * len(rows))
            return original(ring, start, end, rows)

        monkeypatch.setattr(PaneRing, name, counted)
    series = PaneRing.series

    def whole(ring, row):
        asked.append(ring.span)
        return series(ring, row)

    monkeypatch.setattr(PaneRing, "series", whole)
    return asked


def drawn(per_hour, prevalence):
    return [stream(per_hour, rates(24 * DAYS, prevalence=prevalence), n) for n in range(VALUES)]


def read_by_step(read, cells, hours):
    """Cells read while so many hours at a time are applied, and the reference found."""
    config = Config(
        defaults={
            "label_timeout": "2d",
            "maturity": "0s",
            "segments": ["k"],
            "reference": {"first": "7d"},
        },
        windows=["1d"],
    )
    monitor = Monitor(config)
    found, by_step = None, []
    for hour in range(0, 24 * DAYS, hours):
        del read[:]
        values = {(f"v{i}",): of[hour : hour + hours] for i, of in enumerate(cells)}
        monitor.apply(batch_of_counts(np.arange(hour, hour + hours) * HOUR, values))
        by_step.append(sum(read))
        looked = hour % 24 == 2 or hours > 1
        reference = monitor.snapshot().models[0].watched.reference if looked else None
        if reference is not None and found is None:
            found = reference
    return by_step, found


@pytest.mark.slow
def test_a_pane_costs_no_more_while_the_reference_waits_for_its_positives_than_later(read):
    by_hour, found = read_by_step(read, drawn(1, prevalence=0.1), 1)
    waiting = by_hour[FIRST // HOUR + 2 : found.closes // HOUR - 2]
    later = by_hour[found.closes // HOUR + 30 :]
    assert len(waiting) > 24 * 3
    assert np.mean(waiting) <= np.mean(later)
    assert max(waiting) <= max(later)


@pytest.mark.parametrize(
    ("per_hour", "prevalence"),
    [
        pytest.param(3, 0.1, marks=pytest.mark.slow),
        (1, 0.1),
        pytest.param(1, 0.01, marks=pytest.mark.slow),
    ],
)
def test_the_reference_is_the_first_whole_days_that_suffice_and_four_weeks_at_most(
    read, per_hour, prevalence
):
    cells = drawn(per_hour, prevalence)
    _, found = read_by_step(read, cells, 24)
    whole = sum(cells)
    for closes in range(FIRST, LONGEST + 1, DAY):
        tp, fp, fn, _ = whole[: closes // HOUR].sum(axis=0)
        if tp + fn >= 1_000 and fp >= 500:
            break
    assert (found.opens, found.closes) == (0, closes)
    assert found.counts.cells.tolist() == whole[: closes // HOUR].sum(axis=0).tolist()
