"""Maximum number of records in one request."""

from monitor.feeds.http.responses import RefusedError

MAX_RECORDS = 100_000
"""Bounds the memory of rejected records, each of which has a reason."""


def too_many_records() -> RefusedError:
    """Create the error for a request with more than `MAX_RECORDS` records."""
    return RefusedError(
        413, f"a request must have at most {MAX_RECORDS} records; split it into several"
    )
