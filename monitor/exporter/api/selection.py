"""Selects and sorts the models of an answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from monitor.report.deciding_window import deciding_window, verdict_on
from monitor.report.model_kinds import JudgedModel
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
        kind: only models that count as this, see `JudgedModel.kind`; "" for all.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectableModel(JudgedModel):
    """A judged model, with the window that decides.

    Attributes:
        deciding: name of the window that gives the verdict.
    """

    deciding: str


def judged_models(snapshot: Snapshot) -> dict[str, SelectableModel]:
    """Return the verdict of every model by its name."""
    windows = [window.name for window in snapshot.windows]
    found = {}
    for model in snapshot.models:
        deciding = deciding_window(model, windows)
        given = verdict_on(model, deciding)
        found[model.name] = SelectableModel(
            given.verdict,
            model_because(model, given),
            pages=model.watched.degradation_detected,
            worse_version=worse_version_in_use(model) is not None,
            worse_segment=bool(worse_values(model, given)),
            deciding=deciding,
        )
    return found


def selected(
    snapshot: Snapshot, judged: Mapping[str, SelectableModel], asked: Selection, window: str
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
    if not judged.pages and model.watched.predictions.kind is not None:
        return _DEGENERATE
    return judged.urgency


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
