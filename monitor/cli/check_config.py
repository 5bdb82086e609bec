"""`precision-monitor check-config`."""

from argparse import Namespace
from collections import Counter

from monitor.cli.config_warnings import warn
from monitor.cli.failures import USAGE
from monitor.cli.output import show, tell
from monitor.cli.rejected_records import RejectedRecords
from monitor.cli.rejection_hints import hint
from monitor.config import describe, load_config
from monitor.exporter.otlp.availability import unavailable_push
from monitor.service.feed_check import Finding, check_feeds
from monitor.service.listeners import refused_listeners
from monitor.service.sources import missing_files, unavailable_feeds


def run(args: Namespace) -> int:
    """Print what a configuration means, and what prevents `run` from reading its feeds.

    Returns:
        The exit code; 2 if `run` would stop, or miss events of a feed.

    Raises:
        ConfigError: the configuration has faults.
    """
    config = load_config(args.file)
    feeds = (*unavailable_feeds(config), *missing_files(config)) if config.feeds else ()
    faults = (*feeds, *unavailable_push(config), *refused_listeners(config))
    for fault in faults:
        tell(f"`run` would stop: {fault}")
    found = check_feeds(config)
    for finding in found:
        if finding.is_fault:
            tell(f"`run` would miss events of {finding.text}{_advice(finding)}")
    show(describe(config))
    if args.rate is not None:
        from monitor.cli.readiness import readiness  # noqa: PLC0415  # scipy, for a rate alone

        for sentence in readiness(config, *args.rate):
            show(sentence)
    is_ok = not (faults or any(finding.is_fault for finding in found))
    if is_ok:
        show("ok")
    warn(config)
    for finding in found:
        if not finding.is_fault:
            tell(f"{finding.text}{_advice(finding)}")
    if not config.feeds:
        tell(f"`run` needs a feed: {unavailable_feeds(config)[0]}")
    return 0 if is_ok else USAGE


def _advice(finding: Finding) -> str:
    """Return what to write so that the rejected records can be used; "" where none are."""
    if not finding.rejected:
        return ""
    rejected = RejectedRecords({finding.text: finding.feed})
    rejected.add(finding.rejected)
    ((most, _),) = Counter(one.reason for one in finding.rejected).most_common(1)
    return f"; {hint(most, rejected)}"
