"""What `diagnose --html` tells besides the diagnosis: the model over time, its scores.

To be made before events come, and asked after all have come.
"""

from __future__ import annotations

from monitor.config import Labelling
from monitor.config.quantities import DAY_MS
from monitor.diagnosis import Diagnosis
from monitor.diagnosis.recorded import settings_of
from monitor.diagnosis.time_ranges import parse_time_range
from monitor.engine import Monitor
from monitor.events.columns import EARLIEST_MS, LATEST_MS
from monitor.exporter.api.answers import aim, background, named
from monitor.exporter.api.curve import curve_object
from monitor.exporter.api.series import series_object
from monitor.exporter.page.report import report_html
from monitor.join.deltas import known, settled
from monitor.metrics.histogram import ScoreHistogram
from monitor.report.diagnosis_json import diagnosis_object
from monitor.windows.history import History


class Told:
    """Counts everything by the day, and the scores of what is judged.

    Args:
        monitor: that the events will be fed to.
        after: as written on the command line; None for the last mature days.
    """

    def __init__(self, monitor: Monitor, after: str | None) -> None:
        self._monitor = monitor
        self._days = monitor.count_range(EARLIEST_MS, LATEST_MS, DAY_MS)
        asked = None if after is None else parse_time_range("--after", after)
        self._scores = None if asked is None else monitor.count_scores(*asked)

    def report(self, found: Diagnosis) -> str:
        """The report on a diagnosis."""
        return report_html(diagnosis_object(found), self._series(found), self._curve(found))

    def _series(self, found: Diagnosis) -> dict[str, object]:
        snapshot = self._monitor.snapshot()
        opens, cells = self._days.steps(self._days.series(found.model)[0])
        cells = known(cells)
        labelling = settings_of(self._monitor.config, found.model).labelling
        if labelling is Labelling.NEGATIVES_BY_TIMEOUT:
            cells = settled(cells)
        about = background(snapshot, named(snapshot, found.model))
        return series_object(History(opens, cells), about, most=160)

    def _curve(self, found: Diagnosis) -> dict[str, object]:
        after = found.after
        if self._scores is not None:
            days = self._scores.days(found.model)
            scores = ScoreHistogram.zeros() if days is None else days.sum()
        else:
            scores = self._monitor.scores(found.model, after.opens or 0, after.closes or 0)
        objective = settings_of(self._monitor.config, found.model).objective.precision
        return curve_object(scores, **aim(found, objective))
