"""Warnings about settings that are valid, and are seldom what their writer means."""

from __future__ import annotations

from monitor.cli.output import tell
from monitor.config import Config, ModelConfig

_OF_ALL = (
    "events of models that are not listed are rejected, so list each one, or leave `models` out "
    "and write the settings of all models under `defaults`"
)


def warn(config: Config) -> None:
    """Print a line for each name that is no pattern, and each result that a model cannot have.

    Results that it cannot have within hours are named as well, and why.
    """
    from monitor.labels.refusals import REASONS  # noqa: PLC0415  # keeps NumPy out of `check-config`

    for name in config.models:
        if "*" in name:
            tell(f"models: {name!r} names one model, and is no pattern; {_OF_ALL}")
    for name, model in config.models.items() or [("any model", config.defaults)]:
        reason = REASONS.get(model.labelling.value)
        if reason is not None:
            tell(f"{name}: labelling {model.labelling}: {reason}")
        too_small = _too_small(model)
        if too_small:
            tell(f"{name}: {too_small}")


def _too_small(model: ModelConfig) -> str:
    """Return what configured reference counts lack for detectors by pane; "" for nothing."""
    from monitor.counts import ConfusionCounts  # noqa: PLC0415  # as above
    from monitor.labels.refusals import WITHOUT_DETECTORS  # noqa: PLC0415  # as above
    from monitor.labels.regime import LabelRegime  # noqa: PLC0415  # as above
    from monitor.report.reference_text import too_small_text  # noqa: PLC0415  # as above

    given = model.reference.counts
    by_pane = model.labelling not in WITHOUT_DETECTORS and not LabelRegime.of(model).is_estimated
    if given is None or not by_pane or model.river_detector is not None:
        return ""
    return too_small_text(ConfusionCounts(tp=given.tp, fp=given.fp, fn=given.fn, tn=given.tn))
