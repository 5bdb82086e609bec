"""One model at one moment: as ever for three weeks, and then something else; or at its start."""

import math
from functools import cache, partial

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
    """The monitor after three weeks as ever, and two of something else."""
    config = Config(models={"m": {"maturity": "1h"}}, windows=["1d", "7d"])
    records = [
        counts("m", day * DAY + hour * HOUR, [*cells, cells[0] + cells[1], cells[2] + cells[3]])
        for day in range(35)
        for hour in range(0, 24, 6)
        for cells in [USUAL if day < 21 else now_outcomes]
    ]
    return fed(Monitor(config), records)


def counted(days, windows=("1d", "7d"), **settings):
    """The monitor after days of outcomes (tp, fp, fn, tn), four times a day each."""
    config = Config(models={"m": {"maturity": "1h"} | settings}, windows=[*windows])
    return fed(Monitor(config), count_list(days))


def count_list(days):
    """Records of the outcomes (tp, fp, fn, tn) of days, four times a day each."""
    return [
        counts("m", day * DAY + hour * HOUR, [*cells, cells[0] + cells[1], cells[2] + cells[3]])
        for day, cells in enumerate(days)
        for hour in range(0, 24, 6)
    ]


def one_bad_day():
    """A day that is judged degraded, while a week decides and nothing pages."""
    return counted([USUAL] * 21 + [(18, 50, 32, 400)])


def a_day_of_rarer_positives():
    """The detector of the class ratio has found it; the week holds six days from before."""
    return counted([USUAL] * 40 + [(11, 29, 3, 500)] * 2)


def a_better_day():
    """A day that is judged improved, while a week decides."""
    return counted([USUAL] * 40 + [(46, 12, 4, 438)] * 2)


def pages_after_the_fault():
    """A page that lasts: the last week holds too few outcomes to tell."""
    return counted(
        [USUAL] * 28 + [(20, 40, 30, 410)] * 14 + [(0, 0, 0, 12)] * 4 + [(2, 1, 1, 12)] * 4
    )


def worse_at_another_threshold():
    """Eight weeks at another operating point, and then as many false positives with less recall."""
    return counted([USUAL] * 28 + [(33, 10, 17, 440)] * 56 + [(25, 10, 25, 440)] * 10)


def died_and_pages():
    """A dead model that pages: its week is open, and its last day holds 48 positives."""
    usual = [(10, 3, 2, 109), (8, 3, 4, 109), (11, 2, 1, 110), (9, 4, 3, 108)]
    return counted([*usual * 10, *[(0, 0, 12, 112)] * 2])


def reference_of_two_states():
    """A reference whose recall fell after five days, and days like its later ones."""
    fallen = [(36, 20, 14, 430), (35, 21, 15, 429)] * 16
    window = {"length": "28d", "end": "1970-01-29"}
    return counted([USUAL] * 5 + fallen, reference={"window": window})


def an_hour_alone_compared():
    """A week that reaches back into the reference of the first seven days."""
    return counted([USUAL] * 9, windows=("1h", "7d"))


def reference_incomplete():
    """The first days, before there is a reference."""
    return counted([USUAL] * 3)


def first_hours():
    """Predictions of which half have a label, all too recent for a window."""
    return events(0.5, labelled=0.25)


def no_labels():
    """Predictions without any label."""
    return events(20, labelled=0)


def labels_lost():
    """Labels that stopped ten days ago."""
    return events(40, labelled=30)


def died_before_its_labels():
    """A model that flags nothing any more, in hours of which no label has come yet."""
    return events(40, labelled=40, dies=39.3, hours=20)


def died_with_its_labels():
    """A model that flags nothing in the days whose labels are there."""
    return events(40, labelled=40, dies=37.5, daily=720)


def events(days, *, hours=1, **others):
    """The monitor after `event_list`, with a maturity of an hour more than labels take."""
    settings = {"maturity": f"{hours + 1}h", "label_timeout": "5d"}
    config = Config(models={"m": settings}, windows=["1d", "7d"])
    return fed(Monitor(config), event_list(days, hours=hours, **others))


def event_list(days, *, labelled, dies=math.inf, hours=1, daily=240):
    """Days of so many predictions, in order of time, with labels some hours later, up to a day."""
    found = []
    for number in range(int(days * daily)):
        day, positive = number / daily, number % 12 == 0
        flagged = (number % 60 != 0 if positive else number % 30 == 1) and day < dies
        one = {"id": f"p{number}", "ts": day * DAY}
        found.append({"type": "prediction", "model": "m", "prediction": int(flagged)} | one)
        if day + hours / 24 < labelled:
            later = {"ts": day * DAY + hours * HOUR, "label": int(positive)}
            found.append({"type": "label"} | one | later)
    return sorted(found, key=lambda event: event["ts"])


MOMENTS = {
    **{name: partial(shown, cells) for name, cells in THEN.items()},
    "one bad day": one_bad_day,
    "a day of rarer positives": a_day_of_rarer_positives,
    "a better day": a_better_day,
    "pages after the fault": pages_after_the_fault,
    "worse at another threshold": worse_at_another_threshold,
    "died and pages": died_and_pages,
    "reference of two states": reference_of_two_states,
    "an hour alone compared": an_hour_alone_compared,
    "reference incomplete": reference_incomplete,
    "first hours": first_hours,
    "no labels": no_labels,
    "labels lost": labels_lost,
    "died before its labels": died_before_its_labels,
    "died with its labels": died_with_its_labels,
}
"""Functions that make a monitor at a moment, by name."""


@cache
def at(moment):
    """The monitor at a moment, by name; made once, and only read."""
    return MOMENTS[moment]()
