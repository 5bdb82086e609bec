"""A person takes the model as it is now: a reference of days since the fall ends the page."""

from exporter.page.pages import HOUR, counts, fed
from report.one_moment import DAY, USUAL, counted
from same import through_disk

from monitor.config import Config
from monitor.drift.recall_evidence import Because
from monitor.engine import Monitor

WORSE = (20, 40, 30, 410)


def test_a_reference_of_days_since_the_fall_ends_the_page():
    paging = counted([USUAL] * 28 + [WORSE] * 21)
    (model,) = paging.snapshot().models
    assert model.watched.degradation_detected
    window = {"length": "14d", "end": "1970-02-18"}
    models = {"m": {"maturity": "1h", "reference": {"window": window}}}
    config = Config(models=models, windows=["1d", "7d"])
    renewed = Monitor(config, through_disk(paging.state()))
    tp, fp, fn, tn = WORSE
    population = [tp + fp, fn + tn]
    fed(
        renewed,
        [
            counts("m", day * DAY + hour * HOUR, [*WORSE, *population])
            for day in range(49, 60)
            for hour in range(0, 24, 6)
        ],
    )
    (model,) = renewed.snapshot().models
    assert model.watched.reference.source == "window"
    assert not model.watched.degradation_detected
    assert model.watched.verdicts["7d"].because is Because.STEADY
