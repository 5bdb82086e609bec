"""Output of a command: data to stdout, messages to stderr."""

import sys

from monitor.report.printable import printable


def show(text: str = "") -> None:
    """Print a line of data to stdout, and flush."""
    sys.stdout.write(f"{printable(text)}\n")
    sys.stdout.flush()


def tell(text: str) -> None:
    """Print a message to stderr."""
    sys.stderr.write(f"{printable(text)}\n")
    sys.stderr.flush()
