"""Precision over time of many models, for the small lines in a list of them.

A thread of their own reads them from the engine. Where the engine is too busy to answer at
once, a request gets the trends known before, and a later request gets the new ones; only the
first trends are waited for, three seconds at most.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from monitor.clock import HOUR_MS
from monitor.engine import Monitor
from monitor.exporter.api.engine_access import EngineUnavailableError
from monitor.exporter.api.series import SeriesContext, trend
from monitor.exporter.api.series_answer import Numbers
from monitor.windows.history import History

PATIENCE_SECONDS = 0.15
"""How long a request waits for newer trends than those it knows."""
_FIRST_PATIENCE = 20.0
"""How many times as long it waits for the first trend of a model."""

ReadHistories = Callable[[Callable[[Monitor], dict[str, History]]], dict[str, History]]


class Trends:
    """Remembers the trend of each model until another hour of it is mature. Thread-safe.

    Args:
        read_engine: reads histories; raises `EngineUnavailableError` where it cannot.
        patience: seconds that a request waits for newer trends; 20 times as long for the first
            trend of a model, so that the first page of a monitor is complete.
    """

    def __init__(self, read_engine: ReadHistories, patience: float) -> None:
        self._read_engine = read_engine
        self._patience = patience
        self._lock = threading.Lock()
        self._known: dict[str, tuple[int | None, Numbers]] = {}
        self._under_way: dict[str, threading.Thread] = {}

    def of(
        self, contexts: Mapping[str, SeriesContext], *, step: int, last: int
    ) -> dict[str, Numbers]:
        """Return the trends of models by name.

        Args:
            contexts: of the models, by name.
            step: milliseconds.
            last: leave out all but this many steps.

        Returns:
            Where the engine does not answer in time: the trend known before, or no entry.
        """
        with self._lock:
            stale = [name for name in contexts if self._is_stale(name, contexts[name])]
            new = [name for name in stale if name not in self._under_way]
            if new:
                given = ({name: contexts[name] for name in new}, step, last)
                reading = threading.Thread(target=self._read, args=given, daemon=True)
                self._under_way |= dict.fromkeys(new, reading)
                reading.start()
            waited_for = {self._under_way[name] for name in stale}
            first = any(name not in self._known for name in stale)
        self._wait(waited_for, self._patience * (_FIRST_PATIENCE if first else 1.0))
        with self._lock:
            return {name: self._known[name][1] for name in contexts if name in self._known}

    def _wait(self, threads: Iterable[threading.Thread], seconds: float) -> None:
        for thread in threads:
            thread.join(seconds)

    def _is_stale(self, name: str, context: SeriesContext) -> bool:
        return name not in self._known or self._known[name][0] != _hour(context)

    def _read(self, contexts: Mapping[str, SeriesContext], step: int, last: int) -> None:
        try:
            with contextlib.suppress(EngineUnavailableError):
                histories = self._read_engine(lambda monitor: _histories(monitor, [*contexts]))
                found = {
                    name: (
                        _hour(contexts[name]),
                        trend(history, contexts[name], step=step, last=last),
                    )
                    for name, history in histories.items()
                }
                with self._lock:
                    self._known |= found
        finally:
            with self._lock:
                for name in contexts:
                    del self._under_way[name]


def _histories(monitor: Monitor, names: Sequence[str]) -> dict[str, History]:
    """Return the histories of those models that still exist."""
    existing = set(monitor.models)
    return {name: monitor.history(name) for name in names if name in existing}


def _hour(context: SeriesContext) -> int | None:
    return None if context.mature_until is None else context.mature_until // HOUR_MS
