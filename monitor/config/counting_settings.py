"""The settings by which events become counts, and how two monitors differ in them.

Where shards forward their counts, what they do not share with their receiver changes its windows,
and no count says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
import xxhash

from monitor.config import quantities as q
from monitor.config.config import Config
from monitor.config.model import ModelConfig

_ANY = ""
"""Stands for each model that is not named."""


class CountingSettings(NamedTuple):
    """The settings of one monitor.

    Attributes:
        values: as JSON has them: the width of a pane, and settings of each model by its name.
        digest: a short text that differs where they do.
    """

    values: Mapping[str, Any]
    digest: str


class Difference(NamedTuple):
    """A setting in which two monitors differ.

    Attributes:
        name: key in the configuration.
        here: its value in the one.
        there: its value in the other.
        models: that differ in it so; none for a setting that is not of models, and "" for all
            that are not named.
    """

    name: str
    here: str
    there: str
    models: tuple[str, ...] = ()


def counting_settings(config: Config) -> CountingSettings:
    """Return the settings by which events become counts.

    Args:
        config: a configuration.

    >>> counting_settings(Config(pane="5m", models={"fraud": {"label_timeout": "7d"}})).values
    {'pane': '5m', 'models': {'fraud': {'segments': '[]', 'labelling': 'complete',
    'label_sources.order': '[]', 'label_timeout': '7d', 'horizon': '7d', 'clock': 'prediction'}}}
    """
    models = config.models or {_ANY: config.defaults}
    values = {
        "pane": q.format_duration(config.pane),
        "models": {name: dict(_of_model(model)) for name, model in models.items()},
    }
    digest = xxhash.xxh3_64_hexdigest(msgspec.json.encode(values, order="sorted"))
    return CountingSettings(values, digest)


def differences(here: Mapping[str, Any], there: Mapping[str, Any]) -> list[Difference]:
    """Return in which settings two monitors differ.

    A model that one of them does not accept has none.

    Args:
        here: values of the one, see `CountingSettings`.
        there: values of the other; keys that one of them lacks are left out.

    Raises:
        KeyError, TypeError, AttributeError: these are no such settings.

    >>> one = {"pane": "1m", "models": {"a": {"clock": "label"}}}
    >>> differences(one, {"pane": "1m", "models": {"a": {"clock": "prediction"}}})
    [Difference(name='clock', here='label', there='prediction', models=('a',))]
    """
    found: dict[tuple[str, str, str], list[str]] = {}
    if here["pane"] != there["pane"]:
        found["pane", here["pane"], there["pane"]] = []
    for model in sorted({*here["models"], *there["models"]}):
        one, other = (_resolved(side["models"], model) for side in (here, there))
        for key in one.keys() & other.keys():
            if one[key] != other[key]:
                found.setdefault((key, one[key], other[key]), []).append(model)
    return [Difference(*which, tuple(models)) for which, models in sorted(found.items())]


def _of_model(model: ModelConfig) -> Iterator[tuple[str, str]]:
    yield "segments", _list(sorted(model.segments))
    if model.segments:
        yield "max_segment_values", str(model.max_segment_values)
    yield "labelling", str(model.labelling)
    yield "label_sources.order", _list(model.label_sources.order)
    yield "label_timeout", _duration(model.label_timeout)
    yield "horizon", _duration(model.horizon_ms)
    yield "clock", str(model.clock)


def _list(values: Iterable[str]) -> str:
    return f"[{', '.join(values)}]"


def _duration(value: int | None) -> str:
    return "none" if value is None else q.format_duration(value)


def _resolved(models: Mapping[str, Mapping[str, str]], name: str) -> Mapping[str, str]:
    return models.get(name, models.get(_ANY, {}))
