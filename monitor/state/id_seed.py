"""The seed of the keys of ids: a secret of the state directory.

Who knows the seed can choose ids that collide. It is drawn at the first start, and lies in a file
that only the owner may read, and in every checkpoint.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from monitor.events.keys import PUBLIC_SEED
from monitor.state.disk import make_directory, sync_directory
from monitor.state.state_errors import StateError

SEED_FILE = "id-seed"
_BITS = 64
_HEX = 16


def seed_of_state(directory: Path, configured: int | None, stored: int | None) -> int:
    """Return the seed of the keys of ids for a state directory.

    That is the one of the checkpoint; else the configured one; else that of the file; else a
    new one, where the directory holds no state. State from before there were seeds goes on with
    `PUBLIC_SEED`.

    Args:
        directory: of the state.
        configured: seed of the configured secret; None without one.
        stored: seed in the checkpoint; None where it has none, or there is no checkpoint.

    Raises:
        StateError: the state has another seed than the configured one; or the file cannot be
            read or written.
    """
    file = directory / SEED_FILE
    try:
        known = stored if stored is not None else _read(file)
        if known is None and _holds_state(directory):
            known = PUBLIC_SEED
        if known is None:
            known = secrets.randbits(_BITS) if configured is None else configured
            _write(file, known)
    except OSError as error:
        raise StateError(f"{file}: cannot be used: {error.strerror}") from error
    if configured is not None and configured != known:
        raise StateError(
            "id_secret: is another one than that of the kept state, whose labels would not find "
            f"their predictions; change it back, or start with another directory than {directory}"
        )
    return known


def _read(file: Path) -> int | None:
    """Return the seed in a file; None without a file.

    Raises:
        StateError: the file holds no seed.
    """
    try:
        text = file.read_text(encoding="ascii", errors="replace").strip()
    except FileNotFoundError:
        return None
    try:
        if len(text) == _HEX:
            return int(text, 16)
    except ValueError:
        pass
    raise StateError(f"{file}: must hold {_HEX} hexadecimal digits; restore it from a backup")


def _write(file: Path, seed: int) -> None:
    make_directory(file.parent)
    temporary = file.with_name(f"{file.name}.new")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(descriptor, f"{seed:0{_HEX}x}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    temporary.rename(file)
    sync_directory(file.parent)


def _holds_state(directory: Path) -> bool:
    """Return whether a directory has checkpoints or a journal."""
    return any(
        any(part.iterdir())
        for part in (directory / "checkpoints", directory / "journal")
        if part.is_dir()
    )
