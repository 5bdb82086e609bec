"""When a change began, and the version that is new: as objects, and in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import UNSET, Struct, UnsetType

from monitor.clock import DAY_MS, HOUR_MS
from monitor.config.quantities import parse_time
from monitor.drift.change_news import ChangeBegan, NewVersion
from monitor.report.answer_parts import Share, Time, defined, time_text
from monitor.report.durations import duration_text
from monitor.report.missing_evidence import day_text
from monitor.report.printable import one_line
from monitor.report.reference_answer import VersionBeginning

_LISTED = 3


class ChangeBeginning(Struct, frozen=True, kw_only=True):
    """When recall or the false-positive rate changed, to the hour.

    Attributes:
        at: beginning of the likeliest hour.
        earliest: lower limit of its 95 % interval: the beginning of an hour.
        latest: upper limit of its 95 % interval: the end of an hour.
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
        traffic: share of the model's predictions since then, or until it ended; null where
            versions are not counted, and where it began longer ago than hours are stored.
        change_began_with_it: the change of the model began with it.
        ended: the time of its last prediction; null where it made one in the last day before
            that of the model.
    """

    version: str
    first_prediction: Time
    age_seconds: float
    traffic: Share | None
    change_began_with_it: bool
    ended: Time | None = None


def change_beginning(began: ChangeBegan | None) -> ChangeBeginning | None:
    """Return when a model changed; None where it did not."""
    if began is None:
        return None
    at, earliest, latest = (str(time_text(moment)) for moment in began)
    return ChangeBeginning(at=at, earliest=earliest, latest=latest)


def version_news(new: NewVersion | None) -> VersionNewsAnswer | None:
    """Return the new version of a model; None without one."""
    if new is None:
        return None
    return VersionNewsAnswer(
        version=new.name,
        first_prediction=str(time_text(new.first)),
        age_seconds=new.age_ms / 1000,
        traffic=defined(new.traffic),
        change_began_with_it=new.began_change,
        ended=time_text(new.ended),
    )


def with_version(headline: str, new: NewVersion | None, opens: int | None, *, moved: bool) -> str:
    """Return a headline with the version that the change began with, or that is new.

    A version is new while the time that is judged holds some from before it.

    Args:
        headline: what happened.
        new: the version that the change began with, else the one that began last; None
            without one.
        opens: first moment of what is judged, epoch milliseconds; None where it is not known.
        moved: the headline says that the rates changed.
    """
    if new is None:
        return headline
    if new.began_change and moved:
        return f"Since {_named(new)}, {headline[0].lower()}{headline[1:]}"
    if _is_new(new, opens):
        return f"{headline.removesuffix('.')}. New: {_named(new)}."
    return headline


def beginning_text(began: ChangeBegan | ChangeBeginning) -> str:
    """Return when recall or false positives changed, UTC, with an interval of over an hour.

    One of over a week says nothing of an hour: then its first and its last day stand alone.
    """
    ends = change_beginning(began) if isinstance(began, ChangeBegan) else began
    assert ends is not None  # noqa: S101  # `began` is not None
    at, earliest, latest = (_minute(text) for text in (ends.at, ends.earliest, ends.latest))
    length_ms = parse_time(ends.latest) - parse_time(ends.earliest)
    if length_ms > 7 * DAY_MS:
        days = f"{ends.earliest[:10]} to {ends.latest[:10]}"
        return f"recall or false positives, some time from {days}"
    if length_ms <= HOUR_MS:
        return f"recall or false positives, about {at} UTC, to the hour"
    return f"recall or false positives, about {at} UTC ({earliest} to {latest})"


def news_sentences(
    began: ChangeBegan | None, new: NewVersion | None, opens: int | None
) -> Iterator[str]:
    """Yield when a change began and with which version, or which version is new.

    Args:
        began: when the change began; None where nothing says that there is one.
        new: the version that it began with, else the one that began last; None without one.
        opens: first moment of what is judged, epoch milliseconds; None where it is not known.
    """
    if began is not None:
        with_it = f", with {_named(new)}" if new is not None and new.began_change else ""
        yield f"Rates changed: {beginning_text(began)}{with_it}."
    if new is not None and not new.began_change and _is_new(new, opens):
        yield f"New: {_named(new)}."


def begun_with_ended(new: NewVersion | None) -> str:
    """Return with which version, ended by now, a change began, a clause.

    Args:
        new: the version that the change began with, else the one that began last; None without.

    Returns:
        "" where it has not ended, or the change began with none.

    >>> begun_with_ended(NewVersion("7", 0, True, 9 * 86_400_000, 1.0, 5 * 86_400_000))
    'the change began with version 7, which ended on 6 January 1970'
    """
    if new is None or not new.began_change or new.ended is None:
        return ""
    version = f"version {one_line(new.name)}"
    return f"the change began with {version}, which ended on {day_text(new.ended)}"


def reference_versions_text(
    began: Sequence[VersionBeginning], restarted_with: str | UnsetType = UNSET
) -> str:
    """Return whose reference it is, and when they began, UTC.

    Args:
        began: the versions that predicted in it, in the order in which they began.
        restarted_with: the version that it began anew with.

    >>> old = VersionBeginning(version="6", first_prediction="2026-03-01T00:00:00Z")
    >>> new = VersionBeginning(version="7", first_prediction="2026-03-05T10:30:00Z")
    >>> reference_versions_text([old])
    'of version 6 (began 2026-03-01 00:00)'
    >>> reference_versions_text([old, new])
    'of versions 6 (began 2026-03-01 00:00) and 7 (began 2026-03-05 10:30)'
    >>> reference_versions_text([old, new], "7")
    'restarted with version 7 (began 2026-03-05 10:30), beside version 6 (began 2026-03-01 00:00)'
    """
    anew = [_began(one) for one in began if one.version == restarted_with]
    if not anew:
        return f"of {_versions([_began(one) for one in began])}"
    others = [_began(one) for one in began if one.version != restarted_with]
    beside = f", beside {_versions(others)}" if others else ""
    return f"restarted with version {anew[0]}{beside}"


def compared_versions_text(
    before: Sequence[VersionBeginning],
    after: Sequence[VersionBeginning],
    restarted_with: str | UnsetType = UNSET,
) -> str:
    """Return which versions predicted in two stretches of time, as a sentence.

    Args:
        before: those of the earlier stretch, in the order in which they began; not empty.
        after: those of the later stretch likewise; empty where they are not known.
        restarted_with: the version that the earlier one, the reference, began anew with.

    >>> old = VersionBeginning(version="6", first_prediction="2026-03-01T00:00:00Z")
    >>> new = VersionBeginning(version="7", first_prediction="2026-03-05T10:30:00Z")
    >>> compared_versions_text([new], [old])
    'Before is of version 7 (began 2026-03-05 10:30); after is of version 6 (began 2026-03-01 \
00:00).'
    >>> compared_versions_text([old, new], [new])
    'Before is of versions 6 (began 2026-03-01 00:00) and 7 (began 2026-03-05 10:30); after is of \
version 7.'
    """
    reference = "the reference that " if restarted_with else ""
    text = f"Before is {reference}{reference_versions_text(before, restarted_with)}"
    if not after:
        return f"{text}."
    later = [one_line(one.version) if one in before else _began(one) for one in after]
    return f"{text}; after is of {_versions(later)}."


def _versions(named: Sequence[str]) -> str:
    """Return the first three of some versions and the number of the others."""
    more = len(named) - _LISTED
    parts = [*named[:_LISTED], f"{more} more"] if more > 0 else [*named]
    *first, last = parts
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"version{'s' * (len(parts) > 1)} {listed}"


def _began(one: VersionBeginning) -> str:
    when = "" if one.first_prediction is None else f" (began {_minute(one.first_prediction)})"
    return f"{one_line(one.version)}{when}"


def _named(new: NewVersion) -> str:
    """Return a version with its age or the time of its use, and its share of the traffic then."""
    traffic, parts = defined(new.traffic), [duration_text(new.age_ms / 1000)]
    if new.ended is not None:
        length = duration_text((new.ended - new.first) / 1000)
        parts = [f"{length} until {_minute(str(time_text(new.ended)))}"]
    if traffic is not None:
        parts.append(f"{100 * traffic:.0f} % of the traffic")
    return f"version {one_line(new.name)} ({', '.join(parts)})"


def _is_new(new: NewVersion, opens: int | None) -> bool:
    return opens is not None and new.first > opens


def _minute(text: str) -> str:
    return f"{text[:10]} {text[11:16]}"
