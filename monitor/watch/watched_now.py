"""What is published of one watch: verdicts of windows, evidence, detections."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from monitor.drift.live_class_ratio import UNKNOWN_RATIO
from monitor.drift.reference_news import HeldBack
from monitor.drift.verdict import DEGRADED
from monitor.labels.checks import DOUBTFUL_PACE, pace_fault
from monitor.labels.pace import Pace
from monitor.verdicts import ReferenceOutcomes, Watched, WindowVerdict
from monitor.watch.cuts import Cuts
from monitor.watch.live_ratio import UNKNOWN_NOW
from monitor.watch.model_watch import ModelWatch
from monitor.watch.stepping import Stepper


class Moment(NamedTuple):
    """When a model is looked at.

    Attributes:
        now: current event time, epoch milliseconds; windows end maturity before it.
        age: the model's maturity, milliseconds.
        paces: at which negatives and positives have got their labels lately; None if unknown.
        dead_since: first moment of predictions that no working model makes, epoch milliseconds;
            None where the last ones are not of that kind.
    """

    now: int
    age: int
    paces: tuple[Pace, Pace] | None
    dead_since: int | None = None


def watched_now(watching: ModelWatch, stepper: Stepper, cuts: Cuts, at: Moment) -> Watched:
    """Return the verdicts, evidence and detections of one watch.

    Args:
        watching: detectors, judge and detections.
        stepper: steps them.
        cuts: series by segment key.
        at: the moment.
    """
    now, age, paces, dead_since = at
    fault = None if paces is None else pace_fault(paces)
    doubt = paces is not None and pace_fault(paces, DOUBTFUL_PACE) is not None
    detection = watching.detection
    dead = watching.page.dead
    verdicts = watching.judge.all(now, age, cuts, fault, doubt=doubt, known_dead=dead)
    level = None
    if watching.level is not watching.judge:
        level = replace(watching.level.reference.outcomes, source="level")
        first = watching.level.all(now, age, cuts, fault, doubt=doubt, known_dead=dead)
        verdicts |= {
            name: replace(one, level=level)
            for name, one in first.items()
            if one.judgement is not None
            and _is_against_level(verdicts[name], one, pages=watching.page.active)
        }
    if watching.nowcasts is not None:
        verdicts = watching.nowcasts.added_to(verdicts, now, age, dead_since=dead_since)
    faulty = verdicts[min(verdicts, key=stepper.length)].label_fault
    ratio = UNKNOWN_NOW if detection is None else watching.ratio.now(cuts.totals, now - age)
    return Watched(
        reference=_reference(watching, at),
        verdicts=verdicts,
        evidence=watching.evidence,
        warming_up=detection is not None and detection.warming_up,
        degradation_detected=watching.page.active,
        prevalence_shift_detected=None
        if detection is None
        else stepper.is_active(watching.shifted_at, now),
        detections=tuple(watching.detections),
        trend=watching.trend,
        judged_age_ms=age,
        live_class_ratio=UNKNOWN_RATIO if faulty else ratio.ratio,
        expected_class_ratio=ratio.expected,
        day_scatter=watching.judge.learned.scatter,
        level=level,
        level_scatter=watching.level.learned.scatter,
    )


def _reference(watching: ModelWatch, at: Moment) -> ReferenceOutcomes:
    """Return the reference: whether it is provisional, and the longer days that it holds back."""
    outcomes, ends = watching.judge.reference.outcomes, watching.hold_ends
    outcomes = replace(outcomes, provisional=ends is not None)
    if not watching.held or outcomes.closes is None:
        return outcomes
    until = None if ends is None or watching.page.is_open(at.now) else ends + at.age
    return replace(outcomes, held_back=HeldBack(outcomes.closes, until))


def _is_against_level(reference: WindowVerdict, level: WindowVerdict, *, pages: bool) -> bool:
    """Return whether the verdict against the level counts: a page rests on the level."""
    return pages or (level.verdict in DEGRADED and reference.verdict not in DEGRADED)
