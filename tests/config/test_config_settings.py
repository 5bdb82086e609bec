"""The settings as Python objects: their defaults, computed values and constraints."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import monitor.config
from monitor.config import (
    AutoMaturity,
    Config,
    HttpFeed,
    KafkaFeed,
    Labelling,
    ModelConfig,
    Reference,
    WindowClock,
)
from monitor.config.labelling import LearnedLabelErrors
from monitor.config.quantities import parse_duration

HOUR = 3_600_000
DAY = 24 * HOUR
COUNTS = {"tp": 1, "fp": 2, "fn": 3, "tn": 4}


def test_the_defaults_are_those_of_the_contract() -> None:
    config = Config()
    assert config == Config.default()
    assert config.models == {}
    assert (config.pane, config.windows) == (60_000, ("1h", "1d", "7d"))
    assert config.window_lengths == {"1h": HOUR, "1d": DAY, "7d": 7 * DAY}
    assert config.feeds == ()
    assert (config.state.directory, config.state.checkpoint_every) == (Path("state"), 30_000)
    assert config.exporter.address == ("127.0.0.1", 9108)
    assert config.dead_letter_path == Path("state/dead-letter.ndjson")
    assert config.dead_letter.max_bytes == 64 << 20
    assert (config.max_models, config.max_pending, config.max_series) == (100, 20_000_000, 50_000)


def test_the_defaults_of_a_model_are_those_of_the_contract() -> None:
    model = ModelConfig()
    assert model.threshold is None
    assert model.segments == ()
    assert model.max_segment_values == 50
    assert model.labelling is Labelling.COMPLETE
    assert model.label_timeout == 30 * DAY
    assert model.maturity == AutoMaturity(share=0.99, min=0, max=None)
    assert model.horizon is None
    assert model.clock is WindowClock.PREDICTION
    assert model.class_ratios == (1.0,)
    assert model.reference == Reference(first=28 * DAY)
    assert model.objective.precision is None
    assert model.false_pages_per_year == 1


def test_without_a_file_labels_never_time_out_and_the_rest_is_default() -> None:
    config = Config.without_file()
    assert config.model("any").label_timeout is None
    assert config.model("any").horizon_ms is None
    assert config == Config(defaults={"label_timeout": None})


@pytest.mark.parametrize(
    ("settings", "horizon"),
    [
        ({}, 30 * DAY),
        ({"label_timeout": "14d"}, 14 * DAY),
        ({"label_timeout": "1h"}, 2 * DAY),
        ({"label_timeout": None}, None),
        ({"label_timeout": "14d", "horizon": "60d"}, 60 * DAY),
        ({"label_timeout": "14d", "horizon": "3d"}, 3 * DAY),
        ({"label_timeout": None, "horizon": "3d"}, 3 * DAY),
    ],
)
def test_the_horizon_is_the_label_timeout_and_at_least_two_days(
    settings: dict[str, Any], horizon: int | None
) -> None:
    assert ModelConfig(**settings).horizon_ms == horizon


def test_configured_models_are_the_only_ones() -> None:
    config = Config(models={"fraud": {}})
    assert config.accepts("fraud")
    assert not config.accepts("spam")
    with pytest.raises(KeyError):
        config.model("spam")


def test_durations_may_be_given_as_milliseconds_and_sizes_as_bytes() -> None:
    config = Config(
        pane=1000,
        windows=(60_000, "90s"),
        dead_letter={"max_bytes": 4096},
        models={"fraud": ModelConfig(label_timeout=5 * DAY, maturity=0)},
    )
    assert config.window_lengths == {"1m": 60_000, "90s": 90_000}
    assert config.dead_letter.max_bytes == 4096
    assert config.model("fraud").maturity == 0


def test_models_given_as_objects_take_what_is_shared_where_they_set_nothing() -> None:
    config = Config(
        defaults=ModelConfig(threshold=0.3, label_timeout="7d"),
        models={"fraud": ModelConfig(label_timeout="14d")},
    )
    assert config.model("fraud").threshold == 0.3
    assert config.model("fraud").label_timeout == 14 * DAY


def test_settings_are_frozen() -> None:
    config = Config()
    with pytest.raises(ValidationError, match="frozen"):
        config.pane = 5  # type: ignore[misc]
    with pytest.raises(ValidationError, match="frozen"):
        config.defaults.threshold = 0.5  # type: ignore[misc]


def test_what_is_dumped_is_a_file_that_gives_the_same_settings() -> None:
    config = Config(
        models={
            "fraud": {
                "label_timeout": "none",
                "maturity": {"share": 0.9, "max": "3d"},
                "reference": {"window": {"length": "7d", "end": "2026-11-01T12:30:00+01:00"}},
            },
            "spam": {"maturity": "12h", "reference": {"counts": COUNTS}},
        },
        feeds=[{"type": "http"}, {"type": "file", "path": "a.ndjson"}],
    )
    dumped = config.model_dump(mode="json")
    assert dumped["models"]["fraud"]["label_timeout"] == "none"
    assert dumped["models"]["fraud"]["reference"]["window"]["end"] == "2026-11-01T11:30:00Z"
    assert dumped["models"]["spam"]["maturity"] == "12h"
    assert dumped["dead_letter"]["max_bytes"] == "64MiB"
    assert Config.model_validate(dumped) == config


def test_a_reference_window_ends_where_it_says_and_begins_its_length_before() -> None:
    reference = Reference(window={"length": "7d", "end": "2026-11-08"})
    assert reference.window is not None
    assert reference.window.end - reference.window.open == 7 * DAY
    assert Reference(window={"length": 1, "end": 2}).window is not None


def test_the_dead_letter_file_may_stand_elsewhere() -> None:
    assert Config(state={"directory": "/data"}).dead_letter_path.parent == Path("/data")
    assert Config(dead_letter={"path": "/bad/x"}).dead_letter_path == Path("/bad/x")


def test_addresses_have_hosts_and_ports() -> None:
    assert HttpFeed(type="http", listen="[::1]:80").address == ("::1", 80)
    assert HttpFeed(type="http").address == ("127.0.0.1", 9109)


def test_ports_that_the_system_chooses_never_collide() -> None:
    listen = {"type": "http", "listen": "127.0.0.1:0"}
    config = Config(exporter={"listen": "127.0.0.1:0"}, feeds=[listen, listen])
    assert [feed.type for feed in config.feeds] == ["http", "http"]


def test_a_kafka_feed_has_a_group_of_its_own() -> None:
    feed = KafkaFeed(type="kafka", brokers=["a:9092"], topics=["t"])
    assert (feed.brokers, feed.topics, feed.group) == (("a:9092",), ("t",), "precision-monitor")


@pytest.mark.parametrize(
    "settings",
    [
        {"label_timeout": "14d", "maturity": "auto"},
        {"label_timeout": "14d", "maturity": "14d"},
        {"label_timeout": "14d", "maturity": {"min": "1d"}},
        {"label_timeout": "14d", "maturity": {"max": "20d"}},
    ],
)
def test_negatives_by_timeout_takes_any_maturity_from_the_timeout_on(
    settings: dict[str, Any],
) -> None:
    assert ModelConfig(labelling="negatives_by_timeout", **settings).label_timeout == 14 * DAY


@pytest.mark.parametrize(
    "settings",
    [
        {"label_timeout": -1},
        {"label_timeout": True},
        {"label_timeout": 1.5},
        {"class_ratios": 1},
        {"segments": [["region"]]},
        {"reference": {"window": {"length": "7d", "end": "soon"}}},
    ],
)
def test_python_is_refused_what_a_file_is(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ModelConfig(**settings)


def test_every_setting_has_a_description() -> None:
    public = [getattr(monitor.config, name) for name in monitor.config.__all__]
    sections = [value for value in public if hasattr(value, "model_fields")]
    assert len(sections) == 16
    for section in sections:
        for name, field in section.model_fields.items():
            assert field.description, f"{section.__name__}.{name}"
            assert field.description.endswith("."), f"{section.__name__}.{name}"


def test_every_public_name_can_be_imported() -> None:
    for name in monitor.config.__all__:
        assert getattr(monitor.config, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'confg'"):
        _ = monitor.config.confg


@pytest.mark.parametrize(
    "written", ["https://a.example.org", "http://10.0.0.1:9108/", "https://[::1]:80/monitor"]
)
def test_the_external_url_ends_in_one_slash(written: str) -> None:
    found = Config(exporter={"external_url": written}).exporter.external_url
    assert found == f"{written.rstrip('/')}/"
    assert Config().exporter.external_url is None


@pytest.mark.parametrize(
    "written", ["a.example.org", "ftp://a.b", "https://", "https://a.b/?c", "https://a.b/#c", "//a"]
)
def test_the_external_url_must_be_one_that_paths_can_follow(written: str) -> None:
    with pytest.raises(ValidationError, match="must be an http or https URL"):
        Config(exporter={"external_url": written})


def test_a_silent_model_is_remembered_as_long_as_anything_of_it_is_needed():
    defaults = {"label_timeout": "10d", "maturity": "12d", "reference": {"trailing": "3d"}}
    config = Config(windows=["1d", "5d"], defaults=defaults)
    assert config.forget_after_ms == parse_duration("22d")  # 12 + 5 + 3, and 2 of steps
    with pytest.raises(ValidationError, match=r"at least what horizon.*\(22d\)"):
        Config(windows=["1d", "5d"], defaults=defaults, forget_after="21d")
    longer = Config(windows=["1d", "5d"], defaults=defaults, forget_after="400d")
    assert longer.forget_after_ms == parse_duration("400d")


def test_models_that_are_configured_or_remembered_without_end_are_never_forgotten():
    assert Config(models={"fraud": {}}, forget_after="90d").forget_after_ms is None
    assert Config(forget_after="never").forget_after_ms is None
    assert Config.without_file().forget_after_ms is None
    with pytest.raises(ValidationError, match="needs a label_timeout"):
        Config(defaults={"label_timeout": "none"}, forget_after="90d")


def test_rates_of_wrong_labels_may_be_learned_from_audits() -> None:
    config = Config(models={"m": {"label_errors": "audit"}})
    assert isinstance(config.models["m"].label_errors, LearnedLabelErrors)
    assert config.models["m"].label_errors.any
    dumped = config.model_dump(mode="json")
    assert dumped["models"]["m"]["label_errors"] == "audit"
    again = Config.model_validate(dumped)
    assert isinstance(again.models["m"].label_errors, LearnedLabelErrors)
