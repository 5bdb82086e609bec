"""Pages where labels are a sample: by days, since the detectors by pane need every label."""

import numpy as np
import pytest
from labelled import DAY, stream
from prometheus_client.parser import text_string_to_metric_families

from monitor.config import Config
from monitor.engine import Monitor
from monitor.prometheus.text import TextWriter

END, WORSE = 40, 20
LABELLINGS = ["sampled", pytest.param("weighted", marks=pytest.mark.slow)]


def made(labelling, seed, recall=0.8):
    """Forty days of 2,000 predictions; all flagged and a fifth of the others labelled at once."""
    rates = {"prevalence": 0.2, "fpr": 0.05, "recall": recall, "labelled": (1, 1, 0.2, 0.2)}
    return stream(END, 2000, seed, weighted=labelling == "weighted", **rates)


def followed(labelling, events):
    """Return the days after which the model pages, and the last snapshot."""
    settings = {"labelling": labelling, "label_timeout": "10d"}
    monitor, paging = Monitor(Config(defaults=settings, pane="1h", windows=["1d", "7d"])), []
    for day, batch in enumerate(events.batches(END), start=1):
        monitor.apply(batch)
        if monitor.snapshot().models[0].watched.degradation_detected:
            paging.append(day)
    return paging, monitor.snapshot()


def gauges(snapshot):
    text = TextWriter().write(snapshot).decode()
    families = text_string_to_metric_families(text)
    return {sample.name: sample.value for family in families for sample in family.samples}


@pytest.mark.parametrize("labelling", LABELLINGS)
def test_recall_that_falls_pages_once_within_a_week_and_for_as_long_as_it_lasts(labelling):
    falls = lambda day: np.where(day < WORSE, 0.8, 0.6)  # noqa: E731  # a rate by the day
    paging, snapshot = followed(labelling, made(labelling, 7, falls))
    assert WORSE < paging[0] <= WORSE + 7
    assert paging == list(range(paging[0], END + 1))
    (found,) = snapshot.models[0].watched.detections
    assert found.kind == "model_degraded"
    assert WORSE * DAY < found.at <= paging[0] * DAY


@pytest.mark.parametrize("labelling", LABELLINGS)
def test_a_model_that_is_as_ever_has_evidence_and_no_page(labelling):
    paging, snapshot = followed(labelling, made(labelling, 8))
    assert paging == []
    assert snapshot.models[0].watched.detections == ()
    shown = gauges(snapshot)
    assert 0 <= shown["classifier_detector_evidence_ratio"] < 1
    assert shown["classifier_degradation_detected"] == 0
    assert "classifier_prevalence_shift_detected" not in shown


@pytest.mark.parametrize("labelling", LABELLINGS)
def test_an_audit_that_ends_is_no_fall_of_the_model(labelling):
    events = made(labelling, 9)
    events.delay[(events.time > 26 * DAY) & ~events.predicted] = np.inf
    paging, snapshot = followed(labelling, events)
    assert paging == []
    assert snapshot.models[0].watched.detections == ()
    assert gauges(snapshot)["classifier_detector_evidence_ratio"] >= 0
