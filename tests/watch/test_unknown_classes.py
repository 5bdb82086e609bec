"""Cases that name a class their model does not have: from 1 % on the others stand for nothing."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from exporter.page.pages import fed
from same import through_disk

from monitor.config import Config
from monitor.diagnosis.class_comparison import compare_classes, counted_days
from monitor.diagnosis.class_ranges import ClassRanges
from monitor.drift import Verdict
from monitor.engine import Monitor
from monitor.events.reject_reasons import RejectReason
from monitor.exporter.api.status import status_answer
from monitor.exporter.api.status_answer import ModelStatus
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.labels.faults import LabelFault
from monitor.labels.unknown_classes import UnknownCounts
from monitor.report.class_comparison_text import class_comparison_text

DAY = 86_400
DAYS, NEW = 24, 14
A_DAY = 200
NAMES = ["card", "loan", "other"]
CONFIG = Config(
    models={
        "mail": {"classes": NAMES, "label_timeout": "3d", "maturity": "1h"},
        "chat": {"classes": ["crypto", "none", "much"]},
    },
    windows=["1d", "7d"],
)
UNTRUSTED = (Verdict.LABELS_NOT_TRUSTWORTHY, LabelFault.CLASSES_UNKNOWN)


def records(share: float, *, confused: bool = False) -> list[dict[str, Any]]:
    """Predictions that are right in nine of ten cases, and labels ten minutes later.

    From day `NEW` on a share of the labels name a class of another model. If `confused`, half of
    the cards are taken for loans from then on.
    """
    rng, found = np.random.default_rng(5), []
    for number in range(DAYS * A_DAY):
        time, since = number * DAY // A_DAY, number >= NEW * A_DAY
        actual = str(rng.choice(NAMES))
        predicted = actual if rng.random() < 0.9 else str(rng.choice(NAMES))
        if confused and since and predicted == actual == "card" and rng.random() < 0.5:
            predicted = "loan"
        label = "crypto" if since and rng.random() < share else actual
        one = {"id": str(number), "ts": time}
        found.append({"type": "prediction", **one, "prediction": predicted, "model": "mail"})
        found.append({"type": "label", **one, "ts": time + 600, "label": label})
    return sorted(found, key=lambda event: event["ts"])


@cache
def seen(share: float, *, confused: bool = False) -> tuple[Monitor, ModelStatus]:
    monitor = fed(Monitor(CONFIG), records(share, confused=confused))
    models = status_answer(monitor.snapshot(), limit=2).models
    return monitor, next(model for model in models if model.name == "mail")


def verdicts(model: ModelStatus) -> set[tuple[Any, Any]]:
    week = model.windows["7d"]  # a day has fewer than ten of them
    return {(week.verdict, week.label_fault)}


@pytest.mark.parametrize(("share", "spoilt"), [(0.0, False), (0.004, False), (0.05, True)])
def test_from_one_per_cent_on_there_is_no_verdict_on_the_other_labels(
    share: float, *, spoilt: bool
) -> None:
    _, model = seen(share)
    assert (verdicts(model) == {UNTRUSTED}) is spoilt
    assert (model.worse.answer == "unknown") is spoilt
    assert ("name a class that the model does not have" in model.worse.text) is spoilt
    assert (model.windows["7d"].metrics.precision.estimate is None) is spoilt


def test_what_certainly_became_worse_stays_so() -> None:
    _, model = seen(0.05, confused=True)
    assert model.windows["7d"].verdict in (
        Verdict.MODEL_DEGRADED,
        Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED,
    )
    assert model.worse.answer == "yes"


def test_they_are_counted_by_the_day_of_their_prediction_as_they_were_sent() -> None:
    monitor, _ = seen(0.05)
    number = monitor.models.index("mail")
    labels = [one for one in records(0.05) if one["type"] == "label" and one["label"] == "crypto"]
    for first, last in ((NEW, NEW + 1), (NEW, DAYS), (0, NEW), (DAYS - 1, DAYS)):
        opens, closes = first * DAY * 1000, last * DAY * 1000
        expected = sum(opens <= 1000 * (one["ts"] - 600) < closes for one in labels)
        assert monitor.unknown_classes.count(number, opens, closes) == (expected, 0)
    assert monitor.snapshot().labels.misnamed == len(labels)


def test_a_restart_knows_them() -> None:
    monitor, model = seen(0.05)
    again = Monitor(CONFIG, through_disk(monitor.state()))
    models = status_answer(again.snapshot(), limit=2).models
    assert verdicts(next(one for one in models if one.name == "mail")) == verdicts(model)
    assert "unknown_classes" not in seen(0.0)[0].state()


@pytest.mark.parametrize(("share", "spoilt"), [(0.0, False), (0.05, True)])
def test_a_diagnosis_of_such_days_concludes_nothing(share: float, *, spoilt: bool) -> None:
    monitor, _ = seen(share)
    (model,) = (one for one in monitor.snapshot().models if one.name == "mail")
    before, after = "1970-01-05..1970-01-12", "1970-01-16..1970-01-23"
    asked = ClassRanges.asked(model, before, after, DAY * 1000)
    found = compare_classes(model, asked, counted_days(monitor, "mail", asked))
    assert ((found.verdict.verdict, found.verdict.label_fault) == UNTRUSTED) is spoilt
    text = " ".join(class_comparison_text(found).split())
    unknown = "Cannot be known: 1 % or more of the labels or predictions name a class that the"
    assert (unknown in text) is spoilt


@pytest.mark.parametrize(
    ("kind", "share", "spoilt"),
    [("prediction", 0.05, True), ("label", 0.05, True), ("label", 0.0, False)],
)
def test_so_do_records_that_are_rejected_where_no_model_has_the_class(
    kind: str, share: float, *, spoilt: bool
) -> None:
    """One model alone: of a new class it was said that accuracy is as before."""
    rng, models = np.random.default_rng(7), {"mail": CONFIG.models["mail"]}
    config = Config(models=models, windows=["1d", "7d"])
    found = [
        {**one, kind: "crypto"}
        if one["type"] == kind and one["ts"] >= NEW * DAY and rng.random() < share
        else one
        for one in records(0.0)
    ]
    monitor = fed(Monitor(config), found)
    (model,) = status_answer(monitor.snapshot(), limit=1).models
    assert (verdicts(model) == {UNTRUSTED}) is spoilt
    sent = [one for one in found if one.get(kind) == "crypto"]
    assert monitor.snapshot().rejected[RejectReason.BAD_VALUE] == len(sent)
    found_of = {"label": (len(sent), 0), "prediction": (0, len(sent))}
    assert monitor.unknown_classes.count(0, 0, (DAYS + 1) * DAY * 1000) == found_of[kind]


def test_values_that_stand_for_no_class_and_those_of_unknown_models_are_none() -> None:
    config = Config(models={"mail": CONFIG.models["mail"]})
    usual = {"type": "prediction", "ts": 5, "id": "a", "model": "mail", "prediction": "card"}
    odd = [
        {**usual, "prediction": "unknown"},
        {**usual, "prediction": 0.5},
        {**usual, "prediction": "crypto", "model": "other"},
        {**usual, "prediction": "crypto", "model": ["mail"]},
        {**usual, "prediction": "crypto", "ts": "never"},
        {"type": "label", "id": "a", "ts": 6, "label": True},
        {"type": "label", "id": "a", "ts": 6, "label": ["crypto"]},
    ]
    monitor = fed(Monitor(config), odd)
    assert sum(monitor.snapshot().rejected.values()) == len(odd)
    assert monitor.unknown_classes.count(0, 0, DAY * 1000) == (0, 0)


def test_labels_of_no_class_of_a_model_of_two_spoil_nothing() -> None:
    models = {
        "mail": {"classes": ["fine", "spam"], "label_timeout": "3d", "maturity": "1h"},
        "chat": {"classes": ["crypto", "none", "much"]},
    }
    named, rng = {0: "fine", 1: "spam"}, np.random.default_rng(8)
    found = []
    for number in range(DAYS * A_DAY):
        actual, one = int(rng.random() < 0.4), {"id": str(number), "ts": number * DAY // A_DAY}
        label = "crypto" if rng.random() < 0.05 else named[actual]
        found.append({"type": "prediction", **one, "prediction": named[actual], "model": "mail"})
        found.append({"type": "label", **one, "label": label})
    monitor = fed(Monitor(Config(models=models, windows=["1d", "7d"])), found)
    assert monitor.snapshot().labels.misnamed > 200
    assert monitor.unknown_classes.count(0, 0, (DAYS + 1) * DAY * 1000) == (0, 0)


@pytest.mark.parametrize("size", [1, 97, 100_000])
def test_batches_of_any_size_count_the_same(size: int) -> None:
    """A model that no record had named before its batch lost the rejected records of that batch."""
    config = Config(defaults={"classes": NAMES, "label_timeout": "3d"}, windows=["7d"])
    usual = [one for one in records(0.0)[:1_000] if one["type"] == "prediction"]
    rows = [*({**one, "prediction": "cash"} for one in usual[:50]), *usual]
    monitor, decoder = Monitor(config), Decoder(DecodeSettings.from_config(config))
    lines = [json.dumps(one) + "\n" for one in rows]
    for first in range(0, len(lines), size):
        text = "".join(lines[first : first + size])
        monitor.apply(decoder.decode_lines(text.encode(), source="test"))
    assert monitor.unknown_classes.count(0, 0, DAYS * DAY * 1000) == (0, 50)


def alone(rows: list[dict[str, Any]]) -> Monitor:
    """A monitor of one model alone, so that labels of unknown classes are rejected."""
    config = Config(models={"mail": CONFIG.models["mail"]}, windows=["1h", "1d"])
    return fed(Monitor(config), rows)


def test_records_of_the_morning_do_not_spoil_the_last_hour() -> None:
    rows = records(0.0)
    for one in rows:
        if one["type"] == "label" and DAYS - 1 <= one["ts"] / DAY < DAYS - 0.8:
            one["label"] = "crypto"
    (model,) = alone(rows).snapshot().models
    found = {name: one.label_fault for name, one in model.watched.verdicts.items()}
    assert (found["1d"] == "classes_unknown", found["1h"] == "classes_unknown") == (True, False)


def test_rejected_audits_spoil_nothing() -> None:
    labels = [one for one in records(0.0) if one["type"] == "label"]
    audits = [{**one, "label": "crypto", "audit": True} for one in labels]
    monitor = alone([*records(0.0), *audits])
    assert monitor.snapshot().rejected[RejectReason.BAD_VALUE] == len(audits)
    assert monitor.unknown_classes.count(0, 0, DAYS * DAY * 1000) == (0, 0)


def test_few_unknown_predictions_are_few_of_all_however_few_have_a_label_yet() -> None:
    """Labels come after a day and a half: 0.8 % of the predictions passed for 1 % of the cases."""
    rows, rng = [], np.random.default_rng(10)
    for one in records(0.0):
        is_label = one["type"] == "label"
        if not is_label and rng.random() < 0.008:
            rows.append({**one, "prediction": "crypto", "id": f"{one['id']}-new"})
        rows.append({**one, "ts": one["ts"] + 1.5 * DAY * is_label})
    rows.sort(key=lambda one: one["ts"])
    monitor = alone(rows)
    (model,) = monitor.snapshot().models
    for shift in range(0, 48, 6):
        closes = (DAYS * DAY - shift * 3_600) * 1000
        assert not monitor.unknown_classes.spoil(0, closes - 10 * DAY * 1000, closes)
    assert "classes_unknown" not in {one.label_fault for one in model.watched.verdicts.values()}


@pytest.mark.parametrize(
    ("unknown", "outcomes", "predictions", "spoilt"),
    [
        ((0, 10), 100, 1_000, False),  # labels of most cases are still to come
        ((0, 10), 5_000, 900, True),
        ((10, 0), 900, 5_000, True),
        ((10, 0), 1_000, 100, False),
        ((9, 9), 0, 0, False),
    ],
)
def test_labels_are_compared_with_labels_and_predictions_with_predictions(
    unknown: tuple[int, int], outcomes: int, predictions: int, *, spoilt: bool
) -> None:
    assert UnknownCounts(*unknown).are_too_many(outcomes, predictions) is spoilt
