"""What decoding must know of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self

MAX_RECORD_BYTES = 64 * 1024
"""A longer record is `too_large`."""
MAX_NAME_BYTES = 256
"""A longer name of a model, a version or a segment value, in UTF-8, is `bad_value`."""
DEFAULT_MODEL = "default"
"""Name of the model where nothing is configured and an event names none."""


@dataclass(frozen=True, slots=True)
class ModelFields:
    """What decoding must know of one model.

    Attributes:
        threshold: a score at or above it is a positive prediction, where an
            event carries no `prediction`; None where an event must carry one.
        segments: keys of `segment` to keep, in the order of `Group.values`.
    """

    threshold: float | None = None
    segments: tuple[str, ...] = ()


class _Model(Protocol):
    @property
    def threshold(self) -> float | None: ...
    @property
    def segments(self) -> tuple[str, ...]: ...


class _Config(Protocol):
    """What is needed of `monitor.config.Config`, which stands to the right in the flow."""

    @property
    def models(self) -> Mapping[str, _Model]: ...
    @property
    def defaults(self) -> _Model: ...
    @property
    def max_record_bytes(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeSettings:
    """Which models are taken, what is kept of them, and how late is too late.

    Attributes:
        models: the configured models by name; None takes any model.
        default: what any model keeps, where `models` is None.
        latest_ms: an event time beyond it (epoch milliseconds) is
            `timestamp_out_of_range`; None for no such bound.
        max_record_bytes: a longer line is `too_large`; at most MAX_RECORD_BYTES.
    """

    models: Mapping[str, ModelFields] | None = None
    default: ModelFields = field(default_factory=ModelFields)
    latest_ms: int | None = None
    max_record_bytes: int = MAX_RECORD_BYTES

    @classmethod
    def from_config(cls, config: _Config, *, latest_ms: int | None = None) -> Self:
        """What a configuration says; without models in it, any model is taken."""
        models = {name: _fields(model) for name, model in config.models.items()}
        return cls(
            models=models or None,
            default=_fields(config.defaults),
            latest_ms=latest_ms,
            max_record_bytes=config.max_record_bytes,
        )

    def fields_of(self, model: str) -> ModelFields | None:
        """What is kept of a model; None where it is unknown.

        >>> DecodeSettings(models={"fraud": ModelFields(.5)}).fields_of("spam") is None
        True
        >>> DecodeSettings().fields_of("spam")
        ModelFields(threshold=None, segments=())
        """
        return self.default if self.models is None else self.models.get(model)

    @property
    def only_model(self) -> str | None:
        """The model of an event that names none; None where it has to name one."""
        if self.models is None:
            return DEFAULT_MODEL
        return next(iter(self.models)) if len(self.models) == 1 else None

    @property
    def segment_keys(self) -> tuple[str, ...]:
        """Every key that some model keeps, each once."""
        models = [self.default] if self.models is None else self.models.values()
        return tuple(dict.fromkeys(key for model in models for key in model.segments))


def _fields(model: _Model) -> ModelFields:
    return ModelFields(threshold=model.threshold, segments=tuple(model.segments))
