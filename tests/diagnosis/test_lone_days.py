"""A class whose right or wrong predictions lie on one day alone has no interval, and a reason."""

import json

import numpy as np
import pytest

from monitor import Monitor
from monitor.clock import DAY_MS
from monitor.config import Config
from monitor.diagnosis.class_comparison import ClassComparison, compare_classes, counted_days
from monitor.diagnosis.class_ranges import ClassRanges
from monitor.diagnosis.lone_days import LoneDay
from monitor.diagnosis.time_ranges import TimeRange
from monitor.report.class_comparison_json import class_comparison_json
from monitor.report.class_comparison_text import class_comparison_text

NAMES = ("card", "loan", "other")
USUAL = np.array([[40, 3, 2], [4, 30, 3], [2, 2, 20]])
DAYS = 6


def compared(matrices: list[np.ndarray]) -> ClassComparison:
    """The first half of some days, each with such a matrix, against the second."""
    monitor = Monitor(Config(models={"m": {"classes": NAMES}}))
    rows = [
        {"ts": day * DAY_MS / 1000 + 60, "prediction": NAMES[predicted], "label": NAMES[actual]}
        for day, matrix in enumerate(matrices)
        for (predicted, actual), cases in np.ndenumerate(matrix)
        for _ in range(int(cases))
    ]
    monitor.feed(rows)
    cut, end = len(matrices) // 2 * DAY_MS, len(matrices) * DAY_MS
    asked = ClassRanges(TimeRange(0, cut), TimeRange(cut, end), ("--before", "--after"))
    (model,) = monitor.snapshot().models
    return compare_classes(model, asked, counted_days(monitor, "m", asked))


@pytest.mark.parametrize(
    ("row", "kind"), [([30, 0, 0], "wrong"), ([0, 3, 2], "right")], ids=["wrong", "right"]
)
@pytest.mark.parametrize(("place", "side"), [(1, "before"), (DAYS - 1, "after")])
def test_the_reason_is_in_text_and_json(row: list[int], kind: str, place: int, side: str) -> None:
    without = USUAL.copy()
    without[0] = row
    half = range(DAYS // 2) if side == "before" else range(DAYS // 2, DAYS)
    matrices = [without if day in half and day != place else USUAL for day in range(DAYS)]
    found = compared(matrices)
    assert found.lone_days == {"card": LoneDay(side=side, predictions=kind)}
    assert np.isfinite(found.attribution.change.points).all()
    assert np.isnan(found.attribution.change.lower_points).tolist() == [True, False, False]
    said = " ".join(class_comparison_text(found).split())
    assert f"card has no interval: one day has every {kind} prediction {side}, so that" in said
    answer = json.loads(class_comparison_json(found))
    assert answer["no_interval"] == {"card": {"side": side, "predictions": kind}}


@pytest.mark.parametrize("last", [USUAL, USUAL * [[0], [1], [1]]], ids=["each day", "some days"])
def test_there_is_no_reason_where_there_is_an_interval(last: np.ndarray) -> None:
    found = compared([USUAL] * (DAYS - 1) + [last])
    assert np.isfinite(found.attribution.change.lower_points).all()
    assert found.lone_days == {}
    assert "has no interval" not in class_comparison_text(found)
