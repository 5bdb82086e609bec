"""The settings that decoding reads from the configuration."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self

from monitor.config.classes import LearnedNames, are_many, are_named
from monitor.events.keys import PUBLIC_SEED
from monitor.feeds.decode.id_texts import IdTexts

MAX_RECORD_BYTES = 64 * 1024
"""Bytes; a longer record is `too_large`."""
MAX_NAME_BYTES = 256
"""Bytes of UTF-8; a longer name of a model, a version or a segment value is `bad_value`."""
NAME_LIMIT = f"at most {MAX_NAME_BYTES} bytes of UTF-8 without NUL"
"""What a model, a version, a segment value or a source has to be, in words."""
DEFAULT_MODEL = "default"
"""Name of the model of an event that names none, if no model is configured."""


@dataclass(frozen=True, slots=True)
class ModelFields:
    """The settings of one model for decoding.

    Attributes:
        threshold: a score at or above it is a positive prediction, if an event has no
            `prediction`; None if every event needs one.
        segments: keys of `segment` to count by, in the order of `Group.values`.
        classes: names of the classes, listed or to be learned; none where they are 0 and 1.
    """

    threshold: float | None = None
    segments: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()


class _Model(Protocol):
    @property
    def threshold(self) -> float | None: ...
    @property
    def segments(self) -> tuple[str, ...]: ...
    @property
    def classes(self) -> tuple[str, ...]: ...


class _Config(Protocol):
    """The attributes of `monitor.config.Config` that decoding reads."""

    @property
    def models(self) -> Mapping[str, _Model]: ...
    @property
    def defaults(self) -> _Model: ...
    @property
    def max_record_bytes(self) -> int: ...
    @property
    def id_seed(self) -> int | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeSettings:
    """The accepted models and the bounds of a record.

    Attributes:
        models: the configured models by name; None accepts any model.
        default: the settings of every model, if `models` is None.
        latest_ms: an event time beyond it (epoch milliseconds) is
            `timestamp_out_of_range`; None for no bound.
        max_record_bytes: a longer line is `too_large`; at most MAX_RECORD_BYTES.
        id_seed: seed of the keys of ids.
        id_texts: notes the texts of some ids; None to note none.
    """

    models: Mapping[str, ModelFields] | None = None
    default: ModelFields = field(default_factory=ModelFields)
    latest_ms: int | None = None
    max_record_bytes: int = MAX_RECORD_BYTES
    id_seed: int = PUBLIC_SEED
    id_texts: IdTexts | None = None

    @classmethod
    def from_config(
        cls, config: _Config, *, latest_ms: int | None = None, id_seed: int = PUBLIC_SEED
    ) -> Self:
        """Read the settings from a configuration; one without models accepts any model.

        Args:
            config: the configuration.
            latest_ms: the latest accepted event time, epoch milliseconds; None for no bound.
            id_seed: seed of the keys of ids where the configuration has no `id_secret`.
        """
        models = {name: _fields(model) for name, model in config.models.items()}
        return cls(
            models=models or None,
            default=_fields(config.defaults),
            latest_ms=latest_ms,
            max_record_bytes=config.max_record_bytes,
            id_seed=id_seed if config.id_seed is None else config.id_seed,
        )

    def fields_of(self, model: str) -> ModelFields | None:
        """Return the settings of a model; None if it is not configured.

        >>> DecodeSettings(models={"fraud": ModelFields(.5)}).fields_of("spam") is None
        True
        >>> DecodeSettings().fields_of("spam")
        ModelFields(threshold=None, segments=(), classes=())
        """
        return self.default if self.models is None else self.models.get(model)

    @property
    def only_model(self) -> str | None:
        """The model of an event that names none; None if an event has to name one."""
        if self.models is None:
            return DEFAULT_MODEL
        return next(iter(self.models)) if len(self.models) == 1 else None

    @property
    def segment_keys(self) -> tuple[str, ...]:
        """The segment keys of all models, each once."""
        return tuple(dict.fromkeys(key for model in self._all for key in model.segments))

    @property
    def learns_classes(self) -> bool:
        """Whether some model learns the names of its classes."""
        return any(isinstance(model.classes, LearnedNames) for model in self._all)

    @property
    def has_class_names(self) -> bool:
        """Whether some model's classes have names, listed or learned."""
        return any(are_named(model.classes) for model in self._all)

    @property
    def has_two_classes(self) -> bool:
        """Whether some model has two classes, so that 0, 1, false and true may label its cases."""
        return any(not are_many(model.classes) for model in self._all)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names that are listed for the classes of all models, each once."""
        return tuple(dict.fromkeys(name for model in self._all for name in model.classes))

    @property
    def _all(self) -> Collection[ModelFields]:
        return [self.default] if self.models is None else self.models.values()


def _fields(model: _Model) -> ModelFields:
    return ModelFields(model.threshold, tuple(model.segments), model.classes)
