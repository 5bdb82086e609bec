"""Versions of a model as a running monitor holds them, and two of them compared.

The comparison is that of recorded events (`monitor.diagnosis.versions`), over whole hours. Pairs
are ids that a configured shadow version scored as well; of two other predictions of one id the
second is a duplicate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from shlex import quote

import numpy as np

from monitor.clock import DAY_MS, HOUR_MS
from monitor.config import Labelling, OnVersion
from monitor.drift.version_choice import (
    VersionChoice,
    first_proven_worse,
    named_versions,
    those_compared,
)
from monitor.drift.version_comparison import compare_two
from monitor.drift.version_scores import VersionScores, have_both_classes
from monitor.drift.versions_compared import (
    DiagnoseCommand,
    Pair,
    VersionsCompared,
    VersionStretch,
    VersionTraffic,
    check_labelling,
    common_stretch,
    ended_version,
)
from monitor.errors import UsageError
from monitor.events.catalogue import Catalogue
from monitor.events.columns import MISSING_VALUE, OTHER_VALUE, VERSION_KEY, Series
from monitor.events.intake import Received
from monitor.events.version_starts import VersionTimes
from monitor.join.counters import Books
from monitor.join.deltas import PREDICTED_POSITIVE
from monitor.labels.version_sides import check_sides
from monitor.metrics.histogram import ScoreHistogram
from monitor.verdicts import VersionsNow
from monitor.watch.held_versions import HeldVersions
from monitor.windows.days_then_weeks import DAYS
from monitor.windows.pair_counts import PairCounts
from monitor.windows.value_scores import ValueScores
from monitor.windows.version_counts import VersionCounts

NOT_KEPT = (
    "versions are not counted apart: configure segments: [version], or compare recorded events "
    "with --feed FILE"
)
"""Why nothing is compared where the version is no segment."""
OF_MANY_CLASSES = (
    "versions are compared of models of two classes only; diagnose --before A..B --after C..D "
    "compares the classes of others between two periods, as those of two versions"
)
"""Why nothing is compared where a model has more."""
_NAMED = 3
_OPTION = "versions"


@dataclass(slots=True)
class _Latest:
    """The last answer about a model, and what it was made from."""

    made_from: tuple[int, int, int | None, int, int]
    answer: VersionsNow


class LiveVersions:
    """Compares versions over the hours that a monitor holds.

    Args:
        catalogue: models, their settings and groups.
        counts: by hour and group.
        pairs: of ids that a shadow version scored as well.
        scores: labelled, of the versions that came last, by day.
        received: when each version predicted.
        books: counters of the join.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        counts: VersionCounts,
        pairs: PairCounts,
        scores: ValueScores,
        received: Received,
        *,
        books: Books,
    ) -> None:
        self._catalogue = catalogue
        self._counts = counts
        self._pairs = pairs
        self._scores = scores
        self._received = received
        self._books = books
        self._latest: dict[int, _Latest] = {}

    def now(self, model: int, mature_until: int | None) -> VersionsNow | None:
        """Return the version that began last, compared; None where versions are not kept.

        Args:
            model: its number.
            mature_until: moment up to which outcomes are mature, epoch milliseconds; None
                where none are.
        """
        if not self._counts.keeps(model):
            return None
        hour = None if mature_until is None else mature_until // HOUR_MS
        editions = (0, 0)
        if hour is not None:
            closes = hour * HOUR_MS
            editions = self._counts.edition(model, closes), self._pairs.edition(model, closes)
        name = self._catalogue.models[model]
        times = self._times(name)
        made_from = (*editions, hour, len(times), _latest_hour(times))
        latest = self._latest.get(model)
        if latest is None or latest.made_from != made_from:
            latest = self._latest[model] = _Latest(made_from, self.compare(name, mature_until))
        return latest.answer

    def compare(
        self,
        model: str,
        mature_until: int | None,
        versions: tuple[str, str] | None = None,
        last: int | None = None,
    ) -> VersionsNow:
        """Compare two versions of a model, where there is something to compare.

        Args:
            model: its name.
            mature_until: moment up to which outcomes are mature, epoch milliseconds; None
                where none are.
            versions: names of A, to compare with, and of B, to judge; None for the one that
                began last, and the one that predicted most since, see `VersionChoice.latest`.
            last: compare this length of time at the end, milliseconds; None for all of it.

        Raises:
            UsageError: versions are not counted apart.
        """
        number = self._catalogue.models.index(model)
        if not self._counts.keeps(number):
            many = self._catalogue.settings[number].has_many_classes
            raise UsageError(f"{model}: {OF_MANY_CLASSES if many else NOT_KEPT}")
        held = self._held(number, mature_until)
        setting = self._catalogue.settings[number]
        found = VersionsNow(
            shadow_cases=held.shadow_cases,
            unnamed=self._received.unnamed(model),
            ignored=setting.reference.on_version is OnVersion.KEEP,
        )
        try:
            check_labelling(model, setting)
            if versions is not None:
                asked = named_versions(held.there, versions, _OPTION)
                return found._replace(compared=self._compared(number, held, asked, last))
            choice = VersionChoice(
                [held.whole(one) for one in held.there],
                is_shadow=self._is_shadow(model),
                made_since=held.made_since,
                rarer_outcomes=held.rarer_outcomes,
            )
            latest = choice.latest(_OPTION)

            @cache
            def compared(pair: Pair) -> VersionsCompared:
                too_new = choice.too_new(pair) if pair == latest else None
                return self._compared(number, held, pair, last, too_new=too_new)

            found = found._replace(
                of_shadows=those_compared(choice.of_shadows(), compared),
                worse=first_proven_worse(choice.in_use(), compared),
            )
            return found._replace(compared=compared(latest))
        except UsageError as error:
            why = str(error).removeprefix(f"{_OPTION}: ") + self._repeated(number, held.there)
            return found._replace(not_compared=why)

    def names_in(self, model: int, opens: int, closes: int) -> frozenset[str] | None:
        """Return the versions with a held prediction in the hours of a stretch of time.

        Args:
            model: its number.
            opens: first moment, epoch milliseconds.
            closes: first moment after it.

        Returns:
            None where versions are not counted apart, or not as far back.
        """
        if not self._counts.keeps(model) or opens < (self._counts.held_since(model) or opens):
            return None
        return self._held(model, None).names_in(opens, closes)

    def _held(self, model: int, mature_until: int | None) -> HeldVersions:
        return HeldVersions(
            self._catalogue,
            model,
            self._counts.held(model),
            self._pairs.held(model),
            times=self._times(self._catalogue.models[model]),
            until=None if mature_until is None else mature_until // HOUR_MS * HOUR_MS,
        )

    def _times(self, model: str) -> dict[str, VersionTimes]:
        """When each version predicted; of one that was a shadow, from its first time on.

        Predictions without a version are among them where versions are counted apart.
        """
        times = dict(self._received.shadows(model).times)
        for name, one in self._received.versions(model).times.items():
            times[name] = times[name].with_others(one) if name in times else one
        unnamed = self._received.unnamed(model)
        return times if unnamed is None else {**times, MISSING_VALUE: unnamed}

    def _repeated(self, model: int, there: Sequence[VersionTraffic]) -> str:
        """Return which versions have no prediction but duplicates; "" where none has."""
        since, counted = self._counts.held_since(model) or 0, {one.name for one in there}
        times = self._received.versions(self._catalogue.models[model]).times
        names = [name for name, one in times.items() if one.last >= since and name not in counted]
        if not names or OTHER_VALUE in counted:
            return ""
        if (shared := self._books.shared_ids(model, self._catalogue.models)) is not None:
            return f"; {shared.text}"
        listed = " and ".join(map(repr, names[-_NAMED:]))
        return (
            f"; every prediction of {listed} is of an id that was already predicted, and counts as "
            "a duplicate: if it decides nothing, configure it in shadow_versions, which compares "
            "it on the same cases"
        )

    def _is_shadow(self, model: str) -> Callable[[str], bool]:
        deciding = self._received.versions(model).times
        shadows = self._received.shadows(model).times.keys() - deciding.keys()
        return shadows.__contains__

    def _compared(
        self,
        model: int,
        held: HeldVersions,
        pair: Pair,
        last: int | None,
        too_new: VersionTraffic | None = None,
    ) -> VersionsCompared:
        name = self._catalogue.models[model]
        text = f"precision-monitor diagnose --url URL --model {quote(name)}"
        diagnose = DiagnoseCommand(text, HOUR_MS)
        whole = held.whole(pair[0]), held.whole(pair[1])
        common = common_stretch(whole, held.until, _OPTION, diagnose)
        opens, closes = -(-common.opens // HOUR_MS) * HOUR_MS, common.closes // HOUR_MS * HOUR_MS
        if opens >= closes:  # it lies within one hour, or two
            opens = common.opens // HOUR_MS * HOUR_MS
            closes = -(-common.closes // HOUR_MS) * HOUR_MS
        since = self._counts.held_since(model)
        earliest = opens if since is None else max(opens, since)
        if last is not None:
            earliest = max(earliest, closes - last // HOUR_MS * HOUR_MS)
        within = VersionStretch(min(earliest, closes - HOUR_MS), closes)
        names = pair[0].name, pair[1].name
        outcomes = held.outcomes(names, within)
        positive, negative = held.joint(names, within)
        cells = outcomes.cells.sum(axis=1)
        check_sides(pair, outcomes.cells)
        made = cells[:, PREDICTED_POSITIVE:].sum(axis=1)
        days = self._days_until(closes, name)
        curve = self._scores_of(model, pair[0].name, days)
        days = days._replace(opens=max(-(-within.opens // DAY_MS) * DAY_MS, days.opens))
        a, b = (self._scores_of(model, version, days) for version in names)
        scores = None
        if a is not None and b is not None:
            scores = VersionScores.of((a, b), held.outcomes(names, days).by_day)
        return VersionsCompared(
            model=name,
            versions=(held.mature(pair[0]), held.mature(pair[1])),
            within=within,
            predictions=(int(made[0]), int(made[1])),
            segments=tuple(
                key for key in self._catalogue.settings[model].segments if key != VERSION_KEY
            ),
            comparison=compare_two(
                outcomes,
                positive.astype(np.float64),
                negative.astype(np.float64),
                scores=curve,
            ),
            scores=scores,
            on_unlike_days=scores is None and have_both_classes((a, b)),
            anytime=within.opens == opens,
            too_new=None if too_new is None else held.mature(too_new),
            ended=ended_version(whole, held.latest, diagnose, together=bool(made.all())),
        )

    def _days_until(self, closes: int, model: str) -> VersionStretch:
        """Return the last whole days (UTC) up to a moment, of those whose scores are stored so."""
        end = closes // DAY_MS
        return VersionStretch(
            max(self._scores.by_day_since(model), (end - DAYS) * DAY_MS), end * DAY_MS
        )

    def _scores_of(self, model: int, version: str, days: VersionStretch) -> ScoreHistogram | None:
        """Return the labelled scores of a version by day; None where silence is a label."""
        name, setting = self._catalogue.models[model], self._catalogue.settings[model]
        if setting.labelling is not Labelling.COMPLETE or days.opens >= days.closes:
            return None
        return self._scores.blocks(name, *days).of(Series(name, VERSION_KEY, version))


def _latest_hour(times: Mapping[str, VersionTimes]) -> int:
    """Return the beginning of the hour of the latest prediction; 0 where no time is known."""
    return max((one.last for one in times.values()), default=0) // HOUR_MS * HOUR_MS
