"""A disk that loses what was not synced, below one directory.

    calls of the program ─┬─▶ real files: what its process, and the next one, sees
                          └─▶ a record: what is left of them when the machine stops

While it is active, a `SimulatedDisk` takes the place of the functions of `os` that change files
and directories. What they do below the root is done, and recorded: of each file the writes and
truncations since its last sync, of each directory the names since its own. When the machine
stops, any of them may be there, in any order, and a write in parts: `crash_content` decides.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import NamedTuple
from unittest.mock import patch

from simulator.crash_content import (
    Cut,
    DirectoryNode,
    FileNode,
    Tree,
    Write,
    read_tree,
    write_tree,
)

_CALLS = ("close", "fsync", "ftruncate", "mkdir", "open", "pwrite", "rename", "unlink")
_OTHERS = ("fdatasync", "link", "remove", "replace", "rmdir", "symlink", "truncate", "write")
_REAL = SimpleNamespace(**{name: getattr(os, name) for name in (*_CALLS, *_OTHERS)})


class Crash(BaseException):
    """The process ends here; no program can handle that."""


class Outcome(NamedTuple):
    """What becomes of a call.

    Attributes:
        done: share of a write that is done; of another call, 1 if it is done.
        error: what it raises then.
    """

    done: float = 1.0
    error: BaseException | None = None


DONE = Outcome()


class SimulatedDisk:
    """The disk below a directory.

    Args:
        root: an existing directory; what is in it is durable.
        chance: what a failed sync leaves.

    Attributes:
        before: called before each call that changes something, with its name and the path;
            returns what becomes of it.
        calls: how many such calls there were.
    """

    def __init__(self, root: Path, chance: Random) -> None:
        self.root = root
        self._chance = chance
        self.before: Callable[[str, str], Outcome] = self.no_fault
        self.calls = 0
        self._tree = DirectoryNode(read_tree(root))
        self._files: dict[int, tuple[str, FileNode | DirectoryNode]] = {}
        self._dead = self._stopping = False

    @staticmethod
    def no_fault(_call: str, _path: str) -> Outcome:
        """Every call is done."""
        return DONE

    @contextmanager
    def failing(self, *calls: str) -> Iterator[None]:
        """Let calls of these names fail meanwhile."""
        before, failed = self.before, Outcome(0.0, OSError(errno.EIO, "Input/output error"))
        self.before = lambda call, path: failed if call in calls else before(call, path)
        yield
        self.before = before

    @contextmanager
    def watched(self, watch: Callable[[], None]) -> Iterator[None]:
        """Let a function look before each call, and after the last."""

        def before(_call: str, _path: str) -> Outcome:
            watch()
            return DONE

        self.before = before
        yield
        watch()
        self.before = self.no_fault

    @contextmanager
    def active(self) -> Iterator[SimulatedDisk]:
        """Take the place of the functions of `os` meanwhile."""
        found = {name: getattr(self, f"_{name}") for name in _CALLS}
        with patch.multiple(os, **found, **{name: self._refusing(name) for name in _OTHERS}):
            yield self

    def left(self, chance: Random | None = None) -> Tree:
        """What would be left if the machine stopped now.

        Args:
            chance: what of that which is not durable is there; nothing if left out.
        """
        return self._tree.left(chance)

    @property
    def content(self) -> Tree:
        """What a process finds now."""
        return self._tree.content

    def kill(self) -> None:
        """End the process: its files are closed, and what it wrote is there for the next one."""
        for descriptor in self._files:
            _REAL.close(descriptor)
        self._files, self._dead = {}, False
        assert read_tree(self.root) == self.content, "a change was not recorded"

    def stop(self, chance: Random | None = None) -> None:
        """Stop the machine, and start it again; see `left`."""
        self.kill()
        self.restore(self.left(chance))

    def restore(self, tree: Tree) -> None:
        """Let the root hold a tree, which is durable."""
        self._stopping = True
        write_tree(tree, self.root)
        self._stopping = False
        self.take_up()

    def take_up(self) -> None:
        """Take what is in the root as durable: others have changed it."""
        self._tree = DirectoryNode(read_tree(self.root))

    def _outcome(self, call: str, path: str) -> Outcome:
        if self._dead:
            raise Crash
        self.calls += 1
        outcome = self.before(call, path)
        self._dead = isinstance(outcome.error, Crash)
        return outcome

    def _do(self, call: str, path: str, change: Callable[[], None]) -> None:
        outcome = self._outcome(call, path)
        if outcome.done == 1:
            change()
        if outcome.error is not None:
            raise outcome.error

    def _parts(self, path: object) -> tuple[str, ...] | None:
        """Return a path below the root as its parts; None for others."""
        if self._stopping or not isinstance(path, (str, os.PathLike)):
            return None
        found = Path(os.fspath(path))
        return found.relative_to(self.root).parts if found.is_relative_to(self.root) else None

    def _node(self, parts: tuple[str, ...]) -> FileNode | DirectoryNode | None:
        node: FileNode | DirectoryNode | None = self._tree
        for part in parts:
            node = node.names.get(part) if isinstance(node, DirectoryNode) else None
        return node

    def _directory(self, parts: tuple[str, ...]) -> DirectoryNode:
        node = self._node(parts[:-1])
        assert isinstance(node, DirectoryNode), parts
        return node

    def _open(self, path, flags, mode=0o777, *, dir_fd=None):
        parts = self._parts(path)
        if parts is None:
            return _REAL.open(path, flags, mode, dir_fd=dir_fd)
        node = self._node(parts)
        if (node is None and flags & os.O_CREAT) or flags & os.O_TRUNC:
            self._do("open", str(path), lambda: None)
        descriptor = _REAL.open(path, flags, mode)
        if node is None:
            node = FileNode()
            self._directory(parts).change(None, parts[-1], node)
        elif flags & os.O_TRUNC:
            node.change(Cut(0))
        self._files[descriptor] = str(path), node
        return descriptor

    def _close(self, descriptor):
        self._files.pop(descriptor, None)
        _REAL.close(descriptor)

    def _pwrite(self, descriptor, data, offset):
        path, node = self._files.get(descriptor, ("", None))
        if node is None:
            return _REAL.pwrite(descriptor, data, offset)
        outcome = self._outcome("pwrite", path)
        data = bytes(data)
        if outcome.done < 1:
            data = data[: int(len(data) * outcome.done)]
        written = _REAL.pwrite(descriptor, data, offset)
        assert written == len(data)
        node.change(Write(offset, data))
        if outcome.error is not None:
            raise outcome.error
        return written

    def _ftruncate(self, descriptor, size):
        path, node = self._files.get(descriptor, ("", None))
        if node is None:
            _REAL.ftruncate(descriptor, size)
            return

        def change():
            _REAL.ftruncate(descriptor, size)
            node.change(Cut(size))

        self._do("ftruncate", path, change)

    def _fsync(self, descriptor):
        path, node = self._files.get(descriptor, ("", None))
        if node is None:
            _REAL.fsync(descriptor)
            return
        try:
            self._do("fsync", path, node.sync)
        except OSError:
            if isinstance(node, FileNode):
                node.fail(self._chance)
            raise

    def _rename(self, source, target, *, src_dir_fd=None, dst_dir_fd=None):
        old, new = self._parts(source), self._parts(target)
        if old is None or new is None:
            assert old == new, "nothing may be moved in or out"
            _REAL.rename(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
            return
        assert old[:-1] == new[:-1], "a rename in one directory is one change"

        def change():
            _REAL.rename(source, target)
            node = self._node(old)
            assert node is not None
            self._directory(old).change(old[-1], new[-1], node)

        self._do("rename", str(target), change)

    def _unlink(self, path, *, dir_fd=None):
        parts = self._parts(path)
        if parts is None:
            _REAL.unlink(path, dir_fd=dir_fd)
            return

        def change():
            _REAL.unlink(path)
            node = self._node(parts)
            assert node is not None
            self._directory(parts).change(parts[-1], None, node)

        self._do("unlink", str(path), change)

    def _mkdir(self, path, mode=0o777, *, dir_fd=None):
        parts = self._parts(path)
        if parts is None:
            _REAL.mkdir(path, mode, dir_fd=dir_fd)
            return

        def change():
            _REAL.mkdir(path, mode)
            self._directory(parts).change(None, parts[-1], DirectoryNode())

        self._do("mkdir", str(path), change)

    def _refusing(self, name):
        def call(first, *rest, **named):
            assert self._parts(first) is None, f"os.{name} is not simulated"
            assert first not in self._files, f"os.{name} is not simulated"
            return getattr(_REAL, name)(first, *rest, **named)

        return call
