"""The two streams of a command: data on stdout, all that is said besides on stderr."""

import sys

from monitor.report.printable import printable


def show(text: str = "") -> None:
    """A line of data, or of what a person asked to see; there at once."""
    sys.stdout.write(f"{printable(text)}\n")
    sys.stdout.flush()


def tell(text: str) -> None:
    """A line beside the data."""
    sys.stderr.write(f"{printable(text)}\n")
    sys.stderr.flush()
