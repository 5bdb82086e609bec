"""The seed of the keys of ids: a secret of the state directory.

Clients that know the seed can choose ids whose keys collide. The first start draws it, and
writes it to a file that only the owner may read, with a checksum behind it. Every checkpoint has
it, too.
"""

from __future__ import annotations

import secrets
from pathlib import Path

import xxhash

from monitor.events.keys import PUBLIC_SEED
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
            write_file(file, [_line(found)])
    except OSError as error:
        raise StateError(f"{file}: cannot be used: {error.strerror}") from error
    return found


def restore_seed_file(directory: Path, stored: int) -> bool:
    """Write the file anew if it differs from the seed of the checkpoint; return True if it did.

    Args:
        directory: the state directory.
        stored: seed of the keys in the checkpoint. The file stays as it is where that is
            `PUBLIC_SEED`, and where there is no file.

    Raises:
        StateError: the file cannot be read or written.
    """
    file = directory / SEED_FILE
    if stored == PUBLIC_SEED or not file.exists():
        return False
    try:
        if file.read_bytes() in (_line(stored), _digits(stored) + b"\n"):
            return False
        write_file(file, [_line(stored)])
    except OSError as error:
        raise StateError(f"{file}: cannot be used: {error.strerror}") from error
    return True


def whole_seed(content: bytes) -> int | None:
    """Return the seed in the content of its file; None if that is damaged."""
    try:
        seed = int(content[:_HEX], 16)
    except ValueError:
        return None
    # Earlier versions wrote no checksum.
    return seed if content in (_line(seed), _digits(seed) + b"\n") else None


def _read(file: Path) -> int | None:
    """Return the seed in a file; None without a file.

    Raises:
        StateError: the file holds no seed.
    """
    try:
        found = file.read_bytes()
    except FileNotFoundError:
        return None
    seed = whole_seed(found)
    if seed is not None:
        return seed
    raise StateError(
        f"{file}: is damaged, must hold {_HEX} hexadecimal digits and their checksum; there is no "
        "checkpoint yet, so delete it"
    )


def _line(seed: int) -> bytes:
    digits = _digits(seed)
    return digits + b" %08x\n" % xxhash.xxh32_intdigest(digits)


def _digits(seed: int) -> bytes:
    return b"%0*x" % (_HEX, seed)
