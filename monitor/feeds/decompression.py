"""Decompresses gzip and zstd, recognized by content."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from itertools import chain

from monitor.feeds.blocks import GZIP_MAGIC, TornError, inflated, sliced
from monitor.feeds.zipped import ZIP_MAGIC

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPED = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
"""Start of a frame that decompressors skip, which pzstd and seekable zstd write first."""
_PIECE = 1 << 20
_MAX_WINDOW_LOG = 23
"""Largest window of a zstd frame, log2 of bytes: 8 MiB, as RFC 8878 recommends."""
_WINDOW_LOG = zstd.DecompressionParameter.window_log_max


_OTHERS = {
    ZIP_MAGIC: "it is a zip archive; give a file whose name ends in .zip, or unpack it, and save "
    "the sheet of an Excel workbook as CSV",
    b"BZh91AY&SY": "it is compressed by bzip2; decompress it with bunzip2",
    b"\xfd7zXZ\x00": "it is compressed by xz; decompress it with unxz",
    b"Obj\x01": "it is an Avro file; write it as Parquet, CSV or NDJSON",
    b"SQLite format 3\x00": "it is a SQLite database; read it by a feed of type sql",
    b"\x89HDF\r\n\x1a\n": "it is an HDF5 file; write it as Parquet, CSV or NDJSON",
    b"\xd0\xcf\x11\xe0": "it is a file of Excel; save it as CSV",
}
"""First bytes of formats that are not read as a stream, and what to do."""


def decompressed(stream: Iterator[bytes]) -> Iterator[bytes]:
    """Return a stream, decompressed if it is gzip or zstd.

    Args:
        stream: bytes, cut anywhere.

    Raises:
        TornError: while reading: the stream is damaged or ends too early.
        OSError: it is of a format that is not read so.
    """
    first = next(stream, b"")
    for magic, advice in _OTHERS.items():
        if first.startswith(magic):
            raise OSError(advice)
    whole = chain([first], stream)
    if first.startswith(GZIP_MAGIC):
        return inflated(whole)
    return unzstd(whole) if _is_zstd(first) else whole


def is_compressed(start: bytes) -> bool:
    """Return True for the first bytes of gzip or zstd."""
    return start.startswith(GZIP_MAGIC) or _is_zstd(start)


def _is_zstd(start: bytes) -> bool:
    return start.startswith(ZSTD_MAGIC) or _ZSTD_SKIPPED.match(start) is not None


def unzstd(
    compressed: Iterable[bytes], size: int = _PIECE, *, most_frames: int | None = None
) -> Iterator[bytes]:
    """Decompress zstd frames, with bounded memory however well they compress.

    Args:
        compressed: bytes, cut anywhere.
        size: most decompressed bytes yielded at a time.
        most_frames: maximum number of frames; None for any number.

    Raises:
        TornError: the stream ends within a frame, is not zstd from some point on, or has
            too many frames. All bytes up to there were yielded.
    """
    frame: zstd.ZstdDecompressor | None = None
    frames = 0
    # A frame hands back all that follows it, so that pieces bound the cost of many frames.
    for piece in sliced(compressed):
        rest = piece
        while rest or (frame is not None and not frame.needs_input):
            if frame is None:
                frame = zstd.ZstdDecompressor(options={_WINDOW_LOG: _MAX_WINDOW_LOG})
                frames += 1
            if most_frames is not None and frames > most_frames:
                raise TornError(f"zstd data has more than {most_frames} frames")
            try:
                data = frame.decompress(rest, size)
            except zstd.ZstdError as error:
                raise TornError(f"zstd data is damaged: {error}") from error
            rest = b""
            if data:
                yield data
            if frame.eof:
                rest, frame = frame.unused_data, None
    if frame is not None:
        raise TornError("zstd data is truncated")
