"""Every shipped example loads, with the settings that it shows."""

import re
from pathlib import Path

import pytest

from monitor.config import Config, ModelConfig, load_config, parse_config

EXAMPLES = Path(__file__).parents[2] / "config"
PATHS = sorted(EXAMPLES.glob("*.yaml"))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_an_example_loads_without_any_variable_set(path: Path) -> None:
    assert load_config(path, environ={}).models


def test_the_least_example_is_all_defaults_but_its_feed() -> None:
    config = load_config(EXAMPLES / "minimal.yaml", environ={})
    assert config == Config(models={"fraud": {}}, feeds=[{"type": "http"}])


def test_the_flights_example_fits_the_bundled_flights() -> None:
    config = load_config(EXAMPLES / "flights.yaml", environ={})
    model = config.model("delay-hgb-v1")
    assert model.segments == ("origin", "carrier", "part_of_day")
    assert (model.label_timeout, model.maturity) == (2 * 86_400_000, 12 * 3_600_000)
    assert config.windows == ("1d", "7d", "28d")


def test_the_full_example_names_every_key() -> None:
    text = (EXAMPLES / "fraud.yaml").read_text()
    for key in (*Config.model_fields, *ModelConfig.model_fields):
        assert re.search(rf"^\s*(# )?{key}:", text, re.MULTILINE), key


def test_what_the_full_example_has_as_comments_loads_too() -> None:
    text = (EXAMPLES / "fraud.yaml").read_text()
    feeds = re.sub(r"^  # - ", "  - ", text, flags=re.MULTILINE)
    assert len(parse_config(feeds, "fraud.yaml", {}).feeds) == 4
    window = re.search(r"^      window: .*$", text, re.MULTILINE)
    assert window
    for other in re.findall(r"^      # (counts: .*?}|\w+: \w+)(?:\s|$)", text, re.MULTILINE):
        changed = text.replace(window[0], f"      {other}")
        assert parse_config(changed, "fraud.yaml", {}).model("fraud").reference.window is None


def test_lines_that_say_default_hold_the_default() -> None:
    config, default = load_config(EXAMPLES / "fraud.yaml", environ={}), Config()
    for key in ("pane", "windows", "exporter", "state", "max_pending", "max_series", "max_models"):
        assert getattr(config, key) == getattr(default, key), key
    assert config.dead_letter_path == default.dead_letter_path
    assert config.dead_letter.max_bytes == default.dead_letter.max_bytes
    model = config.model("fraud")
    for key in ("max_segment_values", "labelling", "maturity", "clock", "false_pages_per_year"):
        assert getattr(model, key) == getattr(default.defaults, key), key
