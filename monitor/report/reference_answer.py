"""The reference of a model in JSON answers: its outcomes, versions, and days held back."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from monitor.clock import DAY_MS
from monitor.config.quantities import format_duration, format_time
from monitor.drift.reference_news import AwaitedReference, HeldBack, ReferenceVersions
from monitor.report.answer_parts import OutcomeSums, Time, defined, outcome_sums, time_text
from monitor.report.missing_evidence import day_text
from monitor.verdicts import ReferenceOutcomes
from monitor.watch.first_days import is_too_small_to_page


class VersionBeginning(Struct, frozen=True, kw_only=True):
    """A version, and when it began.

    Attributes:
        version: its name.
        first_prediction: the time of its first prediction; null where that is not known.
    """

    version: str
    first_prediction: Time | None


class HeldBackDays(Struct, frozen=True, kw_only=True):
    """Longer first days in which the model looks worse than in the days that stand in for them.

    Attributes:
        since: the days that stand in end, and the model looks worse.
        until: about when the longer days become the reference whatever they show; null while the
            model pages, and where they have.
        over: true where they have become the reference although the model still looked worse.
        text: what that means, a sentence.
    """

    since: Time
    until: Time | None
    over: bool
    text: str


class ProvisionalReference(Struct, frozen=True, kw_only=True):
    """Days that stand in for longer first days, until these are known.

    Attributes:
        until: about when the longer ones replace them.
        text: the same, a clause.
    """

    until: Time
    text: str


class ReferencePeriod(Struct, frozen=True, kw_only=True):
    """The reference: the outcomes that the windows of a model are compared with.

    Attributes:
        source: `first`, `window`, `trailing` or `counts`, as configured; `level` for a level.
        version: 1 for the first reference; one more each time it moves on; 1 for a level.
        open: first moment; null for given counts.
        close: first moment after it; null likewise.
        outcomes: its outcomes.
        class_ratio: its positives per negative; null without negatives.
        level_changed: first moment of the day on which its recall, its false-positive rate
            or their odds ratio changed; null where no change is certain.
        held_back: longer first days in which the model looks worse than in the days that stand in
            for them: not taken, or taken after four weeks; left out elsewhere.
        provisional: until when it stands in for longer first days; left out where it does not.
        cut_short: about when a change began before which it ends; left out where none cut it.
        prevalence_changed: first moment of the day on which its prevalence changed; left out
            where that did not certainly.
        versions: that predicted in it, in the order in which they began; left out for given
            counts, before a second version, and under `on_version: keep`.
        restarted_with: the version that it began anew with, under `on_version: restart`; left out
            where none did.
    """

    source: str
    version: int
    open: Time | None
    close: Time | None
    outcomes: OutcomeSums
    class_ratio: float | None
    level_changed: Time | None
    held_back: HeldBackDays | UnsetType = UNSET
    provisional: ProvisionalReference | UnsetType = UNSET
    cut_short: Time | UnsetType = UNSET
    prevalence_changed: Time | UnsetType = UNSET
    versions: tuple[VersionBeginning, ...] | UnsetType = UNSET
    restarted_with: str | UnsetType = UNSET


def reference_period(
    before: ReferenceOutcomes | None, awaited: AwaitedReference | None = None
) -> ReferencePeriod | None:
    """Return the reference of a model; None while it is not known.

    Args:
        before: the reference.
        awaited: what the configured one lacks; None for nothing.
    """
    if before is None:
        return None
    return ReferencePeriod(
        source=before.source,
        version=before.version,
        open=time_text(before.opens),
        close=time_text(before.closes),
        outcomes=outcome_sums(before.counts),
        class_ratio=defined(before.class_ratio),
        level_changed=time_text(before.level_changed),
        held_back=_held_back(before.held_back),
        provisional=_provisional(awaited, before),
        cut_short=time_text(before.cut_short) or UNSET,
        prevalence_changed=time_text(prevalence_changed(before)) or UNSET,
        versions=version_beginnings(before.versions),
        restarted_with=(before.versions and before.versions.restarted_with) or UNSET,
    )


def stand_in_text(awaited: AwaitedReference | None) -> str:
    """Return for how long a reference stands in for the configured one; "" where it does not.

    Args:
        awaited: what the configured reference lacks.
    """
    if awaited is None or not awaited.first_ms:
        return ""
    return (
        f"this reference stands in for the first {format_duration(awaited.first_ms)} until about "
        f"{day_text(awaited.about_ms)}, when these and a week to compare are known"
    )


def whom_it_pages(before: ReferenceOutcomes | None) -> str:
    """Return whom a provisional reference pages; "" for any other, and without one.

    Args:
        before: the reference in use.
    """
    if before is None or not before.provisional:
        return ""
    if is_too_small_to_page(before.counts):
        return "a provisional reference of so few outcomes pages dead models alone"
    return (
        "a provisional reference pages dead models alone; others are paged once all of their days "
        "so far certainly show a fall"
    )


def prevalence_changed(before: ReferenceOutcomes) -> int | None:
    """Return the first moment of the day on which the prevalence of a reference changed.

    Args:
        before: the reference.

    Returns:
        Epoch milliseconds; None where it did not certainly change.
    """
    change = before.prevalence_change
    if change is None or before.opens is None:
        return None
    return before.opens + change.day * DAY_MS


def version_beginnings(found: ReferenceVersions | None) -> tuple[VersionBeginning, ...] | UnsetType:
    """Return the versions that predicted in a reference; left out where they are not known."""
    if found is None:
        return UNSET
    return tuple(
        VersionBeginning(version=name, first_prediction=time_text(first))
        for name, first in found.began
    )


def _provisional(
    awaited: AwaitedReference | None, before: ReferenceOutcomes
) -> ProvisionalReference | UnsetType:
    if awaited is None or not (text := stand_in_text(awaited)):
        return UNSET
    text = "; ".join(filter(None, (text, whom_it_pages(before))))
    return ProvisionalReference(until=format_time(awaited.about_ms), text=text)


def _held_back(found: HeldBack | None) -> HeldBackDays | UnsetType:
    if found is None:
        return UNSET
    return HeldBackDays(
        since=format_time(found.since),
        until=time_text(found.until),
        over=found.over,
        text=found.sentence,
    )
