"""Decides on a new version: a new reference, the beginning of a change, or news alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from monitor.clock import DAY_MS, HOUR_MS
from monitor.config import OnVersion
from monitor.counts import ConfusionCounts
from monitor.drift.change_news import ChangeBegan, ChangeNews, NewVersion
from monitor.drift.dispersion import Dispersion
from monitor.drift.rates_changed import rates_changed
from monitor.drift.reference_news import ReferenceRestart, ReferenceVersions
from monitor.drift.verdict import DEGRADED, MOVED_RATES
from monitor.drift.version_choice import by_beginning
from monitor.drift.versions_compared import VersionTraffic
from monitor.events.catalogue import Catalogue
from monitor.events.version_starts import ModelVersions, is_in_use
from monitor.labels.regime import LabelRegime
from monitor.verdicts import ReferenceOutcomes, Watched, WindowVerdict
from monitor.watch.change_hours import before_change, when_rates_changed
from monitor.watch.model_watch import ModelWatch
from monitor.watch.reference import MatureReference
from monitor.watch.version_traffic import predictions_by_version
from monitor.windows import Windows
from monitor.windows.history import History

_WIDEST_MS = 7 * 24 * HOUR_MS
"""Length of an interval up to which a deployment inside it is no coincidence."""

VersionsOf = Callable[[str], ModelVersions]
"""Returns the versions of a model by its name."""


class _Sought(NamedTuple):
    """What the change point of a model was last sought in, and what was found.

    Attributes:
        reference: which the hours follow.
        end: number of the first hour since 1970 that was not mature.
        edition: of the stored hours.
        began: when the rates changed; None without outcomes.
    """

    reference: MatureReference
    end: int
    edition: tuple[int, int | None]
    began: ChangeBegan | None

    def holds(self, reference: MatureReference, end: int, edition: tuple[int, int | None]) -> bool:
        """Return whether it would be found again."""
        return self.reference is reference and (self.end, self.edition) == (end, edition)


class VersionNews:
    """Relates the versions of a model to its reference and its changes.

    Args:
        catalogue: models and their settings.
        windows: counts.
        versions_of: returns the versions of a model.
        reference_of: returns the reference of a model by its number; None without one.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        windows: Windows,
        versions_of: VersionsOf,
        reference_of: Callable[[int], MatureReference | None],
    ) -> None:
        self._catalogue = catalogue
        self._reference_of = reference_of
        self._windows = windows
        self._versions_of = versions_of
        self._sought: dict[int, _Sought] = {}

    def restarts(self, model: int, mature: int) -> ReferenceRestart | None:
        """Return from when on the reference of a model begins anew, under `on_version: restart`.

        That is the first prediction of the version that began last, once it is mature. Where that
        version and perhaps others before it ended, it is the end of the last of them: another
        version decides again. The first version of all restarts nothing by its beginning, unless
        predictions without a version came before it.

        Args:
            model: its number.
            mature: up to this moment, epoch milliseconds, outcomes are mature.

        Returns:
            None where the reference stays.
        """
        if self._on_version(model) is not OnVersion.RESTART:
            return None
        times = self._versions_of(self._catalogue.models[model]).times
        latest = max((one.last for one in times.values()), default=0)
        ends = []
        for number, (name, first) in reversed([*enumerate(self._appeared(model))]):
            if first > mature:
                continue
            last = times[name].last
            if last < mature and not is_in_use(last, latest):
                ends.append(last + 1)
            elif ends:
                return ReferenceRestart(max(ends), name)
            else:
                is_later = number or self._follows_unnamed(model)
                return ReferenceRestart(first, name) if is_later else None
        return None

    def with_versions(
        self, model: int, known: ReferenceOutcomes | None, restart: ReferenceRestart | None
    ) -> ReferenceOutcomes | None:
        """Return a reference with the versions that predicted in it.

        Args:
            model: its number.
            known: its reference; None without one.
            restart: with which it began anew; None where it did not.
        """
        if known is None or known.opens is None or known.closes is None:
            return known
        return replace(
            known, versions=self.versions_in(model, (known.opens, known.closes), restart)
        )

    def versions_in(
        self,
        model: int,
        stretch: tuple[int, int],
        restart: ReferenceRestart | None,
        there: frozenset[str] | None = None,
    ) -> ReferenceVersions | None:
        """Return the versions that predicted in a stretch of time.

        Args:
            model: its number.
            stretch: first moment and first after it, epoch milliseconds.
            restart: with which the reference began anew; None where it did not.
            there: versions that predicted in the hours of the stretch; None where versions are
                not counted apart, and one that paused then is among them.

        Returns:
            None under `on_version: keep`, before a second version, and where none is known that
            predicted then.
        """
        times = self._versions_of(self._catalogue.models[model]).times
        if self._on_version(model) is OnVersion.KEEP or len(times) < 2:  # noqa: PLR2004  # a second
            return None
        opens, closes = stretch
        overlap = {
            name: one.first
            for name, one in times.items()
            if one.last >= opens and (one.first is None or one.first < closes)
            if there is None or name in there
        }
        began = tuple(sorted(overlap.items(), key=lambda found: (found[1] or 0, found[0])))
        anew = "" if restart is None or opens < _hour(restart.at) else restart.version
        return ReferenceVersions(began, anew) if began else None

    def fault_began(self, model: int, before: MatureReference, paged: int) -> int:
        """Return when the rates changed that a page is about; its start where that is not known.

        Args:
            model: its number.
            before: the reference that the model was as in before.
            paged: when the page started, epoch milliseconds.
        """
        hours = before.closes or 0, paged
        found = when_rates_changed(self._history(model), before.counts, hours, before.dispersion)
        return paged if found is None else found.at

    def began(
        self, model: int, watching: ModelWatch, found: Watched, mature: int
    ) -> ChangeBegan | None:
        """Return when the rates of a model changed, where its watch says that they did.

        That is where a window says so, while the model pages, and where its skill has a certain
        trend; see `before_change`.

        Args:
            model: its number.
            watching: its watch.
            found: what is published of it.
            mature: up to this moment, epoch milliseconds, outcomes are mature.
        """
        if LabelRegime.of(self._catalogue.settings[model]).is_estimated:
            return None
        trend, judged = found.trend, self._of_a_day(found.verdicts)
        degraded = found.degradation_detected or any(v.verdict in DEGRADED for v in judged.values())
        if not (degraded or trend is not None or self._says_changed(judged)):
            return None
        followed = before_change(watching, trend, degraded=degraded)
        if isinstance(followed, ChangeBegan):
            return followed
        reference = followed.reference
        since = 0 if reference.closes is None else reference.closes
        end, edition = mature // HOUR_MS, self._windows.history_edition(model)
        known = self._sought.get(model)
        if known is None or not known.holds(reference, end, edition):
            began = when_rates_changed(
                self._history(model), reference.counts, (since, mature), reference.dispersion
            )
            known = self._sought[model] = _Sought(reference, end, edition, began)
        return known.began

    def _of_a_day(self, verdicts: Mapping[str, WindowVerdict]) -> Mapping[str, WindowVerdict]:
        """Return verdicts on windows of a day or more; all where none is so long."""
        return {k: v for k, v in verdicts.items() if self._windows.length(k) >= DAY_MS} or verdicts

    def _says_changed(self, verdicts: Mapping[str, WindowVerdict]) -> bool:
        """Return whether a window says that rates changed.

        Without a verdict on its cause only the longest window that is compared does: a shorter
        one that moved and moved back is no news.
        """
        if any(one.verdict in MOVED_RATES for one in verdicts.values()):
            return True
        compared = [name for name, one in verdicts.items() if one.judgement is not None]
        if not compared:
            return False
        longest = verdicts[max(compared, key=self._windows.length)]
        return rates_changed(longest.verdict, longest.judgement)

    def between(
        self,
        model: int,
        before: ConfusionCounts,
        hours: tuple[int, int],
        now: int,
        *,
        changed: bool,
    ) -> ChangeNews:
        """Return when the rates changed from one stretch of time to another, and with what version.

        Args:
            model: its number.
            before: outcomes of the earlier stretch, a scalar.
            hours: end of the earlier stretch, 0 where no time is known of it, and end of the
                later one, epoch milliseconds.
            now: current event time, epoch milliseconds.
            changed: the rates of the two differ.
        """
        began = None
        if changed and not LabelRegime.of(self._catalogue.settings[model]).is_estimated:
            dispersion = Dispersion.of(1.0)
            if (known := self._reference_of(model)) is not None:
                dispersion = known.dispersion
            began = when_rates_changed(self._history(model), before, hours, dispersion)
        return ChangeNews(began, self.latest(model, now, began, until=hours[1]))

    def _history(self, model: int) -> History:
        return self._windows.past.history(model)

    def latest(
        self, model: int, now: int, began: ChangeBegan | None, *, until: int | None = None
    ) -> NewVersion | None:
        """Return the version that began last, or the one that a change began with.

        Args:
            model: its number.
            now: current event time, epoch milliseconds; windows end maturity before it.
            began: when its rates changed; None where they did not.
            until: leave out versions that began later, epoch milliseconds; None for now.

        Returns:
            None under `on_version: keep`, and before a second version, or a first one after
            predictions without a version.
        """
        if self._on_version(model) is OnVersion.KEEP or not self._appeared(model):
            return None
        until = now if until is None else until
        is_first = 0 if self._follows_unnamed(model) else 1
        later = [one for one in self._in_order(model)[is_first:] if one.first <= until]
        if not later:
            return None
        inside = [] if began is None else [one for one in later if _within(one.first, began)]
        found = later[-1]
        if began is not None and inside:
            at = began.at
            found = min(inside, key=lambda one: (abs(one.first - at), one.first, one.name))
        made = predictions_by_version(self._catalogue, self._windows, model)
        times = self._versions_of(self._catalogue.models[model]).times
        latest = max(one.last for one in times.values())
        ended = None if is_in_use(found.last, latest) else found.last
        return NewVersion(
            name=found.name,
            first=found.first,
            began_change=bool(inside),
            age_ms=max(now - found.first, 0),
            traffic=self._traffic(model, made.get(found.name), found.first, ended),
            ended=ended,
        )

    def _follows_unnamed(self, model: int) -> bool:
        """Return whether the first version began in an hour after predictions without a version."""
        first = self._windows.past.first_hour(model, 0)
        return first is not None and first < _hour(self._appeared(model)[0][1])

    def _in_order(self, model: int) -> tuple[VersionTraffic, ...]:
        """Return the versions whose first prediction is known, as `compare` orders them."""
        times = self._versions_of(self._catalogue.models[model]).times
        return by_beginning(
            VersionTraffic(name, 0, first, times[name].last, times[name].settled)
            for name, first in self._appeared(model)
        )

    def _traffic(self, model: int, made: int | None, first: int, ended: int | None) -> float:
        """Return the share of a version; NaN where versions are not counted apart."""
        return float("nan") if made is None else self.share(model, first, made, ended)

    def share(self, model: int, first: int, made: int, ended: int | None) -> float:
        """Return the share of the predictions while a version was in use that the version made.

        Beginning and end are those of a pane, or of a version that began more than two days ago
        those of an hour.

        Args:
            model: its number.
            first: the version's first prediction, epoch milliseconds.
            made: predictions that the version made.
            ended: the version's last prediction, epoch milliseconds; None where it is in use.

        Returns:
            NaN where it began longer ago than hours are stored.
        """
        since = self._windows.predictions_since(model, first, ended)
        return made / since if since else float("nan")

    def _appeared(self, model: int) -> tuple[tuple[str, int], ...]:
        return self._versions_of(self._catalogue.models[model]).appeared

    def _on_version(self, model: int) -> OnVersion:
        return self._catalogue.settings[model].reference.on_version


def _hour(moment: int) -> int:
    return moment // HOUR_MS * HOUR_MS


def _within(first: int, began: ChangeBegan) -> bool:
    """Return whether a version began in the interval of a change, to the hour."""
    narrow = began.latest - began.earliest <= _WIDEST_MS
    return narrow and began.earliest - HOUR_MS <= first <= began.latest
