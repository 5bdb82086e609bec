"""Checks that OpenTelemetry's exporter, an extra, is installed."""

from importlib.util import find_spec

from monitor.config import Config
from monitor.extras import install_command

EXTRA = "otlp"
"""The extra that brings the exporter."""
_EXPORTER = "opentelemetry.exporter.otlp.proto.http"


def unavailable_push(config: Config) -> tuple[str, ...]:
    """Return why series cannot be pushed, one line a fault; none where nothing is known."""
    if config.exporter.otlp is None or is_installed():
        return ()
    return (f"exporter.otlp: needs packages that are not installed; {install_command(EXTRA)}",)


def is_installed() -> bool:
    """Return whether the exporter is installed, without importing all of it."""
    try:
        return find_spec(_EXPORTER) is not None
    except ModuleNotFoundError:  # one of its parent packages is missing
        return False
