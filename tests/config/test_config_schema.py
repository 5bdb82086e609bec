"""The JSON Schema accepts every file that the program accepts, and refuses most invalid ones."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from monitor.config import Config, json_schema

ROOT = Path(__file__).parents[2]
BAD = Path(__file__).parent / "bad"


class Json(yaml.SafeLoader):
    """YAML as an editor reads it: what JSON has, and dates stay text."""


Json.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith("timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def faults(text: str) -> list[str]:
    value: Any = yaml.load(text, Loader=Json)  # noqa: S506 a safe loader
    return [error.json_path for error in Draft202012Validator(json_schema()).iter_errors(value)]


def test_it_is_a_valid_schema_that_json_can_hold() -> None:
    Draft202012Validator.check_schema(json_schema())
    assert json.loads(json.dumps(json_schema())) == json_schema()


@pytest.mark.parametrize("path", sorted((ROOT / "config").glob("*.yaml")), ids=lambda p: p.stem)
def test_it_takes_the_examples(path: Path) -> None:
    assert faults(path.read_text()) == []


def test_it_takes_what_the_settings_are_dumped_as() -> None:
    config = Config(models={"fraud": {"reference": {"first": "7d"}}}, feeds=[{"type": "http"}])
    dumped = config.model_dump(mode="json", exclude_none=True)
    assert list(Draft202012Validator(json_schema()).iter_errors(dumped)) == []


@pytest.mark.parametrize(
    "text",
    [
        "models: {fraud: }",
        "defaults: {label_timeout: none, maturity: 0}",
        "defaults: {label_timeout: endless, maturity: 1d12h}",
        "defaults: {maturity: {share: 0.9, max: 3d}}",
        "defaults: {threshold: '${T}', labelling: '${L:-complete}', max_segment_values: '${N}'}",
        "feeds: [{type: http, listen: '${A}:${B}'}, {type: file, path: a, follow: '${F}'}]",
        "windows: ['${W}', 1h]",
        "dead_letter: {path: null, max_bytes: '${SIZE}'}",
    ],
)
def test_it_takes_what_the_program_takes(text: str) -> None:
    assert faults(text) == []


@pytest.mark.parametrize(
    "name",
    [
        "unknown_key",
        "unknown_model_key",
        "unknown_feed_key",
        "unknown_reference_key",
        "unknown_maturity_key",
        "unknown_objective",
        "models_is_list",
        "model_is_text",
        "threshold_above_one",
        "threshold_not_number",
        "segments_is_text",
        "segments_twice",
        "max_segment_values_zero",
        "labelling_unknown",
        "label_timeout_without_unit",
        "maturity_word",
        "maturity_share",
        "clock_unknown",
        "class_ratio_zero",
        "class_ratio_twice",
        "reference_empty",
        "reference_two",
        "reference_is_duration",
        "reference_window_without_end",
        "reference_counts_negative",
        "objective_above_one",
        "false_pages_zero",
        "windows_empty",
        "window_word",
        "feed_without_type",
        "feed_unknown_type",
        "feed_is_text",
        "feeds_is_mapping",
        "feed_file_without_path",
        "feed_file_follow",
        "feed_http_without_port",
        "feed_kafka_without_brokers",
        "feed_kafka_no_topics",
        "exporter_listen",
        "checkpoint_every_word",
        "state_is_text",
        "dead_letter_size",
        "dead_letter_size_unit",
        "max_models_zero",
        "ten_faults",
    ],
)
def test_it_refuses_bad_files(name: str) -> None:
    assert faults((BAD / f"{name}.yaml").read_text())


def test_every_key_is_described() -> None:
    schema = json_schema()
    for section in (schema, *schema["$defs"].values()):
        for name, part in section.get("properties", {}).items():
            meant = schema["$defs"].get(part.get("$ref", "").removeprefix("#/$defs/"), part)
            assert part.get("description") or meant.get("description"), name


def test_defaults_are_those_of_the_settings() -> None:
    schema = json_schema()
    definitions = {"Config": schema, **schema["$defs"]}
    for name, definition in definitions.items():
        if "properties" not in definition or definition.get("required"):
            continue
        written = {
            key: part["default"]
            for key, part in definition["properties"].items()
            if part["default"]
        }
        if name == "Config":
            assert Config.model_validate(written) == Config()
        if name == "ModelConfig":
            assert Config.model_validate({"defaults": written}) == Config()


def test_durations_are_shown_as_written() -> None:
    text = json.dumps(json_schema())
    assert not re.search(r'"default": [0-9]{6,}(?!00)', text.replace("20000000", ""))
    assert '"default": "30d"' in text
