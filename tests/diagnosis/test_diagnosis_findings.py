import json
import math
from dataclasses import replace

import numpy as np
import pytest
from diagnosis.episodes import given
from hypothesis import example, settings
from hypothesis import given as drawn
from hypothesis import strategies as st

from monitor.config import Labelling
from monitor.counts import ConfusionCounts
from monitor.diagnosis import Period, diagnose
from monitor.drift import Status, Verdict
from monitor.drift.verdict import DEGRADED
from monitor.events.columns import Series
from monitor.report.diagnosis_json import diagnosis_json
from monitor.report.diagnosis_text import COLUMNS, diagnosis_text

DAY_MS = 86_400_000
METRICS = (
    "precision",
    "balanced_precision",
    "recall",
    "false_positive_rate",
    "prevalence",
    "class_ratio",
)
SIDE = {"open", "close", "outcomes", *METRICS}
CONTRACT = {
    "model",
    "before",
    "after",
    "change",
    "attribution",
    "log_likelihood_ratio",
    "blocks",
    "operating_point_moved",
    "verdict",
    "main_driver",
    "segments",
}
BEFORE = given(tp=80_000, fp=45_000, fn=20_000, tn=855_000)


def cut(opens, rows, *, days=30, predictions=None, key="kind"):
    """A period of equal days; rows are (value of the segment key, tp, fp, fn, tn) a day."""
    cells = {value: np.tile(np.array(row), (days, 1)) for value, *row in rows}
    total = ConfusionCounts.from_cells(sum(cells.values()))
    return Period(
        opens=opens * DAY_MS,
        closes=(opens + days) * DAY_MS,
        blocks=total,
        by_day=total,
        block_ms=DAY_MS,
        predictions=predictions or int(sum(c.sum() for c in cells.values())),
        segments={
            Series("m", key, value): ConfusionCounts.from_cells(c) for value, c in cells.items()
        },
    )


cases = st.one_of(st.integers(0, 40), st.integers(0, 100_000))
tables = st.tuples(cases, cases, cases, cases).map(
    lambda row: given(tp=row[0], fp=row[1], fn=row[2], tn=row[3])
)


@settings(max_examples=150, deadline=None)
@drawn(tables, tables)
@example(given(tp=0, fp=9, fn=4, tn=0), given(tp=6, fp=0, fn=0, tn=2))
def test_whatever_the_counts_the_contract_holds_and_a_person_can_read_it(before, after):
    found = diagnose(before, after)
    printed = json.loads(diagnosis_json(found))
    assert set(printed) >= CONTRACT
    assert set(printed["before"]) >= SIDE
    assert set(printed["attribution"]) == {"prevalence", "recall", "false_positives", "skill"}
    for part in printed["attribution"].values():
        assert set(part) == {"logit", "points", "lower_points", "upper_points", "status", "said"}
    for name in METRICS:
        assert set(printed["after"][name]) == {"estimate", "lower", "upper"}
    text = diagnosis_text(found)
    assert "nan" not in text
    assert "inf " not in text
    assert max(map(len, text.splitlines())) <= COLUMNS
    assert f": {found.verdict}" in text[:700]


@settings(max_examples=100, deadline=None)
@drawn(tables, tables)
def test_the_parts_add_up_without_remainder(before, after):
    found = diagnose(before, after)
    parts = [found.attribution[cause] for cause in ("prevalence", "recall", "false_positives")]
    if not math.isnan(found.change_logit) and not any(math.isnan(part.logit) for part in parts):
        assert sum(part.logit for part in parts) == pytest.approx(found.change_logit, abs=1e-9)
    if not any(math.isnan(part.points) for part in parts):
        assert sum(part.points for part in parts) == pytest.approx(found.change_points, abs=1e-9)


def test_statuses_are_those_of_the_components():
    found = diagnose(BEFORE, given(tp=2_500, fp=4_750, fn=2_500, tn=90_250))
    statuses = {cause: part.status for cause, part in found.attribution.items()}
    assert statuses == {
        "prevalence": Status.CHANGED,
        "recall": Status.CHANGED,
        "false_positives": Status.CLEAN,
        "skill": Status.CHANGED,
    }
    assert found.verdict is Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED
    assert "the model got worse, and positives became rarer" in diagnosis_text(found)


@pytest.mark.parametrize(
    ("after", "verdict", "reported"),
    [
        ((8_000, 4_500, 2_000, 85_500), "no_change", "neither prevalence nor the model changed"),
        ((4_000, 4_750, 1_000, 90_250), "prevalence_shift", "The model is not at fault"),
        ((6_000, 4_500, 4_000, 85_500), "model_degraded", "the model got worse"),
        ((9_500, 4_500, 500, 85_500), "model_improved", "the model got better"),
        (
            (4_750, 4_750, 250, 90_250),
            "prevalence_shift_and_model_improved",
            "the model got better, and positives became rarer",
        ),
        ((9_000, 9_000, 1_000, 81_000), "operating_point_moved", "threshold or scores moved"),
        ((8, 4, 2, 86), "insufficient_evidence", "too few outcomes to tell"),
        ((0, 0, 0, 0), "insufficient_evidence", "too few outcomes to tell"),
    ],
)
def test_every_verdict_has_its_headline_in_one_line(after, verdict, reported):
    cells = dict(zip(("tp", "fp", "fn", "tn"), after, strict=True))
    found = diagnose(BEFORE, given(**cells))
    first, *rest = diagnosis_text(found).splitlines()
    assert found.verdict == verdict
    assert reported in first
    assert len(first) <= COLUMNS
    assert rest[0].startswith("What moved precision?")
    assert any(line.startswith(f"{found.model}: {verdict}") for line in rest)


def test_what_a_regime_does_not_allow_is_refused_with_its_reason():
    labelling, after = Labelling.FLAGGED_ONLY, given(tp=4_000, fp=4_750, fn=0, tn=0)
    found = diagnose(BEFORE, after, labelling=labelling)
    printed = json.loads(diagnosis_json(found))
    assert printed["verdict"] == "labels_not_trustworthy"
    nothing = {"estimate": None, "lower": None, "upper": None}
    assert all(
        printed[side][name] == nothing for side in ("before", "after") for name in METRICS[1:]
    )
    assert {part["points"] for part in printed["attribution"].values()} == {None}
    assert {part["status"] for part in printed["attribution"].values()} == {"unknown"}
    assert printed["log_likelihood_ratio"] == {"change": None, "se": None, "status": "unknown"}
    assert printed["main_driver"] == {"cause": None, "share": None, "certain": False}
    assert (printed["fell"], printed["rose"], printed["segments"]) == ([], [], [])
    assert str(labelling) in printed["notes"][0]
    assert str(labelling) in diagnosis_text(found)


def test_flagged_only_keeps_precision_and_its_change():
    found = diagnose(BEFORE, given(tp=4, fp=6, fn=0, tn=0), labelling=Labelling.FLAGGED_ONLY)
    assert found.after.metrics["precision"].estimate == pytest.approx(0.4)
    assert found.change_points == pytest.approx(0.4 - 0.64)
    assert math.isfinite(found.change_logit)


def test_a_change_of_mix_alone_is_not_laid_to_the_model():
    easy, hard = (180, 20, 20, 1780), (30, 10, 30, 890)
    before = cut(0, [("easy", *easy), ("hard", *hard)])
    after = cut(50, [("easy", 90, 10, 10, 890), ("hard", 90, 30, 90, 2670)])
    found = diagnose(before, after)
    assert found.judgement.verdict is not found.verdict
    assert found.judged_within == "kind"
    assert found.verdict in {Verdict.NO_CHANGE, Verdict.PREVALENCE_SHIFT}
    assert "the mix of kind changed" in diagnosis_text(found).splitlines()[0]
    assert any("mix" in note for note in found.notes)


def test_another_mix_of_versions_is_another_model():
    easy, hard = (180, 20, 20, 1780), (30, 10, 30, 890)
    before = cut(0, [("6", *easy), ("7", *hard)], key="version")
    after = cut(50, [("6", 90, 10, 10, 890), ("7", 90, 30, 90, 2670)], key="version")
    found = diagnose(before, after)
    assert found.judged_within is None
    assert found.verdict is found.judgement.verdict
    assert found.verdict in DEGRADED


def test_segments_add_up_and_the_one_that_carries_it_stands_first():
    usual = (80, 45, 20, 855)
    before = cut(0, [("a", *usual), ("b", *usual), ("c", *usual), ("tiny", 0, 0, 0, 1)])
    broken = (40, 45, 60, 855)
    after = cut(40, [("a", *usual), ("b", *broken), ("c", *usual), ("tiny", 0, 0, 0, 1)])
    found = diagnose(before, after)
    assert found.verdict is Verdict.MODEL_DEGRADED
    assert sum(p.within_logit + p.mix_logit for p in found.segments) == pytest.approx(
        found.change_logit, abs=1e-9
    )
    assert sum(p.points for p in found.segments) == pytest.approx(found.change_points, abs=1e-9)
    worst = found.segments[0]
    assert (worst.series.value, worst.carries) == ("b", ("recall",))
    assert [p.series.value for p in found.segments if p.carries] == ["b"]
    assert worst.within["recall"] == pytest.approx(found.attribution["recall"].logit, rel=0.02)
    tiny = found.segments[-1]
    assert (tiny.series.value, tiny.small_sample, tiny.carries) == ("tiny", True, ())
    assert "Look at these segments first: kind=b." in diagnosis_text(found)


def test_a_value_that_grows_without_being_unlike_the_rest_contributes_nothing_by_mix():
    before = cut(0, [("a", 80, 45, 20, 855), ("b", 80, 45, 20, 855)])
    after = cut(40, [("a", 40, 22, 10, 428), ("b", 160, 90, 40, 1710)])
    found = diagnose(before, after)
    assert [part.mix_logit for part in found.segments] == pytest.approx([0, 0], abs=0.01)


@pytest.mark.parametrize(("value", "shared"), [("a", True), ("b", False)])
def test_a_key_without_a_value_on_both_sides_has_no_mix(value, shared):
    before = cut(0, [("a", 80, 45, 20, 855)], key="version")
    after = cut(40, [(value, 60, 45, 40, 855)], key="version")
    text = diagnosis_text(diagnose(before, after))
    assert ("By the mix of their values alone, log-odds: version" in text) is shared
    assert ("No value of version is on both sides: its mix" in text) is not shared


def test_a_class_ratio_far_from_that_of_before_gives_a_caution():
    far = diagnose(BEFORE, given(tp=800, fp=4_995, fn=200, tn=94_905))
    near = diagnose(BEFORE, given(tp=8_000, fp=4_500, fn=2_000, tn=85_500))
    assert any(note.startswith("CAUTION: the class ratio is") for note in far.notes)
    assert not any("CAUTION" in note for note in near.notes)


def test_labels_still_to_come_are_noted():
    before = cut(0, [("a", 80, 45, 20, 855)])
    after = cut(40, [("a", 80, 45, 20, 855)], predictions=40_000)
    late = diagnose(before, after, mature_until=65 * DAY_MS)
    assert any("10,000 of its predictions have no label yet" in note for note in late.notes)
    assert any("25.0 % after" in note for note in late.notes)
    assert "Wait for labels" in diagnosis_text(late)
    assert not any(
        "not mature" in note for note in diagnose(before, after, mature_until=70 * DAY_MS).notes
    )


def test_no_label_is_still_to_come_where_every_prediction_has_one():
    before, after = (cut(day, [("a", 80, 45, 20, 855)]) for day in (0, 40))
    late = diagnose(before, after, mature_until=65 * DAY_MS)
    assert not any("not mature" in note for note in late.notes)


def test_no_threshold_is_advised_where_wrong_labels_explain_the_change():
    before = cut(0, [("a", 1_600, 980, 400, 97_020)])
    text = diagnosis_text(diagnose(before, cut(40, [("a", 1_594, 986, 1_366, 96_054)])))
    assert "Have 20 cases looked at again" in text
    assert "threshold anew" not in text
    assert "page the data team" not in text


def test_what_is_certain_is_named_where_the_verdict_is_not():
    found = diagnose(given(tp=80, fp=45, fn=20, tn=855), given(tp=8, fp=49, fn=2, tn=941))
    assert found.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert found.judgement.fell == ("class_ratio",)
    text = diagnosis_text(found)
    assert "Certainly fell: the class ratio." in text
    assert "whether these changed: recall (" in text
    assert "times the data would settle" in text


@pytest.mark.parametrize(
    ("error", "advised"), [(0.15, "a little more data would settle"), (0.2, "about 1.3 times the")]
)
def test_as_much_data_as_there_is_is_not_advised(error, advised):
    found = diagnose(given(tp=80, fp=45, fn=20, tn=855), given(tp=8, fp=49, fn=2, tn=941))
    judgement = replace(
        found.judgement,
        change=found.judgement.change | {"log_likelihood_ratio": -0.46},
        standard_error=found.judgement.standard_error | {"log_likelihood_ratio": error},
    )
    advice = " ".join(diagnosis_text(replace(found, judgement=judgement)).split())
    assert advised in advice
    assert "1.0 times" not in advice


@pytest.mark.parametrize(
    ("learned", "advised"),
    [(False, "narrow the range of label_errors"), (True, "have more labels audited")],
)
def test_limits_of_label_errors_are_named_where_they_are_what_is_wide(learned, advised):
    """At other possible rates of wrong labels skill moved the other way, however many the data."""
    found = diagnose(given(tp=80, fp=45, fn=20, tn=855), given(tp=8, fp=49, fn=2, tn=941))
    moved = [
        replace(
            found.judgement,
            change=found.judgement.change | {"log_likelihood_ratio": change},
            standard_error=found.judgement.standard_error | {"log_likelihood_ratio": 0.05},
        )
        for change in (-0.07, -0.3, 0.16)
    ]
    judgement = replace(moved[0], at_rates=tuple(moved[1:]))
    text = diagnosis_text(replace(found, judgement=judgement, rates_learned=learned))
    advice = " ".join(text.split())
    assert "More data alone would not settle whether skill changed" in advice
    assert advised in advice
    assert "a little more data" not in advice
