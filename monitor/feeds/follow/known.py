"""Whether files still hold what is known of them."""

from __future__ import annotations

from monitor.feeds.follow.content import Mark, head_of, is_told_by, opened, same_content, trailer_of
from monitor.feeds.follow.file_part import FilePart
from monitor.feeds.follow.names import Listed


def was_cut(part: FilePart, path: str) -> bool:
    """Whether the file of a content has changed so that it holds something else.

    What is packed is compared as a whole once it is opened.

    Raises:
        OSError: it cannot be read.
    """
    head = head_of(path)
    if not part.head:
        return False
    if head.packed != part.packed or not same_content(head.first, part.head):
        return True
    return not part.packed and not _holds(part, path)


def has_more(part: FilePart, path: str) -> bool:
    """Whether a packed file that was read to its end has another end now.

    Raises:
        OSError: it cannot be read.
    """
    if not part.packed or not part.done:
        return False
    trailer = trailer_of(path)
    if part.given.crc is None:  # a position of before it was remembered
        part.given = part.got = trailer
    return part.torn or not is_told_by(trailer, part.given)


def is_lost(part: FilePart, there: set[tuple[int, int]]) -> bool:
    """Whether a content was not read to its end, and is not in any file that is known."""
    return part.content is None and not part.done and part.inode not in there


def is_in(part: FilePart, there: set[tuple[int, int]]) -> bool:
    """Whether a content is in a file that is known."""
    return part.content is not None or part.inode in there


def whole(one: Listed, *, packed: bool) -> Mark:
    """The mark of all that a file holds, as far as it can be had without reading it all."""
    if packed:
        return trailer_of(one.path)
    content = opened(one.path, one.status.st_size)
    content.close()
    return content.before


def _holds(part: FilePart, path: str) -> bool:
    """Whether a file that is not packed still holds what was read of it, by its end."""
    content = opened(path, part.read)
    content.close()
    return part.got.agrees(content.before)
