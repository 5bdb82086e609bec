"""The labelling regime of a model: how its labels come, and how often they are wrong."""

from __future__ import annotations

from typing import NamedTuple, Protocol, Self

from monitor.config import LabelErrors, Labelling
from monitor.config.labelling import LearnedLabelErrors
from monitor.metrics.label_errors import NO_ERRORS, UNKNOWN_ERRORS, ErrorRates

SAMPLES = frozenset({Labelling.SAMPLED, Labelling.WEIGHTED})
"""Labelling regimes under which labels are a sample."""


class _Setting(Protocol):
    @property
    def labelling(self) -> str: ...
    @property
    def label_errors(self) -> LabelErrors | ErrorRates: ...


class LabelRegime(NamedTuple):
    """How labels come, and how often they are wrong.

    Attributes:
        labelling: how they come.
        errors: rates of wrong labels; zeros where labels are taken as they are, NaN where too
            few audits show them.
    """

    labelling: Labelling = Labelling.COMPLETE
    errors: ErrorRates = NO_ERRORS

    @classmethod
    def of(cls, setting: _Setting) -> Self:
        """Return the regime of a model; rates that audits show are undefined in its configuration.

        Args:
            setting: its configuration, or its state in a snapshot.
        """
        errors = setting.label_errors
        if isinstance(errors, LearnedLabelErrors):
            return cls(Labelling(setting.labelling), UNKNOWN_ERRORS)
        if not isinstance(errors, ErrorRates):
            errors = ErrorRates.within(errors.false_positive, errors.false_negative)
        return cls(Labelling(setting.labelling), errors)

    @property
    def has_errors(self) -> bool:
        """True if outcomes are corrected for wrong labels."""
        return any(self.errors)

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
