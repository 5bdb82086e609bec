"""The names of the package `monitor`, each loaded when a program first uses it.

Importing `monitor` therefore costs next to nothing, and `precision-monitor --help`
does not load NumPy.
"""

from importlib import import_module
from typing import Any

_MODULES = {
    "Config": "monitor.config",
    "ConfusionCounts": "monitor.counts",
    "Monitor": "monitor.engine",
    "MonitorError": "monitor.errors",
    "Snapshot": "monitor.snapshot",
    "load_config": "monitor.config",
}
_PACKAGES = ("drift", "metrics")


def load(name: str) -> Any:
    """Load a public name of the package.

    Args:
        name: as written after `monitor.`.

    Raises:
        AttributeError: the package has no such name.
    """
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    if name in _PACKAGES:
        return import_module(f"monitor.{name}")
    raise AttributeError(f"module 'monitor' has no attribute {name!r}")
