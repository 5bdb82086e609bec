"""`precision-monitor check-config`."""

from argparse import Namespace

from monitor.cli.config_warnings import warn
from monitor.cli.output import show, tell
from monitor.config import describe, load_config
from monitor.service.listeners import refused_listeners
from monitor.service.sources import unavailable_feeds


def run(args: Namespace) -> int:
    """Print what a configuration means, and what prevents `run`.

    Returns:
        The exit code.

    Raises:
        ConfigError: the configuration has faults.
    """
    config = load_config(args.file)
    show(describe(config))
    show("ok")
    warn(config)
    for fault in (*unavailable_feeds(config), *refused_listeners(config)):
        tell(f"`run` would fail: {fault}")
    return 0
