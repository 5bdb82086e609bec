"""Metrics that audits alone determine, against true outcomes of labels that follow predictions."""

import numpy as np
import pytest

from monitor.metrics.audited_cells import metrics_by_audits
from monitor.metrics.audited_errors import AuditedLabels

RECALL, FPR, PREVALENCE = 0.8, 0.05, 0.1
FLAGGED = RECALL * PREVALENCE + FPR * (1 - PREVALENCE)
TRUE = {
    "precision": RECALL * PREVALENCE / FLAGGED,
    "recall": RECALL,
    "false_positive_rate": FPR,
    "false_omission_rate": (1 - RECALL) * PREVALENCE / (1 - FLAGGED),
    "prevalence": PREVALENCE,
}


def drawn(seed, follow, each):
    """Return audits by predicted class and label; a share of labels is the prediction."""
    rng = np.random.default_rng(seed)
    actual = rng.random(20_000) < PREVALENCE
    flagged = rng.random(20_000) < np.where(actual, RECALL, FPR)
    label = np.where(rng.random(20_000) < follow, flagged, actual ^ (rng.random(20_000) < 0.01))
    audited, labelled = np.zeros((2, 2, 2), dtype=np.int64), np.zeros((2, 2), dtype=np.int64)
    for predicted in (0, 1):
        for given in (0, 1):
            cases = np.flatnonzero((flagged == predicted) & (label == given))
            labelled[predicted, given] = len(cases)
            np.add.at(
                audited[predicted, given], actual[rng.permutation(cases)[:each]].astype(int), 1
            )
    return AuditedLabels(audited, labelled)


@pytest.mark.parametrize("follow", [0.4, 1.0])
def test_limits_cover_what_is_true_whatever_share_of_labels_follows(follow):
    found = [metrics_by_audits(drawn(seed, follow, 150)) for seed in range(100)]
    for name, value in TRUE.items():
        assert np.mean([one[name].lower <= value <= one[name].upper for one in found]) >= 0.92
        assert np.mean([one[name].estimate for one in found]) == pytest.approx(value, rel=0.06)


def test_audits_of_one_predicted_class_determine_what_rests_on_it_alone():
    flagged, others = drawn(1, 1.0, 150), drawn(1, 1.0, 150)
    flagged.audited[0] = others.audited[1] = 0
    assert set(metrics_by_audits(flagged)) == {"precision"}
    assert set(metrics_by_audits(others)) == {"false_omission_rate"}


def test_a_label_of_which_no_case_is_audited_leaves_its_predicted_class_open():
    found = drawn(1, 0.4, 150)
    found.audited[1, 0] = 0
    assert set(metrics_by_audits(found)) == {"false_omission_rate"}


@pytest.mark.parametrize(("actual", "undefined"), [(0, "recall"), (1, "false_positive_rate")])
def test_a_rate_of_a_class_that_no_audit_found_is_undefined_and_no_zero(actual, undefined):
    audited = np.zeros((2, 2, 2), dtype=np.int64)
    audited[..., actual] = 100
    found = metrics_by_audits(AuditedLabels(audited, np.array([[900, 300], [200, 100]])))
    assert set(found) == set(TRUE) - {undefined}
    assert found["prevalence"].estimate == actual
