# ruff: noqa: INP001  # scripts beside what they write, no package
"""On call: did the model get worse, or did positives become rarer?"""

from __future__ import annotations

import choices
import parts
import verdicts
from grafana_foundation_sdk.builders.dashboard import Dashboard


def on_call() -> Dashboard:
    """Did the model get worse, or did positives become rarer?"""
    board = parts.new(
        "Precision monitor: on call",
        "precision-monitor-on-call",
        "Did the model get worse, or did positives become rarer? If balanced precision holds "
        "while precision falls, look at the world; if it falls, look at the model.",
        "7d",
    )
    board = (
        choices.of_a_model(board)
        .with_variable(choices.runbooks())
        .with_variable(choices.page())
        .annotation(choices.deployments())
        .annotation(choices.degradations())
    )
    return parts.in_rows(
        board,
        {
            "Now": [
                _verdict(),
                *_now(),
            ],
            "What moved": [_precision(), _causes()],
            "The world, and the model": [_prevalence(), _rates(), _class_ratio()],
            "What it rests on": [_outcomes(), _coverage(), _evidence()],
        },
    )


def _verdict() -> object:
    panel = parts.words(
        "Verdict",
        "What happened between the reference and the window, red while the model pages; or why "
        "that is open. A click leads to what it means.",
        verdicts.state(choices.MODEL, choices.WINDOW),
        verdicts.STATE_WORDS,
        parts.THIRD,
    )
    url = "${runbooks}monitor/drift/README.md#verdicts"
    return parts.linked(panel, "What it means, and what to do", url)


def _now() -> list[object]:
    alerts = {
        "Precision": ("classifier_precision_ratio", "Share of predicted positives that are."),
        "Balanced precision": (
            "classifier_balanced_precision_ratio",
            "Precision if half of the cases were positive; prevalence cancels out.",
        ),
        "Prevalence": ("classifier_prevalence_ratio", "Share of cases that are positive."),
    }
    panels: list[object] = [
        parts.value(title, about, {title: f"{series}{choices.TOTALS}"})
        for title, (series, about) in alerts.items()
    ]
    coverage = {"{{predicted}}": f"classifier_label_coverage_ratio{choices.TOTALS}"}
    about = "Share of the predictions that are labelled, by what was predicted."
    panels.append(parts.value("Labelled", about, coverage))
    return panels


def _precision() -> object:
    queries = parts.with_interval("precision", "classifier_precision")
    queries |= parts.with_interval("balanced precision", "classifier_balanced_precision")
    panel = parts.lines(
        "Precision and balanced precision",
        "With their 95 % intervals. They part where prevalence moves; they fall together where "
        "the model got worse.",
        queries,
    )
    return parts.banded(
        parts.banded(panel, "precision", parts.BLUE), "balanced precision", parts.ORANGE
    )


def _causes() -> object:
    panel = parts.lines(
        "What moved precision since the reference, in log-odds",
        "The causes add up to the change of logit(precision), without remainder. Below zero "
        "they pull precision down.",
        {"{{cause}}": f"classifier_precision_change_logit{choices.WINDOW}"},
        unit="none",
    )
    return parts.stacked(panel, parts.CAUSE_COLORS)


def _prevalence() -> object:
    queries = parts.with_interval("labelled", "classifier_prevalence")
    queries["estimated ahead of the labels"] = (
        f"classifier_prevalence_estimated_ratio{choices.WINDOW}"
    )
    panel = parts.lines(
        "Prevalence",
        "Of labelled cases with its 95 % interval; and estimated ahead of the labels, up to the "
        "last whole day, where past estimates support it.",
        queries,
    )
    return parts.banded(panel, "labelled", parts.BLUE)


def _class_ratio() -> object:
    queries = parts.with_interval("live", "classifier_live_class_ratio", choices.MODEL, unit="")
    queries["expected at this hour"] = f"classifier_expected_class_ratio{choices.MODEL}"
    panel = parts.lines(
        "Class ratio, live",
        "Positives to negatives of mature labels with its 95 % interval, and what the hours and "
        "weekdays of the reference let expect.",
        queries,
        unit="none",
        width=parts.WHOLE,
    )
    return parts.banded(panel, "live", parts.BLUE)


def _rates() -> object:
    queries = parts.with_interval("recall", "classifier_recall")
    queries |= parts.with_interval("false positives", "classifier_false_positive")
    panel = parts.lines(
        "Recall and false-positive rate",
        "With their 95 % intervals. Opposite ways: the model got better or worse; together: it "
        "moved along its curve.",
        queries,
    )
    return parts.banded(parts.banded(panel, "recall", parts.GREEN), "false positives", parts.RED)


def _outcomes() -> object:
    return parts.lines(
        "Outcomes in the window",
        "Labelled outcomes of the predictions made in it.",
        {"{{outcome}}": f"classifier_window_outcomes{choices.TOTALS}"},
        unit="short",
        width=parts.THIRD,
    )


def _coverage() -> object:
    return parts.lines(
        "Labelled share",
        "Of the predictions made in the window, by what was predicted. Where it falls, the "
        "rest speaks of fewer and other cases.",
        {"predicted {{predicted}}": f"classifier_label_coverage_ratio{choices.TOTALS}"},
        width=parts.THIRD,
    )


def _evidence() -> object:
    panel = parts.lines(
        "Evidence for a fall of skill",
        "Over the threshold of a detector, by pane or by days: at 1 it alarms, and then starts "
        "anew. A page starts where the last days are judged degraded as well.",
        {
            "evidence": f"classifier_detector_evidence_ratio{choices.MODEL}",
            "page": f"classifier_degradation_detected{choices.MODEL}",
        },
        unit="none",
        width=parts.THIRD,
    )
    return parts.with_limit(panel, 1)
