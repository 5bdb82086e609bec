"""What to do with a file that is one JSON object around all of its records."""

from __future__ import annotations

import re
from collections.abc import Sequence

from monitor.events.reject_reasons import Rejection

_RECORDS = re.compile(rb'"(?P<key>[A-Za-z_]\w*)"\s*:\s*\[\s*\{')
"""A list of objects, and its name."""
_BY_COLUMN = re.compile(rb'\{"[^"]+":\{"0":')
_SPLIT = re.compile(rb'\{\s*"(columns|index|data|schema)"\s*:\s*[\[{]')
_LINES = 'in pandas df.to_json("NEW.ndjson", orient="records", lines=True)'


def document_hint(examples: Sequence[Rejection]) -> str:
    r"""Return how to write the records of a JSON object as lines; "" where it is no such object.

    Args:
        examples: the first rejected records of a file.

    >>> from monitor.events.reject_reasons import RejectReason
    >>> whole = Rejection(RejectReason.TOO_LARGE, "f:1", "record: is", b'{"rows": [{"id": 7}]}')
    >>> document_hint([whole])
    "the file is one JSON object: write its records as lines, as jq -c '.rows[]' FILE > NEW.ndjson"
    """
    if len(examples) != 1:
        return ""
    record = examples[0].record.lstrip()
    if _BY_COLUMN.match(record) or _SPLIT.match(record):
        return f"the file is one table by columns: write its rows as lines, {_LINES}"
    found = _RECORDS.search(record)
    if found is None or not record.startswith(b"{"):
        return ""
    each = f".{found['key'].decode()}[]"
    return (
        "the file is one JSON object: write its records as lines, as "
        f"jq -c '{each}' FILE > NEW.ndjson"
    )
