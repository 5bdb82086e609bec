"""Sentences on a new version and its part in a verdict."""

from __future__ import annotations

from msgspec import Struct

from monitor.drift.verdict import MOVED_RATES
from monitor.events.columns import VERSION_KEY, Series
from monitor.report.answer_parts import Share, Time, time_text
from monitor.report.deciding_window import verdict_on
from monitor.report.durations import duration_text
from monitor.report.printable import one_line
from monitor.snapshot import ModelState, Snapshot
from monitor.verdicts import ChangeBegan


class ChangeBeginning(Struct, frozen=True, kw_only=True):
    """When recall or the false-positive rate changed, to the hour.

    Attributes:
        at: the likeliest hour.
        earliest: lower limit of its 95 % interval.
        latest: upper limit of its 95 % interval.
    """

    at: Time
    earliest: Time
    latest: Time


class VersionNewsAnswer(Struct, frozen=True, kw_only=True):
    """The version that a change began with, else the one that began last.

    Attributes:
        version: its name.
        first_prediction: the time of its first prediction.
        age_seconds: event time since then.
        traffic: share of the predictions of the window that decides; null where versions are
            not counted apart.
        change_began_with_it: the change of the model began with it.
    """

    version: str
    first_prediction: Time
    age_seconds: float
    traffic: Share | None
    change_began_with_it: bool


def change_beginning(began: ChangeBegan | None) -> ChangeBeginning | None:
    """Return when a model changed; None where it did not."""
    if began is None:
        return None
    at, earliest, latest = (str(time_text(moment)) for moment in began)
    return ChangeBeginning(at=at, earliest=earliest, latest=latest)


def version_news(snapshot: Snapshot, model: ModelState, window: str) -> VersionNewsAnswer | None:
    """Return the new version of a model; None without one.

    Args:
        snapshot: the state.
        model: one of its models.
        window: name of the window that decides.
    """
    new = model.watched.new_version
    if new is None or model.now_ms is None:
        return None
    shown = next(one for one in snapshot.windows if one.name == window)
    made = shown.predicted_positive + shown.predicted_negative
    series = Series(model.name, VERSION_KEY, new.name)
    share = None
    if series in snapshot.series and made[model.row]:
        share = float(made[snapshot.series.index(series)] / made[model.row])
    return VersionNewsAnswer(
        version=new.name,
        first_prediction=str(time_text(new.first)),
        age_seconds=max(model.now_ms - new.first, 0) / 1000,
        traffic=share,
        change_began_with_it=new.began_change,
    )


def with_version(headline: str, snapshot: Snapshot, model: ModelState, window: str) -> str:
    """Return a headline with the version that the change began with, or that is new.

    A version is new while the window holds time from before it.

    Args:
        headline: what happened.
        snapshot: the state.
        model: one of its models.
        window: name of the window that decides.
    """
    news, found = version_news(snapshot, model, window), verdict_on(model, window)
    new = model.watched.new_version
    if news is None or new is None:
        return headline
    parts = [duration_text(news.age_seconds)]
    if news.traffic is not None:
        parts.append(f"{100 * news.traffic:.0f} % of the traffic")
    named = f"version {one_line(news.version)} ({', '.join(parts)})"
    if news.change_began_with_it and found.verdict in MOVED_RATES:
        return f"Since {named}, {headline[0].lower()}{headline[1:]}"
    opens = next(int(one.open[model.row]) for one in snapshot.windows if one.name == window)
    if new.first > opens:
        return f"{headline.removesuffix('.')}. New: {named}."
    return headline
