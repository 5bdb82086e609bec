"""Estimates ahead of the labels, beside the last mature window, EMQ and CBPE.

    python -m tests.benchmarks.label_free [--stream PATH ...] [--windows 1d 7d] [--ahead 1d 7d]
        [--segments KEY ...] [--worlds NAME ...] [--seed N]

Streams (NDJSON, as the bundled flights) and simulated days go through a `Monitor`; what it
publishes at the start of each day is compared with a recount of the window that ends there.
Ahead is the age at which predictions are mature. Every line is over the days on which this
publishes:

    last mature   the last mature window as it is: root mean square error
    label shift   with its guards (classes separate, 50 positives, scores fit), and the share
                  of these days on which they let it through
    EMQ           label shift by expectation maximisation of the scores, without guards
                  (Saerens, Latinne and Decaestecker 2002)
    CBPE          scores taken for probabilities: precision is the mean score of the flagged
                  cases, prevalence the mean of all (NannyML)
    this          what the monitor publishes: error, share of intervals that hold the outcome

Errors of the last four are over that of last mature on the same days. The reference of label
shift and EMQ is that of the monitor. In simulated worlds label shift holds: scores are
calibrated at the prevalence of the reference, and prevalence alone changes between days.

Goals: this at most 1.0 on streams and .5 in simulated worlds, coverage at least .93.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from monitor.config import Config
from monitor.config.quantities import parse_duration
from monitor.counts import ConfusionCounts
from monitor.drift.checked_estimate import ESTIMATED_RATES
from monitor.drift.label_free import label_shift, nowcast
from monitor.engine import Monitor
from monitor.events.columns import EventBatch, Group, Labels, Predictions
from monitor.events.score_bins import SCORE_BINS, score_bins
from monitor.metrics.histogram import ScoreHistogram

DAY_MS = 86_400_000
FLIGHTS = Path(__file__).parents[2] / "monitor" / "demo" / "flights.ndjson.gz"
METHODS = ("label shift", "EMQ", "CBPE")


def _walk(rng: np.random.Generator, days: int) -> NDArray[np.float64]:
    steps, level = rng.normal(0, 0.25, days), np.zeros(days)
    for day in range(1, days):
        level[day] = 0.9 * level[day - 1] + steps[day]
    return level


WORLDS = {
    "walks": _walk,
    "jumps": lambda rng, days: np.repeat(rng.normal(0, 0.8, days // 20 + 1), 20)[:days],
    "scatters": lambda rng, days: rng.normal(0, 0.6, days),
    "stays": lambda _, days: np.zeros(days),
}
"""Log odds of each day's prevalence beyond those of 10 %."""
SIMULATED_DAYS, A_DAY = 300, 4_000
SEPARATION, CUT, PREVALENCE = 2.2, 0.3, 0.1


class Cases(NamedTuple):
    """One row a prediction, in order of time.

    Attributes:
        name: of the stream.
        time: epoch milliseconds.
        score: in [0, 1].
        called: predicted positive.
        actual: 1, 0, or -1 where no label comes.
        label_time: epoch milliseconds; of those with a label.
        segments: number of each case's group.
        groups: model and segment values by that number.
        keys: segment keys.
    """

    name: str
    time: NDArray[np.int64]
    score: NDArray[np.float64]
    called: NDArray[np.bool_]
    actual: NDArray[np.int64]
    label_time: NDArray[np.int64]
    segments: NDArray[np.int64]
    groups: tuple[Group, ...]
    keys: tuple[str, ...]

    @property
    def first_day(self) -> int:
        """Number of the first day since 1970."""
        return int(self.time[0] // DAY_MS)

    def batches(self) -> Iterator[tuple[int, EventBatch]]:
        """Yield the number of each day, and its events."""
        key = np.arange(1, len(self.time) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        labelled = np.flatnonzero(self.actual >= 0)
        labelled = labelled[np.argsort(self.label_time[labelled], kind="stable")]
        for day in range(self.first_day, int(self.time[-1] // DAY_MS) + 1):
            edges = np.array([day, day + 1]) * DAY_MS
            a, b = np.searchsorted(self.time, edges)
            rows = labelled[slice(*np.searchsorted(self.label_time[labelled], edges))]
            yield (
                day,
                EventBatch(
                    predictions=Predictions(
                        key=key[a:b],
                        time=self.time[a:b],
                        predicted_positive=self.called[a:b],
                        score=self.score[a:b],
                        group=self.segments[a:b],
                    ),
                    labels=Labels(
                        key=key[rows],
                        time=self.label_time[rows],
                        value=self.actual[rows],
                        sampling_probability=np.full(len(rows), np.nan),
                    ),
                    groups=self.groups,
                    records=int(b - a + len(rows)),
                ),
            )


class Days(NamedTuple):
    """A recount by days: outcomes, scores of positives, of negatives, and of all predictions.

    Attributes:
        cells: tp, fp, fn, tn of each day, (days, 4).
        called: predictions and positive ones, (days, 2).
        scores: (days, 3, bins).
        sums: of the scores of all predictions and of the flagged ones, (days, 2).
    """

    cells: NDArray[np.int64]
    called: NDArray[np.int64]
    scores: NDArray[np.int64]
    sums: NDArray[np.float64]

    @classmethod
    def of(cls, cases: Cases) -> Days:
        """Count the cases of each day."""
        day = cases.time // DAY_MS - cases.first_day
        days, known = int(day[-1]) + 1, cases.actual >= 0
        positive = cases.actual == 1
        kind = np.where(cases.called, np.where(positive, 0, 1), np.where(positive, 2, 3))
        cells = np.bincount(day[known] * 4 + kind[known], minlength=4 * days)
        bins, scores = score_bins(cases.score), np.zeros((days, 3, SCORE_BINS), np.int64)
        for number, some in enumerate((positive, cases.actual == 0, positive | ~positive)):
            np.add.at(scores, (day[some], number, bins[some]), 1)
        flagged = np.bincount(day, cases.called, minlength=days)
        sums = [np.bincount(day, cases.score * w, days) for w in (1, cases.called)]
        return cls(
            cells.reshape(days, 4),
            np.stack([np.bincount(day, minlength=days), flagged], axis=1).astype(np.int64),
            scores,
            np.stack(sums, axis=1),
        )


class Line(NamedTuple):
    """The result on one rate of one window, over the days on which this publishes.

    Attributes:
        published: number of these days.
        days: number of days with an estimate of the last mature window.
        last_mature: root mean square error of the last mature window.
        this: error of the monitor over that.
        coverage: share of its intervals that hold the outcome.
        rivals: the same ratio of each of `METHODS`, each over the days on which it is defined.
        let_through: share of the days on which the guards of label shift let it through.
    """

    published: int
    days: int
    last_mature: float
    this: float
    coverage: float
    rivals: dict[str, float]
    let_through: float


def recorded(path: Path, keys: tuple[str, ...] = ()) -> Cases:
    """Read a stream of predictions and labels.

    Args:
        path: NDJSON, compressed or not; events in order of time, times in epoch seconds.
        keys: segment keys to split it by.
    """
    text = path.read_bytes()
    lines = (gzip.decompress(text) if path.suffix == ".gz" else text).splitlines()
    events = [json.loads(line) for line in lines]
    predictions = [event for event in events if event["type"] == "prediction"]
    labels = {event["id"]: event for event in events if event["type"] == "label"}
    groups: dict[tuple[str, ...], int] = {}
    of_case = [tuple(p.get("segment", {}).get(key, "") for key in keys) for p in predictions]
    numbers = [groups.setdefault(values, len(groups)) for values in of_case]
    found = [labels.get(prediction["id"]) for prediction in predictions]
    return Cases(
        name=path.name.split(".")[0],
        time=np.array([p["ts"] * 1000 for p in predictions], np.int64),
        score=np.array([p["score"] for p in predictions], float),
        called=np.array([p["prediction"] == 1 for p in predictions]),
        actual=np.array([-1 if label is None else label["label"] for label in found], np.int64),
        label_time=np.array([0 if label is None else label["ts"] * 1000 for label in found]),
        segments=np.array(numbers, np.int64),
        groups=tuple(Group("m", "", values) for values in groups),
        keys=keys,
    )


def simulated(world: str, seed: int, days: int = SIMULATED_DAYS, a_day: int = A_DAY) -> Cases:
    """Draw cases whose prevalence alone changes from day to day.

    Args:
        world: one of `WORLDS`.
        seed: of chance.
        days: how many.
        a_day: predictions.
    """
    rng = np.random.default_rng(seed)
    share = expit(logit(PREVALENCE) + WORLDS[world](rng, days))
    actual = rng.random(days * a_day) < np.repeat(share, a_day)
    seen = rng.normal(0, 1, days * a_day) + SEPARATION * actual
    score = expit(logit(PREVALENCE) + SEPARATION * seen - SEPARATION**2 / 2)
    time = (np.arange(days * a_day) * (DAY_MS / a_day)).astype(np.int64)
    return Cases(
        name=f"label shift, {world}",
        time=time,
        score=score,
        called=score >= CUT,
        actual=actual.astype(np.int64),
        label_time=time,
        segments=np.zeros(days * a_day, np.int64),
        groups=(Group("m"),),
        keys=(),
    )


def lines(cases: Cases, windows: list[str], ahead: str) -> dict[tuple[str, str], Line]:
    """Run a stream through a monitor; the line of each window and rate.

    Args:
        cases: the stream.
        windows: lengths, whole days.
        ahead: age at which predictions are mature.
    """
    model = {"maturity": ahead, "label_timeout": None, "segments": list(cases.keys)}
    monitor, days = Monitor(Config(defaults=model, windows=windows)), Days.of(cases)
    age = parse_duration(ahead) // DAY_MS
    rows: dict[tuple[str, str], list[list[float]]] = {}
    for day, batch in cases.batches():
        monitor.apply(batch)
        end = day - cases.first_day
        for model_state in monitor.snapshot().models:
            watched = model_state.watched
            for name, found in watched.verdicts.items():
                length = parse_duration(name) // DAY_MS
                if found.nowcast is None or watched.reference is None or end - age < length:
                    continue
                closes = -(-watched.reference.closes // DAY_MS) - cases.first_day
                others = _rivals(days, max(end - age, end - length), end, closes)
                shape = days, end, length, age
                for at, rate in enumerate(ESTIMATED_RATES):
                    estimate = getattr(found.nowcast, rate)
                    rows.setdefault((name, rate), []).append(
                        [
                            _rate(days.cells[end - length : end], rate),
                            _rate(days.cells[end - age - length : end - age], rate),
                            estimate.estimate,
                            estimate.lower,
                            estimate.upper,
                            *(_whole(shape, rate, rates[at]) for rates in others),
                        ]
                    )
    return {key: _line(np.array(found)) for key, found in rows.items()}


def _rate(cells: NDArray[np.int64], rate: str) -> float:
    tp, fp, fn, tn = cells.sum(axis=0).tolist()
    part, whole = (tp, tp + fp) if rate == "precision" else (tp + fn, tp + fp + fn + tn)
    return part / whole if whole else float("nan")


def _whole(shape: tuple[Days, int, int, int], rate: str, young: float) -> float:
    """The window's rate where its mature days are known and its younger ones are estimated."""
    days, end, length, age = shape
    if age >= length:
        return young
    column = ESTIMATED_RATES.index(rate)
    mature = days.called[end - length : end - age, column].sum()
    later = days.called[end - age : end, column].sum()
    if not later:
        return _rate(days.cells[end - length : end], rate)
    known = _rate(days.cells[end - length : end - age], rate)
    return float((mature * np.nan_to_num(known) + later * young) / (mature + later))


def _rivals(days: Days, first: int, end: int, closes: int) -> list[tuple[float, float]]:
    """Prevalence and precision of some days by each of `METHODS`."""
    scores = days.scores[:closes].sum(axis=0)
    total, positive = days.called[first:end].sum(axis=0).tolist()
    nothing = np.zeros(SCORE_BINS)
    asked = {
        "predicted_positive": positive,
        "total": total,
        "reference": ConfusionCounts.from_cells(days.cells[:closes].sum(axis=0)),
        "scores": days.scores[first:end, 2].sum(axis=0),
        "reference_scores": ScoreHistogram(
            positive=scores[0], negative=scores[1], unlabelled=nothing
        ),
    }
    with np.errstate(all="ignore"):
        guarded, bare = nowcast(**asked), label_shift(**asked)
        cbpe = days.sums[first:end].sum(axis=0) / np.array([total, positive])
    return [
        (guarded.prevalence, guarded.precision),
        (bare.prevalence, bare.precision),
        (float(cbpe[0]), float(cbpe[1])),
    ]


def _line(rows: NDArray[np.float64]) -> Line:
    defined = rows[np.isfinite(rows[:, :2]).all(axis=1)]
    shown = defined[np.isfinite(defined[:, 2])]
    truth, last, this, lower, upper = shown[:, :5].T
    guess = shown[:, 5:].T
    return Line(
        published=len(shown),
        days=len(defined),
        last_mature=_error(last - truth),
        this=_beside(this, last, truth),
        coverage=float(((lower <= truth) & (truth <= upper)).mean()) if len(shown) else np.nan,
        rivals={
            method: _beside(found, last, truth)
            for method, found in zip(METHODS, guess, strict=True)
        },
        let_through=float(np.isfinite(guess[0]).mean()) if len(shown) else np.nan,
    )


def _beside(
    found: NDArray[np.float64], last: NDArray[np.float64], truth: NDArray[np.float64]
) -> float:
    some = np.isfinite(found)
    with np.errstate(all="ignore"):
        return float(_error((found - truth)[some]) / _error((last - truth)[some]))


def _error(differences: NDArray[np.float64]) -> float:
    return float(np.sqrt((differences**2).mean())) if len(differences) else float("nan")


def report(cases: Cases, windows: list[str], ahead: list[str]) -> None:
    """Print the lines of one stream."""
    print(f"\n{cases.name}\n  window ahead rate       days published   last", end="")
    print("".join(f"{m:>13}" for m in METHODS), "  let through    this coverage")
    for age in ahead:
        for (window, rate), line in lines(cases, windows, age).items():
            print(
                f"  {window:>6} {age:>5} {rate:<10} {line.days:>4} {line.published:>9} "
                f"{line.last_mature:>6.3f}",
                "".join(f"{line.rivals[m]:>13.2f}" for m in METHODS),
                f"{line.let_through:>12.2f} {line.this:>7.2f} {line.coverage:>8.3f}",
                flush=True,
            )


def main() -> None:
    """Print a table for each stream, and for each simulated world."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stream", type=Path, nargs="*", default=[FLIGHTS])
    parser.add_argument("--segments", nargs="*", default=[])
    parser.add_argument("--windows", nargs="+", default=["1d", "7d"])
    parser.add_argument("--ahead", nargs="+", default=["1d", "7d"])
    parser.add_argument("--worlds", nargs="*", choices=WORLDS, default=list(WORLDS))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for path in options.stream:
        report(recorded(path, tuple(options.segments)), options.windows, options.ahead)
    for world in options.worlds:
        report(simulated(world, options.seed), options.windows, options.ahead)


if __name__ == "__main__":
    main()
