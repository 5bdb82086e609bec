"""Two versions compared: wrong `worse` over whole rollouts, outcomes to decide, coverage.

    python -m tests.benchmarks.versions [--draws 200] [--part NAME ...]

Seeded. A rollout is 14 days of 700 outcomes. It is looked at after every 20 outcomes; one look
at which equal versions are called worse makes the whole rollout wrong.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr, ndtri

from monitor.drift.rates_of_two import Change, RatesOfTwo
from monitor.drift.version_comparison import compare_two
from monitor.drift.version_verdict import VersionVerdict, sequential_verdict
from tests.daily import daily

DAYS, A_DAY, EVERY = 14, 700, 20
HALF = 0.5
FIXED = 1.959963984540054


@dataclass(frozen=True, kw_only=True)
class World:
    """A rollout of version B beside version A.

    Attributes:
        share: of the traffic that B gets on the first and on the last day.
        mix: share of each segment in the traffic of A, and of B.
        prevalence: of the traffic of A, and of B.
        recall: of each segment, of A, and of B.
        false: false-positive rate, likewise.
        scatter: standard deviation of days, in log-odds of prevalence, TPR and FPR, which
            both versions share.
        own: the same, of each version by itself.
        days: of the rollout.
    """

    share: tuple[float, float] = (0.2, 0.2)
    mix: tuple[tuple[float, ...], tuple[float, ...]] = ((0.5, 0.3, 0.2), (0.5, 0.3, 0.2))
    prevalence: tuple[float, float] = (0.2, 0.2)
    recall: tuple[tuple[float, ...], tuple[float, ...]] = ((0.9, 0.8, 0.6), (0.9, 0.8, 0.6))
    false: tuple[tuple[float, ...], tuple[float, ...]] = ((0.05, 0.1, 0.2), (0.05, 0.1, 0.2))
    scatter: float = 0.0
    own: float = 0.0
    days: int = DAYS


EQUAL = World()
OTHER_MIX = replace(EQUAL, mix=((0.5, 0.3, 0.2), (0.2, 0.2, 0.6)))
TRUTHS = {
    "equal traffic": EQUAL,
    "canary of 5 %": replace(EQUAL, share=(0.05, 0.05)),
    "other mix of segments": OTHER_MIX,
    "other class ratio (.05 for .2)": replace(EQUAL, prevalence=(0.2, 0.05)),
    "days scatter (sd .3)": replace(EQUAL, scatter=0.3),
    "days scatter, other mix and ratio": replace(OTHER_MIX, scatter=0.3, prevalence=(0.2, 0.1)),
    "days scatter, share 2 % to 60 %": replace(EQUAL, scatter=0.3, share=(0.02, 0.6)),
    "each version's days scatter (sd .1)": replace(EQUAL, scatter=0.3, own=0.1),
}
TRUTHS["a model that separates little"] = replace(
    EQUAL, recall=((0.3, 0.25, 0.2),) * 2, false=((0.25, 0.2, 0.15),) * 2
)
MOVED = {
    "another threshold": (0.9, 0.7),
    "another threshold, far": (0.9, 0.4),
}


def rows(world: World, rng: np.random.Generator) -> Iterator[tuple[NDArray[np.int64], ...]]:
    """Yield the cases of each `EVERY` outcomes: day, version, segment, cell."""
    segments = np.array([_drawn(rng, mix, world.days * A_DAY) for mix in world.mix])
    day = np.repeat(np.arange(world.days), A_DAY)
    share = np.linspace(*world.share, world.days)[day]
    version = (rng.random(len(day)) < share).astype(np.int64)
    segment = np.where(version == 1, segments[1], segments[0])
    effect = rng.normal(0, world.scatter, (3, world.days))[:, day]
    effect = effect + rng.normal(0, world.own, (2, 3, world.days))[version, :, day].T
    base = np.array(world.prevalence)[version]
    actual = rng.random(len(day)) < expit(logit(base) + effect[0])
    recall, false = (
        np.array(world.recall)[version, segment],
        np.array(world.false)[version, segment],
    )
    rate = np.where(actual, expit(logit(recall) + effect[1]), expit(logit(false) + effect[2]))
    flagged = rng.random(len(day)) < rate
    cell = np.where(actual, np.where(flagged, 0, 2), np.where(flagged, 1, 3))
    for first in range(0, len(day), EVERY):
        some = slice(first, first + EVERY)
        yield day[some], version[some], segment[some], cell[some]


def _drawn(rng: np.random.Generator, mix: tuple[float, ...], size: int) -> NDArray[np.int64]:
    return rng.choice(len(mix), p=mix, size=size)


def looks(world: World, rng: np.random.Generator) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield, at each look, the number of outcomes and the cells of the days so far."""
    cells = np.zeros((2, world.days, len(world.mix[0]), 4), np.int64)
    seen = 0
    for day, version, segment, cell in rows(world, rng):
        np.add.at(cells, (version, day, segment, cell), 1)
        seen += len(day)
        yield seen, cells[:, : day[-1] + 1]


def wrong(world: World, draws: int, bad: VersionVerdict) -> tuple[float, float]:
    """Share of rollouts that were called `bad` at any look, and by a fixed interval at any."""
    found, fixed = 0, 0
    for draw in range(draws):
        rng = np.random.default_rng(draw)
        sequence, repeated = False, False
        for _, cells in looks(world, rng):
            rates = RatesOfTwo.at_equal_mix(daily(cells))
            if not rates.is_known:
                continue
            change, error = rates.changes()
            z = change[Change.ODDS_RATIO] / error[Change.ODDS_RATIO]
            repeated = repeated or bool(z < -FIXED)
            # the sequence is wider: only then can it have left 0 out
            if z < -FIXED and sequential_verdict(rates).verdict is bad:
                sequence = True
                break
        found += sequence
        fixed += repeated
    return found / draws, fixed / draws


def wrong_worse(draws: int) -> None:
    """Print the share of rollouts of equal versions that are called worse."""
    print(f"{'equal versions':<38}{'sequence':>10}{'95 % at every look':>20}")
    for name, world in TRUTHS.items():
        sequence, fixed = wrong(world, draws, VersionVerdict.WORSE)
        print(f"{name:<38}{100 * sequence:>8.1f} %{100 * fixed:>18.1f} %", flush=True)
    for name, (before, after) in MOVED.items():
        false = [float(ndtr(ndtri(one) - 2.2)) for one in (before, after)]
        world = World(
            share=(0.5, 0.5),
            mix=((1.0,), (1.0,)),
            recall=((before,), (after,)),
            false=((false[0],), (false[1],)),
        )
        sequence, fixed = wrong(world, draws, VersionVerdict.WORSE)
        print(f"{name:<38}{100 * sequence:>8.1f} %{100 * fixed:>18.1f} %", flush=True)


WORSE = World(
    share=(0.5, 0.5),
    mix=((1.0,), (1.0,)),
    recall=((0.8,), (0.7,)),
    false=((0.1,), (0.1,)),
)


def outcomes_to_decide(draws: int) -> None:
    """Print the outcomes until recall .7 is called worse than .8, and those of a fixed test."""
    print(f"{'recall .7 for .8':<38}{'sequence':>12}{'90 %':>10}{'fixed':>10}{'called worse':>14}")
    for name, look in {
        "halves of the traffic": lambda rng: _halves(WORSE, rng),
        "canary of 20 %": lambda rng: _halves(replace(WORSE, share=(0.2, 0.2)), rng),
        "halves, days scatter (sd .3)": lambda rng: _halves(replace(WORSE, scatter=0.3), rng),
        "shadow, both score every case": _shadow,
    }.items():
        _print_decided(name, look, draws)


def _print_decided(
    name: str, look: Callable[[np.random.Generator], Iterator[tuple[int, RatesOfTwo]]], draws: int
) -> None:
    decided, rejected = [], []
    for draw in range(draws):
        when, series = np.inf, []
        for seen, rates in look(np.random.default_rng(draw)):
            change, error = rates.changes() if rates.is_known else (np.zeros(5), np.ones(5))
            z = change[Change.ODDS_RATIO] / error[Change.ODDS_RATIO]
            series.append(bool(z < -FIXED))
            if z < -FIXED and sequential_verdict(rates).verdict is VersionVerdict.WORSE:
                when = min(when, seen)
            if np.isfinite(when) and seen >= 2 * when:
                series += [True] * (DAYS * A_DAY // EVERY - len(series))
                break
        decided.append(when)
        rejected.append(series)
    power = np.mean(rejected, axis=0)
    fixed = (np.argmax(power >= HALF) + 1) * EVERY
    median, most = np.quantile(decided, [0.5, 0.9], method="higher")
    share = np.isfinite(decided).mean()
    print(f"{name:<38}{median:>12,.0f}{most:>10,.0f}{fixed:>10,}{100 * share:>12.0f} %", flush=True)


def _halves(world: World, rng: np.random.Generator) -> Iterator[tuple[int, RatesOfTwo]]:
    for seen, cells in looks(world, rng):
        yield seen, RatesOfTwo.at_equal_mix(daily(cells))


def _shadow(rng: np.random.Generator) -> Iterator[tuple[int, RatesOfTwo]]:
    """Both score the same cases; their scores correlate by .9."""
    cases = DAYS * A_DAY
    actual = rng.random(cases) < WORSE.prevalence[0]
    scores = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], size=cases)
    rates = [np.where(actual, WORSE.recall[v][0], WORSE.false[v][0]) for v in (0, 1)]
    flagged = [scores[:, v] < ndtri(rates[v]) for v in (0, 1)]
    joint = np.select([flagged[0] & flagged[1], flagged[0], flagged[1]], [0, 1, 2], 3)
    pairs = np.zeros((2, DAYS, 4))
    for first in range(0, cases, EVERY):
        some = slice(first, first + EVERY)
        day = first // A_DAY
        np.add.at(pairs, (1 - actual[some].astype(int), day, joint[some]), 1)
        yield first + EVERY, RatesOfTwo.of_pairs(pairs[0, : day + 1], pairs[1, : day + 1])


def coverage(draws: int) -> None:
    """Print how often the 95 % intervals of the differences cover the truth at equal mix."""
    print(f"{'coverage of the differences':<38}{'recall':>10}{'FPR':>10}{'precision':>11}")
    for name, world in {
        "equal traffic": replace(EQUAL, recall=((0.9, 0.8, 0.6), (0.8, 0.7, 0.5))),
        "other mix of segments": replace(OTHER_MIX, recall=((0.9, 0.8, 0.6), (0.8, 0.7, 0.5))),
        "days scatter (sd .3), other mix": replace(OTHER_MIX, scatter=0.3),
        "3 days, canary of 5 %": replace(EQUAL, days=3, share=(0.05, 0.05)),
    }.items():
        hits = np.zeros(3)
        for draw in range(draws):
            *_, (_, cells) = looks(world, np.random.default_rng(draw))
            found = compare_two(daily(cells)).strata
            truths = _true_differences(world, cells)
            ranges = [found.differences[n] for n in ("recall", "false_positive_rate", "precision")]
            hits += [r.lower <= t <= r.upper for r, t in zip(ranges, truths, strict=True)]
        print(f"{name:<38}" + "".join(f"{100 * h / draws:>8.1f} %" for h in hits), flush=True)
    _paired_coverage(draws)


def _true_differences(world: World, cells: NDArray[np.int64]) -> list[float]:
    """Differences of the true rates at the same mix: those of the outcomes that they expect."""
    positive, negative = cells[..., [0, 2]].sum(-1), cells[..., [1, 3]].sum(-1)
    recall, false = (np.array(one)[:, None] for one in (world.recall, world.false))
    expected = [positive * recall, negative * false, positive * (1 - recall)]
    expected_cells = np.stack([*expected, negative * (1 - false)], axis=-1)
    found = compare_two(daily(expected_cells)).strata.differences
    return [found[name].estimate for name in ("recall", "false_positive_rate", "precision")]


def _paired_coverage(draws: int) -> None:
    hits = np.zeros(2)
    for draw in range(draws):
        *_, (_, rates) = _shadow(np.random.default_rng(draw))
        change, error = rates.changes()
        truth = float(logit(0.7) - logit(0.8))
        for index, one in enumerate((Change.RECALL, Change.ODDS_RATIO)):
            hits[index] += abs(change[one] - truth) < FIXED * error[one]
    text = "".join(f"{100 * h / draws:>8.1f} %" for h in hits)
    print(f"{'pairs: logit TPR, log odds ratio':<38}{text}", flush=True)


PARTS = {"wrong": wrong_worse, "decide": outcomes_to_decide, "coverage": coverage}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--part", action="append", choices=PARTS, default=[])
    options = parser.parse_args()
    for name in options.part or PARTS:
        PARTS[name](options.draws)
        print()


if __name__ == "__main__":
    main()
