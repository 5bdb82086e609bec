"""One model's settings: how its labels come, and what is counted and compared.

Which settings fit together within a model is decided here, each fault at its
own key; what concerns several models or the feeds is `schema`'s affair.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    ModelWrapValidatorHandler,
    NonNegativeInt,
    PositiveInt,
    Tag,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from monitor.config import quantities as q
from monitor.config.fields import (
    Distinct,
    Duration,
    EndlessDuration,
    EpochTime,
    PositiveDuration,
    Section,
    SegmentKey,
    distinct,
    setting,
)

SHORTEST_DEFAULT_HORIZON_MS = 2 * q.DAY_MS
"""A horizon that is not given is at least this long, however short the label timeout."""


class Labelling(StrEnum):
    """How labels come, which decides what can be known from them."""

    COMPLETE = "complete"
    """Every mature prediction gets a label, or misses it at random."""
    SAMPLED = "sampled"
    """Labels are a random sample within predicted positives and within predicted negatives."""
    WEIGHTED = "weighted"
    """Each label carries the probability with which it was asked for."""
    NEGATIVES_BY_TIMEOUT = "negatives_by_timeout"
    """Only positives are reported; silence past the label timeout is a negative."""
    FLAGGED_ONLY = "flagged_only"
    """Only predicted positives are ever labelled."""


class WindowClock(StrEnum):
    """Which time puts an outcome into a window."""

    PREDICTION = "prediction"
    """The time of its prediction, what every conclusion rests on."""
    LABEL = "label"
    """The time of its label; for those who want it, never used to find changes."""


class AutoMaturity(Section):
    """The age at which windows end is learned from the label delays seen."""

    share: float = setting(
        0.99,
        "Windows end at the age by which this share of the labels that ever come have come, "
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
"""`AutoMaturity`, or a given age in milliseconds."""


class ReferenceWindow(Section):
    """A stretch of event time, [end - length, end)."""

    length: PositiveDuration = Field(description="How long it is.")
    end: EpochTime = Field(description="First moment after it: a date, or a time with its zone.")

    @property
    def open(self) -> int:
        """Its first moment, epoch milliseconds."""
        return self.end - self.length


class ReferenceCounts(Section):
    """Outcomes counted elsewhere, such as on the test set."""

    tp: NonNegativeInt = Field(description="True positives.")
    fp: NonNegativeInt = Field(description="False positives.")
    fn: NonNegativeInt = Field(description="False negatives.")
    tn: NonNegativeInt = Field(description="True negatives.")

    @model_validator(mode="after")
    def _both_classes(self) -> Self:
        if self.tp + self.fn == 0 or self.fp + self.tn == 0:
            raise q.unfit(
                "must hold actual positives and actual negatives",
                "tp + fn and fp + tn must both be more than 0",
            )
        return self


def _again(detail: ErrorDetails) -> InitErrorDetails:
    """A fault that was found, ready to be raised together with others."""
    kind: str | PydanticCustomError = detail["type"]
    context = detail.get("ctx", {})
    if kind == "unfit":
        kind = PydanticCustomError("unfit", "{what}; {allowed}", context)
    return InitErrorDetails(type=kind, loc=detail["loc"], input=detail["input"], ctx=context)


class Reference(Section):
    """What "before" means; exactly one key is given."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})

    window: ReferenceWindow | None = setting(None, "A given stretch of event time.")
    counts: ReferenceCounts | None = setting(None, "Counts from elsewhere.")
    first: PositiveDuration | None = setting(
        None, "As much event time from the first prediction of the model on."
    )
    trailing: PositiveDuration | None = setting(
        None, "As much event time just before the window that is judged."
    )

    @model_validator(mode="wrap")
    @classmethod
    def _exactly_one(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """How many are given is said beside what is wrong within them."""
        keys = value if isinstance(value, Mapping) else {}
        given = [name for name in cls.model_fields if keys.get(name) is not None]
        found = f"holds {' and '.join(given)}" if given else "is empty"
        fault = q.unfit(found, "give exactly one of window, counts, first, trailing")
        try:
            made = handler(value)
        except ValidationError as error:
            if len(given) <= 1:
                raise
            details = [*map(_again, error.errors(include_url=False))]
            details.append(InitErrorDetails(type=fault, loc=(), input=value))
            raise ValidationError.from_exception_data(error.title, details) from error
        if isinstance(value, Mapping) and len(given) != 1:
            raise fault
        return made


class RiverDetectorConfig(Section):
    """A drift detector of the library river, instead of the built-in one."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")] = Field(
        description="A class of river.drift: ADWIN, KSWIN, PageHinkley, and others."
    )
    options: Mapping[str, bool | int | float | str] = setting(
        {}, "Its arguments, such as {delta: 0.002}; its defaults where they are left out."
    )


_Ratio = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Objective(Section):
    """What the model is meant to reach, per metric; alerts and the page compare with it."""

    precision: _Ratio | None = setting(None, "Precision of at least this.")
    balanced_precision: _Ratio | None = setting(None, "Balanced precision of at least this.")
    recall: _Ratio | None = setting(None, "Recall of at least this.")
    false_positive_rate: _Ratio | None = setting(None, "False-positive rate of at most this.")


def _number(ratio: Any) -> float | None:
    try:
        return float(ratio)
    except (TypeError, ValueError):
        return None


class ModelConfig(Section):
    """One model: how its labels come, and what is counted and compared."""

    threshold: float | None = setting(
        None,
        "A score from this on is a positive prediction; needed where events carry a score alone.",
        ge=0,
        le=1,
        allow_inf_nan=False,
    )
    segments: Annotated[tuple[SegmentKey, ...], Distinct] = setting(
        (),
        "Segment keys to keep, each a breakdown of its own; others are dropped.",
        json_schema_extra={"default": [], "uniqueItems": True},
    )
    max_segment_values: PositiveInt = setting(
        50, 'Values kept for each segment key; later ones are counted as "__other__".'
    )
    labelling: Labelling = setting(
        "complete",
        "How labels come. complete: every mature prediction gets one, or misses it at random. "
        "sampled: a random sample within predicted positives and within predicted negatives. "
        "weighted: each label carries its sampling_probability. negatives_by_timeout: only "
        "positives are reported, silence past label_timeout is a negative. flagged_only: only "
        "predicted positives are ever labelled, so that precision alone can be known.",
    )
    label_timeout: EndlessDuration = setting(
        "30d", "A label this much later than its prediction does not count; none for no limit."
    )
    maturity: Maturity = setting(
        "auto",
        "The age of predictions at which windows end, since labels come late: auto, a duration, "
        "or limits for auto.",
        json_schema_extra=lambda schema: schema.update(
            default="auto", oneOf=[{"const": "auto"}, *schema["oneOf"]]
        ),
    )
    horizon: PositiveDuration | None = setting(
        None,
        "Event time for which a matched prediction waits for revisions, and an early label for "
        "its prediction. Left out: the label timeout, at least 2d.",
    )
    clock: WindowClock = setting(
        "prediction",
        "Which time puts an outcome into a window: that of its prediction, or of its label "
        "(never used to decide that something changed).",
    )
    class_ratios: Annotated[
        tuple[Annotated[float, Field(gt=0, allow_inf_nan=False)], ...],
        distinct(_number, "is listed twice"),
    ] = setting(
        (1.0,),
        "Class ratios r0 = positives / negatives at which precision is also published; that of "
        "the reference always is.",
        json_schema_extra={"default": [1], "uniqueItems": True},
    )
    reference: Reference = setting({"first": "7d"}, 'What "before" means.')
    objective: Objective = setting({}, "What the model is meant to reach.")
    false_pages_per_year: float = setting(
        1.0,
        "False alarms a year that are accepted, for the whole model with all its series.",
        gt=0,
        allow_inf_nan=False,
    )

    river_detector: RiverDetectorConfig | None = setting(
        None,
        "Page by a detector of river, fed with labels, with predictions given an actual positive "
        "and with predictions given an actual negative, instead of the built-in one; it promises "
        "no false_pages_per_year, and begins anew after a restart. Needs river installed.",
    )

    @field_validator("label_timeout")
    @classmethod
    def _timeout_makes_negatives(cls, value: int | None, info: ValidationInfo) -> int | None:
        if value is None and info.data.get("labelling") == Labelling.NEGATIVES_BY_TIMEOUT:
            raise q.unfit(
                "must end under labelling negatives_by_timeout, where silence past it is a "
                "negative",
                "write it like 30d",
            )
        return value

    @field_validator("maturity")
    @classmethod
    def _mature_after_timeout(
        cls, value: AutoMaturity | int, info: ValidationInfo
    ) -> AutoMaturity | int:
        timeout = info.data.get("label_timeout")
        if info.data.get("labelling") != Labelling.NEGATIVES_BY_TIMEOUT or timeout is None:
            return value
        latest = value.max if isinstance(value, AutoMaturity) else value
        if latest is not None and latest < timeout:
            raise q.unfit(
                f"must be at least the label_timeout ({q.format_duration(timeout)}) under "
                "labelling negatives_by_timeout",
                "raise it or leave it out",
            )
        return value

    @field_validator("clock")
    @classmethod
    def _clock_fits_labelling(cls, value: WindowClock, info: ValidationInfo) -> WindowClock:
        labelling = info.data.get("labelling")
        counts_predictions = labelling not in (None, Labelling.COMPLETE, Labelling.FLAGGED_ONLY)
        if value is WindowClock.LABEL and counts_predictions:
            raise q.unfit(
                f"must be prediction under labelling {labelling}, which sets labels against the "
                "predictions of the same time",
                "leave it out",
            )
        return value

    @field_validator("horizon")
    @classmethod
    def _horizon_past_maturity(cls, value: int | None, info: ValidationInfo) -> int | None:
        maturity = info.data.get("maturity", 0)
        least = maturity.min if isinstance(maturity, AutoMaturity) else maturity
        if value is not None and value < least:
            raise q.unfit(
                f"must be at least the maturity ({q.format_duration(least)})",
                "raise it, or windows end before their revisions can count",
            )
        return value

    @property
    def horizon_ms(self) -> int | None:
        """The horizon in force, milliseconds; None where it is endless.

        >>> ModelConfig(label_timeout="6h").horizon_ms == q.parse_duration("2d")
        True
        """
        if self.horizon is not None or self.label_timeout is None:
            return self.horizon
        return max(self.label_timeout, SHORTEST_DEFAULT_HORIZON_MS)
