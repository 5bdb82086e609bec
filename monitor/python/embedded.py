"""The monitor of a Python program: the engine, and its results by model."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Self

from monitor.config import load_config
from monitor.engine import Monitor
from monitor.python.views import ModelView

_SHOWN = 7
"""Models that a `repr` shows."""


class EmbeddedMonitor(Monitor):
    """`monitor.Monitor`: counts events of a Python program, and shows results by model.

    `monitor["claims"]["7d"].precision` reads a snapshot of this moment. To read several
    numbers of one moment, store `monitor["claims"]`.

    >>> monitor = EmbeddedMonitor()
    >>> for i, (predicted, actual) in enumerate([(1, 1), (1, 0), (0, 0), (1, 1)]):
    ...     monitor.predict(i, ts=60 * i, prediction=predicted)
    ...     monitor.label(i, ts=60 * i + 30, label=actual)
    >>> monitor["default"]["all"].precision
    Estimate(.667, .208 to .939)
    >>> float(monitor["default"]["all"].balanced_precision)
    0.666...
    """

    @classmethod
    def from_yaml(cls, path: str | Path) -> Self:
        """Return a monitor with the configuration of a file; feeds in it are not opened.

        Args:
            path: of the file, as for `precision-monitor run -c`.

        Raises:
            ConfigError: the file cannot be read or is invalid; lists every fault with its
                line.
        """
        return cls(load_config(path))

    def __getitem__(self, model: str) -> ModelView:
        snapshot = self.snapshot()
        for state in snapshot.models:
            if state.name == model:
                return ModelView(snapshot, state)
        known = [state.name for state in snapshot.models]
        near = get_close_matches(str(model), known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known) or 'none'}"
        raise KeyError(f"no model {model!r}; {hint}")

    def __iter__(self) -> Iterator[str]:
        self.flush()
        return iter(self.models)

    def __contains__(self, model: object) -> bool:
        return model in list(self)

    def __repr__(self) -> str:
        snapshot = self.snapshot()
        rejected = sum(snapshot.rejected.values())
        head = f"Monitor: {snapshot.records:,} events, {rejected:,} rejected"
        views = [ModelView(snapshot, state) for state in snapshot.models[:_SHOWN]]
        left = len(snapshot.models) - _SHOWN
        more = [f"… and {left} more models"] if left > 0 else []
        return "\n".join([head, *(f"{view.name}: {view.verdict!r}" for view in views), *more])
