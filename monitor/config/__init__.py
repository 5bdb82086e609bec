"""Configuration: read from YAML, validated as a whole, immutable.

    loader ─▶ yaml_document ─▶ config ─▶ Config
              values with      keys, defaults,
              line numbers     constraints

`model` and `feeds` hold the larger sections of `config`, `fields` their types, `quantities`
parses durations, sizes, addresses and times. `error_messages` words what is wrong. `schema`
is the JSON Schema of the file, `description` the text that `check-config` prints.
"""

from typing import TYPE_CHECKING

from monitor.config.config import Config, DeadLetterConfig, StateConfig
from monitor.config.exporter import ExporterConfig
from monitor.config.feeds import Feed, FileFeed, HttpFeed, KafkaFeed
from monitor.config.labelling import AutoMaturity, LabelErrors, Labelling, WindowClock
from monitor.config.model import ModelConfig, Objective, RiverDetectorConfig
from monitor.config.public import load as __getattr__
from monitor.config.reference import OnVersion, Reference, ReferenceCounts, ReferenceWindow
from monitor.config.sql_feed import SqlFeed

if TYPE_CHECKING:
    from monitor.config.description import describe
    from monitor.config.loader import load_config, parse_config
    from monitor.config.schema import json_schema

# Packed, so that the whole list is seen at once.
# fmt: off
__all__ = [
    "AutoMaturity", "Config", "DeadLetterConfig", "ExporterConfig", "Feed", "FileFeed",
    "HttpFeed", "KafkaFeed", "LabelErrors", "Labelling", "ModelConfig", "Objective", "OnVersion",
    "Reference", "ReferenceCounts", "ReferenceWindow", "RiverDetectorConfig", "SqlFeed",
    "StateConfig", "WindowClock", "__getattr__", "describe", "json_schema", "load_config",
    "parse_config",
]
