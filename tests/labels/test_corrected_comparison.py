"""Metrics of scores are corrected for wrong labels of known rates, or are not given."""

import json
from dataclasses import replace

import htpy as h
import numpy as np
import pytest
from cli.commands import ran
from scipy.special import expit
from sklearn.metrics import brier_score_loss, roc_auc_score

from monitor import ConfusionCounts
from monitor.config import Labelling, load_config
from monitor.engine import Monitor
from monitor.errors import UsageError
from monitor.exporter.api.curve import curve_answer
from monitor.exporter.api.explanation import curve_regime
from monitor.exporter.api.queries import Queries
from monitor.exporter.api.status import status_answer
from monitor.exporter.page.iso_curves import IsoCurves
from monitor.exporter.page.now import now_section
from monitor.exporter.page.plane import plane_section
from monitor.exporter.page.score_figures import scores_panel
from monitor.feeds import files
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.labels.regime import LabelRegime
from monitor.labels.uncorrected_curve import curve_refused_because
from monitor.metrics import ScoreHistogram, best_threshold
from monitor.metrics.curves import precision_recall_curve
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
    """Files of a stream and its settings, what was true of the two halves, and the true cases."""
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
    cases = score, actual
    ranges = "2023-11-14..2023-11-26", "2023-11-26..2023-12-08"
    return feed, config, ranges, true, as_labelled, cases


def fed(feed, config):
    settings = load_config(config, {})
    monitor, decoder = Monitor(settings), Decoder(DecodeSettings.from_config(settings))
    for batch in files.read([feed], decoder):
        monitor.apply(batch)
    return monitor


def live(feed, config):
    monitor = fed(feed, config)
    snapshot = monitor.snapshot()
    return Queries(lambda: snapshot, lambda read: read(monitor))


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
    assert "another ROC curve" not in text


RATES = "{false_positive: 0.03, false_negative: 0.1}"
RANGES = "{false_positive: [0.02, 0.04], false_negative: 0.1}"
TOO_HIGH = "{false_positive: [0.25, 0.3], false_negative: 0.1}"
WIDE = "{false_positive: [0.0, 0.3], false_negative: 0.1}"
UNKNOWN = "how often labels are wrong is not known (label_errors: audit, with too few audits"
ONE_CLASS = "once corrected for wrong labels (label_errors), cases of one class alone may be left"
CORRECTED = (
    "orrected for wrong labels (label_errors), which are taken to be as frequent at every score"
)


def configured(folder, setting):
    path = folder / "other.yaml"
    model = f"models: {{m: {{{setting}maturity: 1m, reference: {{first: 7d}}}}}}\nwindows: [7d]\n"
    path.write_text(model)
    return path


@pytest.mark.parametrize(
    ("errors", "said"),
    [
        ("audit", (UNKNOWN, "Audit cases")),
        (TOO_HIGH, ("label_errors says that more labels are wrong than can be", "Lower the rates")),
    ],
)
def test_the_command_gives_no_number_where_the_truth_behind_the_labels_is_undefined(
    recorded, capsys, tmp_path, errors, said
):
    config = configured(tmp_path, f"label_errors: {errors}, ")
    words = ["--feed", recorded[0], "-c", config, "--objective", "precision>=0.5"]
    for more in ((), ("--class-ratio", "0.1"), ("--json",)):
        shown = ran(capsys, "threshold", *words, *more)
        assert (shown.code, shown.out) == (2, "")
        assert f"threshold: m: {said[0]}" in shown.err
        assert said[1] in shown.err


@pytest.mark.parametrize("errors", [RATES, RANGES])
@pytest.mark.parametrize("more", [(), ("--class-ratio", str(0.15 / 0.85))])
def test_the_command_gives_the_threshold_of_right_labels_where_rates_are_known(
    recorded, capsys, tmp_path, errors, more
):
    score, actual = recorded[-1]
    right = best_threshold(
        ScoreHistogram.from_scores(positive=score[actual], negative=score[~actual]),
        "precision>=0.5",
    )
    config = configured(tmp_path, f"label_errors: {errors}, ")
    words = ["--feed", recorded[0], "-c", config, "--objective", "precision>=0.5", *more]
    found = json.loads(ran(capsys, "threshold", *words, "--json").out)
    assert found["corrected"] is True
    assert found["threshold"] == pytest.approx(right.threshold, abs=0.03)
    for name in ("precision", "recall"):
        limits = found[name]
        assert limits["lower"] < getattr(right, name).value < limits["upper"]
        assert limits["estimate"] == pytest.approx(getattr(right, name).value, abs=0.03)
    plain = configured(tmp_path, "")
    words[words.index("-c") + 1] = plain
    as_labelled = json.loads(ran(capsys, "threshold", *words, "--json").out)
    assert as_labelled["corrected"] is False
    assert as_labelled["recall"]["upper"] < right.recall.lower


def test_the_command_says_that_it_is_corrected(recorded, capsys, tmp_path):
    config = configured(tmp_path, f"label_errors: {RATES}, ")
    words = ["--feed", recorded[0], "-c", config, "--objective", "precision>=0.5"]
    assert CORRECTED in ran(capsys, "threshold", *words).out
    words[3] = configured(tmp_path, "")
    assert CORRECTED not in ran(capsys, "threshold", *words).out


def test_the_command_finds_a_threshold_where_labels_are_right(recorded, capsys, tmp_path):
    config = configured(tmp_path, "")
    words = ["--feed", recorded[0], "-c", config, "--objective", "precision>=0.5", "--json"]
    assert json.loads(ran(capsys, "threshold", *words).out)["threshold"] is not None


def test_the_command_leaves_out_what_labels_exclude_of_a_range(recorded, capsys, tmp_path):
    """Labels of 3 % of the actual negatives are wrong, and of the configured range 30 % at most."""
    score, actual = recorded[-1]
    right = best_threshold(
        ScoreHistogram.from_scores(positive=score[actual], negative=score[~actual]),
        "precision>=0.5",
    )
    config = configured(tmp_path, f"label_errors: {WIDE}, ")
    words = ["--feed", recorded[0], "-c", config, "--objective", "precision>=0.5"]
    found = json.loads(ran(capsys, "threshold", *words, "--json").out)
    most = found["label_error_ranges"]["false_positive"][1]
    assert 0.03 < most < 0.05
    assert found["label_errors_excluded"] == {"false_positive": [most, 0.3]}
    assert 0 < found["label_errors"]["false_positive"] < most
    assert found["recall"]["lower"] < right.recall.value < found["recall"]["upper"] < 1
    said = "label_errors allows up to 30 % of actual negatives, but more than"
    assert said in ran(capsys, "threshold", *words).out


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


@pytest.mark.parametrize("labelling", Labelling)
def test_a_curve_takes_a_label_for_every_case(labelling):
    labelled = ConfusionCounts(tp=[400], fp=[100], fn=[100], tn=[4_400])
    refused = curve_refused_because(LabelRegime(labelling), labelled)
    assert (refused is None) == (labelling is Labelling.COMPLETE)
    wrong = curve_refused_because(LabelRegime(labelling, ErrorRates(0.01, 0.0)), labelled)
    assert wrong == refused


@pytest.mark.parametrize("changed", [20, 36])
def test_scores_before_a_change_of_the_rates_do_not_count(tmp_path, capsys, changed):
    """Of 40 days; the last 7 open before the second change.

    Labels of 1 % of actual negatives are wrong before it, and then of 20 %.
    """
    rng, days, a_day = np.random.default_rng(5), 40, 240
    day = np.repeat(np.arange(days), a_day)
    actual, later = rng.random(len(day)) < 0.2, day >= changed
    score = expit(rng.normal(-2, 1, len(day)) + 3.0 * actual)
    wrong = rng.random(len(day)) < np.where(actual, 0.02, np.where(later, 0.2, 0.01))
    feed = tmp_path / "events.ndjson"
    with feed.open("w") as written:
        for place, (at, s) in enumerate(zip(START + day * DAY, score, strict=True)):
            moment = {"id": f"{place}", "ts": float(at + place % a_day)}
            label = int(actual[place] ^ wrong[place])
            case = {"type": "outcome", "model": "m", "score": float(s), "label": label}
            print(json.dumps(moment | case | {"prediction": int(s >= 0.5)}), file=written)
            if place % 2:
                audit = {"type": "label", "label": int(actual[place]), "audit": True}
                print(json.dumps(moment | audit), file=written)
    words = ["--feed", feed, "-c", configured(tmp_path, "label_errors: audit, ")]
    words += ["--objective", "precision>=0.8", "--json"]
    found = json.loads(ran(capsys, "threshold", *words).out)
    cases = sum(found["observed"].values())
    assert cases == pytest.approx((days - changed) * a_day, abs=2 * a_day)
    right = best_threshold(
        ScoreHistogram.from_scores(positive=score[later & actual], negative=score[later & ~actual]),
        "precision>=0.8",
    )
    for name in ("precision", "recall"):
        assert found[name]["lower"] < getattr(right, name).value < found[name]["upper"]
    assert found["class_ratio"] == pytest.approx(0.25, abs=0.05)


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


def test_the_command_says_why_there_is_no_live_class_ratio(tmp_path, capsys):
    """Of 40 days; in the last 8 no label is wrong, and before a fifth of those of negatives."""
    rng, days, a_day = np.random.default_rng(6), 40, 240
    day = np.repeat(np.arange(days), a_day)
    actual = rng.random(len(day)) < 0.2
    score = expit(rng.normal(-3, 1, len(day)) + 4.0 * actual)
    label = actual | ((rng.random(len(day)) < 0.2) & (day < days - 8))
    feed = tmp_path / "events.ndjson"
    with feed.open("w") as written:
        for place, (at, s) in enumerate(zip(START + day * DAY, score, strict=True)):
            case = {"type": "outcome", "model": "m", "score": float(s), "label": int(label[place])}
            moment = {"ts": float(at + place % a_day), "prediction": int(s >= 0.5)}
            print(json.dumps(case | moment), file=written)
    config = configured(tmp_path, "label_errors: {false_positive: 0.16}, ")
    words = ["threshold", "--feed", feed, "-c", config, "--objective", "precision>=0.5"]
    shown = ran(capsys, *words)
    said = "the live class ratio is undefined in window 7d: label_errors says that more labels are"
    assert (shown.code, shown.out) == (2, "")
    assert said in shown.err
    assert ran(capsys, *words, "--class-ratio", "0.2").code == 0


def test_the_threshold_that_diagnose_advises_is_corrected(recorded, tmp_path, capsys):
    feed, _, ranges, *_ = recorded
    score, actual = recorded[-1]
    later = np.arange(len(score)) >= len(score) // 2
    right = best_threshold(
        ScoreHistogram.from_scores(positive=score[later & actual], negative=score[later & ~actual]),
        "precision>=0.9",
    )
    setting = f"label_errors: {RATES}, objective: {{precision: 0.9}}, "
    words = ["--feed", feed, "-c", configured(tmp_path, setting)]
    words += ["--before", ranges[0], "--after", ranges[1]]
    found = json.loads(ran(capsys, "diagnose", *words, "--json").out)["scores"]["threshold"]
    assert found["corrected"] is True
    assert found["threshold"] == pytest.approx(right.threshold, abs=0.06)
    assert found["recall"]["lower"] < right.recall.value < found["recall"]["upper"]
    assert f"now, c{CORRECTED}." in " ".join(ran(capsys, "diagnose", *words).out.split())


def test_the_curve_is_corrected_for_the_rates_of_the_later_scores(recorded):
    feed, config, ranges, *_ = recorded
    found = live(feed, config).explanation("m", *ranges).diagnosis
    (model,) = fed(feed, config).snapshot().models
    other = ErrorRates(0.01, 0.2)
    after = replace(found.scores.after, errors=other)
    scores = replace(found.scores, after=after)
    assert curve_regime(replace(found, scores=scores), model).errors == other
    assert curve_regime(replace(found, scores=None), model).errors == model.label_errors
