"""Alerts about the monitor itself: a silent monitor must not look like a healthy model."""

from __future__ import annotations

from monitor.prometheus.rules import links, templates
from monitor.prometheus.rules.rule import Alert
from monitor.prometheus.rules.scope import GAP, Scope, select

REJECTED_SHARE = 0.01
"""Share of the records of an hour that may be unusable."""
FEWEST_REJECTED = 20
"""Rejected records in an hour, below which their share means nothing."""
CLOCK_SECONDS = 60
"""Difference between two clocks above which one of them is wrong."""
FALSE_TIMES_SHARE = 0.9
"""Share of the records of two minutes whose times cannot all be wrong."""
NOT_FORWARDED_SECONDS = 900
"""Seconds without an acknowledgement before the alert; attempts are at most 5 minutes apart."""
STALLED_SECONDS = 5
"""Seconds without a turn of the loop after which it counts as stalled."""


def monitor_alerts(scope: Scope) -> list[Alert]:
    """Return the alerts about the monitor's process, input and state."""
    return [
        _down(scope),
        _rejected(scope),
        _clock(scope),
        _series(scope),
        _checkpoint(scope),
        _not_forwarded(scope),
        _forward_rejected(scope),
        _forward_differs(scope),
        _stalled(scope),
        _reload_failed(scope),
        _watchdog(scope),
    ]


def _down(scope: Scope) -> Alert:
    up = select("up", job=scope.job)
    return Alert(
        name="MonitorDown",
        why="No scrape succeeded for 5 minutes, or there is no target. absent() returns no "
        "labels of a missing series, so the rule adds the job.",
        expr=f"max_over_time({up}[5m]) == 0\nor\nabsent_over_time({up}[5m])",
        severity="page",
        hold="1m",
        labels={"job": scope.job},
        summary=f"No precision monitor answers{templates.AT_INSTANCE}: no model is watched",
        description="While this fires, the absence of other alerts means nothing. "
        "Look at the process and its log; run `precision-monitor healthcheck` beside it.",
        runbook=scope.link("deploy/README.md#monitordown"),
        dashboard=links.health(scope),
    )


def _rejected(scope: Scope) -> Alert:
    rejected = "sum without (reason) (increase(precision_monitor_events_rejected_total[1h]))"
    reasons = (
        "topk({}, sum by (reason) (increase("
        "precision_monitor_events_rejected_total{{instance=%q}}[1h])) > 0)"
    )
    mostly, three = (f"printf `{reasons.format(n)}` $labels.instance | query" for n in (1, 3))
    return Alert(
        name="EventsRejected",
        why=f"More than {REJECTED_SHARE:.0%} of the records of an hour, and at least "
        f"{FEWEST_REJECTED}: a single bad record is no ticket.",
        expr=f"{rejected}\n  / increase(precision_monitor_records_total[1h])\n"
        f"  > {REJECTED_SHARE}\nand\n{rejected} >= {FEWEST_REJECTED}",
        severity="ticket",
        hold="10m",
        keep="30m",
        summary=f"{templates.INSTANCE}: {{{{ $value | humanizePercentage }}}} of the last hour's "
        f"records rejected{{{{ range {mostly} }}}}, mostly {{{{ .Labels.reason }}}}{{{{ end }}}}",
        description="Rejected records count nowhere. The dead-letter file holds them, each with "
        "its reason.",
        numbers=f" In the last hour:{{{{ range {three} | sortByLabel `reason` }}}} "
        "{{ .Labels.reason }} {{ .Value | printf `%.0f` }}{{ end }}.",
        runbook=scope.link("deploy/README.md#eventsrejected"),
        dashboard=links.health(scope),
    )


def _clock(scope: Scope) -> Alert:
    clock, since = "precision_monitor_clock_timestamp_seconds", "[2m]"
    reason = select("precision_monitor_events_rejected_total", reason="timestamp_out_of_range")
    records = f"increase(precision_monitor_records_total{since})"

    def most(events: str) -> str:
        return f"{events}\n  > {FALSE_TIMES_SHARE} * {records}\nand\n{records} >= {FEWEST_REJECTED}"

    rejected = f"sum without (reason) (increase({reason}{since}))"
    ahead = f"sum without (model) (increase(precision_monitor_events_ahead_total{since}))"
    return Alert(
        name="MonitorClockWrong",
        why="First by the clock of Prometheus. Then by the events, in case both run on one host: "
        f"more than {FALSE_TIMES_SHARE:.0%} of the records of two minutes, and at least "
        f"{FEWEST_REJECTED}, are rejected for their times, or set aside as far ahead of the clock.",
        expr=f"abs({clock} - timestamp({clock})) > {CLOCK_SECONDS}\nor\n(\n{most(rejected)}\n)"
        f"\nor\n(\n{most(ahead)}\n)",
        severity="ticket",
        keep="5m",
        summary=f"{templates.INSTANCE}: the clock of the monitor's host is wrong",
        description="It is more than a minute away from that of Prometheus, or from the times of "
        "nearly all events. Posted events that lie more than an hour ahead of the clock are "
        "rejected, others ahead of it are set aside and move no window. Set the clock; senders "
        "have to send again what was rejected.",
        runbook=scope.link("deploy/README.md#monitorclockwrong"),
        dashboard=links.health(scope),
    )


def _series(scope: Scope) -> Alert:
    left = "sum without (kind) (precision_monitor_series_left_out{instance=%q})"
    total = "precision_monitor_segment_values_overflowed_total"
    return Alert(
        name="SeriesLimitReached",
        why="Either max_series leaves segment values or models out of the scrape, or segment "
        "values beyond a limit are counted as __other__. What is exported is exact.",
        expr="sum without (kind) "
        f"(max_over_time(precision_monitor_series_left_out[{GAP}])) > 0\n"
        f"or\nincrease({total}[1h]) > 0",
        severity="ticket",
        hold="10m",
        keep="2h",
        summary=f"{templates.INSTANCE}: limit of series reached"
        + templates.of_monitor_above_0(left, "left out")
        + templates.of_monitor_above_0(
            f"increase({total}{{instance=%q}}[1h])", "predictions under __other__"
        ),
        description="Models and segment values are left out of scrapes, which have at most "
        f"{scope.max_series} series, or predictions of the last hour count as __other__ in their "
        "segment. A segment has more values than its limit, often because it holds an id or "
        "free text. Totals are right, breakdowns are not complete; a model that is left out has "
        "no alerts. Remove the key from `segments`, or raise `max_segment_values` or "
        "`max_series`.",
        runbook=scope.link("deploy/README.md#serieslimitreached"),
        dashboard=links.health(scope),
    )


def _checkpoint(scope: Scope) -> Alert:
    newest = f"max_over_time(precision_monitor_checkpoint_last_success_timestamp_seconds[{GAP}])"
    began = f"max_over_time(precision_monitor_state_began_timestamp_seconds[{GAP}])"
    return Alert(
        name="CheckpointStale",
        why="The newest checkpoint is old, or there is none although counting began long ago. "
        "By age, not by failures: a process that hangs reports none.",
        expr=f"time() - {newest} > {scope.stale_seconds}\nor\n"
        f"time() - {began} > {scope.stale_seconds}\nunless\n{newest}",
        severity="ticket",
        hold="5m",
        keep="10m",
        summary=f"{templates.INSTANCE}: no checkpoint for {{{{ $value | humanizeDuration }}}}",
        description="The newest checkpoint is that old, or none was written since counting began. "
        "Nothing is lost yet: counting goes on. Until the next checkpoint the journals grow, "
        "and a restart takes longer, because it reads all events since the last one again. "
        "Look at the log and at the disk of the state directory.",
        runbook=scope.link("deploy/README.md#checkpointstale"),
        dashboard=links.health(scope),
    )


def _not_forwarded(scope: Scope) -> Alert:
    newest = f"last_over_time(precision_monitor_forward_last_success_timestamp_seconds[{GAP}])"
    began = f"last_over_time(precision_monitor_state_began_timestamp_seconds[{GAP}])"
    unsent = f"last_over_time(precision_monitor_forward_unsent_changes[{GAP}])"
    return Alert(
        name="CountsNotForwarded",
        why="Only where something waits: a monitor without events has nothing to forward. Where "
        "the receiver never took a batch, the age is that of the state.",
        expr=f"(\n  time() - {newest} > {NOT_FORWARDED_SECONDS}\n  or\n"
        f"  time() - {began} > {NOT_FORWARDED_SECONDS}\n  unless\n  {newest}\n)\nand\n"
        f"{unsent} > 0",
        severity="ticket",
        hold="5m",
        keep="10m",
        summary=f"{templates.INSTANCE}: counts not forwarded for "
        "{{ $value | humanizeDuration }}",
        description="The monitor that receives the counts lacks what this one has counted since. "
        "Its event time waits for this monitor for a while, and then moves on without it. Nothing "
        "is lost: counts add up here, and are sent once the receiver takes them. Look at the log "
        "of this monitor, which says what the receiver answers.",
        runbook=scope.link("deploy/README.md#countsnotforwarded"),
        dashboard=links.health(scope),
    )


def _forward_rejected(scope: Scope) -> Alert:
    rejected = "increase(precision_monitor_forward_rejected_total[1h])"
    return Alert(
        name="ForwardedCountsRejected",
        why="Each rejected record is lost to the receiver for good, so that one is enough.",
        expr=f"{rejected} > 0",
        severity="ticket",
        keep="30m",
        summary=f"{templates.INSTANCE}: {{{{ $value | printf `%.0f` }}}} records of counts "
        "rejected by the receiver",
        description="The monitor that judges the whole cannot use them, and they are not sent "
        "again: it lacks what they count. This monitor has counted them. Its log has an example "
        "with the reason.",
        runbook=scope.link("deploy/README.md#forwardedcountsrejected"),
        dashboard=links.health(scope),
    )


def _forward_differs(scope: Scope) -> Alert:
    return Alert(
        name="ForwardedSettingsDiffer",
        why="Held, so that a change of the same settings at shards and receiver is none.",
        expr=f"max_over_time(precision_monitor_forward_differing_settings[{GAP}]) > 0",
        severity="ticket",
        hold="1h",
        keep="10m",
        summary=f"{templates.INSTANCE}: {{{{ $value | printf `%.0f` }}}} settings that count "
        "differ from those of the receiver",
        description="This monitor turns events into counts by other settings (pane, segments, "
        "labels, label_timeout, horizon or clock) than the monitor that judges the whole, whose "
        "windows are then not those of one monitor over all events. The log of this monitor names "
        "them.",
        runbook=scope.link("deploy/README.md#forwardedsettingsdiffer"),
        dashboard=links.health(scope),
    )


def _stalled(scope: Scope) -> Alert:
    stall = "precision_monitor_loop_stall_seconds"
    return Alert(
        name="MonitorLoopStalled",
        why="The series holds the longest stall of five minutes, so that one between two scrapes "
        f"is seen. More than {STALLED_SECONDS} s: a batch is counted in steps of far less than "
        "one, and the watchdog of the unit waits for 60.",
        expr=f"max_over_time({stall}[{GAP}]) > {STALLED_SECONDS}",
        severity="ticket",
        hold="1m",
        keep="10m",
        summary=f"{templates.INSTANCE}: nothing was read or counted for "
        "{{ $value | humanizeDuration }}",
        description="The main loop, which reads and counts, did not run. The published numbers "
        "do not change meanwhile, posted events wait, and systemd's watchdog ends the process "
        "after a minute without a turn. Nothing is lost. Look at the CPU and the disk of the "
        "machine, and at the stall of checkpoints.",
        runbook=scope.link("deploy/README.md#monitorloopstalled"),
        dashboard=links.health(scope),
    )


def _reload_failed(scope: Scope) -> Alert:
    return Alert(
        name="ConfigReloadFailed",
        why="The last sample: a repaired file fires no ticket, and a failed scrape neither fires "
        "nor resolves it.",
        expr=f"last_over_time(precision_monitor_config_last_reload_successful[{GAP}]) == 0",
        severity="ticket",
        hold="10m",
        summary=f"{templates.INSTANCE}: changed configuration file refused"
        "{{ with printf `time() - precision_monitor_config_last_reload_success_timestamp_seconds"
        "{instance=%q}` $labels.instance | query }}; the one in force is "
        "{{ . | first | value | humanizeDuration }} old{{ end }}",
        description="The monitor keeps the previous configuration. Its log lists every fault with "
        "its line; a restart would end with exit code 2.",
        runbook=scope.link("deploy/README.md#configreloadfailed"),
        dashboard=links.health(scope),
    )


def _watchdog(scope: Scope) -> Alert:
    return Alert(
        name="Watchdog",
        why="Always fires. Its receiver must report when it stops, because then no alert arrives.",
        expr="vector(1)",
        severity="none",
        summary="Alerts arrive",
        description="This alert always fires. Send it to a service that reports when it stops.",
        runbook=scope.link("deploy/README.md#watchdog"),
    )
