"""The verdict: did the model get worse, or did positives become rarer?

The verdict follows from skill (see `skill.skill`) and from the status of the class
ratio, log r (see `skill.statuses`):

    skill       log r clean      log r changed                         log r unknown
    clean       no_change        prevalence_shift                      insufficient_evidence
    degraded    model_degraded   prevalence_shift_and_model_degraded   model_degraded
    improved    model_improved   prevalence_shift_and_model_improved   model_improved
    moved       operating_point_moved
    slid        threshold_moved
    unknown     insufficient_evidence

Where the operating point moved or slid, log r changed and log LR+ is clean, the verdict is
`prevalence_shift`, with `Judgement.operating_point_moved` set. Whether a point slid is known
where scores come: it lies on the reference's ROC curve. Where the labels are not
trustworthy, it is `labels_not_trustworthy` whatever the counts. Where other labels explain a
change of skill as well (`labels_explain`), it is `insufficient_evidence`. A lack of evidence never
gives `no_change`; `Judgement.unknown` names the components that remain open.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from monitor.counts import ConfusionCounts
from monitor.drift.component_changes import BetweenDays, Changes, as_blocks, changes
from monitor.drift.components import Component
from monitor.drift.dispersion import Dispersion
from monitor.drift.label_quality import LABEL_CHANGES, LabelChange, labels_explain
from monitor.drift.main_driver import main_driver
from monitor.drift.no_skill import is_dead
from monitor.drift.skill import CHANGED, CLEAN, UNKNOWN, Skill, moved_along_curve, skill, statuses
from monitor.drift.verdict import OF_THE_MODEL, Judgement, Status, Verdict

_STATUSES = (Status.CLEAN, Status.CHANGED, Status.UNKNOWN)

_VERDICTS = np.array(list(Verdict), dtype=object)
_CODE = {verdict: code for code, verdict in enumerate(Verdict)}
_OF_THE_MODEL = [_CODE[verdict] for verdict in Verdict if verdict in OF_THE_MODEL]

# The table of the module's docstring: rows as in `Skill`, columns clean, changed, unknown.
_TABLE = np.array(
    [
        [_CODE[verdict] for verdict in row]
        for row in (
            (Verdict.NO_CHANGE, Verdict.PREVALENCE_SHIFT, Verdict.INSUFFICIENT_EVIDENCE),
            (
                Verdict.MODEL_DEGRADED,
                Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED,
                Verdict.MODEL_DEGRADED,
            ),
            (
                Verdict.MODEL_IMPROVED,
                Verdict.PREVALENCE_SHIFT_AND_MODEL_IMPROVED,
                Verdict.MODEL_IMPROVED,
            ),
            (Verdict.OPERATING_POINT_MOVED,) * 3,
            (Verdict.INSUFFICIENT_EVIDENCE,) * 3,
            (Verdict.THRESHOLD_MOVED,) * 3,
        )
    ]
)


def judge(
    before: ConfusionCounts,
    after: ConfusionCounts,
    dispersion: Dispersion | ArrayLike = 1.0,
    *,
    between: BetweenDays | None = None,
    labels_trustworthy: bool = True,
    below_reference_curve: bool | None = None,
    on_reference_curve: bool = False,
    within_days: float = math.nan,
    by_chance: bool = False,
    by_labels: LabelChange | None = None,
    label_support: float | None = None,
) -> Judgement:
    """Tell a worse model from rarer positives, or find the evidence insufficient.

    Args:
        before: outcomes of the reference: a window's counts (a scalar, fractional ones too), or
            those of its blocks of time along the last axis (see `components.block_seconds`).
        after: outcomes of the window to judge, in the same form.
        dispersion: variance over that of independent rows, at least 1; it scales the errors of
            independent rows, which are the least that is used. Where the blocks are hours,
            give the reference's between days: hours of a day are correlated.
        between: see `day_scatter.DayScatter.between`. None to estimate errors from the blocks.
        labels_trustworthy: False where the labels do not stand for the missing ones.
        below_reference_curve: see `roc.place_on_curve`; None without scores.
        on_reference_curve: likewise; False without scores.
        within_days: see `Changes.within_days`; NaN where it is not known.
        by_chance: True where days are those of a model that flags by chance (see
            `flagged_by_chance`), which no other labels explain.
        by_labels: see `judge_changes`; None to test it by the rates.
        label_support: see `labels_explain`; None without scores.

    Returns:
        The judgement; `insufficient_evidence` of empty windows and empty cells, never an error.

    Raises:
        ValueError: the counts have more than one axis; see `verdicts`.

    Source:
        Biggerstaff 2000 (a point that is dominated on every concave ROC curve);
        Holm 1979; equivalence by one-sided tests, Schuirmann 1987.

    >>> reference = ConfusionCounts(tp=80_000, fp=45_000, fn=20_000, tn=855_000)
    >>> judgement = judge(reference, ConfusionCounts(tp=4_000, fp=4_750, fn=1_000, tn=90_250))
    >>> str(judgement.verdict), judgement.main_driver.cause, judgement.fell
    ('prevalence_shift', 'prevalence', ('class_ratio',))
    """
    if len(before.shape) > 1 or len(after.shape) > 1:
        raise ValueError(
            f"judge: counts must be scalars or blocks of time along one axis, got shapes "
            f"{before.shape} and {after.shape}; judge many series with verdicts()"
        )
    whole = as_blocks(before).sum(axis=-1), as_blocks(after).sum(axis=-1)
    found = changes(before, after, dispersion, between).within_days(within_days)
    if by_labels is None:
        asked = not by_chance and labels_explain(*whole, found, label_support)
        by_labels = LABEL_CHANGES[int(asked)]
    judgement = judge_changes(
        found,
        labels_trustworthy=labels_trustworthy,
        below_reference_curve=below_reference_curve,
        on_reference_curve=on_reference_curve,
        dead=by_chance or bool(is_dead(*whole, found, dispersion)),
        by_labels=by_labels,
    )
    return replace(judgement, by_chance=by_chance)


def judge_changes(
    found: Changes,
    *,
    labels_trustworthy: bool = True,
    below_reference_curve: bool | None = None,
    on_reference_curve: bool = False,
    dead: bool = False,
    by_labels: LabelChange = LabelChange.NONE,
) -> Judgement:
    """Judge changes of one series that are computed already; see `judge`.

    Args:
        found: changes of shape (8,), in the order of `Component`.
        labels_trustworthy: as for `judge`.
        below_reference_curve: as for `judge`.
        on_reference_curve: as for `judge`.
        dead: True where the model does not tell the classes apart any more.
        by_labels: labels that explain the changes as well.

    Returns:
        The judgement.
    """
    known = statuses(found)
    below = None if below_reference_curve is None else np.asarray(below_reference_curve)
    separation = skill(found, known, below, np.asarray(dead), np.asarray(on_reference_curve))
    code = int(_verdict_codes(separation, known))
    blamed = by_labels is not LabelChange.NONE and _VERDICTS[code] in OF_THE_MODEL
    if blamed:
        code = _CODE[Verdict.INSUFFICIENT_EVIDENCE]
    verdict = _VERDICTS[code] if labels_trustworthy else Verdict.LABELS_NOT_TRUSTWORTHY
    names = [component.name.lower() for component in Component][: Component.ODDS_RATIO + 1]
    named = dict(zip(names, known.tolist(), strict=False))
    status = {name: _STATUSES[s] for name, s in list(named.items())[:4]}
    change = {name: float(found.change[i]) for i, name in enumerate(names)}
    freedom = np.broadcast_to(found.freedom, found.change.shape)
    certain = {name: change[name] for name, s in named.items() if s == CHANGED}
    return Judgement(
        verdict=verdict,
        status=status,
        change=change,
        standard_error={name: float(found.standard_error[i]) for i, name in enumerate(names)},
        operating_point_moved=not dead
        and bool(moved_along_curve(found, known) | (separation == Skill.SLID)),
        main_driver=main_driver(found),
        fell=tuple(name for name, value in certain.items() if value < 0),
        rose=tuple(name for name, value in certain.items() if value > 0),
        unknown=tuple(name for name, s in named.items() if s == UNKNOWN),
        below_reference_curve=below_reference_curve,
        on_reference_curve=bool(separation == Skill.SLID),
        dead=dead,
        freedom=dict(zip(names, freedom.tolist(), strict=False)),
        labels_may_explain=blamed and labels_trustworthy,
        label_change=by_labels,
    )


def verdicts(
    before: ConfusionCounts,
    after: ConfusionCounts,
    dispersion: Dispersion | ArrayLike = 1.0,
    *,
    blocks: bool = False,
) -> NDArray[np.object_]:
    """Judge many series at once; each verdict is the one that `judge` gives.

    Args:
        before: outcomes of the reference, one series for each index.
        after: outcomes of the window to judge, same shape.
        dispersion: variance over that of independent rows, broadcast to the series.
        blocks: True where the last axis holds blocks of time, not series.

    Returns:
        Array of `Verdict`, in the shape of the series.

    >>> counts = ConfusionCounts(tp=[80_000, 8], fp=[45_000, 4], fn=[20_000, 2], tn=[855_000, 86])
    >>> [str(verdict) for verdict in verdicts(counts, counts)]
    ['no_change', 'insufficient_evidence']
    """
    if not blocks:
        before, after = before[..., None], after[..., None]
    found = changes(before, after, dispersion)
    whole = before.sum(axis=-1), after.sum(axis=-1)
    known, dead = statuses(found), is_dead(*whole, found, dispersion)
    codes = _verdict_codes(skill(found, known, dead=dead), known)
    by_labels = np.asarray(np.isin(codes, _OF_THE_MODEL))
    blamed = Changes(found.change[:, by_labels], found.standard_error[:, by_labels])
    by_labels[by_labels] = labels_explain(whole[0][by_labels], whole[1][by_labels], blamed) > 0
    codes = np.where(by_labels, _CODE[Verdict.INSUFFICIENT_EVIDENCE], codes)
    return np.asarray(_VERDICTS[codes], dtype=object)


def _verdict_codes(separation: NDArray[np.int8], known: NDArray[np.int8]) -> NDArray[np.intp]:
    ratio = known[Component.CLASS_RATIO]
    codes = _TABLE[separation, ratio]
    skill_clean = known[Component.LOG_LIKELIHOOD_RATIO] == CLEAN
    moved = (separation == Skill.MOVED) | (separation == Skill.SLID)
    as_skilled = moved & (ratio == CHANGED) & skill_clean
    return np.where(as_skilled, _CODE[Verdict.PREVALENCE_SHIFT], codes)
