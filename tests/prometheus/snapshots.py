"""Snapshots made by hand: any names, any numbers, no engine."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from monitor.counts import ConfusionCounts
from monitor.drift import attribute, judge
from monitor.drift.checked_estimate import CheckedEstimate, WindowEstimates
from monitor.drift.degenerate import Degeneracy
from monitor.events.columns import Series
from monitor.events.counter_totals import CounterTotals
from monitor.events.reject_reasons import RejectReason
from monitor.snapshot import (
    METRIC_NAMES,
    Estimate,
    LabelTotals,
    ModelState,
    Snapshot,
    SourceProgress,
    Window,
)
from monitor.verdicts import (
    DegeneratePredictions,
    ReferenceOutcomes,
    Watched,
    WindowVerdict,
)

HOUR_MS = 3_600_000
NOON_MS = 1_793_620_800_000
EDGES = np.array([1.0, 60.0, 3600.0, 2_592_000.0, np.inf])


def estimate(rng: np.random.Generator, rows: int, undefined: float) -> Estimate:
    middle = rng.uniform(0, 1, rows)
    middle[rng.uniform(0, 1, rows) < undefined] = np.nan
    return Estimate(middle, middle * 0.9, middle * 1.1)


def window(
    rng: np.random.Generator,
    name: str,
    rows: int,
    *,
    class_ratios: Sequence[float],
    undefined: float,
    largest: int,
) -> Window:
    cells = rng.integers(0, largest, (rows, 4))
    counts = ConfusionCounts.from_cells(cells)
    return Window(
        name=name,
        open=np.full(rows, NOON_MS - HOUR_MS),
        close=np.full(rows, NOON_MS),
        counts=counts,
        predicted_positive=counts.predicted_positive * 2,
        predicted_negative=counts.predicted_negative,
        metrics={metric: estimate(rng, rows, undefined) for metric in METRIC_NAMES},
        precision_at={ratio: estimate(rng, rows, undefined) for ratio in class_ratios},
    )


def model(rng: np.random.Generator, name: str, row: int, version: str) -> ModelState:
    count = rng.integers(0, 2_000_000, 12).tolist()
    return ModelState(
        watermark_ms=NOON_MS,
        now_ms=NOON_MS,
        name=name,
        version=version,
        row=row,
        predictions_positive=count[0],
        predictions_negative=count[1],
        labels={"positive": count[2], "negative": count[3], "retracted": count[4]},
        labelled=count[5],
        matched=count[6],
        pending=count[7],
        expired=count[8],
        evicted=count[9],
        duplicates=count[10],
        counters=CounterTotals(count[0], count[1], count[5]),
        transitions=rng.integers(0, 1000, (5, 5)),
        maturity_ms=HOUR_MS,
        delay_counts=rng.integers(0, 1000, (2, len(EDGES))),
        delay_sum=rng.uniform(0, 1e9, 2),
        segments=("region",),
        watched=watched(),
    )


def watched() -> Watched:
    """July and September of a made-up year: positives became rarer, the 1d window says so."""
    before = ConfusionCounts(tp=6_286, fp=7_970, fn=2_645, tn=11_390)
    after = ConfusionCounts(tp=1_910, fp=7_254, fn=1_665, tn=16_176)
    judgement = judge(before, after)
    return Watched(
        reference=ReferenceOutcomes(source="first", opens=0, closes=HOUR_MS, counts=before),
        verdicts={
            "1d": WindowVerdict(
                verdict=judgement.verdict,
                judgement=judgement,
                attribution=attribute(before, after),
                nowcast=WindowEstimates(
                    prevalence=_checked(0.16, "label_shift"),
                    precision=_checked(0.24, "labels"),
                    close=NOON_MS,
                ),
            )
        },
        evidence=0.25,
        warming_up=False,
        prevalence_shift_detected=True,
        predictions=DegeneratePredictions(
            known=True, kind=Degeneracy.RATE_FAR_ABOVE, since=NOON_MS, times=12.0
        ),
    )


def _checked(estimate: float, method: str) -> CheckedEstimate:
    ends = {"lower": estimate - 0.02, "upper": estimate + 0.02}
    return CheckedEstimate(estimate=estimate, **ends, method=method, withheld=None)


def snapshot(
    *,
    models: Sequence[str] = ("fraud",),
    segments: Sequence[tuple[str, str]] = (("region", "eu"), ("region", "us")),
    windows: Sequence[str] = ("1h", "1d"),
    class_ratios: Sequence[float] = (1.0, 0.1),
    version: str = "v1",
    undefined: float = 0.1,
    largest: int = 10_000,
    seed: int = 1,
    **more: Any,
) -> Snapshot:
    rng = np.random.default_rng(seed)
    rows = [[Series(name), *(Series(name, *segment) for segment in segments)] for name in models]
    series = tuple(row for of_model in rows for row in of_model)

    def one(name: str) -> Window:
        return window(
            rng,
            name,
            len(series),
            class_ratios=class_ratios,
            undefined=undefined,
            largest=largest,
        )

    fields = {
        "series": series,
        "windows": tuple(one(name) for name in windows),
        "lifetime": one("all"),
        "models": tuple(
            model(rng, name, series.index(Series(name)), version) for name in dict.fromkeys(models)
        ),
        "labels": LabelTotals(5, 4, 3, 2, 1),
        "records": 1234,
        "events": {"prediction": 1_234_567, "label": 15},
        "rejected": dict.fromkeys(RejectReason, 0) | {RejectReason.MALFORMED: 3},
        "watermark_ms": NOON_MS,
        "now_ms": NOON_MS,
        "pending_bytes": 16 << 20,
        "delay_edges": EDGES,
        "overflowed_values": 7,
        "sources": (
            SourceProgress("spark", 12, NOON_MS - 5000, 3),
            SourceProgress("nightly", 2, None, 0),
        ),
    }
    return Snapshot(**(fields | more))


def nothing() -> Snapshot:
    """A monitor that was started a moment ago, without a model in its config."""
    return snapshot(models=(), windows=("1h",), watermark_ms=None, now_ms=None)


names = st.one_of(
    st.text(min_size=1, max_size=8),
    st.text(alphabet='"\\\n\r\t{}=,\x00é😀\u2028', min_size=1, max_size=8),
    st.text(alphabet=st.characters(categories=["Cs"]), min_size=1, max_size=3),
)
"""Names that somebody might get into an event, lone surrogates included."""

snapshots = st.builds(
    snapshot,
    models=st.lists(names, max_size=3, unique=True),
    segments=st.lists(st.tuples(names, st.one_of(st.just(""), names)), max_size=3, unique=True),
    windows=st.lists(st.sampled_from(["1m", "1h", "30d"]), max_size=3, unique=True),
    class_ratios=st.lists(
        st.floats(min_value=1e-9, max_value=1e9, exclude_min=True), max_size=2, unique=True
    ),
    version=names,
    undefined=st.sampled_from([0, 0.5, 1]),
    largest=st.sampled_from([2, 10_000, 1 << 60]),
    seed=st.integers(0, 1000),
    watermark_ms=st.one_of(st.none(), st.integers(-(2**41), 2**42)),
    now_ms=st.one_of(st.none(), st.integers(-(2**41), 2**42)),
)
