"""The two periods of a diagnosis of recorded events.

The monitor counts a range that is known before the events come exactly, to the
millisecond. A range that depends on the events (the first days of a feed, the
last mature days) is found at the end, in whole hours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from monitor.clock import DAY_MS, HOUR_MS
from monitor.config import Config, Labelling, ModelConfig
from monitor.config.nearest_name import suggestion
from monitor.config.quantities import format_time
from monitor.counts import ConfusionCounts
from monitor.diagnosis.comparison import (
    apart_from,
    check_audits,
    check_silence,
    check_two_classes,
    latest_hours,
    reference_range,
    reference_source,
)
from monitor.diagnosis.model_scatter import DayCounts, ModelScatter, scatter_of
from monitor.diagnosis.no_outcomes import without_outcomes
from monitor.diagnosis.periods import Period, block_ms_of, ranges_of
from monitor.diagnosis.time_ranges import JUDGED_MS, TimeRange, check_apart, parse_time_range
from monitor.engine import Monitor
from monitor.errors import UsageError
from monitor.events.columns import EARLIEST_MS, LATEST_MS, Int64Array
from monitor.feeds.mapping.written import Notation
from monitor.join.deltas import known, unlabelled_as_negative
from monitor.labels.regime import LabelRegime
from monitor.snapshot import ModelState
from monitor.watch.first_days import FIRST_MS, PROVISIONAL_MS, end_of_first_days
from monitor.windows.range_counts import RangeCounts


def settings_of(config: Config, model: str) -> ModelConfig:
    """Return a model's settings; the defaults where none are configured.

    Args:
        config: with the models and the defaults.
        model: its name.
    """
    return config.models.get(model, config.defaults)


_DERIVED = ("mature", "first", "trailing")
"""Sources of ranges that follow from the events; nobody gives them."""


class RecordedComparison:
    """The two periods; create it before events come, and read it after all have come.

    Args:
        monitor: receives the events.
        model: the model's name; None for the only one there is.
        before: the range given to `--before`; None for the model's reference.
        after: the range given to `--after`; None for the last mature days.
        notation: how to complete the mapping of the events.

    Raises:
        UsageError: a range is invalid, or they overlap, or the model is not configured or has
            more than two classes.
    """

    def __init__(
        self,
        monitor: Monitor,
        model: str | None,
        *,
        before: str | None,
        after: str | None,
        notation: Notation,
    ) -> None:
        self._monitor = monitor
        self._notation = notation
        self._config = monitor.config
        self._model = _configured(self._config, model)
        settings = settings_of(self._config, self._model or "")
        check_two_classes("compare", self._model or "", settings.classes)
        self._reference = settings.reference
        self._after = None if after is None else parse_time_range("--after", after)
        if before is None:
            self._before = reference_range(self._reference, self._after)
            self._source = reference_source(self._reference)
        else:
            self._before, self._source = parse_time_range("--before", before), ""
        if self._before is not None and self._after is not None:
            check_apart(self._before, self._after)
        self._exact = {
            asked: monitor.count_range(*asked, block_ms_of(*asked))
            for asked in (self._before, self._after)
            if asked is not None
        }
        self._scores = monitor.count_scores(*self._span(), self._model)
        self._all = monitor.count_range(EARLIEST_MS, LATEST_MS, self._everything_by())

    def model(self) -> str:
        """Return the name of the model to diagnose.

        Raises:
            UsageError: the feed does not have it, or has several and none was named.
        """
        seen = self._all.models
        if self._model is not None and self._model not in seen:
            states = {one.name: one for one in self._monitor.snapshot().models}
            if self._model in states and states[self._model].shared_ids is not None:
                raise UsageError(f"--model: each prediction of {self._model} is a duplicate")
        if self._model is None and not seen:
            why = without_outcomes(self._monitor.snapshot(), self._notation)
            raise UsageError(f"nothing can be compared: {why}")
        return asked_model(self._model, seen, "the feed")

    def mature_until(self, model: str) -> int | None:
        """Return the moment up to which outcomes are mature; None if unknown."""
        found = self.state(model)
        if found.watermark_ms is None or found.maturity_ms is None:
            return None
        return found.watermark_ms - found.maturity_ms

    def day_scatter(self, model: str, before: Period, after: Period) -> ModelScatter | None:
        """Return how the days of the model scatter, see `scatter_of`.

        Args:
            model: its name.
            before: the period to compare with.
            after: the period to judge.
        """
        days = None if before.source else self._days(model)
        ranges = ranges_of(before, after)
        return scatter_of(self.state(model), before.source, days, self._regime(model), ranges)

    def now(self, model: str) -> int | None:
        """Return the event time of the model, epoch milliseconds; None before any."""
        return self.state(model).now_ms

    def after(self, model: str, length_ms: int) -> Period:
        """Return the period to judge.

        Args:
            model: its name.
            length_ms: of the last mature hours, which are judged where none are named; under a
                day, a week is judged.

        Raises:
            UsageError: it has no prediction, or is left out and no label came.
        """
        if self._after is not None:
            return self._counted("--after", model, self._after, "")
        until = self.mature_until(model)
        if until is None:
            snapshot = self._monitor.snapshot()
            labelled = int(snapshot.lifetime.counts.total.sum())
            why = (
                "too few events; record more"
                if labelled
                else without_outcomes(snapshot, self._notation)
            )
            raise UsageError(f"nothing can be compared: {why}")
        if length_ms < DAY_MS:
            length_ms = JUDGED_MS
        option = f"the last {length_ms // DAY_MS} mature days"
        latest, before = latest_hours(until, length_ms), self._before
        if before is None and self._source == "first":
            before = self._first(model, latest.opens, latest.closes - DAY_MS)
        elif before is None and self._source == "trailing":
            before = self._own(model, latest.closes - DAY_MS)
        return self._counted(option, model, apart_from(before, latest), "mature")

    def before(self, model: str, after: Period, level: TimeRange | None = None) -> Period:
        """Return the period to compare with.

        Args:
            model: its name.
            after: the period to judge.
            level: that of the model, where the latest data are judged against it.

        Raises:
            UsageError: it has no prediction, or overlaps `after`.
        """
        if level is not None and self._before is None and self._after is None:
            return self._counted("the model's level", model, level, "level")
        given = self._reference.counts
        if self._source == "counts" and given is not None:
            counts = ConfusionCounts(tp=given.tp, fp=given.fp, fn=given.fn, tn=given.tn)
            return Period.given(counts)
        later = TimeRange(after.opens or 0, after.closes or 0)
        asked = self._before
        if asked is None and self._after is None and self._source == "trailing":
            asked = self._own(model, later.opens)  # it stays while the model pages
        asked = asked or reference_range(self._reference, later)
        asked = asked or self._first(model, later.opens, later.opens)
        self._check_apart(asked, later)
        option = f"the reference, {self._source}" if self._source else "--before"
        return self._counted(option, model, asked, self._source)

    def state(self, model: str) -> ModelState:
        """Return the state of the model."""
        models = self._monitor.snapshot().models
        return next(state for state in models if state.name == model)

    def _span(self) -> TimeRange:
        """Return a range that holds both periods."""
        if self._derived:
            return TimeRange(EARLIEST_MS, LATEST_MS)
        known = [asked for asked in (self._before, self._after) if asked is not None]
        return TimeRange(min(a.opens for a in known), max(a.closes for a in known))

    def _check_apart(self, before: TimeRange, after: TimeRange) -> None:
        """Refuse ranges that overlap; names options only where a person gave both."""
        try:
            check_apart(before, after)
        except UsageError as error:
            if self._after is not None and not self._source:
                raise
            reference = f"the reference, {self._source}" if self._source else "--before"
            judged = "the last mature days" if self._after is None else "--after"
            raise UsageError(
                f"too little data to compare: {reference} ({before}), and {judged} ({after}) "
                "overlap; record more days, or name two ranges with --before and --after"
            ) from error

    def _first(self, model: str, until: int, latest: int) -> TimeRange:
        """Return the first days: the reference of the model if it closes early enough.

        Args:
            model: its name.
            until: the first days of a model without one end before this, epoch milliseconds.
            latest: the reference closes by then, epoch milliseconds.
        """
        if (own := self._own(model, latest)) is not None:
            return own
        opens = self._all.span(model)[0] // HOUR_MS * HOUR_MS
        length = -(-(self._reference.first or FIRST_MS) // HOUR_MS) * HOUR_MS
        closes = end_of_first_days(
            opens, length, until, lambda ends: self._sums(model, opens, ends), spare=0
        )
        shortest = opens + min(length, PROVISIONAL_MS)
        return TimeRange(opens, shortest if closes is None else closes)

    def _own(self, model: str, latest: int) -> TimeRange | None:
        """Return the reference of a model, with which its windows are compared.

        Args:
            model: its name.
            latest: the reference closes by then, epoch milliseconds.

        Returns:
            None where it has none that closes by then.
        """
        reference = self.state(model).watched.reference
        opens, closes = (None, None) if reference is None else (reference.opens, reference.closes)
        if opens is None or closes is None or closes > latest:
            return None
        return TimeRange(opens, closes)

    def _sums(self, model: str, opens: int, ends: Sequence[int]) -> Int64Array:
        """Counts of a model from `opens` up to each end, (ends, 6)."""
        totals = self._all.series(model)[0]
        cells = known(np.array([self._all.blocks(totals, opens, e).sum(axis=0) for e in ends]))
        silent = self._regime(model).labelling is Labelling.NEGATIVES_BY_TIMEOUT
        return unlabelled_as_negative(cells) if silent else cells

    @property
    def _derived(self) -> bool:
        """True if a range is derived from all events."""
        return self._after is None or (self._before is None and self._source != "counts")

    def _everything_by(self) -> int:
        """Block length of the counts of all time."""
        return HOUR_MS if self._derived else DAY_MS

    def _days(self, model: str) -> DayCounts:
        every, (totals, *_) = self._all, self._all.series(model)
        stretch = every.opens, every.closes, DAY_MS
        return DayCounts(every.starts(*stretch), every.blocks(totals, *stretch))

    def _counted(self, option: str, model: str, asked: TimeRange, source: str) -> Period:
        counts: RangeCounts = self._exact.get(asked, self._all)
        regime = self._regime(model)
        errors = self._monitor.label_errors
        number = self._monitor.models.index(model)
        check_audits(model, regime, errors.findings(number), errors.lost())
        period = Period.counted(counts, model, *asked, source=source, regime=regime)
        period = replace(period, audited=partial(errors.audited, number))
        if not period.predictions:
            first, last = map(format_time, self._all.span(model))
            covered = f"the data of {model} covers {first} to {last}"
            if source in _DERIVED:  # nobody gave this range
                raise UsageError(
                    f"too little data to compare: {covered}; record more days, or name two ranges "
                    "with --before and --after"
                )
            raise UsageError(f"{option}: nothing was predicted in {asked}; {covered}")
        if regime.labelling is Labelling.NEGATIVES_BY_TIMEOUT:
            timeout = settings_of(self._config, model).label_timeout or 0
            watermark = self._monitor.times.get(model)
            check_silence(option, asked, None if watermark is None else watermark - timeout)
        if regime.corrects_scores:
            return replace(period, scores_as_labelled=self._scores.days(model, *asked))
        if not regime.is_plain:
            return period
        return replace(
            period,
            scores=self._scores.days(model, *asked),
            segment_scores=lambda series: self._scores.of(series, *asked),
        )

    def _regime(self, model: str) -> LabelRegime:
        return self._monitor.label_errors.of(self._monitor.models.index(model))


def _configured(config: Config, model: str | None) -> str | None:
    """Return the model as far as the configuration names it."""
    names = tuple(config.models)
    return asked_model(model, names, "the configuration") if names else model


def asked_model(model: str | None, known: tuple[str, ...], where: str) -> str:
    """Return the model of `--model`, or the only one.

    Args:
        model: its name; None for the only one.
        known: names of those there are, one at least.
        where: what has them, for a person.

    Raises:
        UsageError: it is none of them, or there are several and none is named.
    """
    if model is None and len(known) > 1:
        raise UsageError(f"--model: {where} has several models: {', '.join(known)}; name one")
    if model is None or model in known:
        return model or known[0]
    hint = suggestion(model, known, f"it has {', '.join(known) or 'none'}")
    raise UsageError(f"--model: {where} has no such model, got {model!r}; {hint}")
