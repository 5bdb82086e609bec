"""Words for causes, and sentences for a newcomer: the same in text, JSON and page."""

import math
from dataclasses import replace

import msgspec
import pytest
from diagnosis.episodes import PAIRS, period
from exporter.page.pages import plain

from monitor.counts import ConfusionCounts
from monitor.diagnosis import Period, diagnose
from monitor.drift import Verdict
from monitor.drift.recall_evidence import Because
from monitor.exporter.page.why import why_section
from monitor.report.advice import advice
from monitor.report.diagnosis_json import diagnosis_answer
from monitor.report.diagnosis_text import diagnosis_text
from monitor.report.headline import headline
from monitor.report.sentences import cause_status, explanation, footnotes
from monitor.report.two_answers import how_rates_moved


def found(before, after):
    cells = ("tp", "fp", "fn", "tn")
    periods = (
        Period.given(ConfusionCounts(**dict(zip(cells, side, strict=True))))
        for side in (before, after)
    )
    return diagnose(*periods)


MANY = (8_000, 4_500, 2_000, 85_500)
CASES = {
    "fell": (MANY, (4_000, 4_750, 1_000, 90_250)),
    "as before": (MANY, MANY),
    "rose a little": (MANY, (8_300, 4_500, 2_000, 85_500)),
    "likely fell": ((400, 225, 100, 4_275), (340, 228, 85, 4_347)),
    "not certain": ((80, 45, 20, 855), (78, 45, 20, 857)),
}


@pytest.mark.parametrize("reported", CASES)
def test_a_word_never_disputes_the_interval_beside_it(reported):
    diagnosis = found(*CASES[reported])
    part = diagnosis.attribution["prevalence"]
    assert cause_status(diagnosis, "prevalence") == reported
    beyond = part.lower_points > 0 or part.upper_points < 0
    assert beyond == (reported not in ("as before", "not certain"))
    explained = [note for note in footnotes(diagnosis) if note.split(":")[0] in reported]
    assert len(explained) == (reported in ("rose a little", "likely fell"))


@pytest.mark.parametrize("name", [*CASES, *PAIRS])
def test_text_page_and_json_say_the_same(name):
    pair = CASES.get(name)
    diagnosis = found(*pair) if pair else diagnose(*map(period, PAIRS[name][:2]))
    printed = diagnosis_answer(diagnosis)
    text = " ".join(diagnosis_text(diagnosis).split())
    page = plain(str(why_section(printed)))
    for cause in ("prevalence", "recall", "false_positives"):
        reported = cause_status(diagnosis, cause)
        assert printed.attribution.of(cause).said == reported
        assert f" {reported} " in page
        assert f" {reported} " in text
    for sentence in (*explanation(diagnosis), *footnotes(diagnosis)):
        assert sentence in text
        assert sentence in page


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((400, 225, 100, 4_275), (370, 160, 130, 4_340)),
        ((370, 160, 130, 4_340), (400, 225, 100, 4_275)),
    ],
)
def test_beside_precision_that_certainly_moved_only_causes_of_that_direction_are_likely(
    before, after
):
    diagnosis = found(before, after)
    assert diagnosis.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert diagnosis.change_lower_points > 0 or diagnosis.change_upper_points < 0
    assert cause_status(diagnosis, "recall").startswith("likely")
    assert "Likely, not certainly" not in " ".join(explanation(diagnosis))


def test_a_slide_says_first_what_became_of_the_rates_and_whose_doing_it_is():
    diagnosis = found((8_000, 4_500, 2_000, 85_500), (9_600, 27_000, 400, 63_000))
    assert str(diagnosis.verdict) == "operating_point_moved"
    first, text = diagnosis_text(diagnosis).splitlines()[0], " ".join(explanation(diagnosis))
    assert first.endswith(": FPR rose .050 → .300, recall .800 → .960: threshold or scores moved.")
    assert text.startswith(
        "The false positive rate rose about sixfold, from .050 to .300; recall rose from .80 to .96"
    )
    for reported in (
        "Positives are as frequent as before: prevalence is not the cause.",
        "These two alone do not show a worse model.",
        "Recall rose at the cost of precision: more negatives are flagged.",
        "Labelled scores of both times, which distinguish a slide from a worse model, are not",
        "Skill (log LR+) certainly fell, by 1.61 ± 0.02, but it does so by itself when more cases",
        "First see what was changed between before and after",
    ):
        assert reported in text


def test_a_point_below_the_curve_is_not_as_good_as_before_though_skill_is():
    diagnosis = found(MANY, (6_000, 3_350, 4_000, 86_650))
    assert diagnosis.judgement.status["log_likelihood_ratio"] == "clean"
    slid = " ".join(explanation(diagnosis))
    text = " ".join(explanation(replace(diagnosis, below_reference_curve=True)))
    assert "The model tells positives from others as well as before." in slid
    assert "The scores show a worse model" in text
    assert "as well as before" not in text
    assert "Skill (log LR+) is as before, as where a higher threshold makes up" in text


def test_better_precision_for_missed_positives_is_no_good_news():
    diagnosis = found((8_000, 4_500, 2_000, 85_500), (4_800, 1_000, 5_200, 89_000))
    text = " ".join(explanation(diagnosis))
    assert text.startswith("Recall fell from .80 to .48; the false positive rate fell from .050 to")
    assert "Precision rose at the cost of recall: more positives are missed." in text


def test_a_worse_model_says_by_which_rate():
    worse = explanation(found(MANY, (6_000, 4_500, 4_000, 85_500)))
    assert worse[0].startswith("Recall fell from .80 to .60 (points of precision: recall -")
    assert worse[1] == "Positives are as frequent as before: prevalence is not the cause."


def test_skill_that_fell_behind_a_better_precision_is_reported():
    diagnosis = found(MANY, (285, 128, 90, 1_997))
    text = " ".join(explanation(diagnosis))
    assert diagnosis.verdict == "insufficient_evidence"
    assert "Skill (log LR+) certainly fell, by 0.24 ± 0.09; the change of recall" in text
    assert "Precision rose all the same: it does not show that skill fell." in text
    assert "Likely, not certainly: false positives rose (-" in text


@pytest.mark.parametrize("name", [*CASES, *PAIRS])
def test_no_open_question_goes_without_a_sentence(name):
    pair = CASES.get(name)
    diagnosis = found(*pair) if pair else diagnose(*map(period, PAIRS[name][:2]))
    clear = {"no_change", "prevalence_shift"}
    assert explanation(diagnosis) or str(diagnosis.verdict) in clear


def test_fewer_positives_are_named_where_skill_is_open():
    diagnosis = found((300, 170, 75, 3_200), (110, 150, 45, 3_700))
    assert str(diagnosis.verdict) == "insufficient_evidence"
    text = diagnosis_text(diagnosis)
    assert "certainly fewer positives. Whether skill changed is open." in text.splitlines()[0]
    assert explanation(diagnosis)[0].startswith("There are certainly fewer positives; ")


@pytest.mark.parametrize(
    ("after", "odds", "way", "why"),
    [
        ((8_120, 5_500, 1_880, 84_500), "-0.14 ± 0.04", "worse", "skill fell, but too little"),
        ((756, 450, 244, 8_550), "-0.26 ± 0.09", "worse", "recall fell from .80 to .76; worse"),
        ((7_880, 3_700, 2_120, 86_300), "+0.13 ± 0.04", "better", "skill rose, but too little"),
    ],
)
def test_one_rate_that_moved_alone_is_weighed_by_the_odds_ratio(after, odds, way, why):
    diagnosis = found(MANY, after)
    assert diagnosis.verdict == "insufficient_evidence"
    text = " ".join(explanation(diagnosis))
    assert f"(log odds ratio) moved by {odds}: too little to distinguish a {way}" in text
    assert "as well as before" not in text
    reported = headline(diagnosis)
    assert len(reported) <= 100
    assert why in reported
    assert any("See whether the threshold" in sentence for sentence in advice(diagnosis))


def test_the_headline_does_not_deny_the_cause_that_the_answer_below_it_names():
    """Precision certainly moved, no rate certainly did, and one part of the change is certain."""
    usual = (400, 225, 100, 4_275)
    for after in ((244, 184, 86, 3_486), (357, 288, 73, 4_282)):
        diagnosis = found(usual, after)
        assert diagnosis_answer(diagnosis).moved_precision.cause is not None
        assert headline(diagnosis).endswith(
            ": too little evidence to say whether the model is at fault."
        )


def test_labels_at_fault_never_stand_beside_a_worse_model():
    fell = found(MANY, (6_000, 4_500, 4_000, 85_500))
    below = replace(fell, below_reference_curve=True)
    judged = replace(fell.judgement, labels_may_explain=True)
    judged = replace(judged, verdict=Verdict.LABELS_NOT_TRUSTWORTHY)
    changed = replace(below, judgement=judged, verdict=judged.verdict)
    assert judged.label_errors_changed
    texts = [" ".join(explanation(one)) for one in (below, changed)]
    assert ["The scores show a worse model" in text for text in texts] == [True, False]


def test_scores_that_leave_labels_open_do_not_show_a_worse_model():
    fell = found(MANY, (6_000, 4_500, 4_000, 85_500))
    judged = replace(fell.judgement, labels_may_explain=True, verdict=Verdict.INSUFFICIENT_EVIDENCE)
    below = replace(fell, below_reference_curve=True, judgement=judged, verdict=judged.verdict)
    text = " ".join(explanation(below))
    assert not judged.label_errors_changed
    assert "The scores show a worse model" not in text
    assert (
        "another threshold alone does not explain it, but a worse model does, and so do other "
        "labels."
    ) in text


@pytest.mark.parametrize(("answer", "settled"), [("yes", True), ("not_shown", False)])
def test_the_page_does_not_dispute_that_a_model_is_worse(answer, settled):
    """A model that pages is worse, also where the range that is compared leaves it open."""
    printed = diagnosis_answer(found(*CASES["likely fell"]))
    printed = msgspec.structs.replace(
        printed,
        verdict=Verdict.INSUFFICIENT_EVIDENCE,
        verdict_because=Because.MOVED,
        worse=msgspec.structs.replace(printed.worse, answer=answer),
    )
    page = plain(str(why_section(printed)))
    assert ("Moved, not settled" not in page) == settled
    assert ("whether the model got worse is not shown" not in page) == settled
    assert ("Model degraded" in page) == settled


@pytest.mark.parametrize(
    ("odds", "said"),
    [
        (0.24, "it separates the classes worse: odds ratio 0.24 times that before"),
        (3.0, "it separates the classes better: odds ratio 3 times that before"),
    ],
)
def test_an_odds_ratio_that_alone_moved_says_which_way(odds, said):
    judgement = found(*CASES["as before"]).judgement
    judgement = replace(judgement, change={**judgement.change, "odds_ratio": math.log(odds)})
    rates = {"recall": (0.8, 0.7), "false_positive_rate": (0.05, 0.06)}
    assert how_rates_moved(rates, judgement) == said
