"""Models of many classes: verdicts within the actual classes, detectors, pages and their state."""

from __future__ import annotations

import json
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from class_streams import CHANGED, DAY, Change, ClassStream, classes_of, only_model
from same import through_disk

from monitor.drift import Verdict, judge
from monitor.drift.class_confusions import Confusion
from monitor.drift.trend import CERTAIN
from monitor.drift.verdict import DEGRADED
from monitor.engine import Monitor
from monitor.events.renumbering import State
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.metrics.class_matrix import one_against_rest
from monitor.report.class_findings import class_findings
from monitor.report.deciding_window import deciding_window
from monitor.report.model_headline import model_headline
from monitor.report.replay_json import replay_json
from monitor.snapshot import ModelState
from monitor.verdicts import WindowVerdict
from monitor.watch import class_verdicts, class_watch
from monitor.watch.class_verdicts import verdict_on_whole
from monitor.watch.classes_together import ClassesTogether
from monitor.watch.moved_classes import MovedClasses
from monitor.watch.page import ModelPage

STOPS = (20, 45)
"""Days before which the state of `confused` is kept."""


class Confused(NamedTuple):
    """A monitor of a confusion, and its states before the days of `STOPS`."""

    monitor: Monitor
    states: dict[int, State]


@pytest.fixture(scope="module")
def run_on() -> Confused:
    stream, states = ClassStream(change="confusion"), {}
    monitor = Monitor(stream.config())
    for day, batch in enumerate(stream.batches(stream.config())):
        if day in STOPS:
            states[day] = through_disk(monitor.state())
        monitor.apply(batch)
    return Confused(monitor, states)


@pytest.fixture(scope="module")
def confused(run_on: Confused) -> Monitor:
    return run_on.monitor


def test_shares_that_shift_are_never_called_a_worse_model() -> None:
    stream = ClassStream(change="shares")
    monitor, naive = Monitor(stream.config()), set()
    for day, batch in enumerate(stream.batches(stream.config())):
        monitor.apply(batch)
        if day < CHANGED or day % 3:
            continue
        model = only_model(monitor)
        found = classes_of(model)
        for window in ("1d", "7d", "28d"):
            assert model.watched.verdicts[window].verdict not in DEGRADED
            assert not any(w.verdicts[window].verdict in DEGRADED for w in found.by_class.values())
            assert not found.changes[window]
        sides = one_against_rest(found.reference), model.classes["7d"].counts
        naive |= {c for c in range(4) if judge(sides[0][c], sides[1][c]).verdict in DEGRADED}
    assert naive, "one against the rest alone would have called a class worse"
    assert not model.watched.degradation_detected
    assert {one.kind for one in model.watched.detections} == {"prevalence_shift"}
    assert {one.of_class for one in model.watched.detections} <= set(stream.names)
    judgement = found.by_class["class-0"].verdicts["7d"].judgement
    assert judgement is not None
    assert "class_ratio" in judgement.rose


def test_a_confusion_pages_and_is_named(confused: Monitor) -> None:
    model = only_model(confused)
    found = classes_of(model)
    (pair, *others) = found.confusions("7d")
    assert (pair.actual, pair.predicted) == ("class-0", "class-1")
    assert not others
    share = model.classes["7d"].matrix[1, 0] / model.classes["7d"].matrix[:, 0].sum()
    assert pair.after == share
    assert pair.before == found.reference[1, 0] / found.reference[:, 0].sum()
    assert f"from {100 * pair.before:.1f} to {100 * pair.after:.1f} %, since " in pair.text
    assert pair.began is not None
    assert pair.began.earliest <= CHANGED * DAY * 1000 <= pair.began.latest
    assert abs(pair.began.at / 1000 - CHANGED * DAY) <= 2 * DAY
    worse = {n for n, w in found.by_class.items() if w.verdicts["7d"].verdict in DEGRADED}
    assert worse
    assert worse <= {"class-0", "class-1"}
    assert model.watched.degradation_detected
    pages = [one.at for one in model.watched.detections if one.kind == "model_degraded"]
    assert pages
    assert CHANGED * DAY <= min(pages) / 1000 < (CHANGED + 10) * DAY
    answer = class_findings(model, "7d")
    assert answer is not None
    assert answer.worse == "yes"
    assert "class-0 → class-1 confusions rose" in answer.why
    assert answer.why.startswith("Yes, 2 of 4 classes degraded (class-0, class-1): ")
    headline = model_headline(confused.snapshot(), model, "7d")
    assert f"{answer.moved}. 2 of 4 classes degraded (class-0, class-1): class-0 " in headline


def test_an_unchanged_model_has_no_page_and_no_confusion() -> None:
    model = only_model(ClassStream(seed=2).applied())
    assert not model.watched.detections
    assert model.watched.verdicts["28d"].verdict in ("no_change", "insufficient_evidence")
    assert not any(classes_of(model).changes.values())


def test_the_parts_of_each_class_add_up_to_the_change_of_its_precision(confused: Monitor) -> None:
    model = only_model(confused)
    found, after = classes_of(model), model.classes["7d"].counts
    causes = found.causes["7d"]
    before = one_against_rest(found.reference)
    logits = [np.log(side.tp) - np.log(side.fp) for side in (before, after)]
    parts = causes.prevalence.logit + causes.recall.logit + causes.leaked.logit
    np.testing.assert_allclose(parts, logits[1] - logits[0], atol=1e-12)
    np.testing.assert_allclose(causes.leaked.logit, causes.leaks.logit.sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("stop", [pytest.param(STOPS[0], marks=pytest.mark.slow), STOPS[1]])
def test_a_restored_monitor_judges_the_classes_as_one_that_never_stopped(
    run_on: Confused, stop: int
) -> None:
    stream = ClassStream(change="confusion")
    monitor = Monitor(stream.config(), run_on.states[stop])
    for batch in list(stream.batches(stream.config()))[stop:]:
        monitor.apply(batch)
    assert replay_json(monitor.snapshot()) == replay_json(run_on.monitor.snapshot())
    assert monitor.state()["watch"]["classes"].keys() == {"0"}


@pytest.mark.slow
def test_a_trailing_reference_moves_on_with_the_classes() -> None:
    stream = ClassStream(a_day=200)
    model = only_model(stream.applied(reference={"trailing": "7d"}))
    assert model.watched.reference is not None
    assert model.watched.reference.version > 1
    versions = {
        one.reference.version for one in classes_of(model).by_class.values() if one.reference
    }
    assert versions == {model.watched.reference.version}


@pytest.mark.slow
def test_that_the_accuracy_held_says_nothing_of_classes_that_are_open() -> None:
    model = only_model(ClassStream(classes=12, a_day=900, days=40).applied())
    own = [one.verdicts["7d"].verdict for one in classes_of(model).by_class.values()]
    left = own.count(Verdict.INSUFFICIENT_EVIDENCE)
    answer = class_findings(model, "7d")
    assert answer is not None
    assert model.watched.verdicts["7d"].verdict is Verdict.NO_CHANGE
    assert left
    assert f"as before; not settled for {left} of 12 classes alone" in answer.why
    assert ". Accuracy within the actual classes is as before; " in answer.headline


def test_before_its_reference_a_model_has_no_class_to_compare() -> None:
    model = only_model(ClassStream(days=5, a_day=100).applied())
    assert model.watched.classes is None
    assert model.watched.awaited is not None
    assert class_findings(model, "1d") is None


@pytest.mark.slow
def test_the_longest_window_with_compared_classes_decides_while_no_verdict_is_certain() -> None:
    (model,) = ClassStream(classes=12, change="shares", a_day=300).applied().snapshot().models
    assert model.watched.classes is not None
    compared = {
        name: any(one.verdicts[name].judgement for one in model.watched.classes.by_class.values())
        for name in ("1d", "7d", "28d")
    }
    assert compared == {"1d": True, "7d": True, "28d": False}  # it reaches into the reference
    assert deciding_window(model, [*compared]) == "7d"


class SlidingStream(ClassStream):
    """Ever more of the first class is taken for the second, from day 28 on."""

    weekly = 0.02

    def rates(self, day: int) -> np.ndarray:
        rates = super().rates(day)
        more = self.weekly * max(day - 28, 0) / 7
        rates[1, 0] += more
        rates[0, 0] -= more
        return rates


class SteeperStream(SlidingStream):
    """As above, by more each week."""

    weekly = 0.03


@pytest.mark.parametrize(
    ("stream", "certain"),
    [(SlidingStream, False), pytest.param(SteeperStream, True, marks=pytest.mark.slow)],
)
def test_a_trend_of_one_of_eight_classes_is_certain_at_an_eighth_of_the_level(
    stream: type[SlidingStream], certain: object
) -> None:
    model = only_model(stream(classes=8, a_day=200, days=80).applied(reference={"first": "14d"}))
    trends = [one.trend for one in classes_of(model).by_class.values() if one.trend is not None]
    assert bool(trends) is certain  # that of the first stream has p = .007
    assert all(trend.p_value < CERTAIN / 8 for trend in trends)
    assert model.watched.degradation_detected is certain


class EarlierStream(ClassStream):
    """What changes does so on day 21: after the first week, within the first 28 days."""

    def rates(self, day: int) -> np.ndarray:
        return super().rates(day + CHANGED - 21)

    def shares(self, day: int, rng: np.random.Generator) -> np.ndarray:
        return super().shares(day + CHANGED - 21, rng)


@cache
def first_days(change: Change) -> ModelState:
    stream = EarlierStream(change=change, a_day=700, days=38, seed=3)
    return only_model(stream.applied(label_timeout="1d"))


@pytest.mark.parametrize(("change", "days"), [("confusion", 21), ("shares", 21), ("none", 28)])
def test_the_longer_reference_ends_where_confusions_or_shares_moved(
    change: Change, days: int
) -> None:
    reference = first_days(change).watched.reference
    assert reference is not None
    assert reference.opens is not None
    assert reference.closes is not None
    assert reference.version == 2
    assert days - 2 <= (reference.closes - reference.opens) / 1000 / DAY <= days


def test_since_when_classes_look_moved_stays_for_the_day_over_a_restart() -> None:
    """Cases that come late are among those of the last week."""
    stream = EarlierStream(change="confusion", a_day=700, days=37, seed=3)
    config, day = stream.config(label_timeout="2d"), 35 * DAY
    monitor, decoder = Monitor(config), Decoder(DecodeSettings.from_config(config))
    for batch in stream.batches(config):
        monitor.apply(batch)
    late = {"prediction": "class-0", "label": "class-0", "model": "mail"}
    text = "\n".join(json.dumps({**late, "ts": day + n}) for n in range(9000))
    monitor.apply(decoder.decode_lines(text.encode(), source="events"))
    state = through_disk(monitor.state())
    restored = Monitor(config, state)
    del state["watch"]["classes"]["moved"]
    anew = Monitor(config, state)
    found = []
    for one in (monitor, restored, anew):
        classes = one._stages.watch._classes
        found.append(classes._moves.earliest(0, classes._models[0], 36 * DAY * 1000))
    assert found == [21 * DAY * 1000, 21 * DAY * 1000, None]


def test_a_confusion_within_the_first_days_pages_and_is_named() -> None:
    model = first_days("confusion")
    assert model.watched.degradation_detected
    (pair, *_) = classes_of(model).confusions("7d")
    assert (pair.actual, pair.predicted) == ("class-0", "class-1")


class RareStream(ClassStream):
    """From day 21 on a tenth of the first class is taken for the third, a thirtieth before."""

    def rates(self, day: int) -> np.ndarray:
        rates = super().rates(day)
        more = 0.07 if day >= 21 else 0.0
        rates[2, 0] += more
        rates[0, 0] -= more
        return rates


@pytest.mark.slow
def test_a_confusion_that_certainly_rose_pages_before_the_detectors_alarm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = RareStream(a_day=900, days=31, seed=3)
    assert only_model(stream.applied()).watched.degradation_detected
    monkeypatch.setattr(MovedClasses, "worse", lambda *_: [])
    assert not only_model(stream.applied()).watched.degradation_detected


@pytest.mark.slow
def test_a_class_that_pages_by_its_confusions_is_degraded_by_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One against the rest, its recall leans upward by chance, as where a threshold slides."""

    def week() -> tuple[Verdict, Verdict]:
        model = only_model(stream.applied())
        own = classes_of(model).by_class["class-2"].verdicts["7d"]
        assert own.judgement is not None
        assert own.judgement.verdict is own.verdict
        assert (own.because is None) is (own.verdict in DEGRADED)
        return model.watched.verdicts["7d"].verdict, own.verdict

    stream = RareStream(a_day=900, days=31, seed=3)
    assert week() == (Verdict.MODEL_DEGRADED, Verdict.MODEL_DEGRADED)
    monkeypatch.setattr(class_verdicts, "_as_confused", lambda found, **_: found)
    assert week() == (Verdict.INSUFFICIENT_EVIDENCE, Verdict.INSUFFICIENT_EVIDENCE)


@pytest.mark.parametrize(("pages", "confused"), [(True, False), (False, True)])
def test_a_window_beside_a_page_or_a_certain_confusion_has_moved(
    monkeypatch: pytest.MonkeyPatch, pages: object, confused: object
) -> None:
    """Neither lets the whole be called steady, as the verdicts on the classes alone would."""
    model, seen = ClassStream(a_day=100, days=36).applied(), []
    found = verdict_on_whole

    def noted(*args: object, moved: bool, **settings: object) -> WindowVerdict:
        seen.append(moved)
        return found(*args, moved=moved, **settings)  # type: ignore[arg-type]  # passed on as given

    monkeypatch.setattr(class_watch, "verdict_on_whole", noted)
    if pages:
        monkeypatch.setattr(ModelPage, "active", True)
    if confused:
        pair = Confusion("class-0", "class-1", 0.02, 0.09)
        window = ClassesTogether.window
        monkeypatch.setattr(
            ClassesTogether, "window", lambda *args: window(*args)._replace(changes=(pair,))
        )
    model.snapshot()
    assert seen
    assert all(seen)


def test_a_confusion_from_the_first_day_after_the_reference_may_have_begun_before() -> None:
    class Sooner(ClassStream):
        """The reference ends on the day of the change."""

        def rates(self, day: int) -> np.ndarray:
            return super().rates(day + CHANGED - 28)

    model = only_model(Sooner(change="confusion", days=38).applied())
    (pair, *_) = classes_of(model).confusions("7d")
    assert pair.began is not None
    assert pair.began.earliest is None
    assert pair.text.endswith(", since on or before 1970-01-29")
