"""Two versions of a model compared over a stretch of time, recorded or live."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from monitor.clock import DAY_MS, HOUR_MS, SECOND_MS
from monitor.config import Labelling, ModelConfig
from monitor.config.quantities import format_time
from monitor.drift.version_comparison import VersionComparison
from monitor.drift.version_scores import VersionScores
from monitor.drift.version_verdict import NotShown
from monitor.errors import NotComparedError, UsageError
from monitor.events.columns import MOST_VERSION_NAMES, OTHER_VALUE
from monitor.events.left_out_keys import LeftOutKey
from monitor.events.version_starts import is_in_use

UNCOUNTED = (
    f"versions after the first {MOST_VERSION_NAMES:,} of a model count as {OTHER_VALUE!r}: compare "
    "recorded events with --feed FILE"
)
"""Why a version has no counts of its own, and what to do."""
COMPARABLE = (Labelling.COMPLETE, Labelling.NEGATIVES_BY_TIMEOUT)
"""Labelling under which versions can be compared, where labels have no errors."""


@dataclass(frozen=True, slots=True)
class VersionTraffic:
    """Predictions of a version.

    Attributes:
        name: of the version; `__missing__` for predictions without one.
        predictions: how many there are, or were counted elsewhere.
        first: event time of the first, epoch milliseconds.
        last: event time of the last.
        settled: event time of the 32nd, see `early_predictions`; None before it, and where
            another version began over an hour earlier.
    """

    name: str
    predictions: int
    first: int
    last: int
    settled: float | None = None

    @property
    def ended(self) -> int:
        """The last, or the end of the hour or pane that it lies in where no more is known.

        >>> VersionTraffic("6", 1, 0, 3_599_999).ended, VersionTraffic("6", 1, 0, 1_500).ended
        (3600000, 1500)
        """
        return self.last if (self.last + 1) % SECOND_MS else self.last + 1


Pair = tuple[VersionTraffic, VersionTraffic]
"""A, the version to compare with, and B, the one to judge."""


class VersionStretch(NamedTuple):
    """A stretch of event time in which two versions are compared, [opens, closes).

    Attributes:
        opens: first moment, epoch milliseconds.
        closes: first moment after it.
    """

    opens: int
    closes: int


class DiagnoseCommand(NamedTuple):
    """A command that compares two stretches of time.

    Attributes:
        text: the command without these.
        finest_ms: length that their ends are multiples of, milliseconds; a divisor of an hour.
    """

    text: str
    finest_ms: int


class EndedVersion(NamedTuple):
    """A version that no longer predicts.

    Attributes:
        version: which.
        over_time: how it is compared with the one that follows it; "" where none follows.
    """

    version: VersionTraffic
    over_time: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionsCompared:
    """Version B compared with version A over the same stretch.

    Attributes:
        model: its name.
        versions: A, the one to compare with, and B, the one that is judged.
        within: the stretch of event time.
        predictions: of A and of B in it, labelled or not.
        segments: keys whose combinations of values are strata.
        left_out: keys of recorded events that are none, since nobody named any.
        comparison: of their outcomes.
        anytime: True where the stretch has its beginning fixed, so that the verdict holds at
            every look; False where it moves along and the verdict holds for one look.
        too_new: the version that began last, where it has too few mature outcomes to be compared
            and two others are compared instead; else None.
        scores: of both versions; None where a version has none with labels of both classes, and
            where silence is a label. Live, those of the whole days (UTC) of the stretch within the
            last 62; None where no day is whole, and of a version without a histogram
            (`monitor.windows.value_scores`), such as a shadow.
        on_unlike_days: True where both have such scores, and these are not compared since the
            outcomes of the two are not divided among the days alike.
        ended: the one of the two that no longer predicts, and how they are compared over time;
            None where both still do.
    """

    model: str
    versions: Pair
    within: VersionStretch
    predictions: tuple[int, int]
    segments: tuple[str, ...]
    comparison: VersionComparison
    anytime: bool = True
    too_new: VersionTraffic | None = None
    ended: EndedVersion | None = None
    left_out: tuple[LeftOutKey, ...] = ()
    scores: VersionScores | None = None
    on_unlike_days: bool = False

    @property
    def days_to_settle(self) -> float:
        """Days until the verdict settles at the present rate; NaN where there is no such rate."""
        a_day = self.comparison.outcomes * DAY_MS / (self.within.closes - self.within.opens)
        known = a_day and not self.is_moment and self.ended is None
        return self.comparison.outcomes_to_settle / a_day if known else float("nan")

    @property
    def because(self) -> NotShown | None:
        """Why the verdict is `not_shown`; None for any other.

        A version that made no prediction while the other did lacks no class: their times differ.
        Another threshold is none where the curves certainly differ elsewhere.
        """
        because = self.comparison.decided_by.found.because
        if because is NotShown.ANOTHER_THRESHOLD and self.curves_differ:
            return NotShown.ANOTHER_OPERATING_POINT
        paused = because is NotShown.MISSING_CLASS and 0 in self.predictions
        return NotShown.OTHER_TIMES if paused else because

    @property
    def curves_differ(self) -> bool:
        """True where the ROC curves of the two certainly differ somewhere."""
        return self.scores is not None and self.scores.curves_differ

    @property
    def is_moment(self) -> bool:
        """True where all predictions have one time, as where no time is known."""
        return self.within.closes - self.within.opens == 1


def check_labelling(model: str, setting: ModelConfig) -> None:
    """Refuse a model whose labels do not allow a comparison of versions.

    Args:
        model: its name.
        setting: its settings.

    Raises:
        UsageError: labels are a sample, or of flagged cases alone, or have errors.
    """
    labelling = setting.labelling
    if setting.label_errors.any:
        raise UsageError(
            f"{model}: versions cannot be compared where labels have errors; leave out "
            "label_errors to compare them by their labels as they are"
        )
    if labelling not in COMPARABLE:
        raise UsageError(
            f"{model}: versions cannot be compared under labelling {labelling}; they can be "
            f"under {' and '.join(COMPARABLE)}"
        )


def common_stretch(
    versions: Pair,
    mature_until: int | None,
    option: str,
    diagnose: DiagnoseCommand,
) -> VersionStretch:
    """Return the mature time in which both versions predicted.

    Args:
        versions: A and B.
        mature_until: moment up to which outcomes are mature, epoch milliseconds; None where
            none are.
        option: what the versions are asked for by, for the error.
        diagnose: compares two stretches of time.

    Raises:
        NotComparedError: the two never predicted in the same mature time.
    """
    a, b = versions
    opens, closes = max(a.first, b.first), min(a.last, b.last) + 1
    if opens >= closes:
        ended, began = sorted(versions, key=lambda one: one.first)
        advice = (
            UNCOUNTED
            if OTHER_VALUE in (a.name, b.name)
            else compared_over_time(ended, began, diagnose)
        )
        raise NotComparedError(
            f"{option}: {a.name!r} and {b.name!r} never predicted at the same time: "
            f"{ended.name!r} ended {second_text(ended.ended)}, {began.name!r} began "
            f"{second_text(began.first)}; {advice}"
        )
    if mature_until is None or mature_until <= opens:
        until = (
            "no outcome is mature yet"
            if mature_until is None
            else f"outcomes are mature up to {second_text(mature_until)} alone"
        )
        raise NotComparedError(
            f"{option}: both versions predict since {second_text(opens)}, and {until}"
        )
    return VersionStretch(opens, min(closes, mature_until))


def ended_version(
    versions: Pair, latest: int, diagnose: DiagnoseCommand, *, together: bool
) -> EndedVersion | None:
    """Return which of two versions made no prediction in the last day, the first to end.

    Args:
        versions: A and B.
        latest: time of the model's latest prediction, epoch milliseconds.
        diagnose: compares two stretches of time.
        together: False where one made no prediction in the stretch that is compared.
    """
    ended, other = sorted(versions, key=lambda one: one.last)
    if is_in_use(ended.last, latest):
        return None
    follows = ended.first <= other.first and ended.last < other.last
    if not (follows or together):  # swapped, and rolled back
        return EndedVersion(
            ended, compared_over_time(replace(other, last=ended.first), ended, diagnose)
        )
    return EndedVersion(ended, compared_over_time(ended, other, diagnose) if follows else "")


def second_text(moment: int) -> str:
    """Return the second that a moment lies in, ISO 8601 in UTC.

    Args:
        moment: epoch milliseconds.

    >>> second_text(1_500)
    '1970-01-01T00:00:01Z'
    """
    return format_time(moment // SECOND_MS * SECOND_MS)


def compared_over_time(
    ended: VersionTraffic, began: VersionTraffic, diagnose: DiagnoseCommand
) -> str:
    """Return how to compare versions of which one ended before, or soon after, the other began.

    Args:
        ended: the earlier one.
        began: the later one.
        diagnose: compares two stretches of time.
    """
    alone = max(began.first, ended.ended)
    for width in (HOUR_MS, diagnose.finest_ms):
        before = (ended.first // width * width, began.first // width * width)
        after = (-(-alone // width) * width, -(-began.ended // width) * width)
        if before[0] < before[1] and after[0] < after[1]:
            ranges = ("..".join(map(format_time, ends)) for ends in (before, after))
            options = "--before {} --after {}".format(*ranges)
            return f"compare them over time: `{diagnose.text} {options}`"
    return f"compare two stretches of time: `{diagnose.text} --before A..B --after C..D`"
