"""Scores of segment values: each counts once, in bins whose curve is nearly the exact one."""

import json
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same import differences, through_disk
from scipy.special import expit
from sequences import monitor_of
from sklearn.metrics import roc_auc_score

from monitor.clock import DAY_MS
from monitor.config import Config
from monitor.counts import Outcome
from monitor.events.catalogue import Catalogue
from monitor.events.columns import NO_TIME, OTHER_VALUE, Group, Series
from monitor.events.score_bins import NO_SCORE, bin_of
from monitor.join import Deltas
from monitor.join.deltas import PREDICTED_NEGATIVE
from monitor.metrics.score_changes import score_change
from monitor.metrics.score_statistics import AREA_UNDER_ROC
from monitor.windows.days_then_weeks import DAYS
from monitor.windows.scores import Scores
from monitor.windows.value_scores import MOST_VALUES, MOST_VERSIONS, ValueScores

MODELS = 2
FIRST = 20_000
DAYS_SEEN = DAYS + 40
COLOURS = ("red", "green", "blue", "grey", "white")
DAILY = {(1000, True), (7, False)}
"""Sizes of batches, and whether the first label comes late, that are tried each time."""
CONFIG = Config(
    models={f"m{number}": {"segments": ["colour", "version"]} for number in range(MODELS)}
)


class Counted:
    """Histograms of models and of their segment values, and a catalogue of their own."""

    def __init__(self, state=None, known=None):
        self.catalogue = Catalogue(CONFIG)
        self.left = None if known is None else self.catalogue.restore(known)
        self.scores = Scores(self.catalogue)
        self.values = ValueScores(self.catalogue, self.scores)
        if state is not None:
            self.scores.restore(state[0], np.arange(MODELS))
            self.values.restore(state[1], np.arange(MODELS))

    def restarted(self):
        state = through_disk([self.scores.state(), self.values.state()])
        return Counted(state, through_disk(self.catalogue.state()))

    def count(self, model, values, day, score, cell, *, count=1):
        group, _ = self.catalogue.groups_of([Group(f"m{model}", None, values)])
        one = np.ones(1, dtype=np.int64)
        time = one * (day * DAY_MS + 5)
        deltas = Deltas(
            time=time,
            label_time=time,
            group=group,
            cell=one * cell,
            score_bin=one * score,
            count=one * count,
        )
        for behind in (self.scores, self.values):
            behind.apply(deltas)

    def advance(self, times):
        for behind in (self.scores, self.values):
            behind.advance(times)

    def of(self, series, opens=FIRST - 400, closes=FIRST + 400):
        return self.values.blocks(series.model, opens * DAY_MS, closes * DAY_MS).of(series)


cases = st.tuples(
    st.integers(0, MODELS - 1),
    st.sampled_from(COLOURS),
    st.sampled_from(["v1", "v2", "v3"]),
    st.integers(FIRST, FIRST + DAYS_SEEN - 1),
    st.sampled_from([0, 1, 3, 40, 500, 501, 999, NO_SCORE]),
    st.sampled_from([*Outcome, PREDICTED_NEGATIVE]),
)
steps = st.lists(
    st.tuples(st.just("case"), cases)
    | st.tuples(st.just("advance"), st.integers(FIRST, FIRST + DAYS_SEEN))
    | st.tuples(st.just("restart"), st.none()),
    max_size=40,
)


@settings(deadline=None)
@given(steps)
def test_every_labelled_score_counts_once_in_each_of_its_values(steps):
    found, expected, now = Counted(), Counter(), np.full(MODELS, NO_TIME)
    for step, given_ in steps:
        if step == "advance":
            now = np.maximum(now, given_ * DAY_MS + np.arange(MODELS) * 9 * DAY_MS)
            found.advance(now)
        elif step == "restart":
            found = found.restarted()
            found.advance(now)
        else:
            model, colour, version, day, score, cell = given_
            found.count(model, (colour, version), day, score, cell)
            if score != NO_SCORE and cell < len(Outcome):
                positive = cell in (Outcome.TP, Outcome.FN)
                for key, value in (("colour", colour), ("version", version)):
                    expected[Series(f"m{model}", key, value), positive] += 1
    for series in {series for series, _ in expected}:
        scores = found.of(series)
        assert scores.positive.sum() == pytest.approx(expected[series, True])
        assert scores.negative.sum() == pytest.approx(expected[series, False])


def drawn(chance, days, cases, gap, values=("a", "b", "c")):
    """Scores that are calibrated where the gap is 1, by day, with truth and value of each case."""
    for day in range(days):
        truth = chance.random(cases) < 0.06
        logit = chance.normal(-3, 1, cases) + 1.5 * gap * truth
        yield day, expit(logit), truth, chance.choice(values, cases)


def counted(days, gap=1.0, values=("a", "b", "c"), seed=5, cases=900):
    found, exact = Counted(), []
    chance = np.random.default_rng(seed)
    for day, score, truth, value in drawn(chance, days, cases, gap, values):
        for one in np.unique(value).tolist():
            for positive in (True, False):
                bins, number = np.unique(
                    bin_of(score[(value == one) & (truth == positive)]), return_counts=True
                )
                for place, n in zip(bins.tolist(), number.tolist(), strict=True):
                    cell = Outcome.TP if positive else Outcome.FP
                    found.count(0, (one, "v1"), FIRST + day, place, cell, count=n)
        exact.append((score, truth, value))
    return found, [np.concatenate(part) for part in zip(*exact, strict=True)]


def test_the_area_is_that_of_the_scores_themselves_though_they_lie_in_few_wide_bins():
    found, (score, truth, value) = counted(4)
    for one in np.unique(value).tolist():
        scores = found.of(Series("m0", "colour", one), FIRST, FIRST + 4)
        mine = value == one
        expected = roc_auc_score(truth[mine], score[mine])
        area = score_change(scores, None, AREA_UNDER_ROC).before.estimate
        assert area == pytest.approx(expected, abs=0.004)
        assert scores.positive.shape == (4, 1000)


def test_the_value_of_all_cases_has_the_curve_of_the_model():
    found, _ = counted(3, values=("a",))
    whole = found.scores.blocks(0, 0, (FIRST + 9) * DAY_MS).sum()
    alone = found.of(Series("m0", "colour", "a")).sum()
    assert np.allclose(alone.positive, whole.positive)
    assert np.allclose(alone.negative, whole.negative)


def test_the_first_values_and_the_last_versions_have_histograms():
    found = Counted()
    colours = [f"c{number:02}" for number in range(30)]
    versions = [f"v{number}" for number in range(7)]
    for number, colour in enumerate(colours):
        version = versions[min(number // 4, 6)]
        found.count(0, (colour, version), FIRST, 500, Outcome.TP)
        found.count(1, ("red", "v9"), FIRST, 500, Outcome.TP)
    stored = found.values.blocks("m0", FIRST * DAY_MS, (FIRST + 1) * DAY_MS).cells
    by_key = {key: [one.value for one in stored if one.segment == key] for key in CONFIG_KEYS}
    assert by_key["colour"] == colours[: MOST_VALUES - MOST_VERSIONS]
    assert by_key["version"] == versions[-MOST_VERSIONS:]
    last = found.of(Series("m0", "version", "v6"))
    assert last.positive.sum() == 6  # and none of the version whose place it took
    assert found.of(Series("m0", "version", "v0")) is None


CONFIG_KEYS = ("colour", "version")


def test_versions_that_came_before_the_first_label_have_histograms_too():
    found = Counted()
    for number in range(6):
        found.count(0, ("red", f"v{number}"), FIRST, 500, PREDICTED_NEGATIVE)
    found.count(0, ("red", "v5"), FIRST, 500, Outcome.TP)
    stored = found.values.blocks("m0", FIRST * DAY_MS, (FIRST + 1) * DAY_MS).cells
    versions = [one.value for one in stored if one.segment == "version"]
    assert versions == ["v2", "v3", "v4", "v5"]
    assert found.of(Series("m0", "version", "v5")).positive.sum() == 1


WITHOUT = 2


@pytest.mark.parametrize("gone", ["m0", "m3"])
def test_histograms_go_on_where_another_model_is_gone(gone):
    """One model of four has no scores; the models stand at different times."""
    config = Config(defaults={"segments": ["colour"]})
    catalogue = Catalogue(config)
    groups, _ = catalogue.groups_of([Group(f"m{number}", None, ("red",)) for number in range(4)])
    scores = Scores(catalogue)
    values = ValueScores(catalogue, scores)
    times = np.array([300, 30, 20, 10]) * DAY_MS + FIRST * DAY_MS

    def count(to, group, days, n):
        one = np.ones(1, dtype=np.int64)
        time = one * (FIRST + days) * DAY_MS
        score = one * (NO_SCORE if n == WITHOUT else 500)
        cell = one * Outcome.TP
        to.apply(
            Deltas(
                time=time, label_time=time, group=one * group, cell=cell, score_bin=score, count=one
            )
        )

    for number, days in enumerate((300, 30, 20, 10)):
        for to in (scores, values):
            to.advance(times)
            count(to, groups[number], days, number)
    state = through_disk(values.state())
    known = through_disk(catalogue.state())
    restored = Catalogue(config)
    left = restored.restore(known, [gone])
    new_scores = Scores(restored)
    new = ValueScores(restored, new_scores)
    new.restore(state, left.models)
    new.advance(times[left.models])
    number = restored.models.index("m1")
    (row,) = [row for one, row in new._rows.items() if one.model == "m1"]
    assert new._past.days.newest(number) == FIRST + 30
    day = new._past.days.table(FIRST + 30, FIRST + 31, np.array([row]))
    assert day.sum() == 1


def test_values_without_a_series_of_their_own_have_none():
    found = Counted()
    found.count(0, (OTHER_VALUE, "v1"), FIRST, 500, Outcome.TP)
    assert found.of(Series("m0", "colour", OTHER_VALUE)) is None
    assert found.of(Series("m0", "version", "v1")).positive.sum() == 1


def test_a_model_without_labelled_scores_takes_no_memory():
    found = Counted()
    found.count(0, ("red", "v1"), FIRST, NO_SCORE, Outcome.TP)
    found.count(0, ("red", "v1"), FIRST, 500, PREDICTED_NEGATIVE)
    assert found.values.nbytes == 0
    assert found.values.state() == {}


def test_a_model_takes_half_a_megabyte_at_most():
    found = Counted()
    for number in range(40):
        found.count(0, (f"c{number}", f"v{number}"), FIRST, 500, Outcome.TP)
    reserved = (
        found.values.nbytes * len(found.values._owners) / found.values._past.days.memory[0].shape[1]
    )
    assert len(found.values._owners) == MOST_VALUES
    assert reserved < 510_000


@pytest.mark.parametrize(
    ("size", "late"),
    [
        pytest.param(size, late, marks=[pytest.mark.slow] * ((size, late) not in DAILY))
        for size, late in product([1, 7, 1000], [False, True])
    ],
)
def test_histograms_depend_on_the_records_alone_not_on_batches(size, late):
    """Versions take over series of ones that ended; the first label may come when all are there."""
    chance = np.random.default_rng(3)
    config = Config(
        models={
            "m": {
                "segments": ["colour", "version"],
                "max_segment_values": 6,
                "label_timeout": "6h",
                "horizon": "12h",
                "maturity": "0s",
                "reference": {"first": "1d"},
            }
        },
        pane="1h",
        windows=["1d"],
    )
    records = []
    for number in range(400):
        ts = 1_700_000_000 + 3600.0 * 4 * number
        records += [
            {
                "type": "prediction",
                "id": f"p{number}",
                "ts": ts,
                "score": round(float(chance.random()), 3),
                "prediction": number % 2,
                "model": "m",
                "version": f"v{number // 20:02}",
                "segment": {"colour": COLOURS[number % 5]},
            },
            {"type": "label", "id": f"p{number}", "ts": ts + 3600, "label": int(number % 3 == 0)},
        ]
    if late:
        records = [one for one in records if one["type"] == "prediction" or one["id"] == "p399"]
    lines = [json.dumps(record).encode() for record in records]
    states = [
        monitor_of(lines, range(0, len(lines), batch), config).state()["value_scores"]
        for batch in (len(lines), size)
    ]
    assert not list(differences(*states))
    versions = [one[2] for one in states[0]["values"] if one[1] == "version"]
    assert versions == [f"v{number:02}" for number in range(16, 20)]
