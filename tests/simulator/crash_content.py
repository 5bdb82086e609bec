"""The content of files and directories that a machine may leave when it stops.

What was synced is there. Of the changes since, any may be there, in any order, and a write in
parts.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random
from typing import NamedTuple

SECTOR = 512
"""Bytes that a disk writes as a whole."""
Tree = dict[str, "bytes | Tree"]
"""Files and directories by name."""


class Write(NamedTuple):
    """Bytes that were written at an offset."""

    offset: int
    data: bytes

    def onto(self, content: bytes) -> bytes:
        end = self.offset + len(self.data)
        if not self.data:
            return content
        return content[: self.offset].ljust(self.offset, b"\0") + self.data + content[end:]

    def survivors(self, chance: Random, size: int) -> list[Write]:
        """What the disk may have of it: nothing, all, a beginning, zeros, or some sectors.

        Args:
            chance: decides.
            size: of the file before; what is behind it may be zeros.
        """
        kind = chance.randrange(6)
        if kind == 0 or not self.data:
            return []
        if kind == 1:
            return [self]
        cut = chance.randrange(len(self.data) + 1)
        if kind == 2:
            return [Write(self.offset, self.data[:cut])]
        if kind == 3:  # the file has its size, and not all of its data
            end, zeros = self.offset + len(self.data), max(size, self.offset + cut)
            return [Write(self.offset, self.data[:cut]), Write(zeros, bytes(max(0, end - zeros)))]
        edges = [0, *range(-self.offset % SECTOR or SECTOR, len(self.data), SECTOR)]
        sectors = zip(edges, [*edges[1:], len(self.data)], strict=True)
        return [Write(self.offset + a, self.data[a:b]) for a, b in sectors if chance.randrange(3)]


class Cut(NamedTuple):
    """The file has another size."""

    size: int

    def onto(self, content: bytes) -> bytes:
        return content[: self.size].ljust(self.size, b"\0")

    def survivors(self, chance: Random, _: int) -> list[Cut]:
        return [self] * chance.randrange(2)


class FileNode:
    """A file: what a process reads, what is durable of it, and what is not yet.

    Attributes:
        content: what a process reads.
    """

    def __init__(self, durable: bytes = b"") -> None:
        self._durable = self.content = durable
        self._pending: list[Write | Cut] = []

    def change(self, change: Write | Cut) -> None:
        self.content = change.onto(self.content)
        self._pending.append(change)

    def sync(self) -> None:
        self._durable, self._pending = self._with(self._pending), []

    def fail(self, chance: Random) -> None:
        """A sync fails: what was written is read as before, and later syncs leave parts out."""
        self._pending = self._survivors(chance)

    def left(self, chance: Random | None) -> bytes:
        """What is left of it when the machine stops; the least where there is no chance."""
        return self._durable if chance is None else self._with(self._survivors(chance))

    def _survivors(self, chance: Random) -> list[Write | Cut]:
        size = len(self._durable)
        return [found for one in self._pending for found in one.survivors(chance, size)]

    def _with(self, changes: list[Write | Cut]) -> bytes:
        content = self._durable
        for change in changes:
            content = change.onto(content)
        return content


class NameChange(NamedTuple):
    """A name was removed, or added, or both as one."""

    removed: str | None
    added: str | None
    node: FileNode | DirectoryNode

    def apply(self, names: dict[str, FileNode | DirectoryNode]) -> None:
        if self.removed is not None and names.get(self.removed) is self.node:
            del names[self.removed]
        if self.added is not None:
            names[self.added] = self.node


class DirectoryNode:
    """A directory: names that are durable, and changes that are not yet."""

    def __init__(self, tree: Tree | None = None) -> None:
        self.names: dict[str, FileNode | DirectoryNode] = {
            name: FileNode(found) if isinstance(found, bytes) else DirectoryNode(found)
            for name, found in (tree or {}).items()
        }
        self._durable = dict(self.names)
        self._pending: list[NameChange] = []

    @property
    def content(self) -> Tree:
        """What a process finds."""
        return {name: node.content for name, node in self.names.items()}

    def change(
        self, removed: str | None, added: str | None, node: FileNode | DirectoryNode
    ) -> None:
        self._pending.append(NameChange(removed, added, node))
        self._pending[-1].apply(self.names)

    def sync(self) -> None:
        self._durable, self._pending = dict(self.names), []

    def left(self, chance: Random | None) -> Tree:
        """What is left of it when the machine stops; the least where there is no chance."""
        names, changes = dict(self._durable), list(self._pending)
        if chance is None:
            changes = []
        elif chance.randrange(2):  # as most file systems do
            del changes[chance.randrange(len(changes) + 1) :]
        else:
            changes = [change for change in changes if chance.randrange(2)]
        for change in changes:
            change.apply(names)
        return {name: node.left(chance) for name, node in names.items()}


def read_tree(folder: Path) -> Tree:
    """Return the files and directories of a directory."""
    return {
        path.name: read_tree(path) if path.is_dir() else path.read_bytes()
        for path in sorted(folder.iterdir())
    }


def write_tree(tree: Tree, folder: Path) -> None:
    """Let a directory hold these files and directories, and nothing else."""
    for path in [*folder.iterdir()] if folder.exists() else []:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    folder.mkdir(exist_ok=True)
    for name, found in tree.items():
        if isinstance(found, bytes):
            (folder / name).write_bytes(found)
        else:
            write_tree(found, folder / name)
