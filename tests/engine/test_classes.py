"""Models of many classes, from lines of events to counts, against an independent recount."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import EventBatch
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.prometheus.families import FAMILIES
from monitor.prometheus.family import shape_of
from monitor.prometheus.series_limit import LeftOut, limited
from monitor.report.replay_json import replay_json

CLASSES = ("card", "loan", "mortgage", "other")
DAY = 86_400
CONFIG = Config(
    models={
        "mail": {"classes": CLASSES, "label_timeout": "2d", "maturity": "1h"},
        "digits": {"classes": ["0", "1", "2"], "label_timeout": "2d", "maturity": "1h"},
        "fraud": {"classes": ["fine", "fraud"], "label_timeout": "2d", "maturity": "1h"},
        "plain": {"label_timeout": "2d", "maturity": "1h"},
    },
    windows=["1h", "1d", "7d"],
)
NAMES: dict[str, tuple[Any, ...]] = {
    "mail": CLASSES,
    "digits": (0, "1", 2),
    "fraud": ("fine", "fraud"),
    "plain": (0, 1),
}


DECODER = Decoder(DecodeSettings.from_config(CONFIG))


def decoded(events: list[dict[str, Any]]) -> EventBatch:
    lines = "".join(json.dumps(event) + "\n" for event in events).encode()
    return DECODER.decode_lines(lines, source="events")


def fed(events: list[dict[str, Any]], size: int = 1000) -> Monitor:
    monitor = Monitor(CONFIG)
    for first in range(0, len(events), size):
        monitor.apply(decoded(events[first : first + size]))
    return monitor


@dataclass(frozen=True)
class Case:
    """A prediction and the labels that come for it, in the order of their times."""

    name: str
    model: str
    time: int
    predicted: int
    labels: tuple[tuple[int, int | None], ...]

    def events(self, *, by_score: bool) -> list[dict[str, Any]]:
        names, made = NAMES[self.model], {"id": self.name, "ts": self.time, "model": self.model}
        prediction: dict[str, Any] = {"prediction": names[self.predicted]}
        if by_score and len(names) > 2:
            prediction = {"scores": [float(i == self.predicted) for i in range(len(names))]}
        labels = [
            {
                "type": "label",
                "id": self.name,
                "ts": self.time + delay,
                "label": None if label is None else names[label],
            }
            for delay, label in self.labels
        ]
        return [{"type": "prediction", **made, **prediction}, *labels]

    @property
    def actual(self) -> int | None:
        """The label in force: the latest that is not late."""
        timely = [label for delay, label in self.labels if delay <= 2 * DAY]
        return timely[-1] if timely else None


@st.composite
def cases(draw: st.DrawFn) -> list[Case]:
    found = []
    for number in range(draw(st.integers(1, 30))):
        model = draw(st.sampled_from(sorted(NAMES)))
        classes = st.integers(0, len(NAMES[model]) - 1)
        delays = draw(st.lists(st.integers(1, 3 * DAY), max_size=3, unique=True))
        labels = [(delay, draw(st.one_of(classes, st.none()))) for delay in sorted(delays)]
        time = draw(st.integers(0, 4 * DAY))
        found.append(Case(f"c{number}", model, time, draw(classes), tuple(labels)))
    return found


def recount(found: list[Case], model: str, opens: float, closes: float) -> np.ndarray:
    size = len(NAMES[model])
    matrix = np.zeros((size, size), dtype=np.int64)
    for case in found:
        if case.model == model and opens <= case.time < closes and case.actual is not None:
            matrix[case.predicted, case.actual] += 1
    return matrix


@settings(max_examples=12, deadline=None)
@given(cases(), st.randoms(use_true_random=False), st.integers(1, 7), st.booleans())
def test_the_matrices_of_all_windows_equal_a_recount(
    found: list[Case], random: Any, size: int, by_score: object
) -> None:
    events = [event for case in found for event in case.events(by_score=bool(by_score))]
    random.shuffle(events)
    end = [{"type": "label", "id": f"none-{i}", "ts": 7 * DAY, "label": 1} for i in range(3)]
    monitor = fed([*events, *end], size=size)
    snapshot = monitor.snapshot(7 * DAY * 1000)
    for model in snapshot.models:
        lifetime = recount(found, model.name, 0, np.inf)
        if model.name in ("plain", "fraud"):
            (tn, fn), (fp, tp) = lifetime
            assert snapshot.lifetime.counts[model.row].cells.tolist() == [tp, fp, fn, tn]
            assert not model.classes
            continue
        assert (model.classes["all"].matrix == lifetime).all()
        made = Counter(case.predicted for case in found if case.model == model.name)
        assert model.classes["all"].predictions.tolist() == [made[i] for i in range(len(lifetime))]
        for window in snapshot.windows:
            opens, closes = window.open[model.row] / 1000, window.close[model.row] / 1000
            matrix = recount(found, model.name, opens, closes)
            report = model.classes[window.name]
            assert (report.matrix == matrix).all()
            pooled = window.counts[model.row]
            assert pooled.tp == np.trace(matrix)
            assert pooled.fp == matrix.sum() - np.trace(matrix)
            for number in range(len(matrix)):
                own = report.counts[number]
                rest = [i for i in range(len(matrix)) if i != number]
                assert own.tp == matrix[number, number]
                assert own.fp == matrix[number, rest].sum()
                assert own.fn == matrix[rest, number].sum()
                assert own.tn == matrix[np.ix_(rest, rest)].sum()


@settings(max_examples=10, deadline=None)
@given(cases(), st.integers(0, 90))
def test_a_restored_monitor_counts_classes_as_one_that_never_stopped(
    found: list[Case], cut: int
) -> None:
    events = [event for case in found for event in case.events(by_score=False)]
    whole, first = fed(events), fed(events[:cut])
    restored = Monitor(CONFIG, first.state())
    restored.apply(decoded(events[cut:]))
    assert replay_json(restored.snapshot()) == replay_json(whole.snapshot())


def test_an_outcome_without_an_id_counts_by_class() -> None:
    outcome = {"type": "outcome", "model": "mail", "ts": 5, "prediction": "loan", "label": "card"}
    monitor = fed([outcome, {**outcome, "label": "loan", "scores": dict.fromkeys(CLASSES, 0)}])
    report = monitor.snapshot().models[0].classes["all"]
    assert report.matrix.tolist() == [[0] * 4, [1, 1, 0, 0], [0] * 4, [0] * 4]


def test_a_label_that_its_model_has_no_class_for_is_counted_and_changes_nothing() -> None:
    ids = {"mail": "card", "digits": 2, "fraud": "fraud", "plain": 1}
    made = [
        {"type": "prediction", "id": name, "ts": 1, "model": name, "prediction": value}
        for name, value in ids.items()
    ]
    wrong = {"mail": "fraud", "digits": "card", "fraud": 2, "plain": "card"}
    labels = [{"type": "label", "id": n, "ts": 2, "label": v} for n, v in wrong.items()]
    early = fed([*labels, *made]).snapshot()
    late = fed([*made, *labels]).snapshot()
    for snapshot in (early, late):
        assert snapshot.labels.misnamed == snapshot.labels.received == 4
        assert not any(model.matched for model in snapshot.models)


def test_classes_that_change_start_the_model_empty_and_leave_the_others() -> None:
    made = [
        {"type": "outcome", "model": name, "ts": 5, "prediction": value, "label": value}
        for name, value in (("mail", "card"), ("digits", 1))
    ]
    state = fed(made).state()
    models = {name: dict(CONFIG.models[name]) for name in CONFIG.models}
    models["mail"]["classes"] = CLASSES[::-1]
    restored = Monitor(Config(models=models, windows=["1h", "1d", "7d"]), state).snapshot()
    found = {model.name: model.classes for model in restored.models}
    assert found["mail"]["all"].matrix.sum() == 0
    assert found["digits"]["all"].matrix.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("names", "counted"),
    [
        (["fine", "fraud"], 1),
        (["ok", "fraud"], 1),
        ([], 1),
        (["fraud", "fine"], 0),
        (["fraud", "theft"], 0),
        (["fine", "fraud", "theft"], 0),
    ],
)
def test_two_classes_that_are_turned_round_start_the_model_empty(
    names: list[str], counted: int
) -> None:
    """Its true positives went on as those of the other class."""
    outcome = {"type": "outcome", "model": "fraud", "ts": 5, "prediction": "fraud"}
    state = fed([{**outcome, "label": "fraud"}]).state()
    models = {**CONFIG.models, "fraud": {"classes": names}}
    restored = Monitor(Config(models=models, windows=["1h", "1d", "7d"]), state).snapshot()
    row = next(model.row for model in restored.models if model.name == "fraud")
    assert restored.lifetime.counts.total[row] == counted


@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        (
            {"prediction": "cash"},
            (
                "prediction: must be 'card', 'loan', 'mortgage' or 'other', got \"cash\"; if it is "
                "a class, configure classes: [card, loan, mortgage, other, cash]"
            ),
        ),
        (
            {"prediction": ["card", "loan"]},
            (
                "prediction: is a list; for several labels a case, configure a model for each "
                'label, got ["card", "loan"]'
            ),
        ),
        ({"prediction": 1}, "prediction: must be 'card', 'loan', 'mortgage' or 'other', got 1"),
        (
            {"prediction": True},
            "prediction: must be 'card', 'loan', 'mortgage' or 'other', got true",
        ),
        ({"score": 0.5}, "prediction: is missing; scores of all classes would do"),
        (
            {"scores": {"card": 0.5}},
            'scores: must have a finite number for each class, and no other, got {"card": 0.5}',
        ),
        (
            {"scores": [0.1, 0.2, 0.7]},
            "scores: must have a finite number for each class, and no other, got [0.1, 0.2, 0.7]",
        ),
    ],
)
def test_a_prediction_that_names_no_class_is_rejected(fields: dict[str, Any], detail: str) -> None:
    event = {"type": "prediction", "id": "a", "ts": 1, "model": "mail", **fields}
    batch = decoded([event, {**event, "prediction": "card", "scores": None}])
    assert [rejected.detail for rejected in batch.rejected] == [detail]
    assert len(batch.predictions) == 1


def test_counts_of_another_system_are_of_two_classes() -> None:
    counts = {"type": "counts", "ts": 1, "tp": 1, "fp": 0, "fn": 0, "tn": 0}
    batch = decoded([{**counts, "model": model} for model in NAMES])
    assert [rejected.detail for rejected in batch.rejected] == [
        'type: counts are of two classes, and the model has more, got "counts"'
    ] * 2
    assert len(batch.counts) == 2


def test_series_by_class_have_the_numbers_of_the_snapshot() -> None:
    rng = np.random.default_rng(4)
    made = [
        {"type": "outcome", "model": "mail", "ts": i, "prediction": p, "label": a}
        for i, (p, a) in enumerate(rng.choice(CLASSES, size=(400, 2)).tolist())
    ]
    snapshot = fed(made).snapshot()
    report = snapshot.models[0].classes["all"]
    shape, seen = shape_of(snapshot), {}
    for family in FAMILIES:
        for one, value in zip(family.lines(shape), family.values(snapshot), strict=True):
            if one.labels.get("window") == "all" and one.labels.get("model") == "mail":
                own = {k: v for k, v in one.labels.items() if k not in ("model", "window")}
                seen[family.name, tuple(own.values())] = value
    for number, name in enumerate(CLASSES):
        for series, metric in (("precision_ratio", "precision"), ("f_score_upper_ratio", "f1")):
            ends = report.metrics[metric]
            expected = ends.upper if "upper" in series else ends.estimate
            assert seen[f"classifier_{series}", (name,)] == expected[number]
        found = [seen["classifier_window_outcomes", (name, c)] for c in ("tp", "fp", "fn", "tn")]
        assert found == report.counts[number].cells.tolist()
    assert seen["classifier_cohen_kappa", ()] == report.whole["cohen_kappa"].estimate
    lower = report.averages["weighted", "f1"].lower
    assert seen["classifier_class_average_lower_ratio", ("weighted", "f1")] == lower
    rows = limited(snapshot, 10**6)[0]
    assert rows.models[0].classes
    size = sum(len(family.lines(shape)) for family in FAMILIES)
    assert limited(snapshot, size) == (snapshot, LeftOut())
    assert limited(snapshot, size - 1)[1].models > 0


def test_the_kernel_and_the_decoder_without_it_agree_on_named_classes() -> None:
    values = [*CLASSES, 0, 1, 2, True, False, None, "fraud", "1", 7, "x", 1.0, [], {}]
    events = [
        {"type": kind, "id": f"{kind}{model}{i}{j}", "ts": 1, "model": model, **fields}
        for model in NAMES
        for i, value in enumerate(values)
        for j, fields in enumerate(
            [{"prediction": value}, {"prediction": 1, "label": value}, {"label": value}]
        )
        for kind in ("prediction", "label", "outcome")
    ]
    lines = "".join(json.dumps(event) + "\n" for event in events).encode()
    decoding = DecodeSettings.from_config(CONFIG)
    made = [Decoder(decoding, kernel=k).decode_lines(lines, source="e") for k in ("c", "python")]
    assert made[0].rejected == made[1].rejected
    assert made[0].rejected
    for kind in ("predictions", "labels", "outcomes"):
        one, other = (getattr(batch, kind) for batch in made)
        for name in one.names():
            assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name
    assert made[0].groups == made[1].groups
