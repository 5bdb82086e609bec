"""The summary: its printed form, and its numbers equal those of the functions."""

import math
from dataclasses import fields

import pytest

from monitor import ConfusionCounts, metrics
from monitor.metrics.confusion_summary import ScalarEstimate

CARET = ConfusionCounts(tp=81, fp=67, fn=38, tn=339)

PRINTED = """\
                      actual positive    actual negative
predicted positive                 81                 67
predicted negative                 38                339

                                 estimate   95 % interval

The classifier, whatever the prevalence
  recall (sensitivity)             0.6807      0.5924 to 0.7577
  specificity                      0.8350      0.7958 to 0.8679
  false-positive rate              0.1650      0.1321 to 0.2042
  false-negative rate              0.3193      0.2423 to 0.4076
  balanced precision               0.8049      0.7618 to 0.8416
  balanced accuracy                0.7578      0.7095 to 0.7997
  log LR+ (skill)                  1.4170      1.1625 to 1.6700
  precision gain                   0.7576      0.6873 to 0.8118

The classifier at this prevalence
  precision (pos. pred. value)     0.5473      0.4669 to 0.6253
  neg. predictive value            0.8992      0.8647 to 0.9257
  accuracy (exact interval)        0.8000      0.7632 to 0.8334
  F1                               0.6067      0.5361 to 0.6732
  recall gain                      0.8625      0.7878 to 0.9109
  Cohen's kappa                    0.4748      0.3878 to 0.5582
  Matthews' correlation            0.4798      0.3930 to 0.5630
  predicted-positive rate          0.2819      0.2451 to 0.3219
  detection rate                   0.1543      0.1259 to 0.1877

The cases
  prevalence                       0.2267      0.1929 to 0.2644
  class ratio P/N                  0.2931      0.2390 to 0.3594
  no-information rate              0.7733      0.7356 to 0.8071

Tests
  accuracy above no information   p = 0.07819
  FP as common as FN (McNemar)    p = 0.006285"""


def test_the_caret_example_prints_as_recorded() -> None:
    assert str(metrics.summary(CARET)) == PRINTED


def test_undefined_is_an_em_dash_and_unbounded_is_infinity() -> None:
    printed = str(metrics.summary(ConfusionCounts(tp=0, fp=0, fn=3, tn=39_000_000)))
    lines = {line[:32].strip(): line[32:].split() for line in printed.splitlines()}
    assert lines["precision (pos. pred. value)"] == ["—", "—"]
    assert lines["log LR+ (skill)"] == ["—", "-∞", "to", "∞"]
    assert lines["recall (sensitivity)"] == ["0.0000", "0.0000", "to", "0.5615"]
    assert lines["prevalence"] == ["7.69e-08", "2.62e-08", "to", "2.26e-07"]
    assert "39,000,000" in printed
    assert "nan" not in printed


def test_nothing_counted_prints_nothing_but_em_dashes() -> None:
    table = metrics.summary(ConfusionCounts.zeros())
    for field in fields(table):
        value = getattr(table, field.name)
        if isinstance(value, ScalarEstimate):
            assert all(map(math.isnan, value)), field.name
    assert math.isnan(table.accuracy_p_value)
    assert math.isnan(table.mcnemar_p_value)


def test_every_estimate_is_the_metric_and_interval_of_its_name() -> None:
    table = metrics.summary(CARET, level=0.9)
    for name in ("precision", "balanced_precision", "class_ratio", "cohen_kappa"):
        limits = metrics.intervals(CARET, name, 0.9)
        assert getattr(table, name) == (getattr(metrics, name)(CARET), *limits)
    assert table.f_1.value == metrics.f_beta(CARET, beta=1)


def test_dispersion_weakens_the_tests_and_widens_the_exact_interval() -> None:
    strict, loose = metrics.summary(CARET), metrics.summary(CARET, dispersion=5)
    assert loose.accuracy_p_value > strict.accuracy_p_value
    assert loose.mcnemar_p_value > strict.mcnemar_p_value
    assert loose.accuracy.lower < strict.accuracy.lower
    assert loose.accuracy.value == strict.accuracy.value


def test_fractional_counts_print_with_a_decimal() -> None:
    printed = str(metrics.summary(ConfusionCounts(tp=1.25, fp=2.0, fn=3.5, tn=4_000.75)))
    assert "1.2" in printed.splitlines()[1]
    assert "4,000.8" in printed.splitlines()[2]


def test_many_tables_are_refused() -> None:
    with pytest.raises(ValueError, match=r"must be one table, got shape \(3,\)"):
        metrics.summary(ConfusionCounts.zeros((3,)))


def test_a_probability_too_small_for_a_float_is_never_zero() -> None:
    text = str(metrics.summary(ConfusionCounts(tp=1_000, fp=200_000, fn=10, tn=100_000)))
    assert "p < 2e-308" in text
    assert "p = 0\n" not in text + "\n"
