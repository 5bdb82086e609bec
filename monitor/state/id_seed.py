"""The seed of the keys of ids: a secret of the state directory.

Whoever knows the seed can choose ids whose keys collide. The first start draws it, and writes it to
a file that only the owner may read. Every checkpoint has it, too.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from monitor.state.disk import make_directory, write_file
from monitor.state.state_errors import StateError

SEED_FILE = "id-seed"
_BITS = 64
_HEX = 16


def seed_of_state(directory: Path, configured: int | None, stored: int | None) -> int:
    """Return the seed of the keys of ids for a state directory; write its file if there is none.

    Keys are stored in checkpoints alone, so the seed of the checkpoint counts. Without a
    checkpoint any seed will do, for a journal as well, which holds the ids themselves: that is
    the configured one, the one in the file, or a new one.

    Args:
        directory: the state directory.
        configured: seed from the configured secret; None without one.
        stored: seed of the keys in the checkpoint, `PUBLIC_SEED` for one from before checkpoints
            had seeds; None where there is no checkpoint.

    Raises:
        StateError: the checkpoint has another seed than the configured one, or the file cannot be
            read or written.
    """
    if stored is not None:
        if configured not in (None, stored):
            raise StateError(
                "id_secret: is not the one of the stored state, so labels would not find their "
                f"predictions; change it back, or use another directory than {directory}"
            )
        return stored
    file = directory / SEED_FILE
    try:
        found = _read(file)
        if found is None or configured not in (None, found):
            found = secrets.randbits(_BITS) if configured is None else configured
            make_directory(directory)
            write_file(file, [f"{found:0{_HEX}x}\n".encode()])
    except OSError as error:
        raise StateError(f"{file}: cannot be used: {error.strerror}") from error
    return found


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
    raise StateError(
        f"{file}: must hold {_HEX} hexadecimal digits; there is no checkpoint yet, so delete it"
    )
