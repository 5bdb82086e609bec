"""The words for a change that wrong labels explain as well as a worse model does, or better."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from monitor.counts import ConfusionCounts
from monitor.diagnosis import Diagnosis
from monitor.diagnosis.time_ranges import TimeRange
from monitor.drift import Judgement
from monitor.drift.label_quality import MOVED_ERRORS, LabelChange
from monitor.metrics.audited_errors import AuditFindings

_UNLIKELY = 0.05


class _Kind(NamedTuple):
    """The words for one kind of wrong labels.

    Attributes:
        rate: that they move.
        rises: it rises where more labels are wrong.
        moved: what moves together, where more, or fewer, are wrong (`rose`, `fell`).
        stays: what does not.
        labels: that are more, or fewer, and what they do.
        misplaced: cases that a worse model has more of.
        scores: of these cases, as scores show wrong labels, and of those that are gone.
        cases: which to audit.
        stratum: their predicted class and label.
        hits: cells of `ConfusionCounts` that hold these cases.
        among: cases that these are a share of.
        like: cases of a new kind that leave the same trace.
        unlike: how these look to the model.
        trace: a model that leaves the same rates.
    """

    rate: str
    rises: bool
    moved: str
    stays: str
    labels: tuple[str, str]
    misplaced: str
    scores: tuple[str, str]
    cases: str
    stratum: tuple[int, int]
    hits: str
    among: str
    like: str
    unlike: str
    trace: str

    def are_more(self, judgement: Judgement) -> bool:
        """Return whether more labels would be wrong after, not fewer."""
        return (judgement.change[self.rate] > 0) is self.rises


_KINDS = {
    LabelChange.FALSE_POSITIVES: _Kind(
        rate="recall",
        rises=False,
        moved="missed positives and prevalence {} together",
        stays="precision and flagged cases",
        labels=("{} wrong labels", "{} labels are wrong"),
        misplaced="missed positives",
        scores=(
            "missed positives are spread over all scores, as wrong labels are",
            "the missed positives that are gone were spread over all scores, as wrong labels are",
        ),
        cases="unflagged cases{} that are labelled positive",
        stratum=(0, 1),
        hits="fn",
        among="predicted_negative",
        like="positives of a kind that it does not see",
        unlike="positives of a new kind, which the model does not tell from negatives",
        trace="a model that misses new positives leaves the same trace",
    ),
    LabelChange.FALSE_NEGATIVES: _Kind(
        rate="false_positive_rate",
        rises=True,
        moved="false positives {} and prevalence {}",
        stays="recall and flagged cases",
        labels=("labels that miss {} positives", "labels miss {} positives"),
        misplaced="false positives",
        scores=(
            "false positives have the scores of positives",
            "the false positives that are gone had the scores of positives",
        ),
        cases="flagged cases{} that are labelled negative",
        stratum=(1, 0),
        hits="fp",
        among="predicted_positive",
        like="negatives of a kind that it takes for positives",
        unlike="negatives of a new kind, which the model does not tell from positives",
        trace="a model that flags new negatives leaves the same trace where positives became rarer",
    ),
}


IF_LABELS_ARE_AS_BEFORE = (
    "These are the changes if labels are as before; labels that are wrong more, or less, often "
    "explain them."
)
"""What takes the place of precision had prevalence stayed, where labels explain the change."""


def labels_condition(judgement: Judgement, *, brief: bool = False) -> str:
    """Return the condition of a change that other labels explain; "" for any other.

    Args:
        judgement: of the change.
        brief: True for a row of a table.
    """
    if not judgement.labels_may_explain:
        return ""
    return ", labels as before" if brief else ", if labels are as before"


def _kind(judgement: Judgement) -> _Kind:
    """Return the words for the labels that explain a change: wrong ones where none are known."""
    return _KINDS.get(judgement.label_change, _KINDS[LabelChange.FALSE_POSITIVES])


def more_are_wrong(judgement: Judgement) -> bool:
    """Return whether more labels would be wrong after, not fewer.

    Args:
        judgement: with `labels_may_explain`.
    """
    return _kind(judgement).are_more(judgement)


def labels_alone(judgement: Judgement) -> str:
    """Return which labels explain a change, as a clause.

    Args:
        judgement: with `labels_may_explain`.
    """
    return _kind(judgement).labels[1].format("more" if more_are_wrong(judgement) else "fewer")


def as_when_labels(judgement: Judgement) -> str:
    """Return the pattern that a change of label quality leaves, as a clause.

    Args:
        judgement: with `labels_may_explain`.

    Returns:
        Where prevalence did not certainly move as wrong labels move it, only that these are not
        excluded.
    """
    kind = _kind(judgement)
    more = kind.are_more(judgement)
    ways = ("rose", "fell") if more else ("fell", "rose")
    ratio, error = (
        values["class_ratio"] for values in (judgement.change, judgement.standard_error)
    )
    rises = more is not kind.rises
    if (ratio if rises else -ratio) < MOVED_ERRORS * error:
        return f"{kind.labels[0].format('more' if more else 'fewer')} are not excluded yet"
    pattern = f"{kind.moved.format(*ways)} while {kind.stays} hardly moved"
    return f"{pattern}, as when {labels_alone(judgement)}"


def open_by_labels(judgement: Judgement) -> str:
    """Return the open question of a headline.

    Args:
        judgement: with `labels_may_explain`.
    """
    kind = _kind(judgement)
    more, other = ("more", "worse") if kind.are_more(judgement) else ("fewer", "better")
    labels = kind.labels[0].format(more)
    return f"{more} {kind.misplaced}: {labels}, or a {other} model? Open."


def changed_labels(judgement: Judgement) -> str:
    """Return what scores, or audits, show of labels that changed, as a clause.

    Scores do not tell more wrong labels from cases of a kind that the model does not see.

    Args:
        judgement: with `label_errors_changed`.
    """
    kind, labels = _kind(judgement), labels_alone(judgement)
    if judgement.by_audits:
        return f"{labels}: audits of these days show it"
    if not more_are_wrong(judgement):
        return f"{labels}: {kind.scores[1]}"
    return f"{labels}, or {kind.unlike.partition(',')[0]} came: {kind.scores[0]}"


def other_cause(judgement: Judgement) -> str:
    """Return what else leaves the scores of labels that changed, as a clause.

    Args:
        judgement: with `label_errors_changed`.
    """
    return _kind(judgement).unlike


def same_trace(judgement: Judgement) -> str:
    """Return which model leaves the rates of other labels, as a clause.

    Args:
        judgement: with `labels_may_explain`.
    """
    return _kind(judgement).trace


def cases_to_audit(before: ConfusionCounts, after: ConfusionCounts, judgement: Judgement) -> int:
    """Return how many cases show whether wrong labels explain a change.

    Args:
        before: outcomes of the reference, a scalar.
        after: outcomes judged.
        judgement: on them, with `labels_may_explain`.

    Returns:
        So many that if half of the change were wrong labels, a random sample of the misplaced
        cases would have none with a probability of 5 %; at least 20.
    """
    kind, rates = _kind(judgement), []
    for counts in (before, after):
        among = float(getattr(counts, kind.among))
        rates.append(float(getattr(counts, kind.hits)) / among if among else math.nan)
    low, high = sorted(rates)
    wrong = (1 - low / high) / 2
    return max(20, math.ceil(math.log(_UNLIKELY) / math.log1p(-wrong))) if wrong > 0 else 20


def cases_named(before: ConfusionCounts, after: ConfusionCounts, judgement: Judgement) -> str:
    """Return in a short sentence which cases to audit.

    Args:
        before: outcomes of the reference, a scalar.
        after: outcomes judged.
        judgement: on them.
    """
    cases = cases_to_audit(before, after, judgement)
    return f"Audit {cases} {_kind(judgement).cases.format('')}."


def audited_already(
    judgement: Judgement, audits: AuditFindings | None, opens: int | None, closes: int | None
) -> int:
    """Return how many of the cases to audit have an audit.

    Args:
        judgement: with `labels_may_explain`.
        audits: what audits show; None without audits.
        opens: first moment of the stretch to audit, epoch milliseconds; None where unknown.
        closes: first moment after it; None likewise.
    """
    if audits is None or audits.days is None or opens is None or closes is None:
        return 0
    return int(audits.days.during(opens, closes).audited[_kind(judgement).stratum].sum())


def audit_advice(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield which cases to look at again; nothing where these are audited, and advice says so.

    Args:
        diagnosis: with `labels_may_explain`.
    """
    judgement = diagnosis.judgement
    kind = _kind(judgement)
    side = "after" if kind.are_more(judgement) else "before"
    cases = cases_to_audit(diagnosis.before.counts, diagnosis.after.counts, judgement)
    of = diagnosis.after if side == "after" else diagnosis.before
    known = of.opens is not None and of.closes is not None
    stretch = f" --range {TimeRange(of.opens or 0, of.closes or 0)}" if known else ""
    audited = audited_already(judgement, diagnosis.audits, of.opens, of.closes)
    named = kind.cases.format(f" of {side}")
    more = f"`precision-monitor audit FILE --sample {2 * max(cases, audited)}{stretch}`"
    if audited < cases:
        yield (
            f"Have {cases} cases looked at again, drawn at random from the {named}: if hardly any "
            f"label is wrong, it is the model, or {kind.like}. {more} draws them "
            "beside others; sent as audits, they teach label_errors: audit the rates."
        )
    elif diagnosis.rates_learned:
        yield (
            f"Audit more of the {named}: {audited:,} are audited, and leave open whether labels "
            f"or the model changed. {more} draws as many again."
        )
    elif diagnosis.uncorrected_audits is None:
        yield (
            f"Set `label_errors: audit`: {audited:,} of the {named} are audited, and it corrects "
            "for what they show."
        )
