"""Whether audits of a window decide that its labels changed, or the model.

    python -m tests.benchmarks.audits_decide [--draws 100] [--seed 12]

Seeded. 28 days before and 7 after, of 5,000 cases; recall .8, .02 of negatives flagged, labels of
1 % of negatives and 5 % of positives wrong. 250 cases of each predicted class and label are
audited before. Then labels of 2 % of negatives are wrong, recall falls to .6, or a third more
positives come that are flagged as seldom as negatives, so that recall is .605. So many cases of
each predicted class and label are audited after. Share of the draws in which the window is judged
to show a worse model, labels that changed, and neither.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts
from monitor.drift import Judgement, Verdict
from monitor.drift.compared_outcomes import ComparedOutcomes
from monitor.drift.day_scatter import DayScatter
from monitor.drift.judgement_on_curve import judge_on_curve
from monitor.drift.verdict import DEGRADED
from monitor.events.columns import Int64Array
from monitor.labels.audits_decide import AuditedWindow
from monitor.labels.error_ranges import LabelledBlocks, at_corners
from monitor.labels.regime import LabelRegime
from monitor.labels.sampled_labels import expected
from monitor.metrics.audited_changes import audit_findings
from monitor.metrics.audited_errors import AuditedDays
from monitor.metrics.label_errors import EarlierErrors
from monitor.windows.weights import SUMS

from .turns import table

BEFORE, AFTER, A_DAY, FPR = 28, 7, 5_000, 0.02
AUDITED = 250
RATES = (0.01, 0.05)


class World(NamedTuple):
    """How cases and labels come.

    Attributes:
        recall: of the model.
        rates: at which labels of actual negatives, and of positives, are wrong.
        more: what the share of positives is multiplied by.
    """

    recall: float
    rates: tuple[float, float]
    more: float = 1.0


CHANGES = {
    "labels of 2 %": World(0.8, (0.02, 0.05)),
    "recall .6": World(0.6, RATES),
    "a third more positives, unseen": World((0.8 + FPR / 3) * 3 / 4, RATES, more=4 / 3),
}
PREVALENCES, SIZES = (0.02, 0.05, 0.1), (0, 5, 12, 25, 100)


def days_of(
    rng: np.random.Generator,
    days: int,
    prevalence: float,
    world: World,
    audits: int,
) -> tuple[Int64Array, Int64Array]:
    """Return cases by day, predicted class, label and actual class, and the audited ones."""
    recall, rates, more = world
    positive = rng.binomial(A_DAY, prevalence * more, days)
    cases = np.zeros((days, 2, 2, 2), dtype=np.int64)
    for actual, (number, share) in enumerate(((A_DAY - positive, FPR), (positive, recall))):
        flagged = rng.binomial(number, share)
        for called, count in enumerate((number - flagged, flagged)):
            wrong = rng.binomial(count, rates[actual])
            cases[:, called, actual, actual] = count - wrong
            cases[:, called, 1 - actual, actual] = wrong
    audited = np.zeros_like(cases)
    for called in range(2):
        for label in range(2):
            held = cases[:, called, label]
            size = min(audits, int(held.sum()))
            drawn = rng.multivariate_hypergeometric(held.ravel(), size)
            audited[:, called, label] = drawn.reshape(held.shape)
    return cases, audited


def judged(rng: np.random.Generator, prevalence: float, world: World, size: int) -> Judgement:
    """Judge the window of one draw."""
    parts = [
        days_of(rng, BEFORE, prevalence, World(0.8, RATES), AUDITED),
        days_of(rng, AFTER, prevalence, world, size),
    ]
    cases, audited = (np.concatenate(one) for one in zip(*parts, strict=True))
    labelled = cases.sum(axis=3)
    held = np.flatnonzero(audited.any(axis=(1, 2, 3)))
    audits = AuditedDays(held, audited[held], labelled[held])
    found = audit_findings(audits)
    earlier = tuple(EarlierErrors(day * DAY_MS, one.rates) for day, one in found.earlier)
    regime = LabelRegime(errors=found.rates, earlier=earlier)
    cells = np.zeros((len(cases), 6), dtype=np.int64)
    cells[:, :4] = labelled[:, [1, 1, 0, 0], [1, 0, 1, 0]]
    cells[:, 4:] = labelled.sum(axis=2)[:, ::-1]
    opens = np.arange(len(cases), dtype=np.int64) * DAY_MS
    old, new = (
        LabelledBlocks(regime, cells[part], opens[part])
        for part in (slice(BEFORE), slice(BEFORE, None))
    )
    outcomes = [
        expected(
            regime, one.cells[:, None], np.zeros((len(one.cells), 1, SUMS), np.int64), one.opens
        )
        for one in (old, new)
    ]
    whole = ComparedOutcomes(*(ConfusionCounts.from_cells(one[:, 0]) for one, _ in outcomes))
    dispersion = outcomes[0][1]
    assert dispersion is not None
    between = DayScatter.learn([*whole]).between(BEFORE, AFTER)
    during = audits.during(BEFORE * DAY_MS, (BEFORE + AFTER) * DAY_MS)
    window = AuditedWindow(
        whole, dispersion, between, at_corners(old, new), new.errors, lambda: during
    )
    ask = partial(judge_on_curve, whole, dispersion, between=between, scores=None, days=whole)
    return window.judged(ask).judgement


def rows(draws: int, seed: int) -> list[tuple[str, ...]]:
    """Return a row for each prevalence, change and number of audits."""
    found = []
    for prevalence in PREVALENCES:
        for name, world in CHANGES.items():
            for size in SIZES:
                rng = np.random.default_rng([seed, round(1e3 * prevalence), size])
                verdicts = [judged(rng, prevalence, world, size).verdict for _ in range(draws)]
                degraded = np.mean([one in DEGRADED for one in verdicts])
                labels = np.mean([one is Verdict.LABELS_NOT_TRUSTWORTHY for one in verdicts])
                shares = (degraded, labels, 1 - degraded - labels)
                found.append(
                    (f"{prevalence:.0%}", name, str(size), *(f"{one:.2f}" for one in shares))
                )
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--seed", type=int, default=12)
    args = parser.parse_args()
    head = ("prevalence", "after", "audits of each", "worse model", "labels changed", "neither")
    print(table(head, rows(args.draws, args.seed)))


if __name__ == "__main__":
    main()
