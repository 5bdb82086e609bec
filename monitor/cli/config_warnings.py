"""Warnings about settings that are valid, and are seldom what their writer means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from monitor.cli.output import tell
from monitor.config import Config, ModelConfig
from monitor.config.same_sentences import each_once

_OF_ALL = (
    "events of models that are not listed are rejected, so list each one, or leave `models` out "
    "and write the settings of all models under `defaults`"
)


def warn(config: Config) -> None:
    """Print a line for each name that is no pattern, and each result that models cannot have.

    Results that they cannot have within hours are named as well, and why.
    """
    from monitor.labels.refusals import REASONS  # noqa: PLC0415  # keeps NumPy out of `check-config`

    for name in config.models:
        if "*" in name:
            tell(f"models: {name!r} names one model, and is no pattern; {_OF_ALL}")
    models = config.models or {"any model": config.defaults}
    found = [(name, text) for name, model in models.items() for text in _lacks(model, REASONS)]
    for sentence in each_once(found):
        tell(sentence)


def _lacks(model: ModelConfig, reasons: Mapping[str, str]) -> Iterator[str]:
    if (reason := reasons.get(model.labelling.value)) is not None:
        yield f"labelling {model.labelling}: {reason}"
    if too_small := _too_small(model):
        yield too_small


def _too_small(model: ModelConfig) -> str:
    """Return what configured reference counts lack for detectors, and show at best; "" for all."""
    from monitor.counts import ConfusionCounts  # noqa: PLC0415  # as above
    from monitor.labels.refusals import WITHOUT_DETECTORS  # noqa: PLC0415  # as above
    from monitor.labels.regime import LabelRegime  # noqa: PLC0415  # as above
    from monitor.report.reference_text import (  # noqa: PLC0415  # as above
        few_positives_text,
        too_small_text,
    )

    given = model.reference.counts
    if given is None or model.labelling in WITHOUT_DETECTORS:
        return ""
    counts = ConfusionCounts(tp=given.tp, fp=given.fp, fn=given.fn, tn=given.tn)
    if LabelRegime.of(model).is_estimated or model.river_detector is not None:
        few = few_positives_text(counts)
        return few and f"the reference: {few}"
    return too_small_text(counts)
