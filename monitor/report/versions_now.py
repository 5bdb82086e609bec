"""The versions of a model as a running monitor holds them, as an object and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import NamedTuple

from msgspec import Struct

from monitor.config.quantities import count_of
from monitor.drift.version_verdict import NotShown, VersionVerdict
from monitor.drift.versions_compared import VersionsCompared
from monitor.events.columns import (
    MISSING_VALUE,
)
from monitor.events.version_starts import is_in_use
from monitor.report.answer_parts import (
    Count,
    MetricIntervals,
    OutcomeCounts,
    Share,
    Time,
    metric_intervals,
    outcome_counts,
    time_text,
)
from monitor.report.deciding_window import deciding_window
from monitor.report.printable import one_line
from monitor.report.replay_json import window_bounds
from monitor.report.table_cells import UNDEFINED
from monitor.report.version_limits import of_the_counts, of_the_stretch, rows_by_version
from monitor.report.versions_answer import VersionsAnswer, versions_answer
from monitor.report.versions_not_compared import not_compared_text
from monitor.report.versions_text import COLUMNS, versions_text
from monitor.report.vocabulary import METRIC_WORDS
from monitor.snapshot import ModelState, Snapshot, Window
from monitor.verdicts import NAMED_VERSIONS, VersionsNow
from monitor.watch.live_versions import NOT_KEPT, OF_MANY_CLASSES

_SHOWN = ("precision", "balanced_precision", "recall", "false_positive_rate")
_LONGEST_NAME = 18
_CONFIGURED = "configure segments beside the version"
_UNBROKEN = {"\n", "`"}
"""Characters of texts with lines of their own, or with a command to copy."""
_OF_SHADOWS = {
    VersionVerdict.WORSE: "worse than",
    VersionVerdict.BETTER: "better than",
    VersionVerdict.EQUAL: "equal to",
    VersionVerdict.NOT_SHOWN: "no difference shown from",
}


class VersionNow(Struct, frozen=True, kw_only=True):
    """A version of a model in one window.

    Attributes:
        version: its name; `__missing__` for predictions without one.
        shadow: true where it scores ids that another version decides on, and makes no traffic.
        first_prediction: time of its first prediction; null where it is not known.
        ended: time of its last prediction, where it made none in the model's last day; null where
            it is in use, and where that is not known.
        traffic: share of the window's predictions that it made; null without any, and where
            versions are not counted apart.
        predictions: made in the window, labelled or not; null likewise.
        outcomes: its outcomes in the window; null likewise.
        metrics: its metrics; null likewise.
        shadow_cases: mature cases of a shadow version that the version that decides scored as
            well; null for another version.
        against: the version that a shadow version is compared with; null for another version,
            and where they cannot be compared yet.
        verdict: of that comparison; null likewise.
        because: why that verdict is `not_shown`; null for any other, and likewise.
    """

    version: str
    shadow: bool
    first_prediction: Time | None
    ended: Time | None
    traffic: Share | None
    predictions: Count | None
    outcomes: OutcomeCounts | None
    metrics: MetricIntervals | None
    shadow_cases: Count | None
    against: str | None
    verdict: VersionVerdict | None
    because: NotShown | None


class LiveVersionsAnswer(Struct, frozen=True, kw_only=True):
    """The versions of a model now, and two of them compared over the same time.

    Attributes:
        model: its name.
        window: the window that `versions` are shown in.
        open: its first moment; null before event time began.
        close: first moment after it; null likewise.
        versions: those that began last, and those with a prediction in the window; those without
            a version are one of them.
        comparison: of the two that began last, or of those that are asked for; null where
            they cannot be compared.
        not_compared: why they are not; null where they are.
        limits: what a reader of the comparison must know.
    """

    model: str
    window: str
    open: Time | None
    close: Time | None
    versions: tuple[VersionNow, ...]
    comparison: VersionsAnswer | None
    not_compared: str | None
    limits: tuple[str, ...]


class VersionsReading(NamedTuple):
    """The versions of a model and two of them compared.

    Attributes:
        answer: as an object.
        text: as `compare --url` prints it.
    """

    answer: LiveVersionsAnswer
    text: str


def versions_reading(
    snapshot: Snapshot, model: ModelState, found: VersionsNow | None
) -> VersionsReading:
    """Return the versions of a model, in the window that gives its verdict.

    Args:
        snapshot: the state.
        model: one of its models.
        found: the comparison; None where versions are not counted apart.
    """
    name = deciding_window(model, [one.name for one in snapshot.windows])
    window = next(one for one in snapshot.windows if one.name == name)
    opens, closes = window_bounds(snapshot, window, model.row)
    compared = None if found is None else found.compared
    not_kept = OF_MANY_CLASSES if model.classes else NOT_KEPT
    why = not_kept if found is None else found.not_compared
    of_counts = tuple(of_the_counts(snapshot, model, window, found))
    of_stretch = () if compared is None else tuple(of_the_stretch(compared))
    answer = LiveVersionsAnswer(
        model=model.name,
        window=name,
        open=opens,
        close=closes,
        versions=tuple(_versions(snapshot, model, window, found or VersionsNow())),
        comparison=None if compared is None else versions_answer(compared),
        not_compared=why or None,
        limits=(*of_stretch, *of_counts),
    )
    return VersionsReading(answer, _text(answer, compared, of_counts))


def _text(
    answer: LiveVersionsAnswer, compared: VersionsCompared | None, limits: Sequence[str]
) -> str:
    """Return the comparison as `compare` prints it, then the versions in the window."""
    parts = [not_compared_text(answer.not_compared or "")]
    if compared is not None:
        parts = [versions_text(compared, _CONFIGURED)]
    parts += limits
    shown = ["\n".join(wrap(part, COLUMNS)) if not _UNBROKEN & {*part} else part for part in parts]
    return "\n\n".join([*shown, *(["\n".join(_table(answer))] if answer.versions else [])])


def _versions(
    snapshot: Snapshot, model: ModelState, window: Window, found: VersionsNow
) -> Iterator[VersionNow]:
    rows = rows_by_version(snapshot, model)
    now = None if model.versions_now is None else model.versions_now.shadows
    shadows = dict(() if now is None else now.versions[-NAMED_VERSIONS:])
    began = {**shadows, **dict(model.versions)}
    compared = {} if model.versions_now is None else model.versions_now.by_shadow
    made = window.predicted_positive + window.predicted_negative
    latest = [name for name, _ in model.latest_versions]
    if found.unnamed is not None:
        began |= {} if found.unnamed.first is None else {MISSING_VALUE: found.unnamed.first}
        latest += [MISSING_VALUE] if latest else []
    there = [name for name, row in rows.items() if made[row] and name not in latest]
    shadows = {name: first for name, first in shadows.items() if name not in latest}
    lasts = {**model.version_last_ms}
    if found.unnamed is not None:
        lasts[MISSING_VALUE] = found.unnamed.last
    ended = {one: at for one, at in lasts.items() if not is_in_use(at, max(lasts.values()))}
    for name in sorted([*there, *latest, *shadows], key=lambda one: (began.get(one, 0), one)):
        row = rows.get(name)
        if row is not None and not made[row]:
            row = None
        verdict = compared.get(name) if name in shadows else None
        yield VersionNow(
            version=name,
            shadow=name in shadows,
            first_prediction=time_text(began.get(name)),
            ended=time_text(ended.get(name)),
            traffic=None if row is None else float(made[row] / made[model.row]),
            predictions=None if row is None else int(made[row]),
            outcomes=None if row is None else outcome_counts(window, row),
            metrics=None if row is None else metric_intervals(window, row),
            shadow_cases=found.shadow_cases.get(name, 0) if name in shadows else None,
            against=None if verdict is None else verdict.versions[0].name,
            verdict=None if verdict is None else verdict.comparison.decided_by.found.verdict,
            because=None if verdict is None else verdict.because,
        )


def _table(answer: LiveVersionsAnswer) -> Iterator[str]:
    titles = [METRIC_WORDS[name].short for name in _SHOWN]
    yield _row(f"Versions, last {answer.window}", "traffic", "began (UTC)", *titles)
    for one in answer.versions:
        name = one_line(one.version)
        short = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
        began = (one.first_prediction or UNDEFINED)[:16].replace("T", " ")
        if one.shadow:
            yield f"{_row(f'  {short}', 'shadow', began)}   {shadow_text(one)}"
            continue
        values = [
            None if one.metrics is None else one.metrics.metric(name).estimate for name in _SHOWN
        ]
        numbers = (UNDEFINED if value is None else f"{value:.3f}" for value in values)
        ended = "" if one.ended is None else f"   ended {one.ended[:16].replace('T', ' ')}"
        yield f"{_row(f'  {short}', _traffic(one), began, *numbers)}{ended}"


def shadow_text(one: VersionNow) -> str:
    """Return what is known of a shadow version, which has no traffic of its own.

    Args:
        one: the shadow version.
    """
    cases = count_of(one.shadow_cases or 0, "mature case")
    if one.verdict is None or one.against is None:
        return f"{cases}, not compared yet"
    known = _OF_SHADOWS[one.verdict]
    if one.because is NotShown.ANOTHER_THRESHOLD:
        known = "another threshold than"
    return f"{cases}: {known} {one_line(one.against)}"


def _traffic(one: VersionNow) -> str:
    return UNDEFINED if one.traffic is None else f"{100 * one.traffic:.0f} %"


def _row(title: str, traffic: str, began: str, *numbers: str) -> str:
    return f"{title:<22}{traffic:>9}{began:>19}" + "".join(f"{n:>12}" for n in numbers)
