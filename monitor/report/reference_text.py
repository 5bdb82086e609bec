"""A reference in one line, and how far a class ratio is from the reference's."""

from __future__ import annotations

import math
from collections.abc import Iterator

from scipy.special import logit

from monitor import metrics
from monitor.config.quantities import count_of, format_time
from monitor.counts import ConfusionCounts
from monitor.drift.detectors import (
    FEWEST_COMPARED,
    FEWEST_FALSE_POSITIVES,
    FEWEST_POSITIVES,
    is_too_small,
)
from monitor.drift.level_change import LevelChange
from monitor.drift.recall_evidence import excludes_much, visible_recall_at_best
from monitor.report.missing_evidence import day_text
from monitor.report.rate_changes import short
from monitor.report.reference_answer import (
    prevalence_changed,
    stand_in_text,
    version_beginnings,
    whom_it_pages,
)
from monitor.report.version_news_words import reference_versions_text
from monitor.report.vocabulary import SOURCES
from monitor.verdicts import ReferenceOutcomes, Watched, WindowVerdict


def reference_text(before: ReferenceOutcomes) -> str:
    """Return a reference's number, source, time, outcomes and class ratio r0.

    >>> from monitor.counts import ConfusionCounts
    >>> counts = ConfusionCounts(tp=80, fp=50, fn=20, tn=850)
    >>> reference_text(ReferenceOutcomes(source="counts", opens=None, closes=None, counts=counts))
    'reference no. 1, given counts, 1,000 outcomes, r0 = 0.1111'
    """
    replaced = f" (it replaced no. {before.version - 1})" if before.version > 1 else ""
    parts = [f"reference no. {before.version}{replaced}", SOURCES[before.source].words]
    if before.opens is not None and before.closes is not None:
        parts.append(f"{format_time(before.opens)}..{format_time(before.closes)}")
    if (versions := version_beginnings(before.versions)) and before.versions:
        parts.append(reference_versions_text(versions, before.versions.restarted_with))
    ratio = f"r0 = {before.class_ratio:.4g}"
    if not math.isfinite(before.class_ratio):
        ratio = "r0 is not defined: it has no negatives"
    parts += [f"{count_of(round(before.counts.total.item()), 'outcome')}"]
    parts += [] if before.pooled else [ratio]
    return ", ".join(parts)


def level_phrase(opens: int | None, closes: int | None) -> str:
    """Return that a change is one from the level of a model, which is not its reference.

    Args:
        opens: first moment of the level, epoch milliseconds.
        closes: first moment after it.

    >>> level_phrase(1_760_486_400_000, 1_762_905_600_000)
    "compared with the model's level, 15 October 2025 to 11 November 2025"
    """
    if opens is None or closes is None:
        return ""
    days = f"{day_text(opens)} to {day_text(closes - 1)}"
    return f"compared with {SOURCES['level'].words}, {days}"


def reference_notes(watched: Watched) -> Iterator[str]:
    """Yield that a reference is provisional, and that it ends before a change, in sentences.

    Args:
        watched: a model, as it is watched now.
    """
    reference = watched.reference
    texts = [stand_in_text(watched.awaited), whom_it_pages(reference)]
    if reference is not None and reference.held_back is None and reference.cut_short is not None:
        texts.append(mixed_text(reference))
    yield from (f"{text[0].upper()}{text[1:]}." for text in texts if text)


def mixed_text(before: ReferenceOutcomes) -> str:
    """Return that a reference holds a change of its level, ends before one, or on days held back.

    Args:
        before: the reference.

    Returns:
        "" where no change is certain, and no days are, or were, held back.
    """
    change, at = before.level_change, before.level_changed
    if before.held_back is not None:
        return before.held_back.text
    if change is None and before.cut_short is not None:
        return (
            f"the reference ends before a change about {day_text(before.cut_short)}: longer first "
            "days would be a mixture of two states"
        )
    if change is None or at is None:
        return ""
    return (
        f"the reference holds a change about {day_text(at)}: {_rates(change)}. It is a mixture of "
        "two states; name a stretch without a change (`reference: {window: {length, end}}`)"
    )


def prevalence_text(before: ReferenceOutcomes) -> str:
    """Return that prevalence changed within a reference; "" where it did not certainly.

    Args:
        before: the reference.
    """
    change, at = before.prevalence_change, prevalence_changed(before)
    if change is None or at is None:
        return ""
    old, new = (short(one, 3) for one in change.prevalence)
    return (
        f"prevalence changed within the reference about {day_text(at)} "
        f"({old} before, {new} from then on): what moved precision is compared with the mean of "
        "both"
    )


def mixed_phrase(before: ReferenceOutcomes | None) -> str:
    """Return that a reference holds a change of its level, and of which rate, a phrase.

    Args:
        before: the reference; None without one.

    Returns:
        The rate that changed most, in log-odds; "" where no change is certain.
    """
    if before is None or before.level_change is None or before.level_changed is None:
        return ""
    change = before.level_change
    pairs = {"recall": change.recall, "false positive rate": change.false_positive_rate}
    name, (old, new) = max(pairs.items(), key=lambda one: _log_odds_change(*one[1]))
    digits = 2 if name == "recall" else 3
    return (
        f"the reference holds a change about {day_text(before.level_changed)} "
        f"({name} {short(old, digits)} before, {short(new, digits)} from then on)"
    )


def _log_odds_change(old: float, new: float) -> float:
    """Return the size of a change of a rate; 0 where it is the same or undefined."""
    if old == new or math.isnan(old + new):
        return 0.0
    return abs(float(logit(new) - logit(old)))


def _rates(change: LevelChange) -> str:
    pairs = {"recall": change.recall, "the false positive rate": change.false_positive_rate}
    return ", ".join(
        f"{name} {short(old, 3)} before and {short(new, 3)} from then on"
        for name, (old, new) in pairs.items()
    )


def few_positives_text(reference: ConfusionCounts) -> str:
    """Return what a reference with few positives can show of recall at best.

    Args:
        reference: its outcomes, a scalar.

    Returns:
        One line, a clause; "" where it can show that recall fell by a quarter.

    >>> few_positives_text(ConfusionCounts(tp=9, fp=6, fn=3, tn=582))
    'by 12 positives recall of .75 is known to be between .47 and .91 only, and at best a fall to \
.24 shows, however many outcomes follow'
    """
    if is_too_small(reference):
        return f"nothing is compared with fewer than {FEWEST_COMPARED} positives or negatives"
    usual, visible = float(metrics.recall(reference)), visible_recall_at_best(reference)
    if excludes_much(visible, usual):
        return ""
    lower, upper = (short(float(end), 2) for end in metrics.intervals(reference, "recall"))
    return (
        f"by {count_of(round(reference.actual_positive.item()), 'positive')} recall of "
        f"{short(usual, 2)} is known to be between {lower} and {upper} only, and at best a fall to "
        f"{short(visible, 2)} shows, however many outcomes follow"
    )


def too_small_text(reference: ConfusionCounts, of: str = "the reference") -> str:
    """Return what a reference lacks for the detectors by pane, and what that means.

    Where it has so few positives that a fall of recall by a quarter would not show, it says that.

    Args:
        reference: its outcomes, a scalar.
        of: what they are of.

    Returns:
        One line; "" where the reference suffices.

    >>> too_small_text(ConfusionCounts(tp=2_208, fp=15, fn=552, tn=97_225))
    '15 of 500 false positives in the reference: changes are found by days, not within hours'
    """
    needed = (
        (reference.actual_positive.item(), FEWEST_POSITIVES, "positives"),
        (reference.fp.item(), FEWEST_FALSE_POSITIVES, "false positives"),
    )
    too_few = [f"{int(n):,} of {least:,} {what}" for n, least, what in needed if n < least]
    few = few_positives_text(reference)
    if not too_few:
        return few and f"{of}: {few}"
    by_days = "" if is_too_small(reference) else "changes are found by days, not within hours"
    found = "; ".join(filter(None, (by_days, few)))
    return f"{' and '.join(too_few)} in {of}: {found}"


def warming_up_text(watched: Watched) -> str | None:
    """Return what a model lacks for its detectors by pane; None for nothing, or without any."""
    if not watched.warming_up or watched.detectors_off:
        return None
    if watched.reference is None:
        return "there is no reference yet: nothing can page"
    if watched.reference.pooled:
        return (
            f"no class has {FEWEST_POSITIVES:,} cases and {FEWEST_FALSE_POSITIVES} false positives "
            "in the reference: changes are found by days, not within hours"
        )
    if (level := watched.level) is not None and (
        lacks := too_small_text(level.counts, SOURCES["level"].words)
    ):
        return lacks
    return too_small_text(watched.reference.counts) or "the reference does not suffice"


def far_text(found: WindowVerdict) -> str:
    """Return how far the class ratio is from the reference's; "" where it is not far."""
    if not found.far_from_reference or found.judgement is None:
        return ""
    change = found.judgement.change["class_ratio"]
    way = "below" if change < 0 else "above"
    return (
        f"the class ratio is {math.exp(abs(change)):.1f} times {way} the reference's; precision at "
        "r0 is an extrapolation, in which a small error of the false positive rate weighs heavily"
    )
