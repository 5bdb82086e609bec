"""Simulated canaries on the bundled flights: is an equal version ever called worse?

    python -m tests.benchmarks.canaries [--draws 400]

July to September 2013: 13,000 flights that landed, of which version 7 scores a fifth. The
simulation is in the version alone; predictions, labels, days and segments are real. Each canary is
looked at after every day. One look at which version 7 is called worse counts against the whole
canary, as a gate would roll it back. The words are those of a running monitor, at the end of the
first draw.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS, HOUR_MS
from monitor.config import Config
from monitor.counts import Outcome
from monitor.demo.flights import MODEL, flights, flights_config
from monitor.drift.rates_of_two import RatesOfTwo
from monitor.drift.version_outcomes import VersionOutcomes, VersionRows
from monitor.drift.version_verdict import VersionVerdict, sequential_verdict
from monitor.engine import Monitor
from monitor.events.columns import EventBatch
from monitor.join.unlabelled import OUTCOME
from monitor.report.versions_words import versions_headline

VERSIONS = ("6", "7")
PART = "part_of_day"
FROM, DAYS = 1_372_636_800_000, 92
"""1 July 2013, epoch milliseconds; three months."""
MATURITY_MS = DAY_MS // 2
"""As `flights_config` has it."""
SHARE = 0.2
EASY = "morning"
EASY_SHARE, OTHER_SHARE = 0.05, 0.26
"""Of the mornings, and of the rest of the day: a fifth of all flights together."""


class Canary(NamedTuple):
    """A simulated version 7.

    Attributes:
        name: what is true of it.
        missing: share of the true positives that it does not flag.
        other_traffic: True where it gets few mornings, whose flights are rarely late.
        named: False where the part of the day is no segment, so that the hours alone show it.
    """

    name: str
    missing: float = 0.0
    other_traffic: bool = False
    named: bool = True


CANARIES = (
    Canary("as good"),
    Canary("as good, other traffic", other_traffic=True),
    Canary("as good, other hours", other_traffic=True, named=False),
    Canary("worse", missing=0.3),
    Canary("worse, other traffic", missing=0.3, other_traffic=True),
    Canary("worse, other hours", missing=0.3, other_traffic=True, named=False),
)


def config(*, named: bool = True) -> Config:
    """Return the configuration: that of the flights, with the version as a segment.

    Args:
        named: True where the part of the day is one, too.
    """
    settings = flights_config()
    segments = (PART, "version") if named else ("version",)
    model = settings.models[MODEL].model_copy(update={"segments": segments})
    return settings.model_copy(update={"models": {MODEL: model}})


def summer(settings: Config) -> EventBatch:
    """Return three months of flights, those that never landed left out."""
    whole = flights(settings)
    landed = np.isin(whole.predictions.key, whole.labels.key)
    end = FROM + DAYS * DAY_MS
    made = (whole.predictions.time >= FROM) & (whole.predictions.time < end)
    predictions = whole.predictions.take(landed & made)
    labels = whole.labels.take(np.isin(whole.labels.key, predictions.key))
    return replace(
        whole,
        predictions=replace(predictions, row=predictions.time),
        labels=replace(labels, row=labels.time),
    )


def with_canary(batch: EventBatch, canary: Canary, draw: int) -> EventBatch:
    """Return the batch with a version for each prediction, and what version 7 gets wrong.

    Args:
        batch: of `summer`.
        canary: what is true of version 7.
        draw: seed of the simulation.
    """
    rng = np.random.default_rng(draw)
    made, groups = batch.predictions, batch.groups
    easy = np.array([group.values[0] == EASY for group in groups])[made.group]
    share = np.where(easy, EASY_SHARE, OTHER_SHARE) if canary.other_traffic else SHARE
    new = rng.random(len(made)) < share
    positive = np.isin(made.key, batch.labels.key[batch.labels.value == 1])
    missed = new & positive & (rng.random(len(made)) < canary.missing)
    parts = [group.values[:1] if canary.named else () for group in groups]
    by_version = tuple(
        group._replace(version=version, values=(*part, version))
        for version in VERSIONS
        for group, part in zip(groups, parts, strict=True)
    )
    predictions = replace(
        made,
        group=made.group + len(groups) * new,
        predicted_positive=made.predicted_positive & ~missed,
    )
    return replace(batch, predictions=predictions, groups=by_version)


def outcomes_of(batch: EventBatch) -> VersionOutcomes:
    """Return the outcomes of both versions by hour and part of the day."""
    made = batch.predictions
    order = np.argsort(batch.labels.key)
    place = np.searchsorted(batch.labels.key[order], made.key)
    label = batch.labels.value[order][place]
    values = sorted({group.values[:-1] for group in batch.groups})
    segment = np.array([values.index(group.values[:-1]) for group in batch.groups])[made.group]
    version = np.array([group.version for group in batch.groups])[made.group]
    cells = np.zeros((len(made), len(Outcome)), dtype=np.int64)
    cells[np.arange(len(made)), OUTCOME[label, made.predicted_positive.astype(np.int64)]] = 1
    rows = [np.flatnonzero(version == one) for one in VERSIONS]
    hour = made.time // HOUR_MS
    return VersionOutcomes.of_rows(VersionRows(hour[r], segment[r], cells[r]) for r in rows)


def verdicts(outcomes: VersionOutcomes) -> list[VersionVerdict]:
    """Return the verdict after each day.

    Args:
        outcomes: of `outcomes_of`.
    """
    return [sequential_verdict(RatesOfTwo.at_equal_mix(one)).verdict for one in looks(outcomes)]


def looks(outcomes: VersionOutcomes) -> Iterator[VersionOutcomes]:
    """Yield what is known after each day.

    Args:
        outcomes: of `outcomes_of`.
    """
    for day in range(FROM // DAY_MS, FROM // DAY_MS + DAYS):
        known = outcomes.day <= day
        yield VersionOutcomes(
            outcomes.hour[known], outcomes.segment[known], outcomes.cells[:, known]
        )


def words(batch: EventBatch, *, named: bool) -> str:
    """Return what a running monitor says at the end.

    Args:
        batch: of `with_canary`.
        named: as the canary has it.
    """
    monitor = Monitor(config(named=named))
    monitor.apply(batch)
    found = monitor.versions.compare(MODEL, monitor.times[MODEL] - MATURITY_MS, VERSIONS).compared
    if found is None:
        raise ValueError("nothing can be compared")
    parts = found.comparison.decided_by.parts
    points = ", ".join(f"{name} {100 * part.points:+.1f}" for name, part in parts.items())
    return f"{versions_headline(found)} [{points}]"


def report(draws: int) -> None:
    """Print a row for each canary, and what the monitor says at the end of the first draw.

    Args:
        draws: simulations of each canary.
    """
    batch = summer(config())
    print(f"{'version 7 is':<24}{'worse at a look':>16}{'better at a look':>18}  at the end")
    for canary in CANARIES:
        found = [verdicts(outcomes_of(with_canary(batch, canary, draw))) for draw in range(draws)]
        ever = [
            sum(verdict in one for one in found) / draws
            for verdict in (VersionVerdict.WORSE, VersionVerdict.BETTER)
        ]
        ends = Counter(str(one[-1]) for one in found)
        print(f"{canary.name:<24}{100 * ever[0]:>14.1f} %{100 * ever[1]:>16.1f} %  {dict(ends)}")
        print(f"    {words(with_canary(batch, canary, 0), named=canary.named)}", flush=True)


def main() -> None:
    """Read the options and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=400)
    report(parser.parse_args().draws)


if __name__ == "__main__":
    main()
