"""Shares of right, wrong and silent verdicts; attribution, mix, label-free; real streams.

    python -m tests.benchmarks.verdicts [--draws 2000] [--flights PATH] [--rain PATH]

Seeded. Wrong is any verdict but the true one and `insufficient_evidence`. The
real streams are judged by blocks of days: the bundled sample of the flights, or
the one given, and the rain stream where its path is given.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from monitor.counts import ConfusionCounts
from monitor.drift import Verdict, attribute, judge, judge_within_segments, verdicts
from monitor.drift.decided_by_curve import roc_decides
from monitor.drift.label_free import nowcast
from monitor.drift.prevalence import adjusted_count, expectation_maximisation, goodness_of_fit
from monitor.drift.roc import below_reference_curve
from monitor.drift.verdict import DEGRADED, IMPROVED, OF_THE_MODEL
from monitor.metrics.histogram import ScoreHistogram
from tests.benchmarks.recorded_stream import Stream

FLIGHTS = Path(__file__).parents[2] / "monitor" / "demo" / "flights.ndjson.gz"

# Prevalence, TPR and FPR now, after .1, .8 and .05; and the true verdict.
TRUTHS = {
    "nothing": (0.1, 0.8, 0.05, Verdict.NO_CHANGE),
    "prevalence 7.5 %": (0.075, 0.8, 0.05, Verdict.PREVALENCE_SHIFT),
    "prevalence 5 %": (0.05, 0.8, 0.05, Verdict.PREVALENCE_SHIFT),
    "prevalence 1 %": (0.01, 0.8, 0.05, Verdict.PREVALENCE_SHIFT),
    "TPR .7": (0.1, 0.7, 0.05, Verdict.MODEL_DEGRADED),
    "TPR .5": (0.1, 0.5, 0.05, Verdict.MODEL_DEGRADED),
    "FPR x 1.5": (0.1, 0.8, 0.075, Verdict.MODEL_DEGRADED),
    "FPR x 2": (0.1, 0.8, 0.1, Verdict.MODEL_DEGRADED),
    "TPR .7, FPR x 1.5": (0.1, 0.7, 0.075, Verdict.MODEL_DEGRADED),
    "5 %, FPR x 1.5": (0.05, 0.8, 0.075, Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED),
    "5 %, TPR .5": (0.05, 0.5, 0.05, Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED),
    "masked: 20 %, FPR x 2": (0.2, 0.8, 0.1, Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED),
}
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000)

EPISODES = {
    "flights": [
        ("2013-07-01", "2013-08-01", "2013-09-01", "2013-10-01"),
        ("2013-08-01", "2013-09-01", "2013-09-01", "2013-10-01"),
        ("2013-11-01", "2013-12-01", "2013-12-01", "2014-01-01"),
        ("2013-03-01", "2013-04-01", "2013-12-01", "2014-01-01"),
        ("2013-03-01", "2013-05-01", "2013-11-01", "2014-01-01"),
    ],
    "rain": [
        ("1965-01-01", "1970-01-01", "1971-01-01", "1976-01-01"),
        ("1988-01-01", "1993-01-01", "1996-01-01", "1998-10-01"),
        ("1960-01-01", "1965-01-01", "1965-01-01", "1970-01-01"),
        ("1975-01-01", "1980-01-01", "1984-01-01", "1989-01-01"),
    ],
}


def draw(
    rng: np.random.Generator, events: int, rates: tuple[float, float, float], draws: int
) -> ConfusionCounts:
    """Outcomes of independent rows with this prevalence, TPR and FPR."""
    prevalence, recall, false = rates
    positive = rng.binomial(events, prevalence, draws)
    tp, fp = rng.binomial(positive, recall), rng.binomial(events - positive, false)
    return ConfusionCounts(tp=tp, fp=fp, fn=positive - tp, tn=events - positive - fp)


def twelve_truths(draws: int, sizes: tuple[int, ...] = SIZES) -> dict[int, tuple[float, float]]:
    """Share right over all truths, and the worst share wrong of any, by window size."""
    rng, found = np.random.default_rng(1), {}
    for size in sizes:
        right, wrong = [], []
        for *now, truth in TRUTHS.values():
            before = draw(rng, 10 * size, (0.1, 0.8, 0.05), draws)
            reported = verdicts(before, draw(rng, size, (now[0], now[1], now[2]), draws))
            right.append((reported == truth).mean())
            silent = reported == Verdict.INSUFFICIENT_EVIDENCE
            wrong.append(((reported != truth) & ~silent).mean())
        found[size] = (float(np.mean(right)), float(np.max(wrong)))
    return found


def slide(
    draws: int, size: int, step: float, prevalence: float = 0.1
) -> tuple[float, float, float]:
    """Shares called degraded, improved and moved where only the threshold slid.

    On the binormal curve through TPR .8 at FPR .05, by `step` standard
    deviations of the scores.
    """
    rng = np.random.default_rng(2)
    cut, gap = -norm.ppf(0.05), norm.ppf(0.8) - norm.ppf(0.05)
    rates = [(prevalence, float(norm.sf(c - gap)), float(norm.sf(c))) for c in (cut, cut + step)]
    reported = verdicts(draw(rng, 10 * size, rates[0], draws), draw(rng, size, rates[1], draws))
    moved = (reported == Verdict.OPERATING_POINT_MOVED).mean()
    return (
        float(np.isin(reported, list(DEGRADED)).mean()),
        float(np.isin(reported, list(IMPROVED)).mean()),
        float(moved),
    )


def slide_with_scores(draws: int, size: int, step: float, worse: float = 0.0) -> float:
    """Share called degraded where the threshold slid and the reference's ROC curve decides.

    The same curve as in `slide`; `worse` takes standard deviations off the
    distance of the classes.
    """
    rng = np.random.default_rng(7)
    edges = np.linspace(-4, 6, 1_001)
    cut, gap = -norm.ppf(0.05), norm.ppf(0.8) - norm.ppf(0.05)
    shares = [np.diff(norm.cdf(edges - middle)) for middle in (0.0, gap)]
    shares = [share / share.sum() for share in shares]
    now = (0.1, float(norm.sf(cut + step - gap + worse)), float(norm.sf(cut + step)))
    called = []
    for _ in range(draws):
        positive = int(rng.binomial(10 * size, 0.1))
        negatives = rng.multinomial(10 * size - positive, shares[0])
        positives = rng.multinomial(positive, shares[1])
        reference = ScoreHistogram(
            positive=positives, negative=negatives, unlabelled=np.zeros_like(positives)
        )
        at = int(np.searchsorted(edges, cut))
        tp, fp = positives[at:].sum(), negatives[at:].sum()
        before = ConfusionCounts(tp=tp, fp=fp, fn=positive - tp, tn=10 * size - positive - fp)
        after = draw(rng, size, now, 1)[0]
        found = judge(before, after)
        if roc_decides(found):
            below = below_reference_curve(reference, after, before=before)
            found = judge(before, after, below_reference_curve=below)
        called.append(found.verdict in DEGRADED)
    return float(np.mean(called))


def mix_only(draws: int, size: int, share: float) -> tuple[float, float]:
    """Shares of skill verdicts where only the share of a hard segment rose from .3.

    By segment, and from the counts of all together.
    """
    rng = np.random.default_rng(3)
    reported: list[list[Verdict]] = [[], []]
    for _ in range(draws):
        windows = []
        for events, hard in ((10 * size, 0.3), (size, share)):
            parts = [
                draw(rng, round(events * (1 - hard)), (0.1, 0.9, 0.03), 1).cells[0],
                draw(rng, round(events * hard), (0.1, 0.6, 0.1), 1).cells[0],
            ]
            windows.append(ConfusionCounts.from_cells(np.stack(parts)))
        reported[0].append(judge_within_segments(*windows).verdict)
        reported[1].append(judge(windows[0].sum(), windows[1].sum()).verdict)
    skill = [np.isin(np.array(v, dtype=object), list(OF_THE_MODEL)).mean() for v in reported]
    return float(skill[0]), float(skill[1])


def stormy_days(draws: int, days: int = 30, outcomes: int = 1_000) -> tuple[float, float]:
    """Shares of verdicts of change where nothing changed but the weather of each day.

    By blocks of days, and as if rows were independent. Day to day, log-odds of
    prevalence scatter by .5, and those of recall and false positives by .3 together.
    """
    rng = np.random.default_rng(4)
    windows = []
    for _ in range(2):
        weather = rng.normal(size=(draws, days))
        positive = rng.binomial(outcomes, _expit(-2.2 + 0.5 * rng.normal(size=(draws, days))))
        tp = rng.binomial(positive, _expit(1.4 + 0.3 * weather))
        fp = rng.binomial(outcomes - positive, _expit(-2.9 + 0.3 * weather))
        windows.append(ConfusionCounts(tp=tp, fp=fp, fn=positive - tp, tn=outcomes - positive - fp))
    silent = (Verdict.NO_CHANGE, Verdict.INSUFFICIENT_EVIDENCE)
    by_day = ~np.isin(verdicts(*windows, blocks=True), silent)
    plain = ~np.isin(verdicts(*(window.sum(axis=-1) for window in windows)), silent)
    return float(by_day.mean()), float(plain.mean())


def interval_coverage(draws: int, size: int) -> dict[str, float]:
    """Coverage of the true parts by the 95 % intervals in points (10 to 5 %, TPR .8 to .7)."""
    rng = np.random.default_rng(5)
    old, new = (0.1, 0.8, 0.05), (0.05, 0.7, 0.06)
    truth = attribute(*(_expected(rates) for rates in (old, new))).points
    before, after = draw(rng, 10 * size, old, draws), draw(rng, size, new, draws)
    found = [attribute(before[i], after[i]) for i in range(draws)]
    return {
        cause: float(
            np.mean([f.lower_points[cause] <= part <= f.upper_points[cause] for f in found])
        )
        for cause, part in truth.items()
    }


def label_free(draws: int, size: int, prevalence: float, shift: float) -> dict[str, float]:
    """Goodness of fit and nowcast on binormal scores (d' 2.2, TPR .69, FPR .045).

    `shift` moves all scores: a covariate shift. The reference has 50,000 labels.
    """
    rng = np.random.default_rng(6)
    edges = np.linspace(-4, 6, 201)
    cut = -norm.ppf(0.045)
    flagged, errors = [], {"em": [], "adjusted_count": []}
    covered = {"em": [], "adjusted_count": []}
    for _ in range(draws):
        reference, scores = _scores(rng, 50_000, prevalence, edges, 0.0)
        histogram = ScoreHistogram(
            positive=reference[1], negative=reference[0], unlabelled=np.zeros_like(reference[0])
        )
        counts = _at(scores, cut)
        live, drawn = _scores(rng, size, prevalence, edges, shift)
        now = _at(drawn, cut)
        called = int(now.predicted_positive)
        em = expectation_maximisation(live.sum(axis=0), histogram)
        flagged.append(goodness_of_fit(live.sum(axis=0), histogram, em.estimate) < 0.001)
        for method, found in (("em", em), ("adjusted_count", adjusted_count(called, size, counts))):
            covered[method].append(found.lower <= prevalence <= found.upper)
            truth = float(norm.sf(cut - 2.2)) * prevalence
            truth /= truth + (1 - prevalence) * 0.045
            guess = nowcast(
                predicted_positive=called,
                total=size,
                reference=counts,
                scores=live.sum(axis=0) if method == "em" else None,
                reference_scores=histogram if method == "em" else None,
            )
            errors[method].append(guess.precision - truth)
    return {
        "flagged": float(np.mean(flagged)),
        **{f"{m} coverage": float(np.mean(c)) for m, c in covered.items()},
        **{f"{m} rmse": _root_mean_square(e) for m, e in errors.items()},
    }


def _root_mean_square(errors: list[float]) -> float:
    known = np.array(errors)[~np.isnan(errors)]
    return float(np.sqrt((known**2).mean())) if known.size else float("nan")


def _scores(
    rng: np.random.Generator, size: int, prevalence: float, edges: NDArray, shift: float
) -> tuple[NDArray[np.int64], list[NDArray[np.float64]]]:
    positive = int(rng.binomial(size, prevalence))
    drawn = [rng.normal(shift, 1, size - positive), rng.normal(2.2 + shift, 1, positive)]
    clipped = [np.clip(scores, edges[0], edges[-1]) for scores in drawn]
    return np.stack([np.histogram(scores, edges)[0] for scores in clipped]), drawn


def _at(scores: list[NDArray[np.float64]], cut: float) -> ConfusionCounts:
    (fp, tp), (negative, positive) = [int((s >= cut).sum()) for s in scores], map(len, scores)
    return ConfusionCounts(tp=tp, fp=fp, fn=positive - tp, tn=negative - fp)


def _expected(rates: tuple[float, float, float]) -> ConfusionCounts:
    prevalence, recall, false = rates
    return ConfusionCounts(
        tp=1e9 * prevalence * recall,
        fn=1e9 * prevalence * (1 - recall),
        fp=1e9 * (1 - prevalence) * false,
        tn=1e9 * (1 - prevalence) * (1 - false),
    )


def _expit(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-x)))


def real_streams(path: Path, episodes: list[tuple[str, str, str, str]]) -> None:
    """Judge the named pairs of windows by blocks of days."""
    stream = Stream(path)
    for start, end, later, last in episodes:
        before, after = stream.blocks(start, end), stream.blocks(later, last)
        below = below_reference_curve(stream.scores(start, end), after)
        judgement = judge(before, after)
        with_scores = judge(before, after, below_reference_curve=below)
        figures = ", ".join(
            f"{name} {judgement.change[name]:+.2f} ± {judgement.standard_error[name]:.2f} {status}"
            for name, status in judgement.status.items()
        )
        driver = judgement.main_driver
        print(f"{start}..{end} to {later}..{last}: {judgement.verdict}", end="")
        print(f" (with scores: {with_scores.verdict}), moved {judgement.operating_point_moved}")
        print(f"    {figures}")
        print(f"    fell {judgement.fell}, rose {judgement.rose}, unknown {judgement.unknown}")
        print(f"    driver {driver.cause} {driver.share:.2f} certain {driver.certain}")


def _print_slides(draws: int) -> None:
    print("Slide of the threshold, step in standard deviations: degraded / improved / moved")
    for prevalence in (0.1, 0.01):
        goal = " (goal .01)" if prevalence == TRUTHS["nothing"][0] else ""
        print(f"at a prevalence of {prevalence:g}{goal}")
        for step in (-1.0, -0.5, -0.2, -0.1, -0.08, -0.05, 0.05, 0.08, 0.1, 0.2, 0.5, 1.0):
            row = [slide(draws, size, step, prevalence) for size in SIZES[2:]]
            print(f"{step:>10} " + "   ".join(" / ".join(f"{x:.3f}" for x in cell) for cell in row))
    print("The same where the ROC curve of the scores decides: degraded (goal .01)")
    for step in (-0.5, -0.3, 0.3, 0.5):
        row = [slide_with_scores(draws // 2, size, step) for size in SIZES[2:5]]
        print(f"{step:>10} " + "   ".join(f"{x:.3f}" for x in row))
    print("Classes .5 closer and the threshold .5 higher: degraded, with the curve")
    for size in SIZES[2:5]:
        found = slide_with_scores(draws // 2, size, 0.5, worse=0.5)
        print(f"{size:>10} {found:.3f}")


def main() -> None:
    """Print every table."""
    parser = argparse.ArgumentParser(description="Verdicts against their goals (seeded).")
    parser.add_argument("--draws", type=int, default=2_000)
    parser.add_argument("--flights", type=Path, default=FLIGHTS)
    parser.add_argument("--rain", type=Path)
    options = parser.parse_args()
    print("Twelve truths: right (goal .80/.95/.99/.999 at 1e4/3e4/1e5/1e6), worst wrong (.015)")
    for size, (right, wrong) in twelve_truths(options.draws).items():
        print(f"{size:>10} {right:7.4f} {wrong:7.4f}")
    _print_slides(options.draws)
    print("Mix only, share of skill verdicts: by segment (goal .02) / all together")
    for size in (10_000, 100_000):
        for share in (0.5, 0.7):
            print(f"{size:>10} {share}", *mix_only(options.draws // 10, size, share))
    print("Nothing but the weather, 30 days to 30 days: verdicts of change by days / plain")
    print("          ", *stormy_days(options.draws))
    print("Coverage of the intervals in points (.95):")
    for size in (1_000, 10_000):
        print(f"{size:>10}", interval_coverage(options.draws, size))
    print("Without labels:")
    for size, prevalence, shift in (
        (2_000, 0.1, 0.0), (20_000, 0.1, 0.0), (20_000, 0.01, 0.0),
        (2_000, 0.1, 0.3), (20_000, 0.1, 0.1), (20_000, 0.01, 0.3),
    ):  # fmt: skip
        found = label_free(options.draws // 4, size, prevalence, shift)
        figures = ", ".join(f"{name} {value:.4f}" for name, value in found.items())
        print(f"{size:>10} at {prevalence}, shift {shift}: {figures}")
    print("Flights:")
    real_streams(options.flights, EPISODES["flights"])
    if options.rain:
        print("Rain:")
        real_streams(options.rain, EPISODES["rain"])


if __name__ == "__main__":
    main()
