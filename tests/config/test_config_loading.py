"""From a file to a `Config`: YAML scalars, variables, defaults, unreadable files."""

from pathlib import Path
from typing import Any

import pytest

from monitor.config import Config, load_config, parse_config
from monitor.config.quantities import parse_duration
from monitor.errors import ConfigError


def parse(text: str, **environ: str) -> Config:
    return parse_config(text, "monitor.yaml", environ)


def unreadable(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    (fault,) = caught.value.faults
    return fault.removeprefix(str(path))


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "monitor.yaml"
    path.write_bytes(b"\xef\xbb\xbfmodels: {betr\xc3\xbcgerisch: {}}\r\npane: 5m\r\n")
    config = load_config(path)
    assert list(config.models) == ["betrügerisch"]
    assert config.pane == 300_000
    assert load_config(str(path)) == config


def test_messages_name_the_file_as_it_was_given(tmp_path: Path) -> None:
    path = tmp_path / "monitor.yaml"
    path.write_text("pane: soon\n")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert caught.value.faults[0].startswith(f"{path}:1: pane: must be a duration, got 'soon'; ")


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    fault = unreadable(tmp_path / "monitor.yaml")
    assert fault == ": cannot be read: no such file or directory; give a YAML file"


def test_a_directory_is_reported(tmp_path: Path) -> None:
    assert unreadable(tmp_path) == ": cannot be read: is a directory; give a YAML file"


def test_text_that_is_not_utf8_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "monitor.yaml"
    path.write_bytes("pane: 1m\n# für\n".encode("latin-1"))
    assert unreadable(path) == ":2: is not UTF-8, got byte 0xfc; save it as UTF-8"
    path.write_text("pane: 1m\n", encoding="utf-16")
    assert unreadable(path) == ":1: is not UTF-8, got byte 0xff; save it as UTF-8"


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    path.write_bytes(b"#" * (1 << 20) + b"#")
    assert unreadable(path) == ": is larger than 1 MiB; give a configuration file, not events"


@pytest.mark.parametrize("name", ["no", "yes", "on", "null", "007", "1e3", "12:30:45", "~", "1.50"])
def test_a_model_keeps_the_name_that_is_written(name: str) -> None:
    assert list(parse(f"models: {{{name}: {{}}}}").models) == [name]


@pytest.mark.parametrize("key", ["no", "007", "1e3", "12:30:45", "0x1F", "2026-11-01", "true"])
def test_a_segment_keeps_the_name_that_is_written(key: str) -> None:
    assert parse(f"defaults: {{segments: [{key}]}}").defaults.segments == (key,)


@pytest.mark.parametrize("word", ["true", "yes", "on", "True"])
def test_yes_is_yes_where_it_is_asked_for(word: str) -> None:
    (feed,) = parse(f"feeds: [{{type: file, path: 'no', follow: {word}}}]").feeds
    assert feed.type == "file"
    assert (feed.path, feed.follow) == (Path("no"), True)


@pytest.mark.parametrize(
    ("written", "value"),
    [("0.5", 0.5), (".5", 0.5), ("5e-1", 0.5), ("'0.5'", 0.5), ("1", 1.0), ("null", None)],
)
def test_numbers_are_read_as_written(written: str, value: float | None) -> None:
    assert parse(f"defaults: {{threshold: {written}}}").defaults.threshold == value


def test_whole_numbers_may_have_underscores() -> None:
    assert parse("max_pending: 5_000_000").max_pending == 5_000_000


def test_a_model_without_settings_takes_all_defaults() -> None:
    text = "models:\n  fraud:\n  spam: {}\n  ham: null\n"
    assert parse(text).models == dict.fromkeys(["fraud", "spam", "ham"], Config().defaults)


def test_what_models_share_is_merged_key_by_key_and_their_own_keys_win() -> None:
    config = parse(
        "models:\n"
        "  fraud: {label_timeout: 14d, objective: {recall: 0.5}}\n"
        "  spam:\n"
        "defaults: {label_timeout: 7d, threshold: 0.3, objective: {precision: 0.9}}\n"
    )
    fraud, spam = config.model("fraud"), config.model("spam")
    assert (fraud.label_timeout, spam.label_timeout) == (14 * 86_400_000, 7 * 86_400_000)
    assert fraud.threshold == spam.threshold == 0.3
    assert (fraud.objective.precision, fraud.objective.recall) == (None, 0.5)
    assert spam.objective.precision == 0.9


def test_null_takes_a_shared_setting_back() -> None:
    config = parse("defaults: {threshold: 0.5}\nmodels: {fraud: {threshold: null}}")
    assert config.model("fraud").threshold is None


def test_without_models_the_shared_settings_hold_for_any() -> None:
    config = parse("defaults: {threshold: 0.3}")
    assert config.accepts("any model at all")
    assert config.model("any model at all").threshold == 0.3


@pytest.mark.parametrize("word", ["none", "endless", "null", "~"])
def test_labels_may_never_time_out(word: str) -> None:
    assert parse(f"defaults: {{label_timeout: {word}}}").defaults.label_timeout is None


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("${DIR}", "/data"),
        ("'${DIR}/state'", "/data/state"),
        ('"${DIR}${DIR}"', "/data/data"),
        ("${UNSET:-./here}", "here"),
        ("${EMPTY:-./here}", "here"),
        ("${DIR:-./here}", "/data"),
        ("x${EMPTY}", "x"),
        ("x${UNSET:-}", "x"),
        ("$DIR", "$DIR"),
        ("'$${DIR}'", "${DIR}"),
        ("'$'", "$"),
    ],
)
def test_variables_are_filled_in(written: str, value: str) -> None:
    config = parse(f"state:\n  directory: {written}", DIR="/data", EMPTY="")
    assert config.state.directory == Path(value)


def test_variables_are_filled_in_once_and_add_no_yaml() -> None:
    config = parse("models: {fraud: {segments: ['${A}']}}", A="${B}, x: [1]", B="no")
    assert config.model("fraud").segments == ("${B}, x: [1]",)


def test_keys_take_no_variables() -> None:
    assert list(parse("models: {'${A}': {}}", A="fraud").models) == ["${A}"]


def test_variables_stand_for_numbers_and_durations_too() -> None:
    config = parse("defaults:\n  threshold: ${T}\n  label_timeout: ${D}d", T="0.25", D="3")
    assert config.defaults.threshold == 0.25
    assert config.defaults.label_timeout == parse_duration("3d")


def test_the_environment_of_the_process_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONITOR_TEST_PANE", "5m")
    assert parse_config("pane: ${MONITOR_TEST_PANE}", "monitor.yaml").pane == 300_000


def test_anchors_and_aliases_work() -> None:
    config = parse("models:\n  a: &shared {threshold: 0.5}\n  b: *shared\n")
    assert config.model("a") == config.model("b")
    assert config.model("b").threshold == 0.5


def test_the_same_text_gives_the_same_config_and_the_same_faults() -> None:
    good = "models: {b: {segments: [x, y]}, a: {}}\nwindows: [7d, 1h]\n"
    assert parse(good) == parse(good)
    assert repr(parse(good)) == repr(parse(good))
    bad = "models: {b: {segments: [x, x]}, a: {z: 1, y: 2}}\nwindows: [7d, 1s]\n"

    def faults() -> Any:
        with pytest.raises(ConfigError) as caught:
            parse(bad)
        return caught.value.faults

    assert faults() == faults()


def test_the_order_in_the_file_is_preserved() -> None:
    config = parse("models: {b: {}, a: {}, c: {}}\nwindows: [7d, 1h, 28d]\n")
    assert list(config.models) == ["b", "a", "c"]
    assert list(config.window_lengths) == ["7d", "1h", "28d"]
