"""When the change of a diagnosis began, and the version that is new."""

from __future__ import annotations

import math
from dataclasses import replace

from monitor.diagnosis.predicted_versions import PredictedVersions
from monitor.diagnosis.result import Diagnosis, Side
from monitor.drift.rates_changed import rates_changed
from monitor.drift.reference_news import ReferenceRestart, ReferenceVersions
from monitor.drift.version_verdict import VersionVerdict
from monitor.drift.versions_compared import VersionsCompared
from monitor.engine import Monitor
from monitor.snapshot import ModelState

_RESTARTED = ("first", "trailing")
"""Sources of references that begin anew under `on_version: restart`."""
_NOT_RESTARTED = (
    "how rates moved within the version that began last: recorded events are compared with a "
    "reference from before it, without `on_version: restart`; name a stretch of that version with "
    "--before"
)


def may_have_news(found: Diagnosis, model: ModelState) -> bool:
    """Return whether rates changed, or the model has a version, which may be new.

    Args:
        found: the diagnosis.
        model: whose it is.
    """
    return rates_changed(found.verdict, found.judgement) or bool(model.versions)


def with_news(
    found: Diagnosis,
    monitor: Monitor,
    now: int | None,
    predicted: PredictedVersions | None = None,
) -> Diagnosis:
    """Return a diagnosis that says when its change began, and with which version.

    The hours are those that the monitor stores, of a year at most.

    Args:
        found: the diagnosis.
        monitor: has counted the events; only for the thread that feeds it.
        now: current event time of the model, epoch milliseconds; None before any.
        predicted: predictions of each version, where all events are recorded; else the new version
            has a share of the traffic, and the versions of a stretch are those that predicted in
            it, only where the version is a segment.
    """
    before, after = found.before, found.after
    if now is None or after.closes is None:
        return found
    number = monitor.models.index(found.model)
    news = monitor.news.between(
        number,
        before.counts,
        (before.closes or 0, after.closes),
        now,
        changed=rates_changed(found.verdict, found.judgement),
    )
    if (new := news.new_version) is not None and predicted is not None and math.isnan(new.traffic):
        share = predicted.share(found.model, new.name, new.first, new.ended)
        news = news._replace(new_version=new._replace(traffic=share))
    restart = None
    if before.source in _RESTARTED:
        restart = monitor.news.restarts(number, after.closes)
    of_before = _versions_in(before, found.model, monitor, predicted, restart)
    of_after = _versions_in(after, found.model, monitor, predicted)
    if restart is not None and of_before is not None and not of_before.restarted_with:
        found = replace(found, notes=(*found.notes, _NOT_RESTARTED))
    several = of_after is not None and len(of_after.began) > 1
    as_one = several and monitor.versions.now(number, after.closes) is None
    worse = _worse_version(found, monitor, number)
    news = news._replace(worse=worse, before=of_before, after=of_after, counted_as_one=as_one)
    return replace(found, news=news)


def _versions_in(
    side: Side,
    model: str,
    monitor: Monitor,
    predicted: PredictedVersions | None,
    restart: ReferenceRestart | None = None,
) -> ReferenceVersions | None:
    """Return the versions that predicted in one of the two stretches; None without a time."""
    if side.opens is None or side.closes is None:
        return None
    number, stretch = monitor.models.index(model), (side.opens, side.closes)
    if predicted is not None:
        there: frozenset[str] | None = predicted.names_in(model, *stretch)
    else:
        there = monitor.versions.names_in(number, *stretch)
    return monitor.news.versions_in(number, stretch, restart, there)


def _worse_version(found: Diagnosis, monitor: Monitor, number: int) -> VersionsCompared | None:
    """Return the comparison that proves a version worse, which predicted in the later stretch."""
    now, after = monitor.versions.now(number, found.after.closes), found.after
    compared = None if now is None or now.ignored else now.compared
    if compared is None or after.opens is None or after.closes is None:
        return None
    worse = compared.comparison.decided_by.found.verdict is VersionVerdict.WORSE
    shadow = monitor.config.model(found.model).is_shadow(compared.versions[1].name)
    opens, closes = compared.within
    return (
        compared if worse and not shadow and opens < after.closes and after.opens < closes else None
    )
