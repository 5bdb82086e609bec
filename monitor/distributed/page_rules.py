"""Settings of a job's pages, and what of them a checkpoint holds to."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from monitor.config import Config
from monitor.distributed.group_codes import StoredName
from monitor.distributed.layout import Layout
from monitor.distributed.model_clocks import ModelClock
from monitor.errors import MonitorError
from monitor.events.keys import PUBLIC_SEED, keys_of
from monitor.join import ENDLESS
from monitor.join.forgetting import Forgetting

_VERSION = 3
SWEEPS = 16
"""Number of searches for expired states within the shortest horizon."""


def _mark(seed: int) -> int:
    """Return 32 bits of a key, which differ between seeds and do not reveal the seed."""
    return int(keys_of(["id_secret"], seed)[0]) & 0xFFFFFFFF


_PUBLIC = _mark(PUBLIC_SEED)

OTHER_KEYS = (
    "checkpoint: was begun with another id_secret, so labels would not find their predictions; "
    "change it back, or start with a new --checkpoint"
)
"""The error about a checkpoint whose keys of ids have another seed."""


def mark_of(config: Config) -> int:
    """Return what shows that the keys of ids have another seed.

    Args:
        config: its `id_secret` makes the seed.
    """
    return _PUBLIC if config.id_seed is None else _mark(config.id_seed)


class Stored(Struct, array_like=True):
    """What a task stores beside its pages.

    Attributes:
        version: version of the layout of the bytes.
        tasks: number of tasks.
        pages: number of pages of all tasks.
        seed: shows that the seed of the keys is another one.
        due: time of the next search for expired states, epoch milliseconds; None without one.
        earliest: no stored prediction or label is earlier, epoch milliseconds; None for no
            state.
        groups: groups that rows refer to, by code: model, and segment values by key; None for
            a free code.
        spent: of each page with changes beside it, by its number: what storing changes has
            cost since the page was written whole, bytes.
        clocks: event time of each model, by name.
    """

    version: int
    tasks: int
    pages: int
    seed: int
    due: int | None = None
    earliest: int | None = None
    groups: list[StoredName | None] = msgspec.field(default_factory=list)
    spent: dict[int, int] = msgspec.field(default_factory=dict)
    clocks: dict[str, ModelClock] = msgspec.field(default_factory=dict)


def mismatch(stored: Layout, wanted: Layout) -> str:
    """Return the error about a checkpoint with other numbers of pages and tasks.

    Args:
        stored: numbers of the checkpoint.
        wanted: numbers by the options.
    """
    return (
        f"checkpoint: has --buckets {stored.pages} --partitions {stored.tasks}, not "
        f"{wanted.pages} and {wanted.tasks} (pages are a multiple of partitions); give the same "
        "numbers, or start with a new --checkpoint"
    )


class PageRules:
    """Settings of a job's pages.

    Args:
        config: models, pane and clocks.
        layout: how ids are divided among tasks and pages.

    Attributes:
        config: as given.
        layout: as given.
        shortest: the shortest horizon, milliseconds.
        longest: how long a label waits for its prediction, milliseconds.
        forgetting: the steps of event time in which state is forgotten.
    """

    def __init__(self, config: Config, layout: Layout) -> None:
        self.config = config
        self.layout = layout
        settings = [*config.models.values()] or [config.defaults]
        horizons = [setting.horizon_ms or ENDLESS for setting in settings]
        self.shortest, self.longest = min(horizons), max(horizons)
        self.forgetting = Forgetting.of(self.shortest)
        self._seed = mark_of(config)
        self._step = min(max(self.shortest // SWEEPS, config.pane), ENDLESS)

    def new(self) -> Stored:
        """Return what a task without state stores."""
        return Stored(_VERSION, *self.layout, self._seed)

    def loaded(self, data: bytes) -> Stored:
        """Return what a task has stored.

        Raises:
            MonitorError: the bytes have another layout, number of pages or seed of keys.
        """
        stored = msgspec.msgpack.decode(data, type=Stored)
        layout = Layout(stored.tasks, stored.pages)
        if layout != self.layout:
            raise MonitorError(mismatch(layout, self.layout))
        if stored.version != _VERSION:
            raise MonitorError(
                f"checkpoint: has layout {stored.version} of another version of the program, not "
                f"{_VERSION}; start with a new --checkpoint"
            )
        if stored.seed != self._seed:
            raise MonitorError(OTHER_KEYS)
        return stored

    def due_after(self, earliest: int, watermark: int) -> int | None:
        """Return when to search for expired states, epoch milliseconds; None for never.

        Args:
            earliest: no stored prediction or label is earlier, epoch milliseconds.
            watermark: watermark reached, epoch milliseconds.
        """
        if self.shortest >= ENDLESS:
            return None
        at = max(earliest + self.shortest + self.forgetting.step, watermark) + 1
        return (at // self._step + 1) * self._step
