"""What scores settle: a slide of the threshold, of the scores, of both, and a worse curve.

    python -m tests.benchmarks.score_skill [--draws 300]

Seeded. Scores are binormal, with positives that scatter as much as negatives, less, or more.
Outcomes come by 14 days before and 7 days after, 30,000 after, a tenth of them positive; both
windows have their scores by day. Right is `threshold_moved` for the slides (or, where log LR+
is as before, no verdict of a worse or better model), and a verdict of a worse model for the
worse curve. Then the same with a share of all labels flipped, corrected for its known rate, and how
often the intervals of both parts of the change of precision hold. Then what scores cost: bytes a
model, and the time of an event.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from monitor.config import Config
from monitor.counts import ConfusionCounts, Outcome
from monitor.drift import Verdict
from monitor.drift.compared_outcomes import ComparedOutcomes
from monitor.drift.curve_parts import CurvePart, curve_parts
from monitor.drift.dispersion import Dispersion
from monitor.drift.judgement_on_curve import judge_on_curve, no_scores
from monitor.drift.verdict import DEGRADED
from monitor.engine import Monitor
from monitor.events.catalogue import Catalogue
from monitor.events.columns import EventBatch, Group, Outcomes
from monitor.events.score_bins import SCORE_BINS, score_bins
from monitor.join.deltas import CELLS
from monitor.labels.regime import LabelRegime
from monitor.labels.sampled_labels import expected
from monitor.metrics.corrected_scores import actual_classes
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.label_errors import ErrorRates
from monitor.state.encoding import encoded
from monitor.windows.scores import Scores
from monitor.windows.weights import SUMS

from .turns import table

GAP, CUT, PREVALENCE = 2.4, 1.6, 0.1
BEFORE_DAYS, AFTER_DAYS, OUTCOMES = 14, 7, 30_000
SCATTER = {"alike": 1.0, "positives less": 0.6, "positives more": 1.6}
DAY = 86_400_000


class Change(NamedTuple):
    """What changed, in standard deviations of the negatives' scores.

    Attributes:
        cut: added to the threshold.
        slide: added to all scores.
        gap: added to the distance of the classes.
    """

    cut: float = 0.0
    slide: float = 0.0
    gap: float = 0.0


SLIDES = {
    "threshold +.3": Change(cut=0.3),
    "threshold -.3": Change(cut=-0.3),
    "threshold +.6": Change(cut=0.6),
    "threshold +1": Change(cut=1.0),
    "scores -.3": Change(slide=-0.3),
    "scores +.3": Change(slide=0.3),
    "both: threshold +.2, scores -.3": Change(cut=0.2, slide=-0.3),
}
WORSE = {
    "curve -.4": Change(gap=-0.4),
    "curve -.4, threshold +.3": Change(gap=-0.4, cut=0.3),
    "curve -.4, threshold -.3": Change(gap=-0.4, cut=-0.3),
}


FLIPS = (0.0, 0.01, 0.05)


class Drawn(NamedTuple):
    """Outcomes by day, how much more their rows vary than independent ones, and scores by day."""

    outcomes: ConfusionCounts
    dispersion: Dispersion
    scores: ScoreHistogram


def drawn(
    rng: np.random.Generator, days: int, change: Change, scatter: float, flips: float = 0.0
) -> Drawn:
    """Return days of outcomes of a model with binormal scores, corrected for flipped labels."""
    cells, found = np.zeros((days, 1, CELLS), dtype=np.int64), []
    for day in range(days):
        size = OUTCOMES // AFTER_DAYS
        actual = rng.random(size) < PREVALENCE
        normal = rng.normal(size=size) * np.where(actual, scatter, 1.0)
        normal += np.where(actual, GAP + change.gap, 0.0) + change.slide
        flagged = normal >= CUT + change.cut
        label = actual ^ (rng.random(size) < flips) if flips else actual
        cells[day, 0, : len(Outcome)] = [
            np.sum(label & flagged),
            np.sum(~label & flagged),
            np.sum(label & ~flagged),
            np.sum(~label & ~flagged),
        ]
        bins = score_bins(expit(normal - 1.0))
        found.append([np.bincount(bins[one], minlength=SCORE_BINS) for one in (label, ~label)])
    scores, rates = np.array(found), ErrorRates(flips, flips)
    labelled = ScoreHistogram(
        positive=scores[:, 0], negative=scores[:, 1], unlabelled=np.zeros_like(scores[:, 0])
    )
    weights = np.zeros((days, 1, SUMS), dtype=np.int64)
    outcomes, more = expected(LabelRegime(errors=rates), cells, weights, DAY * np.arange(days))
    return Drawn(
        ConfusionCounts.from_cells(outcomes[:, 0]),
        more or Dispersion.of(1.0),
        actual_classes(labelled, rates),
    )


def judged(
    rng: np.random.Generator, change: Change, scatter: float, flips: float = 0.0, *, scored: bool
) -> Verdict:
    """Return the verdict on one draw, with or without scores."""
    before = drawn(rng, BEFORE_DAYS, Change(), scatter, flips)
    after = drawn(rng, AFTER_DAYS, change, scatter, flips)
    whole = ComparedOutcomes(before.outcomes, after.outcomes)
    scores = before.scores if scored else None
    more = before.dispersion.larger(after.dispersion)
    asked = None if flips else no_scores  # corrected scores do not tell labels from the model
    found, _ = judge_on_curve(
        whole, more, between=None, scores=scores, scores_after=asked, days=whole
    )
    return found.verdict


def held(draws: int) -> list[tuple[str, ...]]:
    """Return a row for each change, scatter and share of flipped labels: coverage of both parts."""
    rows = []
    for name in ("threshold +.3", "threshold -.3", "curve -.4, threshold +.3"):
        change = (SLIDES | WORSE)[name]
        for scatter, width in SCATTER.items():
            rng = np.random.default_rng(7)
            many = [drawn(rng, 400, one, width) for one in (Change(), change)]
            true = _parts(*many)
            cells = [name, scatter]
            for flips in FLIPS:
                rng, inside = np.random.default_rng(8), []
                for _ in range(draws):
                    found = _parts(
                        drawn(rng, BEFORE_DAYS, Change(), width, flips),
                        drawn(rng, AFTER_DAYS, change, width, flips),
                    )
                    inside.append(
                        [
                            one.lower_points <= right.points <= one.upper_points
                            for one, right in zip(found, true, strict=True)
                        ]
                    )
                cells += [f"{one:.3f}" for one in np.mean(inside, axis=0)]
            rows.append(tuple(cells))
    return rows


def _parts(before: Drawn, after: Drawn) -> tuple[CurvePart, CurvePart]:
    found = curve_parts(before.scores, before.outcomes, after.outcomes)
    assert found is not None
    return found.threshold, found.curve


def shares(draws: int, flips: float) -> list[tuple[str, str, str, str, str]]:
    """Return a row for each change and scatter: shares right and called degraded."""
    rows = []
    for name, change in (SLIDES | WORSE).items():
        for scatter, width in SCATTER.items():
            rng = np.random.default_rng(5)
            found = [judged(rng, change, width, flips, scored=True) for _ in range(draws)]
            alone = [judged(rng, change, width, flips, scored=False) for _ in range(draws)]
            wanted = DEGRADED if name in WORSE else {Verdict.THRESHOLD_MOVED}
            rows.append(
                (
                    name,
                    scatter,
                    f"{np.mean([one in wanted for one in found]):.3f}",
                    f"{np.mean([one in DEGRADED for one in found]):.3f}",
                    f"{np.mean([one in DEGRADED for one in alone]):.3f}",
                )
            )
    return rows


def costs(days: int = 80, a_day: int = 20_000) -> list[tuple[str, str, str]]:
    """Return what scores cost: nanoseconds of CPU an outcome, and bytes a model."""
    spent: dict[bool, float] = {}
    sizes = {}
    for scored in (False, True, False, True):
        monitor, rng = Monitor(Config(windows=["1d", "7d"])), np.random.default_rng(6)
        batches = [scored_batch(rng, day, a_day, scored=scored) for day in range(days)]
        began = time.process_time()
        for batch in batches:
            monitor.apply(batch)
        took = 1e9 * (time.process_time() - began) / (days * a_day)
        spent[scored] = min(took, spent.get(scored, took))
        sizes[scored] = sum(map(len, map(bytes, encoded(monitor.state(), 1))))
    reserved = Scores(Catalogue(Config(models={"m": {}}, windows=["1d"])))
    reserved.advance(np.array([DAY]))
    return [
        ("ns an outcome", f"{spent[False]:.0f}", f"{spent[True]:.0f}"),
        ("bytes of a checkpoint", f"{sizes[False]:,}", f"{sizes[True]:,}"),
        ("bytes of histograms, reserved", "", f"{reserved.nbytes:,}"),
    ]


def scored_batch(
    rng: np.random.Generator,
    day: int,
    size: int,
    groups: tuple[Group, ...] = (Group("m"),),
    *,
    scored: bool,
) -> EventBatch:
    """Return outcomes of a day, of models drawn at random, with or without their scores."""
    actual, normal = rng.random(size) < PREVALENCE, rng.normal(size=size)
    score = expit(normal + GAP * actual - 1.0)
    moment = day * DAY + np.sort(rng.integers(0, DAY, size))
    return EventBatch(
        outcomes=Outcomes(
            time=moment,
            label_time=moment,
            predicted_positive=score >= 0.5,  # any threshold
            actual_positive=actual,
            score=score if scored else np.full(size, np.nan),
            group=rng.integers(0, len(groups), size),
        ),
        groups=groups,
        records=size,
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=300)
    draws = parser.parse_args().draws
    head = ("change", "scatter", "right", "degraded", "degraded without scores")
    for flips in FLIPS:
        print(f"\n{100 * flips:g} % of labels flipped")
        print(table(head, shares(draws, flips)))
    parts = [f"{part}, {100 * flips:g} %" for flips in FLIPS for part in ("threshold", "curve")]
    print("\ncoverage of the parts, by share of labels flipped")
    print(table(("change", "scatter", *parts), held(draws)))
    print(table(("cost", "without scores", "with scores"), costs()))


if __name__ == "__main__":
    main()
