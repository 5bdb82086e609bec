"""Blocks of lines in, batches of columns out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

import msgspec
import numpy as np

from monitor.events.batches import at_rows, concatenate, with_groups_in_use
from monitor.events.columns import EventBatch
from monitor.events.reject_reasons import Rejection, RejectReason
from monitor.feeds.class_tally import ClassTally
from monitor.feeds.decode.assemble import Assembler
from monitor.feeds.decode.completed import with_whole_classes
from monitor.feeds.decode.groups import GroupNames
from monitor.feeds.decode.lines import BLANK, BOM, Lines
from monitor.feeds.decode.odd_lines import UNDECODABLE, OddLines
from monitor.feeds.decode.reasons import Fault, Fields
from monitor.feeds.decode.record_faults import RecordFaults
from monitor.feeds.decode.records import Record, RecordTypes
from monitor.feeds.decode.scanning import RowLayout, Scanner
from monitor.feeds.decode.settings import DecodeSettings
from monitor.kernel import Kernel, compiled_module, kernel_in_use

MAX_REJECTED_BYTES = 1024
"""Bytes of its record that a rejection stores."""


class _Decoded(NamedTuple):
    """Typed records, and the positions of all records (line or row, from 0 on).

    Attributes:
        records: the records that msgspec could decode.
        positions: position of each of these.
        undecodable: positions of the others.
        longest: upper bound of a record's size as text, bytes; None if unknown.
        faults: those of the others that are known already, by position.
    """

    records: list[Record]
    positions: Sequence[int]
    undecodable: Sequence[int]
    longest: int | None = None
    faults: Mapping[int, Fault] = {}


class LineDecoder(Protocol):
    """Decodes NDJSON: `Decoder`, or one whose records have other names."""

    def decode_lines(
        self, data: bytes, *, source: str, first_line: int = 1, latest_ms: int | None = None
    ) -> EventBatch:
        """Return the events of a block of whole lines; see `Decoder.decode_lines`."""
        ...


class Decoder:
    r"""Decodes records into columns, for one set of models.

    Args:
        settings: the accepted models, their thresholds and their segments.
        class_tally: of records with a mapping; one of its own by default.
        kernel: what scans blocks of lines; None for that of this process.

    Attributes:
        class_tally: the values of classes that came, as records with a mapping write them.
        compiled: the module `monitor.kernel.compiled`; None where Python decodes.

    >>> decoder = Decoder(DecodeSettings())
    >>> batch = decoder.decode_lines(
    ...     b'{"type":"label","id":"a","ts":1.5,"label":1}\n{"type":"label"}\n', source="feed"
    ... )
    >>> batch.labels.time, batch.labels.value, batch.records
    (array([1500]), array([1]), 2)
    >>> [(r.position, str(r.reason), r.detail) for r in batch.rejected]
    [('feed:2', 'missing_field', 'id: is missing')]
    """

    def __init__(
        self,
        settings: DecodeSettings,
        class_tally: ClassTally | None = None,
        *,
        kernel: Kernel | None = None,
    ) -> None:
        self.compiled = compiled_module() if (kernel or kernel_in_use()) == "c" else None
        scans = self.compiled is not None and settings.id_texts is None
        self._scanner = Scanner(self.compiled, settings) if scans else None
        self.settings, self._faults = settings, RecordFaults(settings)
        self.class_tally = ClassTally() if class_tally is None else class_tally
        self._types = RecordTypes(settings.segment_keys, named=settings.has_class_names)
        self._names = GroupNames(settings, self._types.segment_values)
        self._json = msgspec.json.Decoder(self._types.any)
        self._odd = OddLines(settings, self._types, self._faults)

    def decode_lines(
        self, data: bytes, *, source: str, first_line: int = 1, latest_ms: int | None = None
    ) -> EventBatch:
        """Decode a block of whole NDJSON lines.

        Blank lines are no records, and a byte order mark at the start of line 1 is
        skipped. No content of the block raises an error: what cannot be used is in
        `rejected` of the batch.

        Args:
            data: whole lines; the last one may lack its newline.
            source: name of the feed, for positions.
            first_line: number of the block's first line in the source, from 1 on.
            latest_ms: the latest accepted event time, epoch milliseconds; None for
                that of the settings.
        """
        if first_line == 1:
            data = data.removeprefix(BOM)
        latest = self.settings.latest_ms if latest_ms is None else latest_ms
        scanned = self._scanner.scan(data, latest) if self._scanner else None
        if scanned is None:
            return self._decoded(data, latest, lambda line: f"{source}:{first_line + line}")
        if not scanned.left:
            return scanned.batch
        rows = scanned.rows.tolist()
        left = self._decoded(scanned.left, latest, lambda i: f"{source}:{first_line + rows[i]}")
        return _beside(scanned.batch, at_rows(left, scanned.rows))

    def _decoded(
        self, data: bytes, latest_ms: int | None, position: Callable[[int], str]
    ) -> EventBatch:
        """Decode a block of lines without the kernel."""
        lines = Lines(data)
        decoded = self._whole(lines) or self._line_by_line(lines, latest_ms)

        def reject(line: int) -> Rejection:
            text = lines.texts[line]
            fault = decoded.faults.get(line) or self._odd.fault(text, latest_ms)
            return _rejection(fault, position(line), text)

        return self._batch(decoded, latest_ms, reject)

    def decode_rows(
        self,
        data: bytes,
        read: Callable[[bytes], Fields | Fault],
        *,
        layout: RowLayout | None,
        source: str,
        first_line: int,
    ) -> EventBatch:
        """Decode a block of whole lines that are rows of cells.

        Blank lines are no records.

        Args:
            data: the block; its last line may lack its newline.
            read: gives the fields of a line, or why it cannot be read.
            layout: where each cell belongs; None where only `read` knows.
            source: name of the feed, for positions.
            first_line: number of the block's first line in the source, from 1 on.
        """
        scanned = None
        if self._scanner and layout:
            scanned = self._scanner.scan(data, self.settings.latest_ms, layout)
        left = (data if scanned is None else scanned.left).split(b"\n")
        numbers = range(len(left)) if scanned is None else scanned.rows.tolist()
        numbered = [
            (number, line.removesuffix(b"\r"))
            for number, line in zip(numbers, left, strict=False)
            if line.strip(BLANK)
        ]
        if scanned and not numbered:
            return scanned.batch
        found = self.decode_fields(
            [read(line) for _, line in numbered],
            position=lambda row: f"{source}:{first_line + numbered[row][0]}",
            record=lambda row: numbered[row][1],
        )
        found = at_rows(found, np.array([number for number, _ in numbered], np.int64))
        return _beside(scanned.batch, found) if scanned else found

    def decode_fields(
        self,
        rows: Sequence[Fields | Fault],
        *,
        position: Callable[[int], str],
        record: Callable[[int], bytes],
        latest_ms: int | None = None,
    ) -> EventBatch:
        """Decode records that another format has read as fields.

        Args:
            rows: records as JSON values (or aware datetimes) by field name, `type`
                included; a fault in the place of a record that could not be read.
            position: gives the position in the source of a row by its index.
            record: gives a row as text by its index, for the dead-letter file.
            latest_ms: as in `decode_lines`.
        """
        latest = self.settings.latest_ms if latest_ms is None else latest_ms
        decoded = self._row_by_row(rows)

        def reject(row: int) -> Rejection:
            return _rejection(self._fields_fault(rows[row], latest), position(row), record(row))

        try:
            return self._batch(decoded, latest, reject)
        except UnicodeEncodeError:  # a lone surrogate, which text of Python may have
            unfit = {row for row, fields in enumerate(rows) if self._fault_of(fields, latest)}
            return self._batch(_without(decoded, unfit), latest, reject)

    def _whole(self, lines: Lines) -> _Decoded | None:
        """Decode all lines at once; None if a line has to be decoded on its own."""
        longest = lines.longest
        if not (
            lines.splits_objects and longest <= self.settings.max_record_bytes and lines.is_utf8
        ):
            return None
        try:
            records = self._json.decode_lines(lines.data)
        except UNDECODABLE:
            return None
        if len(records) != len(lines):
            return None
        return _Decoded(records, range(len(records)), (), longest)

    def _line_by_line(self, lines: Lines, latest_ms: int | None) -> _Decoded:
        records: list[Record] = []
        positions: list[int] = []
        faults: dict[int, Fault] = {}
        read, doubted = self._odd.read, False
        for position, line in enumerate(lines.texts):
            found = read(line, latest_ms, doubted=doubted)  # a fault seldom comes alone
            if isinstance(found, Fault):
                faults[position] = found
            elif found is not None:
                records.append(found)
                positions.append(position)
            doubted = position in faults
        return _Decoded(records, positions, [*faults], faults=faults)

    def _row_by_row(self, rows: Sequence[Fields | Fault]) -> _Decoded:
        records: list[Record] = []
        positions, undecodable = [], []
        for position, row in enumerate(rows):
            try:
                records.append(self._record(row))
                positions.append(position)
            except (msgspec.ValidationError, UnicodeEncodeError):
                undecodable.append(position)
        return _Decoded(records, positions, undecodable)

    def _record(self, row: Fields | Fault) -> Record:
        kind = self._types.any if isinstance(row, Fault) else self._types.of(row)
        try:
            record: Record = msgspec.convert(row, kind)
        except msgspec.ValidationError:
            if isinstance(row, Fault):
                raise
            record = self._odd.converted(with_whole_classes(row))
        return record

    def _batch(
        self, decoded: _Decoded, latest_ms: int | None, reject: Callable[[int], Rejection]
    ) -> EventBatch:
        made = Assembler(
            decoded.records, self._types, self._names, latest_ms, decoded.longest
        ).assemble()
        unfit = [decoded.positions[index] for index in made.unfit]
        batch = with_groups_in_use(made.batch) if unfit else made.batch
        if self._scanner and batch.class_names:
            self._scanner.learn(batch.class_names)
        if not isinstance(decoded.positions, range):
            batch = at_rows(batch, np.array(decoded.positions, np.int64))
        return replace(
            batch,
            rejected=tuple(map(reject, sorted([*decoded.undecodable, *unfit]))),
            records=len(decoded.positions) + len(decoded.undecodable),
        )

    def _fields_fault(self, row: Fields | Fault, latest_ms: int | None) -> Fault:
        fault = self._fault_of(row, latest_ms)
        return fault or Fault(RejectReason.BAD_VALUE, "record: cannot be used")

    def _fault_of(self, row: Fields | Fault, latest_ms: int | None) -> Fault | None:
        if isinstance(row, Fault):
            return row
        return self._faults.first(with_whole_classes(row), latest_ms)


def _beside(scanned: EventBatch, left: EventBatch) -> EventBatch:
    """Return what the kernel takes of a block with what it leaves; it finds groups of both."""
    return with_groups_in_use(concatenate([scanned, left], interleaved=True))


def _without(decoded: _Decoded, unfit: Collection[int]) -> _Decoded:
    """Return records without those at some positions, which cannot be decoded either."""
    pairs = zip(decoded.records, decoded.positions, strict=True)
    fit = [(record, position) for record, position in pairs if position not in unfit]
    return _Decoded(
        [record for record, _ in fit],
        [position for _, position in fit],
        sorted({*decoded.undecodable, *unfit}),
    )


def _rejection(fault: Fault, position: str, record: bytes) -> Rejection:
    cut = record[:MAX_REJECTED_BYTES]
    return Rejection(fault.reason, position, fault.detail, cut, fault.unknown_class)
