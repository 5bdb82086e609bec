"""Data of `diagnose --html` besides the diagnosis: the model over time, and its scores.

Created before the events are counted, and read after.
"""

from __future__ import annotations

from collections.abc import Mapping

from monitor.cli.remote import Remote
from monitor.clock import DAY_MS
from monitor.config import Labelling
from monitor.diagnosis import Diagnosis
from monitor.diagnosis.recorded import settings_of
from monitor.diagnosis.time_ranges import parse_time_range
from monitor.engine import Monitor
from monitor.events.columns import EARLIEST_MS, LATEST_MS
from monitor.exporter.api.curve import curve_answer
from monitor.exporter.api.curve_answer import CurveAnswer
from monitor.exporter.api.explanation import curve_aim, curve_regime
from monitor.exporter.api.find_model import find_model
from monitor.exporter.api.queries import series_context
from monitor.exporter.api.series import series_answer
from monitor.exporter.api.series_answer import SeriesAnswer
from monitor.exporter.page.html_report import report_html
from monitor.join.deltas import known, unlabelled_as_negative
from monitor.metrics.histogram import ScoreHistogram
from monitor.report.diagnosis_answer import DiagnosisAnswer
from monitor.report.diagnosis_json import diagnosis_answer
from monitor.windows.history import History


class ReportData:
    """Counts outcomes by day, and scores in the judged time range.

    Args:
        monitor: the engine that will count the events.
        after: `--after` of the command line; None for the last mature days.
    """

    def __init__(self, monitor: Monitor, after: str | None) -> None:
        self._monitor = monitor
        self._days = monitor.count_range(EARLIEST_MS, LATEST_MS, DAY_MS)
        asked = None if after is None else parse_time_range("--after", after)
        self._scores = None if asked is None else monitor.count_scores(*asked)

    def report(self, found: Diagnosis) -> str:
        """Return the HTML report of a diagnosis."""
        return report_html(diagnosis_answer(found), self._series(found), self._curve(found))

    def _series(self, found: Diagnosis) -> SeriesAnswer:
        snapshot = self._monitor.snapshot()
        opens, cells = self._days.steps(self._days.series(found.model)[0])
        cells = known(cells)
        labelling = settings_of(self._monitor.config, found.model).labelling
        if labelling is Labelling.NEGATIVES_BY_TIMEOUT:
            cells = unlabelled_as_negative(cells)
        context = series_context(find_model(snapshot, found.model))
        return series_answer(History(opens, cells), context, most=160)

    def _curve(self, found: Diagnosis) -> CurveAnswer:
        after = found.after
        if self._scores is not None:
            days = self._scores.days(found.model)
            scores = ScoreHistogram.zeros() if days is None else days.sum()
        else:
            scores = self._monitor.scores(found.model, after.opens or 0, after.closes or 0)
        objective = settings_of(self._monitor.config, found.model).objective.precision
        ratio, wanted = curve_aim(found, objective)
        model = find_model(self._monitor.snapshot(), found.model)
        regime = curve_regime(found, model)
        return curve_answer(scores, reference_ratio=ratio, objective=wanted, regime=regime)


def remote_report(remote: Remote, query: Mapping[str, str | None]) -> str:
    """Return the report on a diagnosis of a running monitor.

    Args:
        remote: the running monitor.
        query: `model`, `before` and `after`, as its API takes them.

    Raises:
        UsageError: the periods cannot be compared.
        FeedError: it cannot be reached, or its version answers otherwise.
    """
    return report_html(
        remote.answer("diagnosis", query, DiagnosisAnswer),
        remote.answer("series", {"model": query["model"]}, SeriesAnswer),
        remote.answer("curve", query, CurveAnswer),
    )
