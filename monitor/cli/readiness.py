"""When a model has a reference, by a stated rate of its positives and false positives."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.clock import DAY_MS
from monitor.config import Config, ModelConfig
from monitor.config.quantities import count_of
from monitor.labels.refusals import because, detectors_off
from monitor.watch.awaited_reference import first_days
from monitor.windows.pane_widths import SPARE_MS


def readiness(config: Config, positives: float, false_positives: float) -> Iterator[str]:
    """Yield a sentence on each model: from when on its windows are compared.

    Args:
        config: the configuration.
        positives: actual positives a day, of each model.
        false_positives: false positives a day.

    >>> print(*readiness(Config(models={"fraud": {}}), 10, 5))
    fraud: at 10 positives and 5 false positives a day, its first reference is complete 10 days \
after the first prediction, plus its maturity; a window is compared once all of it is later. The \
first 28 days replace it after 35 days.
    """
    models = config.models or {"any model": config.defaults}
    for name, model in models.items():
        yield f"{name}: {_of_model(model, positives, false_positives)}"


def _of_model(model: ModelConfig, positives: float, false_positives: float) -> str:
    if reason := detectors_off(model):
        return f"no window is compared with a reference, at any rate: {because(reason)}."
    setting = model.reference
    needed = first_days(setting)
    if needed is None:
        if setting.counts is not None:
            return "its reference is given: windows are compared from the first labels on."
        return "when its reference is complete does not depend on the rate."
    if not positives:
        return "at 0 positives a day, no window can be compared with a reference, however long."
    days = needed.takes_days(positives, false_positives)
    replaced = ""
    if days * DAY_MS < needed.longest == setting.first:
        after = (needed.longest + SPARE_MS) // DAY_MS
        replaced = (
            f" The first {needed.longest // DAY_MS} days replace it after {count_of(after, 'day')}."
        )
    return (
        f"at {positives:g} positives and {false_positives:g} false positives a day, its first "
        f"reference is complete {count_of(days, 'day')} after the first prediction, plus its "
        f"maturity; a window is compared once all of it is later.{replaced}"
    )
