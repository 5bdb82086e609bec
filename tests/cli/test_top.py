"""`top` fits into the terminal: 80 columns, whole models, both answers of each."""

import numpy as np
import pytest
from class_streams import ClassStream
from exporter.page.pages import HOUR, counts, fed
from msgspec.structs import replace
from sklearn.metrics import (
    accuracy_score,
    cohen_kappa_score,
    f1_score,
    precision_score,
    recall_score,
)

from monitor.cli.top import table
from monitor.config import Config
from monitor.drift import Verdict
from monitor.engine import Monitor
from monitor.events.reject_reasons import RejectReason
from monitor.exporter.api.status import status_answer
from monitor.report.class_answer import ranked_classes
from monitor.report.rejected_lately import RejectedKind, RejectedLately
from monitor.report.vocabulary import PAGE_METRICS

NAMES = ("fraud", "a-model-whose-name-is-longer-than-its-column", "two\nlines")


@pytest.fixture(scope="module")
def status():
    config = Config(defaults={"maturity": "1h"}, windows=["1d", "7d"])
    records = [
        counts(name, day * 24 * HOUR, [160, 80, 40, 1_720, 240, 1_760])
        for name in NAMES
        for day in range(45)
    ]
    return status_answer(fed(Monitor(config), records).snapshot(), limit=9)


def answers(lines):
    text = " ".join(" ".join(lines).split())
    return text.count("What moved precision?"), text.count("Is the model worse?")


@pytest.mark.parametrize("columns", [40, 80, 100, 200])
def test_no_line_is_wider_than_the_terminal(status, columns):
    lines = table(status, columns)
    assert max(map(len, lines)) <= max(columns, 80)
    assert answers(lines) == (3, 3)


def test_a_wider_terminal_shows_more_of_a_name(status):
    def shown(columns):
        (row,) = [line for line in table(status, columns) if line.startswith("a-model")]
        return row.split()[0]

    assert shown(80).endswith("…")
    assert len(shown(80)) < len(shown(90)) < len(shown(120))


def test_a_name_with_a_line_end_has_one_row(status):
    assert sum(line.startswith(r"two\nlines ") for line in table(status)) == 1


def test_a_low_terminal_shows_whole_models_and_says_how_many(status):
    whole = table(status)
    for most in range(9, len(whole) + 1):
        lines = table(status, 80, most)
        assert len(lines) <= most
        moved, worse = answers(lines)
        assert moved == worse
        assert lines == whole or lines[-1] == f"{moved} of 3 models"


def test_what_is_not_known_yet_is_a_dash(status):
    young = replace(status.models[0], last_prediction_age_seconds=None, last_label_age_seconds=None)
    row = table(replace(status, models=(young,), total=1))[3]
    assert row.split()[-2:] == ["—", "—"]


@pytest.mark.parametrize(("rejected", "named"), [(1_000, True), (5, False)])
def test_records_that_are_rejected_are_named_where_they_are_many(status, rejected, named):
    kind = RejectedKind(
        feed="a.csv",
        reason=RejectReason.BAD_VALUE,
        field="score",
        records=rejected,
        latest="a.csv:9",
        detail="score: must be a number, got 'x'",
    )
    lately = RejectedLately(read=1_000, rejected=rejected, kinds=(kind,))
    text = " ".join("\n".join(table(replace(status, rejected_lately=lately))).split())
    assert ("are rejected, and count nowhere" in text) is named
    assert ("a.csv:9: score: must be a number" in text) is named


@pytest.fixture(scope="module")
def classes():
    """Status of a model of ten classes, of which the first is taken for the second."""
    monitor = ClassStream(classes=10, change="confusion", a_day=600).applied()
    return status_answer(monitor.snapshot(), limit=9)


@pytest.mark.parametrize("columns", [80, 120])
def test_classes_have_rows_by_the_rule_of_the_page(classes, columns):
    lines = table(classes, columns)
    assert max(map(len, lines)) <= columns
    start = next(n for n, line in enumerate(lines) if "each class against the others" in line)
    (model,) = classes.models
    found = model.windows[model.verdict_window].classes
    assert lines[start].endswith(f"last {model.verdict_window}")
    macro = (f1_score, precision_score, recall_score)
    whole = model.windows[classes.verdict_window].classes
    matrix = np.array(whole.matrix)
    predicted, actual = (np.repeat(one.ravel(), matrix.ravel()) for one in np.indices(matrix.shape))
    assert lines[4].startswith(f"  all classes, last {classes.verdict_window}: accuracy .")
    of_all = " ".join(map(str.strip, lines[4:start])).partition(": ")[2].split(", ")
    f1, precision, recall = (score(actual, predicted, average="macro") for score in macro)
    assert of_all == [
        f"{words} {value:.3f}".replace(" 0.", " .")
        for words, value in (
            ("accuracy", accuracy_score(actual, predicted)),
            ("macro prec.", precision),
            ("macro recall", recall),
            ("macro F1", f1),
            ("kappa", cohen_kappa_score(actual, predicted)),
        )
    ]
    rows = lines[start + 1 : start + 9]
    assert [row.split()[0] for row in rows] == ranked_classes(found)[:8]
    assert rows[0].endswith(" pages")
    for row in rows:
        metrics = found.by_class[row.split()[0]].metrics
        shown = [metrics.metric(metric.name).estimate for metric in PAGE_METRICS]
        assert row.split()[1:6] == [f"{value:.3f}".removeprefix("0") for value in shown]
    assert lines[start + 9] == "  and 2 more classes"
    assert " ".join(map(str.strip, lines)).count(model.worse.text) == 1


def test_of_a_long_verdict_of_a_class_the_end_is_shown(classes):
    (model,) = classes.models
    window = model.windows[model.verdict_window]
    both = Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED
    one = window.classes.by_class["class-3"]
    change = replace(one.change, verdict=both, verdict_because=None)
    by_class = {**window.classes.by_class, "class-3": replace(one, change=change)}
    changed = replace(window, classes=replace(window.classes, by_class=by_class))
    model = replace(model, windows={**model.windows, model.verdict_window: changed})
    lines = table(replace(classes, models=(model,)))
    (row,) = [line for line in lines if line.startswith("  class-3 ")]
    assert row.endswith("…and model degraded")
    assert len(row) <= 80


def test_what_happened_to_many_classes_stands_once(classes):
    """The headline repeated both answers."""
    (model,) = classes.models
    text = " ".join(" ".join(table(classes, 200)).split())
    happened = model.headline.removeprefix(f"{model.moved_precision.text}. ").removesuffix(".")
    assert text.lower().count(happened.lower()) == 1
    assert text.count(f"{model.moved_precision.text}.") == 1
