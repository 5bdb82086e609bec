import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.counts import ConfusionCounts
from monitor.drift.class_ratio_detector import ClassRatioDetector
from monitor.drift.components import DAY, HOUR
from monitor.drift.detectors import ShiryaevRoberts, margin_of, page_threshold
from monitor.drift.dispersion import Dispersion
from monitor.drift.profile import SeasonalProfile
from monitor.drift.river_detector import RiverDetector
from monitor.drift.shiryaev_roberts import Mixture, gains
from monitor.errors import UsageError

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())
REFERENCE = ConfusionCounts(tp=32_000, fp=18_000, fn=8_000, tn=342_000)
GOOD = ConfusionCounts(tp=80, fp=45, fn=20, tn=855)
WORSE = ConfusionCounts(tp=60, fp=45, fn=40, tn=855)


def alarms(detector, panes: list[ConfusionCounts]) -> list[bool]:
    return [bool(detector.update(pane)) for pane in panes]


@pytest.mark.parametrize("case", GOLDEN["sr_edetector"])
def test_golden_statistics(case: dict) -> None:
    given_ = case["input"]
    p0 = float(given_["p0"])
    steps = given_["direction"] * np.array([float(step) for step in given_["logodds_deltas"]])
    hit, miss = gains(np.array(np.log(p0 / (1 - p0))), steps)
    mixture = Mixture(np.full(hit.shape, -np.inf), ceiling=700.0)
    found = [
        float(mixture.update(hit * x + miss * (n - x)))
        for x, n in zip(given_["x"], given_["n"], strict=True)
    ]
    assert found == pytest.approx(case["expected"], rel=1e-12)


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), min_size=1, max_size=30))
def test_log_statistics_follow_the_plain_recursion(rows: list[tuple[int, int]]) -> None:
    hit, miss = gains(np.array(0.5), np.array([-0.3, -0.6]))
    mixture, plain = Mixture(np.full(2, -np.inf), ceiling=700.0), np.zeros(2)
    for x, y in rows:
        mixture.update(hit * x + miss * y)
        plain = np.minimum((1 + plain) * np.exp(hit * x + miss * y), np.exp(700.0))
    np.testing.assert_allclose(np.exp(mixture.log_statistics), plain, rtol=1e-9)


def test_a_page_needs_recall_to_fall_or_false_positives_to_rise() -> None:
    better = ConfusionCounts(tp=95, fp=20, fn=5, tn=880)
    noisier = ConfusionCounts(tp=80, fp=90, fn=20, tn=810)
    for pane, pages in ((GOOD, False), (better, False), (WORSE, True), (noisier, True)):
        detector = ShiryaevRoberts(reference=REFERENCE, threshold=2e5)
        assert alarms(detector, [pane] * 20)[-1] is pages
    assert set(detector.by_side()) == {"recall", "false_positive_rate"}
    assert detector.by_side()["false_positive_rate"] >= 1 > detector.by_side()["recall"]


def test_prevalence_moves_no_evidence_of_skill() -> None:
    rng = np.random.default_rng(0)
    detector = ShiryaevRoberts(reference=REFERENCE, threshold=2e5)
    for prevalence in np.repeat([0.1, 0.5, 0.01, 0.0], 100):
        positive = rng.binomial(1_000, prevalence, 100)
        tp, fp = rng.binomial(positive, 0.8), rng.binomial(1_000 - positive, 0.05)
        pane = ConfusionCounts(tp=tp, fp=fp, fn=positive - tp, tn=1_000 - positive - fp)
        assert not detector.update(pane).any()


def test_precision_that_rises_does_not_hide_a_fall_of_recall() -> None:
    masked = ConfusionCounts(tp=120, fp=40, fn=80, tn=760)
    detector = ShiryaevRoberts(reference=REFERENCE, threshold=2e5)
    assert alarms(detector, [masked] * 3)[-1]


def test_many_series_are_watched_as_one_by_one() -> None:
    rng = np.random.default_rng(1)
    references = ConfusionCounts.from_cells(rng.poisson([8_000, 4_500, 2_000, 85_500], (2, 3, 4)))
    together = ShiryaevRoberts(reference=references, threshold=1e3)
    alone = [
        [ShiryaevRoberts(reference=references[i, j], threshold=1e3) for j in range(3)]
        for i in range(2)
    ]
    for _ in range(30):
        pane = ConfusionCounts.from_cells(rng.poisson([65, 45, 28, 855], (2, 3, 4)))
        found = together.update(pane)
        assert found.shape == (2, 3)
        assert found.dtype == bool
        expected = [[bool(alone[i][j].update(pane[i, j])) for j in range(3)] for i in range(2)]
        assert found.tolist() == expected
    assert found.any()


def test_one_reference_serves_series_of_any_shape() -> None:
    for shape in ((), (3,), (2, 3), (0,)):
        pane = ConfusionCounts(tp=np.full(shape, 50), fp=45, fn=50, tn=855)
        detector = ShiryaevRoberts(reference=REFERENCE, threshold=1e3)
        for _ in range(5):
            alarm = detector.update(pane)
        assert alarm.shape == shape
        assert alarm.all()


def test_the_alarm_is_at_the_threshold_and_evidence_is_relative_to_it() -> None:
    detector = ShiryaevRoberts(reference=REFERENCE, threshold=1e9)
    detector.update(WORSE)
    detector.update(WORSE)
    level = float(detector.evidence) * 1e9
    for threshold, expected in ((level * 0.999, True), (level * 1.001, False)):
        again = ShiryaevRoberts(reference=REFERENCE, threshold=threshold)
        assert alarms(again, [WORSE, WORSE])[-1] is expected


def test_state_carries_over_a_restart_exactly() -> None:
    rng = np.random.default_rng(2)
    panes = [ConfusionCounts.from_cells(rng.poisson([70, 45, 25, 855], (3, 4))) for _ in range(20)]
    through = ShiryaevRoberts(reference=REFERENCE, threshold=1e4)
    first = ShiryaevRoberts(reference=REFERENCE, threshold=1e4)
    assert first.state() == {}
    for pane in panes[:10]:
        through.update(pane)
        first.update(pane)
    second = ShiryaevRoberts(reference=REFERENCE, threshold=1e4)
    second.restore({name: np.array(a.tolist()) for name, a in first.state().items()})
    assert second.evidence.tolist() == first.evidence.tolist()
    for pane in panes[10:]:
        assert through.update(pane).tolist() == second.update(pane).tolist()
    assert second.evidence.tolist() == through.evidence.tolist()


def test_a_state_with_other_sides_is_refused() -> None:
    detector = ShiryaevRoberts(reference=REFERENCE, threshold=1e4)
    with pytest.raises(ValueError, match="state must hold"):
        detector.restore({"precision": np.zeros(4)})


def test_a_small_reference_is_warming_up_and_never_alarms() -> None:
    enough = ConfusionCounts(tp=800, fp=500, fn=200, tn=9_500)
    few_positives = ConfusionCounts(tp=799, fp=500, fn=200, tn=9_500)
    few_false = ConfusionCounts(tp=800, fp=499, fn=200, tn=9_500)
    for reference, warming in ((enough, False), (few_positives, True), (few_false, True)):
        detector = ShiryaevRoberts(reference=reference, threshold=1e3)
        assert bool(detector.warming_up) is warming
        assert alarms(detector, [WORSE] * 30)[-1] is not warming


def test_a_small_reference_widens_the_tolerance() -> None:
    slightly = ConfusionCounts(tp=72, fp=45, fn=28, tn=855)
    delays = []
    for size in (1_200, 2_000, 5_000, 10_000, 10_000_000):
        reference = ConfusionCounts(tp=size * 0.8, fp=size * 0.45, fn=size * 0.2, tn=size * 8.55)
        detector = ShiryaevRoberts(reference=reference, threshold=2e5)
        delays.append(alarms(detector, [slightly] * 200).index(True))
    assert delays == sorted(delays, reverse=True)
    assert delays[0] > delays[1] > delays[2] > delays[3], "z falls from 2 to 1 up to 10,000"


def test_small_changes_never_page_however_long_they_last() -> None:
    rng = np.random.default_rng(3)
    detector = ShiryaevRoberts(reference=REFERENCE, threshold=2e5)
    pages = 0
    for _ in range(1_000):
        fp = rng.binomial(900, 0.055, 20)
        pages += detector.update(ConfusionCounts(tp=80, fp=fp, fn=20, tn=900 - fp)).sum()
    assert pages == 0


def test_panes_without_outcomes_count_as_time_and_as_nothing_else() -> None:
    detector = ShiryaevRoberts(reference=REFERENCE, threshold=100)
    nothing = ConfusionCounts.zeros()
    for number in range(1, 90):
        assert not detector.update(nothing)
        assert float(detector.evidence) == pytest.approx(number / 100)


def test_an_alarm_clears_after_a_recovery() -> None:
    detector = ShiryaevRoberts(reference=REFERENCE, threshold=2e5)
    assert alarms(detector, [WORSE] * 5_000)[-1]
    assert float(detector.evidence) <= 100
    assert not alarms(detector, [GOOD] * 60)[-1]


def test_nothing_overflows() -> None:
    huge = ConfusionCounts(tp=0, fp=10**12, fn=10**12, tn=0)
    perfect = ConfusionCounts(tp=10**12, fp=0, fn=0, tn=10**12)
    detector = ShiryaevRoberts(reference=perfect + REFERENCE, threshold=1e300)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        assert alarms(detector, [huge, perfect, huge])[-1]
        assert np.isfinite(float(detector.evidence))


def test_segments_do_not_page_when_their_mix_changes() -> None:
    reference = ConfusionCounts(
        tp=[25_200, 7_200], fn=[2_800, 4_800], fp=[7_560, 10_800], tn=[244_440, 97_200]
    )
    hard = ConfusionCounts(tp=[27, 42], fn=[3, 28], fp=[8, 63], tn=[262, 567])
    worse = ConfusionCounts(tp=[56, 15], fn=[14, 15], fp=[19, 27], tn=[611, 243])
    for pane, by_segment, plain in ((hard, False, True), (worse, True, True)):
        within = ShiryaevRoberts(reference=reference, threshold=2e5, segments=True)
        whole = ShiryaevRoberts(reference=reference.sum(axis=-1), threshold=2e5)
        assert alarms(within, [pane] * 30)[-1] is by_segment
        assert alarms(whole, [pane.sum(axis=-1)] * 30)[-1] is plain
    assert within.evidence.shape == within.warming_up.shape == ()


def test_evidence_of_series_by_segment_has_the_shape_of_the_series() -> None:
    reference = ConfusionCounts.from_cells(np.tile(REFERENCE.cells, (5, 3, 1)))
    detector = ShiryaevRoberts(reference=reference, threshold=2e5, segments=True)
    pane = ConfusionCounts.from_cells(np.tile(WORSE.cells, (5, 3, 1)))
    assert detector.update(pane).shape == (5,)


def test_dispersion_divides_the_evidence() -> None:
    plain = ShiryaevRoberts(reference=REFERENCE, threshold=2e5)
    wide = ShiryaevRoberts(reference=REFERENCE, threshold=2e5, dispersion=4)
    panes = [WORSE] * 60
    assert alarms(plain, panes).index(True) * 3 < alarms(wide, panes).index(True)


@pytest.mark.parametrize("arguments", [{"threshold": 0}, {"threshold": np.inf}, {"tolerance": -1}])
def test_settings_out_of_range_are_refused(arguments: dict) -> None:
    with pytest.raises(ValueError, match="got"):
        ShiryaevRoberts(**{"reference": REFERENCE, "threshold": 1e5, **arguments})


def test_panes_must_keep_their_shape() -> None:
    detector = ShiryaevRoberts(reference=REFERENCE, threshold=1e5)
    detector.update(ConfusionCounts.zeros((2,)))
    with pytest.raises(ValueError, match="keep the shape"):
        detector.update(ConfusionCounts.zeros((3,)))
    with pytest.raises(ValueError, match="segments need a reference along an axis"):
        ShiryaevRoberts(reference=REFERENCE, threshold=1e5, segments=True)


def test_the_threshold_is_two_sides_of_all_series_over_the_panes_between_pages() -> None:
    assert page_threshold(1, series=1, pane_seconds=300) == 2 * 105_192
    assert page_threshold(12, series=10, pane_seconds=60) == pytest.approx(2 * 10 * 525_960 / 12)
    with pytest.raises(ValueError, match="above 0"):
        page_threshold(0, series=1, pane_seconds=60)


def profile_of(season: float, days: int = 14, scatter: float = 0.0) -> SeasonalProfile:
    rng = np.random.default_rng(4)
    hours = HOUR * np.arange(24 * days)
    logit = -2.2 + season * np.sin(2 * np.pi * hours / DAY)
    logit += np.repeat(scatter * rng.normal(size=days), 24)
    positive = rng.binomial(2_000, 1 / (1 + np.exp(-logit)))
    return SeasonalProfile.learn(
        hours, ConfusionCounts(tp=positive, fp=0, fn=0, tn=2_000 - positive)
    )


def test_the_class_ratio_is_compared_with_that_of_the_hour_of_the_day() -> None:
    rng = np.random.default_rng(5)
    with_profile = ClassRatioDetector(profile=profile_of(0.7), threshold=1e5)
    without = ClassRatioDetector(profile=profile_of(0.0), threshold=1e5)
    noted = np.zeros(2, dtype=int)
    for hour in range(24 * 14, 24 * 24):
        share = 1 / (1 + np.exp(2.2 - 0.7 * np.sin(2 * np.pi * hour / 24)))
        positive = rng.binomial(2_000, share)
        pane = ConfusionCounts(tp=positive, fp=0, fn=0, tn=2_000 - positive)
        noted += [with_profile.update(pane, opened=HOUR * hour), without.update(pane)]
    assert noted[0] == 0
    assert noted[1] > 0


@pytest.mark.parametrize(("factor", "side"), [(0.5, "falling"), (2, "rising")])
def test_the_class_ratio_alarms_on_either_side(factor: float, side: str) -> None:
    detector = ClassRatioDetector(profile=profile_of(0.0), threshold=1e5)
    positive = int(200 * factor)
    pane = ConfusionCounts(tp=positive, fp=0, fn=0, tn=2_000 - positive)
    assert bool([detector.update(pane) for _ in range(5)][-1])
    assert detector.by_side()[side] >= 1
    again = ClassRatioDetector(profile=profile_of(0.0), threshold=1e5)
    again.restore(detector.state())
    assert again.evidence == detector.evidence


def test_days_that_scatter_widen_the_tolerance() -> None:
    assert float(profile_of(0.0).tolerance) == pytest.approx(0.1)
    assert 0.4 < float(profile_of(0.0, scatter=0.3).tolerance) < 0.9
    tight = ClassRatioDetector(profile=profile_of(0.0), threshold=1e5)
    wide = ClassRatioDetector(profile=profile_of(0.0, scatter=0.3), threshold=1e5)
    pane = ConfusionCounts(tp=260, fp=0, fn=0, tn=1_740)
    assert [bool(d.update(pane)) for _ in range(20) for d in (tight, wide)][-2:] == [True, False]


@pytest.mark.parametrize(
    "name", ["ADWIN", "PageHinkley", pytest.param("KSWIN", marks=pytest.mark.slow)]
)
def test_rivers_detectors_follow_the_same_protocol(name: str) -> None:
    options = {"threshold": 20.0} if name == "PageHinkley" else {}
    detector = RiverDetector(name, **options)
    good = ConfusionCounts(tp=[80, 80], fp=[45, 45], fn=[20, 20], tn=[355, 355])
    mixed = ConfusionCounts(tp=[80, 20], fp=[45, 45], fn=[20, 80], tn=[355, 355])
    assert detector.warming_up.shape == (0,)
    panes = 2 if name == "KSWIN" else 12  # a test of every event is slow
    for _ in range(panes):
        detector.update(good)
    alarm = [detector.update(mixed) for _ in range(panes)]
    assert alarm[0].shape == detector.evidence.shape == (2,)
    assert np.any(alarm, axis=0)[1]
    assert detector.state() == {}
    detector.restore({})
    assert detector.update(ConfusionCounts.zeros()).shape == ()


def test_rivers_drifts_for_the_better_and_of_the_class_ratio_are_no_pages() -> None:
    detector = RiverDetector("ADWIN")
    for _ in range(20):
        detector.update(ConfusionCounts(tp=60, fp=45, fn=40, tn=855))
    better = [detector.update(ConfusionCounts(tp=285, fp=35, fn=15, tn=665)) for _ in range(20)]
    assert not np.any(better)
    assert bool(detector.class_ratio_moved) in (True, False)


def test_rivers_drift_of_the_class_ratio_is_separate_from_its_evidence() -> None:
    detector, moved = RiverDetector("ADWIN"), False
    for share in (100, 500):
        for _ in range(20):
            pane = ConfusionCounts(tp=share * 8 // 10, fn=share * 2 // 10, fp=0, tn=1_000 - share)
            assert not detector.update(pane)
            moved |= bool(detector.class_ratio_moved)
    assert moved


def test_an_unknown_river_detector_is_an_error_that_names_it() -> None:
    with pytest.raises(UsageError, match="no detector 'Crystal'"):
        RiverDetector("Crystal")


def test_dispersion_by_stream_reaches_its_own_side() -> None:
    one, many = np.asarray(1.0), np.asarray(1e6)
    blind = Dispersion(class_ratio=one, recall=many, false_positive_rate=one)
    detector = ShiryaevRoberts(reference=REFERENCE, threshold=1e5, dispersion=blind)
    assert not alarms(detector, [WORSE] * 50)[-1]
    assert alarms(detector, [ConfusionCounts(tp=80, fp=90, fn=20, tn=810)] * 10)[-1]


def test_a_larger_margin_is_silent_where_the_reference_is_off_by_two_errors() -> None:
    reference = ConfusionCounts(tp=9_000, fn=1_000, fp=600, tn=99_400)
    usual = ConfusionCounts(tp=21_541, fn=3_059, fp=1_476, tn=244_524)  # .245 below in log-odds
    found = {
        margin: any(
            alarms(ShiryaevRoberts(reference=reference, threshold=1e4, margin=margin), [usual] * 30)
        )
        for margin in (1.0, margin_of(20))
    }
    assert list(found.values()) == [True, False]
