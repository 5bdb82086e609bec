"""What can be configured: every key, its meaning, its default, and what must fit together.

What cannot work is refused here, each fault at its own place; what is left
open is decided where it is used. How a file becomes these objects is
`loader`'s affair.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    PositiveInt,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from monitor.config import quantities as q
from monitor.config.fields import (
    FilePath,
    Name,
    PositiveDuration,
    Section,
    Size,
    distinct,
    refuse,
    setting,
)
from monitor.config.model import ModelConfig
from monitor.config.servers import ExporterConfig, Feed, HttpFeed


class StateConfig(Section):
    """Where the state is kept over a restart."""

    directory: FilePath = setting("./state", "Directory of journal and checkpoints.")
    checkpoint_every: PositiveDuration = setting("30s", "Wall time between two checkpoints.")


class DeadLetterConfig(Section):
    """Where records go that could not be used."""

    path: FilePath | None = setting(None, "The file; null for one inside the state directory.")
    max_bytes: Size = setting("64MiB", "The file is kept below this size.")


_LONGEST_RECORD = 64 * 1024


def _fits_a_record(size: int) -> int:
    if size > _LONGEST_RECORD:
        raise q.unfit("must be at most 64KiB", "lower it")
    return size


def _window_name(value: Any, info: ValidationInfo) -> str:
    name = q.format_duration(value) if isinstance(value, int) else str(value)
    length, pane = q.parse_duration(name), info.data.get("pane")
    if pane is None:
        return name
    width = q.format_duration(pane)
    if length < pane:
        raise q.unfit(
            f"must be at least the pane ({width})", "raise it or lower pane", instead=("pane",)
        )
    if length % pane:
        raise q.unfit(
            f"must be a multiple of the pane ({width})", "change it or pane", instead=("pane",)
        )
    return name


def _length(window: Any) -> int | None:
    try:
        return q.parse_duration(str(window))
    except ValueError:
        return None


WindowName = Annotated[
    str,
    BeforeValidator(_window_name),
    WithJsonSchema({"type": "string", "pattern": q.DURATION_PATTERN, "examples": ["7d"]}),
]


def _apart_from_exporter(feed: Any, info: ValidationInfo) -> Any:
    exporter = info.data.get("exporter")
    if exporter is None or not isinstance(feed, HttpFeed):
        return feed
    if feed.address.port == exporter.address.port != 0:
        error = q.unfit(
            "must not have the port of the exporter",
            "give it another: reading and writing are never on one port",
        )
        refuse([(("listen",), feed.listen, error)])
    return feed


class Config(Section):
    """All settings of one monitor.

    Attributes of type duration are milliseconds, sizes are bytes; in Python they
    may be given as numbers or as the text of the file.

    Raises:
        ValidationError: pydantic's, with every fault (`load_config` words it for people).

    >>> config = Config(models={"fraud": {"label_timeout": "14d"}}, windows=["1h", "7d"])
    >>> config.model("fraud").label_timeout, config.accepts("spam")
    (1209600000, False)
    """

    models: Mapping[Name, ModelConfig] = setting(
        {}, "The models by name; with none, every model that events name is taken."
    )
    defaults: ModelConfig = setting({}, "What every model shares; a model's own keys win.")
    max_models: PositiveInt = setting(
        100, "Models taken at most where none are configured; events of others are rejected."
    )
    max_pending: PositiveInt = setting(
        20_000_000,
        "Predictions kept at most, 8192 at least; beyond it the oldest are evicted and counted.",
    )
    max_series: PositiveInt = setting(
        10_000, "Series exported at most; beyond it segment values are left out."
    )
    max_record_bytes: Annotated[Size, AfterValidator(_fits_a_record)] = setting(
        "64KiB", "A longer line of a feed is rejected as too_large; at most 64KiB."
    )
    pane: PositiveDuration = setting(
        "1m", "The step of event time in which windows move, from 1s to 1d."
    )
    windows: Annotated[
        tuple[WindowName, ...], distinct(_length, "is as long as another window")
    ] = setting(
        ("1h", "1d", "7d"),
        "Windows over which every metric is published, each a multiple of the pane.",
        json_schema_extra={"default": ["1h", "1d", "7d"], "uniqueItems": True},
        min_length=1,
    )
    exporter: ExporterConfig = setting({}, "Where results can be read.")
    feeds: tuple[Annotated[Feed, AfterValidator(_apart_from_exporter)], ...] = setting(
        (), "Where events come from.", json_schema_extra={"default": []}
    )
    state: StateConfig = setting({}, "Where the state is kept over a restart.")
    dead_letter: DeadLetterConfig = setting({}, "Where records go that could not be used.")

    @classmethod
    def default(cls) -> Self:
        """All defaults: any model is taken."""
        return cls()

    @classmethod
    def without_file(cls) -> Self:
        """What `replay` and `diagnose` use without a file: the defaults, labels never time out."""
        return cls(defaults=ModelConfig(label_timeout=None))

    @model_validator(mode="before")
    @classmethod
    def _merge_defaults(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or not isinstance(data.get("models"), Mapping):
            return data
        shared = _given(data.get("defaults"))
        models = {
            name: {**shared, **_given(own)} if _mergeable(own) else own
            for name, own in data["models"].items()
        }
        return {**data, "models": models}

    @field_validator("pane")
    @classmethod
    def _pane_in_range(cls, value: int) -> int:
        if not q.SECOND_MS <= value <= q.DAY_MS:
            raise q.unfit("must be from 1s to 1d", "1m suits most")
        return value

    @field_validator("feeds")
    @classmethod
    def _feed_ports_differ(cls, value: tuple[Any, ...]) -> tuple[Any, ...]:
        ports = [feed.address.port if isinstance(feed, HttpFeed) else 0 for feed in value]
        error = q.unfit("has the port of another feed", "give each its own")
        refuse(
            ((i, "listen"), value[i].listen, error)
            for i, port in enumerate(ports)
            if port and port in ports[:i]
        )
        return value

    @property
    def window_lengths(self) -> dict[str, int]:
        """Milliseconds of each window by its name, in the configured order.

        >>> Config().window_lengths
        {'1h': 3600000, '1d': 86400000, '7d': 604800000}
        """
        return {name: q.parse_duration(name) for name in self.windows}

    @property
    def dead_letter_path(self) -> Path:
        """The file for records that could not be used."""
        return self.dead_letter.path or self.state.directory / "dead-letter.ndjson"

    def accepts(self, name: str) -> bool:
        """Whether events of this model are taken, the cap on models left aside."""
        return not self.models or name in self.models

    def model(self, name: str) -> ModelConfig:
        """Settings of one model; the defaults for any name where no models are configured.

        Raises:
            KeyError: models are configured, and this is none of them.
        """
        return self.models[name] if self.models else self.defaults


def _mergeable(section: Any) -> bool:
    """Whether it can be a model's settings; nothing at all is: `models: {fraud: }`."""
    return section is None or isinstance(section, Mapping | ModelConfig)


def _given(section: Any) -> dict[str, Any]:
    """The keys that a section sets itself, be it raw or checked already."""
    if isinstance(section, ModelConfig):
        return {name: getattr(section, name) for name in section.model_fields_set}
    return dict(section) if isinstance(section, Mapping) else {}
