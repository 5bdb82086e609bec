"""Which segment values' ROC curve moved: those alone, certainly, and never of too few scores."""

import math
from dataclasses import replace

import numpy as np
import pytest
from drawn_scores import counted, stacked
from scipy.special import ndtr

from monitor.counts import ConfusionCounts
from monitor.diagnosis import Period, diagnose
from monitor.diagnosis.segment_curves import segment_curves
from monitor.events.columns import Series
from monitor.metrics.score_changes import score_change
from monitor.metrics.score_statistics import AREA_UNDER_ROC
from monitor.report.curve_change_text import MOST, curve_change_lines, curve_sentences
from monitor.report.diagnosis_json import diagnosis_answer
from monitor.report.diagnosis_text import COLUMNS, diagnosis_text

DAY_MS = 86_400_000
WEB, SHOP, PHONE = (Series("m", "channel", name) for name in ("web", "shop", "phone"))
NEW = Series("m", "version", "v2")


def days(rng, gap, *, cases=400, prevalence=0.3, count=14):
    parts = []
    for _ in range(count):
        truth = rng.random(cases) < prevalence
        parts.append(counted(truth, ndtr(rng.normal(size=cases) + gap * truth - 1)))
    return stacked(parts)


def outcomes(scores):
    """Outcomes by day at the threshold .5."""
    at = len(scores.positive[0]) // 2
    flagged = [side[:, at:].sum(axis=1) for side in (scores.positive, scores.negative)]
    left = [side[:, :at].sum(axis=1) for side in (scores.positive, scores.negative)]
    return ConfusionCounts(tp=flagged[0], fp=flagged[1], fn=left[0], tn=left[1])


def period(by_value, start=0):
    """A period of fourteen days; the values belong to one key, and each has scores."""
    held = [one for one in by_value.values() if one is not None]
    whole = held[0]
    for one in held[1:]:
        whole = whole + one
    blocks = outcomes(whole)
    opens = start * DAY_MS
    return Period(
        opens=opens,
        closes=opens + 14 * DAY_MS,
        blocks=blocks,
        block_ms=DAY_MS,
        predictions=int(blocks.total.sum()),
        predicted_positive=int(blocks.predicted_positive.sum()),
        segments={
            one: ConfusionCounts.zeros(blocks.shape) if s is None else outcomes(s)
            for one, s in by_value.items()
        },
        by_day=blocks,
        scores=whole,
        segment_scores=by_value.get,
    )


def two(rng, after, **before):
    """Before, where all are alike, and after with these gaps between the classes."""
    old = {one: days(rng, 1.8, **before) for one in after}
    new = {one: days(rng, gap) for one, gap in after.items()}
    return period(old), period(new, start=14)


def parts_of(before, after):
    return {part.series: part for part in diagnose(before, after, model="m").segments}


def test_the_value_whose_curve_fell_is_named_and_no_other():
    sides = two(np.random.default_rng(1), {WEB: 0.9, SHOP: 1.8, PHONE: 1.8})
    found = parts_of(*sides)
    assert {one: found[one].curve.moved for one in found} == {WEB: "fell", SHOP: None, PHONE: None}
    curve = found[WEB].curve
    (sentence,) = curve_sentences([*found.values()])
    assert sentence == (
        f"channel=web: the curve fell: area under the ROC curve {curve.before.estimate:.3f} → "
        f"{curve.after.estimate:.3f} ({curve.change.lower:+.3f} to {curve.change.upper:+.3f})"
    )
    assert -0.2 < curve.change.lower < curve.change.upper < -0.05


def test_a_curve_that_rose_comes_behind_those_that_fell():
    sides = two(np.random.default_rng(2), {SHOP: 3.0, WEB: 0.9, PHONE: 1.8})
    fell, rose = curve_sentences([*parts_of(*sides).values()])
    assert fell.startswith("channel=web: the curve fell")
    assert rose.startswith("channel=shop: the curve rose")


def test_p_values_are_corrected_for_all_values_of_all_keys():
    rng = np.random.default_rng(3)
    before, after = two(rng, {WEB: 1.65, SHOP: 1.8, PHONE: 1.8, NEW: 1.8})
    names = [WEB, SHOP, PHONE, NEW]
    found = segment_curves(names, before, after)
    raw = {
        one: score_change(
            before.segment_scores(one), after.segment_scores(one), AREA_UNDER_ROC
        ).p_value
        for one in names
    }
    smallest = min(raw, key=raw.get)
    assert found[smallest].p_value == pytest.approx(min(4 * raw[smallest], 1))
    alone = segment_curves([smallest], before, after)
    assert alone[smallest].p_value == pytest.approx(raw[smallest])


def test_without_a_change_few_comparisons_name_a_value():
    rng = np.random.default_rng(4)
    names = [Series("m", "channel", f"c{n}") for n in range(10)]
    named = 0
    for _ in range(60):
        sides = ({one: days(rng, 1.5, cases=120) for one in names} for _ in range(2))
        before, after = (period(side) for side in sides)
        named += any(curve.moved for curve in segment_curves(names, before, after).values())
    assert named <= 3


def test_few_scores_of_a_class_are_shown_and_never_certain():
    rng = np.random.default_rng(5)
    rare = days(rng, -3.0, cases=20, prevalence=0.07)
    assert 0 < rare.positive.sum() < 30
    before = period({WEB: days(rng, 1.8), SHOP: days(rng, 1.8)})
    after = period({WEB: rare, SHOP: days(rng, 1.8)}, start=14)
    curve = segment_curves([WEB, SHOP], before, after)[WEB]
    assert curve.change.upper < -0.1
    assert math.isnan(curve.p_value)
    assert curve.moved is None


def test_a_missing_class_is_null_a_dash_and_never_zero():
    rng = np.random.default_rng(6)
    negatives = days(rng, 1.8, prevalence=0.0)
    before = period({WEB: days(rng, 1.8), SHOP: days(rng, 1.8), PHONE: None})
    after = period({WEB: negatives, SHOP: days(rng, 1.8), PHONE: days(rng, 1.8)}, start=14)
    found = diagnose(before, after, model="m")
    answer = {part.value: part.curve for part in diagnosis_answer(found).segments}
    web, phone = answer["web"], answer["phone"]
    for missing in (web.after, web.change, phone.before, phone.change):
        assert (missing.estimate, missing.lower, missing.upper) == (None, None, None)
    assert (web.p_value, web.moved, phone.p_value, phone.moved) == (None, None, None, None)
    assert web.before.estimate is not None
    assert phone.after.estimate is not None
    assert (web.scores_after, phone.scores_before) == (int(negatives.negative.sum()), 0)
    (line,) = (row for row in curve_change_lines(found.segments) if row.startswith("channel=web"))
    assert line.split()[-3:] == ["—", "—", "—"]


@pytest.mark.parametrize("missing", ["scores", "segment_scores"])
def test_without_scores_by_segment_value_nothing_is_said_of_curves(missing):
    before, after = two(np.random.default_rng(7), {WEB: 0.9, SHOP: 1.8})
    without = [replace(one, **{missing: None}) for one in (before, after)]
    found = diagnose(*without, model="m")
    assert "ROC curves of segments" not in diagnosis_text(found)
    assert all(not part.curve for part in diagnosis_answer(found).segments)
    assert not diagnosis_answer(found).curves_moved


def test_many_curves_that_fell_are_listed_up_to_a_number():
    names = {Series("m", "channel", f"c{n:02}" + "x" * 40): 0.5 for n in range(MOST + 3)}
    found = diagnose(*two(np.random.default_rng(8), names), model="m")
    assert curve_sentences(found.segments)[MOST:] == ("The curves of 3 more values moved.",)
    lines = [*curve_change_lines(found.segments)]
    assert max(map(len, lines)) <= COLUMNS
    assert lines[-1].startswith(f"{MOST + 3} of {MOST + 3} curves certainly moved")
    text = diagnosis_text(found)
    assert all(line in text for line in lines)
