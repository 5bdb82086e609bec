"""The text that `diagnose` prints; at most 100 columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from textwrap import wrap

from monitor.clock import DAY_MS
from monitor.config.quantities import count_of
from monitor.counts import ConfusionCounts
from monitor.diagnosis import Diagnosis, SegmentPart, Side
from monitor.drift import Verdict
from monitor.report.advice import advice
from monitor.report.curve_change_text import curve_change_lines
from monitor.report.findings import of_diagnosis
from monitor.report.headline import certainties, headline
from monitor.report.label_quality_words import IF_LABELS_ARE_AS_BEFORE
from monitor.report.missing_class import missing_class
from monitor.report.points import points_text
from monitor.report.printable import one_line
from monitor.report.reference_answer import version_beginnings
from monitor.report.scatter_words import scatter_sentence
from monitor.report.score_text import correction_lines, score_lines
from monitor.report.segment_names import segment_name
from monitor.report.sentences import cause_status, explanation, footnotes
from monitor.report.table_cells import UNDEFINED, minute, ratio_text, signed
from monitor.report.terminal_columns import cut, padded
from monitor.report.two_answers import is_model_worse, what_moved_precision
from monitor.report.unjudged_words import notes_of
from monitor.report.version_news_words import compared_versions_text, news_sentences
from monitor.report.visible_fall import visible_fall
from monitor.report.vocabulary import ADDITIVE_CAUSES, CAUSES, METRIC_WORDS, SOURCES, TEXT_METRICS

COLUMNS = 100
_ROWS_OF_SEGMENTS = 8
_LONGEST_SEGMENT = 24
_AGAINST = 1.05
_CANCELS = 2.0
"""Above this share of the change, other causes cancel most of the largest one."""
_DRIVERS = {
    "log r": "class_ratio",
    METRIC_WORDS["log_likelihood_ratio"].short: "log_likelihood_ratio",
}


def diagnosis_text(diagnosis: Diagnosis) -> str:
    """Return the verdict, then what it rests on, what is not known, and what to do."""
    sections = (
        _verdict(diagnosis),
        _sides(diagnosis),
        _causes(diagnosis),
        score_lines(diagnosis.scores, by_labels=diagnosis.judgement.labels_may_explain),
        () if diagnosis.judgement.labels_may_explain else correction_lines(diagnosis.scores),
        _segments(diagnosis),
        curve_change_lines(diagnosis.segments),
        _bullets("What is not known, and why", notes_of(diagnosis)),
        _bullets("What to do next", advice(diagnosis)),
    )
    return "\n\n".join("\n".join(lines) for lines in map(list, sections) if lines)


def _verdict(diagnosis: Diagnosis) -> Iterator[str]:
    yield from wrap(headline(diagnosis), COLUMNS)
    found = of_diagnosis(diagnosis)
    for question, answer in (
        ("What moved precision?", what_moved_precision(found).text),
        ("Is the model worse?", is_model_worse(found).text),
    ):
        text = f"{question:<22}{answer}."
        yield from wrap(text, COLUMNS, subsequent_indent=" " * 22)
    if seen := visible_fall(diagnosis.because, is_model_worse(found)):
        yield from wrap(seen, COLUMNS, initial_indent=" " * 22, subsequent_indent=" " * 22)
    news = diagnosis.news
    for sentence in news_sentences(news.began, news.new_version, diagnosis.after.opens):
        yield from wrap(sentence, COLUMNS)
    if news.before is not None and (versions := version_beginnings(news.before)):
        later = version_beginnings(news.after) or ()
        text = compared_versions_text(versions, later, news.before.restarted_with)
        yield from wrap(text, COLUMNS)
    yield ""
    slid = diagnosis.operating_point_moved and diagnosis.verdict is Verdict.PREVALENCE_SHIFT
    verdict = f"{diagnosis.verdict} (the operating point moved, too)" if slid else diagnosis.verdict
    known = f"{one_line(diagnosis.model)}: {verdict}. {certainties(diagnosis)}"
    yield from wrap(known, COLUMNS)
    yield from wrap(" ".join(explanation(diagnosis)), COLUMNS)


def _sides(diagnosis: Diagnosis) -> Iterator[str]:
    before, after = diagnosis.before, diagnosis.after
    yield _row("", "before", "after", "change")
    if before.source or after.source:
        yield _row("", _source(before), _source(after))
    yield _row("from (UTC)", _time(before.opens), _time(after.opens))
    yield _row("to, exclusive", _time(before.closes), _time(after.closes))
    yield _row("outcomes", _outcomes(before), _outcomes(after))
    yield _row("without a label", _unlabelled(before), _unlabelled(after))
    old, new = before.predicted_positive_rate, after.predicted_positive_rate
    yield _row("flagged", ratio_text(old), ratio_text(new), signed(new - old, 3))
    for row in TEXT_METRICS:
        old, new = before.metrics[row.name].estimate, after.metrics[row.name].estimate
        yield _row(row.words, ratio_text(old), ratio_text(new), signed(new - old, 3))
    old, new = before.metrics["class_ratio"].estimate, after.metrics["class_ratio"].estimate
    yield _row(
        METRIC_WORDS["class_ratio"].words, ratio_text(old), ratio_text(new), _times(old, new)
    )


def _row(title: str, before: str, after: str, change: str = "") -> str:
    return f"{title:<22}{before:>20}{after:>20}{change:>12}".rstrip()


def _source(side: Side) -> str:
    return SOURCES[side.source].short if side.source else "as asked"


def _outcomes(side: Side) -> str:
    return f"{side.counts.total.item():,}"


def _causes(diagnosis: Diagnosis) -> Iterator[str]:
    sides = (diagnosis.before, diagnosis.after)
    if diagnosis.refusal is not None or not any(side.counts.total for side in sides):
        return
    yield (
        f"{'What moved precision':<24}{'log-odds':>10}{'points':>10}{'95 % interval':>20}   status"
    )
    for cause, row in CAUSES.items():
        part = diagnosis.attribution[cause]
        ends = f"{_points(part.lower_points)} to {_points(part.upper_points)}"
        yield (
            f"{row.row:<24}{signed(part.logit, 2):>10}{_points(part.points):>10}"
            f"{ends if math.isfinite(part.lower_points) else UNDEFINED:>20}   "
            f"{cause_status(diagnosis, cause)}"
        )
    whole = signed(diagnosis.change_logit, 2), _points(diagnosis.change_points)
    yield f"{'= change of precision':<24}{whole[0]:>10}{whole[1]:>10}"
    for sentence in footnotes(diagnosis):
        yield from wrap(sentence, COLUMNS)
    yield ""
    yield from wrap(_errors(diagnosis), COLUMNS)
    by_labels = diagnosis.judgement.labels_may_explain
    yield from wrap(IF_LABELS_ARE_AS_BEFORE if by_labels else _counterfactual(diagnosis), COLUMNS)


def _errors(diagnosis: Diagnosis) -> str:
    found, driver = diagnosis.judgement, diagnosis.main_driver
    if missing := missing_class(diagnosis.before.counts, diagnosis.after.counts):
        return f"log r and log LR+ are not known: {missing}."
    known = ", ".join(
        f"{title} {found.change[name]:+.2f} ± {found.standard_error[name]:.2f}"
        for title, name in _DRIVERS.items()
    )
    text = f"{known} (standard errors, {_between(diagnosis)})."
    if of_days := scatter_sentence(diagnosis.scatter_days):
        text = f"{text} {of_days}"
    change = diagnosis.change_lower_points, diagnosis.change_upper_points
    certain = change[0] > 0 or change[1] < 0
    if driver is None or not certain or not driver.share <= _CANCELS:
        return text
    name, sure = CAUSES[driver.cause].words, "certainly" if driver.certain else "probably"
    against = "; the others pull the other way" if driver.share > _AGAINST else ""
    return (
        f"{text} Main driver: {sure} {name}, {100 * driver.share:.0f} % of the log-odds{against}."
    )


def _between(diagnosis: Diagnosis) -> str:
    dated = any(side.block_ms for side in (diagnosis.before, diagnosis.after))
    return "with the scatter of days" if dated else "of independent rows"


def _counterfactual(diagnosis: Diagnosis) -> str:
    found = diagnosis.had_prevalence_stayed
    prevalence = ratio_text(diagnosis.before.metrics["prevalence"].estimate)
    if not math.isfinite(found.estimate):
        return f"Had prevalence stayed at {prevalence}, precision now would be: {UNDEFINED}"
    return (
        f"Had prevalence stayed at {prevalence}, precision now would be "
        f"{ratio_text(found.estimate)} ({ratio_text(found.lower)} to {ratio_text(found.upper)})."
    )


def _segments(diagnosis: Diagnosis) -> Iterator[str]:
    parts = diagnosis.segments
    if not parts:
        return
    shown = [part for part in parts if part.carries][:_ROWS_OF_SEGMENTS]
    if not shown:
        yield f"Segments: none of {count_of(len(parts), 'value')} certainly changed by itself."
    else:
        heads = "".join(f"{METRIC_WORDS[row.metric].short:>14}" for row in ADDITIVE_CAUSES.values())
        yield (
            f"{'Segments that changed':<{_LONGEST_SEGMENT}}{'outcomes':>10}{heads}"
            f"{'own part':>10}{'its mix':>10}"
        )
        yield from map(_segment, shown)
        certain = sum(bool(part.carries) for part in parts)
        yield (
            f"{certain} of {count_of(len(parts), 'value')} certainly changed (*: in this, "
            "corrected for looking at all); parts in log-odds."
        )
    yield from _mixes(diagnosis)


def _segment(part: SegmentPart) -> str:
    name = segment_name(part.series.segment, part.series.value)
    name = padded(cut(name, _LONGEST_SEGMENT - 1), _LONGEST_SEGMENT)
    rates = [
        f"{_short(old)}→{_short(new)}{'*' if cause in part.carries else ' '}"
        for cause in ADDITIVE_CAUSES
        for old, new in [_rates(part, cause)]
    ]
    return (
        f"{name}{round(part.after.total.item()):>10,}"
        + "".join(f"{rate:>14}" for rate in rates)
        + f"{signed(part.within_logit, 2):>10}{signed(part.mix_logit, 2):>10}"
    )


def _rates(part: SegmentPart, cause: str) -> tuple[float, float]:
    """The rate behind a cause, before and after; NaN where nothing is to be divided by."""
    hits, cases = CAUSES[cause].share
    sides = [(_sum(c, hits), _sum(c, cases)) for c in (part.before, part.after)]
    old, new = (x / n if n else float("nan") for x, n in sides)
    return old, new


def _sum(counts: ConfusionCounts, cells: tuple[str, ...]) -> float:
    return sum(float(getattr(counts, cell)) for cell in cells)


def _mixes(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield what the mix of each key did, and the keys of which no value is on both sides."""
    sums: dict[str, float] = {}
    shared: set[str] = set()
    for part in diagnosis.segments:
        key = part.series.segment or ""
        sums[key] = sums.get(key, 0.0) + part.mix_logit
        if part.before.total and part.after.total:
            shared.add(key)
    totals = ", ".join(f"{key} {signed(sums[key], 2)}" for key in sums if key in shared)
    if totals:
        yield from wrap(f"By the mix of their values alone, log-odds: {totals}.", COLUMNS)
    for key in (one for one in sums if one not in shared):
        sentence = f"No value of {key} is on both sides: its mix cannot be told from its rates."
        yield from wrap(sentence, COLUMNS)


def _bullets(title: str, sentences: tuple[str, ...]) -> Iterator[str]:
    if not sentences:
        return
    yield title
    for sentence in sentences:
        yield from wrap(sentence, COLUMNS, initial_indent="- ", subsequent_indent="  ")


def _time(milliseconds: int | None) -> str:
    if milliseconds is None:
        return UNDEFINED
    text = minute(milliseconds)
    return text.partition(" ")[0] if milliseconds % DAY_MS == 0 else text


def _unlabelled(side: Side) -> str:
    if not side.predictions:
        return UNDEFINED
    return f"{100 * (1 - side.counts.total.item() / side.predictions):.1f} %"


def _times(old: float, new: float) -> str:
    if not (math.isfinite(old) and math.isfinite(new) and old > 0 and new > 0):
        return UNDEFINED
    return f"x {new / old:.2f}"


def _short(ratio: float) -> str:
    return f"{ratio:.2f}".removeprefix("0") if math.isfinite(ratio) else UNDEFINED


def _points(share: float) -> str:
    """A fraction of precision in points."""
    return points_text(share) if math.isfinite(share) else UNDEFINED
