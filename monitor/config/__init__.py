"""The configuration: read from YAML, checked whole, frozen.

    text ─▶ document ─▶ schema ─▶ Config
            values       what may
            with lines   stand there

`quantities` reads durations, sizes and addresses; `fields` are the types of
settings; `model` and `servers` are the sections that `schema` puts together.
`document` is YAML with lines and variables, `loader` reads a file, `faults`
words what is wrong. `published` is the JSON Schema, `summary` says in plain
lines what a configuration means.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from monitor.config.model import (
    AutoMaturity,
    Labelling,
    ModelConfig,
    Objective,
    Reference,
    ReferenceCounts,
    ReferenceWindow,
    RiverDetectorConfig,
    WindowClock,
)
from monitor.config.schema import Config, DeadLetterConfig, StateConfig
from monitor.config.servers import ExporterConfig, Feed, FileFeed, HttpFeed, KafkaFeed

if TYPE_CHECKING:
    from monitor.config.loader import load_config, parse_config
    from monitor.config.published import json_schema
    from monitor.config.summary import describe

__all__ = [
    "AutoMaturity",
    "Config",
    "DeadLetterConfig",
    "ExporterConfig",
    "Feed",
    "FileFeed",
    "HttpFeed",
    "KafkaFeed",
    "Labelling",
    "ModelConfig",
    "Objective",
    "Reference",
    "ReferenceCounts",
    "ReferenceWindow",
    "RiverDetectorConfig",
    "StateConfig",
    "WindowClock",
    "describe",
    "json_schema",
    "load_config",
    "parse_config",
]

_HOMES = {
    "describe": "monitor.config.summary",
    "json_schema": "monitor.config.published",
    "load_config": "monitor.config.loader",
    "parse_config": "monitor.config.loader",
}


def __getattr__(name: str) -> Any:
    """What reads files is loaded when first used: a program that has none need not wait for it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
