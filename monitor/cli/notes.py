"""What cannot be had of labels that come as configured, said before anyone misses it."""

from __future__ import annotations

from monitor.cli.output import tell
from monitor.config import Config


def warn(config: Config) -> None:
    """One line on stderr for each model of which something is refused, and why."""
    from monitor.regimes import REASONS  # noqa: PLC0415  # NumPy and SciPy wait for it

    for name, model in config.models.items() or [("any model", config.defaults)]:
        reason = REASONS.get(model.labelling.value)
        if reason is not None:
            tell(f"{name}: labelling {model.labelling}: {reason}")
