"""References that end before a change, which the days since them show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from monitor.clock import DAY_MS
from monitor.events.catalogue import Catalogue
from monitor.events.renumbering import State
from monitor.labels.learned_errors import LearnedErrors
from monitor.metrics.histogram import ScoreHistogram
from monitor.watch.first_days import FIRST_MS, is_too_small_to_page
from monitor.watch.level import Stretch
from monitor.watch.longer_first_days import Cut, days_after
from monitor.watch.reference import MatureReference
from monitor.watch.reference_cut import shortened
from monitor.watch.young_reference import change_inside, days_since, lasting_fall
from monitor.windows import Windows

AllScores = Callable[[int, int, int], ScoreHistogram | None]
"""Returns the scores of a model, by its number, in a stretch of time; None without scores."""


class ChangesSince:
    """Tests the days of references of the first days together with those since.

    A young reference is tested for any change inside it, see `young_reference`. One that stands in
    for longer days pages dead models alone, and is tested every day for a fall of the model: of
    one that the days so far certainly show, also inside it, the days before are the reference.

    Args:
        catalogue: models and their settings.
        windows: counts.
        errors: how often labels are wrong.
        cut: returns stretches as references.
        scores: returns the scores of a stretch.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        windows: Windows,
        errors: LearnedErrors,
        cut: Cut,
        scores: AllScores,
    ) -> None:
        self._catalogue, self._windows, self._errors = catalogue, windows, errors
        self._cut, self._scores = cut, scores
        self._tested: dict[int, int] = {}  # end of the days that a reference was tested with
        self._found: dict[int, MatureReference] = {}

    def before(
        self,
        model: int,
        known: MatureReference,
        longer: MatureReference | None,
        mature: int,
    ) -> MatureReference | None:
        """Return the reference up to a change; None where the days so far show none.

        Args:
            model: its number.
            known: its reference.
            longer: first days that this one stands in for; None before they are known.
            mature: up to this moment, epoch milliseconds, outcomes are mature.
        """
        opens, closes, own = known.opens, known.closes, known.by_day
        if opens is None or closes is None or own is None or not self._is_tested(model, known):
            return None
        midnight = mature // DAY_MS * DAY_MS
        end = closes + (midnight - closes) // DAY_MS * DAY_MS
        young = days_since(closes, midnight) is not None
        stands_in = self._stands_in(model, known)
        if end <= closes or not (young or stands_in) or self._tested.get(model) == end:
            return None
        self._tested[model] = end
        last = known if longer is None or longer.cut_short is not None else longer
        since = self._cut(model, Stretch("first", last.closes or 0, end)).by_day
        if last.by_day is None or since is None:
            return None
        days = days_after(last.by_day, since)
        change = change_inside(days, len(own.cells)) if young else None
        if change is None and stands_in:
            change = lasting_fall(days)
        if change is None:
            return None
        self._found[model] = self._until(model, known, last, opens + change * DAY_MS)
        return self._found[model]

    def cut(self, model: int) -> MatureReference | None:
        """Return the reference of a model that was cut last since a start; None for none."""
        return self._found.get(model)

    def state(self, model: int) -> State:
        """Serializable state of one model, a part of that of its reference."""
        return {"tested": self._tested[model]} if model in self._tested else {}

    def restore(self, model: int, state: State) -> None:
        """Load what `state` returned of an earlier run.

        Args:
            model: its number now.
            state: of its reference.
        """
        if "tested" in state:
            self._tested[model] = state["tested"]

    def _until(
        self, model: int, known: MatureReference, last: MatureReference, until: int
    ) -> MatureReference:
        """Return the first days up to a change, but no more of them than are configured.

        The first panes are stored until the longer first days are known, and may not be after.

        Args:
            model: its number.
            known: its reference.
            last: the longer first days; its reference before they are known.
            until: day of the change, epoch milliseconds.
        """
        opens, first = known.opens or 0, self._windows.first_pane(model)
        whole = opens + (self._catalogue.settings[model].reference.first or FIRST_MS)
        closes = min(until, max(whole, known.closes or 0))
        if first is None or first * self._windows.step_ms > opens:
            found = shortened(last, closes, self._scores(model, opens, closes))
        else:
            found = self._cut(model, Stretch("first", opens, closes))
        cut_short = until if until < whole else None
        found = replace(found, version=known.version + 1, cut_short=cut_short)
        return found.examined(self._errors.of(model))

    def _stands_in(self, model: int, known: MatureReference) -> bool:
        settings = self._catalogue.settings[model]
        first = settings.reference.first
        shorter = first is not None and known.is_shorter_than(first)
        return shorter and settings.river_detector is None

    def _is_tested(self, model: int, known: MatureReference) -> bool:
        """Return whether days since a reference are tested with it: of two classes, as labelled.

        Of few outcomes, some days before the first false positive would be a change.
        """
        is_first = known.source == "first" and known.cut_short is None
        is_plain = not self._catalogue.settings[model].has_many_classes
        counts_all = is_plain and not self._errors.of(model).is_estimated
        return is_first and counts_all and not is_too_small_to_page(known.counts)
