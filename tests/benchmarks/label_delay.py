"""What windows say while labels are late: the table of delays, through the engine.

    python -m tests.benchmarks.label_delay [--seeds N] [--per-day N] [--sigma S]

2 % positives, TPR .8, FPR .01, precision .620; positives take 20 days in the median
(lognormal, sigma 1/2 unless given), negatives 3. A row is a configured maturity; a seed
is a stream of 150 days, looked at every ten days from day 100 on. The bias is against the
truth of the same predictions; coverage is that of the 95 % interval over the precision of
the law.

Goals: bias of mature and corrected precision at most .005, and no number below half
coverage.
"""

import argparse
import sys
import time

import numpy as np

from monitor.config import Config
from monitor.engine import Monitor
from tests.labelled import PRECISION, stream

DAYS = 150
ENDS = range(100, DAYS + 1, 10)
SLOW = (20, 3, 20, 3)
BY_PREDICTION = (3, 3, 25, 3)


def looks(events, maturity):
    """Status, raw and published precision with its limits, and the truth, at each look."""
    config = Config(defaults={"label_timeout": "120d", "maturity": maturity}, windows=["7d"])
    monitor = Monitor(config)
    for day, batch in enumerate(events.batches(DAYS)):
        monitor.apply(batch)
        if day + 1 in ENDS:
            window = monitor.snapshot().windows[0]
            true = events.cells(int(window.open[0]), int(window.close[0]))
            counts, estimate = window.counts[0], window.metrics["precision"]
            raw = counts.tp / (counts.tp + counts.fp)
            limits = (estimate.estimate[0], estimate.lower[0], estimate.upper[0])
            yield window.status[0], raw, *limits, true[0] / (true[0] + true[1])


def row(name, delays, maturity, args):
    """One line of the table."""
    found = [
        look
        for seed in range(args.seeds)
        for look in looks(
            stream(DAYS, args.per_day, seed, delays=delays, sigma=args.sigma), maturity
        )
    ]
    status = sorted({look[0] for look in found})
    raw, estimate, lower, upper, truth = np.array([look[1:] for look in found]).T
    if np.isnan(estimate).all():
        return (
            f"| {name} | {maturity} | {', '.join(status)} | {(raw - truth).mean():+.3f} | - | - |"
        )
    covered = ((lower <= PRECISION) & (upper >= PRECISION)).mean()
    bias = (estimate - truth).mean()
    shown = f"{(raw - truth).mean():+.3f} | {bias:+.4f} | {covered:.2f}"
    return f"| {name} | {maturity} | {', '.join(status)} | {shown} |"


def main():
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--per-day", type=int, default=8000)
    parser.add_argument("--sigma", type=float, default=0.5)
    args = parser.parse_args()
    print("| delays | maturity | status | raw bias | published bias | covered |")
    print("|---|---|---|---|---|---|")
    began = time.perf_counter()
    for name, delays in (("by class", SLOW), ("by prediction", BY_PREDICTION)):
        for maturity in ("auto", "60d", "40d", "30d", "7d"):
            print(row(name, delays, maturity, args), flush=True)
    print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
