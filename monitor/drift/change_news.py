"""When the rates of a model changed, and the version that this began with."""

from __future__ import annotations

from typing import NamedTuple, Self

from monitor.drift.change_point import ChangePoint
from monitor.drift.reference_news import ReferenceVersions
from monitor.drift.versions_compared import VersionsCompared
from monitor.events.columns import Int64Array


class ChangeBegan(NamedTuple):
    """When recall or the false-positive rate changed, to the hour, epoch milliseconds.

    Attributes:
        at: beginning of the likeliest hour.
        earliest: lower limit of its 95 % interval: the beginning of an hour.
        latest: upper limit of its 95 % interval: the end of an hour.
    """

    at: int
    earliest: int
    latest: int

    @classmethod
    def in_steps(cls, found: ChangePoint, opens: Int64Array, step_ms: int) -> Self:
        """Return the moment of a change that lies somewhere in a step.

        Args:
            found: the change, as numbers of steps.
            opens: first moment of each step, epoch milliseconds.
            step_ms: length of each step, milliseconds.
        """
        at, earliest, latest = (int(opens[step]) for step in found)
        return cls(at, earliest, latest + step_ms)


class NewVersion(NamedTuple):
    """A version that is not the first of its model.

    Attributes:
        name: of the version.
        first: its first prediction, epoch milliseconds.
        began_change: the change of the model began with it.
        age_ms: event time since its first prediction, milliseconds.
        traffic: share of the model's predictions since then, or until it ended, in [0, 1]; NaN
            where versions are not counted, and where it began longer ago than hours are stored.
        ended: its last prediction, epoch milliseconds; None where it made one in the last day
            before that of the model.
    """

    name: str
    first: int
    began_change: bool
    age_ms: int
    traffic: float
    ended: int | None


class ChangeNews(NamedTuple):
    """When the rates of a model changed, and its latest version.

    Attributes:
        began: when they changed; None where nothing says that they did.
        new_version: the version that this change began with, else the one that began last;
            None before a second one, and under `on_version: keep`.
        worse: the comparison that proves a version worse than the one beside it; None where none
            is, and where versions are ignored or not counted apart.
        before: the versions that predicted in the earlier stretch; None before a second one, and
            likewise.
        after: the versions that predicted in the later stretch; None likewise.
        counted_as_one: several versions predicted in the later stretch, and none of them can be
            compared, since they are not counted apart.
    """

    began: ChangeBegan | None = None
    new_version: NewVersion | None = None
    worse: VersionsCompared | None = None
    before: ReferenceVersions | None = None
    after: ReferenceVersions | None = None
    counted_as_one: bool = False


NO_NEWS = ChangeNews()
