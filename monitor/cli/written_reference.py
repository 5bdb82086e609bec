"""References as `precision-monitor reference` prints them: a part of a configuration in YAML."""

from __future__ import annotations

from collections.abc import Mapping

from monitor.config import Config
from monitor.config.loader import load_config
from monitor.counts import ConfusionCounts
from monitor.errors import UsageError

_SUFFIXES = (".yaml", ".yml")


def is_written_reference(path: str) -> bool:
    """Return whether a file is named like a configuration.

    Args:
        path: of the file.
    """
    return path.lower().endswith(_SUFFIXES)


def written_references(path: str) -> Mapping[str, ConfusionCounts]:
    """Return the counts of the reference of each model, by its name.

    Args:
        path: of a configuration, or of the part of one that `reference` prints.

    Raises:
        ConfigError: the file cannot be read, or is no configuration.
        UsageError: no model in it has a reference with counts.
    """
    found = dict(_counts(load_config(path)))
    if not found:
        raise UsageError(
            f"--reference: {path} has no model with reference.counts; give a test set, or what "
            "`precision-monitor reference FILE` prints"
        )
    return found


def _counts(config: Config) -> list[tuple[str, ConfusionCounts]]:
    given = ((name, model.reference.counts) for name, model in config.models.items())
    return [
        (name, ConfusionCounts(tp=one.tp, fp=one.fp, fn=one.fn, tn=one.tn))
        for name, one in given
        if one is not None
    ]
