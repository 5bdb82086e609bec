"""One model at one moment: as ever for five weeks, and then two weeks of something else."""

from exporter.page.pages import HOUR, counts, fed

from monitor.config import Config
from monitor.engine import Monitor

DAY = 86_400
USUAL = (40, 20, 10, 430)
"""An hour's outcomes (tp, fp, fn, tn): recall .8, precision .67."""
THEN = {
    "as ever": USUAL,
    "rarer positives": (8, 21, 2, 469),
    "a worse model": (20, 40, 30, 410),
    "another threshold": (25, 5, 25, 445),
    "flags nothing": (0, 0, 50, 450),
    "a better model": (46, 12, 4, 438),
}


def shown(now_outcomes):
    """The monitor after five weeks as ever, and two of something else."""
    config = Config(models={"m": {"maturity": "1h"}}, windows=["1d", "7d"])
    records = [
        counts("m", day * DAY + hour * HOUR, [*cells, cells[0] + cells[1], cells[2] + cells[3]])
        for day in range(50)
        for hour in range(0, 24, 6)
        for cells in [USUAL if day < 36 else now_outcomes]
    ]
    return fed(Monitor(config), records)
