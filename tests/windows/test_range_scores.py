"""Scores of a range by segment value are what an independent recount counts."""

from collections import Counter

import numpy as np
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from recount import Recount
from streams import in_batches

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import EARLIEST_MS, LATEST_MS, Series
from monitor.metrics.curves import area_under_roc
from monitor.windows import range_scores

DAY = 86_400
KEYS = ("channel", "region")
TOTALS = Series("m")

ids = st.sampled_from([f"case-{n}" for n in range(12)])
moments = st.integers(-3 * DAY, 9 * DAY)
scores = st.integers(0, 999).map(lambda score_bin: (score_bin + 0.5) / 1000)
predictions = st.fixed_dictionaries(
    {
        "type": st.just("prediction"),
        "id": ids,
        "ts": moments,
        "prediction": st.integers(0, 1),
        "model": st.just("m"),
        "segment": st.fixed_dictionaries(
            {"channel": st.sampled_from(["web", "shop"]), "region": st.sampled_from("ab")}
        ),
    },
    optional={"score": scores},
)
labels = st.fixed_dictionaries(
    {
        "type": st.just("label"),
        "id": ids,
        "ts": moments,
        "label": st.sampled_from([0, 1, 1, None]),
    }
)


def counted(events, size, opens=EARLIEST_MS, closes=LATEST_MS, **limits):
    monitor = Monitor(Config(defaults={"label_timeout": None, "segments": [*KEYS], **limits}))
    found = monitor.count_scores(opens, closes)
    for batch in in_batches(events, size, KEYS):
        monitor.apply(batch)
    return found


def cases(found):
    """Cases by place of the day, class and bin; the places of days without a case are left out."""
    if found is None:
        return Counter()
    sides = {1: found.positive, 0: found.negative}
    return Counter(
        {
            (day, actual, score_bin): int(side[day, score_bin])
            for actual, side in sides.items()
            for day, score_bin in np.argwhere(side).tolist()
        }
    )


def recounted(truth, chosen, first, end):
    """The same from the events of each id, for days [first, end)."""
    held = [
        (int(event["ts"] // DAY), int(cell in {"tp", "fn"}), int(event["score"] * 1000))
        for event, cell in truth.outcomes(since=first * DAY, before=end * DAY)
        if "score" in event and chosen(event)
    ]
    place = {day: n for n, day in enumerate(sorted({day for day, *_ in held}))}
    return Counter((place[day], actual, score_bin) for day, actual, score_bin in held)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(predictions, min_size=1, max_size=20, unique_by=lambda e: e["id"]),
    st.lists(labels, max_size=30),
    st.tuples(st.integers(-4, 10), st.integers(-4, 10)).map(sorted),
    st.integers(1, 12),
    st.randoms(use_true_random=False),
)
def test_scores_by_segment_value_equal_the_recount(made, reported, days, size, chance):
    events = [*made, *reported]
    chance.shuffle(events)
    found = counted(events, size)
    truth, bounds = Recount(events), [day * DAY * 1000 for day in days]
    whole = recounted(truth, lambda _: True, *days)
    assert cases(found.of(TOTALS, *bounds)) == whole
    both = {actual for _, actual, _ in whole} == {0, 1}
    assert cases(found.days("m", *bounds)) == (whole if both else Counter())
    for key in KEYS:
        for value in {event["segment"][key] for event in made}:
            expected = recounted(truth, lambda e, k=key, v=value: e["segment"][k] == v, *days)
            assert cases(found.of(Series("m", key, value), *bounds)) == expected


def outcomes(number, seed, values):
    """Labelled predictions over ten days, and their columns."""
    rng = np.random.default_rng(seed)
    label, value = rng.random(number) < 0.3, rng.integers(values, size=number)
    score = np.clip(rng.normal(0.4 + 0.2 * label, 0.15), 0, 0.9999)
    events = []
    for n in range(number):
        at = int(n * 10 * DAY // number)
        segment = {"channel": f"c{value[n]}", "region": "a"}
        made = {"id": f"e{n}", "ts": at, "prediction": 1, "model": "m", "segment": segment}
        events.append({"type": "prediction", "score": float(score[n]), **made})
        events.append({"type": "label", "id": f"e{n}", "ts": at + 60, "label": int(label[n])})
    return events, label, score, value


def test_areas_are_those_of_scikit_learn_for_the_cases_of_each_value():
    events, label, score, value = outcomes(3000, seed=1, values=3)
    found = counted(events, 500)
    for number in range(3):
        own = value == number
        area = float(area_under_roc(found.of(Series("m", "channel", f"c{number}")).sum()))
        truth = sklearn.metrics.roc_auc_score(label[own], score[own])
        in_bins = sklearn.metrics.roc_auc_score(label[own], np.floor(score[own] * 1000))
        assert abs(area - truth) < 1e-3
        assert abs(area - in_bins) < 1e-12


def test_it_makes_no_difference_when_changes_are_gathered(monkeypatch):
    events, *_ = outcomes(600, seed=4, values=3)
    retracted = [{**event, "label": None, "ts": event["ts"] + 60} for event in events[1:300:2]]
    names = [TOTALS, *(Series("m", "channel", f"c{n}") for n in range(3))]
    at_last = counted([*events, *retracted], 50)
    expected = [cases(at_last.of(one)) for one in names]
    monkeypatch.setattr(range_scores, "_MOST_PENDING", 0)
    at_once = counted([*events, *retracted], 50)
    assert [cases(at_once.of(one)) for one in names] == expected


def test_values_beyond_the_cap_count_together():
    events, *_ = outcomes(400, seed=2, values=40)
    found = counted(events, 100, max_segment_values=5)
    names = {series.value for series in found._catalogue.series if series.segment == "channel"}
    assert len(names) <= 6
    sums = [found.of(Series("m", "channel", name)).sum() for name in names]
    whole = found.of(TOTALS).sum()
    assert sum(int(one.positive.sum() + one.negative.sum()) for one in sums) == 400
    assert (sum(one.positive for one in sums) == whole.positive).all()


def test_only_bins_that_hold_a_case_take_memory():
    events, *_ = outcomes(500, seed=3, values=50)
    found = counted(events, 100)
    assert 0 < found.nbytes <= 500 * 3 * 16
    retracted = [{**event, "label": None, "ts": event["ts"] + 60} for event in events[1::2]]
    assert counted([*events, *retracted], 100).nbytes == 0
