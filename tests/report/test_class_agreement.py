"""All that shows one moment of a model of many classes gives the same answers in the same words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import httpx
import numpy as np
import pytest
from class_streams import CHANGED, DAY, ClassStream, classes_of, only_model
from exporter.page.pages import plain, served

from monitor.cli.replay_text import replay_text
from monitor.cli.top import table
from monitor.clock import DAY_MS
from monitor.config.quantities import format_time
from monitor.diagnosis.class_comparison import ClassComparison, compare_classes, counted_days
from monitor.diagnosis.class_ranges import ClassRanges
from monitor.drift import Verdict
from monitor.drift.verdict import DEGRADED
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.report.class_comparison_json import class_diagnosis
from monitor.report.class_comparison_text import class_comparison_text
from monitor.report.replay_json import replay_answer

HOUR = 3_600
MOMENTS = {
    "as ever": ("no", Verdict.NO_CHANGE),
    "shares moved": ("no", Verdict.PREVALENCE_SHIFT),
    "a confusion rose": ("yes", Verdict.MODEL_DEGRADED),
    "a class without labels": ("unknown", Verdict.LABELS_NOT_TRUSTWORTHY),
}
STREAMS = {
    "as ever": ClassStream(seed=3),
    "shares moved": ClassStream(change="shares", a_day=900, seed=4),
    "a confusion rose": ClassStream(change="confusion", seed=3),
    "a class without labels": ClassStream(seed=3),
}


def events(stream: ClassStream, *, without_labels: bool) -> Iterator[dict[str, object]]:
    """Predictions, each with a label an hour later; the stream ends as its last day is mature."""
    number = 0
    for day, columns in enumerate(stream.by_day()):
        for time, predicted, actual in zip(*map(np.ndarray.tolist, columns), strict=True):
            number += 1
            one = {"id": str(number), "model": "mail"}
            yield {"ts": time, "prediction": stream.names[predicted], **one}
            if not (without_labels and day >= CHANGED and actual == 0):
                yield {"ts": time + HOUR, "label": stream.names[actual], **one}
    opens = stream.days * DAY
    for time in range(opens, opens + 5 * HOUR, 5 * 60):
        yield {"ts": time, "id": f"last-{time}", "prediction": "class-0", "model": "mail"}


@cache
def at(moment: str) -> Monitor:
    stream = STREAMS[moment]
    monitor = Monitor(stream.config(maturity="2h"))
    decoder = Decoder(DecodeSettings.from_config(monitor.config))
    found = events(stream, without_labels=moment == "a class without labels")
    rows = sorted(found, key=lambda event: event["ts"])
    lines = [
        json.dumps({"type": "label" if "label" in row else "prediction", **row}) for row in rows
    ]
    for first in range(0, len(lines), 5_000):
        text = "\n".join(lines[first : first + 5_000]) + "\n"
        monitor.apply(decoder.decode_lines(text.encode(), source="test"))
    return monitor


def compared(monitor: Monitor, window: str) -> ClassComparison:
    model = only_model(monitor)
    asked = ClassRanges.asked(model, None, None, int(window.removesuffix("d")) * DAY_MS)
    return compare_classes(model, asked, counted_days(monitor, "mail", asked))


def unwrapped(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("moment", MOMENTS)
def test_page_list_top_and_replay_give_the_same_answers(moment: str) -> None:
    monitor = at(moment)
    snapshot = monitor.snapshot()
    (status,) = status_answer(snapshot, limit=1).models
    assert (status.answers.model_worse, status.verdict) == MOMENTS[moment]
    replayed = replay_answer(snapshot).models["mail"]
    assert (replayed.worse, replayed.moved_precision) == (status.worse, status.moved_precision)
    listed = unwrapped("\n".join(table(status_answer(snapshot, limit=1))))
    said = unwrapped(replay_text(snapshot))
    with served(monitor) as url:
        page = plain(httpx.get(url, params={"model": "mail"}, timeout=60).text)
    for text in (status.moved_precision.text, status.worse.text):
        assert f"{text}." in said
        assert f"{text}." in listed
        assert f"{text}." in page


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("window", ["7d", "28d"])
def test_diagnose_answers_as_a_window_of_the_same_days(moment: str, window: str) -> None:
    monitor = at(moment)
    model, found = only_model(monitor), compared(monitor, window)
    seen, classes = model.watched.verdicts[window], model.watched.classes
    assert classes is not None
    assert (found.sides[1].matrix == model.classes[window].matrix).all()
    assert found.verdict.verdict is seen.verdict
    assert found.verdict.because is seen.because
    for name, verdict in found.verdicts.items():
        live = classes.by_class[name].verdicts[window]
        assert (verdict.verdict, verdict.because) == (live.verdict, live.because)
        assert verdict.label_fault == live.label_fault
    assert [one.text for one in found.changes.named(found.names)] == [
        one._replace(began=None).text for one in classes.changes[window]
    ]


@pytest.mark.parametrize("moment", MOMENTS)
def test_text_and_json_of_diagnose_answer_in_the_words_of_the_status(moment: str) -> None:
    monitor = at(moment)
    (status,) = status_answer(monitor.snapshot(), limit=1).models
    found = compared(monitor, status.verdict_window)
    answer, text = class_diagnosis(found), unwrapped(class_comparison_text(found))
    assert (answer.verdict, answer.verdict_because) == (status.verdict, status.verdict_because)
    assert answer.model_worse == status.answers.model_worse
    assert f"What moved precision? {status.moved_precision.text}." in text
    # A window knows, besides, the day on which a confusion began.
    worse, _, _ = status.worse.text.partition(", since ")
    assert f"Is the model worse? {worse}." in text


@pytest.mark.parametrize(("days", "is_paging"), [((49, 56), True), ((40, 47), False)])
def test_a_diagnosis_of_the_latest_days_says_that_a_class_pages_whatever_they_show_alone(
    days: tuple[int, int], *, is_paging: bool
) -> None:
    """`replay` said "yes" of a class that pages, and `diagnose` "not shown" of the same days."""
    monitor = at("as ever")
    model = only_model(monitor)
    classes = classes_of(model)
    paging = replace(classes.by_class["class-2"], degradation_detected=True)
    by_class = {**classes.by_class, "class-2": paging}
    watched = replace(model.watched, classes=replace(classes, by_class=by_class))
    after = "..".join(f"{format_time(day * DAY_MS)}" for day in days)
    asked = ClassRanges.asked(model, None, after, DAY_MS)
    found = compare_classes(
        replace(model, watched=watched), asked, counted_days(monitor, model.name, asked)
    )
    assert found.verdict.verdict not in DEGRADED
    text = class_comparison_text(found)
    assert ("Is the model worse? Yes, 1 of 4 classes pages (class-2)" in text) is is_paging
    assert class_diagnosis(found).model_worse == ("yes" if is_paging else "no")
