"""`compare` with scores: the area under each curve; another threshold, or a worse curve."""

import json

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from monitor import compare_versions
from monitor.counts import ConfusionCounts
from monitor.drift import attribute

DAYS, EACH = 14, 12_000
SPREAD = 2.0
"""Standard deviation of positives: the log odds ratio changes along such a curve."""


def table(seed=1, *, threshold=1.1, shift=0.0, segments=None):
    """Version 6 with a threshold of 1.6, version 7 with another one, or a worse curve.

    Args:
        seed: of the cases.
        threshold: of version 7.
        shift: of the positives of version 7.
        segments: share of the easy segment in the cases of 6 and of 7; None for one segment.
    """
    rng, found = np.random.default_rng(seed), {}
    for version, cut, moved in (("6", 1.6, 0.0), ("7", threshold, shift)):
        positive = rng.random(EACH) < 0.15
        share = 0.0 if segments is None else segments[version == "7"]
        easy = rng.random(EACH) < share
        high = rng.normal(2 + moved + 1.5 * easy, SPREAD, EACH)
        value = np.where(positive, high, rng.normal(0, 1, EACH))
        found[version] = {
            "version": np.full(EACH, version),
            "score": expit(value - 1.6),
            "flagged": (value > cut).astype(int),
            "label": positive.astype(int),
            "region": np.where(easy, "easy", "hard"),
            "ts": np.sort(rng.random(EACH)) * DAYS * 86_400,
        }
    return {name: np.concatenate([one[name] for one in found.values()]) for name in found["6"]}


def compared(cases, **columns):
    names = {"version": "version", "prediction": "flagged", "label": "label", "ts": "ts"}
    return compare_versions(cases, ("6", "7"), **names, **columns)


def test_one_curve_and_another_threshold_are_told_by_scores_alone():
    cases = table()
    report = compared(cases, score="score")
    assert report.headline.startswith("Versions 7 and 6 differ in their threshold: recall ")
    assert "on one ROC curve as far as scores show (area under it .8" in report.headline
    found = report.to_dict()
    assert (found["verdict"], found["because"]) == ("not_shown", "another_threshold")
    assert found["from_roc_curve"]["position"] == "on"
    assert "area under ROC curve" in str(report)
    parts = "Of the model and the mix together, movement along the ROC curve accounts for -"
    assert parts in str(report)
    without = compared({name: column for name, column in cases.items() if name != "score"})
    assert "has another operating point" in without.headline
    assert without.to_dict()["because"] == "another_operating_point"
    assert not {"scores", "from_roc_curve"} & without.to_dict().keys()
    assert "ROC" not in str(without)
    assert json.loads(json.dumps(found)) == found


def test_areas_are_those_of_scikit_learn_and_limits_hold_them():
    cases = table(2, shift=-1.0)
    scores = compared(cases, score="score").to_dict()["scores"]
    areas = []
    for version in ("6", "7"):
        mine = cases["version"] == version
        areas.append(roc_auc_score(cases["label"][mine], cases["score"][mine]))
    for name, area in zip("ab", areas, strict=True):
        found = scores[f"roc_auc_{name}"]
        assert found["estimate"] == pytest.approx(area, abs=1e-3)
        assert found["lower"] < area < found["upper"]
    difference = scores["roc_auc_difference"]
    assert difference["estimate"] == pytest.approx(areas[1] - areas[0], abs=1e-3)
    assert difference["upper"] < 0


def test_threshold_and_curve_add_up_to_the_part_of_skill():
    report = compared(table(3, shift=-0.5), score="score")
    before, after = report.compared.comparison.counts
    skill = attribute(*(ConfusionCounts.from_cells(one.cells) for one in (before, after)))
    parts = report.compared.scores.parts
    assert parts.threshold.points + parts.curve.points == pytest.approx(skill.points["skill"])
    assert parts.threshold.logit + parts.curve.logit == pytest.approx(skill.logit["skill"])
    assert parts.curve.upper_points < 0


@pytest.mark.parametrize("seed", range(4))
def test_a_worse_curve_is_not_taken_for_a_threshold(seed):
    report = compared(table(seed, shift=-0.8), score="score")
    assert report.compared.because != "another_threshold"
    assert report.to_dict()["from_roc_curve"]["position"] == "below"


def test_a_mix_that_hides_a_worse_curve_leaves_it_open():
    """Version 7 is worse in each segment, and gets more of the easy one."""
    report = compared(
        table(5, shift=-0.8, segments=(0.1, 0.6)), score="score", segment={"region": "region"}
    )
    assert report.to_dict()["from_roc_curve"]["position"] != "on"


def test_there_are_no_scores_where_versions_predicted_on_other_days():
    """Version 7 predicts on every other day: what differs between days is none of its scores."""
    cases = table()
    stays = (cases["version"] == "6") | (cases["ts"] // 86_400 % 2 == 0)
    half = {name: column[stays] for name, column in cases.items()}
    assert "scores" in compared(cases, score="score").to_dict()
    assert "scores" not in compared(half, score="score").to_dict()


@pytest.mark.parametrize("seed", range(5))
def test_a_curve_that_certainly_differs_is_no_threshold_alone(seed):
    report = compared(table(seed, shift=-0.3), score="score")
    scores = report.compared.scores
    assert not (report.compared.because == "another_threshold" and scores.change.upper < 0)
    assert scores.curves_differ or scores.parts.curve.upper_points >= 0


def test_a_small_canary_has_no_parts_and_may_have_another_threshold():
    cases = table(6)
    stays = (cases["version"] == "6") | (np.arange(len(cases["ts"])) % 12 == 0)
    report = compared({name: one[stays] for name, one in cases.items()}, score="score")
    assert report.compared.because == "too_few_outcomes"
    assert "scores leave another threshold possible; about " in report.headline
    assert "takes 200 positives of each version." in str(report)
    assert "movement along the ROC curve accounts for" not in str(report)


def test_areas_of_other_days_say_why_they_are_left_out():
    cases = table()
    stays = (cases["version"] == "6") | (cases["ts"] // 86_400 % 2 == 0)
    report = compared({name: one[stays] for name, one in cases.items()}, score="score")
    assert report.to_dict()["on_unlike_days"] is True
    assert report.to_dict()["from_roc_curve"]["lower"] < 0
    assert "areas under the ROC curves are not compared: " in " ".join(str(report).split())
    assert "on_unlike_days" not in compared(cases, score="score").to_dict()


def test_scores_of_the_new_version_on_a_scale_of_few_bins_are_no_other_curve():
    cases = table()
    rescaled = np.where(cases["version"] == "7", cases["score"] / 1_001, cases["score"])
    found = compared(cases | {"score": rescaled}, score="score").compared
    assert found.scores.change.upper < 0
    assert not found.scores.curves_differ
    assert found.because == "another_threshold"


def test_the_curve_is_named_where_it_decides():
    report = compared(table(3, shift=-1.0), score="score")
    assert report.headline.startswith("Version 7 is worse than 6: ")
    assert "which decides: -0." in " ".join(str(report).split())


def test_of_a_version_that_flags_next_to_nothing_the_curve_does_not_decide():
    report = compared(table(threshold=6.5), score="score")
    found = report.to_dict()
    assert (found["verdict"], found["from_roc_curve"]["decides"]) == ("worse", False)
    text = " ".join(str(report).split())
    assert "Version 7 hardly tells the classes apart, which decides." in text
    assert text.count("which decides") == 1
    assert "which does not decide: " in report.to_html()
    assert compared(table(), score="score").to_dict()["from_roc_curve"]["decides"] is True
