"""Numbers, times and ages as people read them; an em dash where one is not known."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import htpy as h

from monitor.diagnosis.label_silence import HALVES, LEAST_SILENCE_MS
from monitor.drift.recall_evidence import Because
from monitor.exporter.api.status_answer import ModelStatus
from monitor.exporter.api.window_answer import WindowStatus
from monitor.report.answer_parts import MetricInterval
from monitor.report.durations import duration_text
from monitor.report.points import points_text
from monitor.report.printable import one_line

UNDEFINED = "—"
_MINUS = "\N{MINUS SIGN}"
_DAY = timedelta(days=1)
_MINUTE, _HOUR = 60, 3_600
_NEGATIVE = re.compile(r"(?<![\w.)-])-(?=[\d.])|(?<= )-(?= \d)")
"""The hyphen before a number that is no part of a date, and the one of a difference."""
_SILENT, _PREDICTIONS = 6 * _HOUR, 50
_LONGEST_VERSION, _START_OF_VERSION, _END_OF_VERSION = 28, 12, 14


def version_name(name: str) -> h.Node:
    """Return the name of a version; of a long one both ends, the whole as its title.

    Args:
        name: of the version.

    >>> print(version_name("v7"), version_name("registry/scorer:2026-02-03-9d8c7b6a5f"))
    v7 <span title="registry/scorer:2026-02-03-9d8c7b6a5f">registry/sco…-03-9d8c7b6a5f</span>
    """
    shown = one_line(name)
    if len(shown) <= _LONGEST_VERSION:
        return shown
    return h.span(title=shown)[f"{shown[:_START_OF_VERSION]}…{shown[-_END_OF_VERSION:]}"]


def ratio(value: float | None, digits: int = 3) -> str:
    """Format a number between 0 and 1.

    Args:
        value: the number; None where it is not known.
        digits: behind the point; a number below 0.01 shows two significant digits.

    >>> ratio(0.4566), ratio(None), ratio(0.00042)
    ('0.457', '—', '0.00042')
    """
    if value is None:
        return UNDEFINED
    small = 0.01
    return f"{value:#.2g}" if 0 < abs(value) < small else f"{value:.{digits}f}"


def interval(metric: MetricInterval, digits: int = 3) -> str:
    """Format both limits of a metric.

    Args:
        metric: with its limits.
        digits: behind the point.

    Returns:
        "" where a limit is not known.
    """
    if metric.lower is None or metric.upper is None:
        return ""
    return f"{ratio(metric.lower, digits)} to {ratio(metric.upper, digits)}"


def points(value: float | None) -> str:
    """Format a fraction of precision as points, with its sign.

    >>> points(0.2339), points(-0.00001)
    ('+23.4', '0.0')
    """
    if value is None:
        return UNDEFINED
    return points_text(value).replace("-", _MINUS)


def signed(value: float | None, digits: int = 2) -> str:
    """Format a number with its sign.

    Args:
        value: the number; None where it is not known.
        digits: behind the point.
    """
    if value is None:
        return UNDEFINED
    text = f"{value:+.{digits}f}"
    return text.replace("-", _MINUS) if float(text) else text[1:]


def percent(value: float | None) -> str:
    """Format a share in percent."""
    return UNDEFINED if value is None else f"{100 * value:.1f} %"


def count(value: int | None) -> str:
    """Format a whole number."""
    return UNDEFINED if value is None else f"{value:,}"


def moment(text: str | None) -> str:
    """Format a time of the API, to the minute, UTC.

    >>> moment("2013-09-30T21:00:00Z"), moment("2013-09-30T00:00:00Z")
    ('2013-09-30 21:00', '2013-09-30')
    """
    if text is None:
        return UNDEFINED
    return text[:10] if text[11:16] == "00:00" else f"{text[:10]} {text[11:16]}"


def period(opens: str | None, closes: str | None) -> str:
    """Format a period [opens, closes) by its first and last day.

    Args:
        opens: first moment, as the API gives it.
        closes: first moment after it.

    >>> period("2013-07-01T00:00:00Z", "2013-08-01T00:00:00Z")
    '1 Jul to 31 Jul 2013'
    >>> period("2013-07-01T06:00:00Z", "2013-07-01T18:00:00Z")
    '2013-07-01 06:00 to 2013-07-01 18:00'
    """
    if opens is None or closes is None:
        return "no time known"
    first, end = (time_of(text) for text in (opens, closes))
    if any((time.hour, time.minute, time.second) != (0, 0, 0) for time in (first, end)):
        return f"{moment(opens)} to {moment(closes)}"
    last = end - _DAY
    if first == last:
        return f"{first.day} {first:%b %Y}"
    year = "" if first.year == last.year else f" {first:%Y}"
    return f"{first.day} {first:%b}{year} to {last.day} {last:%b %Y}"


def range_text(opens: str | None, closes: str | None) -> str:
    """Format a period as the API reads it, A..B.

    Args:
        opens: first moment, as the API gives it.
        closes: first moment after it.

    Returns:
        "" where the period is not known.
    """
    if opens is None or closes is None:
        return ""
    ends = [
        text[:10] if text.endswith("T00:00:00Z") else text.removesuffix(":00Z")
        for text in (opens, closes)
    ]
    return "..".join(ends)


def time_of(text: str) -> datetime:
    """Parse a time of the API."""
    return datetime.fromisoformat(text).astimezone(UTC)


def duration(seconds: float | None) -> str:
    """Format a length of time, roughly."""
    return UNDEFINED if seconds is None else duration_text(seconds)


def event_time(model: ModelStatus) -> h.Node:
    """Return the event time of a model, and how far it is behind the others."""
    late = model.behind
    return moment(model.now) if late is None else [f"{moment(model.now)}, ", h.span(".warn")[late]]


def last_prediction(model: ModelStatus) -> str:
    """Say how long ago a model last predicted, in event time."""
    age = model.last_prediction_age_seconds
    if age is None and model.last_prediction is not None:
        return f"at {moment(model.last_prediction)}"
    if age is None:
        return "none yet" if not model.predictions else "none for a year"
    return "less than a minute ago" if age < _MINUTE else f"{duration(age)} ago"


def last_label(model: ModelStatus) -> str:
    """Say how long ago the latest label of a model is dated, in event time."""
    age = model.last_label_age_seconds
    if age is None:
        return "none yet" if not model.labels_came else "none for 90 days"
    return "less than an hour ago" if age < _HOUR else f"{duration(age)} ago"


def reaches_back(model: ModelStatus, window: WindowStatus) -> bool:
    """Return whether a window is not compared, as it holds time of the model's reference.

    Args:
        model: with its reference.
        window: of that model.
    """
    closes = None if model.reference is None else model.reference.close
    if window.verdict_because is not Because.NO_REFERENCE or closes is None or window.open is None:
        return False
    return time_of(window.open) < time_of(closes)


def is_silent(model: ModelStatus) -> bool:
    """Return whether a model has not predicted for far longer than it usually takes.

    That is six hours at least, and the time in which it usually predicts fifty times.
    """
    age, window = model.last_prediction_age_seconds, model.windows[model.verdict_window]
    if age is None or not window.predictions or window.open is None or window.close is None:
        return False
    length = (time_of(window.close) - time_of(window.open)).total_seconds()
    return age > max(_SILENT, _PREDICTIONS * length / window.predictions)


def lacks_labels(model: ModelStatus) -> bool:
    """Return whether the last label is older than a day and than labels need to come.

    That is 2.5 times as long as half of them take, from three days on, and at most the maturity.
    """
    age = model.last_label_age_seconds
    if age is None:
        return bool(model.labels_came)
    delay, need = model.label_delay, model.maturity_seconds or 0.0
    if delay is not None and delay.half_within_seconds is not None:
        need = min(need, max(LEAST_SILENCE_MS / 1000, HALVES * delay.half_within_seconds))
    return age > max(_DAY.total_seconds(), need)


def coded(text: str) -> list[h.Node]:
    """Return a text for people with what stands between backticks as code."""
    parts = one_line(minus(text)).split("`")
    return [h.code[part] if place % 2 else part for place, part in enumerate(parts)]


def minus(text: str) -> str:
    """Write the minus signs of numbers in a text as such, and leave hyphens alone.

    >>> minus("-23.2 points (-36.2 to -10.2), from 2013-07-01").replace(_MINUS, "minus ")
    'minus 23.2 points (minus 36.2 to minus 10.2), from 2013-07-01'
    >>> minus("0.84 logit(score) - 0.58").replace(_MINUS, "minus")
    '0.84 logit(score) minus 0.58'
    """
    return _NEGATIVE.sub(_MINUS, text)
