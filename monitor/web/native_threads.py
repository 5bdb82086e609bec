"""Names the native threads that granian begins, and waits until they have ended.

granian's threads are no Python threads: `threading` neither lists nor joins them. One that
asks for the interpreter lock while the interpreter shuts down aborts the process (granian
issue 693), so a server has stopped only when they have ended. On Linux a new thread takes
the name of the thread that begins it, and /proc lists the names; elsewhere nothing waits.
Threads that hold the interpreter lock give it up often.
"""

import contextlib
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

_TASKS = Path("/proc/self/task")
_NAME_BYTES = 15
"""Length to which Linux cuts the name of a thread."""
_TURN = 0.005
"""Seconds between two looks at the threads."""
_SWITCH_SECONDS = 0.001
"""Interval at which threads take turns; the usual 5 ms add up when both listeners are busy."""


def take_turns_often() -> None:
    """Let threads that wait for the interpreter lock wait for a millisecond each."""
    sys.setswitchinterval(_SWITCH_SECONDS)


def name_this_thread(name: str) -> None:
    """Name this thread, and those that it begins from now on, in the kernel.

    Where /proc is missing or must not be written, they keep their names, and no wait finds them.

    Args:
        name: cut to 15 bytes, as Linux does.
    """
    own = _TASKS / str(threading.get_native_id()) / "comm"
    with contextlib.suppress(OSError):
        own.write_bytes(name.encode()[:_NAME_BYTES])


def wait_for_threads(
    name: str, seconds: float, *, sleep: Callable[[float], object] = time.sleep
) -> bool:
    """Wait until no thread of this name runs in the process.

    Args:
        name: as given to `name_this_thread`.
        seconds: longest time to wait, > 0.
        sleep: waits for a number of seconds; an argument so that tests need not wait.

    Returns:
        Whether all have ended; True where the platform has no /proc.
    """
    for _ in range(round(seconds / _TURN)):
        if not _runs(name):
            return True
        sleep(_TURN)
    return not _runs(name)


def _runs(name: str) -> bool:
    wanted = name.encode()[:_NAME_BYTES]
    return any(_name(task) == wanted for task in _TASKS.glob("*"))


def _name(task: Path) -> bytes | None:
    try:
        return (task / "comm").read_bytes().rstrip(b"\n")
    except OSError:  # the thread has ended
        return None
