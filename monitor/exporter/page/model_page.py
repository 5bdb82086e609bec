"""The page of one model: its verdict, then a section for each question about it."""

from __future__ import annotations

from urllib.parse import urlencode

import htpy as h
from msgspec import UNSET

from monitor.clock import DAY_MS
from monitor.config.quantities import count_of, parse_duration
from monitor.drift import Verdict
from monitor.drift.verdict import DEGRADED
from monitor.errors import MonitorError
from monitor.exporter.api.find_model import UnknownModelError
from monitor.exporter.api.status_answer import ModelStatus
from monitor.exporter.page.class_section import class_section
from monitor.exporter.page.drawing import sign
from monitor.exporter.page.formats import coded, count, moment, reaches_back
from monitor.exporter.page.html_document import SECTIONS, document, page_head
from monitor.exporter.page.now import now_section
from monitor.exporter.page.page_content import ModelContent
from monitor.exporter.page.plane import plane_section
from monitor.exporter.page.prediction_parts import without_labels_block
from monitor.exporter.page.query import PageQuery
from monitor.exporter.page.rejected_note import rejected_note
from monitor.exporter.page.version_section import versions_section
from monitor.exporter.page.when import PeriodForm, when_section
from monitor.exporter.page.where import SegmentView, where_section
from monitor.exporter.page.why import two_answers, verdict_line, why_section
from monitor.exporter.page.window_cells import window_title
from monitor.report.answer_parts import OutcomeCounts, OutcomeSums
from monitor.report.durations import duration_text
from monitor.report.printable import one_line
from monitor.report.reference_answer import ReferencePeriod
from monitor.report.verdict_words import VERDICTS
from monitor.report.version_news_words import reference_versions_text
from monitor.report.vocabulary import SOURCES


def model_page(content: ModelContent, query: PageQuery) -> str:
    """Return the page of one model.

    Args:
        content: what it shows.
        query: what was asked for.
    """
    sections, model = _sections(content, query), content.model
    judged = model.judged
    return document(
        one_line(content.model.name),
        head=page_head(),
        aside=[
            h.a(href="/")["Precision monitor"],
            h.span(".muted.now")[f"event time {moment(content.model.now)}"],
        ],
        sections=[(name, title) for name, title in SECTIONS if name in sections],
        main=[
            _degenerate(model),
            verdict_line(judged.words, _headline(model), pages=judged.pages),
            two_answers(
                model.moved_precision, model.worse, model.verdict_because, _rests_on(model)
            ),
            None if model.without_labels is None else without_labels_block(model.without_labels),
            _mixed_reference(model),
            _held_back(model),
            _first_days(model),
            _changed_prevalence(model),
            rejected_note(content.status.rejected_lately),
            *sections.values(),
        ],
    )


def _headline(model: ModelStatus) -> str:
    """Return what happened since the reference, without what `_degenerate` says."""
    if not model.headline.startswith(f"The model {model.predictions_degenerate.text} (since "):
        return model.headline
    return model.headline.partition("). ")[2]


def _degenerate(model: ModelStatus) -> h.Node:
    """Return what is wrong with the predictions, which labels show only later."""
    found = model.predictions_degenerate
    if found.text is None:
        return None
    return h.p(".verdict.bad")[
        sign(VERDICTS[Verdict.MODEL_DEGRADED], "bad"),
        h.strong[f"The model {found.text}"],
        h.span[
            f"since {moment(found.since)}, by its predictions alone. What follows rests on labels, "
            "which come later."
        ],
    ]


def _rests_on(model: ModelStatus) -> str:
    """Return the window that decides, its counts, and whether it is all there is to a fall.

    Returns:
        "" where no metric is known.
    """
    if model.without_labels is not None:
        return ""
    counts: OutcomeCounts | OutcomeSums = model.windows[model.verdict_window].outcomes
    reference, stretch = model.reference, window_title(model, model.verdict_window)
    if model.since_reference is not None:
        counts = model.since_reference.outcomes
        stretch = f"{duration_text(model.since_reference.seconds)} since the reference"
    if model.windows[model.verdict_window].classes is not UNSET:
        text = f"{stretch}: {count(round(counts.total))} labelled cases of all classes"
        return f"{text}{_compared_with(reference)}{_versions_of(reference)}."
    text = f"{stretch}: {_numbers_of(counts)}{_positives_before(model)}"
    if worse := _worse_window(model):
        text += f"; {window_title(model, worse)}: {_numbers_of(model.windows[worse].outcomes)}"
    told = "does not page" in model.worse.text  # which the answer says of a provisional reference
    if model.verdict in DEGRADED and not (model.detectors.degradation_detected or told):
        text += ". One window alone does not page"
    return f"{text}."


def _numbers_of(counts: OutcomeCounts | OutcomeSums) -> str:
    """Return what a window holds."""
    return (
        f"{count_of(round(counts.tp + counts.fn), 'positive')} and "
        f"{count_of(round(counts.tp + counts.fp), 'flagged case')} of {count(round(counts.total))}"
    )


def _worse_window(model: ModelStatus) -> str:
    """Return the longest window of a day or more that is degraded; "" where the deciding one is."""
    if model.verdict in DEGRADED:
        return ""
    worse = (name for name, one in model.windows.items() if one.verdict in DEGRADED)
    return max((n for n in worse if parse_duration(n) >= DAY_MS), key=parse_duration, default="")


def _compared_with(reference: ReferencePeriod | None) -> str:
    if reference is None:
        return ""
    return f", compared with {count(round(reference.outcomes.total))} of the reference"


def _positives_before(model: ModelStatus) -> str:
    """Return with how many positives the answers compare; "" where they compare with none."""
    window = model.windows[model.verdict_window]
    if model.reference is None or (model.since_reference is None and reaches_back(model, window)):
        return ""
    before = model.reference if window.level is UNSET else window.level
    positives = count_of(round(before.outcomes.tp + before.outcomes.fn), "positive")
    source = "the reference" if window.level is UNSET else SOURCES["level"].words
    return f", compared with {positives} of {source}{_versions_of(before)}"


def _versions_of(reference: ReferencePeriod | None) -> str:
    """Return whose reference it is; "" where the model has no second version."""
    if reference is None or not reference.versions:
        return ""
    return f", {reference_versions_text(reference.versions, reference.restarted_with)}"


def _mixed_reference(model: ModelStatus) -> h.Node:
    if model.reference is None or model.reference.level_changed is None:
        return None
    return h.p(".fault")[
        "The reference holds a change about ",
        moment(model.reference.level_changed),
        ": it is a mixture of two states. Name a stretch without a change by ",
        h.code["reference: {window: {length, end}}"],
        ".",
    ]


def _held_back(model: ModelStatus) -> h.Node:
    if model.reference is None or model.reference.held_back is UNSET:
        return None
    return h.p(".fault")[coded(model.reference.held_back.text)]


def _first_days(model: ModelStatus) -> h.Node:
    """Return that the reference is provisional, or ends before a change."""
    if model.reference is None or model.reference.held_back is not UNSET:
        return None
    if (provisional := model.reference.provisional) is not UNSET:
        return h.p[f"{provisional.text[0].upper()}{provisional.text[1:]}."]
    if (cut_short := model.reference.cut_short) is UNSET:
        return None
    return h.p[
        "The reference ends before a change about ",
        moment(cut_short),
        ": longer first days would be a mixture of two states.",
    ]


def _changed_prevalence(model: ModelStatus) -> h.Node:
    if model.reference is None or model.reference.prevalence_changed is UNSET:
        return None
    return h.p[
        "Prevalence changed within the reference about ",
        moment(model.reference.prevalence_changed),
        ": what moved precision is compared with the mean of both.",
    ]


def _sections(content: ModelContent, query: PageQuery) -> dict[str, h.Node]:
    """Return the sections that can be shown, by name, in order."""
    name, found = content.model.name, content.explanation
    diagnosis = None if found is None else found.answer
    shown: dict[str, h.Node] = {
        "now": now_section(content.status, content.model, content.trend, content.scores)
    }
    classes = class_section(content.model)
    if classes is not None:
        shown["classes"] = classes
    asked = bool(query.before or query.after)
    if content.series is not None:
        fault = content.error if asked else ""
        form = PeriodForm(name, query.before or "", query.after or "", fault)
        shown["when"] = (
            when_section(content.series, diagnosis, form)
            if classes is None
            else when_section(content.series, None, None, pooled=True)
        )
    versions = None if content.versions is None else versions_section(content.versions)
    if versions is not None:
        shown["versions"] = versions
    if classes is not None:
        return shown
    links = [("model", name), *query.periods()]
    view = SegmentView(query.segment, query.segments_page, links=links)
    if found is None:
        if not (asked and content.series is not None):
            shown["why"] = _not_compared(content)
        return shown | {"where": where_section(None, view, content.segments)}
    return shown | {
        "why": why_section(found.answer),
        "where": where_section(found.answer, view, content.segments),
        "plane": plane_section(found.answer, found.curve, query.iso),
    }


def _obstacle(content: ModelContent) -> str:
    """Return why the reference and the window that decides are not compared."""
    missing = content.model.missing_evidence
    if content.series is None or missing is None:
        return content.error
    return (
        f"{missing}. Choose two periods above to compare them"
        if content.model.labelled
        else missing
    )


def _not_compared(content: ModelContent) -> h.Element:
    """Return the section "Why" without a comparison; the script soon tries a busy monitor again."""
    busy = content.series is None
    return h.section("#why", aria_labelledby="why-title")[
        h.h2(id="why-title")["Why"],
        h.p({"class": "fault later" if busy else "fault"}, role="alert")[
            coded(f"Nothing is compared: {_obstacle(content)}.")
        ],
    ]


def error_page(error: MonitorError) -> str:
    """Return the page that shows an error alone."""
    return document(
        "Error",
        head=page_head(),
        aside=h.a(href="/")["Precision monitor"],
        sections=(),
        main=[
            h.p(".fault", role="alert")[one_line(str(error))],
            _ways_on(error.nearest) if isinstance(error, UnknownModelError) else None,
        ],
    )


def _ways_on(nearest: str | None) -> h.Element:
    """Return links to the model that was probably meant, and to the list."""
    models = h.a(href="/")["show all models"]
    if nearest is None:
        return h.p[models, "."]
    address = urlencode({"model": nearest}, errors="replace")
    return h.p["Open ", h.a(href=f"/?{address}")[one_line(nearest)], ", or ", models, "."]
