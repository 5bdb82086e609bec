"""Metrics of scores are corrected for wrong labels of known rates, or are not given."""

import json
import re
from dataclasses import replace

import htpy as h
import numpy as np
import pytest
from cli.commands import ran
from labels.wrongly_labelled import (
    CORRECTED,
    DAY,
    ONE_CLASS,
    RANGES,
    RATES,
    START,
    TOO_HIGH,
    WIDE,
    configured,
    fed,
    live,
)

from monitor import ConfusionCounts
from monitor.config import Labelling
from monitor.errors import UsageError
from monitor.exporter.api.curve import curve_answer
from monitor.exporter.api.explanation import curve_regime
from monitor.exporter.api.status import status_answer
from monitor.exporter.page.iso_curves import IsoCurves
from monitor.exporter.page.now import now_section
from monitor.exporter.page.plane import plane_section
from monitor.exporter.page.score_figures import scores_panel
from monitor.labels.regime import LabelRegime
from monitor.labels.uncorrected_curve import curve_refused_because
from monitor.metrics import ScoreHistogram
from monitor.metrics.curves import precision_recall_curve
from monitor.metrics.label_errors import ErrorRates
from monitor.metrics.possible_rates import NO_LIMITS, LabelLimits, possible_at_thresholds
from monitor.report.diagnosis_text import diagnosis_text


def test_recorded_and_live_comparisons_give_what_is_true_of_right_labels(recorded, capsys):
    feed, config, ranges, true, as_labelled, _ = recorded
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
    assert "Of the part of skill, movement along the ROC curve accounts for" in text


def test_what_labels_exclude_is_left_out_of_metrics_and_said(recorded, tmp_path, capsys):
    feed, _, ranges, *_ = recorded
    config = configured(tmp_path, f"label_errors: {WIDE}, ")
    status = status_answer(fed(feed, config).snapshot(), limit=1)
    model = status.models[0]
    most = model.label_error_ranges["false_positive"][1]
    assert 0.03 < most < 0.15
    assert model.label_errors_excluded == {"false_positive": (most, 0.3)}
    recall = model.windows["7d"].metrics.recall
    assert recall.estimate < recall.upper
    words = f"more than {100 * most:.3g} % cannot be: too few labels of a predicted class are 1"
    assert words in model.label_errors_text
    assert words in str(now_section(status, model, None, None))
    asked = ["--before", ranges[0], "--after", ranges[1]]
    for command in (["diagnose", "--feed", feed, *asked], ["replay", feed]):
        assert words in " ".join(ran(capsys, *command, "-c", config).out.split())


def test_rates_that_labels_exclude_altogether_leave_everything_undefined(
    recorded, tmp_path, capsys
):
    feed, _, ranges, *_ = recorded
    config, because = configured(tmp_path, f"label_errors: {TOO_HIGH}, "), "than can be: among"
    with pytest.raises(UsageError, match=because):
        live(feed, config).explanation("m", *ranges)
    words = ["diagnose", "--feed", feed, "-c", config]
    shown = ran(capsys, *words, "--before", ranges[0], "--after", ranges[1])
    assert because in shown.err
    status = status_answer(fed(feed, config).snapshot(), limit=1)
    model = status.models[0]
    assert (model.label_fault, model.label_errors) == ("label_errors_too_high", {})
    assert model.windows["7d"].metrics.recall.estimate is None
    assert because in str(now_section(status, model, None, None))


def test_page_and_api_say_why_there_is_no_curve(recorded):
    """Of 30 labels 3 are positive, which a range up to .3 may give."""
    feed, config, ranges, *_ = recorded
    found = live(feed, config).explanation("m", *ranges)
    few = ScoreHistogram.from_scores(positive=[0.9, 0.8, 0.3], negative=np.linspace(0.1, 0.6, 27))
    regime = LabelRegime(errors=ErrorRates.within((0.0, 0.3), 0.1))
    curve = curve_answer(few, reference_ratio=0.2, objective=0.5, regime=regime)
    assert (curve.threshold, curve.recall, curve.precision) == ((), (), ())
    assert (curve.precision_at_reference, curve.class_ratio, curve.choice) == (None, None, None)
    assert curve.refused_because.startswith(ONE_CLASS)
    assert curve.labelled_scores == 30
    page = str(plane_section(found.answer, curve, IsoCurves()))
    assert f"None is given: {ONE_CLASS}" in page
    for number in ("flag scores of", "every threshold", "Recall would be", "the threshold to"):
        assert number not in page


def test_page_and_api_have_the_curve_of_right_labels_where_rates_are_known(recorded):
    feed, config, ranges, *_ = recorded
    score, actual = recorded[-1]
    found = live(feed, config).explanation("m", *ranges)
    curve = found.curve
    later = slice(len(score) // 2, None)
    right = precision_recall_curve(
        ScoreHistogram.from_scores(
            positive=score[later][actual[later]], negative=score[later][~actual[later]]
        )
    )
    at = np.round(np.array(curve.threshold[:-1]) * 1000).astype(int)
    some = np.array(curve.recall[:-1]) > 0.1
    for name in ("recall", "precision"):
        off = np.array(getattr(curve, name)[:-1], float) - getattr(right, name)[at]
        assert np.abs(off[some]).max() < 0.07
        assert np.abs(off[some]).mean() < 0.03
    assert curve.corrected
    assert curve.refused_because is None
    page = str(plane_section(found.answer, curve, IsoCurves()))
    assert "flag scores of" in page
    assert f"C{CORRECTED}." in page


def test_page_and_api_have_the_curve_where_labels_are_right(recorded, tmp_path):
    found = live(recorded[0], configured(tmp_path, "")).explanation("m", *recorded[2])
    assert found.curve.refused_because is None
    assert len(found.curve.recall) > 10
    page = str(plane_section(found.answer, found.curve, IsoCurves()))
    assert "every threshold, now" in page
    assert "None is given" not in page


@pytest.mark.parametrize("errors", [WIDE, RATES])
def test_the_report_of_diagnose_has_the_threshold(recorded, tmp_path, capsys, errors):
    feed, _, ranges, *_ = recorded
    report, config = tmp_path / "report.html", configured(tmp_path, f"label_errors: {errors}, ")
    asked = ["--before", ranges[0], "--after", ranges[1], "--html", report]
    ran(capsys, "diagnose", "--feed", feed, "-c", config, *asked)
    assert f"C{CORRECTED}." in report.read_text()


@pytest.mark.parametrize("rates", [0.025, (0.025, 0.03)])
def test_rates_that_labels_of_some_scores_exclude_give_no_curve(rates):
    """Of the lowest scores 1 % of the labels are 1."""
    labelled = ConfusionCounts(tp=[90, 90], fp=[910, 10], fn=[10, 10], tn=[990, 1_890])
    wide = ErrorRates.within((0.0, 0.05), 0.0)
    limit = possible_at_thresholds(wide, labelled).ranges["false_positive"][1]
    assert 0.01 < limit < 0.025
    regime = LabelRegime(limits=LabelLimits(0.03, 0.5))
    assert curve_refused_because(regime._replace(errors=wide), labelled) is None
    excluded = regime._replace(errors=ErrorRates.within(rates, 0.0))
    found = curve_refused_because(excluded, labelled)
    assert found.startswith("label_errors.false_positive is 2.5 %")
    assert f"labels of some range of scores allow {100 * limit:.3g} % at most" in found
    learned = excluded._replace(limits=NO_LIMITS)
    assert "some range of scores" not in (curve_refused_because(learned, labelled) or "")


@pytest.mark.parametrize("labelling", Labelling)
def test_a_curve_takes_a_label_for_every_case(labelling):
    labelled = ConfusionCounts(tp=[400], fp=[100], fn=[100], tn=[4_400])
    refused = curve_refused_because(LabelRegime(labelling), labelled)
    assert (refused is None) == (labelling is Labelling.COMPLETE)
    wrong = curve_refused_because(LabelRegime(labelling, ErrorRates(0.01, 0.0)), labelled)
    assert wrong == refused


def test_hours_without_a_prediction_are_compared_too(tmp_path, capsys):
    """Ten hours of each day have predictions, and weeks are compared by hours."""
    rng, days, a_day = np.random.default_rng(7), 24, 400
    day = np.repeat(np.arange(days), a_day)
    at = START + day * DAY + np.tile(np.linspace(0, 36_000, a_day), days)
    actual = rng.random(len(day)) < 0.2
    flagged = rng.random(len(day)) < np.where(actual, 0.8, 0.05)
    label = actual | (rng.random(len(day)) < 0.03)
    feed = tmp_path / "events.ndjson"
    with feed.open("w") as written:
        for columns in zip(at.tolist(), flagged.tolist(), label.tolist(), strict=True):
            case = dict(zip(("ts", "prediction", "label"), columns, strict=True))
            print(json.dumps({"type": "outcome", "model": "m"} | case), file=written)
    config = configured(tmp_path, "label_errors: {false_positive: 0.03}, ")
    ranges = "2023-11-14..2023-11-24", "2023-11-28..2023-12-07T12:00:00Z"
    words = ["diagnose", "--feed", feed, "-c", config, "--json"]
    found = json.loads(ran(capsys, *words, "--before", ranges[0], "--after", ranges[1]).out)
    now = live(feed, config).explanation("m", *ranges).answer
    for side in ("before", "after"):
        recall = found[side]["recall"]
        assert recall["lower"] < 0.8 < recall["upper"]
        assert getattr(now, side).recall.estimate == pytest.approx(recall["estimate"])


def test_the_curve_is_corrected_for_the_rates_of_the_later_scores(recorded):
    feed, config, ranges, *_ = recorded
    found = live(feed, config).explanation("m", *ranges).diagnosis
    (model,) = fed(feed, config).snapshot().models
    other = ErrorRates(0.01, 0.2)
    after = replace(found.scores.after, errors=other)
    scores = replace(found.scores, after=after)
    assert curve_regime(replace(found, scores=scores), model).errors == other
    assert curve_regime(replace(found, scores=None), model).errors == model.label_errors


@pytest.mark.parametrize(("errors", "lacking"), [(WIDE, True), (RANGES, False)])
def test_the_text_says_why_an_area_has_no_interval(recorded, tmp_path, errors, lacking):
    config = configured(tmp_path, f"label_errors: {errors}, ")
    text = diagnosis_text(live(recorded[0], config).explanation("m", *recorded[2]).diagnosis)
    (area,) = (line for line in text.splitlines() if line.startswith("area under the ROC curve"))
    assert ("(" in area) is not lacking
    why = r"no interval of area under the ROC curve, [^:]*: undefined at rates that\slabel_errors"
    assert bool(re.search(why, text)) is lacking
