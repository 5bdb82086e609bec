"""What the page shows of a model of many classes as a whole, against scikit-learn."""

from __future__ import annotations

import html
import json
import re

import numpy as np
import pytest
from class_streams import DAY, ClassStream
from exporter.page.pages import plain
from msgspec import UnsetType, structs
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families
from sklearn.metrics import (
    accuracy_score,
    cohen_kappa_score,
    f1_score,
    precision_score,
    recall_score,
)

from monitor.cli.top import table
from monitor.drift import Verdict
from monitor.drift.recall_evidence import Because
from monitor.engine import Monitor
from monitor.exporter.api.queries import series_context
from monitor.exporter.api.series import series_answer
from monitor.exporter.api.status import status_answer
from monitor.exporter.page.chart_legend import legend
from monitor.exporter.page.class_section import class_section
from monitor.exporter.page.expressions import expressions
from monitor.exporter.page.formats import ratio
from monitor.exporter.page.now import now_section
from monitor.exporter.page.when import when_section
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.labels.faults import LabelFault
from monitor.prometheus.exposition import Exposition
from monitor.report.class_answer import ConfusionChange, ranked_classes

STREAM = ClassStream(days=20)


def numbers(text: str) -> dict[str, list[str]]:
    """The first number of each cell, by the title of its row."""
    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</tr>", text, re.DOTALL)
    return {
        re.split("<", row)[0]: re.findall("<strong>(.*?)</strong>", row)
        for row in rows
        if "<strong>" in row
    }


def test_its_rows_are_those_of_all_classes_and_no_row_of_two_is_there() -> None:
    status = status_answer(STREAM.applied().snapshot(), limit=1)
    (model,) = status.models
    section = str(now_section(status, model, None, None))
    assert "flagged" not in section
    assert "label_errors" not in section
    shown = numbers(section)
    assert list(shown) == [
        "Accuracy",
        "Macro precision",
        "Macro recall",
        "Macro F1",
        "Cohen&#39;s kappa",
    ]
    matrix = np.array(model.windows["7d"].classes.matrix)
    predicted, actual = (np.repeat(one.ravel(), matrix.ravel()) for one in np.indices(matrix.shape))
    expected = [
        accuracy_score(actual, predicted),
        *(
            score(actual, predicted, average="macro")
            for score in (precision_score, recall_score, f1_score)
        ),
        cohen_kappa_score(actual, predicted),
    ]
    place = list(model.windows).index("7d")
    assert [row[place] for row in shown.values()] == [ratio(one) for one in expected]


def test_its_series_have_precision_alone_over_all_classes() -> None:
    monitor = STREAM.applied()
    (model,) = monitor.snapshot().models
    series = series_answer(monitor.history(model.name), series_context(model))
    assert any(value is not None for value in series.metrics.precision.estimate)
    for name in ("balanced_precision", "class_ratio", "recall", "prevalence"):
        assert set(series.metrics.metric(name).estimate) == {None}, name
    words = re.sub("<.*?>", " ", " ".join(map(str, legend(series, pooled=True))))
    assert "accuracy" in words
    for absent in ("precision", "balanced", "class ratio", "flagged"):
        assert absent not in words
    shown = str(when_section(series, None, None, pooled=True))
    assert re.findall(r"<th class=\"number\" scope=\"col\">(.*?)</th>", shown) == [
        "predictions",
        "accuracy",
    ]
    days = series.metrics.precision.estimate
    assert re.findall(r'data-title="accuracy">(.*?)<', shown) == [ratio(one) for one in days]
    assert "flagged" not in shown


@pytest.mark.parametrize(("classes", "shown"), [(11, 11), (12, 8), (30, 8)])
def test_most_of_many_classes_that_are_not_worse_stand_behind_a_summary(
    classes: int, shown: int
) -> None:
    monitor = ClassStream(classes=classes, a_day=60, days=8).applied()
    (model,) = status_answer(monitor.snapshot(), limit=1).models
    first, summary, rest = str(class_section(model)).partition("<details")
    assert first.count('<tr><th scope="row">') == shown
    assert rest.count('<tr><th scope="row">') == classes - shown
    assert (f">The other classes ({classes - shown})" in rest) is bool(summary) is (shown < classes)
    assert "Columns have the numbers of the rows; a cell shows its share under the" in first


def test_a_class_that_is_never_predicted_has_no_reference_to_wait_for() -> None:
    """Its row said "No reference yet" for as long as the model ran."""
    stream = ClassStream(classes=3, days=20)
    settings = {"classes": [*stream.names, "missed"], "reference": {"first": "7d"}}
    config = stream.config(**settings)
    monitor, decoder = Monitor(config), Decoder(DecodeSettings.from_config(config))
    event = {"prediction": "class-0", "label": "missed", "model": "mail"}
    for day, text in enumerate(stream.lines()):
        missed = [json.dumps({**event, "ts": day * DAY + n}) + "\n" for n in range(20)]
        monitor.apply(decoder.decode_lines("".join([*missed, text]).encode(), source="events"))
    status = status_answer(monitor.snapshot(), limit=1)
    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</tr>", str(class_section(status.models[0])))
    shown = {row.partition("<")[0]: "Never predicted" in row for row in rows}
    assert {name: shown[name] for name in settings["classes"]} == {
        **dict.fromkeys(stream.names, False),
        "missed": True,
    }
    (line,) = [line for line in table(status) if line.startswith("  missed ")]
    assert line.endswith("Never predicted")


def test_the_headline_is_not_steady_above_a_row_that_moved() -> None:
    """Accuracy hardly moves with one class; its row was amber below a green headline."""
    stream = ClassStream(a_day=60, days=50, change="confusion")
    (model,) = status_answer(stream.applied().snapshot(), limit=1).models
    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</tr>", str(class_section(model)))
    moved = [row.partition("<")[0] for row in rows if "Moved, not settled" in row]
    assert moved == ["class-1"]
    assert model.verdict_because is Because.MOVED
    assert model.worse.text == "Not shown: 1 of 4 classes moved (class-1)"


def evaluated(expression: str, text: str) -> list[float]:
    """Values of an expression of the page: a selector, its sum, or those of it that are 1."""
    name, labels = re.search(r"(\w+)\{(.*)\}", expression).groups()
    asked = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels))
    found = [
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
        and all(sample.labels.get(label, "") == value for label, value in asked.items())
    ]
    if expression.startswith("sum("):
        return [sum(found)]
    return [value for value in found if value == 1] if expression.endswith("== 1") else found


def test_each_number_has_an_expression_that_gives_it_alone() -> None:
    monitor = STREAM.applied()
    snapshot = monitor.snapshot()
    (model,) = status_answer(snapshot, limit=1).models
    exposition = Exposition(lambda: snapshot, CollectorRegistry()).render().decode()
    listed = re.findall(
        r'<th scope="row">(.*?)</th><td>(.*?)</td><td><code class="copied">(.*?)</code>',
        str(expressions(model)),
    )
    found = {
        (html.unescape(title), window): evaluated(html.unescape(text), exposition)
        for title, window, text in listed
    }
    assert len(found) == len(listed)
    first = model.windows["7d"].classes.names[0]
    for name, window in model.windows.items():
        classes = window.classes
        whole = {
            "Accuracy": classes.accuracy,
            "Macro recall": classes.averages.macro.recall,
            "Cohen's kappa": classes.cohen_kappa,
            f"Recall of {first}": classes.by_class[first].metrics.recall,
        }
        for title, metric in whole.items():
            assert found[title, name] == [pytest.approx(metric.estimate)]
        assert found["Outcomes", name] == [window.outcomes.total]
        assert len(found["Verdict", name]) == 1
    assert all(len(values) == 1 for values in found.values())


def test_a_class_that_pages_is_not_called_steady() -> None:
    monitor = ClassStream(days=36, a_day=300).applied()
    (model,) = status_answer(monitor.snapshot(), limit=1).models
    window = model.windows[model.verdict_window]
    first = window.classes.names[0]
    one = window.classes.by_class[first]
    for verdict, because, shown in (
        ("model_degraded", None, "Model degraded pages"),
        ("insufficient_evidence", Because.STEADY, "Not certainly recovered pages"),
    ):
        change = structs.replace(one.change, paging=True, verdict=verdict, verdict_because=because)
        by_class = window.classes.by_class | {first: structs.replace(one, change=change)}
        classes = structs.replace(window.classes, by_class=by_class)
        windows = model.windows | {model.verdict_window: structs.replace(window, classes=classes)}
        section = plain(str(class_section(structs.replace(model, windows=windows))))
        assert f" {first} {shown} " in section


def test_of_thirty_classes_those_that_need_a_look_come_first() -> None:
    """The class that a confusion named stood behind the summary, with no verdict of its own."""
    monitor = ClassStream(classes=30, a_day=60, days=8).applied()
    (model,) = status_answer(monitor.snapshot(), limit=1).models
    classes = model.windows[model.verdict_window].classes
    assert not isinstance(classes, UnsetType)
    quiet = {"paging": False, "verdict": Verdict.INSUFFICIENT_EVIDENCE}
    because = dict.fromkeys(classes.names, Because.STEADY) | {"class-20": Because.MOVED}
    by_class = {
        name: structs.replace(
            one, change=structs.replace(one.change, verdict_because=because[name], **quiet)
        )
        for name, one in classes.by_class.items()
    }
    named = ConfusionChange(
        actual="class-29",
        predicted="class-0",
        before=0.02,
        after=0.09,
        change_began=None,
        text="class-29 → class-0 confusions rose from 2.0 to 9.0 %",
    )
    found = structs.replace(classes, by_class=by_class, confusions=(named,))
    assert ranked_classes(found)[:3] == ["class-29", "class-20", "class-0"]
    window = structs.replace(model.windows[model.verdict_window], classes=found)
    windows = {**model.windows, model.verdict_window: window}
    first = str(class_section(structs.replace(model, windows=windows))).partition("<details")[0]
    assert '<th scope="row">class-29<' in first


def test_nothing_of_a_model_of_many_classes_is_flagged() -> None:
    (model,) = status_answer(ClassStream(classes=3, days=20).applied().snapshot(), limit=1).models
    assert model.usual_predicted_positive_rate is None
    assert {one.predicted_positive_rate for one in model.windows.values()} == {None}


def test_matrices_of_labels_that_cannot_be_trusted_say_so() -> None:
    (model,) = status_answer(ClassStream(classes=3, days=20).applied().snapshot(), limit=1).models
    window = model.windows[model.verdict_window]
    faulty = structs.replace(window, label_fault=LabelFault.LABELS_MISSING)
    other = structs.replace(model, windows={**model.windows, model.verdict_window: faulty})
    said = f"Labels of the last {model.verdict_window} cannot be trusted"
    assert [said in str(class_section(one)) for one in (model, other)] == [False, True]
