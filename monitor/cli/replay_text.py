"""Text output of `replay`: the prediction counts of each model, its windows and metrics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from textwrap import wrap

from monitor.config import Labelling
from monitor.config.quantities import count_of
from monitor.counts import Outcome
from monitor.drift.checked_estimate import ESTIMATED_RATES
from monitor.drift.recall_evidence import Because
from monitor.events.columns import OTHER_VALUE
from monitor.labels.error_words import audits_note
from monitor.labels.faults import LabelFault
from monitor.labels.refusals import MANY_CLASSES, clipped_texts
from monitor.labels.regime import LabelRegime
from monitor.metrics.score_intervals import Interval
from monitor.report.audit_words import live_following
from monitor.report.class_text import OTHER_CLASS, classes_text
from monitor.report.class_words import POOLED_CELLS, WHOLE_WORDS
from monitor.report.deciding_window import deciding_window, window_opens
from monitor.report.estimate_words import rests_on
from monitor.report.findings import of_model
from monitor.report.label_answer import clipped_classes, label_errors_text
from monitor.report.label_words import LABEL_FAULTS, LABELLINGS, WINDOW_STATUSES
from monitor.report.missing_evidence import missing_evidence
from monitor.report.prediction_words import degenerate_since
from monitor.report.printable import one_line
from monitor.report.reference_answer import stand_in_text, whom_it_pages
from monitor.report.reference_text import (
    far_text,
    level_phrase,
    mixed_text,
    prevalence_text,
    reference_text,
    warming_up_text,
)
from monitor.report.table_cells import minute, ratio_text
from monitor.report.trend_answer import trend_text
from monitor.report.two_answers import is_model_worse, what_moved_precision
from monitor.report.unused_windows import unused_windows_text
from monitor.report.version_news_words import news_sentences
from monitor.report.visible_fall import visible_fall
from monitor.report.vocabulary import BECAUSE, TEXT_METRICS
from monitor.report.without_labels import without_labels
from monitor.snapshot import ModelState, Snapshot, Window
from monitor.verdicts import WindowVerdict

_COLUMNS_WIDE = 100
_NAMED = 5
_MATURE = "mature"
_BALANCED = "balanced: precision if half were positive"


ScoreTexts = Callable[[ModelState], str]
"""Gives the distribution of the scores of a model, in sentences; "" without scores."""


def _no_scores(_: ModelState) -> str:
    return ""


def replay_text(snapshot: Snapshot, scores: ScoreTexts = _no_scores) -> str:
    """Return a block for each model.

    Args:
        snapshot: the state after the last event.
        scores: of a model of which no metric is known.
    """
    return "\n\n".join("\n".join(_model(snapshot, model, scores)) for model in snapshot.models)


def _model(snapshot: Snapshot, model: ModelState, scores: ScoreTexts) -> Iterator[str]:
    yield _prediction_counts(model)
    windows = [snapshot.lifetime, *snapshot.windows_of(model)]
    yield ""
    if model.matched or windows[0].counts[model.row].cells.any():
        yield from _outcomes(windows, model, known=snapshot.now_ms is not None)
        yield ""
        yield from _metrics(windows, model)
        yield ""
    yield from _wrong_labels(windows, model)
    yield from _refused(windows, model)
    for window in windows:
        classes = model.classes.get(window.name)
        if classes is not None and classes.predictions.any():
            yield from classes_text(window.name, classes)
    if any(OTHER_VALUE in found.names for found in model.classes.values()):
        yield from _told(OTHER_CLASS)
    if unused := unused_windows_text(model.unused_windows):
        yield from _told(unused)
    yield from _found(snapshot, model, scores)


def _refused(windows: Sequence[Window], model: ModelState) -> Iterator[str]:
    """Yield what cannot be known, and why, each reason once.

    The tables of a model of many classes have what is defined for them, and nothing else.
    """
    faults = (window.fault_of(model.row) for window in windows)
    for reason in dict.fromkeys([*model.refused.values(), *filter(None, faults)]):
        if reason != MANY_CLASSES:
            yield from _told(_reason(reason, Labelling(model.labelling)))


def _wrong_labels(windows: Sequence[Window], model: ModelState) -> Iterator[str]:
    """Yield that labels have errors, and where the correction for them ends at 0."""
    if not (text := label_errors_text(model)):
        return
    yield from _told(f"{text}; outcomes are as labelled" if model.label_errors.known else text)
    for window in windows:
        for clipped in clipped_texts(*clipped_classes(model, window)):
            yield from _told(f"{window.name}: {clipped}")


def _reason(reason: str, labelling: Labelling) -> str:
    if reason == labelling:
        return f"labelling {labelling}: {LABELLINGS[labelling].withheld}"
    row = LABEL_FAULTS[LabelFault(reason)]
    return f"{row.words}: {row.withheld}"


def _prediction_counts(model: ModelState) -> str:
    predictions = model.predictions_positive + model.predictions_negative
    states = {
        "labelled": model.matched,
        "pending": model.pending,
        "expired": model.expired,
        "evicted": model.evicted,
        "again": model.duplicates,
        "of shadow versions": _of_shadows(model),
    }
    shown = [
        f"{n:,} {state}" for state, n in states.items() if n or state in ("labelled", "pending")
    ]
    return f"{one_line(model.name)}: {count_of(predictions, 'prediction')}; {', '.join(shown)}."


def _of_shadows(model: ModelState) -> int:
    """Return how many predictions of shadow versions came, which are none of the others."""
    now = model.versions_now
    return 0 if now is None or now.shadows is None else sum(now.shadows.predictions.values())


def _outcomes(windows: Sequence[Window], model: ModelState, *, known: bool) -> Iterator[str]:
    row, cells = model.row, {cell.name.lower(): cell for cell in Outcome}
    if model.classes:
        cells = POOLED_CELLS
    yield f"  {'window':<8}{''.join(f'{name:>10}' for name in cells)}  from, to (UTC)"
    for number, window in enumerate(windows):
        counted = window.counts[row].cells
        counts = "".join(f"{counted[cell]:>10,}" for cell in cells.values())
        bounds = f"{minute(window.open[row])}, {minute(window.close[row])}"
        status = str(window.status[row]) if number and len(window.status) else _MATURE
        yield f"  {window.name:<8}{counts}  {bounds if number and known else 'everything'}"
        if status != _MATURE:
            yield f"  {'':<8}{WINDOW_STATUSES[status]}"


def _metrics(windows: Sequence[Window], model: ModelState) -> Iterator[str]:
    words = WHOLE_WORDS if model.classes else TEXT_METRICS
    yield f"  {'':<8}" + "".join(f"{metric.short:>13}" for metric in words)
    for window in windows:
        found = list(_of_window(window, model))
        yield f"  {window.name:<8}" + "".join(f"{ratio_text(one.estimate):>13}" for one in found)
        ends = [_interval(one.lower, one.upper) for one in found]
        if any(ends):
            yield f"  {'':<8}" + "".join(f"{end:>13}" for end in ends)
    note = "macro: mean over the classes" if model.classes else _BALANCED
    yield f"  below each ratio its 95 % interval; {note}"


def _of_window(window: Window, model: ModelState) -> Iterator[Interval]:
    """Yield the metrics of a window that are defined for as many classes as the model has."""
    if model.classes:
        classes = model.classes[window.name]
        yield from (Interval(*map(float, words.of(classes))) for words in WHOLE_WORDS)
        return
    for metric in TEXT_METRICS:
        found = window.metrics[metric.name]
        ends = (found.estimate, found.lower, found.upper)
        yield Interval(*(float(one[model.row]) for one in ends))


def _found(snapshot: Snapshot, model: ModelState, scores: ScoreTexts) -> Iterator[str]:
    """Yield the two answers, the verdicts of the windows, and the detections."""
    watched = model.watched
    yield from _alarm(model)
    if model.labelling == Labelling.FLAGGED_ONLY:
        yield from _labels(snapshot, model)
        return
    if watched.reference is not None:
        yield from _told(f"compared with {reference_text(watched.reference)}")
        yield from _told(stand_in_text(watched.awaited))
        yield from _told(whom_it_pages(watched.reference))
        yield from _told(warming_up_text(watched) or "")
        yield from _told(mixed_text(watched.reference))
        yield from _told(prevalence_text(watched.reference))
    yield from _answers(snapshot, model)
    yield from _labels(snapshot, model)
    used = {window.name: window for window in snapshot.windows_of(model)}
    for name, found in watched.verdicts.items():
        if name in used:
            yield from _verdict(model, used[name], found)
    yield from _before_labels(snapshot, model, scores)
    if watched.trend is not None:
        yield from _told(f"trend: {trend_text(watched.trend)}")
    for detection in watched.detections:
        of_class = f" of {one_line(detection.of_class)}" if detection.of_class else ""
        yield f"  {minute(detection.at)}  detected: {detection.kind}{of_class}"
    for missing in watched.missing_labels[:_NAMED]:
        yield (
            f"  labels missing in {one_line(f'{missing.segment} {missing.value}')}: "
            f"{_percent(missing.share)}, elsewhere {_percent(missing.elsewhere)}"
        )
    if len(watched.missing_labels) > _NAMED:
        yield f"  and in {len(watched.missing_labels) - _NAMED} more (--json has all)"


def _labels(snapshot: Snapshot, model: ModelState) -> Iterator[str]:
    """Yield what audits show of labels, or that there should be some."""
    if model.audits is not None:
        yield from _told(audits_note(model.audits, LabelRegime.now(model)))
    if following := live_following(snapshot, model):
        yield from _told(following)


def _verdict(model: ModelState, window: Window, found: WindowVerdict) -> Iterator[str]:
    """Yield the verdict on a window, and in brackets the reason why there is none.

    One against the model's level, and not against the reference above all windows, says so.
    """
    if found.label_fault:
        words = LABEL_FAULTS[LabelFault(found.label_fault)].words
    elif found.because is not None and found.judgement is None:
        words = missing_evidence(model, window, found) or ""
    else:
        words = "" if found.because is None else BECAUSE[found.because].title.lower()
    level = "" if found.level is None else level_phrase(found.level.opens, found.level.closes)
    against = f", {level}" if level else ""
    yield f"  {window.name:<8}{found.verdict}" + (f" ({words})" if words else against)
    if found.far_from_reference:
        yield from _told(f"CAUTION: {far_text(found)}")


def so_far_text(snapshot: Snapshot, model: ModelState, scores: ScoreTexts) -> str:
    """Return the two answers, and all that is known while labels do not decide them.

    Args:
        snapshot: the state after the last event.
        model: one of its models.
        scores: of a model of which no metric is known.
    """
    known = _answers(snapshot, model), _before_labels(snapshot, model, scores)
    return "\n".join((*_alarm(model), *chain.from_iterable(known)))


def _alarm(model: ModelState) -> Iterator[str]:
    """Yield what predictions alone show to be wrong, which the answers name in short."""
    if alarm := degenerate_since(model.watched.predictions):
        yield f"  ALARM: {alarm}"


def _answers(snapshot: Snapshot, model: ModelState) -> Iterator[str]:
    deciding = deciding_window(model, [window.name for window in snapshot.windows])
    seen = of_model(snapshot, model, deciding)
    if model.watched.degradation_detected:
        began = f" ({seen.with_version})" if seen.with_version else ""
        yield from _told(f"pages: the model certainly degraded, and has not recovered{began}")
    yield from _told(f"What moved precision? {what_moved_precision(seen).text}.")
    worse = is_model_worse(seen)
    yield from _told(f"Is the model worse? {worse.text}.")
    if visible := visible_fall(seen.because, worse):
        yield from _told(visible)
    if seen.because == Because.MOVED and worse.answer != "yes":
        words = BECAUSE[Because.MOVED]
        yield from _told(f"{words.title}. {words.meaning}")
    opens = window_opens(snapshot, model, deciding)
    for sentence in news_sentences(model.watched.began, model.watched.new_version, opens):
        yield from _told(sentence)


def _before_labels(snapshot: Snapshot, model: ModelState, scores: ScoreTexts) -> Iterator[str]:
    """Yield what is known ahead of labels: estimates; all there is while no metric is known."""
    unlabelled = without_labels(snapshot, model)
    if unlabelled is None:
        yield from _estimated(model)
        return
    for sentence in (unlabelled.text, *unlabelled.known, scores(model)):
        yield from _told(sentence)


def _estimated(model: ModelState) -> Iterator[str]:
    """Yield the estimates of each window ahead of its labels, and what they rest on."""
    for window, found in model.watched.verdicts.items():
        if found.nowcast is None:
            continue
        for name in ESTIMATED_RATES:
            rate = getattr(found.nowcast, name)
            if rate.withheld is None and rate.upper > rate.lower:
                ends = f"({_interval(rate.lower, rate.upper)})"
                yield from _told(
                    f"{window} to {minute(found.nowcast.close)}, {name} "
                    f"{ratio_text(rate.estimate)} {ends}: estimated {rests_on(rate)}"
                )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _told(text: str) -> list[str]:
    return wrap(text, _COLUMNS_WIDE, initial_indent="  ", subsequent_indent="    ")


def _interval(lower: float, upper: float) -> str:
    return f"{ratio_text(lower)}-{ratio_text(upper)}" if math.isfinite(lower) else ""
