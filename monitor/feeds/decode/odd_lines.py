"""Lines that msgspec does not take as records: written in another form, or with a fault.

A body may have a hundred thousand lines of which none fits, so that the reason for each must cost
little: msgspec reads a line once, and it is held against the rules before anything tries to convert
it. The standard library reads only lines that msgspec cannot read, or reads in another way.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import msgspec

from monitor.events.reject_reasons import RejectReason
from monitor.feeds.decode.completed import completed
from monitor.feeds.decode.lines import BLANK, is_utf8
from monitor.feeds.decode.reasons import Fault, Fields, NotARecordError, no_object, parse
from monitor.feeds.decode.record_faults import RecordFaults
from monitor.feeds.decode.records import Record, RecordTypes
from monitor.feeds.decode.settings import DecodeSettings
from monitor.feeds.decode.time_texts import with_rfc_3339

UNDECODABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What msgspec raises for a line that it cannot read."""
_SHORT = 512
"""Bytes of a line that cannot be nested too deeply for either parser."""
_LONG_NUMBER = re.compile(rb"\d{21}")
"""`parse` reads such integers as floats."""


class OddLines:
    """Reads lines one by one.

    Args:
        settings: the accepted models.
        types: the record types made for them.
        faults: finds the first fault of a record.
    """

    def __init__(self, settings: DecodeSettings, types: RecordTypes, faults: RecordFaults) -> None:
        self._types, self._faults = types, faults
        self._longest = settings.max_record_bytes
        self._decode = msgspec.json.Decoder(types.any).decode
        self._read = msgspec.json.Decoder().decode

    def read(
        self, line: bytes, latest_ms: int | None, *, doubted: bool = False
    ) -> Record | Fault | None:
        """Return the record of a line, or its first fault; None for a blank line.

        A record may have to be completed first; columns may still find it unfit.

        Args:
            line: without its newline.
            latest_ms: the latest accepted event time, epoch milliseconds; None for no bound.
            doubted: look for a fault before the line is converted. What is returned is the same,
                sooner where there is one.
        """
        if len(line) > self._longest or not is_utf8(line):
            return self._parsed_fault(line, latest_ms)
        try:
            record: Record = self._decode(line)
        except UNDECODABLE:
            return self._odd(line, latest_ms, doubted=doubted)
        return record

    def _odd(self, line: bytes, latest_ms: int | None, *, doubted: bool) -> Record | Fault | None:
        try:
            written: Any = self._read(line)
        except UNDECODABLE:
            written = None
        if not isinstance(written, dict):
            if written is not None and _is_as_parsed(line):
                return Fault(RejectReason.MALFORMED, f"record: {no_object(written)}")
            return self._parsed_fault(line, latest_ms) if line.strip(BLANK) else None
        fields, is_as_parsed = completed(written), _is_as_parsed(line)
        doubted = doubted and is_as_parsed
        if not doubted and (record := self._record(written, fields)):
            return record
        if not is_as_parsed:
            return self._parsed_fault(line, latest_ms)
        fault = self._faults.first(fields, latest_ms)
        if fault is None and doubted and (record := self._record(written, fields)):
            return record
        return fault or self._strict_fault(line)

    def fault(self, line: bytes, latest_ms: int | None) -> Fault:
        """Return the first fault of a line whose record the columns found unfit.

        Args:
            line: without its newline.
            latest_ms: as in `read`.
        """
        fault = None
        if _is_as_parsed(line):
            with suppress(*UNDECODABLE):  # in a field that records do not have
                fault = self._faults.first(completed(self._read(line)), latest_ms)
        return fault or self._parsed_fault(line, latest_ms)

    def converted(self, fields: Fields) -> Record:
        """Return a record; its times may have any form of ISO 8601.

        Args:
            fields: of the record.

        Raises:
            msgspec.ValidationError: they are no record.
        """
        record: Record = msgspec.convert(with_rfc_3339(fields), self._types.of(fields))
        return record

    def _record(self, written: Fields, fields: Fields) -> Record | None:
        """Return the record that only its completed fields make; None if it is unfit."""
        if fields is written and (fields := with_rfc_3339(fields)) is written:
            return None
        try:
            return self.converted(fields)
        except UNDECODABLE:
            return None

    def _parsed_fault(self, line: bytes, latest_ms: int | None) -> Fault:
        if len(line) > self._longest:
            return Fault(RejectReason.TOO_LARGE, f"record: must be at most {self._longest} bytes")
        try:
            fields = completed(parse(line))
            return self._faults.first(fields, latest_ms) or self._strict_fault(line)
        except NotARecordError as error:
            return Fault(RejectReason.MALFORMED, f"record: {error}")

    def _strict_fault(self, line: bytes) -> Fault:
        """Find a fault that only the strict decoder sees: NaN in an ignored field, two types."""
        try:
            self._read(line)  # malformed, wherever the fault lies
            self._decode(line)
        except msgspec.ValidationError as error:
            return Fault(RejectReason.BAD_VALUE, f"record: {error}")
        except UNDECODABLE as error:
            return Fault(RejectReason.MALFORMED, f"record: {error}")
        return Fault(RejectReason.BAD_VALUE, "record: cannot be used")


def _is_as_parsed(line: bytes) -> bool:
    """Return whether `parse` reads a line as msgspec does, if msgspec can."""
    return len(line) <= _SHORT and not _LONG_NUMBER.search(line)
