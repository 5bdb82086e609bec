"""Metrics of scores are corrected for wrong labels of known rates, or are not given."""

import json

import htpy as h
import numpy as np
import pytest
from cli.commands import ran
from scipy.special import expit
from sklearn.metrics import brier_score_loss, roc_auc_score

from monitor.config import Labelling, load_config
from monitor.engine import Monitor
from monitor.exporter.api.queries import Queries
from monitor.exporter.page.iso_curves import IsoCurves
from monitor.exporter.page.plane import plane_section
from monitor.exporter.page.score_figures import scores_panel
from monitor.feeds import files
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.labels.regime import LabelRegime
from monitor.labels.uncorrected_curve import curve_refused_because
from monitor.metrics.label_errors import ErrorRates
from monitor.report.diagnosis_text import diagnosis_text

DAYS, A_DAY, DAY = 24, 500, 86_400
START = 1_699_920_000
FALSE_POSITIVE, FALSE_NEGATIVE = 0.03, 0.1
CONFIG = """
models:
  m:
    label_errors: {false_positive: 0.03, false_negative: 0.1}
    maturity: 1m
    reference: {first: 7d}
windows: [7d]
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Files of a stream and its settings, and what was true of the two halves."""
    folder, rng = tmp_path_factory.mktemp("wrong"), np.random.default_rng(11)
    ts = START + np.sort(rng.random(DAYS * A_DAY)) * DAYS * DAY
    actual = rng.random(len(ts)) < 0.15
    score = expit(rng.normal(-2, 1, len(ts)) + 2.0 * actual)
    flipped = rng.random(len(ts)) < np.where(actual, FALSE_NEGATIVE, FALSE_POSITIVE)
    records = [
        {"type": "outcome", "ts": float(at), "label_ts": float(at), "model": "m"}
        | {"score": float(s), "prediction": int(s >= 0.5), "label": int(label)}
        for at, s, label in zip(ts, score, actual ^ flipped, strict=True)
    ]
    feed, config = folder / "events.ndjson", folder / "c.yaml"
    feed.write_text("\n".join(map(json.dumps, records)))
    config.write_text(CONFIG)
    half = START + DAYS // 2 * DAY
    sides = [(ts < half), (ts >= half)]
    true = [
        (roc_auc_score(actual[one], score[one]), brier_score_loss(actual[one], score[one]))
        for one in sides
    ]
    as_labelled = roc_auc_score((actual ^ flipped)[sides[1]], score[sides[1]])
    ranges = "2023-11-14..2023-11-26", "2023-11-26..2023-12-08"
    return feed, config, ranges, true, as_labelled


def live(feed, config):
    settings = load_config(config, {})
    monitor, decoder = Monitor(settings), Decoder(DecodeSettings.from_config(settings))
    for batch in files.read([feed], decoder):
        monitor.apply(batch)
    snapshot = monitor.snapshot()
    return Queries(lambda: snapshot, lambda read: read(monitor))


def test_recorded_and_live_comparisons_give_what_is_true_of_right_labels(recorded, capsys):
    feed, config, ranges, true, as_labelled = recorded
    words = ["--before", ranges[0], "--after", ranges[1], "--json"]
    of_feed = json.loads(ran(capsys, "diagnose", "--feed", feed, "-c", config, *words).out)
    found = live(feed, config).explanation("m", *ranges)
    for side, (area, brier) in zip(("before", "after"), true, strict=True):
        scores, now = of_feed["scores"][side], getattr(found.answer.scores, side)
        assert scores["roc_auc"]["lower"] < area < scores["roc_auc"]["upper"]
        assert scores["roc_auc"]["estimate"] == pytest.approx(area, abs=0.02)
        assert scores["brier_score"]["estimate"] == pytest.approx(brier, abs=0.01)
        assert now.roc_auc.estimate == pytest.approx(scores["roc_auc"]["estimate"])
    assert as_labelled < true[1][0] - 0.03
    assert found.answer.scores.recalibration is None
    panel = str(h.div[scores_panel(found.answer.scores)])
    assert "corrected for wrong labels" in panel
    assert "ROC curves" not in panel
    text = diagnosis_text(found.diagnosis)
    assert "corrected for wrong labels (label_errors)" in text
    assert "another ROC curve" not in text


RATES = "{false_positive: 0.03, false_negative: 0.1}"
RANGES = "{false_positive: [0.02, 0.04], false_negative: 0.1}"
REASON = "labels have errors (label_errors), and scores are counted by labels as they came"


def configured(folder, setting):
    path = folder / "other.yaml"
    model = f"models: {{m: {{{setting}maturity: 1m, reference: {{first: 7d}}}}}}\nwindows: [7d]\n"
    path.write_text(model)
    return path


@pytest.mark.parametrize("errors", [RATES, RANGES, "audit"])
@pytest.mark.parametrize("more", [(), ("--class-ratio", "0.1"), ("--json",)])
def test_the_command_gives_no_number_where_labels_have_errors(
    recorded, capsys, tmp_path, errors, more
):
    config = configured(tmp_path, f"label_errors: {errors}, ")
    words = ["--feed", recorded[0], "-c", config, "--objective", "precision>=0.5", *more]
    shown = ran(capsys, "threshold", *words)
    assert (shown.code, shown.out) == (2, "")
    assert f"threshold: m: {REASON}" in shown.err
    assert "Check the labels of predictions drawn at random" in shown.err


def test_the_command_finds_a_threshold_where_labels_are_right(recorded, capsys, tmp_path):
    config = configured(tmp_path, "")
    words = ["--feed", recorded[0], "-c", config, "--objective", "precision>=0.5", "--json"]
    assert json.loads(ran(capsys, "threshold", *words).out)["threshold"] is not None


def test_page_and_api_say_why_there_is_no_curve(recorded):
    feed, config, ranges, *_ = recorded
    found = live(feed, config).explanation("m", *ranges)
    curve = found.curve
    assert (curve.threshold, curve.recall, curve.precision) == ((), (), ())
    assert (curve.precision_at_reference, curve.class_ratio, curve.choice) == (None, None, None)
    assert curve.refused_because.startswith(REASON)
    assert curve.labelled_scores > 0
    page = str(plane_section(found.answer, curve, IsoCurves()))
    assert f"None is given: {REASON}" in page
    for number in ("flag scores of", "every threshold", "Recall would be", "the threshold to"):
        assert number not in page


def test_page_and_api_have_the_curve_where_labels_are_right(recorded, tmp_path):
    found = live(recorded[0], configured(tmp_path, "")).explanation("m", *recorded[2])
    assert found.curve.refused_because is None
    assert len(found.curve.recall) > 10
    page = str(plane_section(found.answer, found.curve, IsoCurves()))
    assert "every threshold, now" in page
    assert "None is given" not in page


def test_the_report_of_diagnose_says_why(recorded, tmp_path, capsys):
    feed, config, ranges, *_ = recorded
    report = tmp_path / "report.html"
    words = ["--before", ranges[0], "--after", ranges[1], "--html", report]
    ran(capsys, "diagnose", "--feed", feed, "-c", config, *words)
    assert f"None is given: {REASON}" in report.read_text()


@pytest.mark.parametrize("labelling", Labelling)
def test_a_curve_takes_a_label_for_every_case(labelling):
    refused = curve_refused_because(LabelRegime(labelling))
    assert (refused is None) == (labelling is Labelling.COMPLETE)
    assert curve_refused_because(LabelRegime(labelling, ErrorRates(0.01, 0.0))) is not None
