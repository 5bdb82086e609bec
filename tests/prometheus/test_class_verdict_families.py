"""Series about verdicts and detectors by class, and the same in JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from class_streams import ClassStream

from monitor.exporter.api.status import status_answer
from monitor.prometheus.families import FAMILIES
from monitor.prometheus.family import shape_of
from monitor.report.answer_parts import json_text
from monitor.report.replay_json import replay_json
from monitor.snapshot import Snapshot

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    return ClassStream(change="confusion", a_day=250).applied().snapshot()


def samples(snapshot: Snapshot) -> Samples:
    shape = shape_of(snapshot)
    return {
        (family.name, frozenset(line.labels.items())): value
        for family in FAMILIES
        for line, value in zip(family.lines(shape), family.values(snapshot), strict=True)
    }


def value_of(found: Samples, name: str, **labels: str) -> float:
    return found[name, frozenset({"model": "mail", **labels}.items())]


def test_series_and_json_of_a_class_say_what_the_snapshot_says(snapshot: Snapshot) -> None:
    found, (model,) = samples(snapshot), snapshot.models
    classes = model.watched.classes
    assert classes is not None
    replayed = json.loads(replay_json(snapshot))["models"]["mail"]["windows"]["7d"]["classes"]
    status = json.loads(json_text(status_answer(snapshot, limit=1)))["models"][0]
    assert status["windows"]["7d"]["classes"] == replayed
    for number, (name, watched) in enumerate(classes.by_class.items()):
        change: dict[str, Any] = replayed["by_class"][name]["change"]
        verdict = watched.verdicts["7d"].verdict
        own = {"window": "7d", "class": name}
        assert value_of(found, "classifier_verdict", verdict=verdict, **own) == 1
        assert change["verdict"] == verdict
        paging = value_of(found, "classifier_degradation_detected", **{"class": name})
        assert paging == change["paging"] == watched.degradation_detected
        evidence = value_of(found, "classifier_detector_evidence_ratio", **{"class": name})
        assert evidence == watched.evidence
        assert change["evidence"] == pytest.approx(evidence, rel=5e-6)
        parts = {
            cause: value_of(found, "classifier_precision_change_ratio", cause=cause, **own)
            for cause in ("prevalence", "recall", "false_positives")
        }
        causes, precision = classes.causes["7d"], change["precision"]
        assert parts["false_positives"] == causes.leaked.points[number]
        assert parts["recall"] == precision["recall"]["points"]
        whole = precision["change"]["points"]
        assert sum(parts.values()) == pytest.approx(whole, abs=1e-12)
    assert value_of(found, "classifier_degradation_detected") == 1
    assert replayed["reference_matrix"] == classes.reference.tolist()
    assert [one["text"] for one in replayed["confusions"]] == [
        one.text for one in classes.confusions("7d")
    ]


def test_a_confusion_that_changed_has_its_share_now_and_before(snapshot: Snapshot) -> None:
    found, (model,) = samples(snapshot), snapshot.models
    assert model.watched.classes is not None
    for window in ("7d", "28d"):
        for one in model.watched.classes.confusions(window):
            labels = {"window": window, "actual": one.actual, "predicted": one.predicted}
            assert value_of(found, "classifier_confusion_ratio", **labels) == one.after
            assert value_of(found, "classifier_reference_confusion_ratio", **labels) == one.before
    named = {
        dict(labels)["predicted"] for name, labels in found if name == "classifier_confusion_ratio"
    }
    assert named == {"class-1"}


def test_no_more_than_five_confusions_of_a_window_have_series(snapshot: Snapshot) -> None:
    (model,) = snapshot.models
    classes = model.watched.classes
    assert classes is not None
    (pair, *_) = classes.confusions("7d")
    many = [pair._replace(predicted=f"class-{n}", after=0.9 - n / 100) for n in range(2, 9)]
    watched = replace(model.watched, classes=replace(classes, changes={"7d": tuple(many)}))
    found = samples(replace(snapshot, models=(replace(model, watched=watched),)))
    shares = [value for (name, _), value in found.items() if name == "classifier_confusion_ratio"]
    assert sorted(shares, reverse=True) == [one.after for one in many[:5]]


def test_each_window_of_each_class_has_one_verdict_before_its_reference_too() -> None:
    early = ClassStream(days=5, a_day=100).applied().snapshot()
    found = samples(early)
    for name in ClassStream().names:
        for window in ("1d", "7d", "28d"):
            held = {
                dict(labels)["verdict"]
                for (series, labels), value in found.items()
                if series == "classifier_verdict"
                and value == 1
                and {("class", name), ("window", window)} <= labels
            }
            assert held == {"insufficient_evidence"}
    assert "reference_matrix" not in replay_json(early)
