"""When the change of a diagnosis began, and the version that is new."""

from __future__ import annotations

from dataclasses import replace

from monitor.diagnosis.result import Diagnosis
from monitor.drift.rates_changed import rates_changed
from monitor.engine import Monitor
from monitor.snapshot import ModelState


def may_have_news(found: Diagnosis, model: ModelState) -> bool:
    """Return whether rates changed, or the model has a second version.

    Args:
        found: the diagnosis.
        model: whose it is.
    """
    return rates_changed(found.verdict, found.judgement) or len(model.versions) > 1


def with_news(found: Diagnosis, monitor: Monitor, now: int | None) -> Diagnosis:
    """Return a diagnosis that says when its change began, and with which version.

    The hours are those that the monitor stores, of a year at most.

    Args:
        found: the diagnosis.
        monitor: has counted the events; only for the thread that feeds it.
        now: current event time of the model, epoch milliseconds; None before any.
    """
    before, after = found.before, found.after
    if now is None or after.closes is None:
        return found
    news = monitor.news.between(
        monitor.models.index(found.model),
        before.counts,
        (before.closes or 0, after.closes),
        now,
        changed=rates_changed(found.verdict, found.judgement),
    )
    return replace(found, news=news)
