"""The table of metrics of scores that `replay --summary` prints."""

from drawn_scores import by_day, drawn

from monitor.metrics.label_errors import ErrorRates
from monitor.metrics.score_skill import ScoreSkill
from monitor.report.score_text import UNDEFINED, scores_summary

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


def test_without_scores_there_is_no_table() -> None:
    assert list(scores_summary({})) == []
