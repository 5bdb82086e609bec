"""The identity of a state: who forwards counts, and who has received them.

It is not secret, and a state that begins anew has another one. So a monitor that forwards is
told from all others, and it notices that its receiver has lost what it had received.
"""

from __future__ import annotations

import secrets
from pathlib import Path

import xxhash

from monitor.state.checkpoints import checkpoints_in
from monitor.state.disk import make_directory, write_file
from monitor.state.journal_position import JOURNAL
from monitor.state.segment_files import segments_in
from monitor.state.state_errors import StateError

IDENTITY_FILE = "state-id"
_BYTES = 16


def identity_of_state(directory: Path) -> str:
    """Return the identity of the state in a directory; draw one and write it for a new state.

    A directory without checkpoints and without a journal has no state, whatever else is in it.

    Args:
        directory: the state directory; nothing else has been opened in it yet.

    Raises:
        StateError: the file of it is damaged, or cannot be read or written.
    """
    file = directory / IDENTITY_FILE
    is_new = not checkpoints_in(directory / "checkpoints") and not segments_in(directory / JOURNAL)
    try:
        if not is_new and file.exists():
            return _whole(file, file.read_bytes())
        make_directory(directory)
        found = secrets.token_hex(_BYTES)
        write_file(file, [_line(found)])
    except OSError as error:
        raise StateError(f"{file}: cannot be used: {error.strerror}") from error
    return found


def whole_identity(content: bytes) -> str | None:
    """Return the identity in the content of its file; None if that is damaged."""
    found = content[: 2 * _BYTES].decode(errors="replace")
    return found if content == _line(found) else None


def _whole(file: Path, content: bytes) -> str:
    found = whole_identity(content)
    if found is None:
        raise StateError(
            f"{file}: is damaged, must hold {2 * _BYTES} hexadecimal digits and their checksum; "
            "copy the state with `precision-monitor state salvage`, restore the file from a "
            "backup, or move the whole state directory away to start over. "
            "Monitors that forward counts to this one know its state by it"
        )
    return found


def _line(identity: str) -> bytes:
    digits = identity.encode()
    return digits + b" %08x\n" % xxhash.xxh32_intdigest(digits)
