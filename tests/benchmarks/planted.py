"""Puts faults into the program on purpose, and measures how long the searches take to find each.

nice python -m tests.benchmarks.planted --seed 1 --minutes 10

While a fault is planted, the worlds of the simulator and the crash states of its script are tried
by turns, with seeds from the first on, until one of them loses or doubles something, or a start is
refused.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from confluent_kafka import Consumer

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.crash_states import check_states
from simulator.world import simulate

from monitor.errors import MonitorError
from monitor.feeds.kafka.assigned_partitions import AssignedPartitions
from monitor.feeds.source import Position
from monitor.service.posted import PostedFeeds
from monitor.state import checkpoints
from monitor.state.disk import AppendFile, Data, Sync, synced, unsynced, write_file

STATES = 400
"""Crash states of a script."""


class PlantedFault(NamedTuple):
    """A fault.

    Attributes:
        owner: class or module that has it.
        name: of the function that is replaced.
        faulty: takes its place.
        is_on_disk: whether the crash states can show it, whose feeds are files and requests.
    """

    owner: Any
    name: str
    faulty: Callable[..., Any]
    is_on_disk: bool = True

    def planted(self) -> Any:
        """A context in which the program has it."""
        return patch.object(self.owner, self.name, self.faulty)


class Found(NamedTuple):
    """How a fault was found.

    Attributes:
        seed: of the world or script.
        search: "world" or "crash states".
        seconds: until then.
    """

    seed: int
    search: str
    seconds: float


def _append_without_sync(self: AppendFile, data: Data) -> None:
    sync, self._sync = self._sync, unsynced
    _APPEND(self, data)
    self._sync = sync


_APPEND = AppendFile.append


def _renamed_before_sync(path: Path, parts: Iterable[Data], *, sync: Sync = synced) -> int:
    size = write_file(path, parts, sync=unsynced)
    for written in (path, path.parent):
        descriptor = os.open(written, os.O_RDONLY)
        sync(descriptor)
        os.close(descriptor)
    return size


def _position_of_what_waits(self: PostedFeeds) -> Position:
    requests = [*self._batch.requests, *self._waiting]
    return (requests[-1].position if requests else self._position)._asdict()


def _commit_of_what_no_checkpoint_has(
    self: AssignedPartitions, consumer: Consumer, _position: Position
) -> None:
    _COMMIT(self, consumer, self.position())


_COMMIT = AssignedPartitions.commit

FAULTS = {
    "a sync that is left out": PlantedFault(AppendFile, "append", _append_without_sync),
    "a rename before the sync": PlantedFault(checkpoints, "write_file", _renamed_before_sync),
    "an offset that is committed early": PlantedFault(
        PostedFeeds, "position", _position_of_what_waits
    ),
    "an offset of Kafka that is committed before its checkpoint": PlantedFault(
        AssignedPartitions, "commit", _commit_of_what_no_checkpoint_has, is_on_disk=False
    ),
}


def search(fault: PlantedFault, seeds: Iterable[int], seconds: float = math.inf) -> Found | None:
    """Search until a fault is found; None if it is not.

    Args:
        fault: the fault.
        seeds: of worlds and scripts.
        seconds: real time after which no other seed is begun.
    """
    began = time.monotonic()
    searches: dict[str, Callable[[int], object]] = {"world": _world}
    if fault.is_on_disk:
        searches["crash states"] = lambda seed: check_states(seed, STATES)
    with fault.planted():
        for number in seeds:
            for name, one in searches.items():
                if time.monotonic() - began > seconds:
                    return None
                try:
                    one(number)
                except (AssertionError, MonitorError):
                    return Found(number, name, time.monotonic() - began)
    return None


def _world(seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        simulate(seed, Path(folder))


def main() -> None:
    """Plant each fault; exit with 1 where one is not found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10.0, help="for each fault")
    args = parser.parse_args()
    missed = 0
    for name, fault in FAULTS.items():
        found = search(fault, count(args.seed), 60 * args.minutes)
        missed += found is None
        print(f"{name}: {'not found' if found is None else found}", flush=True)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
