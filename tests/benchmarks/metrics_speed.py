"""Cost of each metric: nanoseconds a table, over 100,000 tables at once.

    python -m tests.benchmarks.metrics_speed

The goal is 50 ns a table and metric over all point metrics together. The
intervals are listed for comparison; they have no goal.
"""

import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from monitor import ConfusionCounts, metrics

TABLES = 100_000
REPEATS = 5
GOAL_NS = 50.0

PARAMETERS: dict[str, dict[str, float]] = {
    "precision_at": {"class_ratio": 0.01},
    "f_beta": {"beta": 2.0},
    "f_beta_at": {"beta": 2.0, "class_ratio": 0.01},
    "weighted_power_mean": {"gamma": 2.0, "phi": -0.5},
    "g_score": {"beta": 2.0, "rho": -1.5},
}

POINTS = (
    "precision",
    "balanced_precision",
    "precision_at",
    "recall",
    "specificity",
    "false_positive_rate",
    "false_negative_rate",
    "negative_predictive_value",
    "prevalence",
    "class_ratio",
    "predicted_positive_rate",
    "detection_rate",
    "accuracy",
    "balanced_accuracy",
    "log_likelihood_ratio",
    "f_beta",
    "f_beta_at",
    "precision_gain",
    "recall_gain",
    "weighted_power_mean",
    "g_score",
    "cohen_kappa",
    "matthews_corrcoef",
    "no_information_rate",
)


def random_tables(seed: int = 7) -> ConfusionCounts:
    """Counts of every size, zeros among them."""
    cells = np.random.default_rng(seed).geometric(1e-3, size=(TABLES, 4)) - 1
    return ConfusionCounts.from_cells(cells)


def nanoseconds_a_table(call: Callable[[], object]) -> float:
    """Median CPU time of a call over all tables, a table."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time_ns()
        call()
        times.append(time.process_time_ns() - start)
    return float(np.median(times)) / TABLES


def main() -> None:
    """Measure and print."""
    counts = random_tables()
    lines, total = [f"{'ns a table':28}{'point':>10}{'interval':>10}"], 0.0
    for name in POINTS:
        given = PARAMETERS.get(name, {})
        point = nanoseconds_a_table(partial(getattr(metrics, name), counts, **given))
        limits = nanoseconds_a_table(partial(metrics.intervals, counts, name, **given))
        total += point
        lines.append(f"{name:28}{point:>10.1f}{limits:>10.1f}")
    mean = total / len(POINTS)
    lines += [
        "",
        f"all {len(POINTS)} points: {mean:.1f} ns a table and metric (goal {GOAL_NS:.0f})",
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
