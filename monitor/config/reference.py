"""Settings of a model's reference: the period or the counts that windows are compared with."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Self

from pydantic import (
    ConfigDict,
    Field,
    JsonValue,
    ModelWrapValidatorHandler,
    NonNegativeInt,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from monitor.config import quantities as q
from monitor.config.fields import EpochTime, PositiveDuration, Section, setting

REFERENCE_KINDS = ("window", "counts", "first", "trailing")
"""Keys of a reference, of which one says where it comes from."""
_DEFAULT = {"first": "28d"}
_REQUIRED: list[JsonValue] = [{"required": [kind]} for kind in REFERENCE_KINDS]


class OnVersion(StrEnum):
    """Effect of a new version of the model on its reference."""

    KEEP = "keep"
    RESTART = "restart"
    COMPARE = "compare"


class ReferenceWindow(Section):
    """A fixed range of event time, [end - length, end)."""

    length: PositiveDuration = Field(description="Length of the range.")
    end: EpochTime = Field(description="End of the range, exclusive: a date, or a time with zone.")

    @property
    def open(self) -> int:
        """Start of the range, epoch milliseconds."""
        return self.end - self.length


class ReferenceCounts(Section):
    """Outcomes counted elsewhere, for example on the test set."""

    tp: NonNegativeInt = Field(description="True positives.")
    fp: NonNegativeInt = Field(description="False positives.")
    fn: NonNegativeInt = Field(description="False negatives.")
    tn: NonNegativeInt = Field(description="True negatives.")

    @model_validator(mode="after")
    def _both_classes(self) -> Self:
        if self.tp + self.fn == 0 or self.fp + self.tn == 0:
            raise q.unfit(
                "must contain actual positives and actual negatives",
                "tp + fn and fp + tn must both be more than 0",
            )
        return self


def _reraised(detail: ErrorDetails) -> InitErrorDetails:
    """Convert a reported error, so that it can be raised together with others."""
    kind: str | PydanticCustomError = detail["type"]
    context = detail.get("ctx", {})
    if kind == "unfit":
        kind = PydanticCustomError("unfit", "{what}; {allowed}", context)
    return InitErrorDetails(type=kind, loc=detail["loc"], input=detail["input"], ctx=context)


class Reference(Section):
    """The baseline of a model; at most one kind of it is set."""

    model_config = ConfigDict(
        json_schema_extra={
            "minProperties": 1,
            "oneOf": [
                *_REQUIRED,
                {"not": {"anyOf": _REQUIRED}},
            ],
        }
    )

    window: ReferenceWindow | None = setting(None, "A fixed range of event time.")
    counts: ReferenceCounts | None = setting(
        None,
        "Outcomes counted elsewhere, such as those of a test set: `precision-monitor reference "
        "FILE` prints them.",
    )
    first: PositiveDuration | None = setting(
        None,
        "This much event time from the first prediction of the model on. Up to 7d it grows by "
        "days, to 28d at most, while it holds under 1,000 positives or 500 false positives; of a "
        "longer one the first 7 days stand in until it is complete; they page dead models alone, "
        "and others once all days so far certainly show a fall.",
    )
    trailing: PositiveDuration | None = setting(
        None,
        "This much event time, which ends as long before the latest labelled data. It moves on "
        "once that is twice as long ago, and stays while the model pages.",
    )
    on_version: OnVersion = setting(
        "compare",
        "Effect of a new version of the model. compare: it is judged against the reference, and "
        "reported as new. keep: versions are ignored. restart: a new reference begins with it, "
        "and where it is rolled back; needs first or trailing.",
    )

    @model_validator(mode="wrap")
    @classmethod
    def _one_kind(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Report a wrong number of kinds together with the errors within them."""
        keys = value if isinstance(value, Mapping) else {}
        given = [kind for kind in REFERENCE_KINDS if keys.get(kind) is not None]
        alone = not given and keys.get("on_version") is not None
        found = f"has {' and '.join(given)}" if given else "is empty"
        fault = q.unfit(found, "give exactly one of window, counts, first, trailing")
        try:
            reference = handler({**_DEFAULT, **keys} if alone else value)
        except ValidationError as error:
            if len(given) <= 1:
                raise
            details = [*map(_reraised, error.errors(include_url=False))]
            details.append(InitErrorDetails(type=fault, loc=(), input=value))
            raise ValidationError.from_exception_data(error.title, details) from error
        if isinstance(value, Mapping) and len(given) != 1 and not alone:
            raise fault
        return reference

    @model_validator(mode="after")
    def _restart_needs_a_stretch_that_moves(self) -> Self:
        fixed = self.window is not None or self.counts is not None
        if self.on_version is OnVersion.RESTART and fixed:
            raise q.unfit(
                "on_version: restart has no effect on a reference given as window or counts",
                "give first or trailing, or leave on_version out",
            )
        return self
