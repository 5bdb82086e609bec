"""How many records one request may hold."""

from monitor.feeds.http.responses import RefusedError

MAX_RECORDS = 100_000
"""What cannot be used takes memory, each record with its reason."""


def too_many() -> RefusedError:
    """The refusal of more."""
    return RefusedError(413, f"a request must hold at most {MAX_RECORDS} records; send it in parts")
