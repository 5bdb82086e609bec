"""`precision-monitor sample`."""

from __future__ import annotations

import sys
from argparse import Namespace

from monitor.demo.claims import Story, cases, event_lines, table_lines


def run(args: Namespace) -> int:
    """Print made-up events.

    Returns:
        The exit code.
    """
    written = table_lines if args.csv else event_lines
    sys.stdout.writelines(f"{line}\n" for line in written(cases(Story(args.story), args.seed)))
    return 0
