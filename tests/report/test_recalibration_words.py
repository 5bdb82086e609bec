"""Corrections of the scores and a threshold in text, JSON and advice."""

import json
from dataclasses import replace

import htpy as h
import msgspec
import numpy as np
import pytest
from exporter.page.pages import plain

from monitor.counts import ConfusionCounts
from monitor.diagnosis import diagnose
from monitor.diagnosis.periods import Period
from monitor.drift.degenerate import Degeneracy
from monitor.exporter.page.formats import coded
from monitor.exporter.page.score_figures import scores_panel
from monitor.exporter.page.why import why_section
from monitor.labels.uncorrected import MissingMisses
from monitor.metrics.expected_threshold import ExpectedThreshold
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.recalibration import recalibration
from monitor.metrics.score_intervals import Interval
from monitor.metrics.score_skill import ScoreSkill
from monitor.report.advice import advice
from monitor.report.diagnosis_json import diagnosis_answer
from monitor.report.diagnosis_text import COLUMNS, diagnosis_text
from monitor.report.recalibration_answer import threshold_answer
from monitor.report.recalibration_words import threshold_advice
from monitor.report.score_answer import compared_scores
from monitor.report.score_words import PARTS_BY_LABELS
from monitor.verdicts import DegeneratePredictions

DAY = 86_400_000
SCORES = np.array([0.05, 0.15, 0.35, 0.75])
FLAGGED = np.array([False, False, True, True])
DAYS = 14


def period(opens: int, *, factor: float) -> Period:
    """Fourteen days of calibrated scores whose positives are then thinned by a factor."""
    cases = np.array([6_000, 2_500, 1_000, 500])
    positive, negative = np.rint(cases * SCORES * factor), np.rint(cases * (1 - SCORES))
    rng = np.random.default_rng(round(factor * 100))
    bins = (SCORES * 1000).astype(int)
    histogram = ScoreHistogram.zeros((DAYS,))
    found = {}
    for name, expected in (("positive", positive), ("negative", negative)):
        rows = np.zeros((DAYS, histogram.bins), dtype=np.int64)
        rows[:, bins] = rng.poisson(expected, (DAYS, 4))
        found[name] = rows
    scores = ScoreHistogram(**found, unlabelled=histogram.unlabelled)
    flagged = bins[FLAGGED]
    tp, fp = (found[name][:, flagged].sum(axis=1) for name in ("positive", "negative"))
    blocks = ConfusionCounts(
        tp=tp,
        fp=fp,
        fn=found["positive"].sum(axis=1) - tp,
        tn=found["negative"].sum(axis=1) - fp,
    )
    return Period(
        opens=opens,
        closes=opens + DAYS * DAY,
        blocks=blocks,
        block_ms=DAY,
        predictions=int(blocks.total.sum()),
        by_day=blocks,
        scores=scores,
    )


BEFORE = period(0, factor=1.0)
RARER = diagnose(BEFORE, period(40 * DAY, factor=0.4))
ALIKE = diagnose(BEFORE, period(40 * DAY, factor=1.01))


def test_scores_made_for_more_positives_are_corrected_by_the_class_ratios() -> None:
    (sentence,) = [text for text in advice(RARER) if "log-odds" in text]
    assert sentence.startswith(
        "Where scores are read as probabilities, correct their log-odds to logit(score) - 0.9"
    )
    assert "to logit(score) \N{MINUS SIGN} 0.9" in "".join(map(str, coded(sentence)))
    assert RARER.scores is not None
    assert RARER.scores.recalibration is not None
    r = [side.metrics["class_ratio"].estimate for side in (RARER.before, RARER.after)]
    assert RARER.scores.recalibration.prior_shift == pytest.approx(np.log(r[1] / r[0]))
    rows = diagnosis_text(RARER).splitlines()
    assert any(row.startswith("for the new class ratio") for row in rows)
    assert max(map(len, rows)) <= COLUMNS


def test_a_threshold_for_the_precision_of_before_is_named() -> None:
    (sentence,) = [text for text in advice(RARER) if "predict positive" in text]
    wanted = RARER.before.metrics["precision"].estimate
    assert sentence.startswith(f"For a precision of {wanted:.3f} at today's class ratio")
    assert "scores of 0.75 and above" in sentence
    assert not any("set the threshold anew" in text for text in advice(RARER))


def test_calibrated_scores_are_left_as_they_are() -> None:
    assert "leave the scores as they are" in diagnosis_text(ALIKE)
    assert not any("log-odds" in text for text in advice(ALIKE))


def test_json_has_each_correction_with_what_it_brings() -> None:
    found = json.loads(msgspec.json.encode(diagnosis_answer(RARER)))["scores"]
    corrections = found["recalibration"]
    assert corrections["advised"] == "prior_shift"
    gain = corrections["prior_shift"]["gain"]
    assert 0 < gain["lower"] < gain["estimate"] < gain["upper"] < corrections["brier_score"]
    steps = corrections["isotonic"]
    assert len(steps["score"]) == len(steps["rate"]) == 4
    assert steps["rate"] == sorted(steps["rate"])
    assert found["threshold"]["threshold"] == 0.75
    assert found["threshold"]["precision"]["estimate"] > RARER.after.metrics["precision"].estimate


def test_an_objective_takes_the_place_of_the_precision_of_before() -> None:
    found = diagnose(BEFORE, period(40 * DAY, factor=0.4), objective=0.35)
    assert found.scores is not None
    assert found.scores.threshold is not None
    assert found.scores.threshold.wanted == 0.35
    met = diagnose(BEFORE, period(40 * DAY, factor=0.4), objective=0.01)
    assert met.scores is not None
    assert met.scores.threshold is None


def test_a_threshold_that_falls_short_by_its_own_estimate_is_not_advised():
    precision, recall = Interval(0.418, 0.132, 0.705), Interval(0.136, 0.05, 0.3)
    short = threshold_answer(ExpectedThreshold(0.441, 0.41, precision, recall, 0.03))
    text = threshold_advice(short, 0.5)
    assert text.startswith("No threshold is shown to reach a precision of 0.441")
    assert "predict positive" not in text
    near = threshold_answer(ExpectedThreshold(0.425, 0.41, precision, recall, 0.03))
    assert threshold_advice(near, 0.5).startswith(
        "The threshold for a precision of 0.425 at today's class ratio is 0.41, and may fall a "
        "little short of it: on days that it was not chosen on, 0.41 has a precision of 0.418 "
    )
    enough = threshold_answer(ExpectedThreshold(0.4, 0.41, precision, recall, 0.03))
    assert "predict positive at scores of 0.41 and above" in threshold_advice(enough, 0.5)


def test_text_and_page_divide_the_part_of_skill_in_the_same_words() -> None:
    sentence = (
        "Of the part of skill, movement along the ROC curve accounts for +0.1 points (-0.2 to "
        "+0.4), another curve for +0.3 points (-0.4 to +1.0)."
    )
    assert sentence in " ".join(diagnosis_text(RARER).split())
    page = plain(str(why_section(diagnosis_answer(RARER))))
    assert sentence.replace("-", "\N{MINUS SIGN}") in page.replace("-", "\N{MINUS SIGN}")
    assert PARTS_BY_LABELS not in page
    may_be = replace(RARER, judgement=replace(RARER.judgement, labels_may_explain=True))
    assert PARTS_BY_LABELS in plain(str(why_section(diagnosis_answer(may_be))))


def test_separated_classes_are_given_no_correction() -> None:
    rows = np.zeros((2, DAYS, 1000), dtype=np.int64)
    rows[0, :, 600:602], rows[1, :, 598:600] = 50, 200
    days = ScoreHistogram(positive=rows[0], negative=rows[1], unlabelled=np.zeros_like(rows[0]))
    found = recalibration(days, 0.5)
    assert found is not None
    assert found.separated
    assert found.advised is None
    assert np.isnan(found.platt.slope)
    scores = replace(RARER.scores, recalibration=found)
    text = diagnosis_text(replace(RARER, scores=scores))
    assert "advised: a score separates the labels completely" in " ".join(text.split())
    assert "takes off the Brier score" not in text
    assert "read as probabilities" not in text
    panel = str(h.div[scores_panel(compared_scores(scores))])
    assert "a score separates the labels completely" in panel
    assert "takes off the Brier score" not in panel


def test_scores_that_are_all_equal_order_no_cases_and_are_given_no_correction() -> None:
    rows = np.zeros((2, DAYS, 1000), dtype=np.int64)
    rows[0, :, 500], rows[1, :, 500] = 50, 450
    days = ScoreHistogram(positive=rows[0], negative=rows[1], unlabelled=np.zeros_like(rows[0]))
    found = recalibration(days, 1 / 9)
    assert found is not None
    assert found.gain["isotonic"].lower > 0.1
    assert found.advised is None
    scores = replace(RARER.scores, after=ScoreSkill(by_day=days), recalibration=found)
    for text in (
        " ".join(diagnosis_text(replace(RARER, scores=scores)).split()),
        plain(str(h.div[scores_panel(compared_scores(scores))])),
    ):
        assert "All scores of after are equal within .001: they order no cases." in text
        assert "No correction is advised: the scores order no cases" in text
        assert "1 step " in text
        assert "of after may be" not in text
        assert "replace them by the rates" not in text


def test_steps_are_advised_where_both_classes_have_the_score_that_separates_the_others() -> None:
    """There is no logistic fit, and what the steps bring on other days is known."""
    rows = np.zeros((2, DAYS, 1000), dtype=np.int64)
    rows[0, :, 600:602], rows[1, :, 598:601] = 50, 200
    days = ScoreHistogram(positive=rows[0], negative=rows[1], unlabelled=np.zeros_like(rows[0]))
    found = recalibration(days, 0.5)
    assert found is not None
    assert not found.separated
    assert found.advised == "isotonic"
    assert np.isnan(found.platt.slope)
    text = " ".join(
        diagnosis_text(replace(RARER, scores=replace(RARER.scores, recalibration=found))).split()
    )
    assert "isotonic 4 steps" in text
    assert "logistic (Platt)" not in text
    assert "replace them by the rates of `--json`" in text


def test_no_correction_is_advised_of_scores_whose_labels_may_follow_the_decisions() -> None:
    misses = MissingMisses(RARER.before.counts, RARER.after.counts, by_scores=50.0)
    texts = [" ".join(advice(one)) for one in (RARER, replace(RARER, missing_misses=misses))]
    assert ["read as probabilities, correct" in text for text in texts] == [True, False]
    assert "leave the scores as they are" in texts[1]


def test_what_labels_explain_is_given_as_labelled_without_corrections() -> None:
    judgement = replace(RARER.judgement, labels_may_explain=True)
    doubted = replace(RARER, judgement=judgement)
    for diagnosis, trusted in ((RARER, True), (doubted, False)):
        page = plain(str(why_section(diagnosis_answer(diagnosis))))
        scores = diagnosis_answer(diagnosis).scores
        page += plain(str(h.div[scores_panel(scores, by_labels=not trusted)]))
        for text in (" ".join(diagnosis_text(diagnosis).split()), page):
            assert ("Had prevalence stayed at" in text) == trusted
            assert ("takes off the Brier score" in text) == trusted
            assert ("These are the changes if labels are as before; " in text) != trusted


def test_a_model_that_died_is_looked_at_first_and_its_scores_are_not_corrected() -> None:
    died = DegeneratePredictions(known=True, kind=Degeneracy.ALWAYS_NEGATIVE, since=0)
    first, *others = advice(replace(RARER, predictions=died))
    assert first.startswith("Find out why the model flags nothing any more, without waiting")
    assert not any("scores" in text or "Wait" in text for text in others)
