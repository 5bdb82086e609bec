"""The file in a zip archive that holds a single one."""

from __future__ import annotations

import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import BinaryIO, NamedTuple

from monitor.errors import FeedError

ZIP_MAGIC = b"PK\x03\x04"
_OF_MAC = "__MACOSX/"
"""Folder that archives of macOS have beside the files."""
_SHOWN = 3


class Member(NamedTuple):
    """A file of an archive.

    Attributes:
        name: in the archive.
        stream: its content, in a temporary file.
    """

    name: str
    stream: BinaryIO


@contextmanager
def only_member(archive: BinaryIO, name: str) -> Iterator[Member]:
    """Give the file of an archive, unpacked.

    Args:
        archive: zip, open for reading and seeking.
        name: of the archive, for messages.

    Raises:
        FeedError: the archive holds no file or several, is damaged, or cannot be unpacked.
    """
    with TemporaryFile() as unpacked:
        try:
            with zipfile.ZipFile(archive) as opened:
                member = _only(opened, name)
                with opened.open(member) as content:
                    shutil.copyfileobj(content, unpacked)
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise FeedError(f"{name}: is a damaged zip archive: {error}") from error
        except (RuntimeError, NotImplementedError) as error:  # encrypted; an unusual compression
            raise FeedError(f"{name}: cannot be unpacked: {error}; unpack it yourself") from error
        unpacked.seek(0)
        yield Member(member, unpacked)


def _only(archive: zipfile.ZipFile, name: str) -> str:
    names = [
        member.filename
        for member in archive.infolist()
        if not member.is_dir() and not member.filename.startswith(_OF_MAC)
    ]
    if len(names) != 1:
        shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
        raise FeedError(
            f"{name}: must hold a single file, got {shown or 'none'}; unpack it, and give the files"
        )
    return names[0]
