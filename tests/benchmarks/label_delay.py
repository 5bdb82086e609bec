"""What windows say, however labels come and however late: seeded streams through the engine.

    python -m tests.benchmarks.label_delay [--seeds N] [--looks N] [--part PART ...]

Truth of all streams: 2 % positives, TPR .8, FPR .01, precision .620. A line is a way in
which labels come; a look is one window. Raw is the precision of the labelled outcomes as
they are; bias is that of what is published against the truth of the same predictions (in
thousandths), and coverage the share of published 95 % intervals that hold the law. Looks
at which nothing is published are counted as withheld.

    regimes  windows of 100,000 predictions under each labelling regime, right and wrong
    delays   positives take 20 days in the median, negatives 3 (lognormal, sigma .75), or
             by prediction; 7-day windows of 56,000 predictions that end at a given age
    samples  Begg and Greenes: the ten settings of `interval_coverage`, as counts

Goals: bias of precision at most .005, of a 7-day window younger than its labels .01;
coverage .93 to .97 (from .94 on where labels are a sample); under the wrong regime, and
below half coverage, nothing.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from monitor import ConfusionCounts, metrics
from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import CountDeltas, EventBatch, Group
from monitor.snapshot import Window
from tests.benchmarks.interval_coverage import SAMPLED_SETTINGS, SampledSetting
from tests.labelled import DAY, FPR, PREVALENCE, RECALL, Stream, stream

SHOWN = ("precision", "recall", "false_positive_rate", "prevalence", "log_likelihood_ratio")
SLOW = (20, 3, 20, 3)
BY_PREDICTION = (3, 3, 25, 3)
CHANGED = 170
"""Day from which the world, or the labels, are others."""


class Case(NamedTuple):
    """A way in which labels come, and how they are configured.

    Attributes:
        name: of the line.
        events: arguments of `tests.labelled.stream`.
        settings: of the model.
        days: length of the stream.
        per_day: predictions.
        ends: days at whose ends the window is looked at.
        window: its length.
        change: what else is done to a stream.
    """

    name: str
    events: dict[str, Any]
    settings: dict[str, Any]
    days: int
    per_day: int
    ends: range
    window: str = "1d"
    change: Callable[[Stream], None] | None = None


class Look(NamedTuple):
    """One window: what its labelled outcomes say, what is published, what is true.

    Attributes:
        status: of the window.
        raw: precision of the labelled outcomes as they are.
        published: (metrics, 3), estimate and limits; NaN where nothing is.
        truth: (metrics,), of the predictions of the window.
        law: (metrics,), that they were drawn from.
    """

    status: str
    raw: float
    published: np.ndarray
    truth: np.ndarray
    law: np.ndarray


def all_of(cells: np.ndarray) -> np.ndarray:
    """The metrics that are shown, of cells."""
    counts = ConfusionCounts.from_cells(np.asarray(cells))
    return np.array([float(getattr(metrics, name)(counts)) for name in SHOWN])


def law_of(events: dict[str, Any], day: float) -> np.ndarray:
    """The metrics that predictions of a day are drawn from."""
    prevalence, recall, fpr = (
        float(rate(np.array([day]))[0]) if callable(rate) else rate
        for rate in (
            events.get("prevalence", PREVALENCE),
            events.get("recall", RECALL),
            events.get("fpr", FPR),
        )
    )
    tp, fp = prevalence * recall, (1 - prevalence) * fpr
    return all_of([tp, fp, prevalence - tp, 1 - prevalence - fp])


def looked(window: Window, truth: np.ndarray, law: np.ndarray) -> Look:
    """What one window says."""
    counts = window.counts[0]
    with np.errstate(all="ignore"):
        raw = float(counts.tp / (counts.tp + counts.fp))
    published = np.array([[ends[0] for ends in window.metrics[name]] for name in SHOWN])
    return Look(str(window.status[0]), raw, published, truth, law)


def looks(case: Case, seed: int) -> Iterator[Look]:
    """The window of a case at each of its looks, of one stream."""
    events = stream(case.days, case.per_day, seed, **case.events)
    if case.change is not None:
        case.change(events)
    monitor = Monitor(Config(defaults=case.settings, windows=[case.window]))
    for day, batch in enumerate(events.batches(case.days), start=1):
        monitor.apply(batch)
        if day in case.ends:
            window = monitor.snapshot().windows[0]
            opens, closes = int(window.open[0]), int(window.close[0])
            middle = (opens + closes) / 2 / DAY
            yield looked(window, all_of(events.cells(opens, closes)), law_of(case.events, middle))


def sampled_looks(setting: SampledSetting, number: int, seed: int) -> Iterator[Look]:
    """Days of a setting where labels are a sample, drawn as counts of four blocks each."""
    rng = np.random.default_rng(seed)
    q, v, w = setting.predicted_positive_rate, setting.precision, setting.missed
    law = all_of([q * v, q * (1 - v), (1 - q) * w, (1 - q) * (1 - w)])
    defaults = {"labelling": "sampled", "maturity": "0s", "label_timeout": "1d"}
    monitor = Monitor(Config(defaults=defaults, windows=["1d"], pane="6h"))
    for day in range(number):
        flagged = rng.binomial(setting.predictions, q)
        made = np.array([flagged, setting.predictions - flagged])
        asked = np.array([flagged, round(made[1] * setting.share_labelled)])
        positive, population = rng.binomial(asked, [v, w]), split(made, rng)
        labelled = np.minimum(split(asked, rng), population)
        labelled[-1] += asked - labelled.sum(axis=0)
        found = split(positive, rng, labelled)
        cells = np.stack(
            [found[:, 0], labelled[:, 0] - found[:, 0], found[:, 1], labelled[:, 1] - found[:, 1]],
            axis=1,
        )
        at = day * DAY + np.arange(4) * (DAY // 4) + 1
        counts = CountDeltas(
            time=at,
            group=np.zeros(4, np.int64),
            cells=cells,
            population=population,
            batch_key=np.zeros(4, np.uint64),
        )
        monitor.apply(EventBatch(counts=counts, groups=(Group("m"),), records=4))
        window = monitor.snapshot((day + 1) * DAY).windows[0]
        yield looked(window, law, law)


def split(
    whole: np.ndarray, rng: np.random.Generator, room: np.ndarray | None = None
) -> np.ndarray:
    """Numbers cut at random into four blocks, (4, numbers), none beyond its room."""
    if room is None:
        return np.stack([rng.multinomial(n, [0.25] * 4) for n in whole.tolist()], axis=1)
    return np.stack(
        [
            rng.multivariate_hypergeometric(column, n)
            for n, column in zip(whole.tolist(), room.T, strict=True)
        ],
        axis=1,
    )


def line(name: str, found: Iterable[Look]) -> str:
    """One line of the table."""
    found = list(found)
    published = np.array([look.published for look in found])
    estimate, lower, upper = np.moveaxis(published, 2, 0)
    truth, law = (np.array([getattr(look, name) for look in found]) for name in ("truth", "law"))
    estimated = ~np.isnan(estimate)
    raw = np.nanmean([look.raw - look.truth[0] for look in found])
    cells = [name, ", ".join(sorted({look.status for look in found})), str(len(found))]
    cells += [f"{1 - estimated[:, 0].mean():.0%}", f"{raw:+.3f}"]
    for i in (0, 1):
        bias = 1000 * (estimate - truth)[estimated[:, i], i]
        cells.append(f"{bias.mean():+.1f}" if len(bias) else "-")
    for i in range(len(SHOWN)):
        held = ((lower <= law) & (law <= upper))[estimated[:, i], i]
        cells.append(f"{held.mean():.3f}" if len(held) else "-")
    return f"| {' | '.join(cells)} |"


def later(share: float, days: float) -> Callable[[Stream], None]:
    """Of actual positives, a share is confirmed so many days later."""

    def change(events: Stream) -> None:
        chosen = np.random.default_rng(1).random(len(events.time)) < share
        events.delay[events.actual & chosen] = days

    return change


def growth(events: Stream) -> None:
    """Two per cent more predictions every day."""
    chosen = np.random.default_rng(1).random(len(events.time)) < 1.02 ** (
        (events.time - events.time[-1]) / DAY
    )
    for name in ("time", "predicted", "actual", "delay", "probability", "group"):
        setattr(events, name, getattr(events, name)[chosen])


def slower(events: Stream) -> None:
    """Positives take half as long again from a day on."""
    events.delay[events.actual & (events.time >= CHANGED * DAY)] *= 1.5


def regimes(number: int) -> Iterator[Case]:
    """Each row of the table of regimes, as it is to be configured, and as it is not."""
    rows: list[tuple[str, tuple[float, ...], dict[str, Any]]] = [
        ("all labelled: complete", (1, 1, 1, 1), {}),
        ("positives all, negatives 5 %: weighted", (1, 0.05, 1, 0.05), {"labelling": "weighted"}),
        ("flagged all, others 1 %: sampled", (1, 1, 0.01, 0.01), {"labelling": "sampled"}),
        ("flagged all, others 1 %: weighted", (1, 1, 0.01, 0.01), {"labelling": "weighted"}),
        ("positives 40 %, unflagged 10 %: weighted", (0.4, 1, 0.1, 1), {"labelling": "weighted"}),
        ("flagged alone: flagged_only", (1, 1, 0, 0), {"labelling": "flagged_only"}),
        ("flagged alone: complete (wrong)", (1, 1, 0, 0), {}),
        ("flagged all, others 1 %: complete (wrong)", (1, 1, 0.01, 0.01), {}),
    ]
    for name, labelled, settings in rows:
        weighted = settings.get("labelling") == "weighted"
        events = {"labelled": labelled, "weighted": weighted}
        case = Case(name, events, settings, number + 3, 100_000, range(4, number + 4))
        yield case._replace(settings={"label_timeout": "10d", **settings})
    silent = {"labelled": (1, 0, 1, 0), "delays": (2, 0, 2, 0), "sigma": 0.3}
    settings = {"label_timeout": "6d", "labelling": "negatives_by_timeout"}
    ends = range(9, number + 9)
    yield Case("positives alone: by timeout", silent, settings, number + 8, 100_000, ends)
    settings, ends = {"label_timeout": "18d"}, range(26, number + 26)
    case = Case("", {}, settings, number + 25, 100_000, ends, change=later(0.6, 10))
    yield case._replace(name="positives 40 % so far: complete")
    yield case._replace(
        name="positives 40 % so far: complete, maturity 1d", settings={**settings, "maturity": "1d"}
    )


def delays(number: int) -> Iterator[Case]:
    """Windows of a given age while labels are late."""
    days = CHANGED + 7 * number
    ends = range(CHANGED + 7, days + 1, 7)
    case = Case("", {"delays": SLOW, "sigma": 0.75}, {}, days, 8_000, ends, "7d")
    timeout = {"label_timeout": "160d"}
    for maturity in ("auto", "90d", "60d", "30d", "20d", "7d"):
        settings = {**timeout, "maturity": maturity}
        yield case._replace(name=f"by class, {maturity}", settings=settings)
    by_prediction = {**case.events, "delays": BY_PREDICTION}
    young = {**timeout, "maturity": "30d"}
    yield case._replace(name="by prediction, 30d", events=by_prediction, settings=young)
    yield case._replace(name="growth 2 % a day, 30d", settings=young, change=growth)
    later_on = range(CHANGED + 42, days + 43, 7)
    case = case._replace(settings=young, days=days + 42, ends=later_on)
    halved = lambda day: np.where(day < CHANGED, 0.02, 0.01)  # noqa: E731  # a rate by the day
    yield case._replace(name="prevalence halved, 30d", events={**case.events, "prevalence": halved})
    fallen = lambda day: np.where(day < CHANGED, 0.8, 0.5)  # noqa: E731  # a rate by the day
    yield case._replace(name="recall .8 to .5, 30d", events={**case.events, "recall": fallen})
    yield case._replace(name="positives half as slow again, 30d", change=slower)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20, help="streams a line")
    parser.add_argument("--looks", type=int, default=20, help="windows a stream")
    parser.add_argument("--part", nargs="*", default=("regimes", "delays", "samples"))
    args = parser.parse_args()
    shown = "precision | recall | FPR | prevalence | log LR+"
    print("| labels | status | looks | withheld | raw bias | bias ‰: precision | recall |", end="")
    print(f" coverage: {shown} |\n|{'---|' * 12}")
    began = time.process_time()
    for part, cases in (("regimes", regimes), ("delays", delays)):
        for case in cases(args.looks) if part in args.part else ():
            found = (look for seed in range(args.seeds) for look in looks(case, seed))
            print(line(case.name, found), flush=True)
    for number, setting in enumerate(SAMPLED_SETTINGS if "samples" in args.part else ()):
        found = sampled_looks(setting, 5 * args.seeds * args.looks, number)
        print(line(f"sampled {tuple(setting)}", found), flush=True)
    print(f"{time.process_time() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
