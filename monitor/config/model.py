"""Settings of one model, and which of them fit together.

`config` validates what concerns several models or the feeds.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PositiveInt, ValidationInfo, field_validator

from monitor.clock import DAY_MS
from monitor.config import quantities as q
from monitor.config.classes import ClassNames, are_many, are_named, misfit, number_of_classes_fits
from monitor.config.fields import (
    Distinct,
    EndlessDuration,
    PositiveDuration,
    Section,
    SegmentKey,
    distinct,
    setting,
)
from monitor.config.label_sources import LabelSources
from monitor.config.labelling import (
    AutoMaturity,
    LabelErrorsSetting,
    Labelling,
    Maturity,
    WindowClock,
)
from monitor.config.reference import Reference

_NO_VERSIONS = ("__missing__", "__other__")
"""What predictions without a version, and those of versions beyond the most, are counted by."""
_VERSION = "version"
"""The segment key that stands for the version of a prediction."""
SHORTEST_DEFAULT_HORIZON_MS = 2 * DAY_MS
"""The default horizon is at least this long, however short the label timeout."""


class RiverDetectorConfig(Section):
    """A drift detector of the library river, used instead of the built-in one."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")] = Field(
        description="A class of river.drift, such as ADWIN, KSWIN or PageHinkley."
    )
    options: Mapping[str, bool | int | float | str] = setting(
        {}, "Its arguments, such as {delta: 0.002}; river's defaults for the others."
    )


_Ratio = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Objective(Section):
    """Targets of a model, by metric; alerts and the page compare with them."""

    precision: _Ratio | None = setting(None, "Precision of at least this.")
    balanced_precision: _Ratio | None = setting(None, "Balanced precision of at least this.")
    recall: _Ratio | None = setting(None, "Recall of at least this.")
    false_positive_rate: _Ratio | None = setting(None, "False-positive rate of at most this.")


def _number(ratio: Any) -> float | None:
    try:
        return float(ratio)
    except (TypeError, ValueError):
        return None


def _or_audit(schema: dict[str, Any]) -> None:
    rates = {"$ref": schema.pop("$ref")}
    schema.update(default={}, anyOf=[{"const": "audit"}, rates])


def _shadow_pattern(text: str) -> str:
    if text in _NO_VERSIONS:
        raise q.unfit(
            "names no version: predictions without one, and those of many together, are counted "
            "by it",
            "name the versions that decide nothing, such as '*-shadow'",
        )
    if not text.strip("*? \t\n"):
        raise q.unfit(
            "matches versions whatever their names, so that none would decide",
            "name those that decide nothing, such as '*-shadow'",
        )
    return text


_ShadowPattern = Annotated[str, Field(min_length=1), AfterValidator(_shadow_pattern)]


class ModelConfig(Section):
    """Settings of one model."""

    threshold: float | None = setting(
        None,
        "Scores at or above this are positive predictions. Required where events carry a score "
        "and no prediction.",
        ge=0,
        le=1,
        allow_inf_nan=False,
    )
    segments: Annotated[tuple[SegmentKey, ...], Distinct] = setting(
        (),
        "Segment keys to break results down by, one at a time; other keys are ignored.",
        json_schema_extra={"default": [], "uniqueItems": True},
    )
    max_segment_values: PositiveInt = setting(
        50,
        'Maximum number of values per segment key; later values are counted as "__other__". A '
        "later version takes the place of one that ended so long ago that none of its labels may "
        "come.",
    )
    shadow_versions: Annotated[tuple[_ShadowPattern, ...], Distinct] = setting(
        (),
        "Versions that score the ids of others and decide nothing, by name or pattern, such as "
        '"*-shadow". Their predictions are no duplicates and count in no window; '
        "they are compared pair by pair with the version that decided, and with each other. "
        "Needs segments: [version]; cannot be forwarded.",
        json_schema_extra={"default": [], "uniqueItems": True},
    )
    labelling: Labelling = setting(
        "complete",
        "How labels come. complete: every mature prediction gets one, or misses it at random. "
        "sampled: labels are a random sample within predicted positives and within predicted "
        "negatives. weighted: each label carries its sampling_probability. negatives_by_timeout: "
        "only positives are reported; a prediction without a label past label_timeout is "
        "negative. flagged_only: only predicted positives are ever labelled, so only precision "
        "is identifiable.",
    )
    label_errors: LabelErrorsSetting = setting(
        {},
        "How often labels are wrong, under labelling complete: rates, or audit, to learn them from "
        "labels with audit: true. Metrics, verdicts, causes and the detector by days are corrected "
        "for it; counts stay as labelled.",
        json_schema_extra=_or_audit,
    )
    label_sources: LabelSources = setting(
        {}, "Which label counts where several sources label a case: labels with `source`."
    )
    label_timeout: EndlessDuration = setting(
        "30d",
        "Labels that come later than this after their prediction do not count; none for no limit.",
    )
    maturity: Maturity = setting(
        "auto",
        "Age of predictions at which windows end, because labels come late: auto, a duration, "
        "or limits for auto.",
        json_schema_extra=lambda schema: schema.update(
            default="auto", oneOf=[{"const": "auto"}, *schema["oneOf"]]
        ),
    )
    horizon: PositiveDuration | None = setting(
        None,
        "Event time for which a matched prediction waits for revisions of its label. An early "
        "label waits for the longest horizon of any model. Default: label_timeout, at least 2d.",
    )
    clock: WindowClock = setting(
        "prediction",
        "Time that assigns an outcome to a window: that of its prediction, or of its label. "
        "Verdicts and detectors always use the prediction's.",
    )
    class_ratios: Annotated[
        tuple[Annotated[float, Field(gt=0, allow_inf_nan=False)], ...],
        distinct(_number, "is listed twice"),
    ] = setting(
        (1.0,),
        "Class ratios r0 = positives / negatives at which precision is published, in addition to "
        "the reference's own.",
        json_schema_extra={"default": [1], "uniqueItems": True},
    )
    reference: Reference = setting(
        {"first": "28d"},
        "The baseline that windows are compared with: one of window, counts, first and trailing.",
    )
    objective: Objective = setting({}, "Targets of the model.")
    false_pages_per_year: float = setting(
        1.0,
        "Accepted number of false alarms per year, for the whole model with all its series.",
        gt=0,
        allow_inf_nan=False,
    )
    river_detector: RiverDetectorConfig | None = setting(
        None,
        "Detect degradation with a detector of river instead of the built-in one. It is updated "
        "with labels, with predictions of actual positives and with predictions of actual "
        "negatives. It does not honour false_pages_per_year and starts afresh after a restart. "
        "Requires river.",
    )

    classes: ClassNames = setting(
        (),
        "Names of the model's classes, 2 to 50, as prediction and label of events write them. Of "
        "two the second is the positive class. With more, everything is counted class by class. "
        "With learned they are the first 49 that are predicted; all others count as __other__. "
        "Default: the classes are 0 and 1.",
        json_schema_extra={"default": []},
    )

    @field_validator("shadow_versions")
    @classmethod
    def _shadows_are_versions(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if value and _VERSION not in info.data.get("segments", (_VERSION,)):
            raise q.unfit(
                f"needs {_VERSION} among segments, by which versions are counted apart",
                f"add it: segments: [{_VERSION}]",
            )
        return value

    @field_validator("label_errors")
    @classmethod
    def _errors_of_complete_labels(
        cls, value: LabelErrorsSetting, info: ValidationInfo
    ) -> LabelErrorsSetting:
        labelling = info.data.get("labelling", Labelling.COMPLETE)
        if labelling != Labelling.COMPLETE and value.any:
            raise q.unfit(
                f"cannot be corrected under labelling {labelling}",
                "leave it out, or set labelling to complete",
            )
        return value

    @field_validator("river_detector")
    @classmethod
    def _river_reads_labels(
        cls, value: RiverDetectorConfig | None, info: ValidationInfo
    ) -> RiverDetectorConfig | None:
        errors = info.data.get("label_errors")
        if value is not None and errors and errors.any:
            raise q.unfit(
                "reads labels one by one, which label_errors cannot correct",
                "leave out one of the two",
            )
        return value

    @field_validator("label_timeout")
    @classmethod
    def _timeout_makes_negatives(cls, value: int | None, info: ValidationInfo) -> int | None:
        if value is None and info.data.get("labelling") == Labelling.NEGATIVES_BY_TIMEOUT:
            raise q.unfit(
                "must be finite under labelling negatives_by_timeout, which counts predictions "
                "without a label past it as negatives",
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
                f"must be prediction under labelling {labelling}, which compares labels with the "
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
                "raise it, or revisions cannot reach the windows",
            )
        return value

    @field_validator("classes")
    @classmethod
    def _classes_fit(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        value = number_of_classes_fits(value)
        defaults = {name: cls.model_fields[name].default for name in info.data}
        unfit = misfit(value, info.data, defaults) if are_many(value) else None
        if unfit is not None:
            raise unfit
        return value

    @property
    def has_many_classes(self) -> bool:
        """Whether the model has more than two classes, and is counted class by class."""
        return are_many(self.classes)

    @property
    def has_class_names(self) -> bool:
        """Whether the model's classes have names, listed or learned, other than 0 and 1."""
        return are_named(self.classes)

    def is_shadow(self, version: str) -> bool:
        """Return whether predictions of a version decide nothing.

        Args:
            version: its name.

        >>> ModelConfig(segments=["version"], shadow_versions=["*-shadow"]).is_shadow("7-shadow")
        True
        """
        return any(fnmatchcase(version, pattern) for pattern in self.shadow_versions)

    def with_segments(self, keys: tuple[str, ...]) -> "ModelConfig":
        """Return these settings with other segment keys; without shadow versions, if they need it.

        Args:
            keys: the segment keys.
        """
        update: dict[str, Any] = {"segments": keys}
        if _VERSION not in keys:
            update["shadow_versions"] = ()
        return self.model_copy(update=update)

    @property
    def horizon_ms(self) -> int | None:
        """The effective horizon in milliseconds; None where it is endless.

        >>> ModelConfig(label_timeout="6h").horizon_ms == q.parse_duration("2d")
        True
        """
        if self.horizon is not None or self.label_timeout is None:
            return self.horizon
        return max(self.label_timeout, SHORTEST_DEFAULT_HORIZON_MS)
