"""Decodes lines of JSON whose fields have other names than those of events."""

from __future__ import annotations

from typing import Any

import msgspec

from monitor.config.mapping import MappedRecords
from monitor.events.columns import EventBatch
from monitor.events.reject_reasons import RejectReason
from monitor.feeds.decode import Decoder, LineDecoder
from monitor.feeds.decode.lines import BLANK, BOM, is_utf8
from monitor.feeds.decode.reasons import Fault, Fields, NotARecordError, parse
from monitor.feeds.mapping.class_texts import ClassTexts
from monitor.feeds.mapping.field_sources import sources_of_records
from monitor.feeds.mapping.record_reader import RecordReader
from monitor.feeds.mapping.values import mapped_readers

_UNDECODABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class MappedLines:
    """Decodes NDJSON by a mapping; a decoder of lines for any feed.

    Args:
        decoder: decodes the fields; its settings may change meanwhile.
        mapping: which columns hold them.
    """

    def __init__(self, decoder: Decoder, mapping: MappedRecords) -> None:
        self._decoder = decoder
        self._mapping = mapping
        self._readers = mapped_readers(mapping, decoder.class_tally)
        self._json = msgspec.json.Decoder()

    def decode_lines(
        self, data: bytes, *, source: str, first_line: int = 1, latest_ms: int | None = None
    ) -> EventBatch:
        """Return the events of a block of whole NDJSON lines, as `Decoder.decode_lines` does.

        Args:
            data: whole lines; the last one may lack its newline.
            source: name of the feed, for positions.
            first_line: number of the block's first line in the source, from 1 on.
            latest_ms: latest event time accepted, epoch milliseconds; None for that of the
                settings.
        """
        if first_line == 1:
            data = data.removeprefix(BOM)
        lines = data.replace(b"\r\n", b"\n").removesuffix(b"\r").split(b"\n")
        numbered = [(number, line) for number, line in enumerate(lines) if line.strip(BLANK)]
        settings = self._decoder.settings
        sources = sources_of_records(self._mapping, settings.segment_keys)
        texts = ClassTexts(settings, self._mapping)
        reader = RecordReader(sources, self._readers, class_texts=texts)
        return self._decoder.decode_fields(
            [self._fields(line, reader) for _, line in numbered],
            position=lambda row: f"{source}:{first_line + numbered[row][0]}",
            record=lambda row: numbered[row][1],
            latest_ms=latest_ms,
        )

    def _fields(self, line: bytes, reader: RecordReader) -> Fields | Fault:
        longest = self._decoder.settings.max_record_bytes
        if len(line) > longest:
            return Fault(RejectReason.TOO_LARGE, f"record: must be at most {longest} bytes")
        try:
            found = self._object(line)
        except NotARecordError as error:
            return Fault(RejectReason.MALFORMED, f"record: {error}")
        return reader.fields(found)

    def _object(self, line: bytes) -> dict[str, Any]:
        try:
            found = self._json.decode(line)
        except _UNDECODABLE:
            return parse(line)
        return found if isinstance(found, dict) and is_utf8(line) else parse(line)


def canonical_lines(lines: bytes, mapping: MappedRecords, decoder: Decoder) -> bytes:
    r"""Return records of a mapping as events with their own names, a line each.

    A line that is no JSON object stays as it is: decoding says what is wrong with it.

    Args:
        lines: NDJSON.
        mapping: which columns hold the fields.
        decoder: has the segment keys, and the tally of classes.

    >>> from monitor.feeds.decode import DecodeSettings
    >>> mapping = MappedRecords(fields={"ts": "time"})
    >>> line = b'{"id": 7, "time": 5, "label": 1}\n'
    >>> canonical_lines(line, mapping, Decoder(DecodeSettings()))
    b'{"id":"7","label":1,"ts":5.0,"type":"label"}\n'
    """
    sources = sources_of_records(mapping, decoder.settings.segment_keys)
    reader = RecordReader(
        sources,
        mapped_readers(mapping, decoder.class_tally),
        class_texts=ClassTexts(decoder.settings, mapping),
    )
    return b"".join(_canonical(line, reader) + b"\n" for line in lines.split(b"\n") if line)


def _canonical(line: bytes, reader: RecordReader) -> bytes:
    try:
        record = msgspec.json.decode(line)
        if isinstance(record, dict) and is_utf8(line):
            return msgspec.json.encode(dict(reader.fields(record)))
    except _UNDECODABLE:
        pass
    return line


def lines_decoder(decoder: Decoder, mapping: MappedRecords | None) -> LineDecoder:
    """Return a decoder of lines by a mapping; the decoder itself where there is none.

    Args:
        decoder: of the fields of events.
        mapping: of the feed; None without one.
    """
    return MappedLines(decoder, mapping) if mapping is not None and mapping.is_mapped else decoder
