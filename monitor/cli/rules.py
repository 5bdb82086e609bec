"""`precision-monitor rules`."""

from __future__ import annotations

from argparse import Namespace

from monitor.cli.output import show
from monitor.config import Config, load_config
from monitor.config.asked_duration import asked_duration
from monitor.config.quantities import parse_base_url
from monitor.errors import UsageError
from monitor.prometheus.rules import Scope, as_grafana, as_kubernetes, as_prometheus, groups

_RELATIVE = """\
# runbook_url is a path within the project: --runbooks URL makes it a link to where your team
# reads deploy/README.md and monitor/drift/README.md."""
_ANY_MODEL = """\
# Rendered without a configuration: for models whose labels count as they are. Where labels are a
# sample, weighted, of flagged cases alone or partly wrong (labelling, label_errors), counts are no
# evidence, and alerts would name wrong numbers: render the rules with -c monitor.yaml."""


def run(args: Namespace) -> int:
    """Print recording and alerting rules for the configured models.

    Returns:
        The exit code.

    Raises:
        MonitorError: an option or the configuration cannot be used.
    """
    config = load_config(args.config) if args.config else Config.default()
    scope = Scope.of(
        config,
        job=args.job,
        runbooks=_url("--runbooks", args.runbooks),
        dashboards=_url("--dashboards", args.dashboards),
        objective_severity=args.objective_severity,
        label_silence=_duration("--label-silence", args.label_silence),
        prediction_silence=_duration("--prediction-silence", args.prediction_silence),
    )
    if not scope.runbooks:
        show(_RELATIVE)
    if not args.config:
        show(_ANY_MODEL)
    if args.grafana is not None:
        show(as_grafana(groups(scope), args.grafana).rstrip("\n"))
        return 0
    write = as_kubernetes if args.kubernetes else as_prometheus
    show(write(groups(scope)))
    return 0


def _url(option: str, text: str) -> str:
    """Return a base of links with its final slash; "" for none."""
    if not text:
        return ""
    try:
        return parse_base_url(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}, got {text!r}") from error


def _duration(option: str, text: str) -> str:
    """Check that an option is a duration above 0 that Prometheus accepts."""
    asked_duration(option, text, "12h")
    return text
