"""Diagnoses of real episodes of the flights, and of rain, never contradict the figures."""

import pytest
from diagnosis.episodes import PAIRS, given, period

from monitor.diagnosis import diagnose
from monitor.diagnosis.model_scatter import ModelScatter, ScatterDays
from monitor.drift import Status, Verdict
from monitor.drift.day_scatter import DayScatter
from monitor.drift.recall_evidence import Because
from monitor.report.diagnosis_text import diagnosis_text
from monitor.report.findings import of_diagnosis
from monitor.report.two_answers import is_model_worse, what_moved_precision

BLAMES = {Verdict.MODEL_DEGRADED, Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED}
PRAISES = {Verdict.MODEL_IMPROVED, Verdict.PREVALENCE_SHIFT_AND_MODEL_IMPROVED}


@pytest.fixture(scope="module")
def found():
    return {name: diagnose(*map(period, pair[:2])) for name, pair in PAIRS.items()}


@pytest.mark.parametrize("name", PAIRS)
def test_changes_and_errors_are_the_measured_ones(found, name):
    *_, ratio, ratio_error, skill, skill_error = PAIRS[name]
    change, error = found[name].judgement.change, found[name].judgement.standard_error
    assert change["class_ratio"] == pytest.approx(ratio, abs=0.01)
    assert change["log_likelihood_ratio"] == pytest.approx(skill, abs=0.01)
    # Clustered by day, without what a day carries over to the next.
    assert 0.9 * ratio_error < error["class_ratio"] < 2 * ratio_error
    assert 0.9 * skill_error < error["log_likelihood_ratio"] < 1.6 * skill_error


def test_from_july_to_september_positives_became_rarer_and_the_point_moved(found):
    july = found["july-september"]
    assert (july.verdict, july.because) == (Verdict.INSUFFICIENT_EVIDENCE, Because.MOVED)
    assert (july.main_driver.cause, july.main_driver.certain) == ("prevalence", True)
    assert set(july.judgement.fell) == {"class_ratio", "false_positive_rate"}
    answers = of_diagnosis(july)
    moved, worse = what_moved_precision(answers), is_model_worse(answers)
    assert (moved.cause, moved.certain) == ("prevalence", True)
    assert moved.text.startswith("Rarer positives: -23.")
    assert worse.answer == "not_shown"
    assert "threshold" in worse.text
    stayed = july.had_prevalence_stayed
    assert stayed.lower < 0.441 < stayed.upper
    assert stayed.estimate == pytest.approx(0.443, abs=0.001)


def test_from_march_to_december_is_never_prevalence_alone(found):
    march = found["march-december"]
    assert march.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert what_moved_precision(of_diagnosis(march)).cause is None


def test_of_november_and_december_no_sentence_contradicts_another():
    """The interval of prevalence leaves out 0, and the verdict is not sure of it."""
    november, after = map(period, PAIRS["november-december"][:2])
    year = period("2013-01-01..2014-01-01").by_day
    scatter = ModelScatter(DayScatter.learn([year]), ScatterDays("reference"))
    december = diagnose(november, after, scatter=scatter)
    assert december.judgement.status["class_ratio"] is Status.UNKNOWN
    text = " ".join(diagnosis_text(december).split())
    assert "What moved precision? Likely more frequent positives: +18.5" in text
    assert "Prevalence likely rose, too." in text
    assert "Whether prevalence changed" not in text


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("august-september", {Verdict.PREVALENCE_SHIFT}),
        ("november-december", {Verdict.PREVALENCE_SHIFT, Verdict.OPERATING_POINT_MOVED}),
        ("spring-winter", {Verdict.NO_CHANGE}),
    ],
)
def test_the_other_pairs_say_what_their_figures_say_or_nothing(found, name, allowed):
    assert found[name].verdict in allowed | {Verdict.INSUFFICIENT_EVIDENCE}
    assert found[name].verdict not in BLAMES | PRAISES


def test_rain_whose_false_positives_soar_is_laid_to_no_prevalence():
    rain = diagnose(given(tp=381, fp=114, fn=246, tn=1063), given(tp=333, fp=374, fn=29, tn=247))
    assert rain.verdict in {Verdict.MODEL_DEGRADED, Verdict.OPERATING_POINT_MOVED}
    assert "false_positive_rate" in rain.judgement.rose


def test_rain_of_which_half_is_missed_says_so_though_precision_rises():
    rain = diagnose(given(tp=438, fp=344, fn=113, tn=910), given(tp=267, fp=126, fn=292, tn=1125))
    assert rain.change_points > 0.1
    assert rain.verdict not in PRAISES
    assert "recall" in rain.judgement.fell
    assert "Certainly fell: recall" in diagnosis_text(rain)
