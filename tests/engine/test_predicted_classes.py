"""Models that learn their classes, against an independent recount and a model that lists them."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same import differences, through_disk
from sklearn.metrics import confusion_matrix

from monitor.config import Config
from monitor.engine import CountingMonitor, Monitor
from monitor.engine.pieces import pieces
from monitor.events.columns import EventBatch
from monitor.exporter.backfill import Moments
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.kernel import compiled_module

DAY = 86_400
OTHER = "__other__"
MODEL = {"label_timeout": "2d", "maturity": "1h"}
CONFIG = Config(
    models={"mail": {"classes": "learned", **MODEL}, "plain": MODEL}, windows=["1h", "1d"]
)
NAMES = ("ant", "bee", "7", "0", "elk")


def lines_of(events: list[dict[str, Any]]) -> list[bytes]:
    return [json.dumps(event).encode() for event in events]


def fed(
    lines: list[bytes],
    ends: set[int] = frozenset(),
    kernel: Any = None,
    config: Config = CONFIG,
    kind: type[Monitor] = Monitor,
) -> Monitor:
    """A monitor that took these lines in batches that end at these places."""
    monitor, decoder = kind(config), Decoder(DecodeSettings.from_config(config), kernel=kernel)
    bounds = [0, *sorted({*ends, len(lines)})]
    for start, end in itertools.pairwise(bounds):
        batch = decoder.decode_lines(b"\n".join(lines[start:end]), source="t")
        assert not batch.rejected
        monitor.apply(batch)
    return monitor


def predicted(number: int, name: Any, **more: Any) -> dict[str, Any]:
    made = {"prediction": name} if "scores" not in more else {}
    head = {"type": "prediction", "id": f"p{number}", "ts": 60 * number, "model": "mail"}
    return {**head, **made, **more}


def labelled(number: int, name: Any, after: int = 30) -> dict[str, Any]:
    return {"type": "label", "id": f"p{number}", "ts": 60 * number + after, "label": name}


def names_of(monitor: Monitor) -> list[str]:
    models = {one["name"]: one for one in monitor.state()["catalogue"]["models"]}
    return models["mail"]["classes"]


def matrix_of(monitor: Monitor) -> np.ndarray:
    return monitor.classes.ever(monitor.models.index("mail")).matrix


def cells_of(monitor: Monitor) -> Counter[tuple[str, str]]:
    """Labelled cases by predicted and actual name."""
    names, matrix = names_of(monitor), matrix_of(monitor)
    return Counter(
        {(names[p], names[a]): int(matrix[p, a]) for p, a in zip(*np.nonzero(matrix), strict=True)}
    )


class Recount:
    """Counts record by record, with dictionaries."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.predicted: dict[str, str] = {}
        self.waiting: dict[str, list[Any]] = {}
        self.actual: dict[str, str] = {}
        self.cells: Counter[tuple[str, str]] = Counter()

    def take(self, event: dict[str, Any]) -> None:
        if event["type"] == "label":
            self._label(event["id"], event["label"])
            return
        name = str(event["prediction"])
        if name not in self.names and len({*self.names, OTHER}) < 50:
            self.names.append(name)
        found = name if name in self.names else self._other()
        if event["type"] == "outcome":
            self.cells[found, self._actual(event["label"])] += 1
            return
        self.predicted[event["id"]] = found
        for label in self.waiting.pop(event["id"], ()):
            self._label(event["id"], label)

    def _label(self, key: str, label: Any) -> None:
        if key not in self.predicted:
            self.waiting.setdefault(key, []).append(label)
            return
        if key in self.actual:
            self.cells[self.predicted[key], self.actual.pop(key)] -= 1
        if label is not None:
            self.actual[key] = self._actual(label)
            self.cells[self.predicted[key], self.actual[key]] += 1

    def _actual(self, label: Any) -> str:
        return str(label) if str(label) in self.names else self._other()

    def _other(self) -> str:
        if OTHER not in self.names:
            self.names.append(OTHER)
        return OTHER


@st.composite
def streams(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Predictions, their labels and outcomes, in any order; a label is revised by a later one."""
    some = st.sampled_from([*NAMES, 7, 0, "fox"])
    events: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 25))):
        events.append(predicted(number, draw(some)))
        labels = draw(st.lists(st.one_of(some, st.none()), max_size=2))
        events += [labelled(number, label, 30 + i) for i, label in enumerate(labels)]
        if draw(st.booleans()):
            names = {"prediction": draw(some), "label": draw(some)}
            events.append({"type": "outcome", "ts": 60 * number, "model": "mail", **names})
    moved = draw(st.lists(st.integers(0, 12), min_size=len(events), max_size=len(events)))
    order = sorted(range(len(events)), key=lambda i: (i + moved[i], i))
    return [events[i] for i in order]


def in_order(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Records with the labels of a case in the order of their times."""
    seen: dict[str, int] = {}
    out = []
    for event in events:
        if event["type"] == "label":
            if event["ts"] < seen.get(event["id"], 0):
                continue
            seen[event["id"]] = event["ts"]
        out.append(event)
    return out


@settings(deadline=None, max_examples=80)
@given(streams(), st.sets(st.integers(1, 80), max_size=9), st.sampled_from(["c", "python"]))
def test_counts_equal_a_recount_record_by_record(
    events: list[dict[str, Any]], ends: set[int], kernel: str
) -> None:
    events = in_order(events)
    recount = Recount()
    for event in events:
        recount.take(event)
    monitor = fed(lines_of(events), ends, kernel, kind=CountingMonitor)
    assert names_of(monitor) == recount.names
    assert cells_of(monitor) == +recount.cells


@settings(deadline=None, max_examples=25)
@given(streams(), st.sets(st.integers(1, 80), max_size=9), st.integers(1, 60))
def test_the_state_does_not_depend_on_batches_or_restarts(
    events: list[dict[str, Any]], ends: set[int], restart: int
) -> None:
    lines = lines_of(events)
    at_once = through_disk(fed(lines).state())
    assert [*differences(through_disk(fed(lines, ends).state()), at_once)] == []
    monitor = Monitor(CONFIG, through_disk(fed(lines[:restart]).state()))
    decoder = Decoder(DecodeSettings.from_config(CONFIG))
    monitor.apply(decoder.decode_lines(b"\n".join(lines[restart:]), source="t"))
    assert [*differences(through_disk(monitor.state()), at_once)] == []


def test_counts_equal_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(4)
    actual, guessed = (rng.choice(NAMES, 2_000) for _ in range(2))
    guessed = np.where(rng.random(2_000) < 0.7, actual, guessed)
    events = [predicted(i, str(name)) for i, name in enumerate(guessed)]
    events += [labelled(i, str(name)) for i, name in enumerate(actual)]
    monitor = fed(lines_of(events), {1_500, 2_500})
    names = names_of(monitor)
    found = matrix_of(monitor)
    assert sorted(names) == sorted(NAMES)
    assert found.tolist() == confusion_matrix(actual, guessed, labels=names).T.tolist()


def test_a_class_beyond_the_49th_counts_as_other_and_nothing_is_lost() -> None:
    events = [predicted(i, f"c{i % 60}") for i in range(180)]
    events += [labelled(i, f"c{i % 60}") for i in range(180)]
    monitor = fed(lines_of(events), {70, 110})
    names = names_of(monitor)
    assert names == [*(f"c{i}" for i in range(49)), OTHER]
    matrix = matrix_of(monitor)
    assert np.diag(matrix).tolist() == [3] * 49 + [33]
    assert matrix.sum() == 180


def test_a_class_that_was_never_predicted_counts_as_other_until_it_is() -> None:
    monitor = fed(
        lines_of(
            [
                predicted(0, "ant"),
                predicted(1, "ant"),
                labelled(0, "bee"),
                predicted(2, "bee"),
                labelled(1, "bee"),
            ]
        )
    )
    assert cells_of(monitor) == Counter({("ant", OTHER): 1, ("ant", "bee"): 1})
    decoder = Decoder(DecodeSettings.from_config(CONFIG))
    revised = b"\n".join(lines_of([labelled(0, "bee", 40)]))
    monitor.apply(decoder.decode_lines(revised, source="t"))
    assert cells_of(monitor) == Counter({("ant", "bee"): 2})


def test_the_class_with_the_highest_score_is_learned() -> None:
    scores = {"ant": 0.1, "bee": 0.7, "elk": 0.2}
    monitor = fed(lines_of([predicted(0, None, scores=scores), labelled(0, "bee")]))
    assert cells_of(monitor) == Counter({("bee", "bee"): 1})


@pytest.mark.parametrize(
    ("event", "detail"),
    [
        (predicted(0, None, scores=[0.1, 0.9]), "scores: must be an object with a number for"),
        (predicted(0, 0.5), "prediction: must be the name of a class, at most 256 bytes of UTF-8"),
        (predicted(0, "x" * 257), "prediction: must be the name of a class, at most 256 bytes"),
        (predicted(0, True), "prediction: must be the name of a class, at most 256 bytes"),
        (predicted(0, ["ant"]), "prediction: is a list"),
    ],
)
@pytest.mark.parametrize("kernel", ["c", "python"])
def test_what_names_no_class_is_rejected(event: dict[str, Any], detail: str, kernel: Any) -> None:
    decoder = Decoder(DecodeSettings.from_config(CONFIG), kernel=kernel)
    known = b"\n".join(lines_of([predicted(1, "ant"), predicted(2, "bee")]))
    assert not decoder.decode_lines(known, source="t").rejected
    (rejected,) = decoder.decode_lines(lines_of([event])[0], source="t").rejected
    assert detail in rejected.detail


@pytest.mark.parametrize("label", [0.5, "x" * 257, "a\0b", ""])
@pytest.mark.parametrize("beside", [{}, {"listed": {"classes": ["ant", "bee", "elk"]}}])
def test_a_label_that_names_no_class_says_what_names_one(label: Any, beside: Any) -> None:
    config = Config(models={"mail": {"classes": "learned"}, **beside})
    (rejected,) = batch_of(lines_of([labelled(0, label)]), config).rejected
    allowed = "must be the name of a class, at most 256 bytes of UTF-8, without NUL, or null, got"
    assert f"label: {allowed}" in rejected.detail


@pytest.mark.parametrize("classes", ["learned", ["0", "1", "2"]])
@pytest.mark.parametrize("kernel", ["c", "python"])
def test_minus_zero_is_the_class_0(classes: Any, kernel: Any) -> None:
    config = Config(models={"mail": {"classes": classes}})
    events = [predicted(0, 0), predicted(1, -0.0), labelled(0, -0.0), labelled(1, 0)]
    events += [{"type": "outcome", "ts": 200, "prediction": -0.0, "label": -0.0}]
    assert cells_of(fed(lines_of(events), {1, 2}, kernel, config)) == Counter({("0", "0"): 3})


def test_text_of_python_that_is_no_utf_8_names_no_class() -> None:
    monitor = Monitor(Config(models={"mail": {"classes": "learned"}}))
    with pytest.raises(ValueError, match="prediction: must be the name of a class"):
        monitor.predict(id="a", ts=0, prediction="\ud800")
    with pytest.raises(ValueError, match="label: must be the name of a class"):
        monitor.label(id="a", ts=0, label="\ud800")


@pytest.mark.skipif(compiled_module() is None, reason="no compiled kernel is installed")
def test_the_kernel_takes_the_lines_of_classes_that_came_before() -> None:
    decoder = Decoder(DecodeSettings.from_config(CONFIG), kernel="c")
    lines = lines_of([predicted(i, NAMES[i % 5]) for i in range(10)])
    first = decoder.decode_lines(b"\n".join(lines), source="t")
    assert decoder._scanner is not None
    scanned = decoder._scanner.scan(b"\n".join(lines) + b"\n", None)
    assert scanned is not None
    assert not scanned.left
    assert (scanned.batch.predictions.predicted_class == first.predictions.predicted_class).all()


def test_binary_models_beside_count_as_ever() -> None:
    monitor = fed(
        lines_of(
            [
                {**predicted(0, 1), "model": "plain"},
                predicted(1, "ant"),
                labelled(0, 1),
                labelled(1, "ant"),
                {**predicted(2, 0), "model": "plain"},
                labelled(2, "ant"),
            ]
        )
    )
    counts = monitor.snapshot().lifetime.counts
    assert counts.tp.tolist() == [1, 1]
    assert monitor.snapshot().labels.misnamed == 1


def batch_of(lines: list[bytes], config: Config) -> EventBatch:
    return Decoder(DecodeSettings.from_config(config)).decode_lines(b"\n".join(lines), source="t")


@pytest.mark.parametrize(
    ("listed", "left"), [(["ant", "bee", "elk"], 2), (["bee", "ant", "elk"], 0)]
)
def test_counts_go_on_between_learned_and_listed_classes(listed: list[str], left: int) -> None:
    events = lines_of([predicted(0, "ant"), predicted(1, "bee"), labelled(0, "bee")])
    learned = fed([*events, *lines_of([labelled(1, "bee")])])
    config = Config(models={"mail": {"classes": listed, **MODEL}, "plain": MODEL})
    other = Monitor(config, through_disk(learned.state()))
    assert matrix_of(other).sum() == left
    back = Monitor(CONFIG, through_disk(other.state()))
    assert names_of(back) == listed
    assert matrix_of(back).sum() == left
    back.apply(batch_of(lines_of([predicted(9, "fox")]), CONFIG))
    assert names_of(back) == [*listed, "fox"]


def test_models_that_nobody_listed_learn_by_the_defaults() -> None:
    config = Config(defaults={"classes": "learned", **MODEL})
    events = [{**predicted(i, NAMES[i % 3]), "model": f"m{i % 2}"} for i in range(12)]
    monitor = fed(lines_of(events), {1, 2, 5}, config=config)
    assert [one["classes"] for one in monitor.state()["catalogue"]["models"]] == [
        ["ant", "7", "bee"],
        ["bee", "ant", "7"],
    ]


def test_a_model_without_room_learns_nothing() -> None:
    config = Config(defaults={"classes": "learned", **MODEL}, max_models=1)
    events = [predicted(0, "ant"), *({**predicted(i, f"c{i}"), "model": "b"} for i in range(1, 9))]
    monitor, batch = Monitor(config), batch_of(lines_of(events), config)
    monitor.apply(batch)
    assert [one["classes"] for one in monitor.state()["catalogue"]["models"]] == [["ant"]]
    assert len([*pieces(lambda: monitor._stages, batch)]) == 1, "no cut for what is not counted"


def test_a_model_that_has_learned_all_it_can_cuts_no_batch() -> None:
    monitor = fed(lines_of([predicted(i, f"c{i}") for i in range(50)]))
    more = batch_of(lines_of([predicted(i, f"d{i}") for i in range(50, 90)]), CONFIG)
    assert len([*pieces(lambda: monitor._stages, more)]) == 1


def test_other_is_no_class_in_the_averages() -> None:
    events = [predicted(i, NAMES[i % 2]) for i in range(40)]
    events += [labelled(i, NAMES[i % 2] if i % 4 else "fox") for i in range(40)]
    (model, _) = fed(lines_of(events)).snapshot().models
    report = model.classes["all"]
    assert report.names == ("ant", "bee", OTHER)
    assert report.metrics["recall"].estimate.tolist() == [1, 1, 0]
    assert report.averages["macro", "recall"].estimate == 1
    assert report.averages["macro", "precision"].estimate == pytest.approx(0.75)
    assert report.whole["accuracy"].estimate == pytest.approx(0.75)


@pytest.mark.parametrize("kernel", ["c", "python"])
def test_a_class_of_digits_is_learned_behind_names_that_came_before(kernel: Any) -> None:
    decoder = Decoder(DecodeSettings.from_config(CONFIG), kernel=kernel)
    monitor = Monitor(CONFIG)
    for events in ([predicted(0, "ant"), predicted(1, "bee")], [predicted(2, 0), predicted(3, 1)]):
        monitor.apply(decoder.decode_lines(b"\n".join(lines_of(events)), source="t"))
    assert names_of(monitor) == ["ant", "bee", "0", "1"]


def test_a_backfill_learns_the_classes_of_each_step() -> None:
    events = [predicted(60 * i, f"c{i}") for i in range(6)]
    monitor = Monitor(CONFIG)
    moments = Moments(monitor, 3_600_000)
    states = [*moments.feed(batch_of(lines_of(events), CONFIG))]
    moments.finish()
    assert names_of(monitor) == [f"c{i}" for i in range(6)]
    seen = [len(state.models[0].classes["all"].names) for _, state in states]
    assert seen == sorted(seen)
    assert seen[0] < 6
