"""Did the model get worse, or did positives become rarer? The verdict, and how sure it is.

Each component of a change (see `components`) is *clean* where it is certainly
small, *changed* where it certainly is not nothing, else *unknown*. The verdict
follows from these alone. Equivalence is looked at first: with a million
outcomes nothing is exactly equal, and what is certainly small is clean however
significant. And want of evidence is never "the model is fine".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from monitor.counts import ConfusionCounts
from monitor.drift.components import Changes, Component, as_blocks, changes
from monitor.drift.dispersion import Dispersion
from monitor.drift.skill import CHANGED, CLEAN, UNKNOWN, Z_TWO_SIDED, Skill, skill, statuses

_CERTAIN_SHARE = 0.25


class Verdict(StrEnum):
    """What happened between two windows."""

    NO_CHANGE = "no_change"
    PREVALENCE_SHIFT = "prevalence_shift"
    MODEL_DEGRADED = "model_degraded"
    MODEL_IMPROVED = "model_improved"
    PREVALENCE_SHIFT_AND_MODEL_DEGRADED = "prevalence_shift_and_model_degraded"
    PREVALENCE_SHIFT_AND_MODEL_IMPROVED = "prevalence_shift_and_model_improved"
    OPERATING_POINT_MOVED = "operating_point_moved"
    INSUFFICIENT_EVIDENCE = "insufficient_evidence"
    LABELS_NOT_TRUSTWORTHY = "labels_not_trustworthy"


DEGRADED = frozenset({Verdict.MODEL_DEGRADED, Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED})
"""Verdicts that lay a fall to the model."""
IMPROVED = frozenset({Verdict.MODEL_IMPROVED, Verdict.PREVALENCE_SHIFT_AND_MODEL_IMPROVED})
"""Verdicts that lay a rise to the model."""
OF_THE_MODEL = DEGRADED | IMPROVED
"""Verdicts that lay a change to the model."""
NOT_OF_THE_MODEL = frozenset(
    {Verdict.NO_CHANGE, Verdict.PREVALENCE_SHIFT, Verdict.OPERATING_POINT_MOVED}
)
"""Verdicts that are sure that skill is not to blame."""


class Status(StrEnum):
    """What is known of one component."""

    CLEAN = "clean"
    CHANGED = "changed"
    UNKNOWN = "unknown"


_STATUSES = (Status.CLEAN, Status.CHANGED, Status.UNKNOWN)

_VERDICTS = np.array(list(Verdict), dtype=object)
_CODE = {verdict: code for code, verdict in enumerate(Verdict)}

# Verdict by skill (rows, as in `Skill`) and status of log r (clean, changed, unknown).
# An operating point that moved is looked at further in `_verdict_codes`.
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
        )
    ]
)


@dataclass(frozen=True, slots=True)
class MainDriver:
    """The cause that carries most of the change of logit(precision).

    Attributes:
        cause: `prevalence`, `recall` or `false_positives`.
        share: its part over the whole change; beyond 1 where the others pull
            the other way, NaN where precision did not change at all.
        certain: the 99 % bound on all other parts together stays below a
            quarter of the change. Never a reason to call the model fine.
    """

    cause: str
    share: float
    certain: bool


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on two windows, and what it rests on.

    Attributes:
        verdict: what happened.
        status: of `class_ratio`, `recall`, `false_positive_rate` and `log_likelihood_ratio`.
        change: of these, of `negative_log_likelihood_ratio` and of `odds_ratio`,
            after minus before: logits of the rates, logs of the ratios.
        standard_error: of each change.
        operating_point_moved: TPR and FPR went the same way along the ROC curve,
            as after a slide of the threshold; skill is not to blame.
        main_driver: the cause that carries most of the change of precision.
        fell: components that certainly fell.
        rose: components that certainly rose.
        unknown: components of which neither change nor its absence is certain.
        below_reference_curve: TPR was told to lie below the reference's ROC curve at
            today's FPR, by the scores.
    """

    verdict: Verdict
    status: Mapping[str, Status]
    change: Mapping[str, float]
    standard_error: Mapping[str, float]
    operating_point_moved: bool
    main_driver: MainDriver
    fell: tuple[str, ...]
    rose: tuple[str, ...]
    unknown: tuple[str, ...]
    below_reference_curve: bool = False


def roc_decides(judgement: Judgement) -> bool:
    """Whether the reference's ROC curve could turn this verdict into degraded.

    Recall or the false positive rate certainly changed, and the two rates alone do
    not lay it to a worse model.
    """
    moved = (judgement.status["recall"], judgement.status["false_positive_rate"])
    return Status.CHANGED in moved and judgement.verdict not in DEGRADED


def judge(
    before: ConfusionCounts,
    after: ConfusionCounts,
    dispersion: Dispersion | ArrayLike = 1.0,
    *,
    labels_trustworthy: bool = True,
    below_reference_curve: bool = False,
) -> Judgement:
    """Tell a worse model from rarer positives, or say that the evidence does not.

    Args:
        before: outcomes of the reference; a window's counts (scalar, fractional
            ones too) or those of its blocks of time (days, or hours: see
            `components.block_seconds`), whose scatter then sets the errors.
        after: outcomes of the window to judge, in the same form.
        dispersion: variance over that of independent rows; the errors are never
            below those of independent rows times it. Give the reference's by
            days where the blocks are hours: hours share the weather of their day.
        labels_trustworthy: False where the labels themselves have gone astray.
        below_reference_curve: TPR is significantly below the reference's ROC
            curve at today's FPR (see `roc.below_reference_curve`).

    Returns:
        The judgement. Empty windows and cells give `insufficient_evidence`,
        never an error.

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
    return judge_changes(
        changes(before, after, dispersion),
        labels_trustworthy=labels_trustworthy,
        below_reference_curve=below_reference_curve,
    )


def judge_changes(
    found: Changes, *, labels_trustworthy: bool = True, below_reference_curve: bool = False
) -> Judgement:
    """The verdict on changes that are known already, of one series (see `judge`).

    Args:
        found: changes of shape (8,), in the order of `Component`.
        labels_trustworthy: False where the labels themselves have gone astray.
        below_reference_curve: TPR is below the reference's curve at today's FPR.

    Returns:
        The judgement.
    """
    known = statuses(found)
    separation = skill(found, known, np.asarray(below_reference_curve))
    code = int(_verdict_codes(separation, known))
    verdict = _VERDICTS[code] if labels_trustworthy else Verdict.LABELS_NOT_TRUSTWORTHY
    names = [component.name.lower() for component in Component][: Component.ODDS_RATIO + 1]
    named = dict(zip(names, known.tolist(), strict=False))
    status = {name: _STATUSES[s] for name, s in list(named.items())[:4]}
    change = {name: float(found.change[i]) for i, name in enumerate(names)}
    certain = {name: change[name] for name, s in named.items() if s == CHANGED}
    return Judgement(
        verdict=verdict,
        status=status,
        change=change,
        standard_error={name: float(found.standard_error[i]) for i, name in enumerate(names)},
        operating_point_moved=bool(separation == Skill.MOVED),
        main_driver=_main_driver(found),
        fell=tuple(name for name, value in certain.items() if value < 0),
        rose=tuple(name for name, value in certain.items() if value > 0),
        unknown=tuple(name for name, s in named.items() if s == UNKNOWN),
        below_reference_curve=below_reference_curve,
    )


def verdicts(
    before: ConfusionCounts,
    after: ConfusionCounts,
    dispersion: Dispersion | ArrayLike = 1.0,
    *,
    blocks: bool = False,
) -> NDArray[np.object_]:
    """Verdicts on many series at once, as `judge` would give them one by one.

    Args:
        before: outcomes of the reference, a series for each index.
        after: outcomes of the window to judge, same shape.
        dispersion: variance over that of independent rows, broadcast to the series.
        blocks: the last axis holds blocks of time, not series.

    Returns:
        `Verdict`s in the shape of the series.

    >>> counts = ConfusionCounts(tp=[80_000, 8], fp=[45_000, 4], fn=[20_000, 2], tn=[855_000, 86])
    >>> [str(verdict) for verdict in verdicts(counts, counts)]
    ['no_change', 'insufficient_evidence']
    """
    if not blocks:
        before, after = before[..., None], after[..., None]
    found = changes(as_blocks(before), as_blocks(after), dispersion)
    known = statuses(found)
    return np.asarray(_VERDICTS[_verdict_codes(skill(found, known), known)], dtype=object)


def _verdict_codes(separation: NDArray[np.int8], known: NDArray[np.int8]) -> NDArray[np.intp]:
    ratio = known[Component.CLASS_RATIO]
    codes = _TABLE[separation, ratio]
    skill_clean = known[Component.LOG_LIKELIHOOD_RATIO] == CLEAN
    slid_along = (separation == Skill.MOVED) & (ratio == CHANGED) & skill_clean
    return np.where(slid_along, _CODE[Verdict.PREVALENCE_SHIFT], codes)


def _main_driver(found: Changes) -> MainDriver:
    change, error = found.change, found.standard_error
    whole = change[Component.CLASS_RATIO] + change[Component.LOG_LIKELIHOOD_RATIO]
    rest = {
        "prevalence": Component.LOG_LIKELIHOOD_RATIO,
        "recall": Component.ALL_BUT_RECALL,
        "false_positives": Component.ALL_BUT_FALSE_POSITIVES,
    }
    parts = {cause: float(whole - change[index]) for cause, index in rest.items()}
    direction = 1.0 if whole >= 0 else -1.0
    cause = max(parts, key=lambda name: direction * parts[name])
    others = rest[cause]
    bound = abs(change[others]) + Z_TWO_SIDED * error[others]
    return MainDriver(
        cause=cause,
        share=float(parts[cause] / whole) if whole else float("nan"),
        certain=bool(bound < _CERTAIN_SHARE * abs(whole)),
    )
