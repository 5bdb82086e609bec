"""`precision-monitor check-config`."""

from argparse import Namespace

from monitor.cli.config_warnings import warn
from monitor.cli.failures import USAGE
from monitor.cli.output import show, tell
from monitor.config import describe, load_config
from monitor.exporter.otlp.availability import unavailable_push
from monitor.service.listeners import refused_listeners
from monitor.service.sources import missing_files, unavailable_feeds


def run(args: Namespace) -> int:
    """Print what a configuration means, and what prevents `run`.

    Returns:
        The exit code; 2 if `run` would stop.

    Raises:
        ConfigError: the configuration has faults.
    """
    config = load_config(args.file)
    feeds = (*unavailable_feeds(config), *missing_files(config)) if config.feeds else ()
    faults = (*feeds, *unavailable_push(config), *refused_listeners(config))
    for fault in faults:
        tell(f"`run` would stop: {fault}")
    show(describe(config))
    if not faults:
        show("ok")
    warn(config)
    if not config.feeds:
        tell(f"`run` needs a feed: {unavailable_feeds(config)[0]}")
    return USAGE if faults else 0
