# ruff: noqa: INP001  # scripts beside what they write, no package
"""The dashboards: what is asked, in which order, and what each answer means."""

from __future__ import annotations

import parts
from grafana_foundation_sdk.builders.dashboard import Dashboard

_TOTALS = '{model="$model",window="$window",segment=""}'
_WINDOW = '{model="$model",window="$window"}'
_BY_SEGMENT = '{model="$model",window="$window",segment="$segment"}'
_RED, _BLUE, _ORANGE, _GREEN = parts.RED, parts.BLUE, parts.ORANGE, parts.GREEN


def _with_interval(legend: str, stem: str) -> dict[str, str]:
    """A ratio and the ends of its interval."""
    return {
        legend: f"{stem}_ratio{_TOTALS}",
        f"{legend}, upper": f"{stem}_upper_ratio{_TOTALS}",
        f"{legend}, lower": f"{stem}_lower_ratio{_TOTALS}",
    }


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
        board.with_variable(parts.choice("model", "Model", "classifier_window_info", "model"))
        .with_variable(
            parts.choice("window", "Window", 'classifier_window_info{model="$model"}', "window")
        )
        .with_variable(parts.runbooks())
        .annotation(parts.deployments())
        .annotation(parts.degradations())
    )
    return parts.in_rows(
        board,
        {
            "Now": [
                _verdict(),
                *_now(),
            ],
            "What moved": [_precision(), _causes()],
            "The world, and the model": [_prevalence(), _rates()],
            "What it rests on": [_outcomes(), _coverage(), _evidence()],
        },
    )


def _verdict() -> object:
    panel = parts.name(
        "Verdict",
        "What happened between the reference and the window. A click leads to what it means.",
        {"{{verdict}}": f"classifier_verdict{_WINDOW} == 1"},
        parts.THIRD,
    )
    url = "${runbooks}README.md#${__field.labels.verdict}"
    return parts.linked(panel, "What it means, and what to do", url)


def _now() -> list[object]:
    said = {
        "Precision": ("classifier_precision_ratio", "Share of predicted positives that are."),
        "Balanced precision": (
            "classifier_balanced_precision_ratio",
            "Precision if half of the cases were positive: a fall means a worse model.",
        ),
        "Prevalence": ("classifier_prevalence_ratio", "Share of cases that are positive."),
    }
    panels: list[object] = [
        parts.value(title, about, {title: f"{series}{_TOTALS}"})
        for title, (series, about) in said.items()
    ]
    coverage = {"{{predicted}}": f"classifier_label_coverage_ratio{_TOTALS}"}
    about = "Share of the predictions that are labelled, by what was predicted."
    panels.append(parts.value("Labelled", about, coverage))
    return panels


def _precision() -> object:
    queries = _with_interval("precision", "classifier_precision")
    queries |= _with_interval("balanced precision", "classifier_balanced_precision")
    panel = parts.lines(
        "Precision and balanced precision",
        "With their 95 % intervals. They part where prevalence moves; they fall together where "
        "the model got worse.",
        queries,
    )
    return parts.banded(parts.banded(panel, "precision", _BLUE), "balanced precision", _ORANGE)


def _causes() -> object:
    panel = parts.lines(
        "What moved precision since the reference, in log-odds",
        "The causes add up to the change of logit(precision), without remainder. Below zero "
        "they pull precision down.",
        {"{{cause}}": f"classifier_precision_change_logit{_WINDOW}"},
        unit="none",
    )
    return parts.stacked(panel, parts.CAUSE_COLORS)


def _prevalence() -> object:
    queries = _with_interval("labelled", "classifier_prevalence")
    queries["from predictions alone"] = f"classifier_prevalence_estimated_ratio{_WINDOW}"
    panel = parts.lines(
        "Prevalence",
        "Of labelled cases with its 95 % interval; and from predictions alone, which are ahead "
        "of the labels and right only if the model is unchanged.",
        queries,
    )
    return parts.banded(panel, "labelled", _BLUE)


def _rates() -> object:
    queries = _with_interval("recall", "classifier_recall")
    queries |= _with_interval("false positives", "classifier_false_positive")
    panel = parts.lines(
        "Recall and false-positive rate",
        "With their 95 % intervals. Opposite ways: the model got better or worse; together: it "
        "moved along its curve.",
        queries,
    )
    return parts.banded(parts.banded(panel, "recall", _GREEN), "false positives", _RED)


def _outcomes() -> object:
    return parts.lines(
        "Outcomes in the window",
        "Labelled outcomes of the predictions made in it.",
        {"{{outcome}}": f"classifier_window_outcomes{_TOTALS}"},
        unit="short",
        width=parts.THIRD,
    )


def _coverage() -> object:
    return parts.lines(
        "Labelled share",
        "Of the predictions made in the window, by what was predicted. Where it falls, the "
        "rest speaks of fewer and other cases.",
        {"predicted {{predicted}}": f"classifier_label_coverage_ratio{_TOTALS}"},
        width=parts.THIRD,
    )


def _evidence() -> object:
    panel = parts.lines(
        "Evidence for a fall of skill",
        "Over the threshold that pages: at 1 the detector fires, and then starts anew.",
        {
            "evidence": 'classifier_detector_evidence_ratio{model="$model"}',
            "has fired": 'classifier_degradation_detected{model="$model"}',
        },
        unit="none",
        width=parts.THIRD,
    )
    return parts.with_limit(panel, 1)


def model_detail() -> Dashboard:
    """Which segment moved?"""
    board = parts.new(
        "Precision monitor: model detail",
        "precision-monitor-model-detail",
        "Which segment moved? Segments lie inside totals and windows overlap: nothing here is to "
        "be added up.",
        "7d",
    )
    windows = 'classifier_window_outcomes{model="$model",window!="all"}'
    board = (
        board.with_variable(parts.choice("model", "Model", "classifier_window_info", "model"))
        .with_variable(
            parts.choice("window", "Window", 'classifier_window_info{model="$model"}', "window")
        )
        .with_variable(parts.choice("segment", "Segment", windows, "segment"))
        .with_variable(parts.runbooks())
        .annotation(parts.deployments())
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
            "The model as a whole": [_skill(), _class_ratio(), *_delays()],
        },
    )


def _segments() -> object:
    def by_value(expr: str) -> str:
        return f"sum by (value) ({expr}{_BY_SEGMENT})"

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
    queries = {"{{value}}": f"{series}{_BY_SEGMENT}"}
    return parts.lines(title, "By value of the segment.", queries, width=parts.THIRD)


def _traffic() -> object:
    return parts.lines(
        "Outcomes in the window",
        "By value of the segment.",
        {"{{value}}": f"sum by (value) (classifier_window_outcomes{_BY_SEGMENT})"},
        unit="short",
        width=parts.THIRD,
    )


def _skill() -> object:
    stem = "classifier_log_likelihood_ratio"
    queries = {
        "skill": f"{stem}{_TOTALS}",
        "skill, upper": f"{stem}_upper{_TOTALS}",
        "skill, lower": f"{stem}_lower{_TOTALS}",
    }
    panel = parts.lines(
        "Skill: log LR+",
        "log TPR - log FPR, with its 95 % interval: prevalence has cancelled out.",
        queries,
        unit="none",
    )
    return parts.banded(panel, "skill", _ORANGE)


def _class_ratio() -> object:
    return parts.lines(
        "Precision, as it is and at given class ratios",
        "What precision would be if positives to negatives stood at the class ratio.",
        {
            "as it is": f"classifier_precision_ratio{_TOTALS}",
            "estimated from predictions alone": f"classifier_precision_estimated_ratio{_WINDOW}",
            "at {{class_ratio}}": f"classifier_reference_precision_ratio{_TOTALS}",
        },
    )


def _delays() -> list[object]:
    buckets = 'sum by (label, le) (classifier_label_delay_seconds_bucket{model="$model"})'
    quantiles = {
        f"{share:.0%} of {{{{label}}}}": f"histogram_quantile({share}, {buckets})"
        for share in (0.5, 0.99)
    }
    return [
        parts.lines(
            "How late labels come",
            "From a prediction to its label, by actual class, since the monitor started; and the "
            "age at which windows end.",
            {**quantiles, "maturity": 'classifier_label_maturity_seconds{model="$model"}'},
            unit="s",
        ),
        parts.lines(
            "Labels that changed their mind",
            "Outcomes an hour that moved from one cell to another.",
            {
                "{{from}} to {{to}}": "increase(classifier_label_transitions_total"
                '{model="$model",from!="none",to!="none"}[1h])'
            },
            unit="short",
        ),
    ]


def monitor_health() -> Dashboard:
    """Does the monitor take what it is given, and is it up to date?"""
    board = parts.new(
        "Precision monitor: monitor health",
        "precision-monitor-health",
        "Does the monitor take what it is given, and is it up to date? A silent monitor is no "
        "good news.",
        "1d",
    )
    board = board.with_variable(
        parts.choice("instance", "Monitor", "precision_monitor_build_info", "instance")
    ).with_variable(parts.runbooks())
    return parts.in_rows(
        board,
        {
            "Now": [
                parts.name(
                    "Version",
                    "What is running.",
                    {"{{version}}": f"precision_monitor_build_info{_MONITOR}"},
                    parts.LOW,
                ),
                *_health_now(),
            ],
            "What comes": [_records(), _rejected(), _predictions()],
            "Where it stands": [_behind(), _states(), _label_states()],
            "What it costs": [_memory(), _cpu(), _scrapes()],
        },
    )


_MONITOR = '{instance="$instance"}'
_NOW = f"precision_monitor_now_timestamp_seconds{_MONITOR}"


def _health_now() -> list[object]:
    overflow = "increase(precision_monitor_segment_values_overflowed_total"
    waiting = f"sum(precision_monitor_pending_predictions{_MONITOR})"
    return [
        parts.value("Scraped", "1 where it went well.", {"up": f"up{_MONITOR}"}, unit="none"),
        parts.value(
            "Series",
            "Models and segment values that are counted.",
            {"series": f"precision_monitor_series{_MONITOR}"},
            unit="short",
        ),
        parts.value(
            "Waiting", "Predictions that wait for a label.", {"waiting": waiting}, unit="short"
        ),
        parts.value(
            "Beyond limits",
            "Predictions of the last day that count as __other__ in their segment.",
            {"overflow": f"{overflow}{_MONITOR}[1d])"},
            unit="short",
        ),
    ]


def _third(title: str, about: str, queries: parts.Queries, unit: str) -> object:
    return parts.lines(title, about, queries, unit=unit, width=parts.THIRD)


def _records() -> object:
    return _third(
        "Records a second",
        "Read, and taken by type.",
        {
            "read": f"rate(precision_monitor_records_total{_MONITOR}[5m])",
            "{{type}}": f"rate(precision_monitor_events_total{_MONITOR}[5m])",
        },
        "cps",
    )


def _rejected() -> object:
    return _third(
        "Rejected a second",
        "By reason; the dead-letter file holds the records.",
        {"{{reason}}": f"rate(precision_monitor_events_rejected_total{_MONITOR}[5m])"},
        "cps",
    )


def _predictions() -> object:
    return _third(
        "Predictions and labels a second",
        "By model.",
        {
            "{{model}}, predictions": "sum by (model) "
            f"(rate(classifier_predictions_total{_MONITOR}[5m]))",
            "{{model}}, labels": f"sum by (model) (rate(classifier_labels_total{_MONITOR}[5m]))",
        },
        "cps",
    )


def _behind() -> object:
    return _third(
        "How far behind the clock",
        "Event time against the wall: of recorded data it is as old as the data.",
        {
            "now": f"time() - {_NOW}",
            "watermark": f"time() - precision_monitor_watermark_timestamp_seconds{_MONITOR}",
        },
        "s",
    )


def _states() -> object:
    return _third(
        "Where predictions stand",
        "The states add up to all that were received.",
        {"{{state}}": f"sum by (state) (precision_monitor_predictions{_MONITOR})"},
        "short",
    )


def _label_states() -> object:
    return _third(
        "Where labels stand",
        "The states add up to all that were received.",
        {"{{state}}": f"precision_monitor_labels{_MONITOR}"},
        "short",
    )


def _memory() -> object:
    return _third(
        "Memory",
        "Of the process, and of the predictions that wait in it.",
        {
            "process": f"process_resident_memory_bytes{_MONITOR}",
            "waiting predictions": f"precision_monitor_pending_bytes{_MONITOR}",
        },
        "bytes",
    )


def _cpu() -> object:
    return _third(
        "CPU",
        "Cores in use.",
        {"cores": f"rate(process_cpu_seconds_total{_MONITOR}[5m])"},
        "none",
    )


def _scrapes() -> object:
    stem = "precision_monitor_scrape_duration_seconds"
    return _third(
        "A scrape takes",
        "In the mean, by format.",
        {
            "{{format}}": f"rate({stem}_sum{_MONITOR}[5m])\n"
            f"  / (rate({stem}_count{_MONITOR}[5m]) > 0)"
        },
        "s",
    )


ALL = {
    "on-call.json": on_call,
    "model-detail.json": model_detail,
    "monitor-health.json": monitor_health,
}
"""Each dashboard by its file."""
