"""Watches that the state directory stays where it is while the service runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from monitor.state import StateFault, StateFaults, StateGoneError


class StateWatch:
    """Reports when a part of the state directory is gone, and when it is back.

    Args:
        checks: each raises a `StateGoneError` if its part was removed or replaced.
        say: prints a one-line message for the operator.
        faults: counts the times that a part went.

    Attributes:
        fault: what is wrong now; "" if all parts are in place. Any thread may read it.

    >>> def check(): raise StateGoneError("state: was removed")
    >>> watch = StateWatch([check], print, StateFaults())
    >>> watch.look(); watch.look(); watch.fault
    state: was removed; nothing is saved until then
    'state: was removed'
    """

    def __init__(
        self, checks: Sequence[Callable[[], None]], say: Callable[[str], None], faults: StateFaults
    ) -> None:
        self._checks = checks
        self._say = say
        self._faults = faults
        self.fault = ""

    def look(self) -> None:
        """Check all parts, and report a change."""
        before, self.fault = self.fault, self._found()
        if self.fault and not before:
            self._faults.note(StateFault.DIRECTORY_GONE)
            self.remind()
        if before and not self.fault:
            self._say("the state directory is in place again")

    def remind(self) -> None:
        """Report the fault again, if there is one."""
        if self.fault:
            self._say(f"{self.fault}; nothing is saved until then")

    def _found(self) -> str:
        for check in self._checks:
            try:
                check()
            except StateGoneError as error:
                return str(error)
        return ""
