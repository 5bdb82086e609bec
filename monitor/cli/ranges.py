"""Which two stretches of time `diagnose` compares, as asked or as configured.

Ranges that are known beforehand are counted exactly, to the millisecond. What
depends on the events themselves (the first days of a feed, the last days that
are mature) is found at the end, in whole hours.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches

from monitor.config import Config, Labelling, ModelConfig
from monitor.config.quantities import DAY_MS, HOUR_MS, format_duration, format_time
from monitor.counts import ConfusionCounts, Outcome
from monitor.diagnosis import Period, block_ms_of
from monitor.diagnosis.time_ranges import TimeRange, check_apart, parse_time_range
from monitor.drift.detectors import suffices
from monitor.engine import Monitor
from monitor.errors import UsageError
from monitor.events.columns import EARLIEST_MS, LATEST_MS
from monitor.join.deltas import known, settled
from monitor.windows.pane_widths import LONGEST_FIRST_MS
from monitor.windows.range_counts import RangeCounts

MATURE_DAYS = 7
"""Without --after the last so many days that are mature are judged."""


def settings_of(config: Config, model: str) -> ModelConfig:
    """A model's settings; those that every model shares where none are configured."""
    return config.models.get(model, config.defaults)


class Compared:
    """The two periods; to be made before events come, and asked after all have come.

    Args:
        monitor: that the events will be fed to.
        model: the model's name, None to take the only one there is.
        before: as written on the command line; None for the model's reference.
        after: as written; None for the last mature days.

    Raises:
        UsageError: a range is none, or they overlap, or the model is not configured.
    """

    def __init__(
        self, monitor: Monitor, model: str | None, *, before: str | None, after: str | None
    ) -> None:
        self._monitor = monitor
        self._config = monitor.config
        self._model = _configured(self._config, model)
        settings = settings_of(self._config, self._model or "")
        self._reference = settings.reference
        self._after = None if after is None else parse_time_range("--after", after)
        self._before, self._source = self._known_before(before)
        if self._before is not None and self._after is not None:
            check_apart(self._before, self._after)
        self._exact = {
            asked: monitor.count_range(*asked, block_ms_of(*asked))
            for asked in (self._before, self._after)
            if asked is not None
        }
        scored = self._before or TimeRange(EARLIEST_MS, LATEST_MS)
        self._scores = (
            None if self._source == "counts" else monitor.count_scores(*scored, self._model)
        )
        self._all = monitor.count_range(EARLIEST_MS, LATEST_MS, self._everything_by())

    def model(self) -> str:
        """The model that is diagnosed.

        Raises:
            UsageError: the feed does not have it, or has several and none was named.
        """
        seen = self._all.models
        if self._model is not None:
            if self._model not in seen:
                raise UsageError(_no_such_model(self._model, seen, "the feed"))
            return self._model
        if len(seen) != 1:
            found = f"has several models: {', '.join(seen)}" if seen else "has no predictions"
            hint = "; name one" if seen else "; check the file"
            raise UsageError(f"--model: the feed {found}{hint}")
        return seen[0]

    def mature_until(self, model: str) -> int | None:
        """Up to this moment outcomes are mature; None where it is not known."""
        snapshot = self._monitor.snapshot()
        ages = [state.maturity_ms for state in snapshot.models if state.name == model]
        if snapshot.watermark_ms is None or ages[0] is None:
            return None
        return snapshot.watermark_ms - ages[0]

    def after(self, model: str) -> Period:
        """What is judged.

        Raises:
            UsageError: nothing was predicted in it.
        """
        if self._after is not None:
            return self._counted("--after", model, self._after, "")
        until = self.mature_until(model)
        if until is None:
            raise UsageError("--after: cannot be left out, no label came yet; write A..B")
        closes = until // HOUR_MS * HOUR_MS
        asked = TimeRange(closes - MATURE_DAYS * DAY_MS, closes)
        return self._counted(
            f"--after (the last {MATURE_DAYS} mature days)", model, asked, "mature"
        )

    def before(self, model: str, after: Period) -> Period:
        """What it is compared with.

        Args:
            model: its name.
            after: the period that is judged.

        Raises:
            UsageError: nothing was predicted in it, or it overlaps what is judged.
        """
        given = self._reference.counts
        if self._source == "counts" and given is not None:
            counts = ConfusionCounts(tp=given.tp, fp=given.fp, fn=given.fn, tn=given.tn)
            return Period.given(counts)
        asked = self._before or self._found_before(model, after)
        opens, closes = after.opens or 0, after.closes or 0
        check_apart(asked, TimeRange(opens, closes))
        option = f"--before (reference {self._source})" if self._source else "--before"
        period = self._counted(option, model, asked, self._source)
        if self._scores is None or self._labelling(model) is not Labelling.COMPLETE:
            return period
        return replace(period, scores=self._scores.days(model, *asked))

    def _known_before(self, written: str | None) -> tuple[TimeRange | None, str]:
        """The range, where it is known beforehand, and where it comes from."""
        if written is not None:
            return parse_time_range("--before", written), ""
        reference = self._reference
        if reference.window is not None:
            return TimeRange(reference.window.open, reference.window.end), "window"
        if reference.counts is not None:
            return None, "counts"
        if reference.trailing is not None:
            opens = None if self._after is None else self._after.opens
            known = None if opens is None else TimeRange(opens - reference.trailing, opens)
            return known, "trailing"
        return None, "first"

    def _found_before(self, model: str, after: Period) -> TimeRange:
        if self._source == "trailing":
            opens = after.opens or 0
            return TimeRange(opens - (self._reference.trailing or 0), opens)
        return self._first(model, self._reference.first or MATURE_DAYS * DAY_MS)

    def _first(self, model: str, length: int) -> TimeRange:
        """The first days; more while there are too few outcomes, as the running monitor does."""
        opens = self._all.span(model)[0] // HOUR_MS * HOUR_MS
        longest = max(length, LONGEST_FIRST_MS)
        length = -(-length // HOUR_MS) * HOUR_MS
        found = TimeRange(opens, opens + length)
        while not self._suffices(model, found) and found.closes + DAY_MS <= opens + longest:
            found = TimeRange(opens, found.closes + DAY_MS)
        return found

    def _suffices(self, model: str, asked: TimeRange) -> bool:
        cells = known(self._all.blocks(self._all.series(model)[0], *asked).sum(axis=0))
        if self._labelling(model) is Labelling.NEGATIVES_BY_TIMEOUT:
            cells = settled(cells)
        return bool(suffices(ConfusionCounts.from_cells(cells[: len(Outcome)])))

    def _everything_by(self) -> int:
        """Blocks of what is counted everywhere; wide where only its bounds are of use."""
        derived = self._after is None or (self._before is None and self._source != "counts")
        return HOUR_MS if derived else LATEST_MS - EARLIEST_MS

    def _counted(self, option: str, model: str, asked: TimeRange, source: str) -> Period:
        counts: RangeCounts = self._exact.get(asked, self._all)
        labelling = self._labelling(model)
        period = Period.counted(counts, model, *asked, source=source, labelling=labelling)
        if not period.predictions:
            first, last = self._all.span(model)
            raise UsageError(
                f"{option}: nothing was predicted in {asked}; the data of {model} covers "
                f"{format_time(first)} to {format_time(last)}"
            )
        if labelling is Labelling.NEGATIVES_BY_TIMEOUT:
            self._check_silence(option, model, asked)
        return period

    def _check_silence(self, option: str, model: str, asked: TimeRange) -> None:
        """Silence is a negative once the label timeout has passed, and not before."""
        timeout = settings_of(self._config, model).label_timeout or 0
        watermark = self._monitor.watermark_ms
        until = None if watermark is None else watermark - timeout
        if until is None or asked.closes > until:
            passed = "no event" if until is None else f"predictions up to {format_time(until)}"
            raise UsageError(
                f"{option}: ends before silence is known to be a negative, got {asked}; under "
                f"labelling negatives_by_timeout the timeout ({format_duration(timeout)}) has "
                f"passed for {passed}: end it there or earlier"
            )

    def _labelling(self, model: str) -> Labelling:
        return settings_of(self._config, model).labelling


def _configured(config: Config, model: str | None) -> str | None:
    """The model as far as it is known before events came."""
    names = tuple(config.models)
    if not names:
        return model
    if model is not None and model not in names:
        raise UsageError(_no_such_model(model, names, "the configuration"))
    if model is None and len(names) > 1:
        raise UsageError(
            f"--model: the configuration has several models: {', '.join(names)}; name one"
        )
    return model or names[0]


def _no_such_model(model: str, known: tuple[str, ...], where: str) -> str:
    near = get_close_matches(model, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known) or 'none'}"
    return f"--model: {where} has no such model, got {model!r}; {hint}"
