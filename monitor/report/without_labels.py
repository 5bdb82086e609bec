"""The answer for a model without any metric: its predictions, its labels, an event to send."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from monitor.clock import DAY_MS
from monitor.config.quantities import count_of, format_time
from monitor.events.label_totals import LabelTotals
from monitor.report.answer_parts import Share, defined
from monitor.report.durations import duration_text
from monitor.report.estimate_words import rests_on
from monitor.report.missing_evidence import day_text
from monitor.report.prediction_words import NO_ALARM, degenerate_text
from monitor.report.rate_changes import short
from monitor.report.vocabulary import JSON_METRICS, METRIC_WORDS
from monitor.snapshot import ModelState, Snapshot, Window

_ID = "ID-OF-ITS-PREDICTION"
_MAPPING = "{type: file, path: labels.csv, fields: {id: COLUMN, ts: COLUMN, label: COLUMN}}"
_NOTHING = "there is no reference with labels to estimate from"
_FEWEST = 30
"""Predictions of a window below which their share of flagged cases is not named."""
_HUNDRED = 100
"""Labels below which the delay of 99 of 100 is not named."""
_NOTHING_MATURE = "no label is mature yet"


class UsualRate(Struct, frozen=True, kw_only=True):
    """The share of predicted positives to compare the present one with.

    Attributes:
        rate: predicted positives over all predictions.
        source: `reference`, or `all` for every prediction ever counted.
    """

    rate: Share
    source: Literal["reference", "all"]


class LabelDelay(Struct, frozen=True, kw_only=True):
    """How long after its prediction a label comes, of all labels in force.

    Attributes:
        labels: how many they are.
        mean_seconds: their mean delay.
        half_within_seconds: half of them came within this delay, or sooner; null where that
            is beyond the longest delay that is told apart.
        most_within_seconds: 99 % of them did; null likewise.
    """

    labels: int
    mean_seconds: float
    half_within_seconds: float | None
    most_within_seconds: float | None


class WithoutLabels(Struct, frozen=True, kw_only=True):
    """A model with predictions of which no metric is known.

    Attributes:
        reason: `none_yet` where no label has come and none is overdue, `expired` where
            predictions expired without one, `stopped` where labels came and no longer do,
            `too_recent` where the labels belong to predictions that windows do not show yet.
        text: the same in a sentence, with the numbers of predictions.
        known: what predictions alone show, in sentences.
        lost: labels that count for no prediction of any model, in a sentence; null for none.
        send: an event that labels a prediction, and the feed that maps a table of them; empty
            where labels come.
    """

    reason: Literal["none_yet", "expired", "stopped", "too_recent"]
    text: str
    known: tuple[str, ...]
    lost: str | None
    send: tuple[str, ...]


def predicted_positive_rate(window: Window, row: int) -> float | None:
    """Return the share of predicted positives of a series in a window; None without predictions.

    Args:
        window: of the snapshot.
        row: of the series.
    """
    positive, negative = window.predicted_positive[row], window.predicted_negative[row]
    return _share(float(positive), float(positive + negative))


def usual_rate(model: ModelState) -> UsualRate | None:
    """Return the share of predicted positives of the reference, else of all predictions ever.

    Returns:
        None without predictions, and of a model of many classes, which flags nothing.
    """
    if model.classes:
        return None
    reference = model.watched.reference
    if reference is not None:
        counts = reference.counts
        rate = _share(float(counts.predicted_positive), float(counts.total))
        return None if rate is None else UsualRate(rate=rate, source="reference")
    made = model.predictions_positive + model.predictions_negative
    rate = _share(model.predictions_positive, made)
    return None if rate is None else UsualRate(rate=rate, source="all")


def label_delay(model: ModelState) -> LabelDelay | None:
    """Return how long the labels of a model take; None where that is not known.

    It is not where no label came, or none later than its prediction, as of outcomes whose records
    do not say when the label came.

    Args:
        model: of a snapshot.
    """
    labels = int(model.delay_counts.sum())
    if not labels or not model.delay_sum.any():
        return None
    half, most = map(defined, model.delay_within)
    return LabelDelay(
        labels=labels,
        mean_seconds=float(model.delay_sum.sum()) / labels,
        half_within_seconds=half,
        most_within_seconds=most,
    )


def delay_text(delay: LabelDelay) -> str:
    """Return how many labels came, and how long they took, a clause.

    The delay of 99 of 100 is named from a hundred labels on, and where it is more than none.

    Args:
        delay: of the labels of a model.

    >>> delays = {"mean_seconds": 7_200, "half_within_seconds": 3_600}
    >>> delay_text(LabelDelay(labels=120, **delays, most_within_seconds=86_400))
    '120, 2 hours after the prediction on average; 99 of 100 within 24 hours'
    >>> delay_text(LabelDelay(labels=99, **delays, most_within_seconds=86_400))
    '99, 2 hours after the prediction on average'
    """
    text = f"{delay.labels:,}, {duration_text(delay.mean_seconds)} after the prediction on average"
    if delay.labels < _HUNDRED or not delay.most_within_seconds:
        return text
    return f"{text}; 99 of 100 within {duration_text(delay.most_within_seconds)}"


def without_labels(snapshot: Snapshot, model: ModelState) -> WithoutLabels | None:
    """Return what is known of a model while no metric is; None where one is, or nothing came.

    Args:
        snapshot: the state.
        model: one of its models.
    """
    made = model.predictions_positive + model.predictions_negative
    if not made or any(_has_metric(window, model.row) for window in snapshot.windows_of(model)):
        return None
    reason = _reason(model)
    if reason is None:
        return None
    second = (model.now_ms or 0) // 1000 * 1000
    event = {"type": "label", "id": _ID, "ts": format_time(second), "label": _a_class(model)}
    return WithoutLabels(
        reason=reason,
        text=_text(model, made, reason, snapshot.now_ms),
        known=(*_so_far(snapshot.lifetime, model), *_known(snapshot, model)),
        lost=_lost(snapshot.labels),
        send=() if reason == "too_recent" else (json.dumps(event), _MAPPING),
    )


def _a_class(model: ModelState) -> int | str:
    """Return a class that a label may have."""
    report = model.classes.get("all")
    return report.names[0] if report is not None and report.names else 1


def _has_metric(window: Window, row: int) -> bool:
    return any(math.isfinite(window.metrics[name].estimate[row]) for name in JSON_METRICS)


def _reason(model: ModelState) -> Literal["none_yet", "expired", "stopped", "too_recent"] | None:
    if not model.labelled and not model.matched:
        return "expired" if model.expired else "none_yet"
    if model.now_ms is None:  # event time has not begun: no label is older than a day
        return "too_recent"
    if model.last_label_ms is None:
        return "stopped"
    if model.now_ms - model.last_label_ms >= max(DAY_MS, model.maturity_ms or 0):
        return "stopped"
    faults = (found.label_fault for found in model.watched.verdicts.values())
    return None if any(faults) else "too_recent"


def _waits(number: int) -> str:
    return "waits" if number == 1 else "wait"


def _text(model: ModelState, made: int, reason: str, now_ms: int | None) -> str:
    """Return the reason in a sentence; labels are as old as by the model furthest on.

    A model of which nothing comes has no later time of its own, and its labels age all the same.
    """
    limit = model.label_timeout_ms
    timeout = "" if limit is None else duration_text(limit / 1000)
    expired = (
        f"{model.expired:,} expired without a label {timeout} after they were made "
        "(`label_timeout`)"
    )
    waiting = f"{count_of(model.pending, 'prediction')} {_waits(model.pending)} for one"
    waiting = waiting if model.pending else "no prediction waits for one"
    if reason == "none_yet":
        ends = f"; each expires {timeout} after it was made (`label_timeout`)" if timeout else ""
        waits = f"No label has come: {count_of(made, 'prediction')} {_waits(made)} for one{ends}."
        return waits + _earliest_reference(model)
    if reason == "expired":
        of_all = f"of {count_of(made, 'prediction')} {expired}"
        return f"No label has come: {of_all}, {model.pending:,} {_waits(model.pending)}."
    if reason == "stopped":
        last = "more than 90 days ago"
        if now_ms is not None and model.last_label_ms is not None:
            last = f"{duration_text((now_ms - model.last_label_ms) / 1000)} ago"
        lapsed = f"; {expired}" if model.expired else ""
        return f"The last label is from {last}: {waiting}{lapsed}."
    wait = model.maturity_ms
    age = "old enough" if not wait else f"{duration_text(wait / 1000)} old"
    so_far = ", as far as known yet" if wait and not model.maturity_settled else ""
    return (
        f"{model.labelled:,} of {count_of(made, 'prediction')} "
        f"{'has' if model.labelled == 1 else 'have'} a label. Windows show predictions that are "
        f"{age}, when nearly all labels have come{so_far}; there are none yet."
    )


def _earliest_reference(model: ModelState) -> str:
    """Return when a model without any label can have a reference, a sentence; "" if not known."""
    awaited = model.watched.awaited
    if awaited is None or model.now_ms is None or awaited.about_ms <= model.now_ms:
        return ""
    return (
        f" With labels, the reference is complete on {day_text(awaited.about_ms)} at the earliest."
    )


def _so_far(lifetime: Window, model: ModelState) -> Iterator[str]:
    """Yield the metrics of everything that has a label, mature or not."""
    shown = []
    for name in ("precision", "recall"):
        ends = [bound[model.row] for bound in lifetime.metrics[name]]
        if all(map(math.isfinite, ends)):
            estimate, lower, upper = (short(float(end), 2) for end in ends)
            words = "accuracy" if model.classes else METRIC_WORDS[name].words
            shown.append(f"{words} {estimate} ({lower} to {upper})")
    if shown:
        yield (
            f"Of all {model.matched:,} labelled so far (labels that arrive early are "
            f"over-represented): {', '.join(shown)}."
        )


def _known(snapshot: Snapshot, model: ModelState) -> Iterator[str]:
    if not model.classes:
        yield from _by_predictions(snapshot, model)
    delay = label_delay(model)
    if delay is not None:
        yield f"Labels so far: {delay_text(delay)}."


def _made(window: Window, model: ModelState) -> int:
    row = model.row
    return int(window.predicted_positive[row] + window.predicted_negative[row])


def _by_predictions(snapshot: Snapshot, model: ModelState) -> Iterator[str]:
    """Yield what the predictions of a model of two classes show."""
    rates = [
        f"{short(rate, 3)} over the last {window.name}"
        for window in snapshot.windows_of(model)
        if _made(window, model) >= _FEWEST
        and (rate := predicted_positive_rate(window, model.row)) is not None
    ]
    usual = usual_rate(model)
    beside = "" if usual is None else short(usual.rate, 3)
    source = "in the reference" if usual is not None and usual.source == "reference" else "so far"
    flagged = ", ".join([*rates, f"{beside} {source}"] if beside else rates)
    if flagged:
        yield f"Share of flagged cases: {flagged}."
    if wrong := degenerate_text(model.watched.predictions):
        yield f"The model {wrong}."
    elif model.watched.predictions.known:
        yield f"Predictions alone give {NO_ALARM}."
    yield from _estimates(model)


def _estimates(model: ModelState) -> Iterator[str]:
    """Yield the estimates ahead of labels by window, and once why others are withheld."""
    withheld: dict[str, None] = {}
    for name, found in model.watched.verdicts.items():
        if found.nowcast is None:
            continue
        day = day_text(found.nowcast.close)
        for metric in ("precision", "prevalence"):
            one, words = getattr(found.nowcast, metric), METRIC_WORDS[metric]
            if one.withheld is not None:
                withheld[rests_on(one).removeprefix("no estimate: ")] = None
                continue
            ends = f"{short(one.lower, 3)} to {short(one.upper, 3)}"
            yield (
                f"{words.title} of the {name} to the start of {day} is estimated at "
                f"{short(one.estimate, 3)} ({ends}), {rests_on(one)}."
            )
    none = not any(one.nowcast for one in model.watched.verdicts.values())
    given = model.watched.reference is None and model.watched.awaited is None
    if reasons := [*withheld] or [_NOTHING_MATURE if given else _NOTHING] * none:
        yield f"Precision and prevalence are not estimated: {'; '.join(reasons)}."


def _lost(labels: LabelTotals) -> str | None:
    parts = [
        f"{number:,} {one if number == 1 else many}"
        for number, one, many in (
            (
                labels.held,
                "waits for a prediction with its id",
                "wait for a prediction with their id",
            ),
            (labels.orphaned, "never found one", "never found one"),
            (labels.late, "came after `label_timeout`", "came after `label_timeout`"),
            (
                labels.misnamed,
                "names a class that its model does not have",
                "name a class that their model does not have",
            ),
        )
        if number
    ]
    if not parts:
        return None
    compared = "ids, times and classes" if labels.misnamed else "ids and times"
    return f"Of the labels of all models, {', '.join(parts)}: compare their {compared}."


def _share(part: float, whole: float) -> float | None:
    return min(max(part / whole, 0.0), 1.0) if whole > 0 else None
