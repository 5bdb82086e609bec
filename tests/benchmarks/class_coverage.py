"""Coverage of the 95 % intervals of models of many classes: the share that contains the truth.

    python -m tests.benchmarks.class_coverage [--draws N] [--seed S]

Matrices of 3, 5, 10 and 20 classes are drawn from a multinomial of known cells: 300, 1,000 and
10,000 cases; classes as frequent as each other, or the most frequent twenty times as frequent as
the rarest; accuracy .6, .9 and .98, with the confusions of each class drawn from a Dirichlet
distribution. Three sets of cells for each setting. The metrics of classes against the others count
only where the class has ten cases or more in the mean.

Goal: at least .93 in the mean of each metric.
"""

import argparse
import itertools
import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from monitor.metrics.class_matrix import (
    AVERAGES,
    accuracy_interval,
    average_interval,
    class_accuracy,
    class_averages,
    class_kappa,
    kappa_interval,
    one_against_rest,
)
from monitor.metrics.f_family import f_beta
from monitor.metrics.intervals import METRICS, intervals

CLASSES = (3, 5, 10, 20)
CASES = (300, 1_000, 10_000)
RATIOS = (1.0, 20.0)
ACCURACIES = (0.6, 0.9, 0.98)
CELLS = 3
OF_CLASSES = ("precision", "recall", "false_positive_rate", "prevalence", "balanced_precision")
_FEWEST = 10
_LEVEL = 0.95


class Setting(NamedTuple):
    """Matrices of known cells.

    Attributes:
        cases: in each matrix.
        shares: of the cells, by predicted and actual class; they add up to 1.
    """

    cases: int
    shares: np.ndarray


def settings(rng: np.random.Generator) -> Iterator[Setting]:
    """Yield all settings."""
    for size, cases, ratio, right in itertools.product(CLASSES, CASES, RATIOS, ACCURACIES):
        for _ in range(CELLS):
            actual = np.geomspace(1.0, ratio, size)
            confused = rng.dirichlet(np.full(size - 1, 0.7), size) * (1 - right)
            rates = np.full((size, size), right)  # a row for each actual class
            rates[~np.eye(size, dtype=np.bool_)] = confused.ravel()
            yield Setting(cases, rates.T * actual / actual.sum())


def held(limits: tuple[np.ndarray, np.ndarray], truth: np.ndarray) -> np.ndarray:
    """Return which of the defined intervals hold the truth."""
    lower, upper = limits
    defined = ~np.isnan(lower)
    return np.asarray(((lower <= truth) & (truth <= upper))[defined])


def coverage_of(setting: Setting, draws: int, rng: np.random.Generator) -> dict[str, float]:
    """Return the coverage of each metric; NaN where all classes are too rare."""
    shape = setting.shares.shape
    drawn = rng.multinomial(setting.cases, setting.shares.ravel(), size=draws)
    matrices = drawn.reshape(draws, *shape)
    counts, truths = one_against_rest(matrices), one_against_rest(setting.shares)
    often = setting.shares.sum(axis=0) * setting.cases >= _FEWEST
    counts, truths = counts[:, often], truths[often]
    found = {}
    for name in OF_CLASSES:
        found[name] = held(intervals(counts, name), METRICS[name].value(truths))
    found["f1"] = held(intervals(counts, "f_beta", beta=1), f_beta(truths, beta=1))
    found["accuracy"] = held(accuracy_interval(matrices, _LEVEL), class_accuracy(setting.shares))
    found["cohen_kappa"] = held(kappa_interval(matrices, _LEVEL), class_kappa(setting.shares))
    of_all = class_averages(setting.shares)
    for kind, metric in AVERAGES:
        limits = average_interval(matrices, kind, metric, _LEVEL)
        found[f"{kind} {metric}"] = held(limits, of_all[kind, metric])
    return {name: float(one.mean()) if one.size else np.nan for name, one in found.items()}


def main() -> None:
    """Simulate, and print the mean and the least of each metric."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draws", type=int, default=1_000, help="draws a setting")
    parser.add_argument("--seed", type=int, default=20_261_123)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    rows = [coverage_of(setting, options.draws, rng) for setting in settings(rng)]
    lines = [f"{f'{len(rows)} settings':32}{'mean':>8}{'least':>8}{'< .93':>8}"]
    for name in rows[0]:
        values = np.array([row[name] for row in rows])
        values = values[~np.isnan(values)]
        poor = (values < 0.93).mean()
        lines.append(f"{name:32}{values.mean():>8.3f}{values.min():>8.3f}{poor:>8.1%}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
