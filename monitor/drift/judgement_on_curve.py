"""Judges two windows with all that there is: outcomes, scores of the reference, segments.

The two rates decide first, unless the days are those of a model that flags by
chance. Where they moved as along a curve and scores come, the ROC curve of the reference
decides, overall and with the reference's mix of every segment key: below it the model got
worse, on it the threshold moved. A fall must also be one within days: days
before and after a change of the threshold, counted together, lie below the curve that all of
them lie on. The same holds of versions that share the traffic.

Where other labels explain the rates as well as a worse model does, the scores of the missed
positives decide (`missed_positives`), if they can.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from monitor.counts import ConfusionCounts, Outcome
from monitor.drift.compared_outcomes import ComparedOutcomes
from monitor.drift.component_changes import BetweenDays, as_blocks, changes
from monitor.drift.components import SmoothedRates
from monitor.drift.decided_by_curve import decided_by_curve, places_on_curve
from monitor.drift.dispersion import Dispersion
from monitor.drift.flagged_by_chance import CERTAINLY_BY_CHANCE, by_chance, log_chance_ratio
from monitor.drift.label_quality import MOVED_ERRORS, LabelChange
from monitor.drift.missed_positives import SETTLED, label_support
from monitor.drift.no_skill import is_dead, separates_nothing
from monitor.drift.odds_ratio_within import log_odds_ratio_within
from monitor.drift.verdict import DEGRADED, Judgement, Verdict
from monitor.drift.verdict_rule import judge
from monitor.metrics.histogram import ScoreHistogram


def no_scores() -> ScoreHistogram | None:
    """Return None: a window has no labelled scores."""
    return None


def judge_on_curve(
    whole: ComparedOutcomes,
    dispersion: Dispersion,
    *,
    between: BetweenDays | None,
    scores: ScoreHistogram | None,
    scores_after: Callable[[], ScoreHistogram | None] | None = no_scores,
    by_key: Iterable[ComparedOutcomes] = (),
    days: ComparedOutcomes | None = None,
    by_version: ComparedOutcomes | None = None,
    known_dead: bool = False,
    by_labels: LabelChange | None = None,
) -> tuple[Judgement, bool | None]:
    """Judge two windows; see `verdict_rule.judge` and `roc.place_on_curve`.

    A fall of the odds ratio counts as far as it is left within days and versions: the sum of
    days, or versions, at different thresholds explains the rest.

    Args:
        whole: all outcomes, one axis.
        dispersion: variance over that of independent rows, at least 1.
        between: what the scatter of days adds; None to estimate errors from the blocks.
        scores: labelled scores of the reference, (blocks of time, bins); None without. Numbers
            of cases may be estimated, as where labels are corrected.
        scores_after: returns those of the window by day, (days, bins); asked where other
            labels may explain its rates. None where scores do not tell wrong labels from a worse
            model.
        by_key: outcomes of each segment key, (values, blocks).
        days: the outcomes of `whole` by days; None where they are not known by days.
        by_version: the same by versions and days, (versions, days), or (days,) of a side whose
            versions are not known; None where versions are not counted apart.
        known_dead: see `flags_by_chance`.
        by_labels: labels that explain the change; None to test for them.

    Returns:
        The judgement, and whether recall lies below the curve; None without scores, or
        where the answer could not change the verdict. Where rates blame the model, and scores
        wrong labels, the cause is open.
    """
    parts = days if by_version is None else _parts(whole, by_version, dispersion) or days
    by_chance = flags_by_chance(days, dispersion, between, known_dead=known_dead)
    ask = partial(
        judge,
        *whole,
        dispersion,
        between=between,
        within_days=change_within_days(parts),
        by_chance=by_chance,
        label_support=None if scores is None or scores_after is None else 0.0,
        by_labels=by_labels,
    )
    judgement = ask()
    if by_chance or scores is None:
        return judgement, None
    places = partial(places_on_curve, whole, dispersion, between, scores, by_key, parts=parts)
    found = decided_by_curve(judgement, ask, places)
    judgement, z = found.judgement, found.judgement.curve_z
    if scores_after is None:
        return judgement, found.below
    if judgement.verdict in DEGRADED:
        shown = _shown_labels(judgement, whole, found.ask, scores, scores_after)
        judgement = judgement if shown is LabelChange.NONE else found.ask(by_labels=shown)
    elif judgement.label_change is not LabelChange.NONE:
        judgement = _with_labels(judgement, found.ask, scores, scores_after())
    return replace(judgement, curve_z=z), found.below


def _parts(
    whole: ComparedOutcomes, by_version: ComparedOutcomes, dispersion: Dispersion
) -> ComparedOutcomes | None:
    """Return the outcomes by versions and days along one axis.

    None where a version of the window does not tell the classes apart: it flags everything, or
    nothing, say, which is no threshold among others, although both lie on every curve.
    """
    usual, after = as_blocks(whole.before).sum(axis=-1), by_version.after
    for version in range(len(after.tp) if after.tp.ndim > 1 else 0):
        one = after[version].sum()
        dead = bool(is_dead(usual, one, changes(usual, one, dispersion), dispersion))
        if dead or separates_nothing(one, dispersion):
            return None
    return ComparedOutcomes(
        *(ConfusionCounts.from_cells(side.cells.reshape(-1, len(Outcome))) for side in by_version)
    )


def _shown_labels(
    judgement: Judgement,
    whole: ComparedOutcomes,
    ask: Callable[..., Judgement],
    scores: ScoreHistogram,
    scores_after: Callable[[], ScoreHistogram | None],
) -> LabelChange:
    """Return the wrong labels that scores show, or leave possible, though the rates rule them out.

    Scores alone show them where positives became more frequent and more of them are missed, and
    where they became rarer by so many that the flagged ones among them may be all new false
    positives: a new kind of negatives that score like positives leaves log r about as it was.
    Otherwise, where recall fell, scores and rates decide together.
    """
    ratio, recall = (judgement.change[name] for name in ("class_ratio", "recall"))
    supplied = _are_supplied(judgement, whole)
    if judgement.dead or not (recall < 0 or supplied):
        return LabelChange.NONE
    change = LabelChange.FALSE_NEGATIVES if supplied else LabelChange.FALSE_POSITIVES
    after = scores_after()
    support = 0.0 if after is None else _support(change, scores, after)
    if support >= SETTLED and (supplied or ratio > 0):
        return change
    if support > 0 and ask(label_support=support).label_change is change:
        return change
    return LabelChange.NONE


def _are_supplied(judgement: Judgement, whole: ComparedOutcomes) -> bool:
    """Return whether positives that labels miss may be all new false positives.

    Positives certainly became rarer, and the largest share of them that labels may miss, by the
    lower limit of the change of log r, has as many flagged ones.
    """
    ratio = judgement.change["class_ratio"]
    certainly = MOVED_ERRORS * judgement.standard_error["class_ratio"]
    if ratio > -certainly:
        return False
    before, after = (SmoothedRates.of(as_blocks(one).sum(axis=-1)) for one in whole)
    flagged = math.exp(float(before.log_class_ratio)) * float(before.recall)
    gained = float(after.false_positive_rate - before.false_positive_rate)
    return 0 < gained <= flagged * (1 - math.exp(ratio - certainly))


def _support(change: LabelChange, fewer: ScoreHistogram, more: ScoreHistogram) -> float:
    """Return how much the scores of the cases in question support wrong labels.

    Args:
        change: the labels in question.
        fewer: labelled scores of the stretch with fewer of these cases.
        more: of the stretch with more.
    """
    if change is LabelChange.FALSE_POSITIVES:
        return label_support(fewer, more)
    return label_support(fewer.mirrored(), more.mirrored())


def _with_labels(
    judgement: Judgement,
    ask: Callable[..., Judgement],
    scores: ScoreHistogram,
    after: ScoreHistogram | None,
) -> Judgement:
    """Return the judgement of rates that other labels explain, as scores settle it.

    Without a verdict on the model, scores may still rule the labels out.
    """
    if after is None:
        return ask(label_support=None)
    change = judgement.label_change
    of_negatives = change is LabelChange.FALSE_NEGATIVES
    moved = judgement.change["false_positive_rate" if of_negatives else "recall"]
    sides = (scores, after) if (moved > 0) is of_negatives else (after, scores)
    support = _support(change, *sides)
    if support >= SETTLED and judgement.labels_may_explain:
        return replace(judgement, verdict=Verdict.LABELS_NOT_TRUSTWORTHY)
    if support < 0 and ask(label_support=support).label_change is not change:
        return ask(by_labels=LabelChange.NONE)
    return judgement


def flags_by_chance(
    days: ComparedOutcomes | None,
    dispersion: Dispersion,
    between: BetweenDays | None,
    *,
    known_dead: bool = False,
) -> bool:
    """Return whether days are those of a model that flags by chance, or the wrong class.

    Args:
        days: outcomes by days; None where they are not known by days.
        dispersion: variance over that of independent rows, at least 1.
        between: what the scatter of days adds; None where it is not known.
        known_dead: True where other days have shown that the model is dead, and none since that
            it is back.

    Returns:
        True where that is a thousand times as likely as the model of the reference (see
        `log_chance_ratio`), or likelier at all where the model is known to be dead; False where
        days or their scatter are not known.
    """
    if days is None or between is None:
        return False
    if by_chance(as_blocks(days.after).sum(axis=-1)[None]).is_better(dispersion):
        return False  # which takes a fraction of the time of the comparison
    found = log_chance_ratio(*days, dispersion, between)
    return found > (0.0 if known_dead else CERTAINLY_BY_CHANCE)


def change_within_days(days: ComparedOutcomes | None) -> float:
    """Return the change of the log odds ratio within days; NaN where it is not known.

    Args:
        days: outcomes by days; None where they are not known by days.
    """
    if days is None:
        return float("nan")
    before, after = (log_odds_ratio_within(as_blocks(one)) for one in days)
    return float(after - before)
