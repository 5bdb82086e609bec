"""Who pages over weeks where labels get worse, or the model does, beside labels that are wrong.

    PYTHONPATH=tests python -m tests.benchmarks.label_pages [--models N] [--seed N] [--change NAME]

80 days of 2,000 scored cases, 2 % of them positive, with binormal scores: recall .69 at a
false-positive rate of .07. Labels come an hour after the prediction; those of 1 % of negatives and
5 % of positives are wrong. On day 50 either labels are wrong more often, or the model gets worse;
nothing else changes. Every model is followed to the end, without `label_errors`, with those of
before, and with audits: four a day of each predicted class and label, which come after some days.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from monitor.clock import DAY_MS, HOUR_MS
from monitor.drift.verdict import DEGRADED
from monitor.engine import Monitor
from monitor.events.columns import EventBatch
from tests.audited_cases import AUDITS, WRONG, Cases, monitor_of, steady

from .turns import table

DAYS, CHANGE, A_DAY, PREVALENCE, AUDITED = 80, 50, 2_000, 0.02, 4
CUT, GAP = 1.5, 2.0


class Change(NamedTuple):
    """What happens on day 50.

    Attributes:
        false_positive: share of negatives that are labelled positive from then on.
        false_negative: share of positives that are labelled negative.
        gap: between the scores of both classes, in their standard deviations.
    """

    false_positive: float = WRONG.false_positive
    false_negative: float = WRONG.false_negative
    gap: float = GAP


class Regime(NamedTuple):
    """What is known of wrong labels.

    Attributes:
        errors: as `label_errors` is configured.
        audited_after: days after which audits come; None without any.
    """

    errors: object
    audited_after: float | None = None


CHANGES = {
    "nothing": Change(),
    "3 % of negatives labelled positive": Change(false_positive=0.03),
    "20 % of positives labelled negative": Change(false_negative=0.2),
    "the model: classes closer by a third": Change(gap=1.3),
}
REGIMES = {
    "no rates": Regime({}),
    "known rates": Regime(WRONG.rates),
    "audits after 6 hours": Regime(AUDITS, 0.25),
    "audits after 5 days": Regime(AUDITS, 5.0),
}


def cases_of(change: Change, seed: int) -> Cases:
    """Return the cases of one model."""

    def rates(day: int) -> tuple[float, float]:
        changed = change.false_positive, change.false_negative
        return changed if day >= CHANGE else (WRONG.false_positive, WRONG.false_negative)

    cases = Cases(DAYS, A_DAY, seed, steady(PREVALENCE), rates=rates)
    gap = np.where(cases.day >= CHANGE, change.gap, GAP)
    normal = cases.rng.normal(size=len(cases.day)) + gap * cases.actual
    cases.called = normal >= CUT
    cases.score = expit(1.5 * (normal - CUT))
    return cases


def paged(cases: Cases, regime: Regime) -> tuple[bool, bool]:
    """Return whether a model paged before the change, and from then on."""
    monitor = monitor_of(regime.errors)
    for day in range(DAYS):
        monitor.apply(cases.batch(day))
        if regime.audited_after is not None:
            _apply_audits(monitor, cases, day, regime.audited_after)
    detections = monitor.snapshot().models[0].watched.detections
    times = [one.at for one in detections if one.kind in {str(verdict) for verdict in DEGRADED}]
    changed = CHANGE * DAY_MS
    return any(at < changed for at in times), any(at >= changed for at in times)


def _apply_audits(monitor: Monitor, cases: Cases, day: int, after: float) -> None:
    made = day - int(after)
    if made < 0:
        return
    found = cases.audits(AUDITED, [made])
    # `Cases.audits` dates them a day after the prediction.
    time = found.labels.time - DAY_MS + int(after * DAY_MS) + HOUR_MS
    order = np.argsort(time, kind="stable")
    labels = replace(found.labels, time=time, row=time).take(order)
    monitor.apply(EventBatch(labels=labels, records=found.records))


def rows(models: int, seed: int, asked: str = "") -> list[tuple[str, ...]]:
    """Return the share of models that page before the change, and after it, by regime.

    Args:
        models: of each row.
        seed: of the first one.
        asked: part of the names of the changes.
    """
    found = []
    for name, change in CHANGES.items():
        if asked not in name:
            continue
        for of, regime in REGIMES.items():
            pages = [paged(cases_of(change, seed + at), regime) for at in range(models)]
            before, after = np.array(pages).sum(axis=0).tolist()
            found.append((name, of, f"{before} of {models}", f"{after} of {models}"))
            print(*found[-1], sep=" | ", flush=True)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", type=int, default=10, help="of each row")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--change", default="", help="only changes whose name contains this")
    args = parser.parse_args()
    recall, false = norm.sf(CUT - GAP), norm.sf(CUT)
    print(f"recall {recall:.2f} at a false-positive rate of {false:.3f}")
    head = ("what changes", "label_errors", "page before", "page after")
    print(table(head, rows(args.models, args.seed, args.change)))


if __name__ == "__main__":
    main()
