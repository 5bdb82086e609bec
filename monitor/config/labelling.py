"""Settings of labels: how they come, when windows end, which time counts."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    Tag,
    ValidationInfo,
    WrapSerializer,
    field_validator,
)

from monitor.config import quantities as q
from monitor.config.fields import Duration, PositiveDuration, Section, setting


class Labelling(StrEnum):
    """How labels come; decides which metrics are identifiable."""

    COMPLETE = "complete"
    """Every mature prediction gets a label, or misses it at random."""
    SAMPLED = "sampled"
    """Labels are a random sample within predicted positives and within predicted negatives."""
    WEIGHTED = "weighted"
    """Each label carries the probability with which it was sampled."""
    NEGATIVES_BY_TIMEOUT = "negatives_by_timeout"
    """Only positives are reported; a prediction without a label past the timeout is negative."""
    FLAGGED_ONLY = "flagged_only"
    """Only predicted positives are ever labelled."""


class WindowClock(StrEnum):
    """The time that assigns an outcome to a window."""

    PREDICTION = "prediction"
    """The time of the prediction; all verdicts and detectors use it."""
    LABEL = "label"
    """The time of the label; only displayed, never used to detect a change."""


class AutoMaturity(Section):
    """Maturity learned from the observed label delays."""

    share: float = setting(
        0.99,
        "Windows end at the age by which this share of all labels that ever come have come, "
        "in the slower class.",
        gt=0,
        lt=1,
    )
    min: Duration = setting("0s", "Windows end at this age at the earliest.")
    max: PositiveDuration | None = setting(
        None, "Windows end at this age at the latest; null for the label timeout."
    )

    @field_validator("max")
    @classmethod
    def _max_from_min(cls, value: int | None, info: ValidationInfo) -> int | None:
        least = info.data.get("min", 0)
        if value is not None and value < least:
            raise q.unfit(f"must be at least min ({q.format_duration(least)})", "raise it")
        return value


_OneRate = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]


_AUDIT = "audit"


def _rate_kind(value: Any) -> str:
    return "listed" if isinstance(value, list | tuple) else "fixed"


def _in_order(value: tuple[float, float]) -> tuple[float, float]:
    if value[0] > value[1]:
        raise q.unfit("must begin with the lower rate", "write it like [0.005, 0.02]")
    return value


def _of_two(value: Any) -> Any:
    ends = 2
    if len(value) != ends:
        raise q.unfit("must have two ends", "write it like [0.005, 0.02]")
    return value


ErrorRate = Annotated[
    Annotated[_OneRate, Tag("fixed")]
    | Annotated[
        tuple[_OneRate, _OneRate],
        BeforeValidator(_of_two),
        AfterValidator(_in_order),
        Tag("listed"),
    ],
    Discriminator(_rate_kind),
]
"""A rate in [0, 1), or the lowest and the highest that it may be."""


class LabelErrors(Section):
    """Rates at which labels are wrong, whatever was predicted; each a number or a range."""

    false_positive: ErrorRate = setting(
        0.0,
        "Probability that the label of an actual negative is 1: a number, or a range such as "
        "[0.005, 0.02].",
    )
    false_negative: ErrorRate = setting(
        0.0, "Probability that the label of an actual positive is 0: a number, or a range."
    )

    @field_validator("false_negative")
    @classmethod
    def _labels_say_something(cls, value: ErrorRate, info: ValidationInfo) -> ErrorRate:
        other = _highest(info.data.get("false_positive", 0.0))
        if _highest(value) + other >= 1:
            raise q.unfit(
                f"must be less than 1 less false_positive ({other:g}), or labels would say "
                "nothing of the class, or its opposite",
                "lower it",
            )
        return value

    @property
    def any(self) -> bool:
        """Whether any label may be wrong."""
        return bool(_highest(self.false_positive) or _highest(self.false_negative))


class LearnedLabelErrors(LabelErrors):
    """Rates at which labels are wrong, learned from labels with `audit: true`."""

    @property
    def any(self) -> bool:
        """Whether any label may be wrong."""
        return True


def _read_audit(value: Any) -> Any:
    if value == _AUDIT:
        return LearnedLabelErrors()
    if isinstance(value, Mapping | LabelErrors):
        return value
    allowed = "write audit, or {false_positive: 0.01, false_negative: 0.05}"
    raise q.unfit("must be rates, or audit", allowed)


def _written(value: LabelErrors, as_rates: SerializerFunctionWrapHandler) -> Any:
    return _AUDIT if isinstance(value, LearnedLabelErrors) else as_rates(value)


LabelErrorsSetting = Annotated[
    LabelErrors, BeforeValidator(_read_audit), WrapSerializer(_written, when_used="json")
]
"""Rates of wrong labels: given, or learned from audits."""


def _highest(rate: ErrorRate) -> float:
    return rate[1] if isinstance(rate, tuple) else rate


def _read_auto(value: Any) -> Any:
    return {} if value == "auto" else value


def _not_a_word(value: Any) -> Any:
    if isinstance(value, int) or (isinstance(value, str) and re.match("[0-9]", value)):
        return value
    allowed = "write auto, 12h, or {share: 0.99, min: 1h, max: 30d}"
    raise q.unfit("must be auto, a duration, or limits for auto", allowed)


def _maturity_kind(value: Any) -> str:
    auto = value == "auto" or isinstance(value, Mapping | AutoMaturity)
    return "auto" if auto else "fixed"


Maturity = Annotated[
    Annotated[AutoMaturity, BeforeValidator(_read_auto), Tag("auto")]
    | Annotated[Duration, BeforeValidator(_not_a_word), Tag("fixed")],
    Discriminator(_maturity_kind),
]
"""`AutoMaturity`, or a fixed age in milliseconds."""
