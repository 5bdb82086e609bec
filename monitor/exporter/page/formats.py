"""Numbers, times and ages as people read them; an em dash where one is not known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from monitor.exporter.api.status_answer import ModelStatus
from monitor.report.answer_parts import MetricInterval

UNDEFINED = "—"
_MINUS = "\N{MINUS SIGN}"
_DAY = timedelta(days=1)
_MINUTE, _HOUR = 60, 3_600


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
    return f"{value:.2g}" if 0 < abs(value) < small else f"{value:.{digits}f}"


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
    text = f"{100 * value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", _MINUS)


def signed(value: float | None, digits: int = 2) -> str:
    """Format a number with its sign.

    Args:
        value: the number; None where it is not known.
        digits: behind the point.
    """
    return UNDEFINED if value is None else f"{value:+.{digits}f}".replace("-", _MINUS)


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
    ends = [text[:10] if text.endswith("T00:00:00Z") else text for text in (opens, closes)]
    return "..".join(ends)


def time_of(text: str) -> datetime:
    """Parse a time of the API."""
    return datetime.fromisoformat(text).astimezone(UTC)


def duration(seconds: float | None) -> str:
    """Format a length of time, roughly.

    >>> duration(43_200), duration(7_200), duration(90), duration(1_000_000)
    ('12 hours', '2 hours', '90 seconds', '11.6 days')
    """
    if seconds is None:
        return UNDEFINED
    for size, unit in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}".replace(".0 ", " ")
    return f"{seconds:.0f} seconds"


def last_prediction(model: ModelStatus) -> str:
    """Say how long ago a model last predicted, in event time."""
    age = model.last_prediction_age_seconds
    if age is None and model.last_prediction is not None:
        return f"last prediction at {moment(model.last_prediction)}"
    if age is None:
        return "no prediction yet" if not model.predictions else "no prediction for a year"
    return f"last prediction {'under a minute' if age < _MINUTE else duration(age)} ago"


def last_label(model: ModelStatus) -> str:
    """Say how long ago the latest label of a model is dated, in event time."""
    age = model.last_label_age_seconds
    if age is None:
        return "no label yet" if not model.labelled else "no label for 90 days"
    return f"last label {'under an hour' if age < _HOUR else duration(age)} ago"
