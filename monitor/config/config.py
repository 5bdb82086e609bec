"""The top level of the configuration, and constraints between its sections.

Invalid combinations are refused here, each fault at its own key. `loader` reads these
objects from a file.
"""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    PositiveInt,
    SecretStr,
    ValidationInfo,
    field_validator,
    model_validator,
)

from monitor.clock import DAY_MS, SECOND_MS
from monitor.config import quantities as q
from monitor.config.classes import LearnedNames
from monitor.config.exporter import ExporterConfig
from monitor.config.feeds import Feed, HttpFeed
from monitor.config.fields import (
    FilePath,
    Name,
    PositiveDuration,
    Section,
    Size,
    refuse,
    setting,
)
from monitor.config.forget_after import ForgetAfter, checked, longest_use
from monitor.config.forward import ForwardConfig
from monitor.config.label_sources import sources_fit
from monitor.config.model import ModelConfig
from monitor.config.sql_feed import SqlFeed
from monitor.config.window_names import (
    DEFAULT_WINDOWS,
    LONGER_WINDOW,
    WindowNames,
    auto_windows,
)

_SEED_BYTES = 8
_LEAST_SECRET = 16
"""Characters."""


class StateConfig(Section):
    """Where and how often state is saved."""

    directory: FilePath = setting("./state", "Directory of the journal and the checkpoints.")
    checkpoint_every: PositiveDuration = setting("30s", "Wall time between two checkpoints.")


class DeadLetterConfig(Section):
    """The file that rejected records are written to."""

    path: FilePath | None = setting(
        None, "Path of the file; null for dead-letter.ndjson in the state directory."
    )
    max_bytes: Size = setting("64MiB", "Maximum size of the file.")


_LONGEST_RECORD = 64 * 1024


def _is_long(secret: SecretStr) -> SecretStr:
    if len(secret.get_secret_value()) < _LEAST_SECRET:
        raise q.unfit(f"must have at least {_LEAST_SECRET} characters", "choose a longer one")
    return secret


def _fits_a_record(size: int) -> int:
    if size > _LONGEST_RECORD:
        raise q.unfit("must be at most 64KiB", "lower it")
    return size


def _apart_from_exporter(feed: Any, info: ValidationInfo) -> Any:
    exporter = info.data.get("exporter")
    if exporter is None or not isinstance(feed, HttpFeed):
        return feed
    if feed.address.port == exporter.address.port != 0:
        error = q.unfit(
            "must not use the port of the exporter",
            "choose another: feeds and exporter never share a port",
        )
        refuse([(("listen",), feed.listen, error)])
    return feed


def _to_another(forward: ForwardConfig | None, info: ValidationInfo) -> ForwardConfig | None:
    if forward is None:
        return None
    settings = {**info.data.get("models", {}), "defaults": info.data.get("defaults")}
    given = {name: one for name, one in settings.items() if one is not None}
    for name, one in given.items():
        if one.has_many_classes:
            learns = isinstance(one.classes, LearnedNames)
            has = "learns its classes" if learns else "has more than two"
            raise q.unfit(
                f"sends the counts of two classes, and {name} {has}",
                "leave it out, or send each class as a binary model of its own",
            )
    if any(one.shadow_versions for one in given.values()):
        raise q.unfit(
            "sends no counts of pairs, and a model has shadow_versions",
            "leave it out, or leave out shadow_versions and compare recorded events with compare",
        )
    own = {feed.listen for feed in info.data.get("feeds", ()) if isinstance(feed, HttpFeed)}
    if urlsplit(forward.url).netloc.rpartition("@")[2] in own:
        error = q.unfit("must not be a feed of this monitor", "give that of another monitor")
        refuse([(("to",), forward.to, error)])
    return forward


class Config(Section):
    """All settings of one monitor.

    Durations are stored as milliseconds and sizes as bytes. Python code may pass
    them as such numbers, or as text like in the file.

    Raises:
        pydantic.ValidationError: the settings are invalid; lists every error. `load_config`
            raises a `ConfigError` instead, worded for people.

    >>> config = Config(models={"fraud": {"label_timeout": "14d"}}, windows=["1h", "7d"])
    >>> config.model("fraud").label_timeout, config.accepts("spam")
    (1209600000, False)
    """

    models: Annotated[Mapping[Name, ModelConfig], AfterValidator(sources_fit)] = setting(
        {}, "The models by name. Default: every model that events name is accepted."
    )
    defaults: ModelConfig = setting(
        {}, "Settings shared by all models; a model's own keys override them."
    )
    max_models: PositiveInt = setting(
        100, "Maximum number of models where none are configured; events of others are rejected."
    )
    max_pending: PositiveInt = setting(
        20_000_000,
        "Maximum number of predictions in memory, at least 8192; above it the oldest are evicted "
        "and counted. So many labels of unknown predictions wait, too; above it the earliest are "
        "orphaned.",
    )
    max_series: PositiveInt = setting(
        50_000,
        "Maximum number of series at /metrics; above it segment values, then models, are left out "
        "there and counted. A model takes some 320 with three windows, a segment value 100.",
    )
    max_record_bytes: Annotated[Size, AfterValidator(_fits_a_record)] = setting(
        "64KiB", "Longer lines of a feed are rejected as too_large; at most 64KiB."
    )
    decoders: PositiveInt | None = setting(
        None,
        "Threads that decode the lines of files while earlier ones are counted; 1 for none besides "
        "the one that counts. Default: one for each core, up to 4; 1 without the compiled kernel.",
    )
    id_secret: Annotated[SecretStr, AfterValidator(_is_long)] | None = setting(
        None,
        "Secret for hashing ids, at least 16 characters, preferably from the "
        "environment: `${ID_SECRET}`. By default each state directory draws its own; a job on "
        "Spark has none, and takes it from here. It cannot be changed for a state that exists.",
    )
    pane: PositiveDuration = setting(
        "1m", "Step of event time by which windows advance, from 1s to 1d."
    )
    windows: WindowNames = setting(
        DEFAULT_WINDOWS,
        "Windows over which metrics are published, each a multiple of the pane; or auto: of 1h, "
        "1d, 7d and 28d those that the volume of each model fills. Where the key is missing, a "
        "model whose 7d hold fewer than 200 positives or flagged cases, or whose days scatter "
        "so widely that 7d exclude little, has 28d as well.",
        json_schema_extra={"default": [*DEFAULT_WINDOWS]},
    )
    forget_after: ForgetAfter = setting(
        "auto",
        "Event time after which a silent model is forgotten where none are configured; never, "
        "or auto: what horizon, longest window and reference need. See the README of the state.",
    )
    exporter: ExporterConfig = setting({}, "Where metrics, API and page are served.")
    feeds: tuple[Annotated[Feed, AfterValidator(_apart_from_exporter)], ...] = setting(
        (), "Where events come from.", json_schema_extra={"default": []}
    )
    forward: Annotated[ForwardConfig | None, AfterValidator(_to_another)] = setting(
        None,
        "Send what is counted to another monitor, which judges the whole; for monitors that see a "
        "part of the events each.",
    )
    state: StateConfig = setting({}, "Where and how often state is saved.")
    dead_letter: DeadLetterConfig = setting({}, "The file that rejected records are written to.")

    @classmethod
    def default(cls) -> Self:
        """Create the default configuration, which accepts any model."""
        return cls()

    @classmethod
    def without_file(cls) -> Self:
        """Create the configuration of `replay` and `diagnose` without a file.

        Like the default, but labels never time out.
        """
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
        if not SECOND_MS <= value <= DAY_MS:
            raise q.unfit("must be from 1s to 1d", "1m suits most models")
        return value

    @field_validator("windows")
    @classmethod
    def _auto_fits_pane(cls, value: Any, info: ValidationInfo) -> Any:
        pane = info.data.get("pane")
        if value == "auto" and pane is not None and not auto_windows(pane):
            raise q.unfit(
                f"needs a window that is a multiple of the pane ({q.format_duration(pane)})",
                "choose a pane that divides a week, such as 1m",
                instead=("pane",),
            )
        return value

    @field_validator("feeds")
    @classmethod
    def _feed_ports_differ(cls, value: tuple[Any, ...]) -> tuple[Any, ...]:
        ports = [feed.address.port if isinstance(feed, HttpFeed) else 0 for feed in value]
        error = q.unfit("has the port of another feed", "give each feed its own")
        refuse(
            ((i, "listen"), value[i].listen, error)
            for i, port in enumerate(ports)
            if port and port in ports[:i]
        )
        return value

    @field_validator("feeds")
    @classmethod
    def _sql_names_differ(cls, value: tuple[Any, ...]) -> tuple[Any, ...]:
        names = [feed.name if isinstance(feed, SqlFeed) else "" for feed in value]
        error = q.unfit("has the name of another sql feed", "give each its own")
        refuse(
            ((i, "name"), name, error) for i, name in enumerate(names) if name and name in names[:i]
        )
        return value

    @field_validator("forget_after")
    @classmethod
    def _forgets_nothing_in_use(cls, value: Any, info: ValidationInfo) -> Any:
        return checked(value, info.data)

    @property
    def forget_after_ms(self) -> int | None:
        """Silence after which a model is forgotten, in milliseconds; None for never.

        >>> Config(forget_after="90d").forget_after_ms == q.parse_duration("90d")
        True
        >>> Config(models={"fraud": {}}).forget_after_ms, Config.without_file().forget_after_ms
        (None, None)
        """
        if self.models or self.forget_after is None:
            return None
        least = longest_use(self.defaults, self.window_names)
        return least if self.forget_after == "auto" else self.forget_after

    @property
    def window_names(self) -> tuple[str, ...]:
        """Names of the windows, in the configured order; under `auto` of all that may be used.

        >>> Config(windows="auto").window_names
        ('1h', '1d', '7d', '28d')
        """
        return auto_windows(self.pane) if self.windows == "auto" else self.windows

    @property
    def window_lengths(self) -> dict[str, int]:
        """Length of each window in milliseconds by its name, in the configured order.

        >>> Config().window_lengths
        {'1h': 3600000, '1d': 86400000, '7d': 604800000}
        """
        return {name: q.parse_duration(name) for name in self.window_names}

    @property
    def longer_window(self) -> str | None:
        """Name of one more window, for models of little volume; None where windows are named.

        >>> Config().longer_window
        '28d'
        >>> Config(windows=["1h", "1d", "7d"]).longer_window is None
        True
        """
        return None if "windows" in self.model_fields_set else LONGER_WINDOW

    @property
    def id_seed(self) -> int | None:
        """Seed of the keys of ids, from the configured secret; None without one."""
        if self.id_secret is None:
            return None
        digest = sha256(self.id_secret.get_secret_value().encode()).digest()
        return int.from_bytes(digest[:_SEED_BYTES])

    @property
    def dead_letter_path(self) -> Path:
        """Path of the file that rejected records are written to."""
        return self.dead_letter.path or self.state.directory / "dead-letter.ndjson"

    def accepts(self, name: str) -> bool:
        """Return whether events of a model are accepted, `max_models` aside."""
        return not self.models or name in self.models

    def model(self, name: str) -> ModelConfig:
        """Return the settings of a model; the defaults where no models are configured.

        Raises:
            KeyError: models are configured, and this is not one of them.
        """
        return self.models[name] if self.models else self.defaults


def _mergeable(section: Any) -> bool:
    """Return whether a value can be a model's settings; None can: `models: {fraud: }`."""
    return section is None or isinstance(section, Mapping | ModelConfig)


def _given(section: Any) -> dict[str, Any]:
    """The keys that a section sets itself, raw or validated."""
    if isinstance(section, ModelConfig):
        return {name: getattr(section, name) for name in section.model_fields_set}
    return dict(section) if isinstance(section, Mapping) else {}
