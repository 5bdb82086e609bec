# ruff: noqa: INP001  # scripts beside what they write, no package
"""Monitor health: does it take what it is given, and is it up to date?"""

from __future__ import annotations

from typing import Any

import choices
import parts
from grafana_foundation_sdk.builders.dashboard import Dashboard


def monitor_health() -> Dashboard:
    """Does the monitor take what it is given, and is it up to date?"""
    board = parts.new(
        "Precision monitor: monitor health",
        "precision-monitor-health",
        "Does the monitor take what it is given, and is it up to date? A silent monitor is no "
        "good news.",
        "1d",
    )
    for variable in choices.monitors(one=True):
        board = board.with_variable(variable)
    board = board.with_variable(choices.runbooks()).with_variable(choices.page())
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
            "What is posted, and what is kept": [_requests(), _queue(), _kept()],
            "Kafka": [_lag(), _lost(), _rebalances()],
            "What it costs": [_memory(), _cpu(), _scrapes()],
        },
    )


_MONITOR = choices.MONITORS
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


def _third(title: str, about: str, queries: parts.Queries, unit: str) -> Any:
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


def _requests() -> object:
    return _third(
        "Requests a second",
        "By listener and code: 429 while too much waits to be counted, 503 while nothing can be "
        "kept.",
        {
            "{{listener}}, {{code}}": f"rate(precision_monitor_http_requests_total{_MONITOR}[5m])",
        },
        "reqps",
    )


def _queue() -> object:
    return _third(
        "Turned away, and waiting",
        "Share of the time in which posted events were turned away, by cause; and requests whose "
        "events are on disk and not yet counted.",
        {
            "{{cause}}": f"rate(precision_monitor_ingest_paused_seconds_total{_MONITOR}[5m])",
            "requests that wait": f"precision_monitor_queue_requests{_MONITOR}",
        },
        "none",
    )


def _kept() -> object:
    newest = f"precision_monitor_checkpoint_last_success_timestamp_seconds{_MONITOR}"
    panel = _third(
        "Journal, and age of the newest checkpoint",
        "A restart reads again what came since the checkpoint; what two checkpoints are past is "
        "deleted from the journal.",
        {
            "journal": f"precision_monitor_journal_bytes{_MONITOR}",
            "age of the checkpoint": f"time() - {newest}",
        },
        "bytes",
    )
    return parts.in_unit(panel, "age of the checkpoint", "s")


def _lag() -> object:
    return _third(
        "Lag",
        "Messages that are not counted yet, by topic and partition.",
        {"{{topic}}, {{partition}}": f"precision_monitor_kafka_lag_messages{_MONITOR}"},
        "short",
    )


def _lost() -> object:
    stem = "precision_monitor_kafka"
    return _third(
        "Offsets without a message",
        "Of the last hour, by topic: deleted by the cluster before they were read, which loses "
        "events; or skipped, because they were compacted or aborted.",
        {
            f"{{{{topic}}}}, {kind}": f"sum by (topic) "
            f"(increase({stem}_{kind}_offsets_total{_MONITOR}[1h]))"
            for kind in ("deleted", "skipped")
        },
        "short",
    )


def _rebalances() -> object:
    paused = f"rate(precision_monitor_kafka_paused_seconds_total{_MONITOR}[5m])"
    return _third(
        "Rebalances an hour, and share of time paused",
        "The group assigned partitions anew; a partition is paused while too much of it waits.",
        {
            "rebalances of {{group}}": "increase(precision_monitor_kafka_rebalances_total"
            f"{_MONITOR}[1h])",
            "{{topic}} paused": f"max by (topic) ({paused})",
        },
        "none",
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
