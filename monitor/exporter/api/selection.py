"""Selects and sorts the models of an answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from monitor.drift import Verdict
from monitor.drift.recall_evidence import Because
from monitor.report.deciding_window import deciding_window, verdict_on
from monitor.report.model_kinds import kind_of, urgency
from monitor.report.vocabulary import PAGE_METRICS
from monitor.report.why_open import model_because
from monitor.report.worse_segment import worse_values
from monitor.report.worse_version import worse_version_in_use
from monitor.snapshot import ModelState, Snapshot, Window

URGENCY = "urgency"
"""The default order: pages first, then certain falls, then whatever else moved."""
DESCENDING = "-"
"""Before the name of an order, the largest come first."""
ORDERS = (
    URGENCY,
    "name",
    *(row.name for row in PAGE_METRICS),
    "predictions",
    "last_prediction",
    "last_label",
)
"""Keys to sort models by. An unknown number comes last in either direction."""
SORTS = (*ORDERS, *(f"{DESCENDING}{order}" for order in ORDERS[1:]))


class Selection(NamedTuple):
    """The models that are asked for.

    Attributes:
        matching: only models whose name contains this text, in any case.
        kind: only models that count as this, see `kind_of`; "" for all.
        paging: only models that page.
        names: only these models; all if empty.
        sort: one of `SORTS`.
        offset: leave out this many models.
    """

    matching: str = ""
    kind: str = ""
    paging: bool = False
    names: tuple[str, ...] = ()
    sort: str = URGENCY
    offset: int = 0


_DEGENERATE = 1
"""Urgency of a model whose predictions are wrong and that does not page: after those that do."""
EVERY_MODEL = Selection()


class JudgedModel(NamedTuple):
    """The verdict of a model.

    Attributes:
        deciding: name of the window that gives it.
        verdict: the verdict.
        because: why it is `insufficient_evidence`; None for any other.
        pages: the model pages.
        worse_version: a version in use is worse than the one before.
        worse_segment: a segment value is certainly worse, beside the verdict.
    """

    deciding: str
    verdict: Verdict
    because: Because | None
    pages: bool
    worse_version: bool
    worse_segment: bool

    @property
    def kind(self) -> str:
        """What it counts as, see `kind_of`."""
        return kind_of(
            self.verdict,
            self.because,
            pages=self.pages,
            worse_version=self.worse_version,
            worse_segment=self.worse_segment,
        )


def judged_models(snapshot: Snapshot) -> dict[str, JudgedModel]:
    """Return the verdict of every model by its name."""
    windows = [window.name for window in snapshot.windows]
    found = {}
    for model in snapshot.models:
        deciding = deciding_window(model, windows)
        given = verdict_on(model, deciding)
        found[model.name] = JudgedModel(
            deciding,
            given.verdict,
            model_because(model, given),
            model.watched.degradation_detected,
            worse_version_in_use(model) is not None,
            bool(worse_values(model, given)),
        )
    return found


def selected(
    snapshot: Snapshot, judged: Mapping[str, JudgedModel], asked: Selection, window: str
) -> list[ModelState]:
    """Return the models that are asked for, in their order.

    Args:
        snapshot: the state.
        judged: the verdict of every model.
        asked: the selection; its offset is not applied.
        window: name of the window whose metrics models are sorted by.
    """
    found = [
        model
        for model in snapshot.models
        if asked.matching.casefold() in model.name.casefold()
        and (not asked.names or model.name in asked.names)
        and asked.kind in ("", judged[model.name].kind)
        and (judged[model.name].pages or not asked.paging)
    ]
    by_name = sorted(found, key=lambda model: model.name)
    order = asked.sort.removeprefix(DESCENDING)
    descending = order != asked.sort
    if order == "name":
        return by_name[::-1] if descending else by_name
    if order == URGENCY:
        return sorted(by_name, key=lambda model: _urgency(model, judged[model.name]))
    shown = next(one for one in snapshot.windows if one.name == window)
    number = _number(order, shown)
    known = [model for model in by_name if not math.isnan(number(model))]
    unknown = [model for model in by_name if math.isnan(number(model))]
    return sorted(known, key=number, reverse=descending) + unknown


def _urgency(model: ModelState, judged: JudgedModel) -> int:
    pages = judged.pages
    if not pages and model.watched.predictions.kind is not None:
        return _DEGENERATE
    return urgency(
        judged.verdict,
        judged.because,
        pages=pages,
        worse_version=judged.worse_version,
        worse_segment=judged.worse_segment,
    )


def _number(order: str, window: Window) -> Callable[[ModelState], float]:
    """Return what models are sorted by, a number of each; NaN where it is not known."""
    if order == "predictions":
        return lambda model: model.predictions_positive + model.predictions_negative
    if order == "last_prediction":
        return lambda model: _moment(model.last_prediction_ms)
    if order == "last_label":
        return lambda model: _moment(model.last_label_ms)
    values = window.metrics[order].estimate
    return lambda model: float(values[model.row])


def _moment(milliseconds: int | None) -> float:
    return math.nan if milliseconds is None else float(milliseconds)
