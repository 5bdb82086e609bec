"""A stream of a model of many classes, with a change from some day on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import EventBatch
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.snapshot import ModelState
from monitor.verdicts import ClassesWatched

DAY = 86_400
CHANGED = 42
"""First day of the change; the reference is the 28 days before."""

Change = Literal["none", "shares", "confusion"]


class ClassStream(NamedTuple):
    """A model that is right in nine of ten cases of all classes but the first.

    A fifth of the first class is predicted as the second, besides.

    Attributes:
        classes: how many there are.
        a_day: outcomes of a usual day.
        days: length of the stream.
        change: what changes on day `CHANGED`: nothing; the shares of the classes (the first
            four times as frequent, the second half); or the share of the first class that is
            taken for the second (a fifth more).
        seed: of the random numbers.
    """

    classes: int = 4
    a_day: int = 500
    days: int = 56
    change: Change = "none"
    seed: int = 1

    @property
    def names(self) -> list[str]:
        """Names of the classes."""
        return [f"class-{number}" for number in range(self.classes)]

    def config(self, **settings: Any) -> Config:
        """Return a configuration with windows of a day, a week and four weeks."""
        model = {"classes": self.names, "label_timeout": "2d", "maturity": "1h"}
        reference = {"reference": {"first": "28d"}}
        models = {"mail": {**model, **reference, **settings}}
        return Config(models=models, pane="6h", windows=["1d", "7d", "28d"])

    def rates(self, day: int) -> np.ndarray:
        """Return the shares of predictions (rows) of each actual class (columns)."""
        rates = np.full((self.classes, self.classes), 0.1 / (self.classes - 1))
        np.fill_diagonal(rates, 0.9)
        more = 0.4 if self.change == "confusion" and day >= CHANGED else 0.2
        rates[1, 0] += more
        rates[0, 0] -= more
        return rates

    def shares(self, day: int, rng: np.random.Generator) -> np.ndarray:
        """Return the shares of the classes on a day, which scatter by a tenth."""
        shares = np.linspace(1.0, 2.0, self.classes) * np.exp(rng.normal(0, 0.1, self.classes))
        if self.change == "shares" and day >= CHANGED:
            shares[:2] *= [4.0, 0.5]
        return np.asarray(shares / shares.sum())

    def by_day(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield times, predicted and actual classes of each day."""
        rng = np.random.default_rng(self.seed)
        for day in range(self.days):
            size = int(rng.poisson(self.a_day))
            actual = rng.choice(self.classes, size, p=self.shares(day, rng))
            below = rng.random(size) > self.rates(day).cumsum(axis=0)[:, actual]
            times = np.sort(rng.integers(0, DAY, size)) + day * DAY
            yield times, np.minimum(below.sum(axis=0), self.classes - 1), actual

    def lines(self) -> Iterator[str]:
        """Yield the outcomes, the text of a day each."""
        names = self.names
        for columns in self.by_day():
            lines = [
                json.dumps({"ts": t, "prediction": names[p], "label": names[a], "model": "mail"})
                for t, p, a in zip(*map(np.ndarray.tolist, columns), strict=True)
            ]
            yield "\n".join(lines) + "\n"

    def batches(self, config: Config) -> Iterator[EventBatch]:
        """Yield the outcomes, a batch a day."""
        decoder = Decoder(DecodeSettings.from_config(config))
        for text in self.lines():
            yield decoder.decode_lines(text.encode(), source="events")

    def applied(self, **settings: Any) -> Monitor:
        """Return a monitor to which the whole stream was applied."""
        config = self.config(**settings)
        monitor = Monitor(config)
        for batch in self.batches(config):
            monitor.apply(batch)
        return monitor


def only_model(monitor: Monitor) -> ModelState:
    """Return the state of the only model of a monitor."""
    (model,) = monitor.snapshot().models
    return model


def classes_of(model: ModelState) -> ClassesWatched:
    """Return what is watched of the classes of a model, which has a reference."""
    assert model.watched.classes is not None
    return model.watched.classes
