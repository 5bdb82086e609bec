"""A trained classifier of ten classes, replayed with delayed labels: which class, into which.

    python -m tests.benchmarks.digits [--world WORLD] [--streams N] [--first SEED] [--a-day N]

Logistic regression is trained on a quarter of scikit-learn's digits (Alpaydin & Kaynak 1998). The
others are drawn again and again as the cases of a stream of 120 days; a label follows some hours or
days after its prediction, one in twenty never. The shares of the digits scatter from day to day.
From day 60 on one thing changes: the shares of the digits, by far and anew every 20 days
(`shares`); an eighth of one digit's images have another digit shining through, for which the
classifier takes them (`confusion`, the pair drawn by the seed); or nothing (`steady`). Looked at
once a week.

A line for each stream: pages, looks that call a class or the model worse, the confusions that are
named after the change, and how many cells of all windows differ from an independent recount.

Goal: no look at `shares` calls a class or the model worse; a confusion pages, and its pair is named
first; no cell differs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from monitor.config import Config
from monitor.drift.verdict import DEGRADED
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.snapshot import Snapshot

DAY = 86_400
CLASSES = 10
DAYS, CHANGED = 120, 60
WORLDS = ("steady", "shares", "confusion")
_TIMEOUT = 7 * DAY
_SHARES_LAST = 20
_LEAK = 0.125
_SHINES = 0.6
_NEVER = 0.05


class Classified(NamedTuple):
    """Images that the classifier was not trained on.

    Attributes:
        images: (images, 64).
        actual: the digit of each.
        model: the trained classifier.
    """

    images: np.ndarray
    actual: np.ndarray
    model: LogisticRegression

    def of(self, digit: int) -> np.ndarray:
        """Return the images of a digit."""
        return np.asarray(self.images[self.actual == digit])

    def taken_for(self, digit: int, other: int, rng: np.random.Generator) -> np.ndarray:
        """Return images of a digit with another shining through, for which they are taken."""
        mine, through = self.of(digit), self.of(other)
        mixed = (1 - _SHINES) * mine + _SHINES * through[rng.integers(0, len(through), len(mine))]
        return np.asarray(mixed[self.model.predict(mixed) == other])


@cache
def classified() -> Classified:
    """Return the classifier, trained on every fourth image, and the other images."""
    images, actual = load_digits(return_X_y=True)
    trained = np.arange(len(images)) % 4 == 0
    model = LogisticRegression(max_iter=5_000).fit(images[trained], actual[trained])
    return Classified(images[~trained], actual[~trained], model)


class Cases(NamedTuple):
    """The cases of a stream, in the order of their predictions.

    Attributes:
        made: time of the prediction, seconds.
        labelled: time of its label; infinite for none.
        scores: of the classes, (cases, 10).
        actual: class.
    """

    made: np.ndarray
    labelled: np.ndarray
    scores: np.ndarray
    actual: np.ndarray

    def lines_by_day(self) -> Iterator[str]:
        """Yield the events of each day in the order of their times, until the last prediction."""
        last = self.made[-1]
        label_rows = np.flatnonzero(self.labelled <= last)
        times = np.concatenate([self.made, self.labelled[label_rows]])
        rows = np.concatenate([np.arange(len(self.made)), label_rows])
        order = np.argsort(times, kind="stable")
        for day in range(int(last // DAY) + 1):
            own = order[slice(*np.searchsorted(times[order], [day * DAY, (day + 1) * DAY]))]
            yield "".join(
                self._label(rows[at]) if at >= len(self.made) else self._prediction(rows[at])
                for at in own.tolist()
            )

    def _prediction(self, row: int) -> str:
        scores = self.scores[row].tolist()
        event = {"type": "prediction", "id": f"d{row}", "ts": self.made[row], "model": "digits"}
        return json.dumps({**event, "scores": scores}) + "\n"

    def _label(self, row: int) -> str:
        event = {"type": "label", "id": f"d{row}", "ts": self.labelled[row]}
        return json.dumps({**event, "label": int(self.actual[row])}) + "\n"

    def recount(self, opens: float, closes: float) -> np.ndarray:
        """Return the matrix of predicted and actual class of the cases in [opens, closes)."""
        timely = self.labelled <= np.minimum(self.made + _TIMEOUT, self.made[-1])
        own = timely & (opens <= self.made) & (self.made < closes)
        matrix = np.zeros((CLASSES, CLASSES), dtype=np.int64)
        np.add.at(matrix, (self.scores.argmax(axis=1)[own], self.actual[own]), 1)
        return matrix


class DigitStream(NamedTuple):
    """A stream of digits.

    Attributes:
        world: `steady`, `shares` or `confusion`.
        seed: of all chance.
        a_day: predictions a day.
        days: length.
        changed: first day of the change.
    """

    world: str
    seed: int
    a_day: int = 1_000
    days: int = DAYS
    changed: int = CHANGED

    @property
    def pair(self) -> tuple[int, int]:
        """The digit that leaks, and the one into which it does."""
        found = np.random.default_rng([self.seed, 1]).choice(CLASSES, 2, replace=False)
        return int(found[0]), int(found[1])

    def cases(self) -> Cases:
        """Return its cases."""
        rng, known = np.random.default_rng(self.seed), classified()
        leaks, into = self.pair
        mixed = known.taken_for(leaks, into, rng)
        shares, parts = rng.dirichlet(np.full(CLASSES, 20.0)), []
        for day in range(self.days):
            since = day - self.changed
            if self.world == "shares" and since >= 0 and since % _SHARES_LAST == 0:
                shares = rng.dirichlet(np.full(CLASSES, 1.5))
            mix = shares * np.exp(rng.normal(0, 0.2, CLASSES))
            actual = rng.choice(CLASSES, int(rng.poisson(self.a_day)), p=mix / mix.sum())
            images = np.empty((len(actual), known.images.shape[1]))
            for digit in range(CLASSES):
                own, pool = np.flatnonzero(actual == digit), known.of(digit)
                images[own] = pool[rng.integers(0, len(pool), len(own))]
            if self.world == "confusion" and since >= 0:
                own = np.flatnonzero((actual == leaks) & (rng.random(len(actual)) < _LEAK))
                images[own] = mixed[rng.integers(0, len(mixed), len(own))]
            times = np.sort(rng.uniform(0, DAY, len(actual))) + day * DAY
            delays = rng.lognormal(np.log(0.3 * DAY), 0.8, len(actual))
            delays[rng.random(len(actual)) < _NEVER] = np.inf
            scores = known.model.predict_proba(images).round(6)
            parts.append((times.round(3), (times + delays).round(3), scores, actual))
        return Cases(*map(np.concatenate, zip(*parts, strict=True)))


class Seen(NamedTuple):
    """What was seen of a stream.

    Attributes:
        pages: days on which a page began.
        looks: weekly looks at all windows of all classes.
        worse: of these, those at which a class was called worse.
        whole_looks: weekly looks at all windows of the model.
        whole_worse: of these, those at which the model was.
        named: confusions that were named as risen, with the number of looks.
        first: the confusion that was named first at each look that named one.
        differ: cells of the windows that differ from the recount.
    """

    pages: list[float]
    looks: int
    worse: int
    whole_looks: int
    whole_worse: int
    named: Counter[tuple[int, int]]
    first: Counter[tuple[int, int]]
    differ: int


def differences(snapshot: Snapshot, cases: Cases) -> int:
    """Return how many cells of the windows differ from a recount of the cases."""
    reports = snapshot.models[0].classes
    differ = int((reports["all"].matrix != cases.recount(0, np.inf)).sum())
    for window in snapshot.windows:
        counted = cases.recount(window.open[0] / 1000, window.close[0] / 1000)
        differ += int((reports[window.name].matrix != counted).sum())
    return differ


def watch(stream: DigitStream) -> Seen:
    """Apply a stream, and look once a week."""
    names = [str(digit) for digit in range(CLASSES)]
    model = {"classes": names, "label_timeout": f"{_TIMEOUT}s"}
    config = Config(models={"digits": model}, windows=["1d", "7d", "28d"], pane="6h")
    monitor, decoder = Monitor(config), Decoder(DecodeSettings.from_config(config))
    looks = worse = whole_looks = whole_worse = 0
    named: Counter[tuple[int, int]] = Counter()
    first: Counter[tuple[int, int]] = Counter()
    cases = stream.cases()
    for day, text in enumerate(cases.lines_by_day()):
        monitor.apply(decoder.decode_lines(text.encode(), source="events"))
        watched = monitor.snapshot().models[0].watched if day % 7 == 6 else None
        if watched is None or watched.classes is None:
            continue
        for window, found in watched.verdicts.items():
            own = [one.verdicts[window].verdict for one in watched.classes.by_class.values()]
            looks, worse = looks + len(own), worse + sum(one in DEGRADED for one in own)
            whole_looks, whole_worse = whole_looks + 1, whole_worse + (found.verdict in DEGRADED)
            changes = watched.classes.confusions(window)
            risen = [(int(c.actual), int(c.predicted)) for c in changes if c.after > c.before]
            named.update(risen)
            first.update(risen[:1])
    snapshot = monitor.snapshot()
    detections = snapshot.models[0].watched.detections
    pages = [one.at / 1000 / DAY for one in detections if one.kind == "model_degraded"]
    differ = differences(snapshot, cases)
    return Seen(pages, looks, worse, whole_looks, whole_worse, named, first, differ)


def main() -> None:
    """Print what was seen."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--world", choices=WORLDS, action="append")
    parser.add_argument("--streams", type=int, default=10)
    parser.add_argument("--first", type=int, default=100, help="seed of the first stream")
    parser.add_argument("--a-day", type=int, default=1_000)
    options = parser.parse_args()
    for world in options.world or WORLDS:
        for seed in range(options.first, options.first + options.streams):
            stream = DigitStream(world, seed, options.a_day)
            found = watch(stream)
            pair = f"pair {stream.pair}, " if world == "confusion" else ""
            sys.stdout.write(
                f"{world} {seed}: {pair}pages {[round(day, 1) for day in found.pages]}; worse at "
                f"{found.worse} of {found.looks} looks at classes, {found.whole_worse} of "
                f"{found.whole_looks} at the model; named {dict(found.named)}, first "
                f"{dict(found.first)}; {found.differ} cells differ\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
