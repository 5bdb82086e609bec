"""What a configuration asks for and this version does not do yet, so that nobody is misled."""

from __future__ import annotations

from monitor.cli.output import tell
from monitor.config import Config, Labelling


def warn(config: Config) -> None:
    """Say on stderr which models' labels are counted otherwise than their regime asks."""
    for name, model in config.models.items() or [("any model", config.defaults)]:
        if model.labelling is not Labelling.COMPLETE:
            tell(
                f"{name}: labelling {model.labelling} has no effect in this version; "
                "labels are counted as they come, as if complete"
            )
