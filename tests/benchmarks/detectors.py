"""Measure what the detectors claim: false pages, delays, run length, mix, overdispersion, cost.

    python -m tests.benchmarks.detectors [--series 200] [--panes 1000]

Seeded simulations of panes of 1,000 events that are fed to the public detectors.
`rivals` compares them with other monitors on the same streams.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from monitor.counts import ConfusionCounts
from monitor.drift.class_ratio_detector import ClassRatioDetector
from monitor.drift.detectors import ShiryaevRoberts, page_threshold
from monitor.drift.dispersion import Dispersion
from monitor.drift.profile import SeasonalProfile
from monitor.drift.verdict_rule import verdicts

EVENTS = 1_000
REFERENCE_PANES = 400
DAY_PANES = 100
PANE_SECONDS = 864.0
RUN_LENGTH = 1e5  # panes between two false pages of one series


@dataclass(frozen=True)
class Truth:
    """Parameters of a stream from the change on."""

    prevalence: float = 0.1
    recall: float = 0.8
    false_positive_rate: float = 0.05
    season: float = 0.0  # amplitude of log-odds of prevalence over the day
    ramp: int = 0  # panes over which prevalence changes
    icc: float = 0.0  # correlation of rows of one pane, given their class


BASES = {0.1: Truth(), 0.01: Truth(0.01, 0.8, 0.005)}


def draw(
    rng: np.random.Generator,
    truth: Truth,
    *,
    series: int,
    pane: int = 0,
    since: int = 0,
    before: Truth,
) -> ConfusionCounts:
    """One pane of each series, `since` panes after the change."""
    share = 1.0 if not truth.ramp else min(1.0, since / truth.ramp)
    prevalence = (1 - share) * before.prevalence + share * truth.prevalence
    odds = prevalence / (1 - prevalence)
    odds *= np.exp(truth.season * np.sin(2 * np.pi * pane / DAY_PANES))
    positive = rng.binomial(EVENTS, odds / (1 + odds), series)
    tp = rng.binomial(positive, _rate(rng, truth.recall, truth.icc, series))
    fp = rng.binomial(EVENTS - positive, _rate(rng, truth.false_positive_rate, truth.icc, series))
    return ConfusionCounts(tp=tp, fp=fp, fn=positive - tp, tn=EVENTS - positive - fp)


def _rate(
    rng: np.random.Generator, rate: float, icc: float, series: int
) -> float | NDArray[np.float64]:
    size = 1 / icc - 1 if icc else 0.0
    return rng.beta(rate * size, (1 - rate) * size, series) if icc else rate


def panes(
    seed: int, before: Truth, after: Truth, *, series: int, length: int, change: int
) -> Iterator[ConfusionCounts]:
    """A stream of panes that follows `before` up to the change and `after` from then on."""
    rng = np.random.default_rng(seed)
    for pane in range(length):
        truth = after if pane >= change else before
        yield draw(rng, truth, series=series, pane=pane, since=pane - change, before=before)


def reference_of(seed: int, truth: Truth, series: int) -> ConfusionCounts:
    """Panes of the reference, (series, panes)."""
    stream = panes(seed, truth, truth, series=series, length=REFERENCE_PANES, change=0)
    cells = np.stack([pane.cells for pane in stream], axis=1)
    return ConfusionCounts.from_cells(cells)


def first_alarms(
    update: Callable[[int, ConfusionCounts], NDArray[np.bool_]],
    stream: Iterator[ConfusionCounts],
    series: int,
    start: int = 0,
) -> tuple[NDArray[np.int64], int]:
    """Pane of each series' first alarm from `start` on (-1: none), and alarms raised in all."""
    first = np.full(series, -1)
    raised, before = 0, np.zeros(series, dtype=bool)
    for number, pane in enumerate(stream):
        alarm = update(number, pane)
        raised += int((alarm & ~before).sum())
        before = alarm
        if number >= start:
            first = np.where((first < 0) & alarm, number, first)
    return first, raised


def skill_detector(
    reference: ConfusionCounts, *, threshold: float = 2 * RUN_LENGTH, dispersed: bool = False
) -> Callable[[int, ConfusionCounts], NDArray[np.bool_]]:
    """The built-in detector with the whole reference, (series, panes)."""
    dispersion = Dispersion.estimate(reference, (1, 4, DAY_PANES)) if dispersed else 1.0
    detector = ShiryaevRoberts(
        reference=reference.sum(axis=-1), threshold=threshold, dispersion=dispersion
    )
    return lambda _, pane: detector.update(pane)


def false_pages(series: int, length: int) -> None:
    """Pages per million events where skill never changes (goal: at most .01)."""
    print("\nFalse skill pages per million events (goal: at most .01)")
    print(f"{'prevalence':>12} {'nothing':>9} {'season':>9} {'halved':>9} {'tenth':>9} {'ramp':>9}")
    for prevalence, base in BASES.items():
        cells = [
            (base, base),
            (replace(base, season=0.7), replace(base, season=0.7)),
            (base, replace(base, prevalence=prevalence / 2)),
            (base, replace(base, prevalence=prevalence / 10)),
            (base, replace(base, prevalence=prevalence / 2, ramp=length // 2)),
        ]
        row = []
        for seed, (before, after) in enumerate(cells):
            update = skill_detector(reference_of(seed, before, series))
            stream = panes(
                100 + seed, before, after, series=series, length=length, change=length // 3
            )
            _, raised = first_alarms(update, stream, series)
            row.append(raised / (series * length * EVENTS / 1e6))
        print(f"{prevalence:>12.0%} " + " ".join(f"{rate:>9.4f}" for rate in row))


# TPR after, FPR times, prevalence times, goals at 10 % and at 1 % prevalence
DELAYS = {
    "TPR .8 to .7": (0.7, 1, 1, 10, 80),
    "TPR .8 to .5": (0.5, 1, 1, 2, 9),
    "FPR x 1.5": (0.8, 1.5, 1, 7, 50),
    "FPR x 2": (0.8, 2, 1, 3, 12),
    "masked": (0.6, 1, 2, 2, 12),
}


def delays(series: int, length: int) -> None:
    """Median thousand events from the change to the page, and how many are missed."""
    print("\nMedian delay in thousand events / missed (goal in brackets, none missed)")
    for name, (recall, false, positives, *goals) in DELAYS.items():
        row = []
        for (prevalence, base), goal in zip(BASES.items(), goals, strict=True):
            now = Truth(prevalence * positives, recall, base.false_positive_rate * false)
            update = skill_detector(reference_of(7, base, series))
            change = length // 3
            stream = panes(8, base, now, series=series, length=length, change=change)
            first, _ = first_alarms(update, stream, series, change)
            median = np.median(np.where(first < 0, length, first) - change + 1)
            row.append(f"{prevalence:>4.0%}: {median:6.1f} / {(first < 0).sum():d} [{goal}]")
        print(f"{name:>14}   " + "   ".join(row))


def run_length(series: int) -> None:
    """Average run length at the exact boundary, for a target of 1,000 panes a series."""
    print("\nAverage run length in panes at a known boundary (target 1000)")
    for prevalence, base in BASES.items():
        known = ConfusionCounts(
            tp=1e12 * prevalence * base.recall,
            fn=1e12 * prevalence * (1 - base.recall),
            fp=1e12 * (1 - prevalence) * base.false_positive_rate,
            tn=1e12 * (1 - prevalence) * (1 - base.false_positive_rate),
        )
        detector = ShiryaevRoberts(reference=known, threshold=2_000, tolerance=0)
        longest = 30_000
        stream = panes(9, base, base, series=series, length=longest, change=0)
        first = np.full(series, -1)
        for number, pane in enumerate(stream):
            first = np.where((first < 0) & detector.update(pane), number + 1, first)
            if (first > 0).all():
                break
        mean = np.where(first < 0, longest, first).mean()
        print(f"{prevalence:>12.0%} {mean:9.0f} (still running: {(first < 0).sum()})")


def mix_only(series: int, length: int) -> None:
    """Pages where only the share of a hard segment changes, and where recall falls by .1."""
    print(
        "\nChange of mix: share of series that page (goal: at most 2 % without a change of skill)"
    )
    recalls, rates, prevalence = np.array([0.9, 0.6]), np.array([0.03, 0.1]), 0.1
    cases = {
        "hard share .3 to .5": (0.5, 0.0),
        "hard share .3 to .7": (0.7, 0.0),
        "recall -.1, same mix": (0.3, 0.1),
        "recall -.1, .3 to .5": (0.5, 0.1),
    }
    for name, (share, loss) in cases.items():
        rng = np.random.default_rng(11)

        def pane(hard: float, recall: NDArray[np.float64], events: int) -> ConfusionCounts:
            total = np.array([1 - hard, hard]) * events
            positive = rng.binomial(np.rint(total).astype(int), prevalence, (series, 2))  # noqa: B023
            negative = np.rint(total).astype(int) - positive
            tp, fp = rng.binomial(positive, recall), rng.binomial(negative, rates)  # noqa: B023
            return ConfusionCounts(tp=tp, fp=fp, fn=positive - tp, tn=negative - fp)

        reference = pane(0.3, recalls, REFERENCE_PANES * EVENTS)
        within = ShiryaevRoberts(reference=reference, threshold=2 * RUN_LENGTH, segments=True)
        plain = ShiryaevRoberts(reference=reference.sum(axis=-1), threshold=2 * RUN_LENGTH)
        first = np.full((2, series), -1)
        for number in range(length):
            now = pane(share, recalls - loss, EVENTS)
            alarms = np.stack([within.update(now), plain.update(now.sum(axis=-1))])
            first = np.where((first < 0) & alarms, number + 1, first)
        paged = (first > 0).mean(axis=1)
        delay = f"{np.median(first[0][first[0] > 0]):g}k" if (first[0] > 0).any() else "-"
        print(f"{name:>22}   by segment {paged[0]:7.1%} (delay {delay})   plain {paged[1]:7.1%}")


def overdispersed(series: int, length: int) -> None:
    """False pages and delay where rows of a pane go together (goal: at most .01 per million)."""
    print("\nOverdispersed panes: false pages per million events, and delay of FPR x 1.5")
    for icc in (0.005, 0.02):
        base = Truth(icc=icc)
        reference = reference_of(13, base, series)
        row = []
        for dispersed in (False, True):
            stream = panes(14, base, base, series=series, length=length, change=0)
            _, raised = first_alarms(skill_detector(reference, dispersed=dispersed), stream, series)
            row.append(raised / (series * length * EVENTS / 1e6))
        worse = replace(base, false_positive_rate=0.075)
        stream = panes(15, base, worse, series=series, length=length, change=length // 3)
        first, _ = first_alarms(
            skill_detector(reference, dispersed=True), stream, series, length // 3
        )
        median = np.median(np.where(first < 0, length, first) - length // 3 + 1)
        print(
            f"  icc {icc:5.3f}: {row[0]:8.3f} without, {row[1]:.4f} with; "
            f"{median:5.1f}k, missed {(first < 0).sum()}"
        )


def class_ratio(series: int, length: int) -> None:
    """Notes on the class ratio, against its profile: false ones, and the delay of a halving."""
    print("\nClass ratio against its profile: false notes per million events, delay of a halving")
    for prevalence, steady in BASES.items():
        base = replace(steady, season=0.7)
        opened = PANE_SECONDS * np.arange(REFERENCE_PANES + length)
        reference = reference_of(17, base, series)
        row = []
        for after in (base, replace(base, prevalence=prevalence / 2)):
            profile = SeasonalProfile.learn(opened[:REFERENCE_PANES], reference, phases=48)
            detector = ClassRatioDetector(profile=profile, threshold=2 * RUN_LENGTH)
            change = length // 3
            stream = panes(18, base, after, series=series, length=length, change=change)
            update = _noting(detector, opened[REFERENCE_PANES:])
            row.append(first_alarms(update, stream, series, change))
        raised, first = row[0][1], row[1][0]
        median = np.median(np.where(first < 0, length, first) - length // 3 + 1)
        rate = raised / (series * length * EVENTS / 1e6)
        print(f"{prevalence:>12.0%} {rate:9.4f}   {median:5.1f}k, missed {(first < 0).sum()}")


def _noting(
    detector: ClassRatioDetector, opened: NDArray[np.float64]
) -> Callable[[int, ConfusionCounts], NDArray[np.bool_]]:
    return lambda number, pane: detector.update(pane, opened=float(opened[number]))


def cost(series: int = 10_000, rounds: int = 50) -> None:
    """Milliseconds at pane close for all series (goal: within 5 for detectors and verdict)."""
    rng = np.random.default_rng(19)
    base = Truth()
    reference = ConfusionCounts.from_cells(draw(rng, base, series=series, before=base).cells * 400)
    pane = draw(rng, base, series=series, before=base)
    window = ConfusionCounts.from_cells(pane.cells * 40)
    threshold = page_threshold(1, series=series, pane_seconds=60)
    skill = ShiryaevRoberts(reference=reference, threshold=threshold)
    hours = ConfusionCounts.from_cells(np.repeat(pane.cells[:, None] * 20, 24, axis=1))
    profile = SeasonalProfile.learn(3600.0 * np.arange(24), hours)
    ratio = ClassRatioDetector(profile=profile, threshold=threshold)
    work = {
        "recall and false positives": lambda: skill.update(pane),
        "class ratio": lambda: ratio.update(pane, opened=0.0),
        "verdict": lambda: verdicts(reference, window),
    }
    print(f"\nMilliseconds at pane close for {series} series (goal: 5 in all)")
    total = 0.0
    for name, call in work.items():
        call()
        started = time.process_time()
        for _ in range(rounds):
            call()
        spent = (time.process_time() - started) / rounds * 1e3
        total += spent
        print(f"{name:>30} {spent:6.2f}")
    print(f"{'all':>30} {total:6.2f}")


def main() -> None:
    """Print every table."""
    parser = argparse.ArgumentParser(description="Detectors against their goals (seeded).")
    parser.add_argument("--series", type=int, default=200)
    parser.add_argument("--panes", type=int, default=1_000)
    options = parser.parse_args()
    false_pages(options.series, options.panes)
    delays(options.series, options.panes)
    run_length(options.series)
    mix_only(options.series, options.panes)
    overdispersed(options.series, options.panes)
    class_ratio(options.series, options.panes)
    cost()


if __name__ == "__main__":
    main()
