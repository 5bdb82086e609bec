"""The labelling regime of a model: how its labels come, and how often they are wrong."""

from __future__ import annotations

from typing import NamedTuple, Protocol, Self

import numpy as np

from monitor.config import LabelErrors, Labelling
from monitor.config.labelling import LearnedLabelErrors
from monitor.counts import ConfusionCounts
from monitor.events.columns import Int64Array
from monitor.metrics.label_errors import (
    NO_ERRORS,
    UNKNOWN_ERRORS,
    EarlierErrors,
    ErrorRates,
    ValueErrors,
)
from monitor.metrics.possible_rates import NO_LIMITS, LabelLimits, possible_for_days

SAMPLES = frozenset({Labelling.SAMPLED, Labelling.WEIGHTED})
"""Labelling regimes under which labels are a sample."""


class _Setting(Protocol):
    @property
    def labelling(self) -> str: ...
    @property
    def label_errors(self) -> LabelErrors: ...


class _Corrected(Protocol):
    @property
    def labelling(self) -> str: ...
    @property
    def label_errors(self) -> ErrorRates: ...
    @property
    def earlier_label_errors(self) -> tuple[EarlierErrors, ...]: ...
    @property
    def label_errors_by_value(self) -> tuple[ValueErrors, ...]: ...
    @property
    def configured_label_errors(self) -> ErrorRates: ...
    @property
    def label_limits(self) -> LabelLimits: ...


class LabelRegime(NamedTuple):
    """How labels come, and how often they are wrong.

    Attributes:
        labelling: how they come.
        errors: rates of wrong labels; zeros where labels are taken as they are, NaN where too
            few audits show them. Of the latest predictions, where audits show that the rates
            changed.
        earlier: the rates before each change, the oldest first.
        by_value: the rates of segment values where audits show that these differ.
        is_mean: True where `errors` is the mean over blocks of time with different rates.
        configured: the rates as configured, where the labels exclude a part of their ranges, so
            that `errors` has the rest, or all of them, so that `errors` is undefined; zeros
            elsewhere.
        limits: what labels allow of the configured rates; `NO_LIMITS` where none are configured.
    """

    labelling: Labelling = Labelling.COMPLETE
    errors: ErrorRates = NO_ERRORS
    earlier: tuple[EarlierErrors, ...] = ()
    by_value: tuple[ValueErrors, ...] = ()
    is_mean: bool = False
    configured: ErrorRates = NO_ERRORS
    limits: LabelLimits = NO_LIMITS

    @classmethod
    def of(cls, setting: _Setting) -> Self:
        """Return the regime of a model; rates that audits show are undefined in its configuration.

        Args:
            setting: its configuration.
        """
        labelling, errors = Labelling(setting.labelling), setting.label_errors
        if isinstance(errors, LearnedLabelErrors):
            return cls(labelling, UNKNOWN_ERRORS)
        return cls(labelling, ErrorRates.within(errors.false_positive, errors.false_negative))

    @classmethod
    def now(cls, model: _Corrected) -> Self:
        """Return the regime of a model as it is corrected for by now.

        Args:
            model: its state in a snapshot.
        """
        return cls(
            Labelling(model.labelling),
            model.label_errors,
            model.earlier_label_errors,
            model.label_errors_by_value,
            configured=model.configured_label_errors,
            limits=model.label_limits,
        )

    def as_far_as_possible(self, days: ConfusionCounts) -> LabelRegime:
        """Return the regime without the rates that labels exclude.

        Args:
            days: outcomes as labelled, by days.

        Returns:
            With undefined rates where labels exclude all of them; the same where none are
            excluded, and where no rates are configured. How shares of labels scatter between
            the days holds for stretches of them, too.
        """
        if not self.has_errors or not self.errors.known:
            return self
        found = possible_for_days(self.errors, days)
        regime = self._replace(limits=LabelLimits.of(days))
        if found == self.errors:
            return regime
        return regime._replace(errors=found, configured=self.errors)

    def of_series(self, segment: str | None, value: str | None) -> LabelRegime:
        """Return the regime of a segment value, or of the totals.

        Args:
            segment: its key; None for the totals.
            value: its value.
        """
        own = (one.rates for one in self.by_value if (one.segment, one.value) == (segment, value))
        *before, latest = next(own, self.rates)
        ends = [one.until for one in self.earlier]
        return self._replace(
            errors=latest, earlier=tuple(map(EarlierErrors, ends, before)), by_value=()
        )

    @property
    def rates(self) -> tuple[ErrorRates, ...]:
        """The rates of wrong labels by stretch of time, the oldest first."""
        return (*(one.errors for one in self.earlier), self.errors)

    def stretches(self, moments: Int64Array) -> Int64Array:
        """Return of which of `rates` the predictions at some moments are.

        Args:
            moments: epoch milliseconds.
        """
        ends = np.array([one.until for one in self.earlier], dtype=np.int64)
        return np.searchsorted(ends, moments, side="right").astype(np.int64)

    def of_blocks(self, opens: Int64Array, cases: Int64Array) -> LabelRegime:
        """Return the regime of blocks of time, with the same rates for all of them.

        Args:
            opens: first moment of each block, epoch milliseconds.
            cases: of each block.

        Returns:
            Where the rates changed between them, their mean by cases, and that of their limits;
            the latest rates without cases.
        """
        if not self.earlier:
            return self
        count = np.bincount(self.stretches(opens), weights=cases, minlength=len(self.rates))
        held = np.flatnonzero(count)
        if not len(held):
            return self._replace(earlier=())
        mean = count[held] @ np.array(self.rates)[held] / count.sum()
        return self._replace(errors=ErrorRates(*mean.tolist()), earlier=(), is_mean=len(held) > 1)

    @property
    def corners(self) -> tuple[LabelRegime, ...]:
        """The regime at the ends of the ranges of its rates.

        All stretches are at the same ends: outcomes move the same way with the rates of each, so
        that others lie between.
        """
        ends = zip(*(one.corners for one in self.rates), strict=True)
        return tuple(
            self._replace(
                errors=latest,
                earlier=tuple(
                    one._replace(errors=errors)
                    for one, errors in zip(self.earlier, before, strict=True)
                ),
            )
            for *before, latest in ends
        )

    @property
    def has_errors(self) -> bool:
        """True if outcomes are corrected for wrong labels."""
        return any(map(any, self.rates))

    @property
    def is_learned(self) -> bool:
        """True if outcomes are corrected at rates that audits show."""
        return self.has_errors and self.errors.known and self.limits == NO_LIMITS

    @property
    def is_estimated(self) -> bool:
        """True if outcomes are estimates: labels are a sample, or are corrected for wrong ones."""
        return self.labelling in SAMPLES or self.has_errors

    @property
    def corrects_scores(self) -> bool:
        """True if metrics of scores are corrected for wrong labels, and for nothing else."""
        return self.labelling is Labelling.COMPLETE and self.has_errors and self.errors.known

    @property
    def is_plain(self) -> bool:
        """True if every prediction gets a label or misses it at random, and labels are right."""
        return self.labelling is Labelling.COMPLETE and not self.has_errors
