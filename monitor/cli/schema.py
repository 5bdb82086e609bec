"""`precision-monitor schema`."""

import json
from argparse import Namespace

from monitor.cli.output import show
from monitor.config import json_schema


def run(_: Namespace) -> int:
    """Print the JSON Schema of the configuration."""
    show(json.dumps(json_schema(), indent=2))
    return 0
