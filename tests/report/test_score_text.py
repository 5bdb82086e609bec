"""The table of metrics of scores that `replay --summary` prints."""

from drawn_scores import by_day, drawn

from monitor.diagnosis.compared_scores import ComparedScores
from monitor.metrics.label_errors import ErrorRates
from monitor.metrics.score_skill import ScoreSkill
from monitor.report.score_text import score_lines, scores_summary
from monitor.report.table_cells import UNDEFINED

SCORES = by_day(*drawn(3, cases=7_000, sharpness=1.3), 7)
NOTE = "  corrected for wrong labels (label_errors), but for the precision-recall-gain area"


def test_the_table_says_that_it_is_corrected_for_wrong_labels() -> None:
    labelled = {"7d": ScoreSkill(by_day=SCORES)}
    corrected = {"7d": ScoreSkill(by_day=SCORES, errors=ErrorRates(0.01, 0.05))}
    before, after = (list(scores_summary(scores)) for scores in (labelled, corrected))
    assert NOTE not in before
    assert NOTE in after
    (gain,) = (line for line in after if "precision-recall-gain area  " in line)
    assert gain.endswith(UNDEFINED)


def test_below_the_table_stands_which_metrics_bins_hide() -> None:
    truth, score = drawn(3, cases=7_000)
    near_0 = {"7d": ScoreSkill(by_day=by_day(truth, score / 5_000, 7))}
    lines = list(scores_summary(near_0))
    (loss,) = (line for line in lines if line.startswith("  log loss  "))
    assert loss.endswith(UNDEFINED)
    said = "calibration in the large, log loss and balanced log loss of 7d are undefined"
    assert said in " ".join(lines)
    assert "undefined" not in " ".join(scores_summary({"7d": ScoreSkill(by_day=SCORES)}))


def test_a_diagnosis_names_those_of_its_table() -> None:
    truth, score = drawn(3, cases=7_000)
    near_0 = ScoreSkill(by_day=by_day(truth, score / 5_000, 7))
    parts = (
        "roc_before",
        "roc_after",
        "slide",
        "parts",
        "thresholds",
        "recalibration",
        "threshold",
    )
    found = ComparedScores(before=ScoreSkill(by_day=SCORES), after=near_0, **dict.fromkeys(parts))
    said = " ".join(score_lines(found))
    assert "bins of .001: calibration slope of after is undefined, because it depends" in said
    assert "slope of before" not in said


def test_without_scores_there_is_no_table() -> None:
    assert list(scores_summary({})) == []
