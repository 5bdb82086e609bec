"""The answer to "What moved precision?", for two ranges of outcomes."""

import pytest
from report.two_ranges import BEFORE, answers, nothing_found

from monitor.report.moved_precision import Points, moved_precision
from monitor.report.two_answers import is_model_worse, what_moved_precision


def test_unchanged_precision_is_nothing_that_moved():
    moved, worse = answers(BEFORE, BEFORE)
    assert moved.text == "Nothing: it stayed (-0.4 to +0.4)"
    assert worse.answer == "no"


def test_causes_that_cancel_are_both_named():
    """Positives half as frequent, and half the false positives: precision stays."""
    moved, _ = answers(BEFORE, (4_000, 2_250, 1_000, 92_750))
    assert moved.cause is None
    assert moved.text.startswith("It did not certainly move: ")
    assert "; likely rarer positives -16." in moved.text
    assert "fewer false positives +1" in moved.text


def test_a_cause_is_likely_at_most_where_precision_did_not_certainly_move():
    parts = {
        "prevalence": Points(0.01, -0.077, 0.098),
        "recall": Points(0.019, 0.003, 0.035),
        "false_positives": Points(0.018, -0.04, 0.076),
    }
    moved = moved_precision(Points(0.047, -0.057, 0.151), parts, (0.8, 0.8))
    text = "It did not certainly move: +4.7 points (-5.7 to +15.1); likely higher recall +1.9"
    assert (moved.cause, moved.certain, moved.text) == (None, False, text)


def test_causes_of_a_certain_change_that_mostly_cancel_are_named_beside_it():
    parts = {
        "prevalence": Points(-0.2, -0.22, -0.18),
        "recall": Points(0.0, -0.01, 0.01),
        "false_positives": Points(0.15, 0.13, 0.17),
    }
    moved = moved_precision(Points(-0.05, -0.07, -0.03), parts, (0.8, 0.8))
    text = "Rarer positives -20.0, fewer false positives +15.0; in all -5.0 points (-7.0 to -3.0)"
    assert (moved.cause, moved.text) == (None, text)


def points(estimate, margin):
    return Points(estimate, estimate - margin, estimate + margin)


def test_a_cause_that_did_half_as_much_stands_beside_the_first():
    parts = {
        "prevalence": points(-0.01, 0.03),
        "recall": points(-0.067, 0.02),
        "false_positives": points(-0.061, 0.02),
    }
    moved = moved_precision(points(-0.138, 0.03), parts, (0.8, 0.7))
    assert (moved.cause, moved.certain) == ("recall", True)
    assert moved.text == (
        "Lower recall: -6.7 of -13.8 points (-8.7 to -4.7); more false positives: -6.1 "
        "(-8.1 to -4.1)"
    )
    less = parts | {"false_positives": points(-0.03, 0.02)}
    assert moved_precision(points(-0.1, 0.03), less, (0.8, 0.7)).text == (
        "Lower recall: -6.7 of -10.0 points (-8.7 to -4.7)"
    )


@pytest.mark.parametrize(
    ("largest", "text"),
    [
        (-0.05, "Probably lower recall: -5.0 of -9.0 points (-11.0 to +1.0)"),
        (-0.04, "No single cause is certain: -9.0 points (-11.0 to -7.0)"),
    ],
)
def test_an_uncertain_cause_is_named_where_it_is_most_of_the_change(largest, text):
    parts = {
        "prevalence": points(-0.02, 0.06),
        "recall": points(largest, 0.06),
        "false_positives": points(-0.03, 0.06),
    }
    moved = moved_precision(points(-0.09, 0.02), parts, (0.8, 0.7))
    assert moved.text == text
    assert moved.cause == ("recall" if text.startswith("Probably") else None)


@pytest.mark.parametrize(
    ("prevalence", "text"),
    [
        (0.029, "Lower recall: -11.0 points (-13.0 to -9.0); other causes +2.9, in all -8.1"),
        (0.009, "Lower recall: -11.0 of -10.1 points (-13.0 to -9.0)"),
    ],
)
def test_a_cause_that_others_countered_stands_beside_what_they_did(prevalence, text):
    parts = {
        "prevalence": points(prevalence, 0.03),
        "recall": points(-0.11, 0.02),
        "false_positives": points(0.0, 0.03),
    }
    moved = moved_precision(points(-0.11 + prevalence, 0.03), parts, (0.8, 0.6))
    assert (moved.cause, moved.text) == ("recall", text)


def test_a_cause_that_the_verdict_is_not_sure_of_is_likely():
    parts = {
        "prevalence": points(0.185, 0.131),
        "recall": points(0.15, 0.04),
        "false_positives": points(-0.07, 0.05),
    }
    unsure = ("prevalence", "false_positives")
    moved = moved_precision(points(0.265, 0.1), parts, (0.55, 0.71), unsure)
    assert (moved.cause, moved.certain) == ("prevalence", True)
    assert moved.text == (
        "Likely more frequent positives: +18.5 of +26.5 points (+5.4 to +31.6); higher recall: "
        "+15.0 (+11.0 to +19.0)"
    )
    cancelled = moved_precision(points(0.05, 0.02), parts, (0.55, 0.71), unsure)
    assert cancelled.text.startswith(
        "Likely more frequent positives +18.5, higher recall +15.0, li"
    )


def test_without_flagged_cases_there_is_no_precision_to_move():
    moved, _ = answers(BEFORE, (0, 0, 500, 4_500))
    assert moved.text == (
        "Not known: nothing is flagged any more, and precision is a share of flagged cases"
    )
    unknown = what_moved_precision(nothing_found("")).text
    assert unknown == (
        "Not known: before or after there are no flagged cases, no positives or no negatives"
    )


def test_a_change_that_cannot_be_divided_is_a_change():
    moved, worse = answers(BEFORE, (0, 40, 0, 4_500))
    assert moved.text == (
        "Precision moved by -64.0 points (-67.4 to -60.6); its causes cannot be divided, "
        "as there are no positives any more"
    )
    assert worse.text == "Cannot be known: there are no positives"
    moved, _ = answers((0, 40, 0, 4_500), BEFORE)
    assert moved.text.endswith("its causes cannot be divided, as there are no positives before")


def test_without_positives_no_precision_of_zero_points_is_said_to_move():
    moved, worse = answers((0, 392, 0, 19_208), (0, 91, 0, 4_809))
    assert moved.text == "Not known: before and after there are no positives"
    assert worse.text == "Cannot be known: there are no positives"


def test_a_few_cases_name_no_cause():
    """Of an hour with one flagged case, recall was said to have moved precision, for certain."""
    moved, worse = answers(BEFORE, (0, 1, 2, 29))
    assert (moved.cause, moved.certain) == (None, False)
    assert moved.text == "Not known: 2 positives and 1 flagged case are too few"
    assert worse.text == "Nothing points to it: the outcomes exclude no fall of recall"
    more, _ = answers(BEFORE, (8, 5, 2, 85))
    assert not more.text.startswith("Not known")
    few_and_certain, _ = answers(BEFORE, (4, 60, 2, 100_000))
    assert few_and_certain.cause == "prevalence"


def test_only_the_figures_at_the_end_are_left_to_the_other_answer():
    begins = "the reference restarted with version 2 (canary) and is not complete yet"
    found = nothing_found(f"{begins} (3 of 100 positives)")
    assert what_moved_precision(found).text == f"Not known: {begins}"
    assert "(3 of 100 positives)" in is_model_worse(found).text
