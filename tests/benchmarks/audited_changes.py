"""What it brings that rates of wrong labels learned from audits may change over time.

    python -m tests.benchmarks.audited_changes [--draws 100] [--seed 1]

Half a year of 1,000 cases a day at 5 % prevalence, recall .8, .02 of actual negatives flagged, and
on average one audit a day of each predicted class and label. Labels of 1 % of negatives and 5 % of
positives are wrong, and other shares from day 120 on. Recall of the first and of the last 60 days
is corrected for the rates of all audits together, and for those of each stretch.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np

from monitor.counts import ConfusionCounts
from monitor.metrics.audited_changes import audit_findings
from monitor.metrics.audited_errors import AuditedDays, AuditFindings
from monitor.metrics.label_errors import ErrorRates
from monitor.metrics.sampled import SampledCounts, estimate, intervals
from tests.audited_days import RECALL, audited_days

from .turns import table

DAYS, CHANGED, SIDE = 180, 120, 60
USUAL = (0.01, 0.05)
WORLDS: dict[str, tuple[float, float]] = {
    "as ever": USUAL,
    "4 % of negatives": (0.04, 0.05),
    "30 % of positives": (0.01, 0.3),
    "none wrong": (0.0, 0.0),
}


def drawn(world: str, seed: int) -> AuditedDays:
    """Return the half-year of a world."""
    rng = np.random.default_rng([seed, 21])

    def rates(day: int) -> tuple[float, float]:
        return WORLDS[world] if day >= CHANGED else USUAL

    return audited_days(rng, rates, days=DAYS)


def rows(draws: int, seed: int) -> list[tuple[str, ...]]:
    """Return for each world how often a change is found, and recall with its coverage."""
    found = []
    for world in WORLDS:
        halves = [drawn(world, seed + at) for at in range(draws)]
        changed = [audit_findings(days) for days in halves]
        shares = [np.mean([bool(one.earlier) for one in changed])]
        cells = [world, f"{shares[0]:.2f}"]
        for side in ("first", "last"):
            for rates in (_together, partial(_by_stretch, side)):
                values = [
                    _recall(days, side, rates(days, one))
                    for days, one in zip(halves, changed, strict=True)
                ]
                middle, lower, upper = np.array(values).T
                covered = ((lower <= RECALL) & (upper >= RECALL)).mean()
                cells += [f"{middle.mean():.3f}", f"{covered:.2f}"]
        found.append(tuple(cells))
    return found


def _together(days: AuditedDays, found: AuditFindings) -> ErrorRates:
    del found
    return AuditFindings.of(days.of(0, len(days.days))).rates


def _by_stretch(side: str, days: AuditedDays, found: AuditFindings) -> ErrorRates:
    del days
    return found.earlier[0][1].rates if side == "first" and found.earlier else found.rates


def _recall(days: AuditedDays, side: str, rates: ErrorRates) -> tuple[float, float, float]:
    """Return recall of the first or the last days, and its 95 % limits."""
    held = days.days < SIDE if side == "first" else days.days >= DAYS - SIDE
    counts = _corrected(days.labelled[held].sum(axis=0), rates)
    lower, upper = intervals(counts, "recall")
    return float(estimate(counts, "recall")), float(lower), float(upper)


def _corrected(labelled: np.ndarray, rates: ErrorRates) -> SampledCounts:
    (tn, fn), (fp, tp) = labelled.tolist()
    return SampledCounts(
        labelled=ConfusionCounts(tp=tp, fp=fp, fn=fn, tn=tn),
        predicted_positive=np.array(tp + fp),
        predicted_negative=np.array(fn + tn),
        **rates._asdict(),
    )


def main() -> None:
    """Print a row for each world."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    head = ["from day 120 on", "found"]
    for side in ("first", "last"):
        head += [f"{side}: together", "covers", "by stretch", "covers"]
    print(table(head, rows(asked.draws, asked.seed)))


if __name__ == "__main__":
    main()
