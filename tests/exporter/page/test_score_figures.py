"""The tables of the metrics of scores."""

import re

import htpy as h
import numpy as np
from drawn_scores import by_day, drawn

from monitor.counts import ConfusionCounts
from monitor.diagnosis.compared_scores import ComparedScores
from monitor.drift.implied_threshold import FlaggedScores, implied_thresholds
from monitor.exporter.page.score_figures import scores_panel
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.recalibration import recalibration
from monitor.metrics.score_skill import ScoreSkill
from monitor.report.score_answer import compared_scores, score_metrics
from monitor.report.score_words import MAIN_SCORE_WORDS, SCORE_WORDS

REFERENCE = ConfusionCounts(tp=300, fn=100, fp=100, tn=1500)


def shown(*sides, recalibration=None, thresholds=None):
    """The panel of two periods of seven days."""
    found = ComparedScores(
        **dict(zip(("before", "after"), sides, strict=True)),
        **dict.fromkeys(("roc_before", "roc_after", "slide", "parts")),
        thresholds=thresholds,
        recalibration=recalibration,
        threshold=None,
    )
    return str(h.div[scores_panel(compared_scores(found))])


def skill(seed, sharpness=1.0):
    return ScoreSkill(by_day=by_day(*drawn(seed, 3_000, sharpness), 7), reference=REFERENCE)


def test_the_threshold_that_scores_imply_is_named():
    days = skill(1).by_day
    flagged = (days.positive + days.negative)[:, 600:].sum(axis=1)
    found = implied_thresholds(*(FlaggedScores(flagged, days) for _ in range(2)))
    page = shown(skill(1), skill(1), thresholds=found)
    assert re.search(r"<p>Cases are flagged from a score of about 0\.(599|600), before and", page)
    assert "Cases are flagged" not in shown(skill(1), skill(1))


def test_the_main_metrics_are_in_sight_and_the_others_folded():
    page = shown(skill(1), skill(2, 1.4))
    in_sight, folded = page.split('<details id="score-metrics">')
    in_sight = in_sight[in_sight.index('<table class="scores-table">') :]
    rows = [re.findall(r'<th scope="row">(.*?)</th>', part) for part in (in_sight, folded)]
    assert [len(part) for part in rows] == [7, 10]
    assert [len(MAIN_SCORE_WORDS), len(SCORE_WORDS)] == [7, 17]
    cells = re.findall(r"<td>(.*?)</td>", page)
    assert len(cells) == 3 * 17
    assert all(re.fullmatch(r"\S+ \(\S+ to \S+\)", cell) for cell in cells)
    assert not any("-" in cell for cell in cells)


def test_ties_that_hide_much_of_the_area_are_said_below_the_table():
    truth, score = drawn(3, 3_000)
    hidden = ScoreSkill(by_day=by_day(truth, score / 100, 7), reference=REFERENCE)
    assert "the area under the ROC curve of after may be" in shown(skill(1), hidden)
    assert "in bins of .001" not in shown(skill(1), skill(2))


def test_metrics_that_bins_hide_are_named_below_the_table():
    truth, score = drawn(3, 3_000)
    hidden = ScoreSkill(by_day=by_day(truth, score / 5_000, 7), reference=REFERENCE)
    assert score_metrics(hidden).hidden_by_bins == hidden.hidden_by_bins
    page = shown(skill(1), hidden)
    assert "log loss and balanced log loss of after are undefined, because they depend" in page
    assert "of before are undefined" not in page


def test_the_key_of_json_that_holds_a_correction_is_code_on_the_page():
    rows = np.zeros((2, 7, 1000), dtype=np.int64)
    rows[0, :, 600:602], rows[1, :, 598:601] = 50, 200
    found = ScoreHistogram(positive=rows[0], negative=rows[1], unlabelled=np.zeros_like(rows[0]))
    page = shown(skill(1), skill(2), recalibration=recalibration(found, 0.5))
    assert "replace them by the rates of <code>--json</code>: on days" in page
    assert "`" not in page


def test_a_period_without_scores_has_dashes():
    page = shown(None, skill(1))
    assert page.count("<td>—</td>") == 2 * 17
