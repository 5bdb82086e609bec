"""Room for the lines of a block: as for the block before, and enough for every other one."""

from types import SimpleNamespace

import msgspec
import pytest
from same import differences

from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.decode.scanning import Scanner
from monitor.kernel import compiled_module

COMPILED = compiled_module()
pytestmark = pytest.mark.skipif(COMPILED is None, reason="the kernel is not compiled")

LONG = [
    {"type": "prediction", "id": f"{i}", "ts": i, "prediction": i % 2, "more": "x" * 900}
    for i in range(70)
]
SHORT = [{"type": "label", "id": f"{i}", "ts": i, "label": i % 2} for i in range(2_000)]
BLOCKS = [msgspec.json.Encoder().encode_lines(records) for records in (LONG, SHORT, SHORT, LONG)]


class Counted:
    """The kernel, and how often it has scanned and counted lines."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def module(self) -> SimpleNamespace:
        return SimpleNamespace(
            FIELDS=COMPILED.FIELDS, scan=self._noted("scan"), count_lines=self._noted("count_lines")
        )

    def _noted(self, name):
        def call(*given):
            self.calls.append(name)
            return getattr(COMPILED, name)(*given)

        return call


def test_a_block_with_more_lines_than_the_one_before_is_scanned_again():
    counted = Counted()
    scanner = Scanner(counted.module(), DecodeSettings())
    python = Decoder(DecodeSettings(), kernel="python")
    for block, calls in zip(BLOCKS, [3, 3, 1, 1], strict=True):
        counted.calls.clear()
        found, expected = scanner.scan(block, None), python.decode_lines(block, source="t")
        assert not list(differences(found.batch, expected))
        assert len(counted.calls) == calls


def test_short_lines_that_are_left_leave_no_room_for_as_many_in_the_next_block(monkeypatch):
    counted = Counted()
    scanner = Scanner(counted.module(), DecodeSettings())
    scanner.scan(BLOCKS[1][: BLOCKS[1].index(b"\n") + 1] + b"x\n" * 50_000, None)
    rooms = []
    written = Scanner._written_columns
    monkeypatch.setattr(
        Scanner,
        "_written_columns",
        lambda self, data, room, *rest: rooms.append(room) or written(self, data, room, *rest),
    )
    scanner.scan(BLOCKS[1], None)
    assert len(SHORT) < rooms[0] < len(BLOCKS[1]) / 10
