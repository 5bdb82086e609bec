"""What wrong labels do to the stated metrics, and what their known rates give back.

    python -m tests.benchmarks.label_errors [--draws 2000] [--learned 500] [--verdicts 100]

Seeded. A share of all labels is flipped, at 1, 2 and 10 % prevalence; recall is .8, and .02 of
actual negatives are flagged. First recall and precision of 30,000 cases, by labels as they are
and corrected for the rates, with the coverage of the corrected 95 % intervals; then the same where
each rate is known to lie within a half of its middle, wherever in that range it is; and where 500
cases of each label are audited, as `precision-monitor audit` draws them. Then verdicts on
28 days against 28 days of 5,000 cases, with 1 % of labels flipped: positives become half as
many, or recall falls to .5. `recorded_label_errors` flips labels of recorded streams.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import ArrayLike

from monitor.config import Config
from monitor.counts import ConfusionCounts
from monitor.diagnosis import Period, block_ms_of, diagnose
from monitor.drift import Verdict
from monitor.drift.verdict import DEGRADED
from monitor.engine import Monitor
from monitor.events.columns import EventBatch, Group, Outcomes
from monitor.labels.regime import LabelRegime
from monitor.metrics.audited_errors import AuditedLabels, learned_rates
from monitor.metrics.label_errors import ErrorRates
from monitor.metrics.sampled import SampledCounts, estimate, intervals

from .turns import table

RECALL, FPR, CASES = 0.8, 0.02, 30_000
FLIPS = (0.0, 0.005, 0.01, 0.02, 0.05)
PREVALENCES = (0.01, 0.02, 0.1)
DAY, DAYS, A_DAY = 86_400_000, 28, 5_000


AUDITED = 500
"""Audited cases of each label."""
RANGE = 0.5
"""Half the width of a range of rates, as a share of its middle."""


def flipped(
    rng: np.random.Generator, prevalence: float, flips: float, draws: int
) -> ConfusionCounts:
    """Return outcomes as labelled, (draws,)."""
    return mislabelled(rng, _outcomes(rng, prevalence, draws), flips)


def _outcomes(rng: np.random.Generator, prevalence: float, draws: int) -> ConfusionCounts:
    """Return true outcomes, (draws,)."""
    positive = rng.binomial(CASES, prevalence, draws)
    tp, fp = rng.binomial(positive, RECALL), rng.binomial(CASES - positive, FPR)
    return ConfusionCounts(tp=tp, fp=fp, fn=positive - tp, tn=CASES - positive - fp)


def mislabelled(
    rng: np.random.Generator, right: ConfusionCounts, flips: ArrayLike
) -> ConfusionCounts:
    """Return outcomes with a share of the labels flipped, same shape."""
    tp, fp, fn, tn = right.tp, right.fp, right.fn, right.tn
    lost_tp, lost_fn = rng.binomial(tp, flips), rng.binomial(fn, flips)
    false_fp, false_tn = rng.binomial(fp, flips), rng.binomial(tn, flips)
    return ConfusionCounts(
        tp=tp - lost_tp + false_fp,
        fp=fp - false_fp + lost_tp,
        fn=fn - lost_fn + false_tn,
        tn=tn - false_tn + lost_fn,
    )


def stated(draws: int) -> list[tuple[str, ...]]:
    """Return rows: recall and precision as labelled and corrected (means), and coverage."""
    rng, rows = np.random.default_rng(1), []
    for prevalence in PREVALENCES:
        flagged = RECALL * prevalence + FPR * (1 - prevalence)
        truths = {"recall": RECALL, "precision": RECALL * prevalence / flagged}
        for flips in FLIPS:
            labelled = flipped(rng, prevalence, flips, draws)
            cells = [f"{100 * prevalence:g} %", f"{100 * flips:g} %"]
            for metric, truth in truths.items():
                raw, corrected = (_counts(labelled, rate) for rate in (0.0, flips))
                lower, upper = intervals(corrected, metric)
                covered = ((lower <= truth) & (truth <= upper)).mean()
                means = [np.nanmean(estimate(one, metric)) for one in (raw, corrected)]
                cells += [f"{truth:.3f}", *(f"{mean:.3f}" for mean in means)]
                cells += [f"{np.mean(upper - lower):.3f}", f"{covered:.3f}"]
            rows.append(tuple(cells))
    return rows


def ranged(draws: int) -> list[tuple[str, ...]]:
    """Return rows: metrics corrected for ranges of the rates, and their coverage.

    Args:
        draws: for each prevalence and share of flipped labels; each with rates of its own.
    """
    rows = []
    for prevalence in PREVALENCES:
        flagged = RECALL * prevalence + FPR * (1 - prevalence)
        truths = {"recall": RECALL, "precision": RECALL * prevalence / flagged}
        for flips in FLIPS[1:]:
            rng = np.random.default_rng(2)
            within = (flips * (1 - RANGE), flips * (1 + RANGE))
            labelled = mislabelled(
                rng, _outcomes(rng, prevalence, draws), rng.uniform(*within, draws)
            )
            found = SampledCounts.all_labelled(labelled, ErrorRates.within(within, within))
            cells = [f"{100 * prevalence:g} %", f"{100 * flips:g} %"]
            for metric, truth in truths.items():
                lower, upper = intervals(found, metric)
                covered = ((lower <= truth) & (truth <= upper)).mean()
                known = np.isfinite(lower) & np.isfinite(upper)
                cells += [f"{np.nanmean(estimate(found, metric)):.3f}"]
                cells += [f"{np.mean((upper - lower)[known]):.3f}", f"{covered:.3f}"]
                cells.append(f"{1 - known.mean():.3f}")
            rows.append(tuple(cells))
    return rows


def _counts(labelled: ConfusionCounts, rate: float) -> SampledCounts:
    return SampledCounts.all_labelled(labelled, ErrorRates(rate, rate))


def learned(draws: int) -> list[tuple[str, ...]]:
    """Return rows: rates learned from audits, and metrics corrected for them, with coverage.

    Args:
        draws: for each prevalence and share of flipped labels.
    """
    rows = []
    for prevalence in PREVALENCES:
        flagged = RECALL * prevalence + FPR * (1 - prevalence)
        truths = {"recall": RECALL, "precision": RECALL * prevalence / flagged}
        for flips in FLIPS:
            rng = np.random.default_rng(1)
            found = [_audited_draw(rng, prevalence, flips) for _ in range(draws)]
            cells = [f"{100 * prevalence:g} %", f"{100 * flips:g} %"]
            for name in ("false_positive", "false_negative"):
                ends = np.array([rates.ranges[name] for rates, _ in found])
                covered = ((ends[:, 0] <= flips) & (flips <= ends[:, 1])).mean()
                cells += [f"{np.diff(ends).mean():.4f}", f"{covered:.3f}"]
            for metric, truth in truths.items():
                stated = [float(estimate(one, metric)) for _, one in found]
                limits = np.array([intervals(one, metric) for _, one in found])
                covered = ((limits[:, 0] <= truth) & (truth <= limits[:, 1])).mean()
                cells += [f"{np.mean(stated):.3f}", f"{np.diff(limits).mean():.3f}"]
                cells.append(f"{covered:.3f}")
            rows.append(tuple(cells))
    return rows


def _audited_draw(
    rng: np.random.Generator, prevalence: float, flips: float
) -> tuple[ErrorRates, SampledCounts]:
    """Return the rates that audits of a draw show, and its outcomes corrected for them."""
    right = _outcomes(rng, prevalence, 1)
    true = np.array([[right.tn, right.fn], [right.fp, right.tp]])[:, :, 0]
    wrong = rng.binomial(true, flips)
    # predicted class, label, actual class
    cases = np.empty((2, 2, 2), dtype=np.int64)
    for actual in (0, 1):
        cases[:, actual, actual] = true[:, actual] - wrong[:, actual]
        cases[:, 1 - actual, actual] = wrong[:, actual]
    labelled = cases.sum(axis=2)
    audited = np.empty_like(cases)
    for label in (0, 1):
        others, flagged = labelled[:, label].tolist()
        drawn = min(flagged, max(AUDITED // 2, AUDITED - others))
        for called, size in enumerate((min(others, AUDITED - drawn), drawn)):
            negative, positive = cases[called, label].tolist()
            seen = rng.hypergeometric(positive, negative, size) if size else 0
            audited[called, label] = size - seen, seen
    counts = ConfusionCounts(
        tp=labelled[1, 1], fp=labelled[1, 0], fn=labelled[0, 1], tn=labelled[0, 0]
    )
    rates = learned_rates(AuditedLabels(audited, labelled))
    return rates, SampledCounts.all_labelled(counts, rates)


def day_of(
    rng: np.random.Generator, day: int, prevalence: float, recall: float, flips: float
) -> EventBatch:
    """Return the outcomes of a day, by labels of which a share is flipped."""
    actual = rng.random(A_DAY) < prevalence
    called = rng.random(A_DAY) < np.where(actual, recall, FPR)
    moment = day * DAY + np.sort(rng.integers(0, DAY, A_DAY))
    return EventBatch(
        outcomes=Outcomes(
            time=moment,
            label_time=moment,
            predicted_positive=called,
            actual_positive=actual ^ (rng.random(A_DAY) < flips),
            score=np.full(A_DAY, np.nan),
            group=np.zeros(A_DAY, dtype=np.int64),
        ),
        groups=(Group("m"),),
        records=A_DAY,
    )


def verdict(
    seed: int,
    after: tuple[float, float],
    prevalence: float,
    rates: ErrorRates,
    flips: tuple[float, float] = (0.01, 0.01),
) -> tuple[Verdict, bool]:
    """Return the verdict of `diagnose`, and whether the running monitor announced a fall.

    Args:
        seed: of the draw.
        after: prevalence and recall after the change.
        prevalence: before.
        rates: configured.
        flips: share of the labels that are flipped, before and after the change.
    """
    rng, ranges = np.random.default_rng(seed), ((0, DAYS * DAY), (DAYS * DAY, 2 * DAYS * DAY))
    settings = {"label_timeout": "1d", "label_errors": rates.rates | rates.ranges}
    monitor = Monitor(Config(models={"m": settings}, windows=["1d", "7d"]))
    counted = [monitor.count_range(*asked, block_ms_of(*asked)) for asked in ranges]
    for day in range(2 * DAYS + 2):
        now = (prevalence, RECALL) if day < DAYS else after
        monitor.apply(day_of(rng, day, *now, flips=flips[day >= DAYS]))
    periods = (
        Period.counted(counts, "m", *asked, regime=LabelRegime(errors=rates))
        for counts, asked in zip(counted, ranges, strict=True)
    )
    detections = monitor.snapshot().models[0].watched.detections
    announced = any(one.kind == "model_degraded" for one in detections)
    return diagnose(*periods, model="m").verdict, announced


def verdicts(draws: int) -> list[tuple[str, ...]]:
    """Return rows: shares of verdicts of a worse model, and of announcements of one."""
    rows = []
    for prevalence in (0.02, 0.04):
        changes = {
            "nothing": (prevalence, RECALL),
            "half as many positives": (prevalence / 2, RECALL),
            "recall .8 to .5": (prevalence, 0.5),
        }
        for change, after in changes.items():
            for name, rate in (("as labelled", 0.0), ("corrected", 0.01)):
                rates = ErrorRates(rate, rate)
                found = [verdict(seed, after, prevalence, rates) for seed in range(draws)]
                degraded = np.mean([one in DEGRADED for one, _ in found])
                announced = np.mean([fell for _, fell in found])
                rows.append(
                    (
                        f"{100 * prevalence:g} %",
                        change,
                        name,
                        f"{degraded:.3f}",
                        f"{announced:.3f}",
                    )
                )
    return rows


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=2_000)
    parser.add_argument("--learned", type=int, default=500)
    parser.add_argument("--verdicts", type=int, default=100)
    args = parser.parse_args()
    of = ("true", "labelled", "corrected", "width", "coverage")
    head = ("prevalence", "flips", *(f"{m} {part}" for m in ("recall", "precision") for part in of))
    print(table(head, stated(args.draws)))
    seen = ("corrected", "width", "coverage", "without an interval")
    head = ("prevalence", "flips", *(f"{m} {one}" for m in ("recall", "precision") for one in seen))
    print(table(head, ranged(args.draws)))
    rates = ("fp width", "fp coverage", "fn width", "fn coverage")
    parts = (f"{m} {part}" for m in ("recall", "precision") for part in of[2:])
    print(table(("prevalence", "flips", *rates, *parts), learned(args.learned)))
    head = ("prevalence", "change", "labels", "diagnosed worse", "announced worse")
    print(table(head, verdicts(args.verdicts)))


if __name__ == "__main__":
    main()
