"""When a model has a reference, by a stated rate of its positives and false positives."""

from __future__ import annotations

import math
from collections.abc import Iterator

from monitor.clock import DAY_MS
from monitor.config import Config, ModelConfig
from monitor.config.quantities import count_of
from monitor.config.same_sentences import each_once
from monitor.counts import ConfusionCounts
from monitor.drift.detectors import FEWEST_COMPARED
from monitor.drift.recall_evidence import excludes_much, visible_recall_at_best
from monitor.labels.refusals import because, detectors_off
from monitor.report.rate_changes import short
from monitor.watch.awaited_reference import first_days
from monitor.watch.first_days import OutcomeNumbers
from monitor.windows.pane_widths import SPARE_MS

_ASSUMED_RECALL = 0.8
"""Recall by which positives are taken to be found or missed, and it is said what few show."""
_LONGEST_DAYS = 365
"""Longer first days are not advised."""


def readiness(config: Config, positives: float, false_positives: float) -> Iterator[str]:
    """Yield a sentence on models, once for alike ones: from when on their windows are compared.

    Args:
        config: the configuration.
        positives: actual positives a day, of each model.
        false_positives: false positives a day.

    >>> print(*readiness(Config(models={"fraud": {}}), 10, 5))
    fraud: at 10 positives and 5 false positives a day and a recall of .8, its first reference is \
complete 7 days after the first prediction, plus its maturity; a window is compared once all of it \
is later. The first 28 days replace it after 35 days.
    """
    models = config.models or {"any model": config.defaults}
    yield from each_once(
        (name, _of_model(model, positives, false_positives)) for name, model in models.items()
    )


def _of_model(model: ModelConfig, positives: float, false_positives: float) -> str:
    if reason := detectors_off(model):
        return f"no window is compared with a reference, at any rate: {because(reason)}."
    setting = model.reference
    needed = first_days(setting)
    if needed is None:
        if setting.counts is not None:
            return "its reference is given: windows are compared from the first labels on."
        return "when its reference is complete does not depend on the rate."
    found = _ASSUMED_RECALL * positives
    a_day = OutcomeNumbers(positives, false_positives, found, positives - found)
    days, held = needed.soonest(a_day)
    if positives * days < FEWEST_COMPARED:
        return _without_positives(positives, days)
    replaced = ""
    if days * DAY_MS < needed.longest == setting.first:
        after = (needed.longest + SPARE_MS) // DAY_MS
        replaced = (
            f" The first {needed.longest // DAY_MS} days replace it after {count_of(after, 'day')}."
        )
    assumed = f" and a recall of {short(_ASSUMED_RECALL, 1)}" if held.false_negatives else ""
    return (
        f"at {positives:g} positives and {false_positives:g} false positives a day{assumed}, its "
        f"first reference is complete {count_of(days, 'day')} after the first prediction, plus its "
        f"maturity; a window is compared once all of it is later.{replaced}"
        f"{_few(positives, days if not replaced else needed.longest // DAY_MS)}"
    )


def _without_positives(positives: float, days: int) -> str:
    """Return why the first days never hold a reference to compare with, and what to give instead.

    Args:
        positives: actual positives a day.
        days: whole days that the reference holds.
    """
    if positives:
        came = f"the first {count_of(days, 'day')} hold about {positives * days:.1f} positives"
        longer = math.ceil(FEWEST_COMPARED / positives)
    else:
        came, longer = "a reference never fills", _LONGEST_DAYS + 1
    first = f", or the first {longer} days: reference: {{first: {longer}d}}"
    return (
        f"at {positives:g} positives a day, {came}, and no window is compared with fewer than "
        f"{FEWEST_COMPARED} positives. Give the counts of a test set, reference: {{counts: …}} "
        "(precision-monitor reference FILE prints it), with which precision and false positives "
        f"are compared, and recall once positives come{first if longer <= _LONGEST_DAYS else ''}."
    )


def _few(positives: float, days: int) -> str:
    """Return what the positives of the first days show at best, where that is not much; "" else."""
    held = positives * days
    recall = _ASSUMED_RECALL
    assumed = ConfusionCounts(tp=recall * held, fp=0, fn=(1 - recall) * held, tn=held)
    visible = visible_recall_at_best(assumed)
    if excludes_much(visible, recall):
        return ""
    return (
        f" It holds about {held:.0f} positives then: of a recall of {short(recall, 1)} at best a "
        f"fall to {short(visible, 2)} shows. A test set with more shows more (reference: "
        "{counts: …})."
    )
