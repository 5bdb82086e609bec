"""The series of a monitor that forwards its counts to another one."""

from enum import StrEnum

from monitor.prometheus.process_series import SeriesDescription


class FailureReason(StrEnum):
    """Why counts could not be forwarded."""

    UNREACHABLE = "unreachable"
    BUSY = "busy"
    REFUSED = "refused"
    ANOTHER_STATE = "another_state"


FORWARD_LAST_SUCCESS = SeriesDescription(
    name="precision_monitor_forward_last_success_timestamp_seconds",
    kind="gauge",
    labels=(),
    meaning="Wall time when the receiver last acknowledged a batch of counts; absent before.",
)
FORWARD_UNSENT = SeriesDescription(
    name="precision_monitor_forward_unsent_changes",
    kind="gauge",
    labels=(),
    meaning="Changes of counts that the receiver has not acknowledged: predictions, labels and "
    "moved outcomes. Absent until the journal is replayed after a start.",
)
FORWARD_FAILURES = SeriesDescription(
    name="precision_monitor_forward_failures_total",
    kind="counter",
    labels=("reason",),
    meaning="Attempts to forward counts that failed since the start, by reason: unreachable, busy "
    "(429 and 5xx), refused (other answers), or another_state of a receiver that began anew.",
)
FORWARD_REJECTED = SeriesDescription(
    name="precision_monitor_forward_rejected_total",
    kind="counter",
    labels=(),
    meaning="Forwarded records with counts that the receiver could not use since the start, as "
    "those of a model that it does not know.",
)

FORWARD_DIFFERING = SeriesDescription(
    name="precision_monitor_forward_differing_settings",
    kind="gauge",
    labels=(),
    meaning="Settings by which events become counts that differ from those of the receiver: pane, "
    "and segments, max_segment_values, labelling, label_sources, label_timeout, horizon and clock "
    "of each model; absent until an answer of the receiver has shown them.",
)

FORWARD_SERIES = (
    FORWARD_LAST_SUCCESS,
    FORWARD_UNSENT,
    FORWARD_FAILURES,
    FORWARD_REJECTED,
    FORWARD_DIFFERING,
)
"""Families that a monitor with `forward` serves."""
