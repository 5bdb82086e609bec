"""The goals of verdict and detectors on a small scale; `tests/benchmarks` has the full one."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks import detectors, verdicts

from monitor.drift.detectors import ShiryaevRoberts

SERIES, PANES = 40, 300


def test_verdicts_on_twelve_truths_are_right_or_silent() -> None:
    goals = {10_000: 0.8, 30_000: 0.95, 100_000: 0.99, 1_000_000: 0.999}
    for size, (right, wrong) in verdicts.twelve_truths(600, (1_000, *goals)).items():
        assert right >= goals.get(size, 0)
        assert wrong <= 0.02, "1.5 % and the noise of 600 draws"


@pytest.mark.parametrize(("prevalence", "least"), [(0.1, 10_000), (0.01, 100_000)])
@pytest.mark.parametrize("step", [-1, -0.5, -0.2, -0.1, -0.05, 0.05, 0.1, 0.2, 0.5, 1])
def test_a_slide_of_the_threshold_is_no_worse_model(
    step: float, prevalence: float, least: int
) -> None:
    for size in (least, 10 * least, 1_000_000):
        degraded, improved, _ = verdicts.slide(2_000, size, step, prevalence)
        assert degraded <= 0.01
        assert improved <= 0.01


@pytest.mark.parametrize("step", [pytest.param(-0.5, marks=pytest.mark.slow), 0.5])
def test_a_slide_is_no_worse_model_where_the_curve_of_the_scores_decides(step: float) -> None:
    assert verdicts.slide_with_scores(400, 10_000, step) <= 0.0175, "1 % and the noise of 400 draws"


def test_a_worse_model_behind_a_higher_threshold_is_found_by_the_scores() -> None:
    assert verdicts.slide_with_scores(40, 10_000, 0.5, worse=0.5) == 1


def test_mix_alone_gives_no_verdict_on_skill_by_segment() -> None:
    by_segment, together = verdicts.mix_only(60, 100_000, 0.7)
    assert by_segment <= 0.02
    assert together > 0.9


def test_scatter_between_days_is_no_change_when_days_are_blocks() -> None:
    by_day, plain = verdicts.stormy_days(500)
    assert by_day <= 0.015
    assert plain > 0.2


def test_intervals_in_points_contain_the_truth() -> None:
    for cause, covered in verdicts.interval_coverage(600, 10_000).items():
        assert 0.92 <= covered <= 0.98, cause


@pytest.mark.parametrize(
    ("size", "shift", "low", "high"), [(2_000, 0.0, 0, 0.02), (2_000, 0.3, 0.95, 1)]
)
def test_goodness_of_fit_finds_shifted_scores_alone(
    size: int, shift: float, low: float, high: float
) -> None:
    found = verdicts.label_free(100, size, 0.1, shift)
    assert low <= found["flagged"] <= high
    if not shift:
        assert found["em rmse"] < 0.05
        assert found["em coverage"] > 0.88
        assert found["adjusted_count coverage"] > 0.88


BASE = detectors.BASES[0.1]
SEASON = replace(BASE, season=0.7)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (BASE, BASE),
        (SEASON, SEASON),
        (BASE, replace(BASE, prevalence=0.05)),
        (BASE, replace(BASE, prevalence=0.01)),
        (BASE, replace(BASE, prevalence=0.4)),
    ],
)
def test_prevalence_alone_never_pages(before: detectors.Truth, after: detectors.Truth) -> None:
    update = detectors.skill_detector(detectors.reference_of(1, before, SERIES))
    stream = detectors.panes(2, before, after, series=SERIES, length=PANES, change=100)
    _, raised = detectors.first_alarms(update, stream, SERIES)
    assert raised == 0


@pytest.mark.parametrize("name", detectors.DELAYS)
@pytest.mark.parametrize("prevalence", [0.1, 0.01])
def test_worse_models_page_in_time_and_none_is_missed(name: str, prevalence: float) -> None:
    recall, false, positives, *goals = detectors.DELAYS[name]
    goal = goals[0] if prevalence == 0.1 else goals[1]
    base = detectors.BASES[prevalence]
    now = detectors.Truth(prevalence * positives, recall, base.false_positive_rate * false)
    update = detectors.skill_detector(detectors.reference_of(3, base, SERIES))
    stream = detectors.panes(4, base, now, series=SERIES, length=400, change=20)
    first, _ = detectors.first_alarms(update, stream, SERIES, 20)
    assert (first >= 0).all()
    assert np.median(first - 19) <= goal * 1.15, "the noise of 40 series"


def test_the_run_length_holds_its_bound_at_a_known_boundary() -> None:
    update_from = detectors.BASES[0.1]
    cells = np.array([0.08, 0.045, 0.02, 0.855]) * 1e12
    known = detectors.ConfusionCounts.from_cells(cells)
    detector = ShiryaevRoberts(reference=known, threshold=400, tolerance=0)
    stream = detectors.panes(5, update_from, update_from, series=200, length=1_500, change=0)
    first = np.full(200, -1)
    for number, pane in enumerate(stream):
        first = np.where((first < 0) & detector.update(pane), number + 1, first)
    assert np.where(first < 0, 1_500, first).mean() >= 200


@pytest.mark.parametrize("icc", [0.005, 0.02])
def test_correlated_rows_do_not_page_once_dispersion_is_known(icc: float) -> None:
    base = detectors.Truth(icc=icc)
    reference = detectors.reference_of(6, base, SERIES)
    raised = []
    for dispersed in (True, False):
        update = detectors.skill_detector(reference, dispersed=dispersed)
        stream = detectors.panes(7, base, base, series=SERIES, length=PANES, change=0)
        raised.append(detectors.first_alarms(update, stream, SERIES)[1])
    assert raised[0] == 0 < raised[1]
