"""Decides by the reference's ROC curve what two rates leave open, at known or possible rates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from monitor.drift.compared_outcomes import ComparedOutcomes
from monitor.drift.component_changes import BetweenDays, as_blocks
from monitor.drift.day_dispersion import off_the_curve
from monitor.drift.dispersion import Dispersion
from monitor.drift.label_quality import LabelChange
from monitor.drift.roc import (
    CurvePlace,
    CurvePosition,
    mixing_loss,
    place_on_curve,
    standardised_to,
)
from monitor.drift.verdict import DEGRADED, Judgement, Status
from monitor.drift.verdict_rule import judge
from monitor.metrics.histogram import ScoreHistogram


class DecidedByCurve(NamedTuple):
    """A judgement of rates, as the curve decides.

    Attributes:
        judgement: of both.
        ask: returns it again, by other arguments of `verdict_rule.judge`.
        below: whether recall lies below the curve; None where that could not change the verdict.
    """

    judgement: Judgement
    ask: Callable[..., Judgement]
    below: bool | None


def decided_by_curve(
    judgement: Judgement, ask: Callable[..., Judgement], places: Callable[[], list[CurvePlace]]
) -> DecidedByCurve:
    """Return a judgement of rates as the curve decides.

    Args:
        judgement: of the rates alone.
        ask: returns it again, by where the window lies relative to the curve.
        places: returns that, see `places_on_curve`; not called where it could change neither the
            verdict nor a page.
    """
    if not _asks_curve(judgement):
        return DecidedByCurve(judgement, ask, None)
    found, below = places(), None
    z = float(np.max([one.z for one in found]))  # NaN if any is, unlike max
    if roc_decides(judgement):
        below = all(one.position is CurvePosition.BELOW for one in found)
        on = any(one.position is CurvePosition.ON for one in found)
        known = None if math.isnan(z) else below
        ask = partial(ask, below_reference_curve=known, on_reference_curve=on)
        judgement = ask()
    return DecidedByCurve(replace(judgement, curve_z=z), ask, below)


def judge_at_rates(
    whole: ComparedOutcomes,
    dispersion: Dispersion,
    *,
    between: BetweenDays | None,
    scores: ScoreHistogram | None,
    days: ComparedOutcomes | None,
    by_chance: bool,
    by_labels: LabelChange | None = None,
) -> Judgement:
    """Judge two windows whose labels are corrected at other possible rates of wrong ones.

    Args:
        whole: all outcomes, corrected at these rates.
        dispersion: see `judgement_on_curve.judge_on_curve`.
        between: likewise.
        scores: of the reference, corrected at these rates; None without.
        days: outcomes by days, corrected at rates near to these, for the thresholds of days; None
            where they are not known by days.
        by_chance: whether days are those of a model that flags by chance.
        by_labels: see `judgement_on_curve.judge_on_curve`.
    """
    ask = partial(
        judge, *whole, dispersion, between=between, by_chance=by_chance, by_labels=by_labels
    )
    if by_chance or scores is None:
        return ask()
    places = partial(places_on_curve, whole, dispersion, between, scores, (), parts=days)
    return decided_by_curve(ask(), ask, places).judgement


def roc_decides(judgement: Judgement) -> bool:
    """Return True where the reference's ROC curve could turn the verdict into another.

    That is where recall or the false-positive rate changed and the verdict is not degraded
    already; and where it is degraded, though both moved in one direction, as along a curve.
    """
    names = ("recall", "false_positive_rate")
    if judgement.verdict in DEGRADED:
        recall, false = (judgement.change[name] for name in names)
        return recall * false > 0 and not judgement.dead
    return Status.CHANGED in [judgement.status[name] for name in names]


def _asks_curve(judgement: Judgement) -> bool:
    """Return True where the curve decides on the verdict, or on a page.

    Of a degraded verdict that is unless recall certainly fell and false positives certainly rose.
    """
    if judgement.verdict not in DEGRADED:
        return roc_decides(judgement)
    both = "recall" in judgement.fell and "false_positive_rate" in judgement.rose
    return not (both or judgement.dead)


def places_on_curve(
    whole: ComparedOutcomes,
    dispersion: Dispersion,
    between: BetweenDays | None,
    scores: ScoreHistogram,
    by_key: Iterable[ComparedOutcomes],
    *,
    parts: ComparedOutcomes | None,
) -> list[CurvePlace]:
    """Return where a window lies, overall and with the reference's mix of each segment key.

    What it loses as the sum of its parts, at different thresholds, does not count.

    Args:
        whole: all outcomes, one axis.
        dispersion: variance over that of independent rows, at least 1.
        between: what the scatter of days adds; None to estimate errors from the blocks.
        scores: labelled scores of the reference, (blocks of time, bins).
        by_key: outcomes of each segment key, (values, blocks).
        parts: outcomes by days, or by days and versions; None where they are not known so.
    """
    factors = dispersion
    if between is not None:
        total = as_blocks(whole.after).sum(axis=-1)
        factors = dispersion.larger(off_the_curve(total, between.after))
    mixed = 0.0
    if parts is not None:
        before, after = (mixing_loss(scores, one) for one in parts)
        mixed = max(0.0, after - before)
    place = partial(place_on_curve, scores, dispersion=factors, before=whole.before, mixed=mixed)
    points = (whole.after, *(standardised_to(*both) for both in by_key))
    return [place(after=point) for point in points]
