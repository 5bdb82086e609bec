"""The stretch without labels begins with the first prediction that has none."""

import numpy as np
import pytest

from monitor.diagnosis.unlabelled_end import unlabelled_end

HOUR = 3_600_000
NOON = 12
"""Hours of a day that begins at midnight."""


def end(labelled):
    """The stretch of hours of 30 predictions each, of which so many have a label."""
    labelled = np.asarray(labelled)
    zeros = np.zeros_like(labelled)
    cells = [labelled // 10, zeros, zeros, labelled - labelled // 10, zeros + 3, zeros + 27]
    hours = np.arange(len(labelled)) * HOUR
    last = int(hours[-1]) + HOUR - 1
    blocks = np.stack(cells, axis=1)
    return unlabelled_end(hours, blocks, last, int(hours[labelled > 5][-1]), timed=True, least=0)


@pytest.mark.parametrize(
    ("stops", "since"), [(30 * 24, "1970-01-31"), (30 * 24 + NOON, "1970-01-31 12:00")]
)
@pytest.mark.parametrize("usual", [30, 9], ids=["all have a label", "three of ten have"])
@pytest.mark.parametrize("still", [0, 1], ids=["then none", "then one an hour"])
def test_a_long_stretch_begins_where_labels_end(stops, since, usual, still):
    """Ten days later, a share of 2 % would include the last hours that have labels."""
    hours = np.where(np.arange(40 * 24) < stops, usual, 0)
    hours[stops::24] += still
    found = str(end(hours))
    assert found.startswith(f"hardly any prediction since {since} has a label: labels stopped on ")


def test_labels_that_fade_out_end_at_half_of_the_usual_share():
    hours = [30] * 720 + [25, 20, 10, 5] + [0] * 240
    found = end(hours)
    assert found.opens == 722 * HOUR
    assert found.days == pytest.approx(242 / 24)


def test_a_week_before_it_consists_of_days_that_have_labels():
    assert end([30] * 720 + [0] * 240).week_before == "1970-01-24..1970-01-31"
    assert end([30] * 730 + [0] * 240).week_before == "1970-01-24..1970-01-31"
