"""Audits that show other rates of wrong labels than those that are configured."""

import numpy as np
import pytest
from audited_cases import WRONG, Cases, fed, monitor_of, steady

from monitor.cli.replay_text import replay_text
from monitor.diagnosis.comparison import compared_live
from monitor.exporter.api.compare import compared, recall
from monitor.exporter.api.status import status_answer
from monitor.labels.regime import LabelRegime
from monitor.labels.uncorrected import contradicted
from monitor.metrics.audited_errors import AuditedLabels, AuditFindings
from monitor.metrics.label_errors import ErrorRates
from monitor.metrics.possible_rates import LabelLimits
from monitor.report.advice import advice

WORDS = "they contradict label_errors: they show "
LIMITS = LabelLimits(0.9, 0.9)
LABELLED = np.array([[28_843, 360], [578, 219]])
AUDITED = np.array([[[250, 0], [197, 53]], [[245, 5], [11, 239]]])
"""About 1 % of negatives, and 5 % of positives, are labelled wrong."""


def regime(false_positive, false_negative):
    errors = ErrorRates.within(false_positive, false_negative)
    return LabelRegime(errors=errors, limits=LIMITS)


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ((0.01, 0.05), False),
        ((0.003, 0.05), True),
        ((0.01, 0.4), True),
        (((0.005, 0.02), (0.0, 0.1)), False),
        (((0.02, 0.03), (0.0, 0.1)), True),
        ((0.0, 0.05), True),
    ],
)
def test_rates_that_audits_contradict(rates, said):
    found = AuditFindings.of(AuditedLabels(AUDITED, LABELLED))
    assert contradicted(found, regime(*rates)) is said


def test_a_rate_of_0_is_not_contradicted_by_the_half_audit_of_the_likelihood():
    audited = np.array([[[250, 0], [0, 250]], [[245, 5], [0, 250]]])
    labelled = np.array([[29_200, 250], [578, 480]])
    found = AuditFindings.of(AuditedLabels(audited, labelled))
    assert not contradicted(found, regime(0.0, 0.01))


def test_rates_that_audits_taught_or_that_are_not_configured_are_never_contradicted():
    found = AuditFindings.of(AuditedLabels(AUDITED, LABELLED))
    learned = LabelRegime(errors=ErrorRates(0.5, 0.05))
    assert not contradicted(found, learned)
    assert not contradicted(found, LabelRegime())
    assert not contradicted(None, regime(0.5, 0.05))
    few = AuditFindings.of(AuditedLabels(AUDITED // 25, LABELLED))
    assert not contradicted(few, regime(0.5, 0.05))


@pytest.mark.parametrize(("rate", "said"), [(0.001, True), (WRONG.false_positive, False)])
def test_contradicted_rates_are_named_wherever_audits_are(rate, said):
    errors = {"false_positive": rate, "false_negative": WRONG.false_negative}
    monitor = fed(Cases(45, 2_000, 4, steady(0.04)), 100, range(45), monitor_of(errors))
    snapshot = monitor.snapshot()
    model = snapshot.models[0]
    assert (WORDS in " ".join(replay_text(snapshot).split())) is said
    assert (WORDS in status_answer(snapshot, limit=1).models[0].audits.text) is said
    asked = compared_live(snapshot, model, "1970-01-01..1970-01-22", "1970-01-22..1970-02-12")
    found = compared(model, asked, recall(monitor, asked, LabelRegime.now(model)))
    assert found.rates_contradicted is said
    assert any(WORDS in note for note in found.notes) is said
    named = "Set `label_errors: audit`, or correct its rates"
    assert any(one.startswith(named) for one in advice(found)) is said
