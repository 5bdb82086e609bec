# ruff: noqa: INP001  # scripts beside what they write, no package
"""Model detail: which segment moved?"""

from __future__ import annotations

import choices
import parts
from grafana_foundation_sdk.builders.dashboard import Dashboard


def model_detail() -> Dashboard:
    """Return the dashboard that shows which segment moved."""
    board = parts.new(
        "Precision monitor: model detail",
        "precision-monitor-model-detail",
        "Which segment moved? Segments lie inside totals and windows overlap: nothing here is to "
        "be added up.",
        "7d",
    )
    windows = "classifier_window_outcomes" + choices.among(choices.MODEL, 'window!="all"')
    board = (
        choices.of_a_model(board)
        .with_variable(choices.choice("segment", "Segment", windows, "segment"))
        .with_variable(choices.runbooks())
        .with_variable(choices.page())
        .annotation(choices.deployments())
    )
    return parts.in_rows(
        board,
        {
            "Segments now": [_segments()],
            "Segments over time": [
                _by_value("Precision", "classifier_precision_ratio"),
                _by_value("Balanced precision", "classifier_balanced_precision_ratio"),
                _by_value("Prevalence", "classifier_prevalence_ratio"),
                _by_value("Recall", "classifier_recall_ratio"),
                _by_value("False-positive rate", "classifier_false_positive_ratio"),
                _traffic(),
            ],
            "Classes, of a model of more than two": [
                _by_class("Precision", "classifier_precision_ratio"),
                _by_class("Recall", "classifier_recall_ratio"),
                _by_class(
                    "Evidence for a fall of skill",
                    "classifier_detector_evidence_ratio",
                    choices.CLASSES,
                    unit="none",
                ),
                _class_verdicts(),
            ],
            "The model as a whole": [_skill(), _class_ratio(), *_delays()],
        },
    )


def _segments() -> object:
    def by_value(expr: str) -> str:
        return f"sum by (value) ({expr}{choices.BY_SEGMENT})"

    return parts.rows(
        "Values of the segment",
        "As of now. Few outcomes, little to say: look at their number first.",
        {
            "n outcomes": by_value("classifier_window_outcomes"),
            "precision": by_value("classifier_precision_ratio"),
            "lower": by_value("classifier_precision_lower_ratio"),
            "upper": by_value("classifier_precision_upper_ratio"),
            "balanced precision": by_value("classifier_balanced_precision_ratio"),
            "recall": by_value("classifier_recall_ratio"),
            "false positives": by_value("classifier_false_positive_ratio"),
            "prevalence": by_value("classifier_prevalence_ratio"),
        },
        "value",
    )


def _by_value(title: str, series: str) -> object:
    queries = {"{{value}}": f"{series}{choices.BY_SEGMENT}"}
    return parts.lines(title, "By value of the segment.", queries, width=parts.THIRD)


def _by_class(
    title: str, series: str, where: str = choices.CLASSES_OF_WINDOW, unit: str = "percentunit"
) -> object:
    queries = {"{{class}}": f"{series}{where}"}
    return parts.lines(
        title, "By class, each against the others.", queries, unit=unit, width=parts.THIRD
    )


def _class_verdicts() -> object:
    verdicts = choices.among(choices.CLASSES_OF_WINDOW, 'verdict!="insufficient_evidence"')
    return parts.lines(
        "Verdicts by class",
        "1 while the verdict on a class holds, within the actual classes: where only the shares "
        "of the classes move, none is worse.",
        {"{{class}}: {{verdict}}": f"classifier_verdict{verdicts} == 1"},
        unit="none",
    )


def _traffic() -> object:
    return parts.lines(
        "Outcomes in the window",
        "By value of the segment.",
        {"{{value}}": f"sum by (value) (classifier_window_outcomes{choices.BY_SEGMENT})"},
        unit="short",
        width=parts.THIRD,
    )


def _skill() -> object:
    queries = parts.with_interval("skill", "classifier_log_likelihood_ratio", unit="")
    panel = parts.lines(
        "Skill: log LR+",
        "log TPR - log FPR, with its 95 % interval: prevalence has cancelled out.",
        queries,
        unit="none",
    )
    return parts.banded(panel, "skill", parts.ORANGE)


def _class_ratio() -> object:
    estimated = f"classifier_precision_estimated_ratio{choices.WINDOW}"
    return parts.lines(
        "Precision, as it is and at given class ratios",
        "What precision would be if positives to negatives stood at the class ratio.",
        {
            "as it is": f"classifier_precision_ratio{choices.TOTALS}",
            "estimated ahead of the labels": estimated,
            "at {{class_ratio}}": f"classifier_reference_precision_ratio{choices.TOTALS}",
        },
    )


def _delays() -> list[object]:
    moved = choices.among(choices.MODEL, 'from!="none"', 'to!="none"')
    buckets = f"sum by (label, le) (classifier_label_delay_seconds_bucket{choices.MODEL})"
    quantiles = {
        f"{share:.0%} of {{{{label}}}}": f"histogram_quantile({share}, {buckets})"
        for share in (0.5, 0.99)
    }
    return [
        parts.lines(
            "How late labels come",
            "From a prediction to its label, by actual class, since the monitor started; and the "
            "age at which windows end.",
            {**quantiles, "maturity": f"classifier_label_maturity_seconds{choices.MODEL}"},
            unit="s",
        ),
        parts.lines(
            "Labels that changed their mind",
            "Outcomes an hour that moved from one cell to another.",
            {"{{from}} to {{to}}": f"increase(classifier_label_transitions_total{moved}[1h])"},
            unit="short",
        ),
    ]
