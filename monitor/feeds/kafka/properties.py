"""Reads settings of the Kafka client from a file, which may contain secrets."""

from __future__ import annotations

from pathlib import Path

from monitor.config.feeds import KAFKA_OWN_PROPERTIES
from monitor.errors import ConfigError


def read_properties(path: Path | None) -> dict[str, str]:
    """Read settings, one `key=value` per line; lines that begin with `#` are comments.

    Args:
        path: the file; None for no settings.

    Raises:
        ConfigError: the file cannot be read, or a line is invalid. The message never
            contains a value.
    """
    if path is None:
        return {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError((f"{path}: cannot be read; give a file of key=value lines",)) from error
    found: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        key, equals, value = line.strip().partition("=")
        if not key or key.startswith("#"):
            continue
        if not equals:
            raise ConfigError((f"{path}:{number}: is not key=value; write one setting per line",))
        if key.strip() in KAFKA_OWN_PROPERTIES:
            raise ConfigError((f"{path}:{number}: {key.strip()} is set by the monitor; remove it",))
        found[key.strip()] = value.strip()
    return found
