"""Turns rows of a database into columns, by the mapping of the feed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from monitor.config import SqlFeed
from monitor.events.columns import EventBatch
from monitor.feeds import table_fields
from monitor.feeds.decode import Decoder
from monitor.feeds.mapping.class_texts import ClassTexts
from monitor.feeds.mapping.field_sources import sources_of_table
from monitor.feeds.mapping.record_reader import RecordReader
from monitor.feeds.mapping.values import mapped_readers
from monitor.feeds.sql.cursor import Row


class RowDecoder:
    """Decodes the rows of a feed.

    Args:
        name: name of the feed, for the positions of records.
        feed: settings of the feed.
        decoder: decodes the fields; its settings may change meanwhile.
    """

    def __init__(self, name: str, feed: SqlFeed, decoder: Decoder) -> None:
        self._name = name
        self._feed = feed
        self._decoder = decoder
        self._readers = mapped_readers(feed, decoder.class_tally)

    def decode(self, columns: Sequence[str], rows: Sequence[Row]) -> EventBatch:
        """Return the events of some rows; the position of a rejected one is `NAME@CURSOR`.

        Args:
            columns: names of the columns.
            rows: the rows.

        Raises:
            FeedError: a column that the mapping names is not there, or none holds the time.
        """
        settings = self._decoder.settings
        sources = sources_of_table(self._name, columns, self._feed, settings.segment_keys)
        kind = table_fields.type_of_rows(sources.fields)
        texts = ClassTexts(settings, self._feed)
        reader = RecordReader(sources, self._readers, kind, class_texts=texts)
        return self._decoder.decode_fields(
            [reader.fields({name: _plain(value) for name, value in row.items()}) for row in rows],
            position=lambda row: f"{self._name}@{rows[row][self._feed.cursor]}",
            record=lambda row: _as_text(rows[row]),
        )


def _plain(value: Any) -> Any:
    """Return a value as fields hold it: decimals as numbers."""
    if isinstance(value, Decimal) and value.is_finite():
        return int(value) if value == value.to_integral_value() else float(value)
    return value


def _as_text(row: Row) -> bytes:
    return json.dumps(row, ensure_ascii=False, default=str).encode(errors="replace")
