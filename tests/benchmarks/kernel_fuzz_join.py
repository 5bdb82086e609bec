"""The compiled kernel beside the join and the counting in Python, part of `kernel_fuzz`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from unittest.mock import patch

import numpy as np

from monitor.config import Config
from monitor.events.catalogue import Catalogue
from monitor.events.class_names import name_numbers
from monitor.events.columns import (
    NO_CLASS,
    NO_TIME,
    RETRACTED,
    Group,
    Int64Array,
    Labels,
    Predictions,
)
from monitor.join import Join
from monitor.join.compiled_rules import CompiledRules, MetLabels
from monitor.join.deltas import DeltaRoom, Deltas
from monitor.join.forgetting import Over
from monitor.kernel.choice import VARIABLE
from monitor.labels.delay_bins import EDGES_SECONDS
from monitor.labels.delays import LabelDelays
from monitor.windows import Windows
from monitor.windows.pane_slots import CompiledSlots
from monitor.windows.panes import PaneRing
from monitor.windows.scores import Scores
from monitor.windows.value_scores import ValueScores
from tests.same import differences

MODELS = 5
IDS = 5_000


class _CountedRules(CompiledRules):
    """Rules of the kernel that count the batches of labels that they take."""

    plain = 0

    def meet(
        self, slots: Int64Array, labels: Labels, over: Over, room: DeltaRoom
    ) -> MetLabels | None:
        found = super().meet(slots, labels, over, room)
        self.plain += found is not None
        return found


class Joined:
    """A join, and two rings of panes, label delays, scores of models and values, and windows.

    Args:
        module: the kernel; None for Python.
        config: of the join.

    Attributes:
        rules: those of the kernel; None for Python.
    """

    def __init__(self, module: Any, config: Config) -> None:
        self.catalogue = Catalogue(config)
        values = tuple("usual" for _ in config.defaults.segments)
        self.catalogue.groups_of([Group(f"m{number}", "", values) for number in range(MODELS)])
        self.rules: _CountedRules | None = None
        with patch.dict(os.environ, {VARIABLE: "python"}):
            self.join = Join(self.catalogue, 1 << 20)
            self.rings = [PaneRing(width=w, span=50, cells=6) for w in (60_000, 3_600_000)]
            self.delays, self.scores = LabelDelays(config, self.catalogue), Scores(self.catalogue)
            self.values = ValueScores(self.catalogue, self.scores)
            self.windows = Windows(config, self.catalogue)
        for ring in self.rings:
            if module is not None:
                ring._slots = CompiledSlots(module, ring.span, ring.cells)
            ring.ensure(np.arange(MODELS))
        if module is not None:
            self.delays._counter._compiled = self.scores._compiled = module
            self.windows._compiled = self.values._compiled = module
            self.rules = _CountedRules(module, self.join._memory)
            self.join._labels._compiled = self.join._predictions._compiled = self.rules

    def take(self, predictions: Predictions, labels: Labels, now: int) -> None:
        """Join a batch, and count what changes."""
        times = np.full(MODELS, now) - 1_000 * np.arange(MODELS)
        over = self.join.forgetting.over(times, now)
        self.join.advance(over)
        deltas = Deltas.concatenate([*self.join.steps(predictions, labels, over)])
        for ring in self.rings:
            ring.advance(times)
            ring.add(ring.pane_of(deltas.time), deltas.group, deltas.cell, deltas.count)
        for behind in (self.delays, self.scores, self.values, self.windows):
            behind.advance(times)
            behind.apply(deltas)
        self.windows.view(self.windows.names[0], times, np.zeros_like(times))

    def state(self) -> Any:
        """What is equal for both kernels."""
        rings = [ring.state() for ring in self.rings]
        behind = [one.state() for one in (self.delays, self.scores, self.values, self.windows)]
        return self.join.state(), [*rings, *behind], self.join.met()


def events_at(
    now: int, count: int, chance: np.random.Generator, names: Sequence[str]
) -> tuple[Predictions, Labels]:
    """So many predictions and as many labels, of ids that come again, about a moment."""
    many = len(names) > 2
    reach = int(chance.choice([1_000, 3_600_000, 100_000_000]))
    score = np.where(chance.random(count) < 0.1, np.nan, chance.integers(0, 1001, count) / 1000)
    predictions = Predictions(
        key=chance.integers(1, IDS, count).astype(np.uint64),
        time=now - chance.integers(0, reach, count),
        predicted_positive=(score >= 0.5) | many,
        score=score,
        group=chance.integers(0, MODELS, count),
        predicted_class=chance.integers(0, 3, count) if many else np.full(count, NO_CLASS),
        row=np.arange(count),
    )
    if chance.random() < 0.7:  # nearly all of them new, as in a usual stream
        predictions = predictions.take(np.sort(np.unique(predictions.key, return_index=True)[1]))
    labels = Labels(
        key=chance.integers(1, IDS, count).astype(np.uint64),
        time=now + chance.integers(-reach, reach, count) // 1_000 * 1_000,
        value=chance.choice([RETRACTED, *(name_numbers(names) if names else (0, 1))], count),
        sampling_probability=np.full(count, np.nan),
        prediction_time=np.full(count, NO_TIME),
        row=np.arange(count, 2 * count),
    )
    return predictions, labels


def numbers_of_any_size(chance: np.random.Generator, count: int, most: int) -> Any:
    """Integers, most of them below a bound, some of them as far out as 64 bits go."""
    found = chance.integers(0, most, count)
    odd = chance.random(count) < chance.choice([0, 0.01, 0.5])
    wild = chance.choice([-(2**63), -1, most, 2**31, 2**62, 2**63 - 1, -(2**62), 1 << 44], count)
    return np.where(odd, wild, found)


def join(events: int, seed: int, module: Any) -> int:
    """Join and count events in both ways; return how many batches were plain.

    Raises:
        SystemExit: the two differ.
    """
    chance, done, plain = np.random.default_rng(seed), 0, 0
    while done < events:
        names = [[], ["fine", "fraud"], ["fine", "fraud", "other"]][chance.integers(3)]
        config = Config(
            defaults={
                "label_timeout": str(chance.choice(["1h", "30d"])),
                "classes": names,
                "segments": [] if len(names) > 2 else ["kind"],
            }
        )
        runs = [Joined(None, config), Joined(module, config)]
        now = 1_700_000_000_000
        for _ in range(8):
            count = int(chance.choice([1, 3, 600]))
            batch = events_at(now, count, chance, names)
            now += int(chance.choice([1_000, 600_000, 40_000_000]))
            for one in runs:
                one.take(*batch, now)
            done += 2 * count
        if [*differences(*(one.state() for one in runs))]:
            sys.exit(f"the joins differ: seed {seed}, after {done} events")
        plain += 0 if runs[1].rules is None else runs[1].rules.plain
        wild_columns(module, chance)
    return plain


def wild_columns(module: Any, chance: np.random.Generator) -> None:
    """Give the kernel columns of numbers that may be out of bounds: it refuses or skips them."""
    count, models, groups, slots = (int(n) for n in chance.integers(1, 40, 4))
    model_of_group = numbers_of_any_size(chance, groups, models)

    def column(most: int) -> Any:
        return numbers_of_any_size(chance, count, most)

    def books(width: int) -> Any:
        return np.zeros(models * width, np.int64)

    time = -2_208_988_800_000 + column(2**43)
    score, positive = chance.normal(size=count), column(2).astype(np.uint8)
    given = column(int(chance.choice([1, 65]))) - 1
    with suppress(ValueError):  # slots out of bounds
        module.remember(
            (np.zeros((int(chance.integers(1, 9)), 8), np.uint32), 1 << 10, 77),
            (
                np.zeros((8 * slots, 3), np.uint64),
                np.zeros(slots, np.uint64),
                np.cumsum(numbers_of_any_size(chance, 6, 2 * slots)).reshape(3, 2),
            ),
            (column(9).astype(np.uint64), time, column(groups), given, score, positive),
            (model_of_group, numbers_of_any_size(chance, models, 1)),
            books(2),
            tuple(np.empty(count, np.int64) for _ in range(7)),
        )
    most = int(chance.choice([3, 67]))
    words = chance.integers(0, 2**63, (slots, 3)).astype(np.uint64)
    words[:, 1] = (words[:, 1] >> np.uint64(20) << np.uint64(20)) | np.uint64(groups - 1)
    module.meet(
        words,
        column(slots),
        (column(9).astype(np.uint64), time, column(most), np.where(column(2) == 1, 1, -(1 << 62))),
        (model_of_group, numbers_of_any_size(chance, models, 2**40)),
        int(chance.choice([-(1 << 62), 0])),
        (books(1), books(1), books(3), books(25)),
        tuple(np.empty(2 * count, np.int64) for _ in range(7)),
        (np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.uint64)),
    )
    module.in_pace(
        (column(groups), time, column(9)),
        model_of_group,
        int(chance.integers(4)),
        (
            np.full(models, 2**43),
            numbers_of_any_size(chance, models, 2**60),
            chance.random(models) < 0.9,
        ),
        (-2_208_988_800_000 + books(1), books(1), np.full((models, 2, 3), -(1 << 62))),
        np.zeros(models, np.bool_),
    )
    kind = chance.choice([np.int32, np.int64])
    module.count(
        np.zeros((slots, groups, 6), kind),
        np.zeros(slots, np.bool_),
        numbers_of_any_size(chance, models, 100) % 2**61,
        model_of_group,
        (column(100), column(groups), column(6), column(2)),
        np.empty(count, np.int64),
    )
    cells = int(chance.integers(1, 12))

    def ring(width: int) -> Any:
        newest = numbers_of_any_size(chance, models, 100) % 2**61
        owners = numbers_of_any_size(chance, int(chance.integers(1, 40)), models)
        table = np.zeros((slots, int(chance.integers(1, 40)), width), kind)
        return table, np.zeros(slots, np.bool_), newest, owners, int(chance.choice([1, 9, 2**40]))

    bins = int(chance.choice([3, len(EDGES_SECONDS)]))
    module.count_delays(
        (column(2**43), column(2**43), column(groups), column(6), column(2)),
        model_of_group,
        EDGES_SECONDS[-bins:],
        int(chance.integers(2**63)),
        np.zeros((models, 4, bins), np.int64),
        np.zeros((models, 4), np.int64),
        books(1),
        (ring(int(chance.choice([4 * bins, cells]))), ring(cells), ring(1)),
    )
    module.count_scores(
        (column(2**43), column(cells), column(groups), column(6), column(2)),
        model_of_group,
        numbers_of_any_size(chance, int(chance.integers(1, 9)), 3),
        int(chance.choice([2, 2, 0, -1, 2**62])),
        -1,
        int(chance.choice([cells, cells, 0, -1, 2**62])),
        books(1),
        (ring(cells), ring(3 * cells)),
    )
    module.count_value_scores(
        (column(2**43), column(cells), column(groups), column(6), column(2)),
        model_of_group,
        numbers_of_any_size(chance, groups * 2, 40).reshape(groups, 2) - 1,
        numbers_of_any_size(chance, 4 * cells, cells).reshape(4, cells),
        -1,
        books(1) + int(chance.integers(2)),
        (ring(int(chance.choice([cells, 1]))),),
    )
    rows = int(chance.integers(1, 40))
    module.count_windows(
        (column(2**43), column(2**43), column(groups), column(6), column(2)),
        model_of_group,
        numbers_of_any_size(chance, groups * 2, rows).reshape(groups, 2),
        np.zeros((rows, 6), np.int64),
        books(1),
        books(1) if chance.random() < 0.5 else None,
        tuple(ring(int(chance.choice([6, cells]))) for _ in range(chance.choice([3, 5]))),
        tuple(
            (numbers_of_any_size(chance, models * 3, 100), np.zeros(6 * rows, np.int64), books(1))
            for _ in range(chance.integers(3))
        ),
    )
