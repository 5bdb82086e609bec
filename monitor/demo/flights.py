"""The bundled sample and its settings."""

from __future__ import annotations

from pathlib import Path

from monitor.config import Config
from monitor.events.batches import concatenate
from monitor.events.columns import EventBatch
from monitor.feeds import files
from monitor.feeds.decode import Decoder, DecodeSettings

FILE = Path(__file__).with_name("flights.ndjson.gz")
MODEL = "delay-hgb-v1"


def flights_config() -> Config:
    """Return the settings of the sample, as in `config/flights.yaml`."""
    return Config(
        models={
            MODEL: {
                "segments": ["origin", "carrier", "part_of_day"],
                "label_timeout": "2d",
                "maturity": "12h",
            }
        },
        windows=["1d", "7d", "28d"],
    )


def flights(config: Config) -> EventBatch:
    """Return all events of the sample, predictions and labels each in order of time."""
    decoder = Decoder(DecodeSettings.from_config(config))
    return concatenate(list(files.read([FILE], decoder)))
