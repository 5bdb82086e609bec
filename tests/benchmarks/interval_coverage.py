"""Coverage of the 95 % intervals: the share that contains the truth.

    python -m tests.benchmarks.interval_coverage [--draws N] [--seed S]

The first two tables are over 600 settings: 5 to 1,000 positives, 50 to a
million negatives, TPR .3 to .99, FPR 1e-4 to .3. Coverage of log LR+ is that
of balanced precision, of precision at any class ratio and of precision gain,
which are monotonic in it. Given the classes it is exact: all tables that can
happen, but the rarest, are weighed by their probability. The rest is
simulated: a draw in which the rate is undefined, as precision without
predicted positives, is left out, and chance makes the least of 600 settings
too low by half a point or so.

The third is over settings where all predicted positives are labelled and
1 to 10 % of the predicted negatives, with 1 to 18 missed positives expected
among those.

Goals: log LR+ .95 to .97 in the mean and at least .93 in every setting; at
least .94 in every setting of sampled labels.
"""

import argparse
import itertools
import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from monitor import ConfusionCounts, metrics
from monitor.metrics import sampled

POSITIVES = (5, 20, 100, 300, 1_000)
NEGATIVES = (50, 500, 5_000, 50_000, 1_000_000)
TPR = (0.3, 0.6, 0.9, 0.99)
FPR = (1e-4, 1e-3, 1e-2, 0.05, 0.1, 0.3)

FIXED_CLASSES = ("log_likelihood_ratio", "recall", "false_positive_rate", "balanced_accuracy")
"""P and N are given, TP and FP binomial."""

FREE_CLASSES: dict[str, tuple[str, dict[str, float]]] = {
    "precision": ("precision", {}),
    "prevalence": ("prevalence", {}),
    "class_ratio": ("class_ratio", {}),
    "recall_gain": ("recall_gain", {}),
    "f_beta, beta 0.5": ("f_beta", {"beta": 0.5}),
    "f_beta, beta 1": ("f_beta", {"beta": 1.0}),
    "f_beta, beta 2": ("f_beta", {"beta": 2.0}),
    "f_beta_at, beta 1, class ratio .01": ("f_beta_at", {"beta": 1.0, "class_ratio": 0.01}),
    "g_score, beta 1, rho -1": ("g_score", {"beta": 1.0, "rho": -1.0}),
    "g_score, beta 1, rho 3": ("g_score", {"beta": 1.0, "rho": 3.0}),
    "cohen_kappa": ("cohen_kappa", {}),
    "matthews_corrcoef": ("matthews_corrcoef", {}),
}
"""All four cells are drawn, P + N being fixed."""

SAMPLED = (
    "recall",
    "false_positive_rate",
    "prevalence",
    "class_ratio",
    "log_likelihood_ratio",
)


class Setting(NamedTuple):
    """A classifier and the cases it meets."""

    positives: int
    negatives: int
    tpr: float
    fpr: float

    @property
    def cells(self) -> np.ndarray:
        """Expected outcomes, in the order of `Outcome`."""
        found, alarms = self.positives * self.tpr, self.negatives * self.fpr
        return np.array([found, alarms, self.positives - found, self.negatives - alarms])


class SampledSetting(NamedTuple):
    """Predictions, shares of positives in their two strata, and labels drawn."""

    predictions: int
    predicted_positive_rate: float
    precision: float
    missed: float
    share_labelled: float


SAMPLED_SETTINGS = (
    SampledSetting(100_000, 0.02, 0.6, 1e-3, 0.01),
    SampledSetting(100_000, 0.02, 0.6, 2e-3, 0.01),
    SampledSetting(100_000, 0.02, 0.9, 1e-3, 0.05),
    SampledSetting(100_000, 0.05, 0.3, 2e-3, 0.05),
    SampledSetting(100_000, 0.05, 0.8, 5e-3, 0.02),
    SampledSetting(100_000, 0.01, 0.5, 1e-3, 0.1),
    SampledSetting(20_000, 0.05, 0.6, 5e-3, 0.05),
    SampledSetting(20_000, 0.1, 0.7, 1e-2, 0.1),
    SampledSetting(500_000, 0.01, 0.4, 5e-4, 0.02),
    SampledSetting(500_000, 0.002, 0.8, 2e-4, 0.05),
)


def held(
    limits: tuple[np.ndarray, np.ndarray], truth: float, weights: np.ndarray | None = None
) -> float:
    """Share of the defined intervals that hold the truth."""
    lower, upper = limits
    defined = ~np.isnan(lower)
    if not defined.any():
        return np.nan
    weight = None if weights is None else weights[defined]
    return float(np.average((lower <= truth)[defined] & (truth <= upper)[defined], weights=weight))


def exact_coverage_of(setting: Setting) -> dict[str, float]:
    """Coverage given the classes, over all tables but the rarest ten-thousandth."""
    outcomes, chances = [], []
    for cases, rate in ((setting.positives, setting.tpr), (setting.negatives, setting.fpr)):
        first, last = binom.interval(1 - 1e-4, cases, rate)
        outcomes.append(np.arange(int(first), int(last) + 1))
        chances.append(binom.pmf(outcomes[-1], cases, rate))
    tp, fp = np.meshgrid(*outcomes, indexing="ij")
    counts = ConfusionCounts(tp=tp, fp=fp, fn=setting.positives - tp, tn=setting.negatives - fp)
    truths = ConfusionCounts.from_cells(setting.cells)
    weights = np.multiply.outer(*chances)
    return {
        name: held(metrics.intervals(counts, name), float(getattr(metrics, name)(truths)), weights)
        for name in FIXED_CLASSES
    }


def coverage_of(setting: Setting, draws: int, rng: np.random.Generator) -> dict[str, float]:
    """Coverage where the classes are drawn too, simulated."""
    total = setting.positives + setting.negatives
    counts = ConfusionCounts.from_cells(rng.multinomial(total, setting.cells / total, size=draws))
    truths = ConfusionCounts.from_cells(setting.cells)
    result = {}
    for title, (name, given) in FREE_CLASSES.items():
        truth = float(getattr(metrics, name)(truths, **given))
        result[title] = held(metrics.intervals(counts, name, **given), truth)
    return result


def sampled_coverage_of(
    setting: SampledSetting, draws: int, rng: np.random.Generator
) -> dict[str, float]:
    """Coverage of every metric where labels are a sample."""
    flagged = rng.binomial(setting.predictions, setting.predicted_positive_rate, size=draws)
    passed = setting.predictions - flagged
    labelled = np.round(passed * setting.share_labelled).astype(np.int64)
    tp, fn = rng.binomial(flagged, setting.precision), rng.binomial(labelled, setting.missed)
    counts = sampled.SampledCounts(
        labelled=ConfusionCounts(tp=tp, fp=flagged - tp, fn=fn, tn=labelled - fn),
        predicted_positive=flagged,
        predicted_negative=passed,
    )
    q, v, w = setting.predicted_positive_rate, setting.precision, setting.missed
    truths = ConfusionCounts(tp=q * v, fp=q * (1 - v), fn=(1 - q) * w, tn=(1 - q) * (1 - w))
    return {
        name: held(sampled.intervals(counts, name), float(getattr(metrics, name)(truths)))
        for name in SAMPLED
    }


def grid() -> Iterator[Setting]:
    """All settings of the first table."""
    for cells in itertools.product(POSITIVES, NEGATIVES, TPR, FPR):
        yield Setting(*cells)


def table(title: str, rows: list[dict[str, float]]) -> str:
    """Mean, minimum and share of poor settings of each metric, as text."""
    title = f"{title}, {len(rows)} settings"
    lines = [f"{title:40}{'mean':>8}{'min':>8}{'< .93':>8}"]
    for name in rows[0]:
        values = np.array([row[name] for row in rows])
        values = values[~np.isnan(values)]
        lines.append(
            f"{name:40}{values.mean():>8.3f}{values.min():>8.3f}{(values < 0.93).mean():>8.1%}"
        )
    return "\n".join(lines)


def main() -> None:
    """Compute, simulate, and print the three tables."""
    parser = argparse.ArgumentParser(description="Coverage of the 95 % intervals.")
    parser.add_argument("--draws", type=int, default=3_000, help="draws a setting")
    parser.add_argument("--seed", type=int, default=20_261_121)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    tables = [
        table("exact, classes given", [exact_coverage_of(setting) for setting in grid()]),
        table("simulated", [coverage_of(setting, options.draws, rng) for setting in grid()]),
        table(
            "sampled labels, simulated",
            [sampled_coverage_of(setting, 10 * options.draws, rng) for setting in SAMPLED_SETTINGS],
        ),
    ]
    sys.stdout.write("\n\n".join(tables) + "\n")


if __name__ == "__main__":
    main()
