"""Numbers, times and verdicts as people read them; what is not known is an em dash."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from monitor.drift import Verdict

UNDEFINED = "—"
_MINUS = "\N{MINUS SIGN}"
Json = Mapping[str, Any]
"""An object as the API gives it."""

_DAY = timedelta(days=1)
_MINUTE, _HOUR = 60, 3_600


class Meaning(NamedTuple):
    """What a verdict is called, how it is drawn, and what it means.

    Attributes:
        name: in a few words.
        tone: class of its colour: good, world, bad, better, open, unknown.
        shape: of its sign, see `shapes`.
        sentence: what it means for whoever is on call.
    """

    name: str
    tone: str
    shape: str
    sentence: str


VERDICTS: Mapping[str, Meaning] = {
    Verdict.NO_CHANGE: Meaning(
        "No change",
        "good",
        "circle",
        "Neither the world nor the model changed by more than a little.",
    ),
    Verdict.PREVALENCE_SHIFT: Meaning(
        "Prevalence shifted",
        "world",
        "diamond",
        "The world changed: positives became rarer or more frequent. The model tells them "
        "from the others as well as before.",
    ),
    Verdict.MODEL_DEGRADED: Meaning(
        "Model degraded",
        "bad",
        "down",
        "The model tells positives from the others worse than before.",
    ),
    Verdict.MODEL_IMPROVED: Meaning(
        "Model improved",
        "better",
        "up",
        "The model tells positives from the others better than before.",
    ),
    Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED: Meaning(
        "Prevalence shifted and model degraded",
        "bad",
        "down",
        "Both: the world changed, and the model tells positives from the others worse.",
    ),
    Verdict.PREVALENCE_SHIFT_AND_MODEL_IMPROVED: Meaning(
        "Prevalence shifted and model improved",
        "better",
        "up",
        "Both: the world changed, and the model tells positives from the others better.",
    ),
    Verdict.OPERATING_POINT_MOVED: Meaning(
        "Operating point moved",
        "open",
        "sides",
        "Recall and false positives moved together, as when a threshold is changed or scores "
        "slide. That alone is neither better nor worse.",
    ),
    Verdict.INSUFFICIENT_EVIDENCE: Meaning(
        "Not enough evidence",
        "unknown",
        "ring",
        "What is certain does not suffice to say why. That does not mean that all is well.",
    ),
    Verdict.LABELS_NOT_TRUSTWORTHY: Meaning(
        "Labels not trustworthy",
        "open",
        "square",
        "The labels that came cannot stand for those that did not.",
    ),
}

METRICS: Mapping[str, tuple[str, str]] = {
    "precision": ("Precision", "of those flagged, the share that is positive"),
    "balanced_precision": (
        "Balanced precision",
        "precision if half of all cases were positive: prevalence has cancelled out",
    ),
    "prevalence": ("Prevalence", "share of all cases that is positive"),
    "recall": ("Recall", "of the positives, the share that is flagged"),
    "false_positive_rate": ("False-positive rate", "of the negatives, the share that is flagged"),
}
"""Names and meanings of the metrics that the page shows."""

CAUSES: Mapping[str, tuple[str, str]] = {
    "prevalence": ("Prevalence", "how frequent positives are"),
    "recall": ("Recall", "how many of them are found"),
    "false_positives": ("False positives", "how many others are flagged"),
}
"""The causes that add up to a change of precision."""

SOURCES: Mapping[str, str] = {
    "first": "the first days",
    "window": "the configured reference",
    "trailing": "the days just before",
    "counts": "counts from elsewhere",
    "mature": "the longest window",
}


def ratio(value: float | None, digits: int = 3) -> str:
    """A number between 0 and 1.

    >>> ratio(0.4566), ratio(None), ratio(0.00042)
    ('0.457', '—', '0.00042')
    """
    if value is None:
        return UNDEFINED
    small = 0.01
    return f"{value:.2g}" if 0 < abs(value) < small else f"{value:.{digits}f}"


def interval(metric: Json, digits: int = 3) -> str:
    """Both ends of a metric's interval."""
    if metric["lower"] is None or metric["upper"] is None:
        return ""
    return f"{ratio(metric['lower'], digits)} to {ratio(metric['upper'], digits)}"


def points(value: float | None) -> str:
    """A fraction of precision in points, with its sign.

    >>> points(0.2339), points(-0.00001)
    ('+23.4', '0.0')
    """
    if value is None:
        return UNDEFINED
    text = f"{100 * value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", _MINUS)


def signed(value: float | None, digits: int = 2) -> str:
    """A number with its sign."""
    return UNDEFINED if value is None else f"{value:+.{digits}f}".replace("-", _MINUS)


def percent(value: float | None) -> str:
    """A share in percent."""
    return UNDEFINED if value is None else f"{100 * value:.1f} %"


def count(value: int | None) -> str:
    """A whole number."""
    return UNDEFINED if value is None else f"{value:,}"


def moment(text: str | None) -> str:
    """A time of the API, to the minute, UTC.

    >>> moment("2013-09-30T21:00:00Z"), moment("2013-09-30T00:00:00Z")
    ('2013-09-30 21:00', '2013-09-30')
    """
    if text is None:
        return UNDEFINED
    return text[:10] if text[11:16] == "00:00" else f"{text[:10]} {text[11:16]}"


def stretch(opens: str | None, closes: str | None) -> str:
    """A stretch of time [opens, closes) by its first and last day.

    >>> stretch("2013-07-01T00:00:00Z", "2013-08-01T00:00:00Z")
    '1 Jul to 31 Jul 2013'
    >>> stretch("2013-07-01T06:00:00Z", "2013-07-01T18:00:00Z")
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


def asked(opens: str | None, closes: str | None) -> str:
    """The same as it can be written into a link or a form."""
    if opens is None or closes is None:
        return ""
    ends = [text[:10] if text.endswith("T00:00:00Z") else text for text in (opens, closes)]
    return "..".join(ends)


def time_of(text: str) -> datetime:
    """A time of the API."""
    return datetime.fromisoformat(text).astimezone(UTC)


def duration(seconds: float | None) -> str:
    """A length of time, roughly.

    >>> duration(43_200), duration(7_200), duration(90), duration(1_000_000)
    ('12 hours', '2 hours', '90 seconds', '11.6 days')
    """
    if seconds is None:
        return UNDEFINED
    for size, unit in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}".replace(".0 ", " ")
    return f"{seconds:.0f} seconds"


def last_prediction(model: Json) -> str:
    """How long ago a model last predicted, by event time."""
    age = model["last_prediction_age_seconds"]
    if age is None:
        return "no prediction yet" if not model["predictions"] else "no prediction for a year"
    said = "under a minute" if age < _MINUTE else duration(age)
    return f"last prediction {said} ago"


def last_label(model: Json) -> str:
    """How long before now a model's latest label is dated, by event time."""
    age = model["last_label_age_seconds"]
    if age is None:
        return "no label yet" if not model["labelled"] else "no label for 90 days"
    return f"last label {'under an hour' if age < _HOUR else duration(age)} ago"
