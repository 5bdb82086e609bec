"""Recognizes files that still hold the content that was read from them."""

from __future__ import annotations

from pathlib import Path

from monitor.feeds.follow.content import (
    head_of,
    matches_trailer,
    opened,
    same_content,
    trailer_of,
)
from monitor.feeds.follow.file_part import FilePart
from monitor.feeds.follow.mark import Mark
from monitor.feeds.follow.names import Listed


def was_cut(part: FilePart, path: str) -> bool:
    """Return whether a file holds another content than the part that was read from it.

    For gzip only the first bytes are compared here; the rest when it is opened.

    Args:
        part: the content that the file held.
        path: of the file.

    Raises:
        OSError: the file cannot be read.
    """
    head = head_of(path)
    if not part.head:
        return False
    if head.packed != part.packed or not same_content(head.first, part.head):
        return True
    return not part.packed and not _holds(part, path)


def has_more(part: FilePart, path: str) -> bool:
    """Return whether a gzip file that was read to its end has another end now.

    Args:
        part: its content; gets the checksum if its position is of a version without one.
        path: of the file.

    Raises:
        OSError: the file cannot be read.
    """
    if not part.packed or not part.done:
        return False
    trailer = trailer_of(path)
    if part.given.crc is None:  # early versions stored none
        part.given = part.got = trailer
    return part.torn or not matches_trailer(trailer, part.given)


def is_lost(part: FilePart, there: set[tuple[int, int]]) -> bool:
    """Return whether a content was not read to its end, and no listed file holds it.

    Args:
        part: the content.
        there: inodes of the listed files.
    """
    return part.content is None and not part.done and part.inode not in there


def is_in(part: FilePart, there: set[tuple[int, int]]) -> bool:
    """Return whether a content is in an open or a listed file.

    Args:
        part: the content.
        there: inodes of the listed files.
    """
    return part.content is not None or part.inode in there


def whole(one: Listed, *, packed: bool) -> Mark:
    """Return the mark of a whole file, without reading all of it: some parts stay unknown.

    Args:
        one: the file.
        packed: True for gzip.
    """
    if packed:
        return trailer_of(one.path)
    content = opened(one.path, one.status.st_size)
    content.close()
    return content.before


def has_left(part: FilePart) -> bool:
    """Return whether another file is at the path of a part, or one that was cut."""
    try:
        status = Path(part.path).stat()
    except OSError:
        return False
    return (status.st_dev, status.st_ino) != part.inode or (
        not part.packed and status.st_size < part.read
    )


def _holds(part: FilePart, path: str) -> bool:
    """Return whether a plain file still holds the last bytes that were read."""
    content = opened(path, part.read)
    content.close()
    return part.got.agrees(content.before)
