"""What cannot be had of labels that come as configured, said before anyone misses it."""

from __future__ import annotations

from monitor.cli.output import tell
from monitor.config import Config, ModelConfig


def warn(config: Config) -> None:
    """One line on stderr for each thing that a model is refused, or cannot page by, and why."""
    from monitor.labels.refusals import REASONS  # noqa: PLC0415  # `check-config` starts without NumPy

    for name, model in config.models.items() or [("any model", config.defaults)]:
        reason = REASONS.get(model.labelling.value)
        if reason is not None:
            tell(f"{name}: labelling {model.labelling}: {reason}")
        too_small = _too_small(model)
        if too_small:
            tell(f"{name}: {too_small}")


def _too_small(model: ModelConfig) -> str:
    """Why detectors cannot rest on given counts; "" where they can, or there are none of either."""
    from monitor.counts import ConfusionCounts  # noqa: PLC0415  # as above
    from monitor.labels.refusals import WITHOUT_DETECTORS  # noqa: PLC0415  # as above
    from monitor.report.reference_text import too_small_text  # noqa: PLC0415  # as above

    given = model.reference.counts
    if given is None or model.labelling in WITHOUT_DETECTORS or model.river_detector is not None:
        return ""
    return too_small_text(ConfusionCounts(tp=given.tp, fp=given.fp, fn=given.fn, tn=given.tn))
