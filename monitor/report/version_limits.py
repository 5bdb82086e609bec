"""What a reader of the versions of a running monitor must know besides their comparison."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from monitor.config.quantities import count_of
from monitor.config.versions_asked import versions_text_of
from monitor.drift.versions_compared import VersionsCompared
from monitor.events.columns import (
    MISSING_VALUE,
    MOST_VERSION_NAMES,
    OTHER_VALUE,
    VERSION_KEY,
    Series,
)
from monitor.events.version_starts import is_in_use
from monitor.report.printable import one_line
from monitor.report.repeated_ids import repeats_beside_versions
from monitor.report.versions_words import over_time, too_new, worse_by
from monitor.report.worse_version import worse_version_in_use
from monitor.snapshot import ModelState, Snapshot, Window
from monitor.verdicts import VersionsNow

_MOST_OTHERS = 3
"""Further versions in use that are named."""


def rows_by_version(snapshot: Snapshot, model: ModelState) -> dict[str, int]:
    """Return the row of each version that is counted apart, by its name.

    Args:
        snapshot: the state.
        model: one of its models.
    """
    return {
        series.value or "": row
        for row, series in enumerate(snapshot.series)
        if series[:2] == Series(model.name, VERSION_KEY)[:2]
    }


def of_the_stretch(compared: VersionsCompared) -> Iterator[str]:
    """Yield limits that the text of the comparison names as well.

    Args:
        compared: the comparison.
    """
    if not compared.anytime:
        yield (
            "The beginning of the time that is compared moves along: the verdict holds for one "
            "look, and not for all looks of a rollout."
        )
    if compared.ended is not None:
        yield over_time(compared.ended)
    if compared.too_new is not None:
        yield too_new(compared.too_new)


def of_the_counts(
    snapshot: Snapshot, model: ModelState, window: Window, found: VersionsNow | None
) -> Iterator[str]:
    """Yield what the counts leave out, and what other versions show, as sentences.

    Args:
        snapshot: the state.
        model: one of its models.
        window: the window that versions are shown in.
        found: the comparison; None where versions are not counted apart.
    """
    if found is None and (repeated := repeats_beside_versions(model)):
        yield f"{repeated}."
    if found is not None and found.compared is not None:
        yield from _worse(model, found.compared)
        yield from _others(model, found.compared)
        yield from _mixed(model, found.compared)
    yield from _without_place(snapshot, model, window)


def _without_place(snapshot: Snapshot, model: ModelState, window: Window) -> Iterator[str]:
    """Yield which versions in use have no counts of their own: others took the places."""
    rows = rows_by_version(snapshot, model)
    other = rows.get(OTHER_VALUE)
    made = window.predicted_positive + window.predicted_negative
    latest = max(model.version_last_ms.values(), default=0)
    names = [
        one_line(name)
        for name, at in model.version_last_ms.items()
        if is_in_use(at, latest) and name not in rows
    ]
    if other is not None and made[other] and names:
        yield (
            f"No counts of their own for {', '.join(names[-_MOST_OTHERS:])}, which count together "
            f"as {OTHER_VALUE}: as many versions as max_segment_values allows are in use, or ended "
            "so lately that their labels may still come. Raise max_segment_values for versions "
            "that begin later."
        )


def _mixed(model: ModelState, compared: VersionsCompared) -> Iterator[str]:
    """Yield which predictions are not counted, or under another name."""
    shared = model.shared_ids
    if shared is not None:
        yield f"{shared.text}."
    if model.duplicates > (0 if shared is None else shared.predictions):
        yield (
            "Of two predictions of one id the earlier counts, at one time that of the version that "
            "is first by name, and the other is a duplicate: a version that scores the ids of "
            "another is compared with it where it is configured in shadow_versions, or from "
            "recorded events, by compare --feed."
        )
    names = [one.name for one in compared.versions]
    if OTHER_VALUE in names:
        yield (
            f"{OTHER_VALUE} holds several versions: those after the first {MOST_VERSION_NAMES:,}, "
            "and those that an older release counted so."
        )
    if MISSING_VALUE in names:
        yield f"{MISSING_VALUE} holds the predictions without a version."


def _worse(model: ModelState, compared: VersionsCompared) -> Iterator[str]:
    """Yield the version that is proven worse and in use, where other two are compared."""
    worse = worse_version_in_use(model)
    if worse is None:
        return
    names = [one.name for one in worse.versions]
    if names != [one.name for one in compared.versions]:
        yield f"{worse_by(worse).removesuffix('.')}: {_command(model, *names)}"


def _others(model: ModelState, compared: VersionsCompared) -> Iterator[str]:
    """Yield the further versions in use, with the commands that compare them with A.

    Those that are proven worse, and the ones beside them, have a sentence of their own. Of each
    pair the version that began later is judged.
    """
    names = [one.name for one in compared.versions]
    last = model.version_last_ms.items()
    latest = max(model.version_last_ms.values(), default=0)
    worse = worse_version_in_use(model)
    shown = {*names} if worse is None else {*names, *(one.name for one in worse.versions)}
    others = [name for name, at in last if is_in_use(at, latest) and name not in shown]
    if others:
        began = dict(model.versions)
        pairs = [
            sorted((names[0], name), key=lambda one: began.get(one, 0))
            for name in others[-_MOST_OTHERS:]
        ]
        commands = ", ".join(_command(model, *pair) for pair in pairs)
        more = f"; the last {len(pairs)} to begin" * (len(others) > len(pairs))
        counted = count_of(len(others), "further version")
        yield f"{counted} in use, not compared here{more}: {commands}"


def _command(model: ModelState, a: str, b: str) -> str:
    """Return the command that compares two versions, between backticks."""
    asked = quote(versions_text_of(a, b))
    return f"`precision-monitor compare --url URL --model {quote(model.name)} --versions {asked}`"
