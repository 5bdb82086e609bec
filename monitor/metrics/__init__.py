"""Metrics: pure functions of `ConfusionCounts`, of any shape, NaN where undefined.

    rates, precision        shares of cases; precision at any class ratio; log LR+
    f_family, g_family      F, G and power means of counts; means: of precision and recall
    agreement               kappa and Matthews' correlation
    intervals               the table of metrics; their confidence limits (proportions, mover)
    sampled, log_odds       the same where labels are a sample of the predictions; the scale
    confusion_summary       all of it as one table; significance: its two tests
    histogram, curves       scores by class in bins; PR and ROC curves
    threshold, objective    the best threshold for an objective; score_skill: scores of days

A function of an array of tables gives what it gives for each table alone.
"""

# One name a line would make 80 lines of what is one list.
# fmt: off
# isort: off
from monitor.metrics import curves, means, sampled
from monitor.metrics.agreement import cohen_kappa, matthews_corrcoef
from monitor.metrics.confusion_summary import summary
from monitor.metrics.f_family import f_beta, f_beta_at, precision_gain, recall_gain
from monitor.metrics.g_family import g_score, weighted_power_mean
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.intervals import intervals
from monitor.metrics.precision import (
    balanced_precision, log_likelihood_ratio, precision, precision_at)
from monitor.metrics.rates import (
    accuracy, balanced_accuracy, class_ratio, detection_rate, false_negative_rate,
    false_positive_rate, negative_predictive_value, no_information_rate, predicted_positive_rate,
    prevalence, recall, specificity)
from monitor.metrics.threshold import best_threshold

__all__ = [
    "ScoreHistogram", "accuracy", "balanced_accuracy", "balanced_precision", "best_threshold",
    "class_ratio", "cohen_kappa", "curves", "detection_rate", "f_beta", "f_beta_at",
    "false_negative_rate", "false_positive_rate", "g_score", "intervals", "log_likelihood_ratio",
    "matthews_corrcoef", "means", "negative_predictive_value", "no_information_rate", "precision",
    "precision_at", "precision_gain", "predicted_positive_rate", "prevalence", "recall",
    "recall_gain", "sampled", "specificity", "summary", "weighted_power_mean"]
