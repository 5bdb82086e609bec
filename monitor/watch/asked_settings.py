"""The settings of a model that its reference and its detectors depend on."""

from __future__ import annotations

from monitor.config import ModelConfig
from monitor.config.labelling import LearnedLabelErrors
from monitor.events.renumbering import State
from monitor.labels.regime import LabelRegime


def asked_settings(setting: ModelConfig) -> State:
    """Return the settings that a reference and its detectors depend on.

    Args:
        setting: of the model.

    Returns:
        Plain values; where a state has others, the model starts anew.
    """
    river = setting.river_detector
    asked = {
        "reference": setting.reference.model_dump(exclude={"on_version"}),
        "labelling": str(setting.labelling),
        "river_detector": None if river is None else river.model_dump(),
    }
    if isinstance(setting.label_errors, LearnedLabelErrors):
        return asked | {"label_errors": "audit"}
    # Left out without errors, as in states from before they could be configured.
    errors = LabelRegime.of(setting).errors
    rates = [*errors[:2], errors.false_positive_above, errors.false_negative_above]
    return asked | {"label_errors": rates} if any(rates) else asked
