"""Labels of one class that stop coming: the class is named, and no class is called worse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from class_streams import CHANGED, ClassStream, classes_of, only_model

from monitor.clock import DAY_MS
from monitor.config import Config
from monitor.diagnosis.class_comparison import ClassComparison, compare_classes, counted_days
from monitor.diagnosis.class_ranges import ClassRanges
from monitor.drift import Verdict
from monitor.drift.class_confusions import Confusion
from monitor.drift.recall_evidence import Because
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.labels.faults import LabelFault, classes_at_fault
from monitor.report.class_comparison_json import class_diagnosis
from monitor.report.class_comparison_text import class_comparison_text
from monitor.report.class_findings import class_findings, found_on
from monitor.verdicts import WindowVerdict
from monitor.watch.class_verdicts import verdict_on_whole

HOUR = 3_600
STEADY = WindowVerdict(verdict=Verdict.INSUFFICIENT_EVIDENCE, because=Because.STEADY)
WORSE = WindowVerdict(verdict=Verdict.MODEL_DEGRADED)
OWN, OTHERS, LATE = (
    WindowVerdict(verdict=Verdict.LABELS_NOT_TRUSTWORTHY, label_fault=str(fault))
    for fault in (
        LabelFault.POSITIVES_MISSING,
        LabelFault.NEGATIVES_MISSING,
        LabelFault.DELAYS_CHANGED,
    )
)


@pytest.mark.parametrize(
    ("classes", "distrusted"),
    [
        ([STEADY, STEADY], []),
        ([OTHERS, OWN, OTHERS, STEADY], [1]),
        ([OTHERS, OWN, LATE], [1, 2]),
        ([STEADY, OTHERS, OTHERS], [1, 2]),
    ],
)
def test_a_class_whose_own_labels_come_is_not_blamed_for_another(
    classes: list[WindowVerdict], distrusted: list[int]
) -> None:
    assert classes_at_fault([one.label_fault for one in classes]) == distrusted


@pytest.mark.parametrize(
    ("classes", "moved", "fault"),
    [
        ([STEADY, OWN, STEADY], "", LabelFault.LABELS_MISSING),
        ([OTHERS, OTHERS], "", LabelFault.LABELS_MISSING),
        ([STEADY, LATE, OTHERS], "", LabelFault.DELAYS_CHANGED),
        ([OTHERS, OWN, OTHERS], "a confusion changed", LabelFault.LABELS_MISSING),
    ],
)
def test_labels_of_one_class_at_fault_are_those_of_the_whole(
    classes: list[WindowVerdict], moved: str, fault: LabelFault
) -> None:
    found = verdict_on_whole(classes, 100, held=True, moved=bool(moved))
    assert (found.verdict, found.label_fault) == (Verdict.LABELS_NOT_TRUSTWORTHY, fault)


def test_they_hide_neither_a_worse_class_nor_a_confusion_of_another() -> None:
    found = verdict_on_whole([STEADY, OWN, WORSE], 100, held=False, moved=False)
    assert found.verdict is Verdict.MODEL_DEGRADED
    found = verdict_on_whole([STEADY, OWN, STEADY], 100, held=False, moved=True)
    assert (found.verdict, found.because) == (Verdict.INSUFFICIENT_EVIDENCE, Because.MOVED)


def test_they_are_named_beside_a_worse_class() -> None:
    own = {"card": WORSE, "cash": OWN, "loan": STEADY}
    whole = verdict_on_whole([*own.values()], 100, held=False, moved=False)
    matrix = np.full((3, 3), 10)
    found = found_on(whole, own, (), (matrix, matrix))
    assert found.why == "Yes, 1 of 3 classes degraded (card); labels of cash are missing"


def test_a_confusion_of_a_class_whose_labels_come_is_named_beside_them() -> None:
    own = {"card": OTHERS, "cash": OWN, "loan": OTHERS}
    whole = verdict_on_whole([*own.values()], 100, held=False, moved=True)
    matrix = np.full((3, 3), 10)
    changes = (
        Confusion("cash", "loan", 0.02, 0.3),
        Confusion("card", "loan", 0.02, 0.09),
        Confusion("card", "card", 0.9, 0.8),
    )
    found = found_on(whole, own, changes, (matrix, matrix))
    assert found.why == (
        "Cannot be known: labels of cash are missing; card → loan confusions rose from 2.0 to 9.0 %"
    )


def events(stream: ClassStream, missing: float) -> Iterator[dict]:
    """Predictions, and labels an hour later; a share of the first class lacks from `CHANGED` on."""
    rng = np.random.default_rng(stream.seed)
    for day, columns in enumerate(stream.by_day()):
        for time, predicted, actual in zip(*map(np.ndarray.tolist, columns), strict=True):
            one = {"id": f"{time}-{rng.integers(1 << 40)}"}
            name = stream.names[predicted]
            yield {"type": "prediction", "ts": time, "prediction": name, "model": "mail"} | one
            lacks = missing if day >= CHANGED and not actual else 0.02
            if rng.random() > lacks:
                yield {"type": "label", "ts": time + HOUR, "label": stream.names[actual]} | one


@cache
def watched(missing: float) -> Monitor:
    """A monitor of the events, which tests read and do not change."""
    stream = ClassStream(days=52, a_day=400)
    model = {"classes": stream.names, "label_timeout": "2d", "maturity": "2h"}
    monitor = Monitor(Config(models={"mail": model}, windows=["1d", "7d"]))
    decoder = Decoder(DecodeSettings.from_config(monitor.config))
    ordered = sorted(events(stream, missing), key=lambda event: event["ts"])
    lines = "".join(json.dumps(event) + "\n" for event in ordered)
    monitor.apply(decoder.decode_lines(lines.encode(), source="test", first_line=1))
    return monitor


@pytest.mark.parametrize("missing", [0.5, pytest.param(1.0, marks=pytest.mark.slow)])
def test_the_class_whose_labels_stop_is_named_and_none_is_worse(missing: float) -> None:
    monitor = watched(missing)
    model = only_model(monitor)
    assert model.watched.verdicts["7d"].label_fault == LabelFault.LABELS_MISSING
    answer = class_findings(model, "7d")
    assert (answer.worse, answer.moved) == ("unknown", "Not known")
    assert answer.why == "Cannot be known: labels of class-0 are missing"
    assert not any(one.degradation_detected for one in classes_of(model).by_class.values())
    (status,) = status_answer(monitor.snapshot(), limit=1).models
    assert status.verdict == Verdict.LABELS_NOT_TRUSTWORTHY
    assert status.headline == "Not known. Labels of class-0 are missing."


def compared(monitor: Monitor) -> ClassComparison:
    model = only_model(monitor)
    asked = ClassRanges.asked(model, None, None, 7 * DAY_MS)
    return compare_classes(model, asked, counted_days(monitor, "mail", asked))


def test_labels_that_miss_at_random_are_no_fault() -> None:
    monitor = watched(0.02)
    model, found = only_model(monitor), compared(monitor)
    assert {one.label_fault for one in model.watched.verdicts.values()} == {""}
    assert found.label_faults == {}
    assert "CAUTION" not in class_comparison_text(found)


def test_a_comparison_of_two_ranges_names_the_class_too() -> None:
    found = compared(watched(0.5))
    assert found.label_faults == {"class-0": LabelFault.POSITIVES_MISSING}
    lines = class_comparison_text(found).splitlines()
    assert lines[:2] == [
        "What moved precision? Not known.",
        "Is the model worse? Cannot be known: labels of class-0 are missing.",
    ]
    said = " ".join(lines)
    assert "CAUTION: labels of class-0 are missing. Labelled are " in said
    labelled = found.sides[1].matrix[0].sum() / found.sides[1].predictions[0]
    assert f" {100 * labelled:.1f} % of the predictions of class-0, " in said
    answer = class_diagnosis(found)
    assert (answer.model_worse, answer.label_faults) == ("unknown", found.label_faults)
    assert answer.verdict is Verdict.LABELS_NOT_TRUSTWORTHY
    assert answer.headline == "Not known. Labels of class-0 are missing."
