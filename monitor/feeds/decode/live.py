"""A decoder whose settings can change while feeds use it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from monitor.events.columns import EventBatch
from monitor.feeds.class_tally import ClassTally
from monitor.feeds.decode.decoder import Decoder
from monitor.feeds.decode.reasons import Fault, Fields
from monitor.feeds.decode.scanning import RowLayout
from monitor.feeds.decode.settings import DecodeSettings


class LiveDecoder(Decoder):
    """Decodes by the latest settings; safe to use from any thread.

    Args:
        settings: as of `Decoder`.
        class_tally: likewise.

    Attributes:
        current: a decoder of the latest settings, which a later `replace` does not change.

    >>> decoder = LiveDecoder(DecodeSettings())
    >>> before = decoder.current
    >>> decoder.replace(DecodeSettings(models={}))
    >>> before is decoder.current
    False
    """

    def __init__(self, settings: DecodeSettings, class_tally: ClassTally | None = None) -> None:
        super().__init__(settings, class_tally)
        self.current = Decoder(settings)

    def replace(self, settings: DecodeSettings) -> None:
        """Use other settings for all later calls."""
        self.settings, self.current = settings, Decoder(settings)

    def decode_lines(
        self, data: bytes, *, source: str, first_line: int = 1, latest_ms: int | None = None
    ) -> EventBatch:
        """As `Decoder.decode_lines`, by the latest settings at the time of the call."""
        return self.current.decode_lines(
            data, source=source, first_line=first_line, latest_ms=latest_ms
        )

    def decode_rows(
        self,
        data: bytes,
        read: Callable[[bytes], Fields | Fault],
        *,
        layout: RowLayout | None,
        source: str,
        first_line: int,
    ) -> EventBatch:
        """As `Decoder.decode_rows`, by the latest settings at the time of the call."""
        return self.current.decode_rows(
            data, read, layout=layout, source=source, first_line=first_line
        )

    def decode_fields(
        self,
        rows: Sequence[Fields | Fault],
        *,
        position: Callable[[int], str],
        record: Callable[[int], bytes],
        latest_ms: int | None = None,
    ) -> EventBatch:
        """As `Decoder.decode_fields`, by the latest settings at the time of the call."""
        return self.current.decode_fields(
            rows, position=position, record=record, latest_ms=latest_ms
        )
