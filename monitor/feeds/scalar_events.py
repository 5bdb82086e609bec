"""Events that a program gives one by one: checked at once, decoded some thousand at a time."""

from __future__ import annotations

from monitor.config import Config
from monitor.events.columns import EventBatch
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.decode.reasons import Fields
from monitor.feeds.decode.record_faults import RecordFaults

_BUFFERED = 2_000


class ScalarEvents:
    """A buffer of events.

    Args:
        config: models and segments.

    Attributes:
        decoder: of this configuration.
    """

    def __init__(self, config: Config) -> None:
        settings = DecodeSettings.from_config(config)
        self.decoder, self._faults = Decoder(settings), RecordFaults(settings)
        self._buffer: list[Fields] = []

    def __bool__(self) -> bool:
        return bool(self._buffer)

    @property
    def are_many(self) -> bool:
        """Whether it is time to decode them."""
        return len(self._buffer) >= _BUFFERED

    def add(self, fields: Fields) -> None:
        """Add the fields of an event.

        Raises:
            ValueError: the event is invalid; the message names the field.
        """
        if fault := self._faults.first(fields, None):
            raise ValueError(f"{fields['type']} {fields['id']!r}: {fault.detail}")
        self._buffer.append(fields)

    def drained(self) -> EventBatch:
        """Return the events as a batch, and begin anew."""
        buffered, self._buffer = self._buffer, []
        return self.decoder.decode_fields(buffered, position=str, record=lambda _: b"")
