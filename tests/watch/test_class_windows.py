"""The windows in which the classes of a model are judged; a snapshot raised KeyError for some."""

from __future__ import annotations

import numpy as np
from exporter.page.pages import fed

from monitor.config import Config
from monitor.engine import Monitor


def test_classes_of_unequal_size_are_judged_in_the_same_windows() -> None:
    """The model is right so rarely that it needs four weeks, which its large classes do not."""
    rng, names = np.random.default_rng(3), ["card", "loan", "other"]
    config = Config(models={"mail": {"classes": names, "label_timeout": "2d", "maturity": "1h"}})
    events = []
    for number in range(45 * 100):
        actual = int(rng.choice(3, p=[0.5, 0.4, 0.1]))
        wrong = (actual + 1) % 2 if actual < 2 else 0
        predicted = actual if rng.random() < 0.1 else wrong
        one = {"type": "outcome", "id": str(number), "ts": number * 864, "model": "mail"}
        events.append({**one, "prediction": names[predicted], "label": names[actual]})
    monitor = fed(Monitor(config), events)
    (model,) = monitor.snapshot().models
    assert model.watched.classes is not None
    windows = [set(one.verdicts) for one in model.watched.classes.by_class.values()]
    assert windows == 3 * [{"1h", "1d", "7d", "28d"}]
    assert set(model.watched.verdicts) == windows[0]
