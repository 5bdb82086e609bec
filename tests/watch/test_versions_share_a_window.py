"""A running monitor whose versions share the traffic: another threshold is no worse model."""

import numpy as np
import pytest
from scipy.special import expit
from watch.versioned import DAY, config_of, fed, model_of

from monitor.drift import Verdict
from monitor.drift.verdict import DEGRADED

DAYS, A_DAY, BEGAN = 16, 3_000, 7
SPREAD = 0.6
"""Standard deviation of the positives, whose curve is far from the chord of two of its points."""


def watched(segments="[version]", *, slid=0.0, shift=0.0):
    """Return what a monitor sees of two versions, the new one of every other case from day 7 on.

    Args:
        segments: as configured.
        slid: threshold of the new version less that of the old one.
        shift: mean of the positives of the new version less that of the old one.
    """
    rng, events = np.random.default_rng(1), []
    for number in range(DAYS * A_DAY):
        ts = number * DAY / A_DAY
        new = bool(number % 2) and ts >= BEGAN * DAY
        positive = bool(rng.random() < 0.12)
        value = rng.normal(2 + shift * new, SPREAD) if positive else rng.normal(0, 1)
        at = {"ts": ts, "model": "m", "version": "67"[new], "label": int(positive)}
        at["prediction"] = int(value > 1.5 + slid * new)
        events.append({"type": "outcome", **at, "score": round(float(expit(value - 1.5)), 5)})
    config = f"models:\n  m: {{segments: {segments}, label_timeout: 1d}}\nwindows: [1d, 7d]\n"
    return model_of(fed(events, config_of(config))).watched


@pytest.mark.parametrize("slid", [-1.0, pytest.param(1.0, marks=pytest.mark.slow)])
def test_another_threshold_of_the_new_version_neither_pages_nor_blames_the_model(slid):
    found = watched(slid=slid)
    assert found.verdicts["7d"].verdict is Verdict.THRESHOLD_MOVED
    assert not found.degradation_detected


def test_a_worse_new_version_pages():
    found = watched(shift=-0.6)
    assert found.verdicts["7d"].verdict in DEGRADED
    assert found.degradation_detected


def test_without_versions_their_sum_lies_below_the_curve():
    """That limit is documented: the fall is then the model's."""
    assert watched("[]", slid=-1.0).verdicts["7d"].verdict in DEGRADED
