"""A window that looks worse, while another one decides and nothing pages."""

from exporter.page.pages import HOUR, counts, fed
from report.one_moment import DAY, USUAL

from monitor.config import Config
from monitor.drift import Verdict
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer

DAYS = 42
WORSE = (18, 50, 32, 400)
"""An hour's outcomes on the last day: recall .36 instead of .8, twice the false positives."""


def seen(last_day):
    """The answer about a model that is as ever until its last day."""
    config = Config(models={"m": {"maturity": "1h"}}, windows=["1d", "7d"])
    records = [
        counts("m", day * DAY + hour * HOUR, [*cells, cells[0] + cells[1], cells[2] + cells[3]])
        for day in range(DAYS)
        for hour in range(0, 24, 6)
        for cells in [USUAL if day < DAYS - 1 else last_day]
    ]
    (model,) = status_answer(fed(Monitor(config), records).snapshot(), limit=1).models
    return model


def test_nobody_says_that_nothing_points_to_a_worse_model_while_a_window_looks_worse():
    model = seen(WORSE)
    assert model.windows["1d"].verdict is Verdict.MODEL_DEGRADED
    assert model.windows["7d"].verdict_because == "steady"
    assert (model.verdict_window, model.verdict_because) == ("7d", "moved_cause_open")
    assert not model.detectors.degradation_detected
    assert model.worse.answer == "not_shown"
    assert model.worse.text == (
        "Not shown: over the last 1d recall fell from .80 to .69, over the last 7d not certainly"
    )
    assert "no sign of a change" not in model.headline


def test_a_model_as_ever_stays_steady():
    model = seen(USUAL)
    assert model.verdict_because in (None, "steady")
    assert model.worse.text.endswith("is excluded")
