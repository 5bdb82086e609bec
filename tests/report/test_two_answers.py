"""The answer to "Is the model worse?", for two ranges of outcomes."""

import math
import re
from dataclasses import replace

import pytest
from msgspec.structs import replace as replace_struct
from report.two_ranges import BEFORE, answers, found_on, nothing_found

from monitor.counts import ConfusionCounts
from monitor.drift.label_quality import LabelChange
from monitor.drift.recall_evidence import Because, RecallEvidence
from monitor.drift.verdict import Verdict
from monitor.report.headline import page_reason
from monitor.report.label_quality_words import as_when_labels, cases_named, open_by_labels
from monitor.report.moved_precision import Points
from monitor.report.recall_words import excludes_a_fall
from monitor.report.two_answers import is_model_worse, what_moved_precision
from monitor.report.visible_fall import visible_fall
from monitor.verdicts import DegeneratePredictions

DIED = "flags nothing any more"


def test_rarer_positives_moved_it_and_the_model_is_not_worse():
    moved, worse = answers(BEFORE, (4_000, 4_750, 1_000, 90_250))
    assert (moved.cause, moved.certain) == ("prevalence", True)
    assert moved.text == "Rarer positives: -18.3 of -18.3 points (-19.0 to -17.6)"
    assert worse.answer == "no"
    assert worse.text == "No: a fall of recall below .78 is excluded"
    assert 0.77 < worse.recall_excluded < worse.recall_lower < 0.8 < worse.recall_upper


def test_a_worse_model_is_worse_and_moved_it():
    moved, worse = answers(BEFORE, (6_000, 9_000, 4_000, 81_000))
    assert moved.cause == "false_positives"
    assert moved.text.startswith("More false positives: ")
    assert worse.answer == "yes"
    assert worse.text == (
        "Yes: recall fell from .80 to .60 and the false positive rate rose about twofold, "
        "from .050 to .100"
    )


@pytest.mark.parametrize(
    ("after", "text"),
    [
        ((0, 0, 500, 4_500), "Yes: it flags nothing any more"),
        ((500, 4_500, 0, 0), "Yes: it flags everything"),
        ((40, 360, 460, 4_140), "Yes: it hardly tells the classes apart any more"),
        ((39, 360, 461, 4_140), "Yes: it hardly tells the classes apart any more"),
        ((100, 3_600, 400, 900), "Yes: it flags negatives more often than positives"),
    ],
)
def test_a_dead_model_is_worse_by_what_it_does(after, text):
    assert answers(BEFORE, after)[1].text == text


def test_a_better_model_is_no_worse():
    _, worse = answers(BEFORE, (9_000, 2_000, 1_000, 88_000))
    assert worse.answer == "no"
    assert worse.text.startswith("No, it is better: ")


def test_a_model_is_no_worse_where_it_is_better_or_fewer_labels_are_wrong():
    """Recall .8 to .95 by fewer missed positives alone, as a tenth fewer wrong labels leave."""
    before, after = (1_594, 986, 1_366, 96_054), (1_600, 980, 400, 97_020)
    found = found_on(before, after)
    assert found.judgement.labels_may_explain
    worse = is_model_worse(found)
    assert worse.answer == "no"
    assert worse.text == (
        "No: recall is between .78 and .82, was .54, if labels are as before; it is better, or "
        "fewer labels are wrong"
    )
    more = is_model_worse(found_on(after, before))
    assert more.answer == "not_shown"
    assert more.text.endswith("as when more labels are wrong")
    died = found._replace(by_predictions=DIED)
    assert is_model_worse(died).answer == "not_shown"


def test_a_page_whose_change_labels_explain_by_now_is_in_doubt():
    """One label in a hundred of the negatives turned wrong; the page began with the first days."""
    before, after = (1_600, 980, 400, 97_020), (1_594, 986, 1_366, 96_054)
    paging = found_on(before, after)._replace(pages=True, paged_since=0)
    worse = is_model_worse(paging)
    assert worse.answer == "not_shown"
    assert worse.text == (
        "Not shown: it has paged since 1 January 1970, and has not certainly recovered, but recall "
        "is between .52 and .56, was .80; missed positives and prevalence rose together while "
        "precision and flagged cases hardly moved, as when more labels are wrong"
    )
    reason = page_reason(paging.judgement, DegeneratePredictions(known=True), None)
    assert reason == "more missed positives: more wrong labels, or a worse model? Open."
    died = is_model_worse(paging._replace(by_predictions=DIED))
    assert died.answer == "yes"


def test_labels_that_miss_positives_are_named_beside_a_worse_model():
    """Of 10,000 positives labels miss 30 %: recall stays, prevalence and precision fall."""
    before, after = (8_000, 1_800, 2_000, 88_200), (5_600, 4_200, 1_400, 88_800)
    found = found_on(before, after)
    assert found.judgement.label_change is LabelChange.FALSE_NEGATIVES
    worse = is_model_worse(found)
    assert (worse.answer, worse.text) == (
        "not_shown",
        (
            "Not shown: the false positive rate rose about twofold, from .020 to .045; false "
            "positives rose and prevalence fell while recall and flagged cases hardly moved, as "
            "when labels miss more positives"
        ),
    )
    fewer = is_model_worse(found_on(after, before))
    assert fewer.answer == "no"
    assert fewer.text.endswith("; it is better, or labels miss fewer positives")
    assert open_by_labels(found.judgement) == (
        "more false positives: labels that miss more positives, or a worse model? Open."
    )
    counts = [ConfusionCounts(tp=tp, fp=fp, fn=fn, tn=tn) for tp, fp, fn, tn in (before, after)]
    assert cases_named(*counts, found.judgement) == (
        "Audit 20 flagged cases that are labelled negative."
    )


@pytest.mark.parametrize(
    ("cause", "start"), [("recall", "Not shown: "), ("prevalence", "Nothing points to it: ")]
)
def test_a_fall_of_precision_that_a_rate_likely_caused_points_to_the_model(cause, start):
    found = found_on((800, 450, 200, 8_550), (800, 450, 200, 8_550))
    none, most = Points(0.0, -0.02, 0.02), Points(-0.1, -0.22, 0.02)
    parts = dict.fromkeys(found.parts, none) | {cause: most}
    moved = found._replace(
        verdict=Verdict.INSUFFICIENT_EVIDENCE,
        because=Because.MOVED,
        change=Points(-0.1, -0.15, -0.05),
        parts=parts,
    )
    assert what_moved_precision(moved).cause == cause
    assert is_model_worse(moved).text.startswith(start)


def test_an_answer_says_that_its_labels_are_in_doubt():
    found = found_on(BEFORE, BEFORE)
    usual = is_model_worse(found)
    assert (usual.answer, usual.text) == ("no", "No: a fall of recall below .80 is excluded")
    doubted = is_model_worse(found._replace(doubted="labels may follow the decisions"))
    assert doubted == replace_struct(
        usual, text=f"{usual.text}, but labels may follow the decisions"
    )
    unknown = nothing_found("no labels yet")
    assert is_model_worse(unknown._replace(doubted="x")) == is_model_worse(unknown)


def test_labels_are_not_named_by_a_prevalence_that_hardly_moved():
    """Recall fell, and prevalence rose by a half of its error."""
    found = found_on((1_600, 980, 400, 97_020), (1_500, 980, 510, 97_010)).judgement
    blamed = replace(found, label_change=LabelChange.FALSE_POSITIVES, labels_may_explain=True)
    assert as_when_labels(blamed) == "more wrong labels are not excluded yet"


def test_rates_that_likely_became_better_do_not_point_to_a_worse_model():
    usual = (400, 225, 100, 4_275)
    found = found_on(usual, (427, 225, 73, 4_275))._replace(because=Because.MOVED)
    better = is_model_worse(found)
    assert better.answer == "not_shown"
    assert better.text == (
        "Nothing points to it: recall likely rose from .80 to .85, and a recall below .80 is "
        "excluded"
    )
    found = found_on(usual, (365, 225, 135, 4_275))._replace(because=Because.MOVED)
    assert is_model_worse(found).text == (
        "Not shown: recall likely fell from .80 to .73; another threshold, or another model"
    )


def test_a_recall_above_the_usual_one_is_no_fall():
    found = found_on((400, 225, 100, 4_275), (427, 225, 73, 4_275))
    above = found._replace(recall=found.recall._replace(excluded=0.81))
    assert is_model_worse(above).text == "Nothing points to it: a recall below .81 is excluded"


def test_a_slide_of_the_threshold_is_not_shown_to_be_worse():
    moved, worse = answers(BEFORE, (6_500, 2_000, 3_500, 88_000))
    assert worse.answer == "not_shown"
    assert worse.text == (
        "Not shown: recall is between .64 and .66, was .80; threshold or scores moved"
    )
    assert moved.text.startswith("Fewer false positives: ")
    of_window = found_on(BEFORE, (6_500, 2_000, 3_500, 88_000))._replace(stretch="over the last 7d")
    assert is_model_worse(of_window).text.startswith(
        "Not shown: recall over the last 7d is between"
    )


def test_few_outcomes_point_to_nothing_and_exclude_little():
    moved, worse = answers(BEFORE, (8, 5, 2, 85))
    assert (moved.cause, moved.certain) == (None, False)
    assert moved.text.startswith("Nothing certain: ")
    assert worse.answer == "not_shown"
    assert worse.text == (
        "Nothing points to it: only a fall of recall below .32 is excluded; about 4.8 times as "
        "many outcomes would exclude one below .60"
    )


@pytest.mark.parametrize("few", [(8, 5, 2, 85), (20, 11, 5, 214), (30, 18, 8, 344)])
def test_so_many_times_the_outcomes_exclude_a_fall_that_matters(few):
    """Nearly: the exact limits of few outcomes lie somewhat lower than the root of their number."""
    text = answers(BEFORE, few)[1].text
    times = float(re.search(r"about ([\d.]+) times as many", text)[1])
    more = [found_on(BEFORE, [round(factor * times * n) for n in few]) for factor in (0.7, 1.4)]
    assert [excludes_a_fall(one) for one in more] == [False, True]


def test_a_steady_window_says_what_it_excludes():
    _, worse = answers(BEFORE, (310, 180, 80, 3_600))
    assert worse.text == "Nothing points to it: a fall of recall below .73 is excluded"
    assert worse.recall_visible < worse.recall_excluded


def test_a_verdict_that_needs_far_more_than_what_is_excluded_says_why():
    steady = answers(BEFORE, (310, 180, 80, 3_600))[1]
    seen = visible_fall(Because.STEADY, replace_struct(steady, recall_visible=0.7))
    assert seen == "A fall of recall to .70 would have been shown with 80 % probability."
    seen = visible_fall(Because.STEADY, replace_struct(steady, recall_visible=0.2))
    assert seen == (
        "Only a fall of recall to .20 would have been shown with 80 % probability: a verdict "
        "counts the errors of the reference as well."
    )


def test_a_page_whose_windows_are_open_says_what_recall_is_now():
    paging = found_on(BEFORE, (380, 230, 120, 4_270))._replace(pages=True)
    worse = is_model_worse(paging)
    assert worse.answer == "yes"
    assert worse.text == (
        "Yes: it has paged, and has not certainly recovered: "
        f"recall is between {worse.recall_lower:.2f} and {worse.recall_upper:.2f}, was 0.80"
    ).replace("0.", ".")


def test_a_page_that_lasts_names_false_positives_beside_a_recall_that_is_lower():
    paging = found_on(BEFORE, (380, 400, 120, 4_100))._replace(
        pages=True, verdict=Verdict.INSUFFICIENT_EVIDENCE
    )
    text = is_model_worse(paging).text
    was, now = paging.rates["false_positive_rate"]
    assert now > 1.25 * was
    ends = f"the false positive rate is {now:.3f}, was {was:.3f}".replace("0.", ".")
    assert text.endswith(f", was .80; {ends}")


@pytest.mark.parametrize(
    ("pages", "text"),
    [
        (True, "Yes: it has paged, and has not certainly recovered: {}, was .80"),
        (False, "Not shown: {}"),
    ],
)
@pytest.mark.parametrize(("lower", "left"), [(0.46, ".46 to 1.00"), (0.0, "it open")])
def test_a_range_of_wrong_labels_that_leaves_recall_open_is_named(pages, text, lower, left):
    found = found_on(BEFORE, (310, 180, 80, 3_600))._replace(
        because=Because.LABEL_ERRORS,
        pages=pages,
        recall=RecallEvidence(lower, 1.0, 0.0),
        stretch="over the last 28d",
    )
    said = f"recall over the last 28d is not known: the range of label_errors leaves {left}"
    assert is_model_worse(found).text == text.format(said)


def test_where_nothing_can_be_known_both_say_why():
    found = nothing_found("the reference is not complete yet")
    assert what_moved_precision(found).text == "Not known: the reference is not complete yet"
    worse = is_model_worse(found)
    assert (worse.answer, worse.recall_excluded) == ("unknown", None)
    assert worse.text == "Cannot be known: the reference is not complete yet"


def test_a_model_that_died_is_named_where_no_window_is_compared_yet():
    rates = dict.fromkeys(("recall", "false_positive_rate"), (0.8, 0.8))
    words = "the last 7d reach back into the reference"
    reaches = nothing_found("")._replace(reaches_back=words, rates=rates)
    died = reaches._replace(by_predictions=DIED)
    assert is_model_worse(reaches).text.startswith(f"Cannot be known: {words}")
    found = is_model_worse(died)
    assert (found.answer, found.text) == (
        "not_shown",
        "Not shown: it flags nothing any more; labels do not show a worse model yet",
    )


@pytest.mark.parametrize(
    ("lower", "upper", "words"),
    [
        (0.0, 0.79, "at most .79"),
        (0.31, 0.79, "between .31 and .79"),
        (0.31, 1.0, "at least .31"),
        (0.0, 1.0, "not known"),
    ],
)
def test_a_limit_of_recall_that_says_nothing_is_left_out(lower, upper, words):
    first = nothing_found("the reference is not complete yet")
    found = first._replace(recall=RecallEvidence(lower, upper, math.nan))
    assert is_model_worse(found).text.endswith(f"; so far recall is {words}")


def test_that_predictions_are_wrong_stands_in_short_before_the_rates_of_a_worse_model():
    found = found_on(BEFORE, (6_000, 4_500, 4_000, 85_500))._replace(
        by_predictions="flags nothing any more"
    )
    assert is_model_worse(found).text == (
        "Yes: it flags nothing any more; recall fell from .80 to .60"
    )
    coin = found_on(BEFORE, (500, 4_500, 9_500, 85_500))
    assert is_model_worse(coin).text == "Yes: it hardly tells the classes apart any more"
    died = coin._replace(by_predictions=DIED)
    assert is_model_worse(died).text == "Yes: it flags nothing any more"


def test_a_few_cases_of_which_none_is_flagged_are_not_said_to_be_the_end_of_a_model():
    moved, _ = answers(BEFORE, (0, 0, 0, 6))
    assert moved.text == (
        "Not known: nothing is flagged, and precision is a share of flagged cases"
    )
    moved, worse = answers(BEFORE, (0, 0, 10_000, 90_000))
    assert moved.text.startswith("Not known: nothing is flagged any more, ")
    assert worse.text == "Yes: it flags nothing any more"


def test_an_old_page_names_the_false_positives_where_recall_is_not_lower():
    found = found_on((80, 50, 20, 850), (162, 130, 38, 1_670))._replace(pages=True)
    assert found.verdict is Verdict.INSUFFICIENT_EVIDENCE
    start = "Yes: it has paged, and has not certainly recovered: "
    assert is_model_worse(found).text == (
        f"{start}the false positive rate is .072, was .056; recall is not lower"
    )
    lower = found_on((80, 50, 20, 850), (158, 130, 42, 1_670))._replace(pages=True)
    assert is_model_worse(lower).text.startswith(f"{start}recall is between ")
