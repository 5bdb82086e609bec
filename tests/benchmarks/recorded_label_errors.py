"""What flipped labels of recorded streams do to stated metrics, verdicts and pages.

    PYTHONPATH=tests python -m tests.benchmarks.recorded_label_errors
        [--part stated verdicts] [--stream PATH ...] [--a-day N] [--draws N] [--models N] [--seed N]
        [--flips RATE ...] [--known none rate range audits]

Labels of both classes are flipped at random at the same rate. First the windows of a stream as it
came: metrics as labelled, and corrected for the rate, for a range of a half to either side, and for
what 500 audits of each label show, beside those of the same cases before the flips; and the same
where the cases of each window are drawn anew from it, with those of the window as the truth. Then
models that are as ever, of whole weeks drawn with replacement, with labels flipped from the start,
or from the middle on: who is judged worse by 7 or 28 days, whose labels, and who pages. The truth
is what the stream recorded, whose own wrong labels are not known.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from monitor.counts import ConfusionCounts
from monitor.drift import Verdict
from monitor.drift.verdict import DEGRADED
from monitor.labels.regime import LabelRegime
from monitor.metrics.audited_errors import AuditedLabels, learned_rates
from monitor.metrics.label_errors import NO_ERRORS, ErrorRates
from monitor.metrics.ratio import FloatArray
from monitor.metrics.sampled import SampledCounts, estimate, intervals
from tests.audited_cases import AUDITS, Cases, monitor_of

from .label_errors import AUDITED, FLIPS, RANGE, mislabelled
from .label_free import FLIGHTS
from .recorded_stream import Stream
from .turns import table

DAY_S, DAY_MS, WEEK = 86_400, 86_400_000, 7
WINDOWS = (7, 28)
METRICS = ("recall", "precision")
WEEKS, AUDITS_A_DAY = 16, 2
"""Weeks of a drawn model, and its audits a day of each predicted class and label."""
KNOWLEDGE = ("as labelled", "rate", "range", "audits")
KNOWN = ("none", *KNOWLEDGE[1:])


class Recorded(NamedTuple):
    """Cases of a recorded stream in whole weeks, by time.

    Attributes:
        day: from the first one on, 0.
        moment: within the day, milliseconds.
        called: the predicted class.
        actual: the recorded label.
        score: of each.
        days: number of them.
    """

    day: np.ndarray
    moment: np.ndarray
    called: np.ndarray
    actual: np.ndarray
    score: np.ndarray
    days: int

    @classmethod
    def read(cls, path: Path, a_day: int | None = None) -> Recorded:
        """Return the labelled cases of a stream.

        Args:
            path: NDJSON of events, gzip.
            a_day: cases that count as one day, in their order, where the calendar of the stream
                is nominal; None for its own calendar.
        """
        stream = Stream(path)
        order = np.argsort(stream.time, kind="stable")
        time = stream.time[order]
        if a_day is not None:
            time = np.arange(len(time)) * (DAY_S / a_day)
        since = time - time[0] // DAY_S * DAY_S
        weeks = int(since[-1] // DAY_S + 1) // WEEK
        held = order[since < weeks * WEEK * DAY_S]
        since = since[: len(held)]
        return cls(
            (since // DAY_S).astype(np.int64),
            (since % DAY_S * 1000).astype(np.int64),
            stream.cell[held] < 2,  # tp, fp
            stream.positive[held],
            stream.score[held],
            weeks * WEEK,
        )

    def drawn(self, rng: np.random.Generator, weeks: int) -> Recorded:
        """Return so many of its weeks, with replacement: the model is as ever in each."""
        bounds = np.searchsorted(self.day, np.arange(0, self.days + WEEK, WEEK))
        parts = rng.integers(0, self.days // WEEK, weeks)
        rows = np.concatenate([np.arange(*bounds[[part, part + 1]]) for part in parts])
        sizes = np.diff(bounds)[parts]
        day = self.day[rows] % WEEK + WEEK * np.repeat(np.arange(weeks), sizes)
        others = (one[rows] for one in self[1:5])
        return Recorded(day, *others, weeks * WEEK)


class FlippedCases(Cases):
    """Cases of a recorded stream whose labels are flipped from a day on."""

    def __init__(self, cases: Recorded, flips: float, since: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.day, self.called, self.actual = cases.day, cases.called, cases.actual
        self.score, self.time = cases.score, cases.day * DAY_MS + cases.moment
        wrong = (self.rng.random(len(self.day)) < flips) & (self.day >= since)
        self.label = self.actual ^ wrong
        self.key = (np.arange(len(self.day), dtype=np.uint64) + np.uint64(1)) * np.uint64(
            0x9E3779B97F4A7C15
        )


def stated(cases: Recorded, draws: int, seed: int) -> list[tuple[str, ...]]:
    """Return rows: bias of metrics of windows, and how often intervals hold the unflipped metric.

    Args:
        cases: of a stream.
        draws: of flips, for each rate.
        seed: of the first one.
    """
    rows = []
    for flips in FLIPS:
        found: dict[tuple[int, str], list[FloatArray]] = {}
        for draw in range(draws):
            rng = np.random.default_rng([seed + draw, round(1e3 * flips)])
            label = cases.actual ^ (rng.random(len(cases.actual)) < flips)
            by_day = _days(cases, label)
            rates = _rates(rng, cases, label, flips, by_day)
            for days in WINDOWS:
                true = _windows(_days(cases, cases.actual), days)
                anew = mislabelled(rng, _drawn_anew(rng, true), flips)
                for name, errors in rates.items():
                    off = _off(true, _windows(by_day, days), errors)
                    held = _off(true, anew, errors)[:, -1:]
                    found.setdefault((days, name), []).append(np.concatenate([off, held], axis=1))
        for (days, name), parts in found.items():
            cells = [f"{100 * flips:g} %", f"{days}", name]
            for off, width, held, anew in np.concatenate(parts, axis=2):
                known = np.isfinite(width)
                cells += [f"{np.nanmean(off):+.3f}", f"{width[known].mean():.3f}"]
                cells += [f"{held.mean():.3f}", f"{anew.mean():.3f}", f"{1 - known.mean():.3f}"]
            rows.append(tuple(cells))
    return rows


def _days(cases: Recorded, label: np.ndarray) -> ConfusionCounts:
    """Return outcomes by day."""
    cell = np.where(cases.called, ~label, 3 - label)
    cells = np.zeros((cases.days, 4), dtype=np.int64)
    np.add.at(cells, (cases.day, cell.astype(np.int64)), 1)
    return ConfusionCounts.from_cells(cells)


def _windows(by_day: ConfusionCounts, days: int) -> ConfusionCounts:
    """Return outcomes of windows one after the other."""
    whole = len(by_day.cells) // days
    cells = by_day.cells[: whole * days].reshape(whole, days, 4).sum(axis=1)
    return ConfusionCounts.from_cells(cells)


def _drawn_anew(rng: np.random.Generator, windows: ConfusionCounts) -> ConfusionCounts:
    """Return as many cases of each window, drawn from it with replacement."""
    cells = windows.cells
    size = cells.sum(axis=1)
    return ConfusionCounts.from_cells(rng.multinomial(size, cells / size[:, None]))


def _rates(
    rng: np.random.Generator,
    cases: Recorded,
    label: np.ndarray,
    flips: float,
    by_day: ConfusionCounts,
) -> dict[str, ErrorRates]:
    """Return what is known of the rates, by how; ranges without what the labels exclude."""
    within = (flips * (1 - RANGE), flips * (1 + RANGE))
    ranged = LabelRegime(errors=ErrorRates.within(within, within)).as_far_as_possible(by_day)
    known = (NO_ERRORS, ErrorRates(flips, flips), ranged.errors, _audited(rng, cases, label))
    found = dict(zip(KNOWLEDGE, known, strict=True))
    if not flips:
        del found["rate"], found["range"]
    return found


def _audited(rng: np.random.Generator, cases: Recorded, label: np.ndarray) -> ErrorRates:
    """Return the rates that 500 audits of each label show, half of them of flagged cases."""
    audited, labelled = np.zeros((2, 2, 2), np.int64), np.zeros((2, 2), np.int64)
    for of in (0, 1):
        for called in (0, 1):
            rows = np.flatnonzero((label == of) & (cases.called == called))
            labelled[called, of] = len(rows)
            drawn = rng.permutation(rows)[: AUDITED // 2]
            audited[called, of] = np.bincount(cases.actual[drawn].astype(np.int64), minlength=2)
    return learned_rates(AuditedLabels(audited, labelled))


def _off(true: ConfusionCounts, labelled: ConfusionCounts, errors: ErrorRates) -> FloatArray:
    """Return estimate minus truth, width, and whether the truth is held, (metrics, 3, windows)."""
    counts, right = (
        SampledCounts.all_labelled(one, rates)
        for one, rates in ((labelled, errors), (true, NO_ERRORS))
    )
    found = []
    for metric in METRICS:
        truth = np.asarray(estimate(right, metric))
        lower, upper = intervals(counts, metric)
        held = (lower <= truth) & (truth <= upper)
        found.append([np.asarray(estimate(counts, metric)) - truth, upper - lower, held])
    return np.array(found, dtype=np.float64)


class Followed(NamedTuple):
    """What was said of a model from its middle on.

    Attributes:
        worse: share of the days on which 7 or 28 days are judged worse.
        labels: share on which labels are said to have changed.
        either: share on which one of both is said not to be told from the other.
        judged_worse: any such day, as of `worse`.
        paged: a page started.
    """

    worse: float
    labels: float
    either: float
    judged_worse: bool
    paged: bool


def followed(cases: FlippedCases, errors: object, days: int) -> Followed:
    """Return what is said of a model from its middle on."""
    monitor, middle, looks = monitor_of(errors), days // 2, []
    for day in range(days):
        monitor.apply(cases.batch(day))
        if errors == AUDITS:
            monitor.apply(cases.audits(AUDITS_A_DAY, [day]))
        if day < middle:
            continue
        verdicts = monitor.snapshot().models[0].watched.verdicts
        said = [one for name, one in verdicts.items() if name in {"7d", "28d"}]
        worse = any(one.verdict in DEGRADED for one in said)
        labels = any(one.verdict is Verdict.LABELS_NOT_TRUSTWORTHY for one in said)
        either = any(
            one.verdict is Verdict.INSUFFICIENT_EVIDENCE
            and one.judgement is not None
            and one.judgement.labels_may_explain
            for one in said
        )
        looks.append((worse, labels, either))
    detections = monitor.snapshot().models[0].watched.detections
    kinds = {str(one) for one in DEGRADED}
    paged = any(one.kind in kinds and one.at >= middle * DAY_MS for one in detections)
    seen = np.array(looks)
    return Followed(*seen.mean(axis=0).tolist(), bool(seen[:, 0].any()), paged)


def verdicts(
    cases: Recorded,
    models: int,
    seed: int,
    *,
    flips: Sequence[float] = FLIPS,
    known: Sequence[str] = KNOWN,
    weeks: int = WEEKS,
) -> list[tuple[str, ...]]:
    """Return rows: what is said of models as ever, by rate of flips, their start, and settings.

    Args:
        cases: of a stream.
        models: of each row; the same weeks in all rows.
        seed: of the first one.
        flips: the rates.
        known: what is known of them, of `KNOWN`; from the middle on the rate is no other than the
            range, which then reaches from 0 to it.
        weeks: of each model.
    """
    rows = []
    days = weeks * WEEK
    for rate in flips:
        for start, settings in _settings(rate).items():
            since = days // 2 if start == "middle" else 0
            for name in [one for one in settings if one in known]:
                errors, found = settings[name], []
                for at in range(seed, seed + models):
                    drawn = cases.drawn(np.random.default_rng([at, 5]), weeks)
                    found.append(followed(FlippedCases(drawn, rate, since, at), errors, days))
                shares = np.array(found, dtype=np.float64)
                cells = [f"{one:.3f}" for one in shares[:, :3].mean(axis=0)]
                counts = [f"{one:.0f} of {models}" for one in shares[:, 3:].sum(axis=0)]
                rows.append((f"{100 * rate:g} %", start, name, *cells, *counts))
                print(*rows[-1], sep=" | ", flush=True)
    return rows


def _settings(rate: float) -> dict[str, dict[str, object]]:
    """Return `label_errors` by when flips start and by what is known of them."""
    if not rate:
        return {"never": {"none": {}, "audits": AUDITS}}
    around, up_to = [rate * (1 - RANGE), rate * (1 + RANGE)], [0.0, rate]
    always = {"none": {}, "rate": _both(rate), "range": _both(around), "audits": AUDITS}
    later = {"none": {}, "range": _both(up_to), "audits": AUDITS}
    return {"start": always, "middle": later}


def _both(rate: object) -> dict[str, object]:
    return {"false_positive": rate, "false_negative": rate}


def main() -> None:
    """Print the tables of each stream."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--part", nargs="+", choices=("stated", "verdicts"), default=["stated"])
    parser.add_argument("--stream", nargs="+", type=Path, default=[FLIGHTS])
    parser.add_argument("--a-day", type=int, help="cases that count as a day, in their order")
    parser.add_argument("--draws", type=int, default=20, help="of flips, for `stated`")
    parser.add_argument("--models", type=int, default=4, help="of each row of `verdicts`")
    parser.add_argument("--flips", type=float, nargs="+", default=FLIPS, help="for `verdicts`")
    parser.add_argument("--known", nargs="+", choices=KNOWN, default=KNOWN, help="likewise")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    of = ("bias", "width", "coverage", "drawn anew", "without an interval")
    for path in args.stream:
        cases = Recorded.read(path, args.a_day)
        share = cases.actual.mean()
        print(f"\n{path.name}: {len(cases.day):,} cases, {cases.days} days, {share:.1%} positive")
        if "stated" in args.part:
            head = ("flips", "days", "label_errors", *(f"{m} {one}" for m in METRICS for one in of))
            print(table(head, stated(cases, args.draws, args.seed)))
        if "verdicts" in args.part:
            head = ("flips", "from", "label_errors", "worse", "labels", "either")
            rows = verdicts(cases, args.models, args.seed, flips=args.flips, known=args.known)
            print(table((*head, "judged worse", "paged"), rows))


if __name__ == "__main__":
    main()
