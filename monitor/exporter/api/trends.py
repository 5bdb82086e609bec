"""Precision over time of many models, for small lines: nobody waits long for them.

They are asked for in a thread of their own. Where the monitor is too busy to answer at
once, whoever looks gets what was known before, and the lines with the next look.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from monitor.config.quantities import HOUR_MS
from monitor.engine import Monitor
from monitor.exporter.api.asking import UnansweredError
from monitor.exporter.api.series import Background, trend
from monitor.windows.history import History

Trend = list[float | None]
"""Precision by steps of time; None where it is not known."""

PATIENCE_SECONDS = 0.15
"""How long a look waits for lines."""

Histories = Callable[[Callable[[Monitor], dict[str, History]]], dict[str, History]]


class Trends:
    """Remembers a line for each model until another hour of it is mature.

    Args:
        ask: reaches the history; raises `UnansweredError` where it cannot.
        patience: seconds that a look waits at most.
    """

    def __init__(self, ask: Histories, patience: float) -> None:
        self._ask = ask
        self._patience = patience
        self._lock = threading.Lock()
        self._known: dict[str, tuple[int | None, Trend]] = {}
        self._under_way: dict[str, threading.Thread] = {}

    def of(self, about: Mapping[str, Background], *, step: int, last: int) -> dict[str, Trend]:
        """Lines of models by name; what was known last, if anything, of those not answered."""
        with self._lock:
            stale = [name for name in about if self._is_stale(name, about[name])]
            asked = [name for name in stale if name not in self._under_way]
            if asked:
                given = ({name: about[name] for name in asked}, step, last)
                looking = threading.Thread(target=self._look, args=given, daemon=True)
                self._under_way |= dict.fromkeys(asked, looking)
                looking.start()
            waited_for = {self._under_way[name] for name in stale}
        self._wait(waited_for)
        with self._lock:
            return {name: self._known[name][1] for name in about if name in self._known}

    def _wait(self, threads: Iterable[threading.Thread]) -> None:
        for thread in threads:
            thread.join(self._patience)

    def _is_stale(self, name: str, about: Background) -> bool:
        return name not in self._known or self._known[name][0] != _hour(about)

    def _look(self, about: Mapping[str, Background], step: int, last: int) -> None:
        try:
            with contextlib.suppress(UnansweredError):
                histories = self._ask(lambda monitor: _histories(monitor, [*about]))
                found = {
                    name: (_hour(about[name]), trend(history, about[name], step=step, last=last))
                    for name, history in histories.items()
                }
                with self._lock:
                    self._known |= found
        finally:
            with self._lock:
                for name in about:
                    del self._under_way[name]


def _histories(monitor: Monitor, names: Sequence[str]) -> dict[str, History]:
    """Of the models that there still are."""
    there = set(monitor.models)
    return {name: monitor.history(name) for name in names if name in there}


def _hour(about: Background) -> int | None:
    return None if about.mature_until is None else about.mature_until // HOUR_MS
